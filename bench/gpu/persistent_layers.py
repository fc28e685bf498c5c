"""The persistent rung as a contestant: everything stays on the GPU, products over all steps are CuPy's."""

import numpy as np

from bench.gpu.events import seconds
from bench.workload import Problem
from rnnlab.kernels.cells import KERNEL_PROPERTIES
from rnnlab.kernels.persistence import numba_layer
from rnnlab.kernels.persistence.kernels import backward_kernel, forward_kernel
from rnnlab.network import merged_bias, step_vectors

FORWARD = "weight_hh", "vectors", "gates", "h", "reserve"  # arrays of the forward kernel


class PersistentLayers:
    """One kernel a layer each way; float32."""

    launches = dict.fromkeys(("forward", "backward", "step"))  # CuPy's products are not counted
    own_parts = ("kernel",)  # the forward kernels without the input products

    def __init__(self, problem: Problem, name: str):
        if problem.dtype != "float32":
            raise ValueError(f"the persistent kernels compute in float32, not in {problem.dtype}")
        import cupy

        self.cupy = cupy
        self.network = problem.network
        self.cell, self.T, self.B, _, self.H, self.L = problem.workload
        self.tiles = numba_layer.tiles_of(problem.network)
        before = cupy.get_default_memory_pool().used_bytes()
        self.x = cupy.asarray(problem.x)
        self.dy = cupy.asarray(problem.dy)
        self.layers = [self._layer(index) for index in range(self.L)]
        self.flags = cupy.zeros(self.tiles.blocks, "int32")
        self.failed = cupy.zeros(1, "int32")
        self._forward()
        self._backward()
        cupy.cuda.Device().synchronize()
        self.bytes = cupy.get_default_memory_pool().used_bytes() - before

    def seconds(self, part: str, repeats: int) -> float:
        """See contestant.Contestant."""
        runs = {"forward": [self._forward], "backward": [self._backward], "kernel": [self._recur]}
        return seconds(runs.get(part, [self._forward, self._backward]), repeats)

    def results(self) -> dict[str, np.ndarray]:
        """See contestant.Contestant.  Raises RuntimeError if blocks of a kernel are missing at a barrier."""
        if step := int(self.failed.get()[0]):
            raise RuntimeError(f"blocks are missing at the barrier of step {step}")
        results = {"y": self.layers[-1]["h"][1:], "dx": self.layers[0]["dx"]}
        for index, layer in enumerate(self.layers):
            results |= {f"{name}_l{index}": layer[f"d{name}"] for name in self.network.layer(index)._fields}
        return {name: array.get() for name, array in results.items()}

    def _layer(self, index: int) -> dict:
        """A layer's weights, and arrays for its results."""
        T = self.T
        B = self.B
        H = self.H
        properties = KERNEL_PROPERTIES[self.cell]
        parameters = self.network.layer(index)
        biases = {
            "bias": merged_bias(self.network, parameters),
            "vectors": step_vectors(self.network, parameters),
        }
        layer = {name: self.cupy.asarray(array) for name, array in (parameters._asdict() | biases).items()}
        room = lambda *shape: self.cupy.zeros(shape, "float32")
        inputs = layer["weight_ih"].shape[1]
        rows = layer["weight_ih"].shape[0]
        layer |= {
            "dx": room(T, B, inputs),
            "gates": room(T, B, rows),
            "dgates": room(T, B, rows),
            "h": room(T + 1, B, H),
        }
        layer |= {
            "reserve": room(T + properties.has_c, B, H, max(1, properties.has_c + properties.saves)),
            "carry": room(B, H, max(1, properties.has_c + properties.passes_h)),
            "nothing": room(B, H),
        }
        layer["dgates_h"] = room(T, B, rows) if properties.inner >= 0 else layer["dgates"]
        return layer

    def _forward(self) -> None:
        x = self.x
        kernel = forward_kernel(self.cell, self.tiles, "float32")
        for layer in self.layers:
            flat = layer["gates"].reshape(self.T * self.B, -1)
            self.cupy.matmul(x.reshape(self.T * self.B, -1), layer["weight_ih"].T, out=flat)
            flat += layer["bias"]
            self._launch(kernel, layer, *FORWARD)
            x = self._layer_output(layer, x)

    def _recur(self) -> None:
        """Every layer's kernel, on the gates that it left: other numbers, the same work."""
        for layer in self.layers:
            self._launch(forward_kernel(self.cell, self.tiles, "float32"), layer, *FORWARD)

    def _layer_output(self, layer: dict, x: object) -> object:
        """The layer's output y [T,B,H], which the layer above reads, for its input x [T,B,I]."""
        return layer["h"][1:]

    def _backward(self) -> None:
        dy = self.dy
        kernel = backward_kernel(self.cell, self.tiles, "float32")
        for index in reversed(range(self.L)):
            layer = self.layers[index]
            layer["carry"].fill(0)
            layer["dy"] = dy
            self._launch(kernel, layer, *FORWARD, "dy", "nothing", "carry", "dgates", "dgates_h")
            below = self._layer_input(index)
            flat = lambda array: array.reshape(self.T * self.B, -1)
            dgates = flat(layer["dgates"])
            dproduct = flat(layer["dgates_h"])
            self.cupy.matmul(dgates, layer["weight_ih"], out=flat(layer["dx"]))
            layer["dweight_ih"], layer["dbias_ih"] = dgates.T @ flat(below), dgates.sum(0)
            layer["dweight_hh"], layer["dbias_hh"] = dproduct.T @ flat(layer["h"][:-1]), dproduct.sum(0)
            dy = self._input_gradient(layer, dy)

    def _layer_input(self, index: int) -> object:
        """The layer's input [T,B,I]."""
        return self.x if index == 0 else self.layers[index - 1]["h"][1:]

    def _input_gradient(self, layer: dict, dy: object) -> object:
        """The gradient of the layer's input [T,B,I], from dy [T,B,H], that of its output."""
        return layer["dx"]

    def _launch(self, kernel, layer: dict, weights: str, *names: str) -> None:
        """The kernel on flat arrays of the layer, with its flags down."""
        self.flags.fill(0)
        arrays = (layer[name].reshape(-1) for name in names)
        sizes = self.tiles.blocks, self.tiles.threads
        kernel[sizes](layer[weights], *arrays, self.flags, self.failed, self.T, self.B)


contestant = PersistentLayers
