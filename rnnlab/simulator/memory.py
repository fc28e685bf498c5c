"""Memory that a kernel asks for: cuda.shared, cuda.local, cuda.const; poisoned where nobody has written."""

from sys import _getframe

import numpy as np
from numba.core import types
from numba.np import numpy_support

from rnnlab.simulator.elements import as_kernel_sees
from rnnlab.simulator.events import CONSTANT, LOCAL, SHARED
from rnnlab.simulator.faults import too_much_shared
from rnnlab.simulator.places import start_of
from rnnlab.simulator.threads import Block, machine
from rnnlab.simulator.watched import Watched, watched

POISON, POISON_NAN = 0xCD, 0xFF  # what a byte holds that nobody has written; of floats, which makes a NaN
DYNAMIC = "dynamic"


class Shared:
    """cuda.shared: one array a block for every place in the program that asks for one."""

    @staticmethod
    def array(shape: int | tuple[int, ...], dtype: object, alignment: int | None = None):
        block, frame = machine.now.block, _getframe(1)
        quick = frame.f_lasti, id(frame.f_code), shape, dtype
        array = block.shared.get(quick)
        if array is None:
            place = start_of(frame.f_code, frame.f_lasti), *quick[1:], "exactly"
            if place not in block.shared:
                block.shared[place] = _shared_array(block, shape, numpy_dtype(dtype))
            array = block.shared[quick] = block.shared[place]
        return array


class Local:
    """cuda.local: an array of the thread's own."""

    @staticmethod
    def array(shape: int | tuple[int, ...], dtype: object, alignment: int | None = None):
        return _new(poisoned(shape, numpy_dtype(dtype)), LOCAL)


class Const:
    """cuda.const: a read-only copy of a host array."""

    @staticmethod
    def array_like(array: object):
        constants, key = machine.launch.constants, id(array)
        if key not in constants:
            data = np.array(array.data if isinstance(array, Watched) else array)
            data.flags.writeable = False
            trace = machine.trace
            constants[key] = as_kernel_sees(data) if trace is None else watched(data, CONSTANT, trace)
        return constants[key]


def numpy_dtype(dtype: object) -> np.dtype:
    """A NumPy dtype from NumPy's, Numba's, or a string."""
    return numpy_support.as_dtype(dtype) if isinstance(dtype, types.Type) else np.dtype(dtype)


def poisoned(shape: int | tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Memory that nobody has written: NaN, and a pattern no counter has by chance."""
    size = int(np.prod(shape)) * dtype.itemsize
    return np.full(size, _poison_of(dtype), np.uint8).view(dtype).reshape(shape)


def is_written(array: np.ndarray) -> np.ndarray:
    """Where the poison is gone, for an array that `poisoned` made."""
    as_bytes = np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(array.size, array.itemsize)
    return (as_bytes != _poison_of(array.dtype)).any(1).reshape(array.shape)


def _poison_of(dtype: np.dtype) -> int:
    return POISON_NAN if dtype.kind in "fc" else POISON


def _shared_array(block: Block, shape: int | tuple[int, ...], dtype: np.dtype):
    """Zero elements mean the dynamic part: all such arrays are the same memory."""
    limits = machine.launch.limits
    if shape in (0, (0,)):
        if DYNAMIC not in block.shared:
            block.shared[DYNAMIC] = poisoned(limits.dynamic_shared, np.dtype(np.uint8))
        memory = block.shared[DYNAMIC]
        return _new(memory[: memory.size // dtype.itemsize * dtype.itemsize].view(dtype), SHARED)
    array = poisoned(shape, dtype)
    block.shared_bytes += array.nbytes
    if block.shared_bytes + limits.dynamic_shared > limits.shared:
        raise too_much_shared(machine.now, block.shared_bytes + limits.dynamic_shared, limits.shared)
    return _new(array, SHARED)


def _new(array: np.ndarray, space: str):
    if machine.trace is None:
        return as_kernel_sees(array)
    return watched(array, space, machine.trace, written=False)
