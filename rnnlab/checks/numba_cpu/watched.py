"""Numbers and arrays that watch what an answer does with them: how often it walks, what it computes with.

Their source is sent to where the answer runs, so nothing here may use more than NumPy and Wrong.  What an
answer returns carries its own record: a Result, and a Number, cross as a tuple.
"""

import inspect
from collections.abc import Mapping, Sequence

import numpy as np

from rnnlab.grading.exercise import Code, Wrong

WHOLE = "works on whole arrays"
AGAIN = "walks over the units more than once"
INPUT = "overwrites its input"
OUTSIDE = "runs past the edge"
LIBRARY = "leaves the work to a library's function"


class Visits:
    """At which unit the loops are.  A unit that was left must not be visited again."""

    def __init__(self, units):
        self.units, self.now, self.left = units, None, set()

    def at(self, index):
        unit = index % self.units
        if unit == self.now:
            return
        if unit in self.left:
            raise Wrong(
                f"Unit {unit} is visited again after unit {self.now}.",
                "walks over the units more than once",
                "Everything that unit j needs is read, computed and written before unit j + 1.",
            )
        self.left.add(self.now)
        self.now = unit


class Accesses:
    """Every access to any of several matrices: the byte address, and how often each was read."""

    def __init__(self):
        self.addresses, self.reads, self.end = [], {}, 0

    def place(self, size, itemsize=4, line=64):
        start = self.end
        self.end += -(-size * itemsize // line) * line
        return start


class Watched:
    """What arrays have in common that can only be used an element at a time."""

    def __array_function__(self, function, types, arguments, keywords):
        if function in (np.empty_like, np.zeros_like, np.copy, np.full_like):
            return self.like({np.zeros_like: 0.0, np.copy: None}.get(function, np.nan))
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

    def outside(self, index):
        raise Wrong(
            f"It uses {self.name}[{index}]; {self.name} has shape {self.shape}.", "runs past the edge"
        )


class Vector(Watched):
    """An input [n] whose elements belong to units."""

    def __init__(self, name, values, visits):
        self.name, self.visits, values = name, visits, np.asarray(values, "float64")
        self.shape, self.size, self.dtype, self.ndim = values.shape, values.size, values.dtype, 1
        self.read = lambda index: float(values[index])

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        if not hasattr(index, "__index__"):
            self.whole(f"{self.name}[...], with more than one index,")
        if not 0 <= index < self.size:
            self.outside(index)
        self.visits.at(int(index))
        return self.read(index)

    def like(self, fill):
        return Row(self.size, self.visits, np.nan if fill is None else fill)


class Row(tuple):
    """A result [n], and which of its elements were written."""

    _fields = ("values", "written")

    def __new__(cls, size, visits, fill):
        made = super().__new__(cls)
        made.visits, made.shape, made.size, made.dtype = visits, (size,), size, np.dtype("float64")
        made.values, made.written = np.full(size, fill), np.zeros(size, bool)
        return made

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        self.visits.at(int(index))
        return float(self.values[index])

    def __setitem__(self, index, value):
        if not 0 <= index < self.size:
            raise Wrong(f"It writes element {index} of {self.size}.", "runs past the edge")
        self.visits.at(int(index))
        self.values[index], self.written[index] = value, True

    def __iter__(self):
        return iter((self.values, self.written))


def sent(classes: Sequence[type], made: str, values: Mapping[str, object]) -> dict[str, Code]:
    """{name: Code} of the objects that the text `made` makes from `values`, all from one source."""
    texts = [inspect.getsource(each) for each in classes]
    given = [f"{name} = {_literal(value)}" for name, value in values.items()]
    source = "\n\n".join([*texts, *given, made])
    names = [line.split(" = ")[0] for line in made.strip().split("\n")]
    return {name: Code(source, name) for name in names}


def _literal(value: object) -> str:
    return f"np.array({value.tolist()!r})" if isinstance(value, np.ndarray) else repr(value)
