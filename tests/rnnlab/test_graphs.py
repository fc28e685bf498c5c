"""Graphs compute the reference's numbers, forward and backward, and refuse what cannot be drawn."""

import numpy as np
import pytest

from rnnlab import reference
from rnnlab.cells import find_cell, modes
from rnnlab.compare import relative_error
from rnnlab.graphs.cells import EQUATIONS, network_gradients, sequence_graph, step_graph, wire_values
from rnnlab.graphs.graph import Graph, Node, Sketch, relu, run, sigmoid, tanh
from rnnlab.graphs.mirror import gradients, mirror
from rnnlab.graphs.rules import RULES
from rnnlab.network import Network

B, I, H = 2, 3, 4
NETWORKS = [(cell, "after") for cell in modes()] + [("gru", "before")]


def one_node(draw, **inputs):
    """A graph whose only node is drawn by `draw`, with an output y (or y0, y1 … for a split)."""
    g = Sketch(**inputs)
    output = draw(g)
    output = output if isinstance(output, tuple) else (output,)
    names = [f"y{k}" for k in range(len(output))]
    for name, wire in zip(names, output, strict=True):
        g[name] = wire
    return g.graph(*names)


RULE_CASES = {
    "sum": one_node(lambda g: g.a + g.b, a=(2, 3), b=(2, 3)),
    "copy": one_node(lambda g: (tanh(g.a), sigmoid(g.a)), a=(2, 3)),
    "times": one_node(lambda g: g.a * g.b, a=(2, 3), b=(2, 3)),
    "square": one_node(lambda g: g.a * g.a, a=(2, 3)),
    "product NN": one_node(lambda g: g.a @ g.b, a=(2, 3), b=(3, 4)),
    "product NT": one_node(lambda g: g.a @ g.b.T, a=(2, 3), b=(4, 3)),
    "product TN": one_node(lambda g: g.a.T @ g.b, a=(3, 2), b=(3, 4)),
    "product TT": one_node(lambda g: g.a.T @ g.b.T, a=(3, 2), b=(4, 3)),
    "product_add": one_node(
        lambda g: g.add("product_add", g.a, g.b, g.c, flags=(False, True)), a=(2, 3), b=(4, 3), c=(2, 4)
    ),
    "bias": one_node(lambda g: g.a + g.b, a=(2, 3), b=(3,)),
    "one_minus": one_node(lambda g: 1 - g.a, a=(2, 3)),
    "tanh": one_node(lambda g: tanh(g.a), a=(2, 3)),
    "sigmoid": one_node(lambda g: sigmoid(g.a), a=(2, 3)),
    "relu": one_node(lambda g: relu(g.a), a=(2, 3)),
    "stack": one_node(lambda g: g.add("stack", g.a, g.b, flags=(0,)), a=(2, 3), b=(1, 3)),
    "split": one_node(lambda g: g.add("split", g.a, flags=(1, (1, 2)), names=("left", "right")), a=(2, 3)),
}


@pytest.mark.parametrize("case", RULE_CASES)
def test_a_rule_sends_back_the_slope(case):
    graph = RULE_CASES[case]
    rng = np.random.default_rng(0)
    values = {wire: rng.normal(size=shape) for wire, shape in graph.inputs.items()}
    d = {wire: rng.normal(size=graph.shapes[wire]) for wire in graph.outputs}
    got = gradients(graph, values, d)
    for wire in graph.inputs:
        loss = lambda v, wire=wire: sum((run(graph, values | {wire: v})[o] * d[o]).sum() for o in d)
        assert relative_error(got[wire], reference.numerical_gradient(loss, values[wire])) < 1e-8


def test_every_rule_with_a_reverse_is_held_by_a_slope():
    drawn = {node.op for graph in RULE_CASES.values() for node in graph.nodes}
    assert drawn == {op for op, rule in RULES.items() if rule.reverse}


@pytest.mark.parametrize(
    ("case", "needed"),
    [
        ("sum", ()), ("bias", ()), ("one_minus", ()), ("stack", ()), ("split", ()),
        ("times", ("a", "b")), ("product NT", ("a", "b")), ("tanh", ("y0",)), ("relu", ("y0",)),
    ],
)  # fmt: skip
def test_a_rule_needs_what_the_published_table_says(case, needed):
    assert mirror(RULE_CASES[case]).needed(RULE_CASES[case]) == needed


def problem(cell, reset, T):
    network = Network.create(cell, I, H, reset=reset, dtype="float64", gain=1.5, seed=T)
    rng = np.random.default_rng(T)
    state = tuple(rng.normal(size=(1, B, H)) for _ in find_cell(cell).states)
    return network, rng.normal(size=(T, B, I)), state, rng.normal(size=(T, B, H))


@pytest.mark.parametrize("T", [1, 4])
@pytest.mark.parametrize(("cell", "reset"), NETWORKS)
def test_an_unrolled_graph_gives_the_reference_forward_and_backward(cell, reset, T):
    network, x, state, dy = problem(cell, reset, T)
    graph = sequence_graph(network.properties.name, T, B, I, H)
    values = wire_values(network, x, state)
    y, final, saved = reference.forward(network, x, state)
    wires = run(graph, values)
    assert relative_error(np.stack([wires[f"h{t}"] for t in range(1, T + 1)]), y) < 1e-14

    rng = np.random.default_rng(1)
    dfinal = tuple(rng.normal(size=part.shape) for part in final)
    d = {f"h{t + 1}": dy[t] for t in range(T)}
    d[f"h{T}"] = d[f"h{T}"] + dfinal[0][0]
    d |= {f"c{T}": part[0] for part in dfinal[1:]}
    got = gradients(graph, values, d)
    dx, dfirst, want = reference.backward(network, saved, dy, dfinal)
    assert relative_error(np.stack([got[f"x{t}"] for t in range(1, T + 1)]), dx) < 1e-13
    for name, part in zip(find_cell(cell).states, dfirst, strict=True):
        assert relative_error(got[f"{name}0"], part[0]) < 1e-13
    ours = network_gradients(network, got)
    assert max(relative_error(ours[name], want[name]) for name in want) < 1e-13


@pytest.mark.parametrize("cell", EQUATIONS)
def test_one_step_is_a_sequence_of_one(cell):
    one, many = step_graph(cell, B, I, H), sequence_graph(cell, 1, B, I, H)
    assert sorted(node.op for node in one.nodes) == sorted(node.op for node in many.nodes)
    assert one.gemms() == many.gemms()
    assert one.flops() == many.flops()


def test_flops_are_those_of_the_field():
    graph = step_graph("lstm", B, I, H)
    products = 2 * B * 4 * H * (I + H)
    pointwise = B * H * (4 * 3 + 3 + 2)  # 4 gates: sum, bias, function; c: 2 products, sum; h: tanh, product
    assert graph.flops() == products + pointwise


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda g: g.a @ g.a, r"'a' \(2, 3\) and 'a' \(2, 3\) do not fit into 'product': the inner sizes"),
        (lambda g: g.a * g.b, r"'a' \(2, 3\) and 'b' \(3, 3\) do not fit into 'times'"),
        (lambda g: g.b + g.c, r"'b' \(3, 3\) and 'c' \(2,\) do not fit into 'bias': the bias has one number"),
        (lambda g: 2 - g.a, "2 - a: the only constant"),
    ],
)  # fmt: skip
def test_wires_that_do_not_fit_are_named(draw, message):
    with pytest.raises(ValueError, match=message):
        draw(Sketch(a=(2, 3), b=(3, 3), c=(2,)))


def test_a_wire_nobody_reads_is_named():
    g = Sketch(a=(2, 3))
    g.used, g.lost = tanh(g.a), sigmoid(g.a)
    with pytest.raises(ValueError, match=r"'lost'.*'sigmoid'"):
        g.graph("used")


def test_a_circle_is_named():
    nodes = (Node("tanh", ("b",), ("a",)), Node("tanh", ("a",), ("b",)))
    with pytest.raises(ValueError, match=r"\w → \w → \w"):
        Graph({}, ("a",), nodes)


def test_a_wire_made_twice_or_never_is_named():
    with pytest.raises(ValueError, match="'y'"):
        Graph({"x": (1, 1)}, ("y",), (Node("tanh", ("x",), ("y",)), Node("relu", ("x",), ("y",))))
    with pytest.raises(ValueError, match=r"'h'.*'tanh'"):
        Graph({"x": (1, 1)}, ("y",), (Node("tanh", ("h",), ("y",)),))
    with pytest.raises(ValueError, match="'y'"):
        Graph({"x": (1, 1)}, ("y",), ())
    g = Sketch(a=(2, 3))
    g.h = tanh(g.a)
    with pytest.raises(ValueError, match="'h'"):
        g.h = relu(g.a)


def test_a_value_of_the_wrong_shape_and_a_missing_value_are_named():
    graph = step_graph("rnn_tanh", B, I, H)
    with pytest.raises(ValueError, match=r"'x'.*\(2, 3\)"):
        run(graph, {})
    with pytest.raises(ValueError, match=r"'x'.*\(3, 2\).*\(2, 3\)"):
        run(graph, {"x": np.zeros((3, 2))})


def test_an_input_that_reaches_no_output_has_no_gradient_wire():
    g = Sketch(a=(2, 3), b=(2, 3))
    g.y = tanh(g.a)
    with pytest.raises(ValueError, match="'b'"):
        mirror(g.graph("y"))


def test_a_cell_that_is_not_drawn_is_named():
    with pytest.raises(ValueError, match=r"'gru'.*rnn_tanh"):
        step_graph("gru", B, I, H)
