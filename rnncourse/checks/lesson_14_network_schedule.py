"""Checks of lesson 14: cells in the order of the wavefront, streams with events, inputs of several steps."""

from collections import defaultdict
from itertools import pairwise, product

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


def draw_sizes(rng) -> list[tuple]:
    """Layers and steps: enough steps that an order layer by layer is wrong, one of either, and large ones."""
    lag = ANSWERS["wavefront_order"].number("lag", 1)
    large = rng.integers(3, 50, (2, 2)).tolist()
    return [(3, 2), (2, 4 + lag), (1, 3), (2, 2), (1, 1), *large]


@ANSWERS.exercise(draw_sizes)
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
    cells = set(product(range(layers), range(steps)))
    listed = len(order)
    strange = [cell for cell in order if cell not in cells]
    if strange:
        cell = _named(strange[0])
        last_layer = layers - 1
        last_step = steps - 1
        return (
            f"{cell} is not a cell of this network: pairs are "
            f"(layer, step), with layers 0 to {last_layer} and steps 0 to {last_step}."
        )
    repeated = [cell for k, cell in enumerate(order) if cell in order[:k]]
    if repeated:
        times = order.count(repeated[0])
        cell = _named(repeated[0])
        return f"Cell {cell} comes {times} times; {listed} pairs for {len(cells)} cells."
    missing = sorted(cells - set(order))
    if missing:
        cell = _named(missing[0])
        return f"Cell {cell} is missing: the list has {listed} of {len(cells)} cells."
    return _early_cell(order) or _late_cell(order, lag)


def _early_cell(order: list) -> str | None:
    """The first cell that comes before one whose result it reads."""
    place = {cell: k for k, cell in enumerate(order)}
    for cell in order:
        l, t = cell
        for source in ((l - 1, t), (l, t - 1)):
            if place.get(source, -1) > place[cell]:
                return f"Cell {_named(cell)} comes before cell {source}, whose result it reads."
    return None


def _late_cell(order: list, lag: int) -> str | None:
    """The first cell whose round comes before that of the cell in front of it."""
    rounds = [lag * l + t for l, t in order]
    for k, (earlier, later) in enumerate(pairwise(rounds)):
        if earlier > later:
            before, after = order[k : k + 2]
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
    operations, ordered_waits = network(layers, steps, skips, rng if skips else None)
    waits = []
    for places in ordered_waits:
        shuffled = rng.permutation(places)
        waits.append([int(place) for place in shuffled])
    got = submission(operations, waits)
    plain = _streams_and_events(got)
    if skips:
        add_to_case("each layer also reads the one two below")
    problem = _bad_streams(plain, operations, waits, 2 * layers)
    if refuse(problem, result=plain):
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
        lowest = max(0, d - steps + 1)
        diagonal = np.arange(lowest, min(layers, d + 1))
        if rng is not None:
            diagonal = rng.permutation(diagonal)
        for l in diagonal.tolist():
            t = d - l
            below = [(l - 1, t, "cell")]
            if skips:
                below.append((l - 2, t, "cell"))
            reads = {
                "inputs": below,
                "recurrent": [(l, t - 1, "cell")],
                "cell": [(l, t, "inputs"), (l, t, "recurrent")],
            }
            for kind, sources in reads.items():
                operation = (l, t, kind)
                place[operation] = len(operations)
                operations.append(operation)
                waits.append([place[source] for source in sources if source in place])
    return operations, waits


def end_times(operations: list, streams: list, events: list, durations: dict[str, int]) -> list[int]:
    """When each operation ends, if streams run side by side and events hold them."""
    free = defaultdict(int)  # {stream: when its last operation ends}
    ends = []
    awaited = _earlier(events)
    for k, (_, _, kind) in enumerate(operations):
        stream = streams[k]
        awaited_ends = [ends[earlier] for earlier in awaited[k]]
        start = max([free[stream], *awaited_ends])
        end = start + durations[kind]
        free[stream] = end
        ends.append(end)
    return ends


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
        before = set(awaited[k])
        if stream in last:
            before.add(last[stream])
        earlier = [done[place] for place in before]
        done.append(before.union(*earlier))
        last[stream] = k
    for k, places in enumerate(waits):
        for place in places:
            if place not in done[k]:
                return place, k
    return None


def _streams_and_events(got: object) -> tuple | None:
    """Streams and events as tuples of whole numbers; None if the answer has another form."""
    if not isinstance(got, tuple | list) or len(got) != 2:
        return None
    streams = whole_numbers(got[0])
    events = whole_numbers(got[1], 2)
    if streams is None or events is None:
        return None
    return tuple(streams), tuple(sorted(events))


def _bad_streams(plain: tuple | None, operations: list, waits: list, most: int) -> str | None:
    """The first thing that is wrong, as a sentence."""
    if plain is None or len(plain[0]) != len(operations):
        return "The result must be a stream for each operation, and a list of events (earlier, later)."
    streams, events = plain
    used = len(set(streams))
    if used > most:
        return f"It uses {used} streams; {most} are allowed, two a layer."
    for earlier, later in events:
        if not 0 <= earlier < later < len(operations):
            return (
                f"Event ({earlier}, {later}): operation {later} would wait for one that is issued after it."
            )
    hazard = open_hazard(waits, streams, events)
    if hazard:
        earlier, later = (operations[place] for place in hazard)
        return f"{later} reads the result of {earlier}, but neither a stream nor an event makes it wait."
    own = ANSWERS["assign_streams"].call(operations, waits)
    for durations in DURATIONS:
        ends = end_times(operations, streams, events, durations)
        best = end_times(operations, *own, durations)
        time = max(ends)
        least = max(best)
        if time <= SLACK * least:
            continue
        late = next(k for k, end in enumerate(ends) if end > best[k])
        times = ", ".join(f"{kind} {units}" for kind, units in durations.items())
        means = f"{quantity(used, 'stream')} and {quantity(len(events), 'event')}"
        taken = f"It takes {time} units of time with {means}; {least} are possible ({times})."
        waiting = f"it could end at {best[late]}, and ends at {ends[late]}"
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
    launches = answer.number("kernels", 1) * launch
    compared = set()
    if isinstance(first, int) and 1 <= first <= T:
        compared = {first, want[0]}
    for k in sorted(compared):
        chunk = launches + k * (work + step)
        chunks = -(-T // k) + layers - 1
        time = chunks * chunk
        add_to_case(f"k={k}: {chunk:g} a chunk, {time:g} in all")
    expect(got, want, "the steps at a time; the time", tolerance=1e-9)
