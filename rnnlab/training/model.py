"""A network with a linear readout: every step's top state becomes a prediction.

The network's steps run on a rung of the ladder, through its contract `forward` and `backward`; anything with
these two functions will do, a learner's own module too.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rnnlab.cells import State
from rnnlab.ladder import one_big_gemm
from rnnlab.network import Network, check_array
from rnnlab.training.optimisers import Arrays
from rnnlab.training.task import Task

READOUT = ("weight_out", "bias_out")


class SavedPass(NamedTuple):
    """What `Model.gradients` needs of a forward pass: the top layer's states y [T,B,H] and the rung's own."""

    y: np.ndarray
    network: Any


@dataclass(frozen=True)
class Model:
    """network, weight_out [O,H], bias_out [O]: prediction = weight_out y + bias_out at every step."""

    network: Network
    weight_out: np.ndarray
    bias_out: np.ndarray

    def __post_init__(self):
        O = np.size(self.bias_out)
        expected = {"weight_out": (O, self.network.hidden_size), "bias_out": (O,)}
        for name, shape in expected.items():
            array = getattr(self, name)
            if np.shape(array) != shape:
                raise ValueError(f"{name} has shape {np.shape(array)}, expected {shape}")
            check_array(name, array, self.network.dtype)

    @classmethod
    def create(
        cls, cell: str, input_size: int, hidden_size: int, output_size: int, *, seed: int = 0, **options: Any
    ) -> "Model":
        """A fresh model; options (layers, reset, dtype, init, gain) go to `Network.create`."""
        network = Network.create(cell, input_size, hidden_size, seed=seed, **options)
        bound = hidden_size**-0.5  # as torch.nn.Linear begins
        rng = np.random.default_rng([seed, 1])
        weight = rng.uniform(-bound, bound, (output_size, hidden_size))
        bias = np.zeros(output_size, dtype=network.dtype)
        return cls(network, weight.astype(network.dtype), bias)

    @property
    def output_size(self) -> int:
        return len(self.bias_out)

    @property
    def parameters(self) -> Arrays:
        """Parameters that are trained: the network's, weight_out [O,H] and bias_out [O]."""
        return self.network.parameters | {name: getattr(self, name) for name in READOUT}

    def with_parameters(self, parameters: Arrays) -> "Model":
        """The same model with these parameters, weight_out [O,H] among them, in place of its own."""
        of_network = {name: array for name, array in parameters.items() if name not in READOUT}
        network = self.network.with_parameters(of_network)
        return Model(network, parameters["weight_out"], parameters["bias_out"])

    def predict(
        self, x: np.ndarray, state: State | None = None, rung: Any = one_big_gemm
    ) -> tuple[np.ndarray, State, SavedPass]:
        """prediction [T,B,O], the state after the last step, and what `gradients` needs; x [T,B,I]."""
        if state is None:
            state = self.network.zero_state(x.shape[1])
        y, state, saved = rung.forward(self.network, x, state)
        return self.readout(y), state, SavedPass(y, saved)

    def readout(self, y: np.ndarray) -> np.ndarray:
        """prediction [T,B,O] from the top layer's states y [T,B,H]."""
        return y @ self.weight_out.T + self.bias_out

    def gradients(self, saved: SavedPass, dprediction: np.ndarray, rung: Any = one_big_gemm) -> Arrays:
        """Gradient of every parameter from dprediction [T,B,O]; nothing flows in from after the last step."""
        _, B, _ = saved.y.shape
        dlast = self.network.zero_state(B)
        dy = dprediction @ self.weight_out  # [T,B,H]
        _, _, gradients = rung.backward(self.network, saved.network, dy, dlast)
        return gradients | self.readout_gradients(saved.y, dprediction)

    def readout_gradients(self, y: np.ndarray, dprediction: np.ndarray) -> Arrays:
        """Gradients of weight_out [O,H] and bias_out [O], from y [T,B,H] and dprediction [T,B,O]."""
        rows = dprediction.reshape(-1, self.output_size)  # [T·B,O]
        dweight = rows.T @ y.reshape(len(rows), -1)
        return {"weight_out": dweight, "bias_out": rows.sum(0)}


def evaluate(model: Model, task: Task, rung: Any = one_big_gemm) -> float:
    """The model's loss on the task's held-out sequences, to be compared with `task.baseline.value`."""
    batch = task.held_out
    prediction, _, _ = model.predict(batch.x, rung=rung)
    return task.error(prediction, batch)
