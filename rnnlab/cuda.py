"""`from rnnlab import cuda`: numba.cuda where a GPU can be used, the simulator where none can.

RNNLAB_CUDA=gpu or RNNLAB_CUDA=simulator takes one whatever the machine has.  Two names come on top:
is_simulated, and observe, which runs a kernel once and says what happened in either world.
"""

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass

CHOICES = ("gpu", "simulator")
Size = int | tuple[int, ...]  # of a grid in blocks, of a block in threads


@dataclass(frozen=True)
class Measurement:
    """What a GPU tells of a launch: how long it took.  The rest is there so that both worlds read alike."""

    seconds: float
    counts: None = None
    lines: None = None
    trace: None = None
    findings: tuple = ()


def _has_gpu() -> bool:
    """Does Numba find a driver and a device?"""
    from numba import cuda as numba_cuda

    return numba_cuda.is_available()


def _choose() -> str:
    choice = os.environ.get("RNNLAB_CUDA", "")
    if choice and choice not in CHOICES:
        raise ValueError(
            f"RNNLAB_CUDA is {choice!r}, expected gpu, simulator, or nothing to choose by itself"
        )
    return choice or ("gpu" if _has_gpu() else "simulator")


is_simulated = _choose() == "simulator"
_words = importlib.import_module("rnnlab.simulator" if is_simulated else "numba.cuda")
# in the module itself, because kernels look words up all the time and __getattr__ is asked last
globals().update({name: value for name, value in vars(_words).items() if not name.startswith("__")})


def __getattr__(name: str):
    """What changes from thread to thread, such as laneid, or is made when it is first asked for."""
    return getattr(_words, name)


def observe(kernel: Callable, grid: Size, block: Size, *arguments: object, shared: int = 0):
    """Run kernel[grid, block] once; what happened: counts and findings in the simulator, seconds on a GPU."""
    if not is_simulated:
        return _measure(kernel[grid, block, 0, shared], arguments)
    report = importlib.import_module("rnnlab.simulator.report")
    return report.observe(kernel, grid, block, arguments, shared)


def _measure(launch: Callable, arguments: tuple) -> Measurement:
    """One launch between two events; the first of a kernel is also compiled in between."""
    start, end = _words.event(), _words.event()
    start.record()
    launch(*arguments)
    end.record()
    end.synchronize()
    return Measurement(1e-3 * _words.event_elapsed_time(start, end))
