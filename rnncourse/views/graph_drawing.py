"""Graphs as pictures (SVG): the forward graph, and beside it its mirror with every arrow reversed.

The mirror keeps every node in its place, so the two can be read side by side.  A value the backward pass
needs is red and dashed in the forward picture, and a red tag at the node that uses it in the reverse one;
green, solid wires need nothing.  layers.py places the nodes.
"""

import re
from collections.abc import Collection
from html import escape
from itertools import pairwise

from rnncourse.figures.picture import PALETTE, Page
from rnncourse.views.layers import arrange_rows, choose_layers
from rnnlab.graphs.graph import Graph, Node
from rnnlab.graphs.mirror import mirror

LAYER_PX = 84
ROW_PX = 52
RADIUS_PX = 15
MARGIN_PX = 46
HEAD_PX = 9
INK = "#222222"
PAPER = "#FFFFFF"
SYMBOLS = {
    "product": "×", "product_add": "×+", "sum": "+", "bias": "+b", "times": "∘", "tanh": "tanh",
    "sigmoid": "σ", "relu": "relu", "one_minus": "1−", "stack": "[ ]", "split": "split",
}  # fmt: skip
NAMED = re.compile(r"[A-Za-z0-9_]+")  # by the author of the cell, not after its own expression
REVERSED = {
    "product": "×ᵀ", "product_add": "×ᵀ", "sum": "copy", "bias": "Σb", "times": "∘", "tanh": "tanh′",
    "sigmoid": "σ′", "relu": "relu′", "one_minus": "−", "stack": "split", "split": "[ ]",
}  # fmt: skip


def draw(graph: Graph, mark: str | None = None) -> Page:
    """The forward graph; wires its mirror needs are marked, the node that makes wire `mark` is filled."""
    red = mirror(graph).needed(graph)
    inner = [wire for wire in red if wire not in graph.inputs]
    saved = ", ".join(inner) or "nothing"
    nodes = len(graph.nodes)
    alt = (
        f"Forward graph: {nodes} nodes, {graph.gemms()} of them matrix products. "
        f"Besides its inputs, the backward pass needs {saved}."
    )
    return _picture(graph, alt, mark, SYMBOLS, red)


def draw_mirror(graph: Graph, mark: str | None = None) -> Page:
    """The same picture read backwards: gradients flow from the outputs, tags say what a node needs."""
    reverse = mirror(graph).graph
    nodes = len(reverse.nodes)
    alt = (
        f"Backward graph in the places of the forward one: {nodes} nodes, "
        f"{reverse.gemms()} of them matrix products; arrows point from outputs to inputs."
    )
    return _picture(graph, alt, mark, REVERSED, (), prefix="d", way=-1)


def _picture(
    graph: Graph,
    alt: str,
    mark: str | None,
    symbols: dict,
    red: Collection[str],
    prefix: str = "",
    way: int = 1,
) -> Page:
    """Wires in that way, below nodes and ends, whose names begin with the prefix; `red` wires are dashed."""
    places, routes = _arrange(graph)
    labels = {}
    for wire, key in _ends(graph):
        is_red = wire in red
        labels[key] = (prefix + wire, is_red)
    parts = []
    for (wire, reader), route in zip(_edges(graph), routes, strict=True):
        end = reader if way > 0 else _source(graph, wire)
        half_px = RADIUS_PX
        if end in labels:
            name, _ = labels[end]
            half_px = _half_px(name)
        parts.append(_wire(route[::way], wire in red, half_px))
    for node in graph.nodes:
        name = _key(node)
        x, y = places[name]
        symbol = symbols[node.op]
        parts.append(_circle(x, y, symbol, prefix + name, name == mark))
        saved = ", ".join(needs(graph, node)) if way < 0 else ""
        if saved:
            baseline = y + RADIUS_PX + 13
            parts.append(_text(x, baseline, saved, 11, colour=PALETTE["red"], on_wires=True))
    for key, (name, is_red) in labels.items():
        x, y = places[key]
        parts.append(_box(x, y, name, is_red))
    svg = _svg(places, alt, parts)
    return Page(svg, alt)


def needs(graph: Graph, node: Node) -> tuple[str, ...]:
    """The forward wires that this one node's reverse rule reads."""
    inputs = {wire: graph.shapes[wire] for wire in node.inputs}
    alone = Graph(inputs, node.outputs, (node,))
    return mirror(alone).needed(alone)


def _arrange(graph: Graph) -> tuple[dict, list[list[tuple[float, float]]]]:
    """(places, for each piece of wire the points that it goes through, in the order of `_edges`).

    Places: (x, y) in pixels of every input (by wire), node (by its first output), output (by ("out", wire)).
    A wire that passes layers gets a place of its own in each of them, so that it goes around their nodes.
    """
    outputs = [("out", wire) for wire in graph.outputs]
    keys = [*graph.inputs, *map(_key, graph.nodes), *outputs]
    number = {key: k for k, key in enumerate(keys)}
    edges = []
    for wire, reader in _edges(graph):
        source = _source(graph, wire)
        edges.append((number[source], number[reader]))
    layers = choose_layers(len(keys), edges)
    routes = []
    pieces = []
    for start, end in edges:
        between = range(layers[start] + 1, layers[end])
        passing = range(len(layers), len(layers) + len(between))  # numbers of new places
        route = [start, *passing, end]
        routes.append(route)
        pieces += pairwise(route)
        layers += between
    points = []
    for layer, row in zip(layers, arrange_rows(layers, pieces), strict=True):
        x = MARGIN_PX + LAYER_PX * layer
        y = MARGIN_PX + ROW_PX * row
        points.append((x, y))
    places = dict(zip(keys, points, strict=False))
    return places, [[points[k] for k in route] for route in routes]


def side_by_side(graph: Graph, mark: str | None = None) -> Page:
    """Forward and reverse graph, each under its title, with the legend."""
    forward = draw(graph, mark)
    backward = draw_mirror(graph, mark)

    def title(text):
        return f'<div style="font-weight:bold;margin:4px">{text}</div>'

    def line(colour, dashes):
        return f'<span style="color:{PALETTE[colour]}">{dashes}</span>'

    unsaved = line("green", "━━━")
    saved = line("red", "╍╍╍")
    legend = (
        f'<div style="margin:4px">{unsaved} nothing to save &nbsp; '
        f"{saved} the backward pass needs this value</div>"
    )
    above = title("Forward →") + forward.html
    below = title("← Backward") + backward.html
    style = f"background:{PAPER};color:{INK};padding:6px;border-radius:4px"
    page = f'<div style="{style}">{above}{below}{legend}</div>'
    return Page(page, f"{forward.alt} {backward.alt}")


def _key(node: Node) -> str:
    return node.outputs[0]


def _edges(graph: Graph):
    """(wire, key of the place that reads it) of every piece of wire."""
    for node in graph.nodes:
        for wire in node.inputs:
            yield wire, _key(node)
    for wire in graph.outputs:
        yield wire, ("out", wire)


def _ends(graph: Graph):
    yield from ((wire, wire) for wire in graph.inputs)
    yield from ((wire, ("out", wire)) for wire in graph.outputs)


def _source(graph: Graph, wire: str) -> str:
    maker = graph.maker(wire)
    return _key(maker) if maker else wire


def _wire(route: list[tuple[float, float]], needed: bool, end_px: float) -> str:
    """A wire through the points of its route, with an arrowhead where the last one's figure begins."""
    colour = PALETTE["red"] if needed else PALETTE["green"]
    dash = ' stroke-dasharray="7 4"' if needed else ""
    (x0, y0), *_, (x, y) = route
    way = 1 if x > x0 else -1
    tip = x - way * end_px
    tail = tip - way * HEAD_PX
    upper = y - HEAD_PX / 2
    lower = y + HEAD_PX / 2
    wings = f"{tail:.0f},{upper:.1f} {tail:.0f},{lower:.1f}"
    head = f"{tip:.0f},{y:.0f} {wings}"
    path = f"M{x0:.0f} {y0:.0f}"
    corners = [*route[:-1], (tail, y)]
    for (x1, y1), (x2, y2) in pairwise(corners):
        middle = (x1 + x2) / 2
        leaving = f"{middle:.0f} {y1:.0f}"
        arriving = f"{middle:.0f} {y2:.0f}"
        path += f" C{leaving} {arriving} {x2:.0f} {y2:.0f}"
    line = f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2.2"{dash}/>'
    return f'{line}<polygon points="{head}" fill="{colour}"/>'


def _circle(x: float, y: float, symbol: str, wire: str, mark: bool) -> str:
    fill = PALETTE["yellow"] if mark else PAPER
    circle = f'<circle cx="{x:.0f}" cy="{y:.0f}" r="{RADIUS_PX}" fill="{fill}" stroke="{INK}"/>'
    name = ""
    if NAMED.fullmatch(wire):
        baseline = y - RADIUS_PX - 4
        name = _text(x, baseline, wire, 12, bold=True, on_wires=True)
    size = 17 if len(symbol) == 1 else 11
    letters = _text(x, y + size / 3, symbol, size)
    return f"<g><title>{escape(wire)}</title>{circle}{letters}{name}</g>"


def _box(x: float, y: float, label: str, needed: bool) -> str:
    half = _half_px(label)
    edge = f'stroke="{INK}"'
    if needed:
        edge = f'stroke="{PALETTE["red"]}" stroke-dasharray="4 2"'
    corner = f'x="{x - half:.0f}" y="{y - 11:.0f}"'
    size = f'width="{2 * half:.0f}" height="22" rx="4"'
    box = f'<rect {corner} {size} fill="#F3F3F3" {edge}/>'
    return box + _text(x, y + 4, label, 12)


def _half_px(label: str) -> float:
    """Half of the width of an end's box."""
    return max(20, 4 * len(label) + 6)


def _text(
    x: float, y: float, text: str, size: int, colour: str = INK, bold: bool = False, on_wires: bool = False
) -> str:
    weight = ' font-weight="bold"' if bold else ""
    # a halo of paper, for a wire that passes behind
    halo = f' stroke="{PAPER}" stroke-width="3" paint-order="stroke"' if on_wires else ""
    place = f'x="{x:.0f}" y="{y:.0f}" font-size="{size}" text-anchor="middle"'
    return f'<text {place} fill="{colour}"{weight}{halo}>{escape(text)}</text>'


def _svg(places: dict, alt: str, parts: list[str]) -> str:
    xs, ys = zip(*places.values(), strict=True)
    width = max(xs) + MARGIN_PX
    height = max(ys) + MARGIN_PX
    frame = f'viewBox="0 0 {width:.0f} {height:.0f}" style="max-width:100%;width:{width:.0f}px"'
    label = f'role="img" aria-label="{escape(alt)}" font-family="sans-serif"'
    card = f'<rect width="{width:.0f}" height="{height:.0f}" rx="6" fill="{PAPER}"/>'  # on a dark page, too
    contents = "".join(parts)
    return f'<svg xmlns="http://www.w3.org/2000/svg" {label} {frame}>{card}{contents}</svg>'
