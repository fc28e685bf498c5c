"""`from pocketgpu import cuda`: numba.cuda where a GPU can be used, the simulator where none can.

RNNLAB_CUDA=simulator takes the simulator whatever the machine has; RNNLAB_CUDA=gpu takes the GPU, and its
absence is an error.  Three names come on top of Numba's: is_simulated; observe, which runs a kernel once
and reports what happened in either world; and replay, which shows a simulated launch step by step.

On a GPU the import hands out numba.cuda itself, with those names added: Numba's compiler knows its own
module and no other.  The simulator needs NumPy alone.
"""

import importlib
import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from types import ModuleType

from pocketgpu.remedies import pip_install

CHOICES = ("gpu", "simulator")
Size = int | tuple[int, ...]  # of a grid in blocks, of a block in threads


@dataclass(frozen=True)
class Measurement:
    """Duration of a launch on a GPU; the other fields are those of the simulator's report, and empty."""

    seconds: float
    counts: None = None
    lines: None = None
    trace: None = None
    findings: tuple = ()


def _why_no_gpu() -> tuple[str, bool]:
    """Why Numba can use no GPU here, empty if it can; and whether a GPU's owner should hear of it."""
    if find_spec("numba") is None:
        remedy = pip_install("numba-cuda[cu13]")
        return f"Numba is not installed: {remedy}, or [cu12] for an older driver", False
    try:
        numba_cuda = importlib.import_module("numba.cuda")
    except Exception as error:  # numba-cuda 0.30 beside NumPy 2.5: AttributeError
        import numpy

        reason = f"{type(error).__name__}: {error}"
        return (
            f"numba.cuda cannot be imported beside NumPy {numpy.__version__} ({reason}); install versions "
            f"that fit each other: {pip_install('--upgrade', 'numba', 'numba-cuda')}"
        ), True
    if numba_cuda.is_available():
        return "", False
    error = numba_cuda.cuda_error()
    if error:
        reason = " ".join(str(error).split())
        return f"the driver cannot be used: {reason}", False
    toolkit = os.environ.get("CUDA_HOME", "not set")
    return (
        "there is a driver, but NVVM, which compiles kernels, cannot be loaded: "
        f"{pip_install('nvidia-nvvm')}, or set CUDA_HOME to the CUDA toolkit's folder (it is {toolkit})"
    ), True


def _choose() -> str:
    """gpu or simulator.  Raises RuntimeError if RNNLAB_CUDA=gpu, and no GPU is usable."""
    choice = os.environ.get("RNNLAB_CUDA", "")
    if choice and choice not in CHOICES:
        raise ValueError(
            f"RNNLAB_CUDA is {choice!r}, expected gpu, simulator, or nothing to choose by itself"
        )
    if choice == "simulator":
        return choice
    why, is_news = _why_no_gpu()
    if choice == "gpu" and why:
        raise RuntimeError(f"RNNLAB_CUDA is gpu, but {why}")
    if is_news:
        warnings.warn(f"kernels are simulated: {why}", RuntimeWarning, stacklevel=2)
    return "simulator" if why else "gpu"


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
    start = _target.event()
    end = _target.event()
    start.record()
    launch(*arguments)
    end.record()
    end.synchronize()
    return Measurement(1e-3 * _target.event_elapsed_time(start, end))


def __getattr__(name: str):
    """What changes from thread to thread, such as laneid, or is made at its first use."""
    return getattr(_target, name)


is_simulated = _choose() == "simulator"
_target: ModuleType = importlib.import_module("pocketgpu.simulator" if is_simulated else "numba.cuda")
if is_simulated:
    # in the module itself, because kernels look names up all the time and __getattr__ comes last
    globals().update({name: value for name, value in vars(_target).items() if not name.startswith("__")})
else:
    _target.is_simulated = False
    _target.observe = observe
    _target.replay = replay
    sys.modules[__name__] = _target
