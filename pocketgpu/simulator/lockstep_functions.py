"""Functions of numba.cuda for n threads at once: indices [n], memory, barriers, atomics, shuffles.

Each takes the execution, the call in the kernel's text, and the arguments.
"""

import ast
import functools
import math
from collections.abc import Callable

import numpy as np

from pocketgpu.simulator import synchronisation, threads
from pocketgpu.simulator.grouping import tallied
from pocketgpu.simulator.lockstep_memory import ADDING, Chunk, Memory, Region, Size
from pocketgpu.simulator.lockstep_values import MANY, Fallback, Varying, as_varying, cut
from pocketgpu.simulator.memory import DYNAMIC, LOCAL_BYTES, STATIC_SHARED, Local, Shared, numpy_dtype
from pocketgpu.simulator.synchronisation import FULL, atomic
from pocketgpu.simulator.trace import ATOMIC, BARRIER, EXCHANGE, LOCAL, SHARED, WARP, WARP_SYNC

MOST_LOCAL = LOCAL_BYTES // 128  # of one array; few kernels have so many
AXES = "xyz"
INDICES = {id(word) for word in (threads.threadIdx, threads.blockIdx, threads.blockDim, threads.gridDim)}

# ---------------------------------------------------------------------- indices


def index_of(chunk: Chunk, base: object, name: str) -> object:
    """threadIdx.x, blockIdx.x, blockDim.x, gridDim.x, laneid or grid.x, in all threads of the chunk."""
    axis = 0 if name == "laneid" else AXES.index(name)
    if base is threads.blockDim or base is threads.gridDim:
        return (chunk.block if base is threads.blockDim else chunk.grid)[axis]
    number = np.arange(chunk.size)
    thread = number % WARP if name == "laneid" else _along(chunk.block, axis, number)
    block = _along(chunk.grid, axis, chunk.first_block + np.arange(chunk.blocks))[:, None]
    if base is threads.blockIdx:
        thread = block
    elif base is threads.grid:
        thread = block * chunk.block[axis] + thread
    return Varying(np.broadcast_to(thread, (chunk.blocks, chunk.size)).reshape(-1), int)


def _along(size: Size, axis: int, number: np.ndarray) -> np.ndarray:
    """Indices along one axis of these threads or blocks."""
    return number // math.prod(size[:axis]) % size[axis]


def grid(execution: object, node: ast.Call, dimensions: int) -> object:
    """Index of each thread in the whole grid."""
    values = tuple(execution.index(threads.grid, name) for name in AXES[:dimensions])
    return values[0] if dimensions == 1 else values


def gridsize(execution: object, node: ast.Call, dimensions: int) -> object:
    """Threads of the grid."""
    sizes = tuple(map(math.prod, zip(execution.chunk.grid, execution.chunk.block, strict=True)))
    return sizes[0] if dimensions == 1 else sizes[:dimensions]


def length(execution: object, node: ast.Call, value: object) -> int:
    """Size of an array's first axis, or of a tuple."""
    return value.shape[0] if isinstance(value, Memory) else len(value)


# ---------------------------------------------------------------------- memory


def shared_array(execution: object, node: ast.Call, shape: object, dtype: object, alignment: object = None):
    """The array of that place in the program, one for each block."""
    shared = execution.chunk.shared
    limits = execution.run.limits
    dtype = numpy_dtype(dtype)
    key = execution.site(node), shape, dtype
    if shape in (0, (0,)):
        key = (DYNAMIC,)
        shape = limits.dynamic_shared // dtype.itemsize
    if key not in shared:
        shared[key] = memory = _new(execution, node, SHARED, shape, dtype, execution.chunk.block_of)
        memory.region = Region(memory.flat.size)
    static = sum(memory.size * memory.dtype.itemsize for key, memory in shared.items() if key != (DYNAMIC,))
    if static + limits.dynamic_shared > STATIC_SHARED or shared[key].dtype != dtype:
        raise Fallback("much shared memory, or dynamic memory in two types")
    return shared[key]


def local_array(execution: object, node: ast.Call, shape: object, dtype: object, alignment: object = None):
    """A new array for each thread."""
    memory = _new(execution, node, LOCAL, shape, numpy_dtype(dtype), execution.chunk.place)
    if memory.size * memory.dtype.itemsize > MOST_LOCAL:
        raise Fallback("much local memory")
    return memory


def _new(
    execution: object, node: ast.Call, space: str, shape: object, dtype: np.dtype, copy_of: np.ndarray
) -> Memory:
    """An array of each block or thread, in which nothing is written."""
    sizes = shape if isinstance(shape, tuple) else (shape,)
    whole = (int(copy_of[-1]) + 1, *map(int, sizes))
    data = np.zeros(whole, dtype)
    return Memory(data, space, 0, copy_of, np.zeros(data.size, bool), execution.site(node))


# ---------------------------------------------------------------------- barriers, atomics, warps


def syncthreads(execution: object, node: ast.Call) -> None:
    """Barrier: all threads of each block that comes have to come."""
    chunk = execution.chunk
    come = tallied(chunk.block_of[execution.places], chunk.blocks)
    if ((come != 0) & (come != chunk.size)).any():
        raise Fallback("a barrier that not all threads of a block reach")
    execution.note(BARRIER, node)
    chunk.pass_barrier(np.repeat(come > 0, chunk.size))


def _change(
    ufunc: np.ufunc, execution: object, node: ast.Call, memory: Memory, index: object, value: object
) -> None:
    """An atomic whose old value nobody uses."""
    if execution.loops and (ufunc not in ADDING or not np.all(memory.as_element(value))):
        raise Fallback("an atomic in a loop that may wait for a change")
    cells = memory.locate(index, execution.places)
    execution.note(ATOMIC, node, memory, cells)
    memory.change(ufunc, cells, value)


def syncwarp(execution: object, node: ast.Call, mask: object = FULL, kind: int = WARP_SYNC) -> None:
    """Whole warps come together; that orders nothing here: where that matters, a race is suspected."""
    warps = execution.places
    if len(warps) % WARP == 0 == execution.chunk.size % WARP:
        warps = warps.reshape(-1, WARP)
    is_whole = warps.ndim == 2 and not (warps[:, 0] % WARP).any() and (np.diff(warps) == 1).all()
    if not is_whole or type(mask) in MANY or int(mask) & FULL != FULL:
        raise Fallback("a collective of a part of a warp")
    execution.note(kind, node, detail=(FULL,))


def _shuffle(
    source_of: Callable,
    execution: object,
    node: ast.Call,
    mask: object,
    value: object,
    operand: object,
    width: int = WARP,
) -> object:
    """A shuffle; source_of(lane, operand, first lane of the group, width): the lane whose value each takes,
    its own if that lies behind the group."""
    syncwarp(execution, node, mask, EXCHANGE)
    place = np.arange(len(execution.places))
    lane = place % WARP
    operand = as_varying(operand, len(place)).data.astype(np.int64)
    first = lane // width * width
    source = source_of(lane, operand, first, width)
    source = np.where(source < first + width, source, lane)
    if operand.min() < 0 or source.max() >= WARP:
        raise Fallback("a shuffle with a lane that is not there")
    return cut(value, place - lane + source)


UFUNCS = {
    "add": np.add, "sub": np.subtract, "and_": np.bitwise_and, "or_": np.bitwise_or, "xor": np.bitwise_xor,
    "max": np.maximum, "min": np.minimum,
}  # fmt: skip
SHUFFLES = {
    "shfl_sync": lambda lane, operand, first, width: first + operand % width,
    "shfl_up_sync": lambda lane, operand, first, width: np.where(
        operand <= lane - first, lane - operand, WARP
    ),
    "shfl_down_sync": lambda lane, operand, first, width: lane + operand,
    "shfl_xor_sync": lambda lane, operand, first, width: lane ^ operand,
}
ATOMICS = {id(getattr(atomic, name)): functools.partial(_change, ufunc) for name, ufunc in UFUNCS.items()}
FUNCTIONS_OF_CUDA: dict[int, Callable] = {
    id(len): length,
    id(threads.grid): grid,
    id(threads.gridsize): gridsize,
    id(Shared.array): shared_array,
    id(Local.array): local_array,
    id(synchronisation.syncthreads): syncthreads,
    id(synchronisation.syncwarp): syncwarp,
    **{
        id(getattr(synchronisation, name)): functools.partial(_shuffle, source)
        for name, source in SHUFFLES.items()
    },
}
