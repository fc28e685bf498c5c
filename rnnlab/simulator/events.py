"""What a watched launch writes down while it runs, and the same as columns when it has ended.

A thread's access costs one short tuple, because there are very many: four entries of the list `events`.

    array's tag + kind, detail, instruction, code

The tag leads to the array (`arrays`; 0 is none), code and instruction (f_lasti) to the source line.  The
detail of a load, a store or an atomic is the index as the kernel wrote it; of a fence its scope; of a barrier
how often it has opened before; for warps the mask.  Which thread it was is noted where it changes.
"""

from dataclasses import dataclass
from types import CodeType, FrameType

import numpy as np

from rnnlab.simulator.places import start_of

LOAD, STORE, ATOMIC, VOLATILE_LOAD, VOLATILE_STORE = range(5)
FENCE, BARRIER, WARP_SYNC, GRID_SYNC = range(5, 9)
KINDS = 16  # room for kinds in a tag
MEMORY = (LOAD, STORE, ATOMIC, VOLATILE_LOAD, VOLATILE_STORE)

GLOBAL, SHARED, LOCAL, CONSTANT = "global", "shared", "local", "constant"
BLOCK, DEVICE, SYSTEM = "block", "device", "system"  # how far a fence reaches
FIELDS = 4  # entries of an event


@dataclass(frozen=True)
class Columns:
    """n events in the order in which they happened, which keeps the order of every thread's own program."""

    kind: np.ndarray  # [n] one of the kinds above
    thread: np.ndarray  # [n] counted through the grid, block after block
    array: np.ndarray  # [n] place in `arrays`, 0 where there is none
    site: np.ndarray  # [n] place in `sites`
    detail: list  # n indices, masks, scopes, as the kernel wrote them
    arrays: list  # None, then every memory.Watched that was touched
    sites: list[tuple[CodeType, int]]  # where in the program: code, instruction


class Trace:
    """The growing record of one launch."""

    __slots__ = ("arrays", "events", "turns")  # turns: how many entries there were, and whose turn began

    def __init__(self):
        self.arrays, self.events, self.turns = [None], [], []

    def __len__(self) -> int:
        return len(self.events) // FIELDS

    def tag(self, array: object) -> int:
        """A number for this array, which leaves room for a kind."""
        self.arrays.append(array)
        return (len(self.arrays) - 1) * KINDS

    def note(self, kind: int, detail: object, frame: FrameType) -> None:
        """Something that has no array."""
        self.events += kind, detail, frame.f_lasti, frame.f_code

    def columns(self) -> Columns:
        """Everything so far, ready for NumPy."""
        events = self.events
        tags = _integers(events[::FIELDS])
        sites, site = _numbered(events[3::FIELDS], _integers(events[2::FIELDS]))
        return Columns(
            tags % KINDS, self._threads(), tags // KINDS, site, events[1::FIELDS], self.arrays, sites
        )

    def _threads(self) -> np.ndarray:
        starts = _integers([*self.turns[::2], len(self.events)]) // FIELDS
        return np.repeat(_integers(self.turns[1::2]), np.diff(starts))


def _integers(values: list[int]) -> np.ndarray:
    return np.fromiter(values, np.int64, len(values))


def _numbered(codes: list[CodeType], instructions: np.ndarray) -> tuple[list, np.ndarray]:
    """Every place in the program once, and which of them each event has [n]."""
    known, combined = codes[:1], instructions
    width = int(instructions.max(initial=0)) + 1
    if codes.count(codes[0] if codes else None) < len(codes):
        by_id = {id(code): code for code in codes}  # a code object's own hash looks at all of its text
        known, order = [*by_id.values()], {key: place for place, key in enumerate(by_id)}
        combined = _integers([order[id(code)] for code in codes]) * width + instructions
    places = np.flatnonzero(np.bincount(combined, minlength=1))
    exact = [(known[place // width], place % width) for place in places]
    exact = [(code, start_of(code, int(position))) for code, position in exact]
    sites = {(id(code), start): (code, start) for code, start in exact}
    order = {key: place for place, key in enumerate(sites)}
    number = np.zeros(places.max(initial=0) + 1, np.int64)
    number[places] = [order[id(code), start] for code, start in exact]
    return [*sites.values()], number[combined]
