"""The commands of a class: `class collect | grade | regrade`, and those of hand_back.py.

commands.toml has what --help says.  What they need is imported when they run: --help must answer at once.
"""

import argparse
import os
import shutil
import sys
import tomllib
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, redirect_stderr, redirect_stdout
from functools import partial
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import TextIO

from nbjudge.course import current
from nbjudge.finding.notebook_file import Unusable
from nbjudge.grading.commands import NEEDS_POSIX, add_command, whole_number
from nbjudge.lesson_names import UnknownLesson, lesson_named
from nbjudge.printable import printable

WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
LONGEST = 1 << 20  # characters of a sentence that names students: all of a large class
DONE = 0
NOT_ALL = 1
UNUSABLE = 2
OWN_FAULT = 3
STATUSES = "exit status: 0 done, 1 some files do not count, 2 unusable input, 3 the grader's own faults"
OWN_FILES = (  # of a class folder: no page or table takes their place
    "class.json", "submissions.jsonl", "files", "results", "regraded",
    "exported.json", "exported.lock", "lock",
    "by_hand.csv", "prose.csv",
)  # fmt: skip


def add_commands(subparsers: argparse._SubParsersAction) -> None:
    """Add `class` and its commands to the command line."""
    parser = subparsers.add_parser("class", help=f"for teachers: a whole class; {STATUSES}")
    parser.set_defaults(handler=lambda chosen: parser.print_help(sys.stderr) or UNUSABLE)
    own = parser.add_subparsers(metavar="COMMAND", dest="class_command")
    for name in [name for name, words in WORDS.items() if "help" in words]:
        add_command(own, WORDS, name, partial(_run, name), TYPES)


def _run(name: str, chosen: Namespace) -> int:
    action = ACTIONS.get(name) or import_module("nbjudge.classroom.hand_back").ACTIONS[name]
    return guarded(chosen, action)


def _points(text: str) -> float:
    from nbjudge.classroom.export_tables import number_in

    points = number_in(text) or 0.0
    if 0 < points < 1e6:
        return points
    raise argparse.ArgumentTypeError(f"{text[:20]} is not a number of points above 0, such as 12.5")


TYPES = {"path": Path, "count": partial(whole_number, 1, 1024), "points": _points}


def guarded(chosen: Namespace, action: Callable[[Namespace], int]) -> int:
    """The exit status of a class command; one sentence where it cannot be done."""
    with lasting_output():
        try:
            if os.name != "posix":
                raise Unusable(NEEDS_POSIX)
            for option in "out", "programs":
                _refuse_own_file(option, getattr(chosen, option, None), chosen.folder)
            _name_lessons(chosen)
            return action(chosen)
        except Unusable as unusable:
            sentence = str(unusable)
        except OSError as error:
            place = error.filename or f"{chosen.folder or 'a file'}, or the output of this command,"
            sentence = f"{place} cannot be used: {error.strerror or error}."
        print(f"{current().command} class {chosen.class_command}: {printable(sentence)}", file=sys.stderr)
    return UNUSABLE


def _name_lessons(chosen: Namespace) -> None:
    """Write bptt for 2, 02 and 02_bptt. Raises Unusable."""
    stated = getattr(chosen, "lesson", None)
    try:
        if isinstance(stated, list):
            chosen.lesson = [*map(lesson_named, stated)]
        elif stated:
            chosen.lesson = lesson_named(stated)
    except UnknownLesson as unknown:
        raise Unusable(f"{unknown}.") from None


@contextmanager
def lasting_output() -> Iterator[None]:
    """Standard output and error may be closed, or lose their reader, as before `| head -1`: the work is done
    all the same."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:  # else a file of ours has this number, and a program that is started writes into it
            os.open(os.devnull, os.O_RDWR)
    with redirect_stdout(_Lasting(sys.stdout)), redirect_stderr(_Lasting(sys.stderr)):
        yield


class _Lasting:
    """A stream that takes text whether anybody reads it or not."""

    def __init__(self, stream: TextIO | None) -> None:
        self.stream = stream or StringIO()

    def write(self, text: str) -> None:
        """Write at once; to nowhere, once the reader has gone."""
        try:
            self.stream.write(text)
            self.stream.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.stream.fileno())

    def __getattr__(self, name: str) -> object:
        return getattr(self.stream, name)


def _refuse_own_file(option: str, out: Path | None, folder: Path | None) -> None:
    """Unusable where what is to be written would take the place of a file of the class itself."""
    places = [folder.resolve() / name for name in OWN_FILES] if out and folder else []
    if any(out.resolve().is_relative_to(place) for place in places):
        raise Unusable(f"--{option} {out} is a part of the class itself: name another place.")


def written(path: Path, write: Callable) -> object:
    """The result of writing; Unusable with one sentence where the disk or the folder refuses.

    A device or a pipe at that path is refused: a file would take its place.
    """
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise Unusable(f"{path} exists, but is not a regular file: name another one.")
        return write()
    except OSError as error:
        raise Unusable(f"{path} cannot be written: {error.strerror or error}.") from None


def _collect(chosen: Namespace) -> int:
    from nbjudge.classroom.collect import Assignment, check_places, collect, describe

    check_places(chosen.folder, chosen.sources)
    about = Assignment(chosen.layout, tuple(chosen.lesson), tuple(chosen.take))
    with made(chosen.folder), locked(chosen.folder):
        listed = written(chosen.folder, lambda: collect(chosen.folder, chosen.sources, about))
    say(*describe(listed))
    return DONE if all(entry.graded for entry in listed) else NOT_ALL


@contextmanager
def made(folder: Path) -> Iterator[None]:
    """Make a class folder that is not there yet; take it away again if nothing came of it."""
    is_new = not folder.exists()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        if is_new and not (folder / "class.json").exists():
            shutil.rmtree(folder)
        raise


@contextmanager
def locked(folder: Path, wait: bool = False) -> Iterator[None]:
    """Hold a class folder alone. Raises Unusable if another process holds it, unless `wait`.

    A process that is killed holds nothing.
    """
    from filelock import FileLock, Timeout

    if not folder.is_dir():
        raise Unusable(f"there is no class folder {folder}: begin with {current().command} class collect.")
    try:
        with FileLock(folder / "lock", timeout=-1 if wait else 0, mode=0o600):
            yield
    except Timeout:
        raise Unusable(
            f"{folder} is in use by another process: wait for its end, or let class grade wait with --wait."
        ) from None


def _grade(chosen: Namespace) -> int:
    from nbjudge.classroom import run

    with locked(chosen.folder, chosen.wait), _mapped(chosen) as mapped:
        listed = run.grade_class(chosen.folder, mapped, say, resume=chosen.resume, plain=chosen.plain)
    say(*run.describe(listed))
    return DONE if run.without_faults(listed) else OWN_FAULT


def _regrade(chosen: Namespace) -> int:
    from nbjudge.classroom import by_hand, regrade, run, submissions

    selection = regrade.Selection(chosen.student, chosen.lesson, chosen.faults)
    hand = by_hand.read(chosen.folder, submissions.load(chosen.folder))  # before hours of grading
    with locked(chosen.folder, chosen.wait), _mapped(chosen) as mapped:
        pairs = regrade.regrade(chosen.folder, mapped, selection, chosen.plain)
        say(*regrade.describe(pairs, hand.marks))
        if chosen.write:
            regrade.take_over(chosen.folder, pairs)
            say("written")
        else:
            say("nothing is written: repeat the command with --write to take it over")
    return DONE if run.without_faults([new for _, new in pairs]) else OWN_FAULT


ACTIONS = {"collect": _collect, "grade": _grade, "regrade": _regrade}


def _mapped(chosen: Namespace) -> AbstractContextManager[Callable]:
    """The `map` with which files are graded."""
    from nbjudge.classroom import processes

    if chosen.scheduler:
        return processes.on_cluster(chosen.scheduler)
    return processes.here(chosen.jobs or processes.most())


def say(*lines: str) -> None:
    """Print lines, whatever a submission has put into them."""
    for line in lines:
        print(printable(line, LONGEST))
