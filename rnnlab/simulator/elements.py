"""What a kernel gets from an array's elements where that is not what NumPy gives."""

import numpy as np


class Narrow(np.ndarray):
    """Integers of 8 or 16 bits: Numba widens what it loads, so that a uint8 200 + 100 is 300 and not 44."""

    def __getitem__(self, index):
        value = super().__getitem__(index)
        return np.int64(value) if isinstance(value, np.integer) else value

    def __setitem__(self, index, value):
        try:
            super().__setitem__(index, value)
        except OverflowError:
            super().__setitem__(index, wrapped(value, self.dtype))


def as_kernel_sees(array: np.ndarray) -> np.ndarray:
    """The same memory: records answer to a[i].x as well as to a[i]["x"], narrow integers are widened."""
    if array.dtype.names:
        return array.view(np.recarray)
    if array.dtype.kind in "iu" and array.itemsize <= 2:
        return array.view(Narrow)
    return array.view(np.ndarray)


def wrapped(value: int, dtype: np.dtype) -> np.generic:
    """An integer as a register of that width keeps it."""
    return np.array(int(value) & (1 << 8 * dtype.itemsize) - 1, f"u{dtype.itemsize}").astype(dtype)
