"""Command lines that mend what is missing, as a reader can paste them."""

import os
import shlex
import subprocess
import sys


def command_line(*words: object) -> str:
    """Words as a shell reads them: quoted where one holds a space or a sign that means something there."""
    texts = [*map(str, words)]
    return shlex.join(texts) if os.name == "posix" else subprocess.list2cmdline(texts)


def pip_install(*words: str) -> str:
    """The command line that installs by this Python's pip."""
    python = sys.executable or "python"  # an embedded Python may know no program
    return command_line(python, "-m", "pip", "install", *words)
