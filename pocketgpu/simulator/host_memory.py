"""Memory behind the arguments of launches: shared with an object of the host, or written in part alone."""

import weakref

import numpy as np

_partly_written: dict[int, weakref.ref] = {}  # by id: memory that a launch used which was ended


def allocation(array: np.ndarray) -> np.ndarray:
    """The array, of any shape, whose memory that one is a view of."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def mark_partly_written(array: np.ndarray) -> None:
    """Note that a launch was ended which may have been about to write into this memory, of any shape."""
    memory = allocation(array)
    _partly_written[id(memory)] = weakref.ref(memory)


def is_partly_written(array: np.ndarray) -> bool:
    """Was a launch ended that used this memory, of any shape?"""
    memory = allocation(array)
    return id(memory) in _partly_written and _partly_written[id(memory)]() is memory


def shared_memory(obj: object) -> np.ndarray | None:
    """Memory of a CPU tensor or the like, as an array of any shape; None where NumPy would copy it."""
    if isinstance(obj, np.ndarray):
        return obj
    if isinstance(obj, np.generic) or not (hasattr(obj, "__array__") or hasattr(obj, "__array_interface__")):
        return None
    first = np.asarray(obj)
    second = np.asarray(obj)
    return first if first.ndim and first.size and np.shares_memory(first, second) else None
