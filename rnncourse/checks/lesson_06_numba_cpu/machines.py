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
        return float(self._visited(name, index)[index])  # below 0: from the end, as NumPy and Numba do

    def write(self, name: str, index: int, value: float) -> None:
        """Set one element of a result."""
        written = self.written[name]
        self._visited(name, index)[index] = value
        written[index] = True

    def make(self, name: str, content: str) -> str:
        """The name of a new result, of a vector's size: "copy" of it, "zeros" or "nothing"."""
        if len(self.written) >= MOST_RESULTS:
            raise ValueError(f"more than {MOST_RESULTS} results are made; one is expected")
        result = f"result {len(self.written) + 1}"
        like = self.vectors[name]
        fill = {"copy": like, "zeros": 0.0}.get(content, np.nan)
        self.vectors[result] = np.array(np.broadcast_to(fill, like.shape))
        self.written[result] = np.zeros(like.shape, bool)
        return result

    def _visited(self, name: str, index: int) -> np.ndarray:
        vector = self.vectors[name]
        index = operator.index(index)
        if not -vector.size <= index < vector.size:
            raise Wrong(f"It uses {name}[{index}]; {name} has shape {vector.shape}.", OUTSIDE)
        unit = index % self.units
        if unit != self.now and unit in self.left:
            complete = len(self.left) == self.units  # None is among them: before the first unit
            remedy = (
                f"Unit {self.now} began with {self.entry}. Everything that unit j needs is read, computed "
                "and written before unit j + 1."
            )
            if not complete and self.entry.startswith("h"):
                remedy = f"Unit j reads h[j], of the array that it is given. {remedy}"
            elif not complete and not self.entry.startswith("result"):
                remedy = (
                    f"Unit j has the places j, {self.units} + j and 2·{self.units} + j of g and u: the "
                    f"numbers of a gate stand together, so that g[1] belongs to unit 1. {remedy}"
                )
            raise Wrong(
                f"{name}[{index}] belongs to unit {unit}, which was left: unit {self.now} came after it.",
                AGAIN if complete else None,
                remedy,
            )
        if unit != self.now:
            self.left.add(self.now)
            self.now = unit
            self.entry = f"{name}[{index}]"
        return vector


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
        if rows.ndim != 2 or rows.shape[1] != 3 or rows.dtype != np.int64 or constants.ndim != 1:
            raise ValueError("this is not a batch of operations")
        if self.operations + len(rows) > MOST_OPERATIONS:
            raise ValueError(f"more than {MOST_OPERATIONS} operations")
        codes = rows[:, 0]
        values = self.values
        if ((codes < 0) | (codes >= len(Tape.WORDS))).any():
            raise ValueError("there is no such operation")
        self.operations += len(rows)
        self.divisions += int((codes == DIVIDE).sum())
        reversed_constants = [self.kind(constant) for constant in constants[::-1].tolist()]  # -1 is the first

        def operand(place: int) -> object:
            return (values if place >= 0 else reversed_constants)[place]

        for code, first, second in rows.tolist():
            if code < NEGATIVE:
                values.append(BINARY[code](operand(first), operand(second)))
            else:
                values.append(UNARY[code](operand(first)))

    def compare(self, word: str, left: float, right: float) -> bool:
        """A comparison of two operands: an int is a handle, a float a constant. It gives one bit."""
        if self.comparisons == 0:
            raise Wrong(
                "The numbers are compared more often than any range needs.",
                None,
                "Compare a with the two ends of its range, and then compute.",
            )
        self.comparisons -= 1
        values = [
            self.values[operand] if type(operand) is int else self.kind(operand) for operand in (left, right)
        ]
        return bool(COMPARISONS[word](*values))
