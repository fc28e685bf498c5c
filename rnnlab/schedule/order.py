"""Optimisations of when things run: an order along diagonals, streams, and one launch for the whole plan.

The whole network stage of Appleyard, Kočiský and Blunsom (2016): step t of layer l needs step t−1 of its own
layer and step t of the layer below, so all cells of a diagonal t + l may run at once.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from rnnlab.schedule.hazards import Waits, check_order, places, take_along, waits_of
from rnnlab.schedule.plan import Operation, Plan


def wavefront(plan: Plan) -> Plan:
    """Issue the cells of a diagonal after those of the diagonal before it, as far as they may be."""
    from rnnlab.schedule.in_order import by_priority  # brings Numba, which a plan by itself does without

    (earlier, later), count = waits_of(plan), len(plan.operations)
    diagonals = np.fromiter((_diagonal(plan, each) for each in plan.operations), int, count)
    order = np.argsort(earlier, kind="stable")
    first = _firsts(earlier[order], count)
    missing = np.bincount(later, minlength=count)
    return reorder(plan, by_priority(diagonals, missing, first, later[order]).tolist(), "wavefront")


def reorder(plan: Plan, order: Sequence[int], name: str = "reorder") -> Plan:
    """The plan in another order of issue.  Raises ValueError, naming the hazard, if the order breaks one."""
    check_order(plan, order)
    return take_along(plan, plan.after(name, [plan.operations[index] for index in order]), places(order))


def assign_streams(plan: Plan, per_layer: int = 2, layers_apart: bool = True) -> Plan:
    """A stream for each layer's recurrence, and with per_layer=2 one beside it for what need not be in it.

    Beside the recurrence stand the products with the inputs and those of the weight gradient.  With
    layers_apart=False all layers share these streams, so that they run one after another.
    """
    if per_layer not in (1, 2):
        raise ValueError(f"per_layer is {per_layer}: 1 stream a layer, or 2")
    layers, two = per_layer * layers_apart, per_layer == 2
    operations = [
        each.in_stream(layers * each.layer + (two and _is_beside(each))) for each in plan.operations
    ]
    named = plan.after(f"assign_streams({per_layer}{'' if layers_apart else ' in all'})", operations)
    named.derived.update(plan.derived)  # nobody waits for other operations than before
    return named


# that layers overlap is the gain of the third stage, not of the first two
two_streams = partial(assign_streams, layers_apart=False)


def capture(plan: Plan) -> Plan:
    """Record all launches once, as a CUDA graph, and launch that."""
    return replace(plan, captured=True, history=(*plan.history, "capture"))


def events(plan: Plan) -> list[tuple[int, int]]:
    """(recorded after, waited for before): the fewest events, in issue order, that order all hazards."""
    return list(zip(*map(np.ndarray.tolist, event_arrays(plan)), strict=True))


def event_arrays(plan: Plan) -> Waits:
    """The events, in issue order: after which operation each is recorded, and before which it is awaited."""
    from rnnlab.schedule.in_order import fewest_events  # brings Numba, as above

    (earlier, later), count = waits_of(plan), len(plan.operations)
    stream = np.fromiter((each.stream for each in plan.operations), int, count)
    needed = fewest_events(stream, 1 + stream.max(initial=0), _firsts(later, count), earlier)
    return Waits(earlier[needed], later[needed])


def _firsts(which: np.ndarray, count: int) -> np.ndarray:
    """Where each operation's pairs begin, and where the last one's end; pairs lie in order of `which`."""
    return np.searchsorted(which, np.arange(count + 1))


def _diagonal(plan: Plan, each: Operation) -> int:
    if plan.direction == "forward":
        return each.steps[0] + each.layer
    return (plan.sizes.T - each.steps[0]) + (plan.sizes.L - each.layer)


def _is_beside(each: Operation) -> bool:
    """Does no later step of its layer wait for it?"""
    inputs = each.kind == "gemm" and each.reads[1].buffer.startswith("weight_ih")
    gradient = each.writes[0].buffer.startswith(("dweight", "dbias", "dinner_bias"))
    return inputs or gradient
