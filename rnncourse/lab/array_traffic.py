"""How often a NumPy expression passes over memory: its calls, and the bytes that they read and write.

Every operation of an expression is a call of its own: it reads its operands from memory and writes a new
array there, whatever the next one does with it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass
class Traffic:
    """Calls of elementwise NumPy functions, and what they moved, in bytes."""

    calls: int = 0
    bytes_read: int = 0
    bytes_written: int = 0

    @property
    def bytes_moved(self) -> int:
        return self.bytes_read + self.bytes_written


def traffic(function: Callable, *arrays: np.ndarray) -> Traffic:
    """Calls, and bytes read and written, of NumPy's elementwise functions in function(*arrays)."""
    counted = Traffic()
    function(*(_watched(array, counted) for array in arrays))
    return counted


class _Watched(np.ndarray):
    """An array that adds each operation it takes part in to a Traffic; so do the results."""

    counted: Traffic

    def __array_finalize__(self, source: np.ndarray | None) -> None:
        self.counted = getattr(source, "counted", None)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **options: object) -> object:
        plain = [np.asarray(array) if isinstance(array, np.ndarray) else array for array in inputs]
        if "out" in options:
            options["out"] = tuple(np.asarray(array) for array in options["out"])
        results = getattr(ufunc, method)(*plain, **options)
        outputs = results if isinstance(results, tuple) else (results,)
        self.counted.calls += 1
        self.counted.bytes_read += sum(np.asarray(array).nbytes for array in plain if np.ndim(array))
        self.counted.bytes_written += sum(array.nbytes for array in outputs)
        watched = tuple(_watched(array, self.counted) for array in outputs)
        return watched if isinstance(results, tuple) else watched[0]


def _watched(array: np.ndarray, counted: Traffic) -> _Watched:
    view = np.asarray(array).view(_Watched)
    view.counted = counted
    return view
