"""Device functions that Numba CUDA lacks, for blocks that wait for each other; on a GPU and in the simulator.

    load_relaxed(array, index)  ld.relaxed.gpu: a load done each time, past the first-level cache
    load_acquire(array, index)  ld.acquire.gpu: what was written before the value can be read after it
    nanoseconds()               %globaltimer; in the simulator a clock that goes on by 1000 at each reading

A waiting loop cannot use cuda.ldcv: it is a weak load, which the assembler takes out of the loop (the block
then waits for a register), or removes together with the loop (the block does not wait).  numba-cuda's
cuda.ldcg may be moved over a barrier, since nothing tells the compiler that it depends on memory.
"""

import itertools
from collections.abc import Callable

from llvmlite import ir
from numba.core import types
from numba.cuda.extending import intrinsic

from rnnlab import cuda
from rnnlab.compiling.cache_hints import load_word


@intrinsic
def _globaltimer(typing_context):
    def code(context, builder, signature, arguments):
        kind = ir.FunctionType(ir.IntType(64), [])
        timer = ir.InlineAsm(kind, "mov.u64 $0, %globaltimer;", "=l,~{memory}", side_effect=True)
        return builder.call(timer, [])

    return types.int64(), code


def _word(on_gpu: Callable, make_simulated: Callable[[], Callable]) -> Callable:
    """The word on a GPU, or its stand-in, which rnnlab.compiling.typing exchanges for the word."""
    if not cuda.is_simulated:
        return on_gpu
    simulated = make_simulated()
    simulated.on_gpu = on_gpu
    return simulated


def _coherent_load() -> Callable:
    from rnnlab.simulator.synchronisation import _load
    from rnnlab.simulator.trace import STRONG_LOAD

    return _load(STRONG_LOAD)


def _clock() -> Callable:
    readings = itertools.count(step=1000)
    return lambda: next(readings)


load_acquire = _word(load_word("ld.acquire.gpu"), _coherent_load)
load_relaxed = _word(load_word("ld.relaxed.gpu"), _coherent_load)
nanoseconds = _word(_globaltimer, _clock)
