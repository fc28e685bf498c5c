"""The commands of grading: grade, check, attacks. What they need is imported when they run: --help must
answer at once."""

import argparse
import os
import sys
from pathlib import Path

ALL_PASSED, NOT_ALL, UNUSABLE = 0, 1, 2


def add_commands(subparsers: argparse._SubParsersAction) -> None:
    """Add grade, check and attacks to the command line."""
    grade = subparsers.add_parser(
        "grade", help="grade a notebook; exit 0: all passed, 1: not all, 2: unusable input"
    )
    grade.add_argument("notebook", type=Path, nargs="?")
    grade.add_argument("--json", type=Path, metavar="OUT", help="also write the report as JSON")
    grade.add_argument(
        "--self-check", action="store_true", help="hold the grader against answers with known verdicts"
    )
    grade.add_argument("--fuzz", type=int, metavar="N", help="read N damaged notebooks; 3: a traceback")
    grade.set_defaults(run=_grade)
    check = subparsers.add_parser(
        "check", help="check your own notebook and keep the verdicts in your progress"
    )
    check.add_argument("notebook", type=Path)
    check.set_defaults(run=_check)
    for parser in (grade, check):
        parser.add_argument(
            "--seed", type=int, help="draw the same numbers as the grade that reported this seed"
        )
        parser.add_argument(
            "--plain", action="store_true", help="without bubblewrap, even where it is installed"
        )
        parser.add_argument("--only", metavar="NAME", help="one exercise")
        parser.add_argument("--unit", help="the unit, where the file's name does not say it")
    progress = subparsers.add_parser("progress", help="what you have done so far")
    progress.add_argument("unit", nargs="?", help="one unit, for instance bptt")
    progress.set_defaults(run=_progress)
    attacks = subparsers.add_parser(
        "attacks", help="attacks and faults that grading withstands, and those it does not"
    )
    attacks.add_argument("--run", action="store_true", help="make every attack now, on this machine")
    attacks.set_defaults(run=_attacks)


def _grade(chosen: argparse.Namespace) -> int:
    if chosen.self_check:
        return _self_check(chosen)
    if chosen.fuzz:
        from rnnlab.grading import fuzz

        return fuzz.main(chosen.fuzz, chosen.seed or 0)
    if chosen.notebook is None:
        print(
            "rnnlab grade: which notebook? For instance: rnnlab grade work/00_start_here.ipynb",
            file=sys.stderr,
        )
        return UNUSABLE
    return _graded(chosen, lambda report: _save(report, chosen.json) if chosen.json else None)


def _check(chosen: argparse.Namespace) -> int:
    from rnnlab.grading import progress_file

    def keep(report) -> None:
        for verdict in report.verdicts:
            progress_file.record(report.unit, verdict)

    return _graded(chosen, keep)


def _progress(chosen: argparse.Namespace) -> int:
    from rnnlab import checks
    from rnnlab.grading.learner import progress

    if chosen.unit and chosen.unit not in checks.UNITS:
        units = ", ".join(checks.UNITS)
        print(f"rnnlab progress: no unit {chosen.unit!r}, only {units}", file=sys.stderr)
        return UNUSABLE
    print(progress(chosen.unit))
    return ALL_PASSED


def _graded(chosen: argparse.Namespace, then) -> int:
    """Grade, print, then do what is to be done with the report; the exit status."""
    from rnnlab.grading.grade import grade
    from rnnlab.grading.reading import Unusable

    try:
        _needs_posix()
        options = {name: getattr(chosen, name) for name in ("seed", "plain", "only", "unit")}
        report = grade(chosen.notebook, **options, tell=lambda verdict: print(verdict, flush=True))
        print(report)
        then(report)
    except Unusable as unusable:
        print(f"rnnlab {chosen.command}: {unusable}", file=sys.stderr)
        return UNUSABLE
    return ALL_PASSED if report.all_passed else NOT_ALL


def _save(report, path: Path) -> None:
    from rnnlab.grading.reading import Unusable

    try:
        report.save(path)
    except OSError as error:
        raise Unusable(f"the report could not be written to {path}: {error.strerror}") from error


def _needs_posix() -> None:
    from rnnlab.grading.reading import Unusable

    if os.name != "posix":
        raise Unusable(
            "grading needs Linux, macOS, or the Windows Subsystem for Linux; check() in a notebook does not"
        )


def _self_check(chosen: argparse.Namespace) -> int:
    import secrets

    from rnnlab import checks
    from rnnlab.grading import sandbox
    from rnnlab.grading.self_check import findings

    box = sandbox.choose(chosen.plain)
    seed = secrets.randbits(53) if chosen.seed is None else chosen.seed
    units = [chosen.unit] if chosen.unit else checks.UNITS
    answers, wrong = 0, 0
    for unit in units:
        found = list(findings(unit, box, seed))
        surprising = [each for each in found if not each.as_wanted]
        print(
            f"{unit}: {len(found)} answers with known verdicts, {len(surprising)} judged otherwise",
            flush=True,
        )
        for each in surprising:
            wanted = " ".join(filter(None, each.wanted))
            print(f"  {each.exercise}, {each.answer}: wanted {wanted}\n    {each.verdict}")
        answers, wrong = answers + len(found), wrong + len(surprising)
    print(f"{answers - wrong} of {answers} as they should be · sandbox: {box.name} · seed: {seed}")
    return NOT_ALL if wrong else ALL_PASSED


def _attacks(chosen: argparse.Namespace) -> int:
    from rnnlab.grading import attacks

    print(attacks.page())
    return 0
