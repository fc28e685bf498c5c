"""Arrays as a thread sees them in a watched launch: bounds checked, every access written down.

A watched array is a thin shell around a NumPy array.  Indexing it appends to the launch's trace (trace.py)
and does nothing else, so that what it means can be worked out afterwards, all at once.  The shell has slots,
a few plain integers and no __getattr__, because Python finds such attributes fastest: an access costs 0.18 µs
where that of the bare array costs 0.08, and would cost 0.23 with __getattr__.

Memory that a kernel asks for (cuda.shared, cuda.local, cuda.const) is poisoned where nobody has written.
"""

from collections.abc import Sequence
from sys import _getframe
from types import FrameType

import numpy as np
from numba.core import types
from numba.cuda.simulator.api import In, InOut, Out
from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray, sentry_contiguous
from numba.np import numpy_support

from rnnlab.simulator.arithmetic import Narrow, as_kernel_sees, wrapped
from rnnlab.simulator.threads import Block, machine, out_of_bounds, too_much_shared
from rnnlab.simulator.trace import CONSTANT, GLOBAL, LOAD, LOCAL, SHARED, STORE, Trace, start_of


class Watched:
    """A NumPy array in a kernel, `data`; a slice's `root` is the array it was cut from."""

    __slots__ = ("data", "events", "load", "recorder", "root", "space", "store", "tag", "written")

    def __init__(
        self,
        data: np.ndarray,
        space: str,
        trace: Trace,
        root: "Watched | None" = None,
        written: bool | np.ndarray = True,
    ):
        assign = super().__setattr__  # a record's own is for its fields
        assign("data", data)
        assign("space", space)
        assign("root", self if root is None else root)
        assign("written", written)  # had it a value before the launch?  An array where some elements had
        assign("recorder", trace)
        assign("events", trace.events)
        assign("tag", trace.tag(self))
        assign("load", self.tag + LOAD)
        assign("store", self.tag + STORE)

    def __getitem__(self, index):
        try:
            value = self.data[index]
        except IndexError:
            raise beyond(self, index, _getframe(1), "reads") from None
        if type(value) is ndarray:
            return part(self, value)
        frame, events = _getframe(1), self.events
        events += self.load, index, frame.f_lasti, frame.f_code
        return value

    def __setitem__(self, index, value):
        try:
            self.data[index] = value
        except IndexError:
            raise beyond(self, index, _getframe(1), "writes") from None
        except OverflowError:
            self.data[index] = wrapped(value, self.data.dtype)
        frame, events = _getframe(1), self.events
        events += self.store, index, frame.f_lasti, frame.f_code

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self):
        return (self[i] for i in range(len(self.data)))

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return np.asarray(self.data, dtype)

    def __array_ufunc__(self, function, method, *inputs, out=(), **options):
        """np.sin(a, b): a loop over all elements in one word, which is not written down."""
        bare = lambda array: array.data if isinstance(array, Watched) else array
        if out:
            options["out"] = tuple(bare(each) for each in out)
        return getattr(function, method)(*(bare(each) for each in inputs), **options)


class WatchedNarrow(Watched):
    """An array of which slices are of a class of their own."""

    __slots__ = ()

    def __getitem__(self, index):
        try:
            value = self.data[index]
        except IndexError:
            if self.data.ndim == 0 and self.data.dtype.names:
                return self[self.data.dtype.names[index]]  # a record's fields have numbers, too
            raise beyond(self, index, _getframe(1), "reads") from None
        if isinstance(value, np.ndarray) and value.ndim:
            return part(self, value)
        self.recorder.note(self.load, index, _getframe(1))
        return value[()] if isinstance(value, np.ndarray) else value


class WatchedRecords(WatchedNarrow):
    """An array of records: a["x"] and a.x are one field of all of them, a[i].x that of one."""

    __slots__ = ()

    def __getattr__(self, name: str):
        if name not in self.data.dtype.names:
            raise AttributeError(f"a record of {self.data.dtype} has no {name}")
        return self[name]

    def __setattr__(self, name: str, value: object) -> None:
        self[name] = value


ndarray = np.ndarray
SHELLS = {np.ndarray: Watched, Narrow: WatchedNarrow, np.recarray: WatchedRecords}


def watched(data: np.ndarray, space: str, trace: Trace, written: bool | np.ndarray = True) -> Watched:
    """The array as a kernel gets it in a watched launch."""
    data = as_kernel_sees(data)
    return SHELLS[type(data)](data, space, trace, written=written)


def part(whole: Watched, data: np.ndarray) -> Watched:
    """A slice of an array, or the same memory in another shape."""
    data = as_kernel_sees(data)
    return SHELLS[type(data)](data, whole.space, whole.recorder, whole.root)


def beyond(array: Watched, index: object, frame: FrameType, verb: str) -> Exception:
    """The fault that names thread, block, line, index and shape."""
    if isinstance(index, str):
        return AttributeError(f"a record of {array.data.dtype} has no {index}")
    access = f"{verb} index {index} of a {array.space} array of shape {array.data.shape}"
    return out_of_bounds(machine.now, frame, access)


def _passed_on(name: str) -> property:
    """What NumPy knows of the array; what shares its memory is watched too."""

    def find(self: Watched):
        value = getattr(self.data, name)
        if callable(value):
            return lambda *arguments, **options: _shared(self, value(*arguments, **options))
        return _shared(self, value)

    return property(find)


def _shared(whole: Watched, value: object) -> object:
    return part(whole, value) if isinstance(value, np.ndarray) else value


for _name in dir(np.ndarray):
    if not _name.startswith("_") and not hasattr(Watched, _name):
        setattr(Watched, _name, _passed_on(_name))


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


class Arguments:
    """The arguments of one launch, `given` to its threads; afterwards write_back() updates the host's."""

    def __init__(self, arguments: tuple, trace: Trace | None, extensions: Sequence = ()):
        self.trace, self.copies, self.after = trace, [], []
        self.given = [self._given(self._prepared(each, extensions)) for each in arguments]

    def write_back(self) -> None:
        """Copy what the kernel wrote to where the host expects it."""
        for target, source in self.copies:
            target[...] = source
        for finish in self.after:
            finish()

    def _prepared(self, argument: object, extensions: Sequence) -> object:
        """What numba's argument extensions, such as those of cuda.jit(extensions=…), make of it."""
        kind = None
        for extension in extensions:
            kind, argument = extension.prepare_args(kind, argument, stream=0, retr=self.after)
        return argument

    def _given(self, argument: object) -> object:
        if isinstance(argument, tuple):
            whole = tuple(self._given(each) for each in argument)
            return type(argument)(*whole) if hasattr(argument, "_fields") else whole
        if isinstance(argument, In | Out | InOut):
            return self._hinted(argument)
        if isinstance(argument, FakeCUDAArray):
            written = is_written(argument._ary) if getattr(argument, "unwritten", False) else True
            return self._array(argument._ary, written)
        if isinstance(argument, np.void):
            return self._array(np.asarray(argument))
        if isinstance(argument, np.ndarray) and argument.ndim:
            sentry_contiguous(argument)
            return self._array(argument)
        return argument

    def _hinted(self, hint: In | Out | InOut) -> object:
        """In is not copied back, Out is not copied there."""
        if isinstance(hint.value, FakeCUDAArray):
            return self._given(hint.value)
        data, written = np.array(hint.value), True
        if isinstance(hint, Out):
            data, written = poisoned(data.shape, data.dtype), False
        if not isinstance(hint, In):
            self.copies.append((hint.value, data))
        return self._array(data, written)

    def _array(self, data: np.ndarray, written: bool | np.ndarray = True) -> object:
        if self.trace is None:
            return as_kernel_sees(data)
        return watched(data, GLOBAL, self.trace, written)
