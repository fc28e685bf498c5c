"""The commands of a class: `class collect | grade | regrade`, and those of other modules.

What they need is imported when they run: --help must answer at once.
"""

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, redirect_stderr, redirect_stdout
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import TextIO

from nbjudge.course import current
from nbjudge.finding.notebook_file import Unusable
from nbjudge.lesson_names import UnknownLesson, lesson_named
from nbjudge.printable import printable

LONGEST = 1 << 20  # characters of a sentence that names students: all of a large class
DONE = 0
NOT_ALL = 1
UNUSABLE = 2
OWN_FAULT = 3
STATUSES = "exit status: 0 done, 1 some files do not count, 2 unusable input, 3 the grader's own faults"
LAYOUTS = "moodle", "canvas", "nbgrader", "blackboard", "brightspace", "plain"
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
    _add_collect(own)
    _add_grade(own)
    _add_regrade(own)
    import_module("nbjudge.classroom.hand_back").add_commands(own)


def _add_collect(subparsers: argparse._SubParsersAction) -> None:
    collect = subparsers.add_parser(
        "collect", help="read downloads of a platform, or plain folders, into a class folder"
    )
    collect.add_argument("folder", type=Path, help="the class folder; made where it is not there")
    collect.add_argument(
        "sources", type=Path, nargs="+", metavar="DOWNLOAD", help="a zip or a folder; several: one a section"
    )
    collect.add_argument("--layout", choices=LAYOUTS, help="else by the files' names")
    collect.add_argument(
        "--lesson", action="append", default=[], help="only notebooks of this lesson count; may be repeated"
    )
    collect.add_argument("--take", action="append", default=[], metavar="DIGEST", help="the file that counts")
    collect.set_defaults(handler=lambda chosen: guarded(chosen, _collect))


def _add_grade(subparsers: argparse._SubParsersAction) -> None:
    grade = subparsers.add_parser("grade", help="grade a class folder; may be killed and resumed at any time")
    grade.add_argument("folder", type=Path, help="the class folder")
    grade.add_argument("--resume", action="store_true", help="grade what is missing")
    _add_shared(grade)
    grade.set_defaults(handler=lambda chosen: guarded(chosen, _grade))


def _add_regrade(subparsers: argparse._SubParsersAction) -> None:
    regrade = subparsers.add_parser("regrade", help="grade again and say what changes; --write keeps it")
    regrade.add_argument("folder", type=Path, help="the class folder")
    regrade.add_argument("--student", help="one student, by identifier")
    regrade.add_argument("--lesson", help="one lesson")
    regrade.add_argument("--faults", action="store_true", help="only what the grader could not judge")
    regrade.add_argument("--write", action="store_true", help="take over what was shown")
    _add_shared(regrade)
    regrade.set_defaults(handler=lambda chosen: guarded(chosen, _regrade))


def _add_shared(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--jobs", type=_count, metavar="N", help="files at a time; else one for each core")
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="grade on a Dask cluster, tcp://HOST:8786, and not here"
    )
    parser.add_argument("--plain", action="store_true", help="without bubblewrap: strangers' code sees all")
    parser.add_argument("--wait", action="store_true", help="wait where another process grades this class")


def _count(text: str) -> int:
    if text.isascii() and text.isdecimal() and 1 <= int(text[:6]) <= 1024:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text[:20]} is not a number from 1 to 1024")


def guarded(chosen: argparse.Namespace, action: Callable[[argparse.Namespace], int]) -> int:
    """The exit status of a class command; one sentence where it cannot be done."""
    from nbjudge.grading.commands import NEEDS_POSIX

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


def _name_lessons(chosen: argparse.Namespace) -> None:
    """Write bptt for 2, 02 and 02_bptt. Raises Unusable."""
    stated = getattr(chosen, "lesson", None)
    try:
        if stated:
            chosen.lesson = [*map(lesson_named, stated)] if isinstance(stated, list) else lesson_named(stated)
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
    if out and folder and out.resolve().is_relative_to(folder.resolve()):
        first = (*out.resolve().relative_to(folder.resolve()).parts, "")[0]
        if first in OWN_FILES:
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


def _collect(chosen: argparse.Namespace) -> int:
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


def _grade(chosen: argparse.Namespace) -> int:
    from nbjudge.classroom import run

    with locked(chosen.folder, chosen.wait), _mapped(chosen) as mapped:
        listed = run.grade_class(chosen.folder, mapped, say, resume=chosen.resume, plain=chosen.plain)
    say(*run.describe(listed))
    return DONE if run.without_faults(listed) else OWN_FAULT


def _regrade(chosen: argparse.Namespace) -> int:
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


def _mapped(chosen: argparse.Namespace) -> AbstractContextManager[Callable]:
    """The `map` with which files are graded."""
    from nbjudge.classroom import processes

    if chosen.scheduler:
        return processes.on_cluster(chosen.scheduler)
    return processes.here(chosen.jobs or processes.most())


def say(*lines: str) -> None:
    """Print lines, whatever a submission has put into them."""
    for line in lines:
        print(printable(line, LONGEST))
