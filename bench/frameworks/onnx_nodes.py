"""All node tests of the package onnx for RNN, GRU and LSTM, run through networks."""

import contextlib
import io
import warnings

import numpy as np

from rnnlab import reference
from rnnlab.network import Network

OPERATORS = ("RNN", "GRU", "LSTM")


def node_tests() -> dict:
    """{name: (node, {its input's name: array}, outputs in the node's order)}"""
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        cases = collect_testcases(None)
    tests = {}
    for case in cases:
        node = case.model.graph.node[0]
        if node.op_type in OPERATORS:
            inputs, outputs = case.data_sets[0]
            names = [name for name in node.input if name]
            tests[case.name] = (node, dict(zip(names, inputs, strict=True)), outputs)
    return tests


def outputs_of(node: object, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """What the node's outputs must be, from one network for each direction.  ValueError if there is none."""
    settings = {a.name: a for a in node.attribute}
    direction = settings["direction"].s.decode() if "direction" in settings else "forward"
    turns = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[direction]
    batch_first = "layout" in settings and settings["layout"].i == 1
    x = arrays["X"].swapaxes(0, 1) if batch_first else arrays["X"]
    ys, lasts = [], []
    for turn in turns:
        reverse = turn if direction != "forward" else None
        network = Network.from_onnx(node, arrays, reverse=reverse)
        y, state, _ = reference.forward(network, np.ascontiguousarray(x[::-1] if turn else x))
        ys.append(y[::-1] if turn else y)
        lasts.append([part[0] for part in state])
    y = np.stack(ys, 1)
    finals = [np.stack(parts) for parts in zip(*lasts, strict=True)]
    if batch_first:
        y = y.transpose(2, 0, 1, 3)
        finals = [last.swapaxes(0, 1) for last in finals]
    named = [y, *finals]
    return [array for name, array in zip(node.output, named, strict=False) if name]


def run() -> tuple[dict[str, float], dict[str, str]]:
    """{name: largest difference} of tests that networks express, and {name: why not} of the others."""
    differences, refused = {}, {}
    for name, (node, arrays, outputs) in node_tests().items():
        try:
            got = outputs_of(node, arrays)
        except ValueError as reason:
            refused[name] = str(reason)
            continue
        pairs = zip(got, outputs, strict=True)
        differences[name] = max(
            float(np.abs(a - b).max()) if a.shape == b.shape else np.inf for a, b in pairs
        )
    return differences, refused
