"""Device functions that Numba CUDA lacks, for blocks that wait for each other; on a GPU and in the simulator.

    load_relaxed(array, index)  ld.relaxed.gpu: a load done each time, past the first-level cache
    load_acquire(array, index)  ld.acquire.gpu: what was written before the value can be read after it
    nanoseconds()               %globaltimer; in the simulator a clock that advances by 1000 at each reading

A waiting loop cannot use cuda.ldcv: it is a weak load, which the assembler takes out of the loop (the block
then waits for a register), or removes together with the loop (the block does not wait).  numba-cuda's
cuda.ldcg may be moved over a barrier, since nothing tells the compiler that it depends on memory.
"""

import itertools
from collections.abc import Callable
from importlib import import_module

from pocketgpu import cuda

ON_GPU = "pocketgpu.compiling.device_functions"  # where Numba finds the same names


def _function(name: str, make_simulated: Callable[[], Callable]) -> Callable:
    """The function on a GPU, or its stand-in, which pocketgpu.compiling.typing exchanges for it."""
    if not cuda.is_simulated:
        return getattr(import_module(ON_GPU), name)
    simulated = make_simulated()
    simulated.on_gpu = ON_GPU, name
    return simulated


def _coherent_load() -> Callable:
    from pocketgpu.simulator.synchronisation import load_function
    from pocketgpu.simulator.trace import STRONG_LOAD

    return load_function(STRONG_LOAD)


def _clock() -> Callable:
    readings = itertools.count(step=1000)
    return lambda: next(readings)


load_acquire = _function("load_acquire", _coherent_load)
load_relaxed = _function("load_relaxed", _coherent_load)
nanoseconds = _function("nanoseconds", _clock)
