"""Other graphs of the same function, with fewer and larger products; and one of another function.

Each transformation takes a graph and returns a graph.  Two products may be stacked only if neither waits for
the other; that is read off the wires, so an illegal stacking cannot be drawn.
"""

from collections import defaultdict
from collections.abc import Iterable

from rnnlab.graphs.graph import Graph, Node


def stack_gates(graph: Graph) -> Graph:
    """Products that read the same left factor become one, with their right factors (weights) stacked."""
    return _stack(graph, shared=0)


def stack_time(graph: Graph) -> Graph:
    """Products of one right factor that do not wait for each other become one, left factors stacked."""
    return _stack(graph, shared=1)


def stack_weight_gradients(reverse: Graph) -> Graph:
    """A sum of products a₁ᵀ b₁ + a₂ᵀ b₂ + … becomes one product of stacked factors: [a₁;a₂;…]ᵀ [b₁;b₂;…]."""
    nodes = list(reverse.nodes)
    for total in [node for node in reverse.nodes if node.op == "sum"]:
        parts = [reverse.maker(wire) for wire in total.inputs]
        if any(part is None or part.op != "product" or part.flags != (True, False) for part in parts):
            continue
        if any(len(reverse.readers(part.outputs[0])) > 1 for part in parts):
            continue
        for part in (total, *parts):
            nodes.remove(part)
        left = _stacked(nodes, [part.inputs[0] for part in parts], axis=0)
        right = _stacked(nodes, [part.inputs[1] for part in parts], axis=0)
        nodes.append(Node("product", (left, right), total.outputs, (True, False)))
    return Graph(reverse.inputs, reverse.outputs, tuple(nodes))


def accumulate(graph: Graph) -> Graph:
    """A product whose only reader adds it to something becomes one GEMM with β = 1."""
    nodes = list(graph.nodes)
    for total in graph.nodes:
        if total.op != "sum" or len(total.inputs) != 2:
            continue
        for wire, other in (total.inputs, total.inputs[::-1]):
            product = graph.maker(wire)
            readers = len(graph.readers(wire)) + graph.outputs.count(wire)
            if product and product.op == "product" and readers == 1:
                nodes.remove(product)
                nodes.remove(total)
                nodes.append(Node("product_add", (*product.inputs, other), total.outputs, product.flags))
                break
    return Graph(graph.inputs, graph.outputs, tuple(nodes))


def reset_after(graph: Graph) -> Graph:
    """(r∘h)·Uᵀ becomes r∘(h·Uᵀ): the product no longer waits for r.  This is another function, on purpose."""
    nodes = list(graph.nodes)
    for product in graph.nodes:
        gated = graph.maker(product.inputs[0]) if product.op == "product" else None
        if gated is None or gated.op != "times" or len(graph.readers(gated.outputs[0])) > 1:
            continue
        gate, h = gated.inputs
        inner = f"{h}·{product.inputs[1]}ᵀ"
        nodes[nodes.index(gated)] = Node("product", (h, product.inputs[1]), (inner,), product.flags)
        nodes[nodes.index(product)] = Node("times", (gate, inner), product.outputs)
    return Graph(graph.inputs, graph.outputs, tuple(nodes))


def _stack(graph: Graph, shared: int) -> Graph:
    """Stack every set of products that may run together and share a factor on side `shared` (0 left)."""
    for group in _groups(graph, shared):
        graph = _merge(graph, group, shared)
    return graph


def _groups(graph: Graph, shared: int) -> list[list[Node]]:
    candidates = defaultdict(list)
    for node in graph.nodes:
        if node.op == "product" and node.flags == (False, True):
            candidates[node.inputs[shared]].append(node)
    waits_for = _ancestors(graph)
    independent = []
    for nodes in candidates.values():
        wires = {wire for node in nodes for wire in node.outputs}
        awaited = set().union(*(waits_for[node] for node in nodes))
        free = [node for node in nodes if not waits_for[node] & wires and not awaited & {*node.outputs}]
        if len(free) > 1:
            independent.append(free)
    return independent


def _ancestors(graph: Graph) -> dict[Node, set[str]]:
    """Every wire a node waits for."""
    behind: dict[str, set[str]] = {wire: set() for wire in graph.inputs}
    waits = {}
    for node in graph.nodes:
        waits[node] = set(node.inputs).union(*(behind[wire] for wire in node.inputs))
        behind |= dict.fromkeys(node.outputs, waits[node])
    return waits


def _merge(graph: Graph, group: list[Node], shared: int) -> Graph:
    """One product in place of the group's; in y = a bᵀ, stacked b makes columns of y, stacked a rows."""
    varying = 1 - shared
    nodes = [node for node in graph.nodes if node not in group]
    stacked = _stacked(nodes, [node.inputs[varying] for node in group], axis=0)
    factors = (group[0].inputs[0], stacked) if varying else (stacked, group[0].inputs[1])
    whole = f"{factors[0]}·{factors[1]}ᵀ"
    sizes = tuple(graph.shapes[node.outputs[0]][varying] for node in group)
    nodes.append(Node("product", factors, (whole,), (False, True)))
    outputs = tuple(node.outputs[0] for node in group)
    nodes.append(Node("split", (whole,), outputs, (varying, sizes)))
    return Graph(graph.inputs, graph.outputs, tuple(nodes))


def _stacked(nodes: list[Node], wires: Iterable[str], axis: int) -> str:
    """The wire of the stacked tensors; one stack of the same wires serves every product that reads it."""
    wires = tuple(wires)
    for node in nodes:
        if (node.op, node.inputs, node.flags) == ("stack", wires, (axis,)):
            return node.outputs[0]
    name = f"[{';'.join(wires)}]"
    nodes.append(Node("stack", wires, (name,), (axis,)))
    return name
