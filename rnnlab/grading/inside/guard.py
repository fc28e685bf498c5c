"""What an answer may not do, refused with a sentence: read the course's files, import its modules, open a
connection, start a program. It exists for the message. An answer that wants past it gets past it, through
ctypes for instance; what holds then is the sandbox around the process.
"""

import os
import sys
from functools import partial
from types import ModuleType

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


def install(hidden: list[str], cuda: ModuleType | None = None, missing: str | None = None) -> None:
    """From here on this process refuses what an answer may not do; `hidden` are folders it may not look
    into, `cuda` the simulator where the answer is a kernel, `missing` the package that it lacks here."""
    sys.modules["rnnlab"] = _inert_course(missing)
    if cuda is not None:
        sys.modules["rnnlab"].cuda = cuda
    sys.meta_path.insert(0, _Refusal())
    folders, resolve, decode = tuple(map(os.path.realpath, hidden)), os.path.realpath, os.fsdecode
    reasons = {event: what for what, events in REFUSED.items() for event in events}

    def refuse(event: str, arguments: tuple) -> None:
        if event in reasons:
            raise Forbidden(f"An answer may not use {reasons[event]}.")
        if event in READS and isinstance(arguments[0], str | bytes | os.PathLike):
            if resolve(decode(arguments[0])).startswith(folders):
                raise Forbidden("An answer may not read the course's own files.")

    sys.addaudithook(refuse)


def _inert_course(missing: str | None = None) -> ModuleType:
    """`rnnlab` as an answer sees it: check and hint do nothing, use gives back what it gets."""
    course = ModuleType("rnnlab")
    for name in OFFERED:
        setattr(course, name, lambda *arguments, **keywords: None)
    course.use = lambda function: function
    course.__path__ = []
    course.__getattr__ = partial(_refused_attribute, missing)
    return course


def _refused_attribute(missing: str | None, name: str) -> None:
    if name.startswith("__"):
        raise AttributeError(name)
    if name == "cuda" and missing:  # the installation's fault, and no attempt at anything
        raise ModuleNotFoundError(f"No module named {missing!r}", name=missing)
    raise Forbidden(f"An answer may not use rnnlab.{name}: write it with NumPy.")


class _Refusal:
    """First in the row of those who find modules: finds no module of the course."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name.startswith("rnnlab."):
            raise Forbidden(f"An answer may not import {name}: write it with NumPy.")
