"""Memory: legality of a schedule, and a place for every array that it saves, in the order of issue.

An array is live from the launch that writes it to the last launch that reads it; recomputed, it lives again.
Places are reused as soon as their array is dead, the longest free one first.  The launch that reuses one must
wait for the last reader of the old array: a hazard like any other, so the timeline has that wait too.
"""

from collections import defaultdict, deque
from typing import NamedTuple

from rnnlab.capstone.launches import (
    BACKWARD,
    FORWARD,
    WEIGHTS,
    Array,
    Illegal,
    Launch,
    Schedule,
    reads,
    writes,
)


class Layout(NamedTuple):
    """places: where the arrays of each launch lie; peak: most blocks that are live at once."""

    places: list[dict[Array, int]]
    peak: int


def check_legal(schedule: Schedule) -> None:
    """Raises Illegal, naming the first launch that reads too early or counts twice, or what is missing."""
    last = schedule.blocks - 1
    if schedule.problem.steps % schedule.block and all(launch.block < last for launch in schedule.launches):
        mistake = "forgets the last block, which is shorter"
        raise Illegal(f"No launch runs block {last}, the last one, which is shorter.", mistake)
    done: set[tuple[int, int, int]] = set()  # kind, layer, block
    for number, launch in enumerate(schedule.launches):
        kind, l, j, _ = launch
        if kind != FORWARD and (kind, l, j) in done:
            mistake = "adds a weight gradient twice" if kind == WEIGHTS else "runs a backward block twice"
            raise Illegal(
                f"Launch {number} is the second {launch}: its gradients would count twice.", mistake
            )
        for needed, why, mistake in _needs(launch, schedule):
            if needed not in done:
                raise Illegal(
                    f"Launch {number}, {launch}, {why}, which no launch has computed before.", mistake
                )
        done.add((kind, l, j))
    for kind in (BACKWARD, WEIGHTS):
        _check_complete(schedule, kind, done)


def _needs(launch: Launch, schedule: Schedule) -> list[tuple[tuple[int, int, int], str, str]]:
    """What must have run before a launch: (kind, layer, block), why, and what forgets it."""
    kind, l, j, _ = launch
    if kind == FORWARD:
        needs = [((FORWARD, l - 1, j), f"reads y of layer {l - 1}", "runs a layer before the layer below it")]
        needs += [
            ((FORWARD, l, j - 1), f"reads h of block {j - 1}", "runs a block before the block before it")
        ]
    elif kind == BACKWARD:
        needs = [((FORWARD, l, j), "reads h of its own block", "runs backward before forward")]
        needs += [
            ((BACKWARD, l + 1, j), f"reads dy that layer {l + 1} sends", "goes backward from the bottom up")
        ]
        needs += [
            (
                (BACKWARD, l, j + 1),
                f"reads dh that block {j + 1} sends",
                "goes backward from the first step on",
            )
        ]
    else:
        needs = [
            (
                (BACKWARD, l, j),
                "reads dg of its own block",
                "adds a weight gradient before its backward block",
            )
        ]
    inside = lambda layer, block: 0 <= layer < schedule.problem.layers and 0 <= block < schedule.blocks
    return [need for need in needs if inside(*need[0][1:])]


def _check_complete(schedule: Schedule, kind: int, done: set) -> None:
    for l in range(schedule.problem.layers):
        missing = [j for j in range(schedule.blocks) if (kind, l, j) not in done]
        if missing:
            has_none = kind == WEIGHTS and not any(done_kind == WEIGHTS for done_kind, *_ in done)
            mistake = "leaves out the weight gradients" if has_none else None
            name = Launch(kind, l, missing[0], 0)
            raise Illegal(f"There is no {name}: the gradients are incomplete.", mistake)


def place_arrays(schedule: Schedule) -> Layout:
    """A place for each array of a legal schedule.  Raises Illegal if they need more memory than there is."""
    versions, last_reader = _versions(schedule)
    dying = defaultdict(list)
    for version, number in last_reader.items():
        dying[number].append(version)
    room = schedule.problem.memory // schedule.block
    free, place, places, peak = deque(range(room)), {}, [], 0
    for number, (old, new) in enumerate(versions):
        if len(new) > len(free):
            raise Illegal(_too_much(schedule, number, len(place) + len(new)), _memory_mistake(schedule))
        place |= {version: free.popleft() for version in new}
        peak = max(peak, len(place))
        places.append({version[0]: place[version] for version in old + new})
        free.extend(place.pop(version) for version in dying[number])
    return Layout(places, peak)


def _versions(schedule: Schedule) -> tuple[list, dict]:
    """For each launch the (array, writer) that it reads and writes; and the last launch that uses each."""
    current: dict[Array, tuple[Array, int]] = {}
    result, last = [], {}
    for number, launch in enumerate(schedule.launches):
        old = [current[array] for array in reads(launch)]
        new = [(array, number) for array in writes(launch, schedule.problem.layers)]
        current |= {version[0]: version for version in new}
        last |= dict.fromkeys(old + new, number)
        result.append((old, new))
    return result, last


def recomputed(schedule: Schedule) -> int:
    """FORWARD launches beyond the first of each block."""
    blocks = [launch[1:3] for launch in schedule.launches if launch.kind == FORWARD]
    return len(blocks) - len(set(blocks))


def _too_much(schedule: Schedule, number: int, blocks: int) -> str:
    arrays, launch = f"{blocks} blocks of {schedule.block} steps", schedule.launches[number]
    return (
        f"At launch {number}, {launch}, {arrays}, {blocks * schedule.block} arrays, must be in memory "
        f"at once; it holds {schedule.problem.memory}."
    )


def _memory_mistake(schedule: Schedule) -> str | None:
    return None if recomputed(schedule) else "saves everything and recomputes nothing"
