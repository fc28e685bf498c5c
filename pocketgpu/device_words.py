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

ON_GPU = "pocketgpu.compiling.words"  # where Numba finds the words, under the same names


def _word(name: str, make_simulated: Callable[[], Callable]) -> Callable:
    """The word on a GPU, or its stand-in, which pocketgpu.compiling.typing exchanges for the word."""
    if not cuda.is_simulated:
        return getattr(import_module(ON_GPU), name)
    simulated = make_simulated()
    simulated.on_gpu = ON_GPU, name
    return simulated


def _coherent_load() -> Callable:
    from pocketgpu.simulator.synchronisation import load_word
    from pocketgpu.simulator.trace import STRONG_LOAD

    return load_word(STRONG_LOAD)


def _clock() -> Callable:
    readings = itertools.count(step=1000)
    return lambda: next(readings)


load_acquire = _word("load_acquire", _coherent_load)
load_relaxed = _word("load_relaxed", _coherent_load)
nanoseconds = _word("nanoseconds", _clock)
