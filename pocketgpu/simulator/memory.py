"""Arrays as a thread sees them in a watched launch: bounds checked, every access written down.

A watched array is a thin proxy around a NumPy array.  Indexing it appends to the launch's trace (trace.py)
and does nothing else, so that what it means can be worked out afterwards, all at once.  The proxy has slots,
a few plain integers and no __getattr__, because Python finds such attributes fastest: an access costs 0.18 µs
where that of the bare array costs 0.08, and would cost 0.23 with __getattr__.

Memory that a kernel allocates (cuda.shared, cuda.local, cuda.const) is poisoned where nobody has written.
"""

import sys
from operator import attrgetter
from sys import _getframe

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from pocketgpu.quantities import quantity
from pocketgpu.simulator.arithmetic import Narrow, Unset, Wrapping, as_bare, as_kernel_sees
from pocketgpu.simulator.settings import current
from pocketgpu.simulator.threads import (
    Block,
    fault,
    global_index,
    machine,
    name_of,
    remark,
    users_frame,
    word,
)
from pocketgpu.simulator.trace import (
    CONSTANT,
    EVENT,
    KINDS,
    LOAD,
    LOCAL,
    SHARED,
    SITES,
    STORE,
    Trace,
    as_indices,
    indices_of,
    site_of,
)


class Watched(NDArrayOperatorsMixin):
    """A NumPy array in a kernel, `data`; a slice's `root` is the array it was cut from."""

    __slots__ = ("data", "is_nested", "label", "number", "owner", "recorder", "root", "space", "written")
    __hash__ = object.__hash__  # the mixin compares element by element

    def __init__(
        self, data: np.ndarray, space: str, trace: Trace, root: object = None, written: object = True
    ):
        assign = super().__setattr__  # a record's own is for its fields
        assign("data", data)
        assign("space", space)
        assign("root", self if root is None else root)
        assign("written", written)  # had it a value before the launch?  An array where some elements had
        assign("is_nested", False)  # is it an array within one record?
        assign("recorder", trace)
        assign("number", trace.number(self))

    def __getitem__(self, index):
        return self.load(index, site_of(_getframe(1)))

    def __setitem__(self, index, value):
        self.store(index, value, site_of(_getframe(1)))

    def note(self, kind: int, index: object, site: int) -> None:
        """Write an access down."""
        self.recorder.note((EVENT + KINDS * site + kind, self.number, *as_indices(index)))

    def load(self, index: object, site: int) -> object:
        """The element at the index; a part of the array where that names several."""
        try:
            value = self.data[index]
        except (IndexError, OverflowError):  # no place has a number of more than 63 bits
            raise beyond(self, index, SITES[site].line, "reads") from None
        if isinstance(value, ndarray):
            return part(self, value, index)
        self.note(LOAD, index, site)
        return value

    def store(self, index: object, value: object, site: int) -> None:
        """Store into the element at the index."""
        if isinstance(value, Unset) and self.space in (SHARED, LOCAL):
            return
        try:
            self.data[index] = value
        except (IndexError, OverflowError):
            raise beyond(self, index, SITES[site].line, "writes") from None
        except ValueError:
            if isinstance(value, Watched | ndarray):
                raise row_for_element(SITES[site].line, value.shape) from None
            raise
        places = as_indices(index)
        if len(places) == self.data.ndim or isinstance(value, Watched | ndarray):
            self.note(STORE, index, site)
        else:  # a[i, :] = 0 is a loop in every thread
            shape = self.data.shape
            numbers = np.arange(self.data.size).reshape(shape)
            stored = np.unravel_index(numbers[index].ravel(), shape)
            for place in zip(*stored, strict=True):
                self.note(STORE, place, site)

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self):
        for i in range(len(self.data)):
            yield self.load(i, site_of(_getframe(1)))

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        works_on_whole_arrays("NumPy")
        return np.asarray(self.data, dtype)

    def __array_ufunc__(self, function, method, *inputs, out=(), **options):
        """np.sin(a, b): a loop over all elements in one word, which is not written down."""
        works_on_whole_arrays(f"np.{function.__name__}")

        def bare(array):
            return array.data if isinstance(array, Watched) else array

        if out:
            options["out"] = tuple(map(bare, out))
        return getattr(function, method)(*map(bare, inputs), **options)


class WatchedRecords(Watched):
    """An array of records: a["x"] and a.x are one field of all of them, a[i].x that of one."""

    __slots__ = ()

    def load(self, index: object, site: int) -> object:
        """A record, a part of the array, or a field of a record: only that is an access."""
        index = self._field(index)
        try:
            value = self.data[index]
        except (IndexError, OverflowError):
            raise beyond(self, index, SITES[site].line, "reads") from None
        if not isinstance(value, ndarray):
            value = self.data[*indices_of(index), ...]
        element = part(self, value, index)
        is_array_in_record = not self.data.ndim and value.ndim > 0
        object.__setattr__(element, "is_nested", is_array_in_record)
        if value.ndim or value.dtype.names:
            return element
        return element.load((), site)

    def store(self, index: object, value: object, site: int) -> None:
        """Store a record, which is copied, or a field of one."""
        if isinstance(value, WatchedRecords):
            value.note(LOAD, (), site)
            value = value.data[()]
        index = self._field(index)
        if isinstance(index, str) and not self.data.ndim:
            part(self, self.data[index]).store((), value, site)
        else:
            super().store(index, value, site)

    def _field(self, index: object) -> object:
        """The name of a record's field, which has a number, too."""
        names = self.data.dtype.names
        is_record = names and self.data.ndim == 0
        return names[index] if is_record and isinstance(index, int) else index

    def __getattr__(self, name: str):
        if name not in self.data.dtype.names:
            raise AttributeError(f"a record of {self.data.dtype} has no {name}")
        return self.load(name, site_of(_getframe(1)))

    def __setattr__(self, name: str, value: object) -> None:
        self.store(name, value, site_of(_getframe(1)))


def attribute(value: object, name: str, site: int) -> object:
    """value.name; the field of a record comes before what NumPy, or the simulator, calls so."""
    if isinstance(value, WatchedRecords) and name in value.data.dtype.names:
        return value.load(name, site)
    if isinstance(value, np.record | np.recarray):
        fields = value.dtype.names or ()
        if name in fields:
            return value[name]
    return getattr(value, name)


ndarray = np.ndarray
PROXIES = {kind: Watched for kind in (ndarray, Narrow, Wrapping)} | {np.recarray: WatchedRecords}


def watched(
    data: np.ndarray,
    space: str,
    trace: Trace,
    written: object = True,
    label: object = "",
    owner: int | None = None,
) -> Watched:
    """The array, of any shape, as a kernel gets it in a watched launch.

    label: its name in the kernel, or the site that made it.  owner: address where the memory
    begins that it is a view of, in bytes.
    """
    data = as_bare(data)
    proxy = PROXIES[type(data)](data, space, trace, written=written)
    if owner is None:
        owner, _ = data.__array_interface__["data"]
    object.__setattr__(proxy, "label", label)
    object.__setattr__(proxy, "owner", owner)
    return proxy


def part(whole: Watched, data: np.ndarray, index: object = ()) -> Watched:
    """A slice of an array of any shape, or the same memory in another shape."""
    has_array = any(isinstance(axis, list | ndarray | Watched) for axis in indices_of(index))
    if has_array:
        works_on_whole_arrays("an index that is an array")  # NumPy made a copy
    data = as_bare(data)
    machine.part = data.shape
    view = PROXIES[type(data)](data, whole.space, whole.recorder, whole.root)
    object.__setattr__(view, "is_nested", whole.is_nested)
    return view


def beyond(array: Watched, index: object, line: int, verb: str) -> Exception:
    """The fault that names thread, block, line, index and shape."""
    if isinstance(index, str):
        return AttributeError(f"a record of {array.data.dtype} has no {index}")
    thread = name_of(machine.now)
    access = f"{verb} index {index} of a {array.space} array of shape {array.data.shape}"
    remedy = _remedy(array, index)
    return fault("out_of_bounds", f"{thread} {access} on line {line}: {remedy}", line)


def row_for_element(line: int, shape: tuple[int, ...]) -> Exception:
    """The fault of an array of that shape that is stored where one element stands."""
    thread = name_of(machine.now)
    message = (
        f"{thread} stores an array of shape {shape} into one element on line {line}: a row has no single "
        "value; give the array that is read an index for every dimension"
    )
    return fault("whole_array", message, line)


UNSIGNED_WRAPS = 2**31  # no element has an index above this


def _remedy(array: Watched, index: object) -> str:
    """What to do about an index that an array does not have."""
    indices = indices_of(index)
    shape = array.data.shape
    if any(isinstance(axis, float | np.floating) for axis in indices):
        return "an index is an integer; divide with // in place of /"
    if len(indices) > len(shape):
        return f"the array has {quantity(len(shape), 'dimension')}, the index has {len(indices)}"
    pairs = [*zip(indices, shape, strict=False)]
    numbers = [pair for pair in pairs if isinstance(pair[0], int | np.integer)]
    if any(axis < -size for axis, size in numbers):
        return "the index lies before the first element; begin later or look at the sign"
    if array.space in (SHARED, LOCAL):
        size = " × ".join(map(str, shape))
        return f"the {array.space} array has {size} elements; make it larger or its index smaller"
    beyond = [(axis, size) for axis, size in pairs if axis >= size]
    if any(axis > UNSIGNED_WRAPS for axis, _ in beyond):
        return "an unsigned number below 0 becomes a very large one; compute indices with signed numbers"
    order = ""
    turned = indices[::-1]
    is_turned_inside = all(axis < size for axis, size in zip(turned, shape, strict=False))
    if turned and is_turned_inside:
        order = f"; or is the order of the indices wrong? {turned} is inside"
    place = global_index(machine.now)
    if any(axis in place for axis, _ in beyond):
        several = ": compare each index with the size of its own dimension" if len(shape) > 1 else ""
        return f"a thread beyond the end must do nothing{order or several}"
    last = ", ".join(str(size - 1) for _, size in beyond)
    remedy = "compare the index with this array's own size before the access, or end the loop earlier"
    return f"the last index there is {last}; {remedy}{order}"


def works_on_whole_arrays(name: str) -> None:
    """Remark that the kernel uses a word which reads or writes many elements and is not watched."""
    line = users_frame().f_lineno
    remark("whole_array", whole_array(name, line), line)


def whole_array(name: str, line: int) -> str:
    """The sentence behind the thread's name."""
    return (
        f"works on many elements at once with {name} on line {line}: nothing of it is counted or checked, "
        "and a thread on a GPU works on single elements; write a loop with indices"
    )


OF_A_GPU = {  # attributes and methods that Numba has in a kernel; they touch no element
    *"T ctypes dtype flags flat imag itemsize nbytes ndim real shape size strides".split(),
    *"ravel reshape transpose view".split(),
}


def _forward_attribute(name: str) -> property:
    """What NumPy knows of the array; what shares its memory is watched too."""

    def find(self: Watched):
        value = getattr(self.data, name)
        if name not in OF_A_GPU:
            works_on_whole_arrays(f".{name}")
        if callable(value):
            return lambda *arguments, **options: _watch_view(self, value(*arguments, **options))
        return _watch_view(self, value)

    return property(find)


def _watch_view(whole: Watched, value: object) -> object:
    return part(whole, value) if isinstance(value, np.ndarray) else value


for _name in dir(np.ndarray):
    if not _name.startswith("_") and not hasattr(Watched, _name):
        setattr(Watched, _name, _forward_attribute(_name))
for _name in ("dtype", "itemsize", "nbytes", "ndim", "shape", "size", "strides"):  # no views: read often
    setattr(Watched, _name, property(attrgetter(f"data.{_name}")))


POISON = 0xCD  # what a byte holds that nobody has written
POISON_NAN = 0xFF  # of floats, which makes a NaN
DYNAMIC = "dynamic"
LOCAL_BYTES = 512 * 1024  # of local memory a thread: CUDA Programming Guide, Compute Capabilities
STATIC_SHARED = 48 * 1024  # bytes a block; only dynamic shared memory may be more


class Shared:
    """cuda.shared: one array a block for every place in the program that allocates one."""

    @staticmethod
    @word
    def array(site: int, shape: int | tuple[int, ...], dtype: object, alignment: int | None = None):
        place = site, shape, dtype
        block = machine.now.block
        if place not in block.shared:
            block.shared[place] = _shared_array(block, shape, numpy_dtype(dtype), site)
        return block.shared[place]


class Local:
    """cuda.local: an array of the thread's own."""

    @staticmethod
    @word
    def array(site: int, shape: int | tuple[int, ...], dtype: object, alignment: int | None = None):
        array = poisoned(shape, numpy_dtype(dtype))
        sizes = machine.launch.local_sizes
        if site not in sizes:
            sizes[site] = array.nbytes
            size = sum(sizes.values())
            if size > LOCAL_BYTES:
                line = SITES[site].line
                message = f"line {line} brings a thread to {size} bytes of local arrays; it has {LOCAL_BYTES}"
                raise fault("limit", message, line)
        return _new(array, LOCAL, site)


class Const:
    """cuda.const: a read-only copy of a host array."""

    @staticmethod
    @word
    def array_like(site: int, array: object):
        constants = machine.launch.constants
        key = id(array)
        if isinstance(array, Watched) and array.space != CONSTANT:
            line = SITES[site].line
            remark(
                "does_not_compile",
                f"makes constant memory of an array of the launch on line {line}: a GPU's compiler needs its "
                "numbers; give cuda.const.array_like an array from outside the kernel",
                line,
            )
        if key not in constants:
            data = np.array(array.data if isinstance(array, Watched) else array)
            data.flags.writeable = False
            if machine.trace is None:
                constants[key] = as_kernel_sees(data)
            else:
                constants[key] = watched(data, CONSTANT, machine.trace)
        return constants[key]


def numpy_dtype(dtype: object) -> np.dtype:
    """A NumPy dtype from NumPy's, Numba's, or a string."""
    if type(dtype).__module__.startswith("numba."):
        return sys.modules["numba.np.numpy_support"].as_dtype(dtype)
    return np.dtype(dtype)


def poisoned(shape: int | tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Memory of any shape that nobody has written: NaN, and a pattern no counter has by chance."""
    size = int(np.prod(shape)) * dtype.itemsize
    memory = np.full(size, _poison_of(dtype), np.uint8)
    return memory.view(dtype).reshape(shape)


def is_written(array: np.ndarray) -> np.ndarray:
    """Where the poison is gone, for an array of any shape that `poisoned` made."""
    as_bytes = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    is_changed = as_bytes.reshape(array.size, array.itemsize) != _poison_of(array.dtype)
    return is_changed.any(1).reshape(array.shape)


def _poison_of(dtype: np.dtype) -> int:
    return POISON_NAN if dtype.kind in "fc" else POISON


def _shared_array(block: Block, shape: int | tuple[int, ...], dtype: np.dtype, site: int):
    """Zero elements mean the dynamic part: all such arrays are the same memory."""
    limits = machine.launch.limits
    if shape in (0, (0,)):
        if DYNAMIC not in block.shared:
            block.shared[DYNAMIC] = poisoned(limits.dynamic_shared, np.dtype(np.uint8))
        memory = block.shared[DYNAMIC]
        elements = memory.size // dtype.itemsize
        whole = memory[: elements * dtype.itemsize]
        return _new(whole.view(dtype), SHARED, site)
    array = poisoned(shape, dtype)
    block.shared_bytes += array.nbytes
    size = block.shared_bytes + limits.dynamic_shared
    if block.shared_bytes > STATIC_SHARED:
        most = f"{STATIC_SHARED} in cuda.shared.array with a fixed size"
        raise _too_much_shared(SITES[site].line, block.shared_bytes, most)
    if size > limits.shared:
        raise _too_much_shared(SITES[site].line, size, f"{limits.shared} on this device")
    resident = current().sheet.resident_blocks(block.threads, size)
    machine.launch.limits = limits._replace(resident=min(limits.resident, resident))
    return _new(array, SHARED, site)


def _too_much_shared(line: int, size: int, limit: str) -> Exception:
    """The fault of a block that wants more shared memory than it can have; bytes."""
    message = f"line {line} brings a block to {size} bytes of shared memory; the most is {limit}"
    return fault("limit", message, line)


def _new(array: np.ndarray, space: str, site: int):
    if machine.trace is None:
        return as_bare(array)
    return watched(array, space, machine.trace, written=False, label=SITES[site])
