"""A GPU for everyone: kernels in Numba CUDA's own words, run thread by thread, watched and counted.

`from rnnlab import cuda` is this where there is no GPU.  Read: launch (cuda.jit), scheduler (the order of
threads), threads and synchronisation (barriers, warps, atomics), memory (what an access does), trace (what
is written down), and what follows from it: counts, races, diagnosis, report.

The words of a kernel are those names of arithmetic, host, synchronisation and threads that numba.cuda has,
too, loads and stores with a cache hint, which only its newer versions have, and a few of Numba's simulator.
"""

import re
import sys
from difflib import get_close_matches
from types import ModuleType

from numba import cuda as numba_cuda
from numba import types  # numba.cuda has it, too

from rnnlab.simulator import arithmetic, host, synchronisation, threads
from rnnlab.simulator.host import VECTOR_TYPES
from rnnlab.simulator.launch import Kernel, jit
from rnnlab.simulator.memory import Const as const
from rnnlab.simulator.memory import Local as local
from rnnlab.simulator.memory import Shared as shared
from rnnlab.simulator.settings import settings
from rnnlab.simulator.threads import Finding, Findings, machine

MORE = re.compile("(ld|st)(ca|cg|cs|cv|lu|wb|wt)|FakeCUDAArray|auto_device|current_device|is_cuda_ndarray")
for _module in (arithmetic, host, synchronisation, threads):
    for _name, _value in vars(_module).items():
        if MORE.fullmatch(_name) or hasattr(numba_cuda, _name):
            if not _name.startswith("_") and not isinstance(_value, ModuleType):
                globals()[_name] = _value
globals().update(VECTOR_TYPES)


def _numbas_words() -> dict[int, object]:
    """{id of a word of numba.cuda: ours}, for kernels that say `from numba import cuda`."""
    words = {id(numba_cuda): sys.modules[__name__]}
    for name, value in globals().items():
        if not name.startswith("_") and not isinstance(value, int | ModuleType) and hasattr(numba_cuda, name):
            words[id(getattr(numba_cuda, name))] = value
    return words


arithmetic.IN_THEIR_PLACE.update(_numbas_words())


def __getattr__(name: str):
    if name == "laneid":
        return machine.now.lane
    near = get_close_matches(name, globals(), 1)
    hint = f": is cuda.{near[0]} meant?" if near else ""
    raise AttributeError(f"the simulator has no cuda.{name}{hint}")


def is_available() -> bool:
    """Is there a GPU to launch on?  A simulated one."""
    return True
