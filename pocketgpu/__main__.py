"""`python -m pocketgpu program.py`: a program that launches kernels of numba.cuda, checked without a GPU."""

import argparse
import json
import os
import runpy
import sys
import traceback
from importlib import import_module
from pathlib import Path
from types import TracebackType

from pocketgpu.checking import COUNTS, TOOLS, Collector, stand_in

SIMULATOR = Path(__file__).parent / "simulator"
DESCRIPTION = """Run a program that imports numba.cuda, unchanged, in the simulator. At its end stand its
kernels' faults: races, missing fences, deadlocks, uninitialised and stray accesses; line, threads, remedy."""


def tools(text: str) -> list[str]:
    """Names of tools, from a list with commas."""
    names = text.split(",")
    if unknown := [name for name in names if name not in (*TOOLS, COUNTS)]:
        raise argparse.ArgumentTypeError(f"{unknown[0]!r} is not a tool: {', '.join((*TOOLS, COUNTS))}")
    return names


def parser() -> argparse.ArgumentParser:
    """The command's options."""
    result = argparse.ArgumentParser("python -m pocketgpu", description=DESCRIPTION)
    add = result.add_argument
    add(
        "--tool", type=tools, default=[*TOOLS], help=f"some of {','.join(TOOLS)} (all if not given), {COUNTS}"
    )
    add("--device", metavar="NAME", help="the simulated GPU, such as T4 or H200")
    add("--events", type=int, metavar="N", help="accesses after which a launch is ended (10,000,000)")
    add("--json", metavar="FILE", help="write the findings there, too; - for standard output")
    add(
        "--html",
        metavar="FILE",
        help="write the replay of a launch there, one with a finding if there is one",
    )
    add("--error-exitcode", type=int, default=1, metavar="N", help="exit status with findings (%(default)s)")
    add("-m", dest="module", action="store_true", help="PROGRAM is a module's name")
    add("program", metavar="PROGRAM")
    add("arguments", nargs=argparse.REMAINDER, metavar="...", help="what the program gets")
    return result


def run(program: str, arguments: list[str], as_module: bool) -> int:
    """Run the program as Python would; its exit status."""
    sys.argv = [program, *arguments]
    sys.path[0] = os.getcwd() if as_module else str(Path(program).resolve().parent)
    try:
        if as_module:
            runpy.run_module(program, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(program, run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, int) or end.code is None:
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except Exception as error:
        trace = error.__traceback__
        own = (__file__, runpy.__file__, "<frozen runpy>")
        while trace and trace.tb_frame.f_code.co_filename in own:
            trace = trace.tb_next
        traceback.print_exception(error.with_traceback(_without_simulator(trace)))
        return 1
    return 0


def _without_simulator(trace: TracebackType | None) -> TracebackType | None:
    """The traceback with the program's own lines, from the launch to the kernel."""
    lines = []
    while trace:
        lines.append(trace)
        trace = trace.tb_next
    shown = None
    for line in reversed(lines):
        if not Path(line.tb_frame.f_code.co_filename).is_relative_to(SIMULATOR):
            shown = TracebackType(shown, line.tb_frame, line.tb_lasti, line.tb_lineno)
    return shown


def main(arguments: list[str] | None = None) -> int:
    """The program's exit status; with findings and a status of 0 that of --error-exitcode."""
    options = parser().parse_args(arguments)
    if not options.module and not Path(options.program).is_file():
        parser().error(f"there is no file {options.program}")
    _refuse_to_replace("--json", options.json, ".json")
    _refuse_to_replace("--html", options.html, ".html")
    collector = Collector(options.tool, with_reports=COUNTS in options.tool or bool(options.html))
    try:
        # a replay shows one thread after another
        stand_in(collector, device=options.device, events=options.events, lockstep=not options.html)
    except (RuntimeError, ValueError) as error:
        parser().error(str(error))
    status = run(options.program, options.arguments, options.module)
    sys.stdout.flush()
    faults = collector.faults
    if COUNTS in options.tool:
        for counted in collector.reports.values():
            print(counted.counts_by_line(), file=sys.stderr)
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"pocketgpu: {collector.summary()}", file=sys.stderr)
    report = {
        "program": options.program, "launches": collector.launches,
        "findings": [fault.to_json() for fault in faults],
    }  # fmt: skip
    if options.json:
        text = json.dumps(report, indent=1) + "\n"
        if options.json == "-":
            sys.stdout.write(text)
        else:
            Path(options.json).write_text(text, encoding="utf-8")
    if options.html:
        write_replay(options.html, [*collector.reports.values()])
    return status or (options.error_exitcode if faults else 0)


def _refuse_to_replace(option: str, file: str | None, suffix: str) -> None:
    """End with status 2 where an option names a file of another kind, or a folder that is missing."""
    if file in (None, "-"):
        return
    path = Path(file)
    if path.is_file() and path.suffix.lower() != suffix:
        parser().error(
            f"{option} {file} would replace that file: name one that ends in {suffix}, then PROGRAM"
        )
    if not path.absolute().parent.is_dir():
        parser().error(f"{option} {file}: there is no folder {path.absolute().parent}; make it first")


def write_replay(file: str, reports: list) -> None:
    """Write one launch as a page that needs nothing else: the first with a finding, else the first of all."""
    if not reports:
        print(f"pocketgpu: no kernel was launched, so {file} is not written", file=sys.stderr)
        return
    chosen = next((report for report in reports if report.findings), reports[0])
    page = import_module("pocketgpu.replay.page").Replay(chosen)
    Path(file).write_text(page.html(), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
