"""Drawings say what they show, place every node once, and mark what the reverse pass needs."""

import re
from xml.etree import ElementTree

import pytest
from values_in import holds

pytest.importorskip("igraph", reason="install igraph: make lab")

from rnncourse.views.graph_drawing import draw, draw_mirror, layout, needs, side_by_side
from rnnlab.graphs.cells import EQUATIONS, step_graph
from rnnlab.graphs.mirror import mirror

SIZES = 2, 3, 4
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("cell", EQUATIONS)
def test_every_node_and_every_end_has_a_place_of_its_own(cell):
    graph = step_graph(cell, *SIZES)
    places = layout(graph)
    assert len(places) == len(graph.inputs) + len(graph.nodes) + len(graph.outputs)
    assert len(set(places.values())) == len(places)


@pytest.mark.parametrize("cell", EQUATIONS)
def test_wires_run_from_left_to_right(cell):
    graph = step_graph(cell, *SIZES)
    places = layout(graph)
    for node in graph.nodes:
        for wire in node.inputs:
            maker = graph.maker(wire)
            assert places[maker.outputs[0] if maker else wire][0] < places[node.outputs[0]][0]


def test_dashed_wires_are_those_the_mirror_reads():
    graph = step_graph("gru_after", *SIZES)
    page = ElementTree.fromstring(draw(graph).html)
    dashed = sum("stroke-dasharray" in path.attrib for path in page.iter(f"{SVG}path"))
    red = mirror(graph).needed(graph)
    pieces = sum(wire in red for node in graph.nodes for wire in node.inputs) + sum(
        w in red for w in graph.outputs
    )
    assert dashed == pieces > 0


def test_a_node_of_the_mirror_is_tagged_with_the_values_its_rule_reads():
    graph = step_graph("lstm", *SIZES)
    tanh = next(node for node in graph.nodes if node.op == "tanh" and node.outputs == ("g",))
    times = next(node for node in graph.nodes if node.op == "times" and "f" in node.inputs)
    bias = next(node for node in graph.nodes if node.op == "bias")
    assert (needs(graph, tanh), needs(graph, times), needs(graph, bias)) == (("g",), ("f", "c"), ())
    assert "f, c" in draw_mirror(graph).html


def test_the_text_alternative_tells_counts_and_what_must_be_saved():
    graph = step_graph("gru_after", *SIZES)
    picture = side_by_side(graph)
    assert holds(picture.alt, "21", "6")
    assert re.search(r"the reverse pass needs .*\br, z, 1-z, n\b", picture.alt)
    assert str(picture) == picture.alt
    for svg in (draw(graph).html, draw_mirror(graph).html):
        page = ElementTree.fromstring(svg)
        assert page.attrib["role"] == "img"
        assert len(page.attrib["aria-label"]) > 40


def test_one_node_can_be_lit():
    graph = step_graph("rnn_tanh", *SIZES)
    fills = lambda svg: [circle.attrib["fill"] for circle in ElementTree.fromstring(svg).iter(f"{SVG}circle")]
    assert len(set(fills(draw(graph).html))) == 1
    lit = fills(draw(graph, mark="h_next").html)
    assert sorted(map(lit.count, set(lit))) == [1, len(graph.nodes) - 1]
