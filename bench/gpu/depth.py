"""What a small minibatch is for: many residual layers, trained in the memory of a few at minibatch 64.

Diamos et al. (2016) had room for 7 layers of 1152 units at 64 sequences of 700 steps, and for more than 100
at 4.  Here both are built with the persistent kernels in float32, and trained for a few steps; every byte
that is kept counts, weights and their gradients too.
"""

from dataclasses import asdict, dataclass

import numpy as np

from bench.gpu.persistent_layers import PersistentLayers
from bench.workload import Problem
from rnncourse.records.workload import Workload
from rnnlab.network import Network

HIDDEN = 1152
STEPS = 700
MANY = 64
FEW = 4  # sequences
SHALLOW = 7
RATE = 1e-3  # of each parameter's own length, which a step of descent goes
TRAINED = 5  # steps


class ResidualLayers(PersistentLayers):
    """Each layer adds its h to its input, so inputs are as wide as layers."""

    def _layer_output(self, layer: dict, x: object) -> object:
        if "out" not in layer:
            layer["out"] = self.cupy.empty_like(x)
        self.cupy.add(x, layer["h"][1:], out=layer["out"])
        return layer["out"]

    def _layer_input(self, index: int) -> object:
        return self.x if index == 0 else self.layers[index - 1]["out"]

    def _input_gradient(self, layer: dict, dy: object) -> object:
        layer["dx"] += dy
        return layer["dx"]

    def results(self) -> dict[str, np.ndarray]:
        """See contestant.Contestant; y is the last layer's output."""
        return super().results() | {"y": self.layers[-1]["out"].get()}

    def descend(self, target: object, rate: float) -> float:
        """One step down the mean squared distance to target [T,B,H]; the distance before it."""
        self._forward()
        away = self.layers[-1]["out"] - target
        loss = float((away * away).mean())
        self.dy = 2 * away / away.size
        self._backward()
        for layer in self.layers:
            for name, of in (("weight_ih", "weight_ih"), ("weight_hh", "weight_hh"), ("bias", "bias_ih")):
                gradient = layer[f"d{of}"]
                layer[name] -= rate * _length(layer[name]) / _length(gradient) * gradient
        return loss


@dataclass(frozen=True)
class Depth:
    """One network: how large it was, and that it learns."""

    layers: int
    sequences: int
    bytes: int
    losses: list[float]  # before each step of descent


def _length(array: object) -> float:
    return float((array * array).sum()) ** 0.5


def measured(hidden: int = HIDDEN, steps: int = STEPS, shallow: int = SHALLOW) -> dict[str, dict]:
    """The shallow network at minibatch 64, and the deepest that its memory has room for at 4."""
    small = trained(shallow, MANY, hidden, steps)
    one, two = (trained(layers, FEW, hidden, steps).bytes for layers in (1, 2))
    deepest = 1 + max(1, (small.bytes - one) // max(1, two - one))
    return {"shallow": asdict(small), "deep": asdict(trained(int(deepest), FEW, hidden, steps))}


def trained(layers: int, sequences: int, hidden: int, steps: int) -> Depth:
    """Built, run, and taken a few steps down; raises RuntimeError if blocks are missing at a barrier."""
    network = Network.create("rnn_tanh", hidden, hidden, layers, seed=0)
    draw = np.random.default_rng(0)
    x, dy = (draw.standard_normal((steps, sequences, hidden), dtype="float32") for _ in range(2))
    workload = Workload("rnn_tanh", steps, sequences, hidden, hidden, layers)
    stack = ResidualLayers(Problem(workload, "float32", network, x, dy, {}), "residual")
    target = stack.cupy.asarray(dy)
    losses = [stack.descend(target, RATE) for _ in range(TRAINED)]
    stack.results()  # raises if blocks are missing at a barrier
    return Depth(layers, sequences, stack.bytes, losses)
