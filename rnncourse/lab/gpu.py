"""The NVIDIA cards of this computer, and whether CuPy and numba-cuda really run on one.

That a package is installed says little: each is made to compile and run a kernel, in a process of its own, so
that whoever asks holds no GPU memory afterwards.
"""

import subprocess
import sys

QUERY = ("nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader")
SECONDS = 120  # the first kernel on a machine may be compiled for the first time
TRIALS = {  # distribution's first letters: a program that fails unless a kernel ran
    "cupy": "import cupy; a = cupy.arange(4.0)[None]; assert float((a @ a.T)[0, 0]) == 14",  # by cuBLAS
    "numba-cuda": """
import numpy
from numba import cuda
@cuda.jit
def double(a):
    a[cuda.grid(1)] *= 2
a = cuda.to_device(numpy.ones(4))
double[1, 4](a)
assert a.copy_to_host().sum() == 8
""",
}


def cards() -> list[str]:
    """Name, memory and driver of each card; empty where nvidia-smi does not answer."""
    try:
        output = subprocess.run(QUERY, capture_output=True, text=True, timeout=30, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    fields = [line.split(", ") for line in output.splitlines() if line.count(", ") == 2]
    return [f"{name}, {memory}, driver {driver}" for name, memory, driver in fields]


def failure(program: str) -> str | None:
    """Last line of a program's error output, run in a process of its own; None if it ends without error."""
    command = [sys.executable, "-c", program]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"no answer within {SECONDS} s"
    if done.returncode == 0:
        return None
    return (done.stderr.strip().splitlines() or [f"ended with status {done.returncode}"])[-1]
