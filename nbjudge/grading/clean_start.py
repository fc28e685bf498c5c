"""A working directory and an environment in which nothing but the course itself configures the judge.

Numba, Matplotlib and others read settings from the directory they are imported in, and Numba's may name a
library to load. Whoever grades stands beside a stranger's files: the judge leaves for an empty folder first.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from nbjudge.course import current

SETTINGS = (
    "NUMBA_",
    "MPL",
    "MATPLOTLIB",
    "OMP_",
    "KMP_",
    "GOMP_",
    "CUDA_",
    "JUPYTER",
    "IPYTHON",
    "PYTHONSTARTUP",
)
STAYS = "OMP_NUM_THREADS", "CUDA_HOME", "CUDA_PATH", "CUDA_VISIBLE_DEVICES", "NUMBA_NUM_THREADS"

FOLDERS = "HOME", "TMPDIR", "XDG_DATA_HOME"  # meant from where the command is given


@contextmanager
def clean_start() -> Iterator[None]:
    """An empty working directory, and no settings of other programs; afterwards all is as before.

    Grading is the same on every machine: kernels run in the simulator, in the judge as in the answer's
    process.
    """
    environment = dict(os.environ)
    folders = *FOLDERS, f"{current().settings_prefix}HOME"
    for name, value in environment.items():
        if name.startswith(SETTINGS) and name not in STAYS:
            del os.environ[name]
        elif name in folders and value:
            os.environ[name] = os.path.abspath(value)
    os.environ.update(current().environment)
    folder = _empty_folder()
    before = os.open(os.curdir, getattr(os, "O_PATH", os.O_RDONLY))  # it may be a folder one cannot list
    os.chdir(folder)
    try:
        yield
    finally:
        os.fchdir(before)
        os.close(before)
        if folder != os.sep:
            shutil.rmtree(folder, ignore_errors=True)
        os.environ.clear()
        os.environ.update(environment)


def _empty_folder() -> str:
    """A new folder that only this user may write; the root folder where no new one can be made."""
    with suppress(OSError):
        return tempfile.mkdtemp(prefix="nbjudge-")
    return os.sep
