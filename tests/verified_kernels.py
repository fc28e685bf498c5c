"""docs/kernels_verified.md: for each GPU kernel, what has been done with it so far, and by which test.

python tests/verified_kernels.py    writes the page
"""

import json
import re
from pathlib import Path

from course_kernels import CPP, LESSONS, SOLUTIONS, kernels

from nbjudge.authoring.course import ROOT
from rnncourse import look_back
from rnnlab.kernels.persistence import kernels as persistent

PAGE = ROOT / "docs/kernels_verified.md"
RECORDS = ROOT / "rnncourse/records/measured"
HEAD = ("kernel", "of", "compiled by", "for", "disassembled", "emulated", "simulated", "run on")
THREE, NUMBA = "sm_75, sm_80, sm_90", "Numba, numba-cuda"
NOT_EMULATED = {"nothing", "l2_chain", "l2_read"}  # of latencies.cu: no thread waits for another
OLDER = {"persistent_grid.cu": "sm_80, sm_90"}  # test_persistent_shapes.py; the other files: sm_90
TITLE = """# What has been done with each GPU kernel

Made by `python tests/verified_kernels.py`; `tests/test_verified_kernels.py` holds it to the kernels.

- *compiled*: `tests/pocketgpu/test_compiling.py`, `tests/rnncourse/test_look_back.py`,
  `tests/rnnlab/test_persistent.py` and `tests/rnnlab/test_persistent_shapes.py`; beside numba-cuda by the
  kernel's own dispatcher, `tests/pocketgpu/test_numba_cuda.py` (`make test-cuda`). CUDA C++ goes
  through NVRTC.
- *disassembled*: each loop of the source that waits for other blocks is in the machine code, and has a load
  that sees what they write: `tests/pocketgpu/test_numba_cuda.py`, `tests/pocketgpu/test_machine_code.py`.
- *emulated*: CUDA C++ on threads of the CPU, `tests/rnnlab/test_persistent_cuda.py` and
  `tests/bench/test_bench_gpu_persistent.py`.
- *simulated*: Python, thread by thread, with races and unread memory looked for: lessons, exercises,
  `tests/rnncourse/test_look_back.py`, `tests/rnnlab/test_persistent.py`.
- *run on*: the GPUs of the records in `rnncourse/records/measured`.
"""


def cuda_kernels(path):
    """Names of the kernels in a CUDA file."""
    text = path.read_text(encoding="utf-8")
    return re.findall(r"__global__\s+void\s+(?:__\w+__\([^)]*\)\s*)*(\w+)\(", text)


def gpus():
    """Names of the GPUs that records were made on."""
    machines = (json.loads(path.read_text(encoding="utf-8"))["machine"] for path in RECORDS.glob("*.json"))
    return (
        ", ".join(sorted({machine["gpu"]["name"] for machine in machines if "gpu" in machine}))
        or "no GPU yet"
    )


def rows():
    """One of each kernel, in the order of the course."""
    for name in kernels([*LESSONS, *SOLUTIONS]):
        lesson, kernel = name.split(":")
        yield kernel, f"lesson {lesson}", NUMBA, THREE, "yes", "", "yes", "no GPU yet"
    text = Path(persistent.__file__).read_text(encoding="utf-8")
    for kernel in re.findall(r"@cuda\.jit\n    def (\w+)\(", text):
        yield kernel, "rung persistent", NUMBA, THREE, "yes", "", "yes", gpus()
    for kernel in (look_back.scan_with_tickets, look_back.scan_without_tickets):
        yield kernel.__name__, "rnncourse/look_back.py", "Numba", THREE, "", "", "yes", gpus()
    for path in CPP:
        for kernel in cuda_kernels(path):
            arch, emulated = OLDER.get(path.name, "sm_90"), "" if kernel in NOT_EMULATED else "yes"
            yield kernel, path.name, "NVRTC", arch, "yes", emulated, "", gpus()


def page():
    """The whole page."""
    lines = [f"| {' | '.join(cell or '–' for cell in row)} |" for row in rows()]
    return "\n".join([TITLE, f"| {' | '.join(HEAD)} |", f"|{'---|' * len(HEAD)}", *lines, ""])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE} is written")
