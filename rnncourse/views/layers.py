"""Places for the nodes of a graph in layers from left to right, after Sugiyama, Tagawa and Toda (1981).

A node stands behind all that it reads; the rows of a layer are ordered, sweep after sweep, by the mean row of
the neighbours, and the order with the fewest crossings is kept.  In Python, because libraries for it are
compiled, and a browser has none of them.
"""

from collections import defaultdict
from itertools import combinations

import numpy as np

Edges = list[tuple[int, int]]
SWEEPS = 60


def choose_layers(size: int, edges: Edges) -> list[int]:
    """The layer of each of `size` nodes: behind all it reads; inputs stand just before their first reader."""
    readers = defaultdict(list)
    sources = defaultdict(list)
    for start, end in edges:
        readers[start].append(end)
        sources[end].append(start)
    layers = [0] * size
    for _ in range(size):  # the longest path into a node has at most `size` edges
        before = layers
        layers = []
        for node in range(size):
            last_source = max((before[source] for source in sources[node]), default=-1)
            layers.append(last_source + 1)
    for node in range(size):
        if not sources[node]:
            first_reader = min((layers[end] for end in readers[node]), default=1)
            layers[node] = first_reader - 1
    return layers


def arrange_rows(layers: list[int], edges: Edges) -> list[float]:
    """The row of each node, from 0; edges join neighbouring layers."""
    rows = np.zeros(len(layers))
    nodes = []  # of each layer
    for k in range(max(layers) + 1):
        members = np.flatnonzero(np.equal(layers, k))
        rows[members] = range(len(members))
        nodes.append(members)
    before = defaultdict(list)  # neighbours in the layer before, and in the one after
    after = defaultdict(list)
    for start, end in edges:
        before[end].append(start)
        after[start].append(end)
    both = {}
    for node in range(len(layers)):
        both[node] = before[node] + after[node]
    fewest = float("inf")
    best = rows
    for _ in range(SWEEPS // 3):
        _sweep(rows, nodes, before)
        _sweep(rows, nodes[::-1], after)
        _sweep(rows, nodes, both)
        crossings = count_crossings(layers, rows, edges)
        if crossings < fewest:
            fewest = crossings
            best = rows.copy()
    return (best - best.min()).tolist()


def _sweep(rows: np.ndarray, nodes: list[np.ndarray], neighbours: dict[int, list[int]]) -> None:
    """Moves the nodes of one layer after the other to the mean row of their neighbours."""
    for members in nodes:
        wanted = rows[members]
        for place, node in enumerate(members):
            if neighbours[node]:
                wanted[place] = rows[neighbours[node]].mean()
        order = np.argsort(wanted, kind="stable")
        rows[members[order]] = spread(wanted[order])


def spread(wanted: np.ndarray) -> np.ndarray:
    """Rows [n] in this order, at least 1 apart, with the least squared distance from the wanted ones."""
    groups: list[list[float]] = []  # mean and size of what stands together (pool adjacent violators)
    for place, row in enumerate(wanted):
        groups.append([row - place, 1])
        while len(groups) > 1 and groups[-2][0] > groups[-1][0]:
            mean, size = groups.pop()
            mean_before, size_before = groups.pop()
            total = size_before + size
            joint_mean = (mean_before * size_before + mean * size) / total
            groups.append([joint_mean, total])
    means, sizes = zip(*groups, strict=True)
    return np.repeat(means, sizes) + np.arange(len(wanted))


def count_crossings(layers: list[int], rows: np.ndarray, edges: Edges) -> int:
    """Pairs of edges between the same two layers that cross."""
    crossings = 0
    for (a, b), (c, d) in combinations(edges, 2):
        if layers[a] == layers[c]:
            start_distance = rows[a] - rows[c]
            end_distance = rows[b] - rows[d]
            if start_distance * end_distance < 0:
                crossings += 1
    return crossings
