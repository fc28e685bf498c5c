"""A program in a Python of its own, which may end as it likes; in a browser, in this one."""

import os
import subprocess
import sys

from rnnlab.resources import in_browser


class _ProgramEnd(BaseException):
    """The end of a program that runs in this process, with its exit status."""


def run_apart(program: str) -> int:
    """Exit status of a Python program in another process; `os._exit` ends it at once, without any clean-up.

    A browser has no other processes: there the program runs in this one, and `os._exit` ends it alone.
    """
    if in_browser():
        return _run_here(program)
    return subprocess.run([sys.executable, "-c", program]).returncode


def _run_here(program: str) -> int:
    """Exit status of a program that runs in a namespace of its own; its exceptions are raised here."""

    def end(status: int) -> None:
        raise _ProgramEnd(status)

    before, os._exit = os._exit, end
    try:
        exec(compile(program, "<program>", "exec"), {"__name__": "__main__"})
    except _ProgramEnd as ended:
        return ended.args[0]
    finally:
        os._exit = before
    return 0
