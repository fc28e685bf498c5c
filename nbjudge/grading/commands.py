"""The commands of grading: grade, check, progress, hint. What they need is imported when they run: --help
must answer at once, and what reads settings from the working directory must not find a stranger's.
"""

import argparse
import os
import sys
import tomllib
from argparse import Namespace
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

from nbjudge.course import current
from nbjudge.finding.notebook_file import Unusable
from nbjudge.grading.clean_start import clean_start
from nbjudge.lesson_names import UnknownLesson, lesson_named
from nbjudge.printable import printable

ALL_PASSED = 0
NOT_ALL = 1
UNUSABLE = 2
OWN_FAULT = 3
LARGEST_SEED = (1 << 53) - 1  # the largest integer that every reader of JSON keeps
NEEDS_POSIX = "grading needs Linux, macOS, or the Windows Subsystem for Linux; check() in a notebook does not"
WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def add_commands(subparsers: argparse._SubParsersAction) -> None:
    """Add grade, check, progress and hint to the command line."""
    for name, action in {"grade": _grade, "check": _check, "progress": _progress, "hint": _hint}.items():
        add_command(subparsers, WORDS, name, action, TYPES)


def add_command(
    subparsers: argparse._SubParsersAction, commands: Mapping, name: str, handler: Callable, types: Mapping
) -> None:
    """Add a command as its table says: help, description, epilog, options, and where more of these stand."""
    table = commands[name]
    texts = {part: table.get(part) for part in ("description", "epilog")}
    short = "; ".join(filter(None, (table["help"], texts["description"])))
    parser = subparsers.add_parser(name, help=short, **texts)
    parser.set_defaults(handler=handler)
    for part in (table, *(commands[shared] for shared in table.get("shares", ()))):
        group = parser.add_mutually_exclusive_group() if "exclusive" in part else parser
        for option, stated in part["options"].items():
            words = {word: value for word, value in stated.items() if word != "targets"}
            if "type" in words:
                words["type"] = types[words["type"]]
            group.add_argument(option, **words)


def whole_number(least: int, most: int, text: str) -> int:
    """The number of an option, for argparse."""
    if text.isascii() and text.isdecimal() and least <= int(text[:20]) <= most:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text[:20]} is not a whole number from {least} to {most}")


TYPES = {"path": Path, "seed": partial(whole_number, 0, LARGEST_SEED)}


def _grade(chosen: Namespace) -> int:
    if chosen.self_check:
        return _guarded(chosen, _self_check)
    if chosen.notebook is None:
        example = f"{current().command} grade work/00_start_here.ipynb"
        return _say_unusable(chosen, f"which notebook? For instance: {example}")
    return _guarded(chosen, lambda chosen: _graded(chosen, _save))


def _check(chosen: Namespace) -> int:
    from nbjudge import progress_file

    def record(report, chosen):
        for verdict in report.verdicts:
            progress_file.record(report.lesson, verdict)

    chosen.json = None
    return _guarded(chosen, lambda chosen: _graded(chosen, record))


def _progress(chosen: Namespace) -> int:
    from nbjudge.grading.learner import progress

    try:
        lesson = chosen.lesson or chosen.named
        print(progress(lesson and lesson_named(lesson)))
    except UnknownLesson as unknown:
        return _say_unusable(chosen, printable(unknown))
    return ALL_PASSED


def _hint(chosen: Namespace) -> int:
    from nbjudge.exercise import UnknownExercise
    from nbjudge.grading.learner import open_hint

    try:
        print(open_hint(*current().find(chosen.exercise)))
        return ALL_PASSED
    except UnknownExercise as unknown:
        sentence = str(unknown)
    with suppress(UnknownLesson):
        names = ", ".join(current().catalogue(lesson_named(chosen.exercise)))
        sentence = f"{chosen.exercise} is a lesson; its exercises are {names}."
    return _say_unusable(chosen, printable(sentence, 2000))


def _say_unusable(chosen: Namespace, why: str) -> int:
    print(f"{current().command} {chosen.command}: {why}", file=sys.stderr)
    return UNUSABLE


def _guarded(chosen: Namespace, action: Callable[[Namespace], int]) -> int:
    """The exit status of an action in a clean working directory; one sentence where it cannot be done."""
    try:
        if os.name != "posix":
            raise Unusable(NEEDS_POSIX)
        if getattr(chosen, "lesson", None):
            chosen.lesson = lesson_named(chosen.lesson)
        for name in ("notebook", "json"):
            if path := getattr(chosen, name, None):
                setattr(chosen, name, _absolute(path))
        if getattr(chosen, "notebook", None):
            _refuse_a_lessons_name(chosen.notebook)
        with clean_start():
            return action(chosen)
    except (Unusable, UnknownLesson) as unusable:
        return _say_unusable(chosen, printable(unusable))
    except BrokenPipeError:  # nobody reads on; no fault of anyone's
        raise
    except OSError as error:
        fault = f"a fault of the grader, not of the notebook ({type(error).__name__}: {error})"
        print(f"{current().command} {chosen.command}: {printable(fault)}", file=sys.stderr)
        return OWN_FAULT


def _absolute(path: Path) -> Path:
    try:
        return path.absolute()
    except OSError as error:
        raise Unusable(
            f"the working directory cannot be used ({error.strerror}); go to another one"
        ) from None


def _refuse_a_lessons_name(path: Path) -> None:
    """Unusable, with the notebook that is meant, where a path names a lesson and no file."""
    with suppress(UnknownLesson):
        name = f"{current().lessons[lesson_named(path.name)]}.ipynb"
        near = next(filter(Path.exists, (path.with_name(name), path.parent / "work" / name)), None)
        if near and not path.exists():
            raise Unusable(f"{path} does not exist; did you mean {near}?")


def _graded(chosen: Namespace, keep: Callable) -> int:
    """Grade, keep the report, print it; the exit status."""
    from nbjudge.grading.grade import grade, refuse_to_replace

    _refuse_without_sandbox(chosen)
    if chosen.json:
        refuse_to_replace(chosen.json, chosen.notebook)
    options = {name: getattr(chosen, name) for name in ("seed", "plain", "only", "lesson")}
    screen = _Screen()
    report = grade(chosen.notebook, **options, tell=screen.show)
    screen.show(report)
    keep(report, chosen)
    if screen.error:
        raise Unusable(f"the verdicts could not be printed: {screen.error.strerror}")
    if report.own_faults:
        return OWN_FAULT
    return ALL_PASSED if report.all_passed else NOT_ALL


class _Screen:
    """Standard output. Where it is full or closed the grade continues, and says so at its end."""

    error: OSError | None = None

    def show(self, message: object) -> None:
        """Print at once: a grade takes minutes."""
        try:
            print(message, flush=True)
        except OSError as error:
            self.error = error


def _save(report, chosen: Namespace) -> None:
    if chosen.json:
        report.save(chosen.json)


def _refuse_without_sandbox(chosen: Namespace) -> None:
    from nbjudge.running import sandbox

    if chosen.require_sandbox and (why := sandbox.choose().why):
        raise Unusable(f"--require-sandbox: answers would run in plain mode, because {why}")


def _self_check(chosen: Namespace) -> int:
    import secrets

    from nbjudge.grading.self_check import findings
    from nbjudge.running import sandbox

    _refuse_without_sandbox(chosen)
    box = sandbox.choose(chosen.plain)
    seed = secrets.randbits(53) if chosen.seed is None else chosen.seed
    answers = 0
    wrong = 0
    for lesson in [chosen.lesson] if chosen.lesson else current().lessons:
        results = list(findings(lesson, box, seed))
        surprising = [result for result in results if not result.as_wanted]
        print(
            f"{lesson}: {len(results)} answers with known verdicts, {len(surprising)} judged otherwise",
            flush=True,
        )
        for result in surprising:
            wanted = " ".join(filter(None, result.wanted))
            print(f"  {result.exercise}, {result.answer}: wanted {wanted}\n    {result.verdict}")
        answers += len(results)
        wrong += len(surprising)
    print(f"{answers - wrong} of {answers} as they should be · sandbox: {box.name} · seed: {seed}")
    return NOT_ALL if wrong else ALL_PASSED
