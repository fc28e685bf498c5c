"""A float32 that counts what is computed with it, and refuses every function of a library.

Its source, like watched.py's, is sent to where the answer runs.
"""

import numpy as np

from rnnlab.grading.exercise import Wrong


class Number(tuple):
    """A float32, and the operations and divisions that all numbers made from one took so far."""

    _fields = ("value", "operations", "divisions")

    def __new__(cls, value, counts=None):
        made = super().__new__(cls)
        made.value, made.counts = np.float32(value), [0, 0] if counts is None else counts
        return made

    def __iter__(self):
        return iter((self.value, *self.counts))

    def made(self, value, divides=False):
        self.counts[0] += 1
        self.counts[1] += divides
        return Number(value, self.counts)

    def __add__(self, other):
        return self.made(self.value + value_of(other))

    def __sub__(self, other):
        return self.made(self.value - value_of(other))

    def __rsub__(self, other):
        return self.made(value_of(other) - self.value)

    def __mul__(self, other):
        return self.made(self.value * value_of(other))

    def __truediv__(self, other):
        return self.made(self.value / value_of(other), divides=True)

    def __rtruediv__(self, other):
        return self.made(value_of(other) / self.value, divides=True)

    def __pow__(self, exponent):
        if exponent not in range(100):
            self.library("** with anything but a small whole number")
        product = Number(1, self.counts)
        for _ in range(int(exponent)):
            product = product * self
        return product

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return self.made(-self.value)

    def __abs__(self):
        return self.made(abs(self.value))

    def __lt__(self, other):
        return bool(self.value < value_of(other))

    def __le__(self, other):
        return bool(self.value <= value_of(other))

    def __gt__(self, other):
        return bool(self.value > value_of(other))

    def __ge__(self, other):
        return bool(self.value >= value_of(other))

    def __eq__(self, other):
        return bool(self.value == value_of(other))

    def __ne__(self, other):
        return bool(self.value != value_of(other))

    __hash__ = None

    def __bool__(self):
        return bool(self.value)

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        words = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}
        if ufunc.__name__ not in words:
            self.library(f"np.{ufunc.__name__}")
        left, right = (each if isinstance(each, Number) else Number(each, self.counts) for each in inputs)
        own = {"+": Number.__add__, "-": Number.__sub__, "*": Number.__mul__, "/": Number.__truediv__}
        return own[words[ufunc.__name__]](left, right)

    def __array__(self, *arguments, **keywords):
        self.library("a NumPy function")

    def __float__(self):
        self.library("float(), or a function of math,")

    __int__ = __index__ = __round__ = __float__

    def library(self, what):
        raise Wrong(
            f"{what} was called on a.",
            "leaves the work to a library's function",
            "Use +, -, *, / and comparisons: those a compiler turns into vector instructions.",
        )


def value_of(other):
    """A float32, from a Number or a constant."""
    return other.value if isinstance(other, Number) else np.float32(other)
