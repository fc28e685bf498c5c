"""What is held of a case: outputs, gradients and a way back that changes no bit."""

import numpy as np

from bench.frameworks.distributions import Case
from rnnlab import exchange, reference
from rnnlab.compare import relative_error
from rnnlab.network import Network

OUTPUT = 2e-6  # times √T, float32 on both sides: rnnlab/compare.py
GRADIENT = 1e-5
READ = {"linen": "from_flax", "nnx": "from_flax"}


def network_of(case: Case, source: dict | None = None) -> Network:
    """The case's network, read from its layer or from these arrays alone."""
    read = getattr(Network, READ.get(case.framework, f"from_{case.framework}"))
    if source is None and case.framework != "linen":
        return read(case.source)
    return read(case.source if source is None else source, cell=case.cell, reset=case.reset)


def errors(case: Case, network: Network) -> tuple[float, float]:
    """Relative errors of y and of the worst gradient, the network's results in float64."""
    exact = network.astype("float64")
    y, _, saved = reference.forward(exact, case.x.astype("float64"))
    dx, _, gradients = reference.backward(exact, saved, case.dy.astype("float64"))
    worst = 0.0
    if case.gradients is not None:
        theirs = network_of(case, case.gradients).parameters
        worst = relative_error(case.dx, dx)
        for name, gradient in gradients.items():
            rows = (
                np.ones(len(gradient), bool)
                if not name.startswith("bias_hh")
                else stored(case, gradient, theirs[name])
            )
            if rows.any():
                worst = max(worst, relative_error(theirs[name][rows], gradient[rows]))
    return relative_error(case.y, y), worst


def stored(case: Case, gradient: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Rows of bias_hh that the framework has: its gradient is not 0 (or 1, Haiku's run-time bias)."""
    return np.zeros(len(gradient), bool) if case.cell == "lstm" and case.framework == "haiku" else theirs != 0


def flat(tree: object, path: str = "") -> dict:
    """{path: array} of nested dictionaries or lists."""
    if isinstance(tree, dict) or hasattr(tree, "items"):
        return {k: a for name, part in tree.items() for k, a in flat(part, f"{path}/{name}").items()}
    if isinstance(tree, list | tuple):
        return {k: a for n, part in enumerate(tree) for k, a in flat(part, f"{path}/{n}").items()}
    return {path.replace(".", "/").strip("/_").split("params/cell/")[-1]: np.asarray(tree)}


def way_back_changes(case: Case, network: Network) -> bool:
    """Does reading and writing change any bit?"""
    if case.framework == "torch":
        back, original = flat(network.to_torch()), flat(case.arrays)
    else:
        framework = "linen" if case.kind == "LSTMCell" and case.framework == "nnx" else case.framework
        back, original = exchange.write(framework, network)[0], flat(case.arrays)
        if case.framework == "keras":
            back = flat(network.to_keras()[0])
        original = {
            next((b for b in back if a == b or a.endswith(f"/{b}")), a.replace("if_/", "if/")): v
            for a, v in original.items()
        }
    return back.keys() != original.keys() or any(
        not np.array_equal(back[name], original[name]) for name in back
    )
