"""Arrays as a thread sees them: bounds checked, uninitialised memory poisoned, every access written down.

A watched array is a thin shell around a NumPy array.  Indexing it appends one tuple to the launch's trace
(events.py) and does nothing else, so that what it means can be worked out afterwards, all at once.  Without
checks a kernel gets the NumPy arrays themselves.
"""

from sys import _getframe

import numpy as np
from numba.core import types
from numba.np import numpy_support

from rnnlab.simulator.events import CONSTANT, LOAD, LOCAL, SHARED, STORE, Trace
from rnnlab.simulator.findings import Finding
from rnnlab.simulator.threads import Stopped, machine

POISON, POISON_NAN = 0xCD, 0xFF  # what a byte holds that nobody has written; of floats, which makes a NaN


class Watched:
    """A NumPy array in a kernel, `data`; a slice's `root` is the array it was cut from."""

    __slots__ = ("data", "events", "load", "root", "space", "store", "tag", "trace", "written")

    def __init__(
        self, data: np.ndarray, space: str, trace: Trace, root: "Watched | None" = None, written=True
    ):
        assign = object.__setattr__  # ours is for the fields of a record
        tag = trace.tag(self)
        for name, value in (
            ("data", data),
            ("space", space),
            ("trace", trace),
            ("root", self if root is None else root),
            ("written", written),  # had it a value before the launch?  An array where some elements had
            ("events", trace.events),
            ("tag", tag),
            ("load", tag + LOAD),
            ("store", tag + STORE),
        ):
            assign(self, name, value)

    def __getitem__(self, index):
        try:
            value = self.data[index]
        except IndexError:
            raise out_of_bounds(self, index, _getframe(1), "reads") from None
        if isinstance(value, np.ndarray):
            return self.view(value)
        frame, events = _getframe(1), self.events
        events += self.load, index, frame.f_lasti, frame.f_code
        return value

    def __setitem__(self, index, value):
        try:
            self.data[index] = value
        except IndexError:
            raise out_of_bounds(self, index, _getframe(1), "writes") from None
        except OverflowError:
            self.data[index] = wrapped(value, self.data.dtype)
        frame, events = _getframe(1), self.events
        events += self.store, index, frame.f_lasti, frame.f_code

    def view(self, part: np.ndarray) -> "Watched":
        """A part of this array, or the same memory in another shape."""
        return Watched(part, self.space, self.trace, self.root)

    def __getattr__(self, name: str):
        value = getattr(self.data, name)
        return self.view(value) if isinstance(value, np.ndarray) else value

    def __setattr__(self, name: str, value):
        self[name] = value  # a record's field

    def __len__(self) -> int:
        return len(self.data)

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return np.asarray(self.data, dtype)


class Shared:
    """cuda.shared: one array a block for every place in the program that asks for one."""

    @staticmethod
    def array(shape, dtype):
        block, frame = machine.now.block, _getframe(1)
        place = (frame.f_code, frame.f_lasti)
        if place not in block.shared:
            block.shared[place] = _shared_array(block, shape, numpy_dtype(dtype))
        return block.shared[place]


class Local:
    """cuda.local: an array of the thread's own."""

    @staticmethod
    def array(shape, dtype):
        return _new(poisoned(shape, numpy_dtype(dtype)), LOCAL)


class Const:
    """cuda.const: a read-only copy of a host array."""

    @staticmethod
    def array_like(array):
        data = np.array(array.data if isinstance(array, Watched) else array)
        if machine.trace is None:
            return data
        cache = machine.launch.constants
        return cache.setdefault(id(array), Watched(data, CONSTANT, machine.trace))


def numpy_dtype(dtype) -> np.dtype:
    """A NumPy dtype from NumPy's, Numba's, or a string."""
    return numpy_support.as_dtype(dtype) if isinstance(dtype, types.Type) else np.dtype(dtype)


def poisoned(shape, dtype: np.dtype) -> np.ndarray:
    """Memory that nobody has written: NaN, and a pattern no counter has by chance."""
    size = int(np.prod(shape)) * dtype.itemsize
    return np.full(size, _poison_of(dtype), np.uint8).view(dtype).reshape(shape)


def is_written(array: np.ndarray) -> np.ndarray:
    """Where the poison is gone, for an array that `poisoned` made."""
    as_bytes = np.ascontiguousarray(array).reshape(-1).view(np.uint8).reshape(array.size, array.itemsize)
    return (as_bytes != _poison_of(array.dtype)).any(1).reshape(array.shape)


def _poison_of(dtype: np.dtype) -> int:
    return POISON_NAN if dtype.kind in "fc" else POISON


def wrapped(value: int, dtype: np.dtype):
    """An integer as a register of that width keeps it."""
    return np.array(int(value) & (1 << 8 * dtype.itemsize) - 1, f"u{dtype.itemsize}").astype(dtype)


def as_record_array(array: np.ndarray) -> np.ndarray:
    """Records answer to a[i].x as well as to a[i]["x"]."""
    return array.view(np.recarray) if array.dtype.names else array


def out_of_bounds(array: Watched, index: object, frame, verb: str) -> Exception:
    """The fault that names thread, block, line, index and shape."""
    if isinstance(index, str):
        return AttributeError(index)
    thread = machine.now
    message = (
        f"thread {tuple(thread.index)} of block {tuple(thread.block.index)} {verb} index {index} of a "
        f"{array.space} array of shape {array.data.shape} on line {frame.f_lineno}: "
        "a thread beyond the end must do nothing"
    )
    where = frame.f_lineno, tuple(thread.block.index), tuple(thread.index)
    return Stopped(Finding("out_of_bounds", message, *where))


def _shared_array(block, shape, dtype: np.dtype):
    """Zero elements mean the dynamic part: all such arrays are the same memory."""
    launch = block.launch
    if shape in (0, (0,)):
        if "dynamic" not in block.shared:
            block.shared["dynamic"] = poisoned(launch.dynamic_shared, np.dtype(np.uint8))
        memory = block.shared["dynamic"]
        return _new(memory[: memory.size // dtype.itemsize * dtype.itemsize].view(dtype), SHARED)
    array = poisoned(shape, dtype)
    block.shared_bytes += array.nbytes
    if block.shared_bytes + launch.dynamic_shared > launch.shared_limit:
        raise Stopped(_too_much_shared(block))
    return _new(array, SHARED)


def _new(array: np.ndarray, space: str):
    array = as_record_array(array)
    return array if machine.trace is None else Watched(array, space, machine.trace, written=False)


def _too_much_shared(block) -> Finding:
    limit, asked = block.launch.shared_limit, block.shared_bytes + block.launch.dynamic_shared
    message = f"a block asks for {asked} bytes of shared memory; the device gives {limit}"
    return Finding("out_of_bounds", message)
