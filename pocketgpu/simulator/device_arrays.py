"""Memory of the simulated device, and how the host says what is copied there and back.

A device array wraps a NumPy array: the host can copy it, view it and take parts of it; kernels get what
is inside.  Names and behaviour are those of numba.cuda's device arrays.
"""

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum

import numpy as np

from pocketgpu.simulator.host_memory import export, imported, shared_memory
from pocketgpu.simulator.mapped import MappedArray, check_access, forget_launches, without_check
from pocketgpu.simulator.memory import poisoned

Size = int | tuple[int, ...]  # elements
NOT_CONTIGUOUS = (
    "Array contains non-contiguous buffer and cannot be transferred as a single memory region. Please ensure "
    "contiguous buffer with numpy .ascontiguousarray()"
)


class Shape(tuple):
    """A shape as a device array has it: an index counts from the front."""

    __slots__ = ()

    def __getitem__(self, index):
        if isinstance(index, int) and index < 0:
            raise IndexError("tuple index out of range")
        return super().__getitem__(index)


@dataclass(eq=False, repr=False)
class DeviceArray:
    """An array of the device; `unwritten`: some elements may never have been written."""

    _ary: np.ndarray
    stream: object = 0
    unwritten: bool = False
    __cuda_ndarray__ = True
    __hash__ = object.__hash__

    def __getattr__(self, name: str):
        if name.startswith("_"):  # also while it is copied or unpickled, and has no array yet
            raise AttributeError(name)
        try:
            return getattr(self._ary, name)
        except AttributeError as error:
            raise AttributeError(f"Wrapped array has no attribute '{name}'") from error

    @property
    def shape(self) -> Shape:
        return Shape(self._ary.shape)

    @property
    def __cuda_array_interface__(self) -> dict:
        return export(self._ary)

    @property
    def alloc_size(self) -> int:
        return self._ary.nbytes

    @property
    def T(self) -> "DeviceArray":
        return self.transpose()

    def bind(self, stream: object = 0) -> "DeviceArray":
        """The same memory, for another stream."""
        return DeviceArray(self._ary, stream, self.unwritten)

    def is_c_contiguous(self) -> bool:
        return self._ary.flags.c_contiguous

    def is_f_contiguous(self) -> bool:
        return self._ary.flags.f_contiguous

    def copy_to_host(self, ary: np.ndarray | None = None, stream: object = 0) -> np.ndarray:
        """A copy, in `ary` if that is given; without a stream the host waits for all launches."""
        if not stream:
            forget_launches()
        if ary is None:
            ary = np.empty_like(without_check(self._ary))
        else:
            _check_alike(self, ary)
        np.copyto(ary, without_check(self._ary))
        return ary

    def copy_to_device(self, ary: object, stream: object = 0) -> None:
        """Copy an array of the host or of the device into this one."""
        check_contiguous(self._ary)
        source = _array_of(ary)
        if isinstance(ary, DeviceArray):
            check_contiguous(source)
        else:
            order = "C" if _without_repeats(self._ary).flags.c_contiguous else "F"
            source = np.array(source, order=order, subok=True, copy=None)
        mine = _without_repeats(self._ary)
        source = _without_repeats(source)
        _check_alike(mine, source)
        np.copyto(mine, source)

    def split(self, section: int, stream: object = 0) -> list["DeviceArray"]:
        """Parts of that many elements."""
        parts = np.split(self._ary, range(section, len(self), section))
        return [DeviceArray(part, self.stream, self.unwritten) for part in parts]

    def __getitem__(self, index):
        value = self._ary[index]
        is_array = type(value) in (np.ndarray, np.void, MappedArray)
        return DeviceArray(value, self.stream, self.unwritten) if is_array else value

    def __setitem__(self, index, value) -> None:
        self._ary[index] = _array_of(value)

    def setitem(self, key: object, value: object, stream: object = 0) -> None:
        self[key] = value

    def getitem(self, item: object, stream: object = 0) -> object:
        return self[item]

    def __len__(self) -> int:
        return len(self._ary)

    def __str__(self) -> str:
        return str(self._ary)

    def __repr__(self) -> str:
        return repr(self._ary)

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        check_access(self._ary)
        return np.array(self._ary, dtype, copy=copy)


def _forward(name: str):
    """A method that gives another view of the memory."""

    def method(self, *arguments, **options):
        return DeviceArray(getattr(self._ary, name)(*arguments, **options), self.stream, self.unwritten)

    return method


def _compute(operation):
    """An operator for whole arrays, as the host may use it."""

    def method(self, other):
        return DeviceArray(operation(self._ary, _array_of(other)))

    return method


def _reflected(operation):
    return lambda mine, other: operation(other, mine)


for _name in ("ravel", "reshape", "squeeze", "transpose", "view"):
    setattr(DeviceArray, _name, _forward(_name))
for _name in "eq ne lt le gt ge add sub mul floordiv truediv mod pow".split():
    setattr(DeviceArray, f"__{_name}__", _compute(getattr(operator, _name)))
for _name in "add sub mul floordiv truediv mod pow".split():
    setattr(DeviceArray, f"__r{_name}__", _compute(_reflected(getattr(operator, _name))))


@dataclass(eq=False)
class Hint:
    """What becomes of an argument before and after a launch."""

    value: object


class In(Hint):
    """An argument that is copied to the device and not back."""


class Out(Hint):
    """An argument that is copied back, and not to the device."""


class InOut(Hint):
    """An argument that is copied both ways."""


def is_cuda_ndarray(array: object) -> bool:
    return getattr(array, "__cuda_ndarray__", False)


def is_cuda_array(obj: object) -> bool:
    return hasattr(obj, "__cuda_array_interface__")


def as_cuda_array(obj: object, sync: bool = True) -> DeviceArray:
    """The device array itself, or the memory of an object of the host, such as a CPU tensor.

    Raises TypeError for other objects, whose memory is not of the simulated GPU.
    """
    if is_cuda_ndarray(obj):
        return obj
    shared = shared_memory(obj)
    if shared is None:
        raise TypeError(
            f"the memory of a {type(obj).__name__} is not of the simulated GPU: copy it there by "
            "cuda.to_device"
        )
    return DeviceArray(shared)


def from_cuda_array_interface(desc: dict, owner: object = None, sync: bool = True) -> DeviceArray:
    """The array of the simulated GPU at that address.  Raises TypeError for any other memory."""
    if (array := imported(desc)) is None:
        raise TypeError("the simulator has no memory at that address: pass the array to cuda.to_device")
    return DeviceArray(array)


KINDS_OF_ARGUMENTS = (int, float, complex, np.generic, Enum, DeviceArray, tuple)


def check_argument(argument: object) -> object:
    """The argument of a kernel.  Raises TypeError for one that no kernel takes."""
    name = type(argument).__name__
    if isinstance(argument, int) and not -(1 << 63) <= argument < 1 << 64:
        raise TypeError(f"{argument} as argument: an integer has at most 64 bits")
    if isinstance(argument, np.ndarray) and argument.dtype.hasobject:
        raise TypeError("an array of objects as argument: give it a dtype of numbers")
    if isinstance(argument, np.ma.MaskedArray):
        raise TypeError("a masked array as argument: Numba takes none; pass its data and its mask")
    if argument is None or isinstance(argument, (*KINDS_OF_ARGUMENTS, np.ndarray, Hint)):
        return argument
    if callable(argument) and hasattr(argument, "py_func"):
        return argument
    if hasattr(argument, "__cuda_array_interface__"):
        raise TypeError(
            f"a {name} as argument: its memory may be that of a real GPU; give its array to cuda.to_device"
        )
    hint = "; detach it, or pass tensor.numpy()" if hasattr(argument, "numpy") else "; pass an array"
    raise TypeError(f"a {name} as argument{hint}")


def to_device(obj: object, stream: object = 0, copy: bool = True, to: DeviceArray | None = None):
    """A copy on the device; into `to` if that is given."""
    array = np.array(_array_of(obj), copy=None, subok=True)
    check_contiguous(array)
    if to is not None:
        to.copy_to_device(array, stream)
        return to
    core = _without_repeats(array).copy(order="A")
    memory = (
        core
        if core.shape == array.shape
        else np.lib.stride_tricks.as_strided(core, array.shape, array.strides)
    )
    return DeviceArray(memory.view(type(array)), stream)


def auto_device(obj: object, stream: object = 0, copy: bool = True) -> tuple[DeviceArray, bool]:
    """(the array on the device, was it brought there now?)"""
    return (obj, False) if is_cuda_ndarray(obj) else (to_device(obj, stream, copy), True)


def device_array(
    shape: Size, dtype: object = np.float64, strides: Size | None = None, order: str = "C", stream: object = 0
) -> DeviceArray:
    """Memory of the device that nobody has written: reading it is a finding."""
    array = pinned_array(shape, dtype, strides, order)
    array[...] = poisoned(array.shape, array.dtype)
    return DeviceArray(array, stream, unwritten=True)


def device_array_like(ary: object, stream: object = 0) -> DeviceArray:
    return device_array(*_like(ary), stream=stream)


def pinned_array(shape: Size, dtype: object = np.float64, strides: Size | None = None, order: str = "C"):
    """Memory of the host that the device can reach."""
    return np.ndarray(shape=shape, strides=strides, dtype=dtype, order=order)


def managed_array(
    shape: Size,
    dtype: object = np.float64,
    strides: Size | None = None,
    order: str = "C",
    stream: object = 0,
    attach_global: bool = True,
):
    """Memory that host and device reach, wherever it lies."""
    return pinned_array(shape, dtype, strides, order).view(MappedArray)


def mapped_array(
    *layout: object, stream: object = 0, portable: bool = False, wc: bool = False, **more: object
):
    """Memory of the host that the device reads and writes."""
    return DeviceArray(pinned_array(*layout, **more).view(MappedArray), stream)


def pinned_array_like(ary: object) -> np.ndarray:
    return pinned_array(*_like(ary))


def mapped_array_like(ary: object, stream: object = 0, portable: bool = False, wc: bool = False):
    return mapped_array(*_like(ary), stream=stream)


@contextmanager
def mapped(*arrays: np.ndarray, stream: object = 0, **options: object) -> Iterator[object]:
    """Inside the block the device reads and writes these arrays of the host."""
    shared = [DeviceArray(array.view(MappedArray), stream) for array in arrays]
    yield shared[0] if len(shared) == 1 else shared


@contextmanager
def pinned(*arrays: np.ndarray) -> Iterator[None]:
    """Inside the block the device can reach these arrays of the host."""
    yield


def _like(array: object) -> tuple:
    """Shape, dtype, strides and order of dense memory in the array's order of dimensions."""
    strides = None
    flags = array.flags
    if not (flags["C_CONTIGUOUS"] or flags["F_CONTIGUOUS"] or array.ndim <= 1):
        size = array.dtype.itemsize
        strides = [0] * array.ndim
        for axis in sorted(range(array.ndim), key=lambda axis: array.strides[axis]):
            strides[axis] = size
            size *= array.shape[axis]
        strides = tuple(strides)
    only_f = flags["F_CONTIGUOUS"] and not flags["C_CONTIGUOUS"]
    return tuple(array.shape), array.dtype, strides, "F" if only_f else "C"


def _array_of(value: object) -> object:
    return value._ary if is_cuda_ndarray(value) else value


def _without_repeats(array: np.ndarray) -> np.ndarray:
    """The array without the dimensions that repeat it, as broadcast ones do."""
    if not array.strides or not array.size:
        return array
    return array[tuple(0 if stride == 0 else slice(None) for stride in array.strides)]


def check_contiguous(array: np.ndarray) -> None:
    """Raise ValueError for an array that is not a single piece of memory."""
    core = _without_repeats(array)
    if not core.flags["C_CONTIGUOUS"] and not core.flags["F_CONTIGUOUS"]:
        raise ValueError(NOT_CONTIGUOUS)


def _check_alike(array: object, other: object) -> None:
    if array.dtype != other.dtype:
        raise TypeError(f"incompatible dtype: {array.dtype} vs. {other.dtype}")
    one, two = (np.squeeze(_array_of(member)) for member in (array, other))
    for what in ("shape", "strides"):
        if getattr(one, what) != getattr(two, what):
            raise ValueError(f"incompatible {what}: {getattr(array, what)} vs. {getattr(other, what)}")
