"""`from pocketgpu import cuda`: numba.cuda where a GPU can be used, the simulator where none can.

RNNLAB_CUDA=simulator takes the simulator whatever the machine has; RNNLAB_CUDA=gpu takes the GPU, and its
absence is an error.  Three names come on top of Numba's: is_simulated; observe, which runs a kernel once
and reports what happened in either world; and replay, which shows a simulated launch step by step.

On a GPU the import hands out numba.cuda itself, with those names added: Numba's compiler knows its own
module and no other.  Where neither world can be had, for want of a package, the first use says why, so that
modules which merely mention a kernel can be imported.
"""

import importlib
import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

CHOICES = ("gpu", "simulator")
Size = int | tuple[int, ...]  # of a grid in blocks, of a block in threads


class CudaMissing(ImportError):
    """Why kernels can neither run on a GPU nor be simulated here, and the remedy."""


@dataclass(frozen=True)
class Measurement:
    """Duration of a launch on a GPU; the other fields are those of the simulator's report, and empty."""

    seconds: float
    counts: None = None
    lines: None = None
    trace: None = None
    findings: tuple = ()


def _numba_cuda() -> ModuleType:
    """numba.cuda.  Raises CudaMissing with the remedy where it cannot be imported."""
    try:
        importlib.import_module("numba")
        return importlib.import_module("numba.cuda")
    except ModuleNotFoundError as error:
        if error.name in ("numba", "llvmlite"):
            missing = "not installed here: .venv/bin/pip install -e '.[lab]'"
            if sys.platform == "emscripten":
                missing = "which no browser has"
            raise CudaMissing(f"kernels need Numba, {missing}") from error
        raise CudaMissing(f"numba.cuda cannot be imported: {error}; pip install {error.name}") from error
    except Exception as error:  # numba-cuda 0.30 beside NumPy 2.5: AttributeError
        import numpy

        raise CudaMissing(
            f"numba.cuda cannot be imported beside NumPy {numpy.__version__} ({type(error).__name__}: "
            f"{error}); install the versions of constraints.txt: "
            "pip install -c constraints.txt numpy numba numba-cuda"
        ) from error


def _why_no_gpu(numba_cuda: ModuleType) -> str:
    """Why Numba can use no GPU here; empty if it can."""
    if numba_cuda.is_available():
        return ""
    if error := numba_cuda.cuda_error():
        return f"the driver cannot be used: {' '.join(str(error).split())}"
    return (
        "there is a driver, but NVVM, which compiles kernels, cannot be loaded: pip install nvidia-nvvm, or "
        f"set CUDA_HOME to the CUDA toolkit's folder (it is {os.environ.get('CUDA_HOME', 'not set')})"
    )


def _has_gpu() -> bool:
    """Does Numba find a driver, a device and a compiler?  Warns of a driver without a compiler."""
    why = _why_no_gpu(_numba_cuda())
    if why.startswith("there is a driver"):
        warnings.warn(f"kernels are simulated: {why}", RuntimeWarning, stacklevel=2)
    return not why


def _choose() -> str:
    """gpu or simulator.  Raises RuntimeError if RNNLAB_CUDA=gpu cannot be had, and CudaMissing."""
    choice = os.environ.get("RNNLAB_CUDA", "")
    if choice and choice not in CHOICES:
        raise ValueError(
            f"RNNLAB_CUDA is {choice!r}, expected gpu, simulator, or nothing to choose by itself"
        )
    if choice == "gpu" and (why := _why_no_gpu(_numba_cuda())):
        raise RuntimeError(f"RNNLAB_CUDA is gpu, but {why}")
    return choice or ("gpu" if _has_gpu() else "simulator")


def _simulator() -> ModuleType:
    """The simulator.  Raises CudaMissing where a package that it needs is missing."""
    _numba_cuda()
    try:
        return importlib.import_module("pocketgpu.simulator")
    except ModuleNotFoundError as error:
        raise CudaMissing(
            f"the simulator needs {error.name}, not installed here: .venv/bin/pip install -e '.[lab]'"
        ) from error


def observe(kernel: Callable, grid: Size, block: Size, *arguments: object, shared: int = 0):
    """Run kernel[grid, block] once; what happened: counts and findings in the simulator, seconds on a GPU."""
    if not is_simulated:
        return _measure(kernel[grid, block, 0, shared], arguments)
    report = importlib.import_module("pocketgpu.simulator.report")
    return report.observe(kernel, grid, block, arguments, shared)


def replay(launch: Callable, *arguments: object):
    """Run kernel[grid, block] once; in the simulator a view of the launch, step by step, for a notebook."""
    if is_simulated:
        return importlib.import_module("pocketgpu.replay.page").replay(launch, arguments)
    launch(*arguments)
    print("A GPU keeps no record of its steps: RNNLAB_CUDA=simulator shows this launch step by step.")


def _measure(launch: Callable, arguments: tuple) -> Measurement:
    """One launch between two events; the first of a kernel is also compiled in between."""
    start, end = _words.event(), _words.event()
    start.record()
    launch(*arguments)
    end.record()
    end.synchronize()
    return Measurement(1e-3 * _words.event_elapsed_time(start, end))


def __getattr__(name: str):
    """What changes from thread to thread, such as laneid, or is made at its first use."""
    if _missing is not None and not name.startswith("__"):
        raise CudaMissing(str(_missing))
    return getattr(_words, name)


_missing: CudaMissing | None = None
_words: ModuleType | None = None
is_simulated = True
try:
    is_simulated = _choose() == "simulator"
    _words = _simulator() if is_simulated else _numba_cuda()
except CudaMissing as missing:
    if os.environ.get("RNNLAB_CUDA") == "gpu":
        raise
    _missing = missing

if not is_simulated:
    _words.is_simulated, _words.observe, _words.replay = False, observe, replay
    sys.modules[__name__] = _words
elif _words is not None:
    # in the module itself, because kernels look words up all the time and __getattr__ comes last
    globals().update({name: value for name, value in vars(_words).items() if not name.startswith("__")})
