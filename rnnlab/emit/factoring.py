"""The values of a step as nodes, and products with a common factor as one product."""

from itertools import permutations
from typing import NamedTuple


class Node(NamedTuple):
    """One value: a rule of graphs.rules, or "minus", and the values that it reads."""

    rule: str
    reads: tuple[object, ...]  # keys of values: regions, or tuples that factor_out makes


def factor_out(nodes: dict) -> dict:
    """a·b − a·c as a·(b − c): the mirror has a product more, since it sends gradients wire by wire."""
    result = {}
    for key, node in nodes.items():
        if node.rule == "sum":
            node = _factored_sum(key, node, result)
        result[key] = node
    return result


def _factored_sum(key, node: Node, nodes: dict) -> Node:
    """The sum with one pair a·b − a·c as a product; what the product reads is added to nodes."""
    for negative, other in permutations(node.reads, 2):
        subtracted = nodes.get(_negated(nodes, negative))
        added = nodes.get(other)
        if not (_is_product(subtracted) and _is_product(added)):
            continue
        factor, minuend = added.reads
        other_factor, subtrahend = subtracted.reads
        if factor != other_factor:
            continue
        difference = ("difference", key)
        nodes[difference] = Node("minus", (minuend, subtrahend))
        factored = Node("times", (factor, difference))
        rest = tuple(read for read in node.reads if read not in (negative, other))
        if not rest:
            return factored
        nodes["factored", key] = factored
        return Node("sum", (("factored", key), *rest))
    return node


def _negated(nodes: dict, key):
    """The operand of a "negative"; None for another node."""
    node = nodes.get(key)
    if node is None or node.rule != "negative":
        return None
    return node.reads[0]


def _is_product(node: Node | None) -> bool:
    return node is not None and node.rule == "times"
