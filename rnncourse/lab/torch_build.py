"""Which PyTorch is installed to be measured on the CPU: a CPU build, where the package index has one.

On Linux the usual build brings CUDA's libraries, gigabytes that no CPU reads.  A build without them has
"+cpu" in its version; some indexes have it, PyTorch's own for instance.  Standard library only.
"""

import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

LEAST = (2, 9)  # as pyproject.toml requires
WITH_CUDA_GB = 6  # on disk, PyTorch 2.15 with its CUDA libraries
SECONDS = 60.0  # for the index to answer


def newest_cpu_build(python: Path) -> str | None:
    """Version of the newest CPU build that pip finds, as "2.15.0+cpu"; None if pip finds none."""
    if sys.platform != "linux":  # elsewhere the usual build is one
        return None
    command = [python, "-m", "pip", "index", "versions", "torch", "--disable-pip-version-check"]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    builds = re.findall(r"\b(\d+(?:\.\d+)+)\+cpu\b", answer)
    numbers = lambda version: tuple(map(int, version.split(".")))
    newest = max(builds, key=numbers, default="")
    return f"{newest}+cpu" if newest and numbers(newest) >= LEAST else None


def sentence(build: str | None) -> str:
    """What a person should know before pip begins."""
    if build:
        return f"PyTorch {build}: a build for the CPU, without the {WITH_CUDA_GB} GB of CUDA's libraries"
    if sys.platform != "linux":
        return ""
    return (
        f"the package index has no CPU build of PyTorch: with CUDA's libraries it takes {WITH_CUDA_GB} GB of"
        " disk; Ctrl-C ends this, PIP_EXTRA_INDEX_URL can name an index of CPU builds (see pytorch.org)"
    )


def constraints_for(build: str | None, lines: Iterable[str]) -> list[str]:
    """The constraints, with that build in the place of the pinned PyTorch."""
    others = [line for line in lines if not re.match(r"torch==", line)]
    return [*others, f"torch=={build}"] if build else [*lines]
