"""A GPU for everyone: kernels in Numba CUDA's own words, run thread by thread, watched and counted.

`from pocketgpu import cuda` is this where there is no GPU.  Read: launch (cuda.jit), rewriting (a kernel's
text as a generator), scheduler (the order of threads), threads and synchronisation (barriers, warps,
atomics), memory (what an access does), trace (what is written down), and what follows from it: counts, races,
diagnosis, report.
"""
# ruff: noqa: I001  a line for each name would be forty lines

from difflib import get_close_matches

from pocketgpu.simulator import device_arrays, host, libdevice
from pocketgpu.simulator.arithmetic import brev, cbrt, clz, ffs, fma, fp16, popc, selp
from pocketgpu.simulator.launch import Kernel, jit
from pocketgpu.simulator.memory import Const as const
from pocketgpu.simulator.memory import Local as local
from pocketgpu.simulator.memory import Shared as shared
from pocketgpu.simulator.number_types import VECTORS, types
from pocketgpu.simulator.settings import settings
from pocketgpu.simulator.synchronisation import (
    activemask, all_sync, any_sync, atomic, ballot_sync, cg, eq_sync, lanemask_lt, ldca, ldcg, ldcs, ldcv,
    ldlu, match_all_sync, match_any_sync, nanosleep, shfl_down_sync, shfl_sync, shfl_up_sync,
    shfl_xor_sync, stcg, stcs, stwb, stwt, syncthreads, syncthreads_and, syncthreads_count,
    syncthreads_or, syncwarp, threadfence, threadfence_block, threadfence_system,
)  # fmt: skip
from pocketgpu.simulator.threads import (
    LANE, Finding, Findings, blockDim, blockIdx, grid, gridDim, gridsize, machine, threadIdx, warpsize,
)  # fmt: skip

globals().update(VECTORS | vars(types))
for _module in (device_arrays, host):
    globals().update(
        (name, value)
        for name, value in vars(_module).items()
        if name[0] != "_" and getattr(value, "__module__", "") == _module.__name__
    )


def __getattr__(name: str):
    if name == "laneid":
        return machine.now.lane if machine.launch else LANE
    near = get_close_matches(name, globals(), 1)
    hint = f": is cuda.{near[0]} meant?" if near else ""
    raise AttributeError(f"the simulator has no cuda.{name}{hint}")


def is_available() -> bool:
    """Is there a GPU to launch on?  A simulated one."""
    return True
