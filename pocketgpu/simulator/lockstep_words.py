"""Words of numba.cuda for n threads at once: indices [n], memory, barriers, atomics, shuffles.

Each takes the execution, the call in the kernel's text, and the arguments.
"""

import ast
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pocketgpu.simulator import synchronisation, threads
from pocketgpu.simulator.arithmetic import Int32
from pocketgpu.simulator.grouping import tallied
from pocketgpu.simulator.lockstep_lanes import Local
from pocketgpu.simulator.lockstep_memory import Event, Memory, Region
from pocketgpu.simulator.lockstep_record import Chunk
from pocketgpu.simulator.lockstep_values import (
    BINARY,
    INTEGERS,
    Fallback,
    Varying,
    as_varying,
    compute,
)
from pocketgpu.simulator.memory import DYNAMIC, LOCAL_BYTES, STATIC_SHARED, Shared, numpy_dtype
from pocketgpu.simulator.memory import Local as LocalArrays
from pocketgpu.simulator.synchronisation import FULL, atomic
from pocketgpu.simulator.trace import ATOMIC, BARRIER, EXCHANGE, LOCAL, SHARED, WARP, WARP_SYNC

MOST_LOCAL = 1 << 28  # bytes of local arrays of a chunk
AXES = "xyz"


class VaryingRange(NamedTuple):
    """A range that differs between threads."""

    first: object
    step: object
    rounds: object


def many_or_few(execution: object, node: ast.Call, *limits: object) -> range | VaryingRange:
    """range(…), the same for all threads or not."""
    if not any(isinstance(limit, Varying) for limit in limits):
        return range(*limits)
    whole = [_as_integer(limit) for limit in limits]
    first, stop, step = (0, *whole, 1) if len(whole) == 1 else (*whole, 1)[:3]
    if type(step) is Varying or step == 0:
        raise Fallback("a range whose step differs between threads")
    distance = compute(BINARY[ast.Sub], first, stop)
    below = compute(BINARY[ast.FloorDiv], distance, step)
    return VaryingRange(first, step, compute(BINARY[ast.Sub], 0, below))


def _as_integer(value: object) -> object:
    """An integer of Python, as range makes it of any other."""
    if type(value) is not Varying:
        return int(value)
    if value.kind not in INTEGERS:
        raise Fallback("a range of floats")
    return Varying(value.data.astype(np.int64, copy=False), int)


# ---------------------------------------------------------------------- indices


def index_of(chunk: Chunk, base: object, name: str) -> Local:
    """threadIdx.x, blockIdx.x, blockDim.x, gridDim.x, or laneid, in all threads of the chunk."""
    key = id(base), name
    if key not in chunk.indices:
        value = chunk.local_of % WARP if name == "laneid" else INDICES[id(base)](chunk, AXES.index(name))
        if isinstance(value, np.ndarray):
            value = Varying(value, int)
        chunk.indices[key] = Local(chunk.everyone, value)
    return chunk.indices[key]


def _place_in(size: tuple[int, int, int], number: np.ndarray, axis: int) -> np.ndarray | int:
    """One axis of the index of the number-th thread or block."""
    if size[axis] == 1:
        return 0
    return number // math.prod(size[:axis]) % size[axis]


def _thread_index(chunk: Chunk, axis: int) -> np.ndarray | int:
    return _place_in(chunk.block, chunk.local_of, axis)


def _block_index(chunk: Chunk, axis: int) -> np.ndarray | int:
    number = chunk.first_block if chunk.blocks == 1 else chunk.block_of + chunk.first_block
    return _place_in(chunk.grid, number, axis)


def _global_index(chunk: Chunk, axis: int) -> np.ndarray | int:
    return _block_index(chunk, axis) * chunk.block[axis] + _thread_index(chunk, axis)


def _block_size(chunk: Chunk, axis: int) -> int:
    return chunk.block[axis]


def _grid_size(chunk: Chunk, axis: int) -> int:
    return chunk.grid[axis]


INDICES: dict[int, Callable] = {
    id(threads.threadIdx): _thread_index,
    id(threads.blockIdx): _block_index,
    id(threads.blockDim): _block_size,
    id(threads.gridDim): _grid_size,
    id(threads.grid): _global_index,
}


def grid(execution: object, node: ast.Call, dimensions: int) -> object:
    """Index of each thread in the whole grid."""
    chunk = execution.chunk
    parts = (index_of(chunk, threads.grid, axis) for axis in AXES[:dimensions])
    values = tuple(part.read(execution.now, chunk.width) for part in parts)
    return values[0] if dimensions == 1 else values


def gridsize(execution: object, node: ast.Call, dimensions: int) -> object:
    """Threads of the grid."""
    sizes = zip(execution.chunk.grid, execution.chunk.block, strict=True)
    values = tuple(blocks * size for blocks, size in sizes)[:dimensions]
    return values[0] if dimensions == 1 else values


def length(execution: object, node: ast.Call, value: object) -> int:
    """Size of an array's first axis, or of a tuple."""
    return value.shape[0] if isinstance(value, Memory) else len(value)


# ---------------------------------------------------------------------- memory


def shared_array(execution: object, node: ast.Call, shape: object, dtype: object, alignment: object = None):
    """The array of that place in the program, one for each block."""
    chunk = execution.chunk
    limits = execution.run.limits
    dtype = _dtype(dtype)
    site = execution.site(node)
    key = site, shape, dtype
    if shape in (0, (0,)):
        key = DYNAMIC, dtype
        shape = limits.dynamic_shared // dtype.itemsize
    if key not in chunk.shared:
        chunk.shared[key] = memory = _new(execution, node, SHARED, chunk.blocks, shape, dtype, chunk.block_of)
        memory.region = Region(memory.flat.size, dtype.itemsize)
        static = [
            memory.size * memory.dtype.itemsize for key, memory in chunk.shared.items() if key[0] != DYNAMIC
        ]
        is_too_large = sum(static) > STATIC_SHARED or sum(static) + limits.dynamic_shared > limits.shared
        if is_too_large or len(chunk.shared) - len(static) > 1:
            raise Fallback("much shared memory, or dynamic memory in two types")
    return chunk.shared[key]


def local_array(execution: object, node: ast.Call, shape: object, dtype: object, alignment: object = None):
    """A new array for each thread."""
    chunk = execution.chunk
    memory = _new(execution, node, LOCAL, chunk.width, shape, _dtype(dtype), chunk.place)
    chunk.local_sizes[memory.site] = memory.size * memory.dtype.itemsize
    if sum(chunk.local_sizes.values()) > LOCAL_BYTES:
        raise Fallback("much local memory")
    return memory


def _dtype(dtype: object) -> np.dtype:
    dtype = numpy_dtype(dtype)
    if dtype.kind not in "fiub":
        raise Fallback(f"an array of {dtype}")
    return dtype


def _new(
    execution, node, space: str, copies: int, shape: object, dtype: np.dtype, copy_of: np.ndarray
) -> Memory:
    """An array of each block or thread, in which nothing is written."""
    shape = shape if isinstance(shape, tuple) else (shape,)
    whole = (copies, *(int(size) for size in shape))
    if math.prod(whole) * dtype.itemsize > MOST_LOCAL:
        raise Fallback("much local memory")
    data = np.zeros(whole, dtype)
    written = np.zeros(data.size, bool)
    return Memory(data, space, 0, copy_of, written, execution.site(node))


# ---------------------------------------------------------------------- barriers, atomics, warps


def syncthreads(execution: object, node: ast.Call) -> None:
    """Barrier: all threads of each block that comes have to come."""
    chunk = execution.chunk
    now = execution.now
    come = tallied(chunk.block_of[now.places], chunk.blocks)
    if ((come != 0) & (come != chunk.threads_per_block)).any():
        raise Fallback("a barrier that not all threads of a block reach")
    chunk.note(Event(BARRIER, execution.site(node), now))
    comes = None
    if now.count < chunk.width:
        comes = np.zeros(chunk.width, bool)
        comes[now.places] = True
    for region in execution.run.regions_of(chunk):
        region.pass_barrier(chunk.place, comes)


def _voting(of_votes: Callable) -> Callable:
    def vote(execution: object, node: ast.Call, predicate: object) -> Varying:
        votes = as_varying(predicate, execution.now.count).data.astype(bool)
        syncthreads(execution, node)
        blocks = votes.reshape(-1, execution.chunk.threads_per_block)
        results = of_votes(blocks).astype(np.int64)
        return Varying(np.repeat(results, execution.chunk.threads_per_block), int)

    return vote


def _changing(ufunc: np.ufunc) -> Callable:
    def change(execution: object, node: ast.Call, memory: Memory, index: object, value: object) -> None:
        if not isinstance(memory, Memory):
            raise Fallback("an atomic on something else than an array")
        cells = memory.locate(index, execution.now)
        if not isinstance(cells, np.ndarray):
            cells = np.full(execution.now.count, cells, np.int64)
        if execution.is_in_loop and (ufunc not in ADDING or not np.all(memory.as_element(value))):
            raise Fallback("an atomic in a loop that may wait for a change")
        execution.run.prepare_store(memory)
        memory.change(ufunc, cells, value)
        execution.note(ATOMIC, node, memory, cells)

    return change


def _warps_of(execution: object, node: ast.Call, mask: object, kind: int = EXCHANGE) -> np.ndarray:
    """[warps, 32] The places of whole warps among the running threads, all of which a collective names."""
    now = execution.now
    chunk = execution.chunk
    warps = now.places[::WARP]
    is_whole = now.count % WARP == 0 and chunk.threads_per_block % WARP == 0
    if (
        not is_whole
        or (now.places.reshape(-1, WARP) != warps[:, None] + np.arange(WARP)).any()
        or (warps % WARP).any()
    ):
        raise Fallback("a collective of a part of a warp")
    if type(mask) is Varying or int(mask) & FULL != FULL:
        raise Fallback("a collective with a mask")
    chunk.note(Event(kind, execution.site(node), now, detail=FULL))
    return np.arange(now.count).reshape(-1, WARP)


def _shuffling(source_of: Callable) -> Callable:
    """A shuffle; source_of(lane, operand, first lane of the group, width): whose value each lane takes."""

    def shuffle(
        execution: object, node: ast.Call, mask: object, value: object, operand: object, width: int = WARP
    ):
        places = _warps_of(execution, node, mask).ravel()
        lane = places % WARP
        operand = as_varying(operand, len(places)).data.astype(np.int64)
        source = source_of(lane, operand, lane // width * width, width)
        if source.min() < 0 or source.max() >= WARP:
            raise Fallback("a shuffle with a lane that is not there")
        return as_varying(value, len(places)).at(places - lane + source)

    return shuffle


def _warp_voting(of_votes: Callable) -> Callable:
    def vote(execution: object, node: ast.Call, mask: object, predicate: object) -> Varying:
        warps = _warps_of(execution, node, mask)
        votes = as_varying(predicate, warps.size).data.astype(bool)[warps]
        return of_votes(votes)

    return vote


def _of_lanes(results: np.ndarray, kind: type) -> Varying:
    return Varying(np.repeat(results, WARP), kind)


def syncwarp(execution: object, node: ast.Call, mask: object = FULL) -> None:
    """It orders nothing here: where that matters, a race is suspected."""
    _warps_of(execution, node, mask, WARP_SYNC)


BITS = np.uint32(1) << np.arange(WARP, dtype=np.uint32)
ADDING = (np.add, np.subtract)
UFUNCS = {
    "add": np.add, "sub": np.subtract, "and_": np.bitwise_and, "or_": np.bitwise_or, "xor": np.bitwise_xor,
    "max": np.maximum, "min": np.minimum,
}  # fmt: skip
SHUFFLES = {
    "shfl_sync": lambda lane, operand, first, width: first + operand % width,
    "shfl_up_sync": lambda lane, operand, first, width: np.where(
        lane - operand >= first, lane - operand, lane
    ),
    "shfl_down_sync": lambda lane, operand, first, width: np.where(
        lane + operand < first + width, lane + operand, lane
    ),
    "shfl_xor_sync": lambda lane, operand, first, width: np.where(
        lane ^ operand < first + width, lane ^ operand, lane
    ),
}
ATOMICS = {id(getattr(atomic, name)): _changing(ufunc) for name, ufunc in UFUNCS.items()}
WORDS: dict[int, Callable] = {
    id(range): many_or_few,
    id(len): length,
    id(threads.grid): grid,
    id(threads.gridsize): gridsize,
    id(Shared.array): shared_array,
    id(LocalArrays.array): local_array,
    id(synchronisation.syncthreads): syncthreads,
    id(synchronisation.syncthreads_count): _voting(lambda votes: votes.sum(1)),
    id(synchronisation.syncthreads_and): _voting(lambda votes: votes.all(1)),
    id(synchronisation.syncthreads_or): _voting(lambda votes: votes.any(1)),
    id(synchronisation.syncwarp): syncwarp,
    id(synchronisation.all_sync): _warp_voting(lambda votes: _of_lanes(votes.all(1), bool)),
    id(synchronisation.any_sync): _warp_voting(lambda votes: _of_lanes(votes.any(1), bool)),
    id(synchronisation.ballot_sync): _warp_voting(
        lambda votes: _of_lanes((votes * BITS).sum(1).astype(np.uint32).view(np.int32), Int32)
    ),
    **{id(getattr(synchronisation, name)): _shuffling(source) for name, source in SHUFFLES.items()},
}
