"""Arrays and numbers that the judge holds while an answer runs; it counts every access and operation.

An answer reaches these functions by name only (proxies.py), and whatever it sends may be anything: what is no
index, name or operation of the machine raises, which the answer gets as an exception of its own.
"""

import operator

import numpy as np

from nbjudge.exercise import Wrong
from rnncourse.checks.lesson_06_numba_cpu.proxies import Tape

AGAIN = "goes over the units more than once"
OUTSIDE = "runs past the edge"
MOST_RESULTS = 16
MOST_OPERATIONS = 1_000_000
DIVIDE, NEGATIVE = map(Tape.WORDS.index, ("/", "negative"))
BINARY = operator.add, operator.sub, operator.mul, operator.truediv  # by code, as in Tape
UNARY = {NEGATIVE: operator.neg, Tape.WORDS.index("abs"): operator.abs}
COMPARISONS = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
    "!=": operator.ne,
}  # fmt: skip


class UnitLoop:
    """Vectors whose elements belong to units: a unit that was left must not be visited again."""

    def __init__(self, units: int, vectors: dict[str, np.ndarray]):
        self.units = units
        self.vectors = dict(vectors)
        self.now = None
        self.left = set()
        self.entry = ""  # the element with which the present unit began
        self.written: dict[str, np.ndarray] = {}  # by result: which elements were

    @property
    def services(self) -> dict:
        return {"read": self.read, "write": self.write, "make": self.make}

    def read(self, name: str, index: int) -> float:
        """One element."""
        vector = self._visited(name, index)
        return float(vector[index])  # below 0: from the end, as NumPy and Numba do

    def write(self, name: str, index: int, value: float) -> None:
        """Set one element of a result."""
        written = self.written[name]
        vector = self._visited(name, index)
        vector[index] = value
        written[index] = True

    def make(self, name: str, content: str) -> str:
        """The name of a new result, of a vector's size: "copy" of it, "zeros" or "nothing"."""
        if len(self.written) >= MOST_RESULTS:
            raise ValueError(f"more than {MOST_RESULTS} results are made; one is expected")
        result = f"result {len(self.written) + 1}"
        like = self.vectors[name]
        fill = {"copy": like, "zeros": 0.0}.get(content, np.nan)
        filled = np.broadcast_to(fill, like.shape)
        self.vectors[result] = np.array(filled)
        self.written[result] = np.zeros(like.shape, bool)
        return result

    def _visited(self, name: str, index: int) -> np.ndarray:
        vector = self.vectors[name]
        index = operator.index(index)
        if not -vector.size <= index < vector.size:
            raise Wrong(f"It uses {name}[{index}]; {name} has shape {vector.shape}.", OUTSIDE)
        unit = index % self.units
        if unit == self.now:
            return vector
        element = f"{name}[{index}]"
        if unit in self.left:
            raise self._second_visit(element, unit)
        self.left.add(self.now)
        self.now = unit
        self.entry = element
        return vector

    def _second_visit(self, element: str, unit: int) -> Wrong:
        """That an element belongs to a unit that was left."""
        H = self.units
        is_complete = len(self.left) == H  # None is among them: before the first unit
        remedy = (
            f"Unit {self.now} began with {self.entry}. Everything that unit j needs is read, computed "
            "and written before unit j + 1."
        )
        if not is_complete and self.entry.startswith("h"):
            remedy = f"Unit j reads h[j], of the array that it is given. {remedy}"
        elif not is_complete and not self.entry.startswith("result"):
            remedy = (
                f"Unit j has the places j, {H} + j and 2·{H} + j of g and u: the "
                f"numbers of a gate stand together, so that g[1] belongs to unit 1. {remedy}"
            )
        return Wrong(
            f"{element} belongs to unit {unit}, which was left: unit {self.now} came after it.",
            AGAIN if is_complete else None,
            remedy,
        )


class Arithmetic:
    """Numbers of one dtype that an answer computes with, and how many operations it took."""

    def __init__(self, kind: type, numbers: tuple = (), comparisons: int = 0):
        self.kind = kind
        self.values = [kind(number) for number in numbers]
        self.comparisons = comparisons
        self.operations = self.divisions = 0

    @property
    def services(self) -> dict:
        return {"perform": self.perform, "compare": self.compare}

    def perform(self, rows: np.ndarray, constants: np.ndarray) -> None:
        """Carry out a batch of a Tape: rows [n,3] int64, constants [m] float64."""
        are_rows = rows.ndim == 2 and rows.shape[1] == 3 and rows.dtype == np.int64
        if not are_rows or constants.ndim != 1:
            raise ValueError("this is not a batch of operations")
        if self.operations + len(rows) > MOST_OPERATIONS:
            raise ValueError(f"more than {MOST_OPERATIONS} operations")
        codes = rows[:, 0]
        values = self.values
        is_unknown = (codes < 0) | (codes >= len(Tape.WORDS))
        if is_unknown.any():
            raise ValueError("there is no such operation")
        self.operations += len(rows)
        self.divisions += int((codes == DIVIDE).sum())
        reversed_constants = [self.kind(constant) for constant in constants[::-1].tolist()]  # -1 is the first

        def operand(place: int) -> object:
            if place >= 0:
                return values[place]
            return reversed_constants[place]

        for code, first, second in rows.tolist():
            if code < NEGATIVE:
                result = BINARY[code](operand(first), operand(second))
            else:
                result = UNARY[code](operand(first))
            values.append(result)

    def compare(self, word: str, left: float, right: float) -> bool:
        """A comparison of two operands: an int is a handle, a float a constant. It gives one bit."""
        if self.comparisons == 0:
            raise Wrong(
                "The numbers are compared more often than any range needs.",
                None,
                "Compare a with the two ends of its range, and then compute.",
            )
        self.comparisons -= 1
        comparison = COMPARISONS[word]
        return bool(comparison(self._operand(left), self._operand(right)))

    def _operand(self, operand: float) -> object:
        """The number that a handle (an int) or a constant (a float) stands for."""
        if type(operand) is int:
            return self.values[operand]
        return self.kind(operand)
