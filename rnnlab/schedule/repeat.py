"""A long network's plan from a short one's: cells repeat, so passes that look into one cell see few of them.

The cells of a middle layer and step differ in their places only: rows move on by a step, names by a layer.
Of a network with more than three layers or five steps, the passes therefore get one with three and four or
five: a first and a last of each, and between them a step of either parity, since the gradients that travel
back take turns in two slots.  The result is the same as that of the whole plan (tests/test_schedule_repeat),
in a seventh of the time for 400 LSTM cells.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache

from rnnlab.schedule.joining import cells_of
from rnnlab.schedule.plan import Plan, Region, Sizes, relocated

LAYERS, STEPS = 3, 4  # of a network that shows every kind of cell; 5 steps for an odd number of them


def repeated(build: Callable[[Sizes], Plan], passes: Sequence[Callable[[Plan], Plan]], sizes: Sizes) -> Plan:
    """The plan for these sizes after passes that each join or change operations within a cell."""
    few = showing_all(sizes)
    if few == sizes:
        return _through(build(sizes), passes)
    short, longer = _through(build(few), passes), build(replace(few, T=few.T + 2))
    cells = {key: [short.operations[k] for k in places] for key, places in cells_of(short).items()}
    growing = {name for name, shape in longer.buffers.items() if shape != short.buffers[name]}
    operations = []
    for (layer, step), like in alike(short.direction, sizes):
        moved = layer - like[0], step - like[1]
        place = _move(*moved, sizes.B, growing)
        operations += [relocated(each, place, *moved) for each in cells[like[0], (like[1], like[1] + 1)]]
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
                more = (sizes.T - short.sizes.T) * sizes.B * (name in growing)
                buffers[f"{base}_l{layer}" if mark else name] = rows + more, columns
    return buffers


def _move(layers: int, steps: int, B: int, growing: set[str]) -> Callable[[Region], Region]:
    """Takes a region of one cell to another cell: rows by steps, names by layers."""

    @cache
    def moved(region: Region) -> Region:
        name, (first, last), columns = region
        down = steps * B * (name in growing)
        base, mark, number = name.rpartition("_l")
        return Region(
            f"{base}_l{int(number) + layers}" if mark else name, (first + down, last + down), columns
        )

    return moved
