# Written by `make course`: a copy of pocketgpu/remedies.py
"""Command lines that install what is missing, as a reader can paste them."""

import os
import shlex
import subprocess
import sys


def pip_install(*requirements: str) -> str:
    """The command line that installs by this Python's pip, quoted where a shell needs it."""
    python = sys.executable or "python"  # an embedded Python may know no program
    words = [python, "-m", "pip", "install", *requirements]
    return shlex.join(words) if os.name == "posix" else subprocess.list2cmdline(words)
