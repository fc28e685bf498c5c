"""A long network's plan from a short one's: cells repeat, so passes that look into one cell see few of them.

The cells of a middle layer and step differ in their places only: rows move on by a step, names by a layer.
Of a network with more than three layers or five steps, the passes therefore get one with three and four or
five: a first and a last of each, and between them a step of either parity, since the gradients that travel
back take turns in two slots.  The result is the same as that of the whole plan (tests/test_schedule_repeat);
for 400 LSTM cells it takes half the time without passes, and less than a seventh with them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache

from rnnlab.schedule.joining import cells_of
from rnnlab.schedule.plan import Elementary, Operation, Plan, Region, Sizes

LAYERS, STEPS = 3, 4  # of a network that shows every kind of cell; 5 steps for an odd number of them


def repeated(build: Callable[[Sizes], Plan], passes: Sequence[Callable[[Plan], Plan]], sizes: Sizes) -> Plan:
    """The plan for these sizes after passes that each join or change operations within a cell."""
    few = showing_all(sizes)
    if few.T == sizes.T:  # layers alone are too few to be worth it
        return _through(build(sizes), passes)
    short, longer = _through(build(few), passes), build(replace(few, T=few.T + 1, L=1))
    cells = {key: [short.operations[k] for k in places] for key, places in cells_of(short).items()}
    growing = {_base(name) for name, shape in longer.buffers.items() if shape != short.buffers[name]}

    @cache
    def stencil(layer: int, like: tuple[int, int]) -> _Stencil:
        return _Stencil(cells[like[0], (like[1], like[1] + 1)], layer - like[0], growing)

    operations = []
    for (layer, step), like in alike(short.direction, sizes):
        operations += stencil(layer, like).at(step, (step - like[1]) * sizes.B)
    buffers = _buffers(short, growing, sizes)
    kept = frozenset(name for name in buffers if not name.startswith("~"))
    return replace(short, sizes=sizes, operations=tuple(operations), buffers=buffers, kept=kept)


def showing_all(sizes: Sizes) -> Sizes:
    """The smallest network that has every kind of cell of this one."""
    return replace(sizes, L=min(sizes.L, LAYERS), T=min(sizes.T, STEPS + sizes.T % 2))


def alike(direction: str, sizes: Sizes) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """(layer, step) of every cell in issue order, and of the cell like it in the small network."""
    few = showing_all(sizes)
    cells = [(layer, step) for layer in range(sizes.L) for step in range(sizes.T)]
    for layer, step in cells if direction == "forward" else reversed(cells):
        yield (layer, step), (_like(layer, few.L, sizes.L), _like(step, few.T, sizes.T, parity=2))


def _through(plan: Plan, passes: Sequence[Callable[[Plan], Plan]]) -> Plan:
    for each in passes:
        plan = each(plan)
    return plan


def _like(place: int, few: int, many: int, parity: int = 1) -> int:
    """The place among few that looks like this one among many: first, last, or one between of its parity."""
    if place == 0 or few == many:
        return place
    return few - 1 if place == many - 1 else 1 + (place - 1) % parity


def _buffers(short: Plan, growing: set[str], sizes: Sizes) -> dict[str, tuple[int, int]]:
    """Every buffer of the long plan with its rows and columns."""
    buffers = {}
    for layer in range(sizes.L):
        for name, (rows, columns) in short.buffers.items():
            base, mark, number = name.rpartition("_l")
            if not mark or int(number) == _like(layer, short.sizes.L, sizes.L):
                more = (sizes.T - short.sizes.T) * sizes.B * (_base(name) in growing)
                buffers[f"{base}_l{layer}" if mark else name] = rows + more, columns
    return buffers


def _base(name: str) -> str:
    """A buffer's name without its layer."""
    return name.rpartition("_l")[0] or name


class _Stencil:
    """A cell in another layer, to be set at any step: pieces that do not move with the steps are made once.

    Pieces are regions, tuples of regions, elementary functions, and tuples of those; each has a number, and
    is made of pieces with smaller ones.
    """

    def __init__(self, cell: Sequence[Operation], layers: int, growing: set[str]):
        self.layers, self.growing = layers, growing
        self.numbers, self.pieces = {}, []  # piece in the short plan -> its number; number -> piece
        self.regions, self.made = {}, {}  # those that move with the steps, and what is made of such
        self.cell = [
            each._replace(
                reads=self._number(each.reads),
                writes=self._number(each.writes),
                layer=each.layer + layers,
                body=self._number(each.body),
            )
            for each in cell
        ]

    def at(self, step: int, down: int) -> list[Operation]:
        """The operations of that step, where buffers that grow with the steps begin `down` rows later."""
        pieces, steps = self.pieces.copy(), (step, step + 1)
        for k, (name, (first, last), columns) in self.regions.items():
            pieces[k] = Region(name, (first + down, last + down), columns)
        for k, (rule, parts) in self.made.items():
            made = tuple([pieces[part] for part in parts])
            pieces[k] = Elementary(rule, *made) if rule else made
        return [
            Operation._make((kind, pieces[r], pieces[w], layer, steps, turned, adds, pieces[b], stream))
            for kind, r, w, layer, _, turned, adds, b, stream in self.cell
        ]

    def _number(self, piece: Region | Elementary | tuple) -> int:
        if piece not in self.numbers:
            made = self._region(piece) if isinstance(piece, Region) else self._composed(piece)
            self.numbers[piece] = len(self.pieces)
            self.pieces.append(made)
        return self.numbers[piece]

    def _region(self, region: Region) -> Region:
        """The region in the other layer; noted if it moves."""
        base, mark, number = region.buffer.rpartition("_l")
        here = region._replace(buffer=f"{base}_l{int(number) + self.layers}") if mark else region
        if _base(region.buffer) in self.growing:
            self.regions[len(self.pieces)] = here
        return here

    def _composed(self, piece: Elementary | tuple) -> Elementary | tuple:
        """What is made of other pieces; noted if one of them moves."""
        rule = piece.rule if isinstance(piece, Elementary) else ""
        parts = [self._number(each) for each in (piece[1:] if rule else piece)]
        if any(part in self.regions or part in self.made for part in parts):
            self.made[len(self.pieces)] = rule, parts
        made = tuple(self.pieces[part] for part in parts)
        return Elementary(rule, *made) if rule else made
