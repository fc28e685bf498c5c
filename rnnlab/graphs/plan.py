"""Save or recompute: every wire that the backward pass reads is saved by the forward pass, or computed again.

Saved at no extra cost are the graph's inputs and outputs: weights, x, and the states, which the next step and
the layer above read anyway.  `alive` names further wires that are stored for another reason, such as the
input product of all steps, when it is computed before the loop and not overwritten.
"""

from dataclasses import dataclass
from itertools import combinations
from math import prod

from rnnlab.graphs.graph import Graph, Node, node_flops
from rnnlab.graphs.mirror import Mirror

GEMMS = ("product", "product_add")
FLOAT32_BYTES = 4


@dataclass(frozen=True)
class RecomputePlan:
    """Wires that are saved for one step, and nodes that the backward pass must therefore compute again."""

    saved: tuple[str, ...]
    recomputed: tuple[Node, ...]
    saved_bytes: int
    extra_flops: int
    extra_gemms: int

    def cost(self) -> tuple[int, int, int]:
        """Fewer GEMM calls before fewer operations before fewer bytes: a small GEMM costs most (Engel)."""
        return self.extra_gemms, self.extra_flops, self.saved_bytes


def make_plan(
    graph: Graph, reverse: Mirror, saved: tuple[str, ...], alive: tuple[str, ...] = ()
) -> RecomputePlan:
    """The plan that saves exactly these wires.  Raises ValueError for a wire the graph does not have."""
    for wire in (*saved, *alive):
        if wire not in graph.shapes:
            raise ValueError(f"cannot save wire {wire!r}: the graph has {', '.join(graph.shapes)}")
    present = {*graph.inputs, *graph.outputs, *saved, *alive}
    recomputed = _recomputed(graph, reverse.needed(graph), present)
    saved_numbers = sum(prod(graph.shapes[wire]) for wire in saved)
    return RecomputePlan(
        saved=tuple(saved),
        recomputed=recomputed,
        saved_bytes=saved_numbers * FLOAT32_BYTES,
        extra_flops=sum(node_flops(graph, node) for node in recomputed),
        extra_gemms=sum(node.op in GEMMS for node in recomputed),
    )


def all_plans(graph: Graph, reverse: Mirror, alive: tuple[str, ...] = ()) -> list[RecomputePlan]:
    """Every plan worth comparing: all subsets of `candidates`; exhaustive, as one step of a cell allows."""
    wires = candidates(graph, reverse, alive)
    plans = []
    for size in range(len(wires) + 1):
        for saved in combinations(wires, size):
            plans.append(make_plan(graph, reverse, saved, alive))
    return plans


def cheapest(graph: Graph, reverse: Mirror, limit_bytes: int, alive: tuple[str, ...] = ()) -> RecomputePlan:
    """The plan within `limit_bytes` a step that recomputes least (see Plan.cost)."""
    plans = all_plans(graph, reverse, alive)
    fitting = [plan for plan in plans if plan.saved_bytes <= limit_bytes]
    if not fitting:
        raise ValueError(f"no plan saves {limit_bytes} bytes or fewer: the limit must not be negative")
    return min(fitting, key=RecomputePlan.cost)


def candidates(graph: Graph, reverse: Mirror, alive: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Wires that can be worth saving: all that help the reverse pass, but those their only reader beats.

    If only one node reads a wire, and its result is no larger, then saving the result instead costs no
    more bytes and spares that node too.
    """
    present = {*graph.inputs, *graph.outputs, *alive}
    needed = reverse.needed(graph)
    helpful = set()
    for node in _recomputed(graph, needed, present):
        helpful |= set(node.outputs)

    def is_beaten(wire: str) -> bool:
        readers = graph.readers(wire)
        if wire in needed or len(readers) != 1:
            return False
        results = readers[0].outputs
        if len(results) != 1:
            return False
        result_size = prod(graph.shapes[results[0]])
        return result_size <= prod(graph.shapes[wire])

    ordered = [wire for wire in graph.shapes if wire in helpful]
    return tuple(wire for wire in ordered if not is_beaten(wire))


def _recomputed(graph: Graph, needed: tuple[str, ...], present: set[str]) -> tuple[Node, ...]:
    """The nodes that must run again, in running order, so that every needed wire is there."""
    missing = set(needed) - present
    recomputed = []
    for node in reversed(graph.nodes):
        if not missing.isdisjoint(node.outputs):
            recomputed.insert(0, node)
            missing |= set(node.inputs) - present
    return tuple(recomputed)
