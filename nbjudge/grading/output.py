"""What an answer prints while a notebook checks it: shown up to a limit, and never as an error.

An answer that prints without end would fill the notebook, and a progress bar on standard error makes nbgrader
count the test cell as failed (0.9.6).  So both streams go to standard output, up to a limit. What it displays
has a limit of its own: pictures are larger.
"""

import builtins
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import TextIO

LIMIT = 20_000  # characters, some 250 lines
DISPLAYS = 1_000_000  # characters or bytes of what is displayed, some thirty plots


class Limited(io.TextIOBase):
    """A stream that passes on LIMIT characters to another one, and counts the rest."""

    def __init__(self, stream: TextIO):
        self.stream = stream
        self.left = LIMIT
        self.lost = 0

    def write(self, text: str) -> int:
        shown = text[: self.left]
        if shown:
            self.stream.write(shown)
        self.left -= len(shown)
        self.lost += len(text) - len(shown)
        return len(text)


@contextmanager
def limited_output(displays: int = DISPLAYS) -> Iterator[None]:
    """Send both standard streams to standard output, up to LIMIT characters; a sentence says what is lost.

    The notebook's displays are limited, too: to so many characters or bytes.
    """
    output = sys.stdout
    errors = sys.stderr
    limited = Limited(output)
    shell = getattr(builtins, "get_ipython", object)()  # built in by IPython
    publisher = getattr(shell, "display_pub", None)
    show = getattr(publisher, "publish", None)
    room = [displays]

    def publish(data, *arguments, **keywords):
        parts = (part if isinstance(part, str | bytes) else repr(part) for part in data.values())
        room[0] -= sum(map(len, parts))
        if room[0] >= 0:
            show(data, *arguments, **keywords)

    with (
        redirect_stdout(limited),
        redirect_stderr(limited),
        _descriptor_of_errors_to_output(),
        # a logging handler keeps the stream that it was made with: a notebook's stream can be diverted itself
        _with_method(errors, "write", limited.write),
        _with_method(publisher, "publish", publish),
    ):
        yield
    lost = {"printed": (limited.lost, "characters"), "displayed": (max(0, -room[0]), "bytes")}
    for verb, (count, unit) in lost.items():
        if count:
            output.write(f"\n… the answer {verb} {count:,} more {unit}, which are left out.\n")


@contextmanager
def _with_method(holder, name: str, method: Callable) -> Iterator[None]:
    """Inside, the object has this method of its own; one that takes none keeps its class's."""
    with suppress(AttributeError):
        setattr(holder, name, method)
    try:
        yield
    finally:
        with suppress(AttributeError):
            delattr(holder, name)


@contextmanager
def _descriptor_of_errors_to_output() -> Iterator[None]:
    """What a library in C writes to standard error goes to standard output, where both have descriptors."""
    with ExitStack() as stack:
        with suppress(OSError):
            saved = os.dup(2)
            stack.callback(os.close, saved)
            stack.callback(os.dup2, saved, 2)
            os.dup2(1, 2)
        yield
