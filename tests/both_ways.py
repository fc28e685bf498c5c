"""Passes of a random network forward and backward: by a rung, and by the reference in float64."""

import numpy as np

from rnnlab import reference
from rnnlab.cells import find_cell
from rnnlab.compare import relative_error
from rnnlab.network import Network


def problem(cell, T, B, I, H, L=1, *, dtype="float64", reset="after", gain=2.0, rounded=np.asarray):
    """A network of lively units with every bias at work; x [T,B,I], a state, dy [T,B,H] and dstate."""
    network = Network.create(cell, I, H, L, reset=reset, dtype=dtype, gain=gain, seed=T + H)
    network = network.with_parameters({name: rounded(a) for name, a in network.parameters.items()})
    rng = np.random.default_rng(H)
    draw = lambda *size: rounded(rng.normal(size=size).astype(dtype))
    states = [tuple(0.5 * draw(L, B, H) for _ in find_cell(cell).states) for _ in range(2)]
    return network, 2 * draw(T, B, I), states[0], draw(T, B, H), states[1]


def both_ways(rung, network, x, state, dy, dstate):
    """Outputs [y, *final] and gradients [dx, *dfirst, *those of the parameters]."""
    y, final, saved = rung.forward(network, x, state)
    dx, dfirst, gradients = rung.backward(network, saved, dy, dstate)
    assert list(gradients) == list(network.parameters)
    return [y, *final], [dx, *dfirst, *gradients.values()]


def by_reference(network, x, state, dy, dstate):
    """The same from the reference in float64."""
    wide = lambda arrays: tuple(array.astype("float64") for array in arrays)
    exact = network.astype("float64")
    return both_ways(reference, exact, *wide([x]), wide(state), *wide([dy]), wide(dstate))


def errors(got, want):
    """The largest relative error of the outputs, and that of the gradients."""
    pairs = (zip(*arrays, strict=True) for arrays in zip(got, want, strict=True))
    return [max(relative_error(*pair) for pair in part) for part in pairs]
