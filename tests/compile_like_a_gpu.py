"""Every Numba kernel of lessons, solutions and rungs, compiled as a launch on a GPU compiles it, as JSON.

    python compile_like_a_gpu.py [built-in]

`from rnnlab import cuda` hands out numba.cuda, for a pretended device of each architecture, and the kernel's
own dispatcher compiles; only loading the code into a driver is left out.  With built-in, numba-cuda is taken
out of the way first and Numba's own CUDA target compiles.
"""

import json
import os
import sys

if "built-in" in sys.argv:
    sys.meta_path = [finder for finder in sys.meta_path if type(finder).__name__ != "NumbaCudaFinder"]
os.environ["RNNLAB_CUDA"] = "gpu"

import numba.cuda

numba.cuda.is_available = lambda: True

from course_kernels import LESSONS, SOLUTIONS, kernels
from machine_code import blind_loops, disassembled, waiting_loads
from numba import float32, int32
from source_polls import waits_of

from pocketgpu import cuda
from pocketgpu.compiling import compilers
from pocketgpu.compiling.report import ARCHITECTURES, _read
from pocketgpu.compiling.without_gpu import without_gpu
from rnnlab.cells import find_cell
from rnnlab.kernels.persistence import numba_layer
from rnnlab.kernels.persistence.tiles import tiles_for
from rnnlab.ladder.properties import WITH_KERNELS
from rnnlab.network import Network

assert cuda is numba.cuda
numba.cuda.dispatcher._Kernel.bind = lambda self: None  # it would load the code into a driver


def rungs():
    """The kernels of the rung that Numba compiles, by name; one layer of 96 units."""
    for cell in WITH_KERNELS:
        network = Network.create(cell, 1, 1)
        flat, ints = float32[::1], int32[::1]
        both = numba_layer.kernels_of(network, tiles_for(len(find_cell(cell).gates), 96, 132))
        for kernel, arrays in zip(both, (4, 9), strict=True):
            signature = (float32[:, ::1], *[flat] * arrays, ints, ints, int32, int32)
            yield f"{kernel.py_func.__name__} {cell}", (kernel, signature)


def compiled(kernel, signature, arch):
    """What the machine code needs, by the kernel's own dispatcher."""
    capability = divmod(int(arch.removeprefix("sm_")), 10)
    dispatcher = cuda.jit(kernel.py_func)  # a fresh one: it keeps what it compiled for another device
    with without_gpu(capability):
        dispatcher.compile(signature)
        ptx = dispatcher.inspect_asm(signature)
    (row,) = _read(*compilers.linked([ptx], arch), ptx, arch, kernel.py_func.__name__)
    codes = disassembled(row.cubin).items()
    code = next(code for name, code in codes if kernel.py_func.__name__ in name)
    return {
        "registers": row.registers,
        "spills": row.spill_stores + row.spill_loads,
        "float64": ".f64" in ptx,
        "blind loops": blind_loops(row.cubin),
        "waits": (len(waiting_loads(code)), waits_of(kernel)),  # in the machine code, in the source
    }


def table():
    """{kernel: {architecture: what the machine code needs}}."""
    every = kernels([*LESSONS, *SOLUTIONS]) | dict(rungs())
    return {
        name: {arch: compiled(kernel, signature, arch) for arch in ARCHITECTURES}
        for name, (kernel, signature) in every.items()
    }


if __name__ == "__main__":
    target = "numba-cuda" if hasattr(numba.cuda, "core") else "numba"
    json.dump({"target": target, "kernels": table()}, sys.stdout)
