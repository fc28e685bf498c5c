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
        layers = [1 + max((layers[source] for source in sources[node]), default=-1) for node in range(size)]
    for node in range(size):
        if not sources[node]:
            layers[node] = min((layers[end] for end in readers[node]), default=1) - 1
    return layers


def arrange_rows(layers: list[int], edges: Edges) -> list[float]:
    """The row of each node, from 0; edges join neighbouring layers."""
    nodes = [[node for node, layer in enumerate(layers) if layer == k] for k in range(max(layers) + 1)]
    sides = defaultdict(list), defaultdict(list)  # neighbours in the layer before, and in the one behind
    for start, end in edges:
        sides[0][end].append(start)
        sides[1][start].append(end)
    both = {node: sides[0][node] + sides[1][node] for node in range(len(layers))}
    rows = np.zeros(len(layers))
    for members in nodes:
        rows[members] = range(len(members))
    fewest = float("inf")
    best = rows
    for sweep in range(SWEEPS):
        neighbours = both if sweep % 3 == 2 else sides[sweep % 3]
        for members in nodes[:: -1 if sweep % 3 == 1 else 1]:
            wanted = [rows[neighbours[node]].mean() if neighbours[node] else rows[node] for node in members]
            order = np.argsort(wanted, kind="stable")
            rows[np.array(members, int)[order]] = spread(np.array(wanted)[order])
        if sweep % 3 == 2 and (crossings := count_crossings(layers, rows, edges)) < fewest:
            fewest = crossings
            best = rows.copy()
    return (best - best.min()).tolist()


def spread(wanted: np.ndarray) -> np.ndarray:
    """Rows [n] in this order, at least 1 apart, with the least squared distance from the wanted ones."""
    groups: list[list[float]] = []  # mean and size of what stands together (pool adjacent violators)
    for place, row in enumerate(wanted):
        groups.append([row - place, 1])
        while len(groups) > 1 and groups[-2][0] > groups[-1][0]:
            mean, size = groups.pop()
            mean_before, size_before = groups.pop()
            total = size_before + size
            groups.append([(mean_before * size_before + mean * size) / total, total])
    return np.repeat([mean for mean, _ in groups], [size for _, size in groups]) + np.arange(len(wanted))


def count_crossings(layers: list[int], rows: np.ndarray, edges: Edges) -> int:
    """Pairs of edges between the same two layers that cross."""
    crossings = 0
    for (a, b), (c, d) in combinations(edges, 2):
        if layers[a] == layers[c] and (rows[a] - rows[c]) * (rows[b] - rows[d]) < 0:
            crossings += 1
    return crossings
