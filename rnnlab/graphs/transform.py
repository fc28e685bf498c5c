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
        products = [reverse.maker(wire) for wire in total.inputs]
        if not all(_is_weight_gradient(reverse, product) for product in products):
            continue
        for node in (total, *products):
            nodes.remove(node)
        left_factors, right_factors = zip(*(product.inputs for product in products), strict=True)
        left = _stacked(nodes, left_factors, axis=0)
        right = _stacked(nodes, right_factors, axis=0)
        nodes.append(Node("product", (left, right), total.outputs, (True, False)))
    return Graph(reverse.inputs, reverse.outputs, tuple(nodes))


def _is_weight_gradient(reverse: Graph, node: Node | None) -> bool:
    """True for a product aᵀ b that one node alone reads."""
    if node is None or node.op != "product" or node.flags != (True, False):
        return False
    (product,) = node.outputs
    return len(reverse.readers(product)) <= 1


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
                operands = (*product.inputs, other)
                nodes.append(Node("product_add", operands, total.outputs, product.flags))
                break
    return Graph(graph.inputs, graph.outputs, tuple(nodes))


def reset_after(graph: Graph) -> Graph:
    """(r∘h)·Uᵀ becomes r∘(h·Uᵀ): the product no longer waits for r.  This is another function, on purpose."""
    nodes = list(graph.nodes)
    for product in graph.nodes:
        if product.op != "product":
            continue
        gated_h, weights = product.inputs
        gated = graph.maker(gated_h)
        if gated is None or gated.op != "times" or len(graph.readers(gated_h)) > 1:
            continue
        gate, h = gated.inputs
        inner = f"{h}·{weights}ᵀ"
        product_first = Node("product", (h, weights), (inner,), product.flags)
        reset_last = Node("times", (gate, inner), product.outputs)
        nodes[nodes.index(gated)] = product_first
        nodes[nodes.index(product)] = reset_last
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
        wires = {node.outputs[0] for node in nodes}
        awaited = set().union(*(waits_for[node] for node in nodes))
        free = []
        for node in nodes:
            waits_for_another = waits_for[node] & wires
            is_awaited = node.outputs[0] in awaited
            if not waits_for_another and not is_awaited:
                free.append(node)
        if len(free) > 1:
            independent.append(free)
    return independent


def _ancestors(graph: Graph) -> dict[Node, set[str]]:
    """Every wire a node waits for."""
    behind: dict[str, set[str]] = {wire: set() for wire in graph.inputs}
    waits = {}
    for node in graph.nodes:
        behind_inputs = [behind[wire] for wire in node.inputs]
        waits[node] = set(node.inputs).union(*behind_inputs)
        behind |= dict.fromkeys(node.outputs, waits[node])
    return waits


def _merge(graph: Graph, group: list[Node], shared: int) -> Graph:
    """One product in place of the group's; in y = a bᵀ, stacked b makes columns of y, stacked a rows."""
    varying = 1 - shared
    nodes = [node for node in graph.nodes if node not in group]
    parts = [node.inputs[varying] for node in group]
    factors = list(group[0].inputs)
    factors[varying] = _stacked(nodes, parts, axis=0)
    left, right = factors
    whole = f"{left}·{right}ᵀ"
    outputs = tuple(node.outputs[0] for node in group)
    sizes = tuple(graph.shapes[wire][varying] for wire in outputs)
    nodes.append(Node("product", (left, right), (whole,), (False, True)))
    nodes.append(Node("split", (whole,), outputs, (varying, sizes)))
    return Graph(graph.inputs, graph.outputs, tuple(nodes))


def _stacked(nodes: list[Node], wires: Iterable[str], axis: int) -> str:
    """The wire of the stacked tensors; one stack of the same wires serves every product that reads it."""
    wires = tuple(wires)
    flags = (axis,)
    for node in nodes:
        if (node.op, node.inputs, node.flags) == ("stack", wires, flags):
            return node.outputs[0]
    joined = ";".join(wires)
    name = f"[{joined}]"
    nodes.append(Node("stack", wires, (name,), flags))
    return name
