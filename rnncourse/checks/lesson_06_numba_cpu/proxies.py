"""What an answer of this lesson holds in place of arrays and numbers: names for what lies with the judge.

The source of these classes is sent to where the answer runs, so nothing here may use more than NumPy and
Wrong. They know names and sizes. Every number, count and trace stays with the judge (machines.py), who is
asked through the functions that a class is given.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np

from nbjudge.exercise import Proxy, Wrong

WHOLE = "works on whole arrays"
BATCH = 1024  # operations that are sent to the judge at once


class Watched:
    """What arrays have in common that can only be used an element at a time."""

    def __array_function__(self, function, types, arguments, keywords):
        if function in (np.empty_like, np.zeros_like, np.copy):
            return self.like({np.zeros_like: "zeros", np.copy: "copy"}.get(function, "nothing"))
        self.whole(f"np.{function.__name__}")

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        self.whole(f"np.{ufunc.__name__}")

    def __array__(self, *arguments, **keywords):
        self.whole("a NumPy function")

    def whole(self, what):
        raise Wrong(
            f"{what} takes all of {self.name} at once.",
            "works on whole arrays",
            "Read and write single elements, with whole numbers between the brackets.",
        )

    def __iter__(self):
        self.whole("A loop over the array itself, or list(),")

    def operate(self, *others):
        self.whole("Arithmetic")

    __add__ = __radd__ = __mul__ = __rmul__ = __sub__ = __rsub__ = __matmul__ = operate

    def __setitem__(self, index, value):
        raise Wrong(
            f"It writes into {self.name}.", "overwrites its input", "Write into the array that you return."
        )

    def copy(self):
        return self.like("copy")

    def __len__(self):
        return self.shape[0]


class VectorProxy(Watched):
    """An input [n]; `read` gives one element, `make` the name of a new result."""

    def __init__(self, name, size, read, write, make):
        self.name = name
        self.services = (read, write, make)
        self.shape = (size,)
        self.size = size
        self.dtype = np.dtype("float64")
        self.ndim = 1

    def __getitem__(self, index):
        if not hasattr(index, "__index__"):
            self.whole(f"{self.name}[...], with anything but one whole number,")
        return self.services[0](self.name, int(index))

    def like(self, content):
        return RowProxy(self.services[2](self.name, content), self.size, *self.services[:2])


class RowProxy(tuple):
    """A result [n], by its name."""

    _fields = ("name",)

    def __new__(cls, name, size, read, write):
        row = super().__new__(cls)
        row.name = name
        row.services = (read, write)
        row.shape = (size,)
        row.size = size
        row.dtype = np.dtype("float64")
        return row

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        return self.services[0](self.name, index)

    def __setitem__(self, index, value):
        self.services[1](self.name, index, float(value))

    def __iter__(self):
        return iter((self.name,))


class Tape:
    """Operations on numbers that lie with the judge, sent in batches: rows of a code and two places."""

    WORDS = "+", "-", "*", "/", "negative", "abs"  # a code is a place here

    def __init__(self, batch, perform, compare, numbers=0):
        self.batch = batch
        self.perform = perform
        self.compare = compare
        self.count = numbers
        self.rows = []
        self.constants = []
        self.codes = {word: code for code, word in enumerate(self.WORDS)}

    def number(self, word, *operands):
        first, second, *_ = *map(self.place, operands), 0
        self.rows.append((self.codes[word], first, second))
        if len(self.rows) >= self.batch:
            self.send()
        self.count += 1
        return Number(self, self.count - 1)

    def place(self, operand):
        if isinstance(operand, Number):
            return operand.handle
        self.constants.append(float(operand))
        return -len(self.constants)

    def send(self):
        rows = self.rows
        constants = self.constants
        self.rows = []
        self.constants = []
        if rows:
            self.perform(np.array(rows, "int64"), np.array(constants, "float64"))

    def ask(self, word, left, right):
        self.send()

        def plain(operand):
            return operand.handle if isinstance(operand, Number) else float(operand)

        return self.compare(word, plain(left), plain(right))


def operation(word):
    """A method of Number that adds an operation on its operands to the tape."""
    return lambda self, *others: self.tape.number(word, self, *others)


def reflected(word):
    """The same, where the number stands behind the sign."""
    return lambda self, other: self.tape.number(word, other, self)


def comparison(word):
    """A method of Number that compares it with another one."""
    return lambda self, other: self.tape.ask(word, self, other)


class Number(tuple):
    """A number that lies with the judge, by its handle."""

    _fields = ("handle",)

    def __new__(cls, tape, handle):
        number = tuple.__new__(cls)
        number.tape = tape
        number.handle = handle
        return number

    def __iter__(self):
        self.tape.send()
        return iter((self.handle,))

    __add__, __sub__, __mul__, __truediv__ = map(operation, "+-*/")
    __radd__, __rsub__, __rmul__, __rtruediv__ = map(reflected, "+-*/")
    __neg__, __abs__ = map(operation, ("negative", "abs"))

    def __pow__(self, exponent):
        if exponent not in range(100):
            self.library("** with anything but a small whole number")
        product = 1.0
        for _ in range(int(exponent)):
            product = self * product
        return product

    __lt__, __le__, __gt__, __ge__, __eq__, __ne__ = map(comparison, ("<", "<=", ">", ">=", "==", "!="))
    __hash__ = None

    def __bool__(self):
        return self != 0

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        signs = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}
        if ufunc.__name__ not in signs or method != "__call__" or keywords:
            self.library(f"np.{ufunc.__name__}")
        return self.tape.number(signs[ufunc.__name__], *inputs)

    def __array__(self, *arguments, **keywords):
        self.library("a NumPy function")

    def __float__(self):
        self.library("float(), or a function of math,")

    def __int__(self):
        self.library("int() or round()")

    __index__ = __round__ = __int__

    def library(self, what):
        raise Wrong(
            f"{what} was called on a.",
            "leaves the work to a library's function",
            "Use +, -, *, / and comparisons: those a compiler turns into vector instructions.",
        )


def proxies(classes: Sequence[Callable], text: str, services: Mapping[str, Callable]) -> dict[str, Proxy]:
    """{name: Proxy} of the objects that the text makes, all from one source with the same services.

    classes: with the functions that they use.
    """
    source = "\n\n".join([*map(_source, classes), text])
    names = [line.split(" = ")[0] for line in text.strip().split("\n")]
    return {name: Proxy(source, name, services) for name in names}


NUMBERS = Tape, operation, reflected, comparison, Number


@cache
def _source(part: Callable) -> str:
    """Source text of a class or function. To find it takes 7 ms; some checks make proxies for each number."""
    return inspect.getsource(part)
