"""Drawings say what they show, place every node once, and mark what the backward pass needs."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from values_in import holds

from rnncourse.views.graph_drawing import HEAD_PX, RADIUS_PX, _arrange, draw, draw_mirror, needs, side_by_side
from rnnlab.graphs.cells import EQUATIONS, step_graph
from rnnlab.graphs.mirror import mirror

SIZES = 2, 3, 4
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("cell", EQUATIONS)
def test_every_node_and_every_end_has_a_place_of_its_own(cell):
    graph = step_graph(cell, *SIZES)
    places, _ = _arrange(graph)
    assert len(places) == len(graph.inputs) + len(graph.nodes) + len(graph.outputs)
    assert len(set(places.values())) == len(places)


@pytest.mark.parametrize("cell", EQUATIONS)
def test_wires_run_from_left_to_right(cell):
    graph = step_graph(cell, *SIZES)
    places, _ = _arrange(graph)
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
    assert re.search(r"the backward pass needs .*\br, z, 1-z, n\b", picture.alt)
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


def points_of(path):
    """Points [n,2] along the path of a wire: 20 of each Bézier curve."""
    numbers = np.array(re.findall(r"-?\d+", path.attrib["d"]), float).reshape(-1, 2)
    s = np.linspace(0, 1, 20)[:, np.newaxis]
    curve = lambda a, b, c, d: (1 - s) ** 3 * a + 3 * (1 - s) ** 2 * s * b + 3 * (1 - s) * s**2 * c + s**3 * d
    return np.concatenate([curve(*numbers[k : k + 4]) for k in range(0, len(numbers) - 1, 3)])


@pytest.mark.parametrize("picture", [draw, draw_mirror])
@pytest.mark.parametrize("cell", EQUATIONS)
def test_a_wire_goes_around_the_nodes_that_it_does_not_end_at(cell, picture):
    graph = step_graph(cell, *SIZES)
    page = ElementTree.fromstring(picture(graph).html)
    circles = np.array([[float(c.attrib[k]) for k in ("cx", "cy")] for c in page.iter(f"{SVG}circle")])
    for path in page.iter(f"{SVG}path"):
        points = points_of(path)
        ends = points[[0, -1]]
        others = [c for c in circles if np.linalg.norm(ends - c, axis=1).min() > RADIUS_PX + HEAD_PX + 1]
        for circle in others:
            assert np.linalg.norm(points - circle, axis=1).min() > RADIUS_PX


@pytest.mark.parametrize(("picture", "way"), [(draw, 1), (draw_mirror, -1)])
def test_an_arrowhead_at_each_wire_points_the_way_that_numbers_go(picture, way):
    page = ElementTree.fromstring(picture(step_graph("gru_before", *SIZES)).html)
    heads = [
        np.array(re.findall(r"[\d.]+", head.attrib["points"]), float) for head in page.iter(f"{SVG}polygon")
    ]
    assert len(heads) == len(list(page.iter(f"{SVG}path")))
    assert {float(np.sign(head[0] - head[2])) for head in heads} == {way}  # tip minus tail
