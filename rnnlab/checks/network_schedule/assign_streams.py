"""A stream for every operation and events between them: no hazard left open, no queueing without need."""

import numpy as np

from rnnlab.checks.edits import wrong_values
from rnnlab.grading.exercise import Exercise, Mutant, Wrong

TIMES = {"inputs": 2, "recurrent": 3, "cell": 1}


def assign_streams(operations, waits):
    streams = [2 * layer + (kind == "inputs") for layer, step, kind in operations]
    events = [(w, k) for k in range(len(operations)) for w in waits[k] if streams[w] != streams[k]]
    return streams, events


STREAMS = '2 * layer + (kind == "inputs")'
MUTANTS = (
    Mutant("puts everything into one stream", STREAMS, "0"),
    Mutant("gives each layer one stream", STREAMS, "layer"),
    Mutant("gives each kind a stream", STREAMS, '["inputs", "recurrent", "cell"].index(kind)'),
    Mutant("gives each step a stream", STREAMS, "step"),
    Mutant(
        "has no events",
        "[(w, k) for k in range(len(operations)) for w in waits[k] if streams[w] != streams[k]]",
        "[]",
    ),
    Mutant("turns the events round", "(w, k) for k", "(k, w) for k"),
    Mutant(
        "orders operations of the same stream only", "streams[w] != streams[k]", "streams[w] == streams[k]"
    ),
    Mutant("waits for the last of several", "for w in waits[k]", "for w in waits[k][-1:]"),
    Mutant("puts a layer's cells beside its products", STREAMS, '2 * layer + (kind == "cell")'),
)


def check(submission, rng):
    large = int(rng.integers(4, 7)), int(rng.integers(7, 12))
    for layers, steps in ((2, 2), (1, 4), (2, 3), (3, int(rng.integers(4, 7))), large):
        operations, waits = network(layers, steps, rng if (layers, steps) == large else None)
        got = submission(operations, waits)
        if problem := _problem(got, operations, waits, 2 * layers):
            known = wrong_values(assign_streams, MUTANTS, operations, waits)
            plain = _plain(got)
            name = next((name for name, value in known.items() if _plain(value()) == plain is not None), None)
            raise Wrong(f"{problem} ({layers} layers, {steps} steps)", name)


def network(layers: int, steps: int, rng: np.random.Generator | None = None) -> tuple[list, list]:
    """Operations (layer, step, kind) along diagonals, and for each the places of those it waits for.

    With a generator the cells of a diagonal, none of which waits for another, come in any order.
    """
    operations, waits, place = [], [], {}
    for d in range(layers + steps - 1):
        for l in range(layers) if rng is None else rng.permutation(layers).tolist():
            t = d - l
            if not 0 <= t < steps:
                continue
            needs = {
                "inputs": [(l - 1, t, "cell")],
                "recurrent": [(l, t - 1, "cell")],
                "cell": [(l, t, "inputs"), (l, t, "recurrent")],
            }
            for kind, needed in needs.items():
                place[l, t, kind] = len(operations)
                operations.append((l, t, kind))
                waits.append([place[each] for each in needed if each in place])
    return operations, waits


def makespan(operations: list, waits: list, streams: list) -> float:
    """Time until all is done, if streams run side by side and operations wait as they must."""
    free, end = {}, []
    for (_, _, kind), needed, stream in zip(operations, waits, streams, strict=True):
        start = max([free.get(stream, 0), *(end[each] for each in needed)])
        free[stream] = start + TIMES[kind]
        end.append(free[stream])
    return max(end)


def open_hazard(waits: list, streams: list, events: list) -> tuple[int, int] | None:
    """(earlier, later) that nothing orders: neither a stream nor a chain of events; None if there is none."""
    done: list[set[int]] = []
    last: dict[int, int] = {}
    for k, stream in enumerate(streams):
        before = {last[stream]} if stream in last else set()
        before |= {earlier for earlier, later in events if later == k and earlier < k}
        done.append(before.union(*(done[each] for each in before)))
        last[stream] = k
    return next(((w, k) for k, needed in enumerate(waits) for w in needed if w not in done[k]), None)


def _plain(got: object) -> tuple | None:
    """Streams and events as tuples of whole numbers; None if the answer has another form."""
    if not isinstance(got, tuple | list) or len(got) != 2 or any(np.shape(each) != (2,) for each in got[1]):
        return None
    return tuple(map(int, got[0])), tuple(sorted((int(a), int(b)) for a, b in got[1]))


def _problem(got: object, operations: list, waits: list, most: int) -> str | None:
    """The first thing that is wrong, as a sentence."""
    plain = _plain(got)
    if plain is None or len(plain[0]) != len(operations):
        return "Asked for are a stream for each operation, and a list of events (earlier, later)."
    streams, events = plain
    if len(set(streams)) > most:
        return f"It uses {len(set(streams))} streams; {most} are there, two a layer."
    if hazard := open_hazard(waits, streams, events):
        earlier, later = (operations[each] for each in hazard)
        return f"Nothing holds {later} until {earlier} is done, whose result it reads."
    best = makespan(operations, waits, assign_streams(operations, waits)[0])
    if (mine := makespan(operations, waits, streams)) > 1.05 * best:
        return f"It takes {mine} units of time; {best} are possible. Who stands in a queue without need?"
    return None


ASSIGN_STREAMS = Exercise(
    name="assign_streams",
    points=3,
    difficulty=3,
    minutes=25,
    lines=4,
    hints=(
        "A stream is a queue: what stands in it runs in the order in which it was issued. Which operations "
        "of a layer have to run one after the other anyway?",
        "A layer's recurrence, recurrent product and cell in turn, is one queue. Its input products need not "
        "stand in it: they wait for the layer below only. Two streams a layer, then; an event wherever an "
        "operation waits for one of another stream.",
        '`2 * layer + (kind == "inputs")` for each operation; events are the pairs (w, k) for every w of '
        "waits[k] whose stream is another.",
    ),
    check=check,
    truth=assign_streams,
    mutants=MUTANTS,
    also_right=(
        """def assign_streams(operations, waits):
    names = sorted({(layer, kind == "inputs") for layer, _, kind in operations})
    streams = [names.index((layer, kind == "inputs")) for layer, _, kind in operations]
    return streams, [(w, k) for k, each in enumerate(waits) for w in each]
""",
        """def assign_streams(operations, waits):
    layers = 1 + max(layer for layer, _, _ in operations)
    streams, events = [], []
    for k, (layer, _, kind) in enumerate(operations):
        streams.append(layer + layers if kind == "inputs" else layer)
        events.extend((w, k) for w in waits[k] if streams[w] != streams[k])
    return tuple(streams), tuple(events)
""",
    ),
)
