"""Checks of lesson 14: cells in the order of the wavefront, streams with events, inputs of several steps."""

from collections import defaultdict
from itertools import pairwise

import numpy as np

from nbjudge.comparing.differences import whole_numbers
from nbjudge.comparing.judging import add_to_case, keep_costs, refuse
from nbjudge.exercise import Wrong
from nbjudge.printable import quantity
from rnncourse.checks.answers import answers
from rnncourse.checks.results import expect

ANSWERS = answers("14_network_schedule")
DURATIONS = (  # two: a stream may make nothing wait, however long operations are
    {"inputs": 2, "recurrent": 3, "cell": 1},
    {"inputs": 4, "recurrent": 2, "cell": 1},
)
SLACK = 1.05  # of the shortest time that two streams a layer allow


@ANSWERS.exercise(
    lambda rng: (
        (3, 2),
        (2, 4 + ANSWERS["wavefront_order"].number("lag", 1)),  # else layer by layer would be right
        (1, 3),
        (2, 2),
        (1, 1),
        *rng.integers(3, 50, (2, 2)).tolist(),
    )
)
def check_wavefront_order(answer, submission, rng, layers, steps):
    """Many orders are right; a mistake is named by the order that it gives."""
    got = submission(layers, steps)
    pairs = whole_numbers(got, 2)
    lag = answer.number("lag", 1)
    refuse(_misplaced(got, pairs, layers, steps, lag), result=pairs)


def _misplaced(got: object, order: list | None, layers: int, steps: int, lag: int) -> str | Wrong | None:
    """The first thing that is wrong with the order; lag: rounds until the layer above can read a result."""
    if order is None:
        return f"The result must be a list of pairs (layer, step); it returns {got!r:.60}."
    cells = {(l, t) for l in range(layers) for t in range(steps)}
    if strange := [cell for cell in order if cell not in cells]:
        return (
            f"{_named(strange[0])} is not a cell of this network: pairs are "
            f"(layer, step), with layers 0 to {layers - 1} and steps 0 to {steps - 1}."
        )
    if twice := [cell for k, cell in enumerate(order) if cell in order[:k]]:
        times = order.count(twice[0])
        return f"Cell {_named(twice[0])} comes {times} times; {len(order)} pairs for {len(cells)} cells."
    if missing := sorted(cells - set(order)):
        return f"Cell {_named(missing[0])} is missing: the list has {len(order)} of {len(cells)} cells."
    place = {cell: k for k, cell in enumerate(order)}
    for cell in order:
        l, t = cell
        for source in ((l - 1, t), (l, t - 1)):
            if place.get(source, -1) > place[cell]:
                return f"Cell {_named(cell)} comes before cell {source}, whose result it reads."
    for before, after in pairwise(order):
        if lag * before[0] + before[1] > lag * after[0] + after[1]:
            return f"{before} comes before {after}, which can run in an earlier round."
    return None


def _named(cell: tuple[int, int]) -> str:
    return "(layer {}, step {})".format(*cell)


@ANSWERS.exercise("""
    layers  steps  skips
         2      3  False
         2      2  False
         1      4  False
         3    4:7  False
       4:7   7:20   True
""")
def check_assign_streams(answer, submission, rng, layers, steps, skips):
    """`skips`: inputs also read the layer two below, so that one operation waits for two other streams."""
    operations, waits = network(layers, steps, skips, rng if skips else None)
    waits = [[int(place) for place in rng.permutation(places)] for places in waits]
    got = submission(operations, waits)
    plain = _streams_and_events(got)
    if skips:
        add_to_case("each layer also reads the one two below")
    if refuse(_bad_streams(plain, operations, waits, 2 * layers), result=plain):
        streams, events = plain
        keep_costs({"stream": len(set(streams)), "event": len(events)})


def network(
    layers: int, steps: int, skips: bool = False, rng: np.random.Generator | None = None
) -> tuple[list, list]:
    """Operations (layer, step, kind) along diagonals, and for each the places of those it waits for.

    With a generator the cells of a diagonal, none of which waits for another, come in a random order.
    """
    operations = []
    waits = []
    place = {}
    for d in range(layers + steps - 1):
        diagonal = np.arange(max(0, d - steps + 1), min(layers, d + 1))
        for l in (diagonal if rng is None else rng.permutation(diagonal)).tolist():
            t = d - l
            below = [(l - 1, t, "cell"), (l - 2, t, "cell")]
            reads = {
                "inputs": below if skips else below[:1],
                "recurrent": [(l, t - 1, "cell")],
                "cell": [(l, t, "inputs"), (l, t, "recurrent")],
            }
            for kind, sources in reads.items():
                place[l, t, kind] = len(operations)
                operations.append((l, t, kind))
                waits.append([place[source] for source in sources if source in place])
    return operations, waits


def end_times(operations: list, streams: list, events: list, durations: dict[str, int]) -> list[int]:
    """When each operation ends, if streams run side by side and events hold them."""
    free = {}
    end = []
    awaited = _earlier(events)
    for k, ((_, _, kind), stream) in enumerate(zip(operations, streams, strict=True)):
        start = max([free.get(stream, 0), *(end[earlier] for earlier in awaited[k])])
        free[stream] = start + durations[kind]
        end.append(free[stream])
    return end


def _earlier(events: list) -> defaultdict[int, list[int]]:
    """{operation: those that its events make it wait for}"""
    awaited = defaultdict(list)
    for earlier, later in events:
        awaited[later].append(earlier)
    return awaited


def open_hazard(waits: list, streams: list, events: list) -> tuple[int, int] | None:
    """(earlier, later) that nothing orders: neither a stream nor a chain of events; None if there is none."""
    done: list[set[int]] = []
    last: dict[int, int] = {}
    awaited = _earlier(events)
    for k, stream in enumerate(streams):
        before = {last[stream]} if stream in last else set()
        before.update(awaited[k])
        done.append(before.union(*(done[place] for place in before)))
        last[stream] = k
    for k, places in enumerate(waits):
        if unordered := [place for place in places if place not in done[k]]:
            return unordered[0], k
    return None


def _streams_and_events(got: object) -> tuple | None:
    """Streams and events as tuples of whole numbers; None if the answer has another form."""
    if not isinstance(got, tuple | list) or len(got) != 2:
        return None
    streams = whole_numbers(got[0])
    events = whole_numbers(got[1], 2)
    return None if streams is None or events is None else (tuple(streams), tuple(sorted(events)))


def _bad_streams(plain: tuple | None, operations: list, waits: list, most: int) -> str | None:
    """The first thing that is wrong, as a sentence."""
    if plain is None or len(plain[0]) != len(operations):
        return "The result must be a stream for each operation, and a list of events (earlier, later)."
    streams, events = plain
    if len(set(streams)) > most:
        return f"It uses {len(set(streams))} streams; {most} are allowed, two a layer."
    if backward := [event for event in events if not 0 <= event[0] < event[1] < len(operations)]:
        earlier, later = backward[0]
        return f"Event ({earlier}, {later}): operation {later} would wait for one that is issued after it."
    if hazard := open_hazard(waits, streams, events):
        earlier, later = (operations[place] for place in hazard)
        return f"{later} reads the result of {earlier}, but neither a stream nor an event makes it wait."
    own = ANSWERS["assign_streams"].call(operations, waits)
    for durations in DURATIONS:
        end = end_times(operations, streams, events, durations)
        best = end_times(operations, *own, durations)
        if max(end) > SLACK * max(best):
            late = next(k for k in range(len(end)) if end[k] > best[k])
            times = ", ".join(f"{kind} {time}" for kind, time in durations.items())
            used = f"{quantity(len(set(streams)), 'stream')} and {quantity(len(events), 'event')}"
            taken = f"It takes {max(end)} units of time with {used}; {max(best)} are possible ({times})."
            waiting = f"it could end at {best[late]}, and ends at {end[late]}"
            return f"{taken} The first to wait without need is {operations[late]}: {waiting}."
    return None


@ANSWERS.exercise("""
          T  layers      launch        work        step
          8       2         5.0         1.0         2.0
         10       4         1.0         2.0         3.0
          4       2         6.0         1.0         2.0  # two numbers of steps take the same time
         11       3         5.0         1.0         2.0  # the last chunk is not full
          4       1         0.0         1.0         2.0
          1       1         2.0         1.0         1.5
          7       1         2.0         1.0         1.5
      40:60     3:6       6:14.         1.0         2.0
    300:900     3:9  1.00:20.00  1.00:20.00  1.00:20.00
""")
def check_choose_input_batch(answer, submission, rng, T, layers, launch, work, step):
    want = answer.call(T, layers, launch, work, step)
    got = submission(T, layers, launch, work, step)
    first = got[0] if isinstance(got, tuple | list) and got else None
    for k in sorted({first, want[0]}) if isinstance(first, int) and 1 <= first <= T else ():
        chunk = answer.number("kernels", 1) * launch + k * (work + step)
        chunks = -(-T // k) + layers - 1
        add_to_case(f"k={k}: {chunk:g} a chunk, {chunks * chunk:g} in all")
    expect(got, want, "the steps at a time; the time", tolerance=1e-9)
