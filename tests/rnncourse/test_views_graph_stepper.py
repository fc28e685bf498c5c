"""The stepper lights each node once forward and once in reverse, and tells what the engine computes."""

import re

import pytest

from rnncourse.figures.picture import PALETTE
from rnncourse.views.graph_stepper import (
    CELLS,
    CHANGES,
    LONGEST,
    counts,
    explore_graph,
    figure_graph,
    finding,
    run_step,
)
from rnnlab.graphs.cells import step_graph
from rnnlab.graphs.mirror import gradients

ALL = dict.fromkeys(CHANGES, True)
LIT = f'fill="{PALETTE["yellow"]}"'


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("switches", [{}, ALL])
def test_every_node_is_lit_once_forward_and_once_in_reverse_and_then_none(cell, switches):
    nodes = run_step(cell, *switches).graph.count()
    lit = [
        re.search(r"Highlighted: .*?\.(?= )", figure_graph(cell, move, **switches).alt)
        for move in range(LONGEST + 1)
    ]
    turns = [result[0] for result in lit if result]
    assert len(turns) == len(set(turns)) == 2 * nodes <= LONGEST
    assert [turn.endswith("forward.") for turn in turns] == [True] * nodes + [False] * nodes


def test_one_node_is_lit_in_both_graphs_and_none_at_the_start():
    assert figure_graph("lstm", 7).html.count(LIT) == 2
    assert LIT not in figure_graph("lstm", 0).html


@pytest.mark.parametrize("cell", CELLS)
def test_the_values_told_are_those_of_the_graph(cell):
    step, graph = run_step(cell), step_graph(cell, 2, 3, 4)
    inputs = {wire: step.values[wire] for wire in graph.inputs}
    d = {wire: step.values[step.reverse.gradient[wire]] for wire in graph.outputs}
    # a gradient of an output that the graph still reads is the whole one, not the one that arrived
    if cell != "lstm":
        want = gradients(graph, inputs, d)
        assert all((step.values[step.reverse.gradient[wire]] == want[wire]).all() for wire in inputs)
    text = finding(cell, graph.count())
    output = step.values[graph.nodes[-1].outputs[0]]
    assert f"= {output.flat[0]:.2f} …" in text
    assert f"[{','.join(map(str, output.shape))}]" in text


def test_the_counts_are_the_published_ones():
    gemms = lambda cell, *changes: counts(cell, *changes, T=10)[0]
    assert gemms("gru_before") == 6 * 10
    assert gemms("gru_before", "gates", "time") == 1 + 2 * 10
    assert gemms("gru_before", "gates", "time", "move_reset") == 1 + 10
    assert (gemms("lstm"), gemms("lstm", "gates", "time")) == (8 * 10, 1 + 10)
    assert counts("gru_before", "add_in_gemm")[1] < counts("gru_before")[1]


def test_the_line_says_what_a_node_needs_and_that_a_sum_needs_nothing():
    graph = run_step("rnn_tanh").graph
    lines = {node.op: finding("rnn_tanh", 2 * graph.count() - k) for k, node in enumerate(graph.nodes)}
    assert "needs h_next" in lines["tanh"]
    assert "needs nothing saved" in lines["sum"]
    assert "Nothing is highlighted" in finding("rnn_tanh", 0)


def test_without_a_kernel_the_stepper_stands_still_and_says_what_it_shows():
    view = explore_graph()
    assert view.box is None
    assert "matrix products" in str(view)
    assert "<svg" in view._repr_mimebundle_()["text/html"]


@pytest.mark.usefixtures("in_a_kernel")
def test_switches_and_sliders_change_the_picture_and_the_line():
    pytest.importorskip("ipywidgets")
    page, line, cell, move, gates, *_ = explore_graph().box.children
    assert "60 GEMM calls" in line.value
    before = page.value
    gates.value = True
    assert "30 GEMM calls" in line.value
    assert page.value != before
    cell.value = "lstm"
    move.children[0].value = 0
    assert "Nothing is highlighted" in line.value
