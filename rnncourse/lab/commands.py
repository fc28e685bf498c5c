"""Commands of a learner.  What they need is imported when they run: --help must answer at once."""

import argparse
from pathlib import Path


def add_commands(subparsers: argparse._SubParsersAction) -> None:
    """Add lab, start, update and doctor to the command line."""
    lab = subparsers.add_parser("lab", help="open the course in JupyterLab, at lesson 00")
    lab.add_argument("--no-browser", action="store_true", help="serve only: for a machine without a screen")
    port = "the port to serve on (default: 8888 or the next free one)"
    lab.add_argument("--port", type=int, metavar="N", help=port)
    lab.add_argument("--lesson", default="00", help="the lesson to open, 2 or bptt (default: 00)")
    lab.set_defaults(handler=_lab)
    start = subparsers.add_parser("start", help="lay the lessons and exercises out in a folder of yours")
    start.add_argument("folder", help="a new folder, or an empty one")
    start.set_defaults(handler=_start)
    update = subparsers.add_parser("update", help="newer lessons; what you wrote in work/ is not touched")
    update.set_defaults(handler=_update)
    doctor = subparsers.add_parser("doctor", help="what this machine is, how fast, and what is missing")
    doctor.add_argument("--json", action="store_true", help="as JSON, for programs")
    doctor.add_argument("--quick", action="store_true", help="measure nothing")
    doctor.set_defaults(handler=_doctor)


def _lab(chosen: argparse.Namespace) -> int:
    from rnncourse.lab.jupyterlab import serve

    return serve(chosen.lesson, chosen.port, browser=not chosen.no_browser)


def _start(chosen: argparse.Namespace) -> None:
    from rnncourse.lab.work import start

    print("\n".join(start(Path(chosen.folder))))


def _update(chosen: argparse.Namespace) -> int:
    from rnncourse.lab import work

    course = work.course_folder()
    if not (course / work.NOTE).exists() and (course / "notebooks").is_dir():
        return 2 if work.main() else 0  # a clone
    print("\n".join(work.update_started(course)))
    return 0


def _doctor(chosen: argparse.Namespace) -> int:
    from rnncourse.lab import doctor

    report = doctor.report(measured=not chosen.quick)
    print(report.json() if chosen.json else report)
    return 0
