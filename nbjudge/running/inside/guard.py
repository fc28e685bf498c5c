"""What an answer may not do, refused with a sentence: read the course's files, import its modules, open a
connection, start a program. It exists for the message. An answer that wants past it gets past it, through
ctypes for instance; what holds then is the sandbox around the process.
"""

import os
import sys
from functools import partial
from types import ModuleType
from typing import NamedTuple

from .calls import Forbidden

READS = {"open", "os.listdir", "os.scandir"}
REFUSED = {
    "a network connection": ("socket.__new__",),
    "a new process": (
        "os.fork",
        "os.forkpty",
        "os.exec",
        "os.posix_spawn",
        "os.spawn",
        "os.system",
        "subprocess.Popen",
    ),
    "a signal to another process": ("os.kill", "os.killpg"),
}
OFFERED = ("check", "hint", "progress", "banner", "show_source")


class Own(NamedTuple):
    """The course's own modules, as the answer's process may see them."""

    name: str  # of the package that a learner imports; the answer gets an inert one
    packages: list[str]  # all of the course, of which none may be imported
    word: str  # the name in the inert package of what an answer of the course's kind uses
    module: ModuleType | None  # that module, where the answer is of that kind
    missing: str | None  # the package that it lacks here


def install(hidden: list[str], own: Own) -> None:
    """From here on this process refuses what an answer may not do; `hidden` are folders it may not look
    into."""
    sys.modules[own.name] = _inert_course(own)
    if own.module is not None:
        setattr(sys.modules[own.name], own.word, own.module)
    sys.meta_path.insert(0, _Refusal(own))
    folders = tuple(map(os.path.realpath, hidden))
    resolve = os.path.realpath
    decode = os.fsdecode
    reasons = {event: what for what, events in REFUSED.items() for event in events}

    def refuse(event, arguments):
        if event in reasons:
            raise Forbidden(f"An answer may not use {reasons[event]}.")
        if event in READS and isinstance(arguments[0], str | bytes | os.PathLike):
            if resolve(decode(arguments[0])).startswith(folders):
                raise Forbidden("An answer may not read the course's own files.")

    sys.addaudithook(refuse)


def _inert_course(own: Own) -> ModuleType:
    """The course's package as an answer sees it: check and hint do nothing, use gives back what it gets."""
    course = ModuleType(own.name)
    for name in OFFERED:
        setattr(course, name, lambda *arguments, **keywords: None)
    course.use = lambda function: function
    course.__path__ = []
    course.__getattr__ = partial(_refused_attribute, own)
    return course


def _refused_attribute(own: Own, name: str) -> None:
    if name.startswith("__"):
        raise AttributeError(name)
    if name == own.word and own.missing:  # the installation's fault, and no attempt at anything
        raise ModuleNotFoundError(f"No module named {own.missing!r}", name=own.missing)
    raise Forbidden(f"An answer may not use {own.name}.{name}: write it with NumPy.")


class _Refusal(NamedTuple):
    """First in the row of those who find modules: finds no module of the course."""

    own: Own

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name != self.own.name and name.partition(".")[0] in self.own.packages:
            raise Forbidden(f"An answer may not import {name}: write it with NumPy.")
