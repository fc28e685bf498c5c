"""Memory behind the arguments of launches: shared with an object of the host, or written in part alone."""

import weakref
from types import SimpleNamespace

import numpy as np

_partly_written = weakref.WeakValueDictionary()  # by id: memory that a launch used which was ended
_exported = weakref.WeakValueDictionary()  # by id: memory whose address a program knows


def allocation(array: np.ndarray) -> np.ndarray:
    """The array, of any shape, whose memory that one is a view of."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def mark_partly_written(array: np.ndarray) -> None:
    """Note that a launch was ended which may have been about to write into this memory, of any shape."""
    memory = allocation(array)
    _partly_written[id(memory)] = memory


def is_partly_written(array: np.ndarray) -> bool:
    """Was a launch ended that used this memory, of any shape?"""
    return id(allocation(array)) in _partly_written


def export(array: np.ndarray) -> dict:
    """The array's interface, by which `imported` finds its memory again."""
    memory = allocation(array)
    _exported[id(memory)] = memory
    return array.__array_interface__ | {"version": 3}


def imported(interface: dict) -> np.ndarray | None:
    """The array of the simulated GPU that the interface describes; None for any other memory."""
    address = interface["data"][0]
    for memory in _exported.values():
        if 0 <= address - memory.__array_interface__["data"][0] < memory.nbytes:
            return np.asarray(SimpleNamespace(__array_interface__=interface, memory=memory))
    return None


def shared_memory(obj: object) -> np.ndarray | None:
    """Memory of a CPU tensor or the like, as an array of any shape; None where NumPy would copy it."""
    if isinstance(obj, np.ndarray):
        return obj
    interface = getattr(obj, "__cuda_array_interface__", None)
    if interface and (array := imported(interface)) is not None:
        return array
    if isinstance(obj, np.generic) or not (hasattr(obj, "__array__") or hasattr(obj, "__array_interface__")):
        return None
    first = np.asarray(obj)
    second = np.asarray(obj)
    return first if first.ndim and first.size and np.shares_memory(first, second) else None
