"""What an answer prints while a notebook checks it: shown up to a limit, and never as an error.

An answer that prints without end would fill the notebook, and a progress bar on standard error makes nbgrader
count the test cell as failed (0.9.6).  So both streams go to standard output, up to a limit.
"""

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import TextIO

LIMIT = 20_000  # characters, some 250 lines


class Limited(io.TextIOBase):
    """A stream that passes on LIMIT characters to another one, and counts the rest."""

    def __init__(self, stream: TextIO):
        self.stream = stream
        self.left = LIMIT
        self.lost = 0

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False

    def write(self, text: str) -> int:
        shown = text[: self.left]
        if shown:
            self.stream.write(shown)
        self.left -= len(shown)
        self.lost += len(text) - len(shown)
        return len(text)

    def flush(self) -> None:
        self.stream.flush()


@contextmanager
def limited_output() -> Iterator[None]:
    """Send both standard streams to standard output, up to LIMIT characters; a sentence says what is lost."""
    output = sys.stdout
    errors = sys.stderr
    limited = Limited(output)
    with redirect_stdout(limited), redirect_stderr(limited):
        # a logging handler keeps the stream that it was made with: a notebook's stream can be diverted itself
        with suppress(AttributeError):
            errors.write = limited.write
        try:
            yield
        finally:
            with suppress(AttributeError):
                del errors.write
    if limited.lost:
        output.write(f"\n… the answer printed {limited.lost:,} more characters, which are left out.\n")
