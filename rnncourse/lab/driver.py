"""Which CUDA an NVIDIA driver on this machine can run, as the driver itself reports.

`python rnncourse/lab/driver.py` prints the extra that fits it, cuda12 or cuda13, or nothing. The Makefile
runs it before anything is installed, so it needs the standard library only.
"""

import ctypes
import re
import subprocess

LIBRARIES = ("libcuda.so.1", "nvcuda.dll")


def cuda_version() -> tuple[int, int] | None:
    """The newest CUDA (major, minor) that the driver supports; None without a driver."""
    return _from_library() or _from_smi()


def extra() -> str | None:
    """The extra of pyproject.toml that fits this driver; a newer driver runs what an older CUDA built."""
    version = cuda_version()
    if version is None or version < (12, 0):
        return None
    return "cuda12" if version < (13, 0) else "cuda13"


def _from_library() -> tuple[int, int] | None:
    for name in LIBRARIES:
        try:
            number = ctypes.c_int()
            failed = ctypes.CDLL(name).cuDriverGetVersion(ctypes.byref(number))
        except (OSError, AttributeError):
            continue
        if not failed and number.value:
            return number.value // 1000, number.value % 1000 // 10
    return None


def _from_smi() -> tuple[int, int] | None:
    try:
        output = subprocess.run(["nvidia-smi"], capture_output=True, text=True, timeout=20).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.search(r"CUDA Version: (\d+)\.(\d+)", output)
    return (int(version[1]), int(version[2])) if version else None


if __name__ == "__main__":
    print(extra() or "")
