"""Matrices that write down the address of every access, so that a cache model can say what missed.

Their source, like watched.py's, is sent to where the answer runs.
"""

import numpy as np

from rnnlab.checks.numba_cpu.watched import Watched


class Matrix(Watched):
    """An input [M,N], read an element at a time."""

    def __init__(self, name, values, accesses):
        self.name, self.accesses, values = name, accesses, np.asarray(values, "float64")
        self.shape, self.size, self.dtype, self.ndim = values.shape, values.size, values.dtype, 2
        self.start, self.values = accesses.place(values.size), values
        accesses.reads[name] = 0

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, index):
        address = self.address(index)
        self.accesses.addresses.append(address)
        self.accesses.reads[self.name] += 1
        return float(self.values[index])

    def address(self, index):
        if not (isinstance(index, tuple) and len(index) == 2 and all(hasattr(n, "__index__") for n in index)):
            self.whole(f"{self.name}[...], with anything but two whole numbers,")
        if not (0 <= index[0] < self.shape[0] and 0 <= index[1] < self.shape[1]):
            self.outside(f"{index[0]}, {index[1]}")
        return self.start + 4 * (index[0] * self.shape[1] + index[1])

    def copy(self):
        return self.like(None)

    def like(self, fill):
        return Sums(self, self.values.copy() if fill is None else np.full(self.shape, fill))


class Sums(tuple):
    """A result [M,N], the addresses of all accesses so far, and how often a and b were read."""

    _fields = ("values", "addresses", "reads")

    def __new__(cls, source, values):
        made = super().__new__(cls)
        made.place = Matrix("the result", values, source.accesses)
        made.shape, made.size, made.dtype = made.place.shape, made.place.size, made.place.dtype
        return made

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, index):
        return self.place[index]

    def __setitem__(self, index, value):
        self.place.accesses.addresses.append(self.place.address(index))
        self.place.values[index] = value

    def __iter__(self):
        accesses = self.place.accesses
        read = [accesses.reads["a"], accesses.reads["b"]]
        return iter((self.place.values, np.array(accesses.addresses, dtype="int64"), np.array(read)))
