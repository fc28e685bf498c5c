"""Which threads run, and what a name stands for in each of them.

Threads of a chunk of blocks run together; each has a place [places] in it.  Behind a branch or in a loop only
some of them do: their numbers are kept without gaps, so that nothing is computed for the others.
"""

import numpy as np

from pocketgpu.simulator.lockstep_values import Fallback, Varying, as_varying, dtype_of, replaced

NEAR = 8  # steps in which a set of threads is looked for among those that it was cut from
DEEPEST = 64  # steps after which a set forgets from which it was cut, whose memory is then free


class Lanes:
    """Threads that run together, some of those of `parent`."""

    __slots__ = ("_kept", "_mask", "_places", "count", "depth", "parent")

    def __init__(
        self, places: np.ndarray | None, parent: "Lanes | None" = None, mask: np.ndarray | None = None
    ):
        self._places = places
        self._mask = mask
        self._kept: np.ndarray | None = None
        self.count = len(places) if mask is None else int(np.count_nonzero(mask))
        self.parent = parent
        self.depth = 0 if parent is None else parent.depth + 1

    @property
    def places(self) -> np.ndarray:
        """[threads] The places of the threads in their chunk, ascending."""
        if self._places is None:
            self._places = self.parent.places[self.kept]
        return self._places

    @property
    def kept(self) -> np.ndarray:
        """[threads] Their places among those of `parent`, from which a mask cut them."""
        if self._kept is None:
            self._kept = np.flatnonzero(self._mask)
        return self._kept

    def is_cut_from(self, other: "Lanes") -> bool:
        """Has a mask cut them from those?"""
        return self.parent is other and self._mask is not None

    def split(self, mask: np.ndarray) -> tuple["Lanes", "Lanes"]:
        """Those of the mask, and the others."""
        if mask.all():
            return self, self.none()
        chosen = self._cut(mask)
        return (chosen, self._cut(~mask)) if chosen.count else (chosen, self)

    def _cut(self, mask: np.ndarray) -> "Lanes":
        if self.depth < DEEPEST:
            return Lanes(None, self, mask)
        return Lanes(self.places[mask])

    def none(self) -> "Lanes":
        """No thread."""
        return Lanes(np.zeros(0, np.int64))

    def joined(self, parts: list["Lanes"]) -> "Lanes":
        """Those of these threads that are in one of the parts."""
        parts = [part for part in parts if part.count]
        if len(parts) == 1:
            return parts[0]
        if sum(part.count for part in parts) == self.count:
            return self
        places = np.concatenate([self.places[:0], *(part.places for part in parts)])
        places.sort()
        return Lanes(places, self)

    def is_within(self, other: "Lanes") -> bool:
        """Were they cut from those?  False where that is not seen quickly."""
        lanes = self
        for _ in range(NEAR):
            if lanes is other:
                return True
            lanes = lanes.parent
            if lanes is None:
                return False
        return False


class Local:
    """What a name of a function stands for.

    Either one value in all threads of `lanes`, or, where only some of them got a new one, numbers of the
    whole chunk: `wide`, of which `known` [threads] were set.
    """

    __slots__ = ("known", "lanes", "seen", "value", "wide")

    def __init__(self, lanes: Lanes, value: object):
        self.lanes: Lanes | None = lanes
        self.value = value
        self.wide: Varying | None = None
        self.known: np.ndarray | None = None
        self.seen = lanes, value  # the threads that read or wrote it last, and their value

    def read(self, now: Lanes, width: int) -> object:
        """The value in the threads that run."""
        lanes, value = self.seen
        if now is lanes:
            return value
        if isinstance(value, Varying) and now.is_cut_from(lanes):
            value = value.at(now.kept)
        elif self.lanes is not None and not isinstance(self.value, Varying | tuple):
            if not now.is_within(self.lanes):
                self._check(now, width)
            return self.value
        else:
            self._widen(width)
            self._check(now, width)
            value = self.wide.at(now.places)
        self.seen = now, value
        return value

    def _check(self, now: Lanes, width: int) -> None:
        """Raise Fallback if some of the threads have no value."""
        if self.known is None:
            self.known = np.zeros(width, bool)
            self.known[self.lanes.places] = True
        if not self.known[now.places].all():
            raise Fallback("a name to which not all threads have given a value")

    def write(self, now: Lanes, value: object, width: int, alive: int) -> None:
        """Give it this value in the threads that run; alive: how many have not returned."""
        is_new = self.lanes is not None and (now is self.lanes or self.lanes.is_within(now))
        if is_new or now.count == alive:
            self.__init__(now, value)
            return
        old = None if isinstance(self.value, Varying) else self.value
        self._widen(width)
        self.lanes = None
        self.value = None
        self.wide = replaced(self.wide, now.places, value, old)
        self.known[now.places] = True
        is_sure = isinstance(value, Varying) and value.kind is self.wide.kind and self.wide.other is None
        self.seen = (now, value) if is_sure else (None, None)

    def of_all(self) -> object:
        """The value in all threads that have one, to be compared with a later one."""
        if self.lanes is None:
            return self.wide.data.copy()
        return self.value.data if isinstance(self.value, Varying) else self.value

    def _widen(self, width: int) -> None:
        """Keep the numbers of the whole chunk from now on."""
        if self.wide is not None:
            return
        own = as_varying(self.value, self.lanes.count)
        self.known = np.zeros(width, bool)
        self.known[self.lanes.places] = True
        data = np.zeros(width, dtype_of(own.kind))
        data[self.lanes.places] = own.data
        self.wide = Varying(data, own.kind, own.other, own.rest)
