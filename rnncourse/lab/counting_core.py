"""A core with five instructions that multiplies a tile: it counts, and it knows what each register holds.

A tile is r rows of states a [r,K] times v vectors of a panel [K,v].  Nothing is multiplied: a register holds
a vector of the panel, a state, or a sum, and a sum is the set of its terms.  So a missing term, a term
that is added twice and a register that does not exist are found without arithmetic, and loads are counted.
`CompiledCore` in tile_rates.py has the same instructions and emits them for this processor.
"""

from typing import NamedTuple

import numpy as np

from nbjudge.exercise import Wrong
from nbjudge.printable import quantity

MOST = 20_000  # instructions: more than any tile of the course needs, so that no loop continues forever


class Weights(NamedTuple):
    """Vector v of term k of the panel."""

    k: int
    v: int


class State(NamedTuple):
    """The number of row r and term k, in all lanes."""

    r: int
    k: int


class Sum(NamedTuple):
    """A result in the making: its row and vector, None before the first product, and its terms so far."""

    place: tuple[int, int] | None
    terms: frozenset[int]


class CountingCore:
    """A core for a tile of `rows` by `vectors` with K `terms`; raises Wrong where an instruction fails.

    first: the number of its first register.
    """

    def __init__(self, rows: int, vectors: int, terms: int, registers: int, first: int = 0):
        self.rows = rows
        self.vectors = vectors
        self.terms = terms
        self.registers = registers
        self.first = first
        self.loads = self.multiplies = self.stores = 0
        self.listing: list[str] = []
        self._holds: dict[int, Weights | State | Sum] = {}
        self._stored: set[tuple[int, int]] = set()

    @property
    def missing(self) -> tuple[int, int] | None:
        """(row, vector) of the first result that was not stored; None if the tile is complete."""
        for place in np.ndindex(self.rows, self.vectors):
            if place not in self._stored:
                return place
        return None

    def zero(self, register: int) -> None:
        """Begin a sum."""
        self._note("zero", register)
        self._put(register, Sum(None, frozenset()))

    def load(self, register: int, k: int, v: int) -> None:
        """Load vector v of term k of the panel."""
        self._note("load", register, k, v)
        self._within(k=(k, self.terms), v=(v, self.vectors))
        self.loads += 1
        self._put(register, Weights(k, v))

    def spread(self, register: int, r: int, k: int) -> None:
        """Load the state of row r and term k, into all lanes."""
        self._note("spread", register, r, k)
        self._within(r=(r, self.rows), k=(k, self.terms))
        self.loads += 1
        self._put(register, State(r, k))

    def multiply_add(self, total: int, x: int, y: int) -> None:
        """Add the product of registers x and y to the sum in register total."""
        self._note("multiply_add", total, x, y)
        so_far, state, weights = (self._read(register) for register in (total, x, y))
        if isinstance(state, Weights):
            state, weights = weights, state
        if not isinstance(state, State) or not isinstance(weights, Weights):
            self._fail("needs a state and a vector of the panel as factors", x, y)
        if weights.k != state.k:
            self._fail("multiplies different terms", x, y)
        if not isinstance(so_far, Sum):
            self._fail("adds to what is not a sum: a sum begins with zero(register)", total)
        place = state.r, weights.v
        if so_far.place not in (None, place):
            self._fail(f"adds the product of row {state.r}, vector {weights.v} to another sum", total)
        if state.k in so_far.terms:
            self._fail(f"adds term {state.k} a second time", total)
        self.multiplies += 1
        self._holds[total] = Sum(place, so_far.terms | {state.k})

    def store(self, register: int, r: int, v: int) -> None:
        """Store a complete sum as the result of row r, vector v."""
        self._note("store", register, r, v)
        self._within(r=(r, self.rows), v=(v, self.vectors))
        total = self._read(register)
        if not isinstance(total, Sum) or total.place != (r, v):
            self._fail(f"stores something else as the result of row {r}, vector {v}", register)
        lacking = set(range(self.terms)) - total.terms
        if lacking:
            first = min(lacking)
            self._fail(f"stores a sum that lacks term {first} of {self.terms}", register)
        if (r, v) in self._stored:
            self._fail("stores a result a second time", register)
        self.stores += 1
        self._stored.add((r, v))

    def _note(self, name: str, *numbers: int) -> None:
        arguments = ", ".join(map(str, numbers))
        call = f"{name}({arguments})"
        if not all(isinstance(n, int | np.integer) for n in numbers):
            raise Wrong(f"{call:.80}: an instruction takes whole numbers.")
        if len(self.listing) == MOST:
            raise Wrong(f"More than {MOST} instructions for one tile.")
        self.listing.append(call)

    def _put(self, register: int, content: Weights | State | Sum) -> None:
        end = self.first + self.registers
        if not self.first <= register < end:
            places = f"{self.first} to {end - 1}"
            raise Wrong(f"{self.listing[-1]}: the core has {self.registers} registers, {places}.")
        self._holds[register] = content

    def _read(self, register: int) -> Weights | State | Sum:
        if register not in self._holds:
            self._fail(f"reads register {register} before anything was put into it")
        return self._holds[register]

    def _within(self, **places: tuple[int, int]) -> None:
        for letter, (place, end) in places.items():
            if not 0 <= place < end:
                self._fail(f"has {letter} = {place}, and {letter} ends before {end} here")

    def _fail(self, what: str, *registers: int) -> None:
        call = self.listing[-1]
        contents = [f"register {n} holds {describe(self._holds[n])}" for n in registers]
        if contents:
            what = f"{what} ({'; '.join(contents)})"
        raise Wrong(f"{call} {what}.")


def describe(content: Weights | State | Sum) -> str:
    """What a register holds, in words."""
    if isinstance(content, Weights):
        return f"vector {content.v} of term {content.k}"
    if isinstance(content, State):
        return f"the state of row {content.r}, term {content.k}"
    if content.place is None:
        return "an empty sum"
    row, vector = content.place
    terms = quantity(len(content.terms), "term")
    return f"the sum of row {row}, vector {vector} with {terms}"
