"""A network on a chip by the CUDA C++ kernels: products over all steps before and after one kernel a layer.

Everything stays on the chip between the passes.  Numbers lie there in the dtype's own 16 bits, or in
float32 for TF32; sums are float32.  The minibatch is filled up to whole tiles of 8 sequences.

A chip holds arrays, multiplies and launches: CuPy, cuBLAS and the driver, or a stand-in in a test.  It has

    put(array), get(array)                        a copy on the chip, and one from it
    product(a, b, out, transposed, adds)          out [m,n] = op(a) op(b), plus out if it adds;
                                                  transposed: which of the two factors are
    launch(shape, direction, arrays, T, B)        the kernel of that direction
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from rnnlab.kernels.cells import KERNEL_PROPERTIES
from rnnlab.kernels.persistence.fragments import STORED, loaded, stored
from rnnlab.kernels.persistence.shapes import DIRECTIONS, SEQUENCES, Shape
from rnnlab.network import Layer, Network, merged_bias, parameter_names, step_vectors

UNWRITTEN = 0xFFFFFFFF  # as exchange.cuh has it; a NaN, or two, in every dtype
Chip = Any
Array = Any  # of the chip's: it can be sliced, reshaped and assigned to, as NumPy's

FORWARD = "forward", "vectors", "gates", "h", "reserve"  # arrays of the forward kernel
BACKWARD = "backward", *FORWARD[1:], "dy", "dlast", "carry", "dgates", "dgates_h"
ARGUMENTS = dict(zip(DIRECTIONS, (FORWARD, BACKWARD), strict=True))


class TensorLayers:
    """One network, one shape of input, all arrays made once."""

    def __init__(self, network: Network, shape: Shape, sizes: tuple[int, int], chip: Chip):
        """sizes: T steps, B sequences."""
        self.network = network
        self.shape = shape
        self.chip = chip
        self.T, self.B = sizes
        self.wide = -(-self.B // SEQUENCES) * SEQUENCES  # sequences, with those that fill the last tile
        self.properties = KERNEL_PROPERTIES[network.cell]
        self.passing = self.properties.has_c + self.properties.passes_h  # numbers of a unit, in carry
        self.failed = chip.put(np.zeros(1, "int32"))
        self.x = self._numbers(self.T * self.wide, network.input_size)
        self.ones = chip.put(stored(np.ones((1, self.T * self.wide)), shape.dtype))
        self.layers = [self._layer(index) for index in range(network.layers)]

    def load(self, x: np.ndarray, state: tuple[np.ndarray, ...]) -> None:
        """x [T,B,I] and the first state, [L,B,H] each."""
        self._fill(self.x, x)
        for index, layer in enumerate(self.layers):
            self._fill(layer["h"][: self.wide], state[0][index][None])
            if self.properties.has_c:
                layer["reserve"][: self.B, :, 0] = self.chip.put(state[1][index].astype("float32"))

    def load_gradients(self, dy: np.ndarray, dstate: tuple[np.ndarray, ...]) -> None:
        """dy [T,B,H] of the last layer's h, and that of the last state, [L,B,H] each."""
        self._fill(self.layers[-1]["dy"], dy)
        for index, layer in enumerate(self.layers):
            for name, part in zip(("dlast", "dlast_c"), dstate, strict=False):  # h alone, or h and c
                layer[name][: self.B] = self.chip.put(part[index].astype("float32"))

    def forward(self) -> None:
        """Fills every layer's gates, h and reserve."""
        x = self.x
        for layer in self.layers:
            layer["gates"].reshape(self.T * self.wide, -1)[:] = layer["bias"]
            self.chip.product(x, layer["weight_ih"], layer["gates"], (False, True), True)
            self._clear("forward", layer)
            self._start("forward", layer)
            x = layer["h"][self.wide :]

    def forward_kernels(self) -> list[tuple[Callable[[], None], Callable[[], None]]]:
        """(prepare, run) of each forward kernel, for a clock.  Gates are results already, so h differs."""
        both = self._clear, self._start
        return [tuple(partial(call, "forward", layer) for call in both) for layer in self.layers]

    def backward(self) -> None:
        """Fills every layer's gradients, and dx of the first."""
        for index in reversed(range(len(self.layers))):
            layer = self.layers[index]
            layer["carry"][:] = 0
            if self.properties.has_c:
                layer["carry"][:, :, 0] = layer["dlast_c"]
            self._clear("backward", layer)
            self._start("backward", layer)
            below = self.x
            into = self.dx
            if index:
                below = self.layers[index - 1]["h"][self.wide :]
                into = self.layers[index - 1]["dy"]
            dgates = layer["dgates"]
            dgates_h = layer["dgates_h"]
            for is_transposed, a, b, out in (
                (False, dgates, layer["weight_ih"], into),
                (True, dgates, below, layer["dweight_ih"]),
                (True, dgates_h, layer["h"][: self.T * self.wide], layer["dweight_hh"]),
                (False, self.ones, dgates, layer["dbias_ih"]),
                (False, self.ones, dgates_h, layer["dbias_hh"]),
                (False, dgates_h[: self.wide], layer["weight_hh"], layer["dfirst"]),
            ):
                self.chip.product(a, b, out, (is_transposed, False), False)

    def check(self) -> None:
        """Raises RuntimeError if blocks waited longer for each other than any step takes."""
        if step := int(self.chip.get(self.failed)[0]):
            raise RuntimeError(f"the blocks did not synchronise at step {step}: not all of them ran at once")

    def outputs(self) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
        """y [T,B,H] and the final state, float32."""
        h = [self._steps(self._number(layer["h"])) for layer in self.layers]
        ends = [np.stack([of_layer[-1] for of_layer in h])]
        if self.properties.has_c:
            c = (self.chip.get(layer["reserve"])[..., 0] for layer in self.layers)
            ends.append(np.stack([self._steps(rows)[-1] for rows in c]))
        return h[-1][1:], tuple(ends)

    def gradients(self) -> tuple[np.ndarray, tuple[np.ndarray, ...], dict[str, np.ndarray]]:
        """dx [T,B,I], dstate, those of the parameters; float32."""
        gradients = {}
        first = []
        for index, layer in enumerate(self.layers):
            carry = self.chip.get(layer["carry"])[: self.B]
            sums = [self._number(layer[f"d{name}"]) for name in Layer._fields]
            vectors = carry.sum(0).T[self.passing :][: self.properties.own_vectors]
            gradients |= zip(parameter_names(self.network.cell, index), (*sums, *vectors), strict=True)
            dh = self._steps(self._number(layer["dfirst"]))[0]
            dh = dh + carry[..., self.passing - 1] if self.properties.passes_h else dh
            first.append((dh, carry[..., 0])[: len(self.network.properties.states)])
        dx = self._steps(self._number(self.dx))
        dfirst = tuple(np.stack(parts) for parts in zip(*first, strict=True))
        parameters = self.network.parameters.items()
        return dx, dfirst, {name: gradients[name].reshape(own.shape) for name, own in parameters}

    @property
    def dx(self) -> Array:
        return self.layers[0]["dx"]

    def _layer(self, index: int) -> dict[str, Array]:
        """A layer's weights, and room for everything it makes."""
        parameters = self.network.layer(index)
        H = self.shape.hidden
        rows = self.T * self.wide
        wide = len(parameters.bias_ih)
        put = self.chip.put
        properties = self.properties
        steps = self.T + properties.has_c
        inputs = parameters.weight_ih.shape[1]
        number = lambda array: put(stored(array, self.shape.dtype))
        layer = {way: put(self.shape.pack(way, parameters.weight_hh)) for way in DIRECTIONS}
        layer["weight_ih"] = number(parameters.weight_ih)
        layer["weight_hh"] = number(parameters.weight_hh)
        layer["bias"] = number(merged_bias(self.network, parameters))
        layer["vectors"] = put(step_vectors(self.network, parameters).astype("float32"))
        numbers = {  # name: rows, columns
            "gates": (rows, wide),
            "dgates": (rows, wide),
            "dy": (rows, H),
            "h": (rows + self.wide, H),
            "dfirst": (self.wide, H),
            "dweight_ih": (wide, inputs),
            "dweight_hh": (wide, H),
            "dbias_ih": (1, wide),
            "dbias_hh": (1, wide),
        }
        floats = {
            "reserve": (steps * self.wide, H, max(1, properties.has_c + properties.saves)),
            "carry": (self.wide, H, max(1, self.passing + properties.own_vectors)),
            "dlast": (self.wide, H),
        }
        if properties.inner >= 0:
            numbers["dgates_h"] = rows, wide
        if index == 0:
            numbers["dx"] = rows, inputs
        if properties.has_c:
            floats["dlast_c"] = self.wide, H
        layer |= {name: self._numbers(*shape) for name, shape in numbers.items()}
        layer |= {name: put(np.zeros(shape, "float32")) for name, shape in floats.items()}
        layer.setdefault("dgates_h", layer["dgates"])
        return layer

    def _clear(self, direction: str, layer: dict[str, Array]) -> None:
        """Mark what the kernel will publish as unwritten."""
        if self.shape.cooperative:  # blocks poll what is written in every step, exchange.cuh
            written = layer["h"][self.wide :] if direction == "forward" else layer["dgates_h"]
            written.view("uint32")[:] = UNWRITTEN  # a store of 4 bytes: by bytes it takes four times as many

    def _start(self, direction: str, layer: dict[str, Array]) -> None:
        arguments = [*map(layer.__getitem__, ARGUMENTS[direction]), self.failed]
        self.chip.launch(self.shape, direction, arguments, self.T, self.wide)

    def _numbers(self, rows: int, columns: int) -> Array:
        return self.chip.put(np.zeros((rows, columns), STORED[self.shape.dtype]))

    def _fill(self, rows: Array, array: np.ndarray) -> None:
        """[steps·wide, n] from [steps,B,n]; what fills the last tile is 0."""
        padded = np.pad(array, ((0, 0), (0, self.wide - self.B), (0, 0)))
        rows[:] = self.chip.put(stored(padded, self.shape.dtype).reshape(rows.shape))

    def _number(self, array: Array) -> np.ndarray:
        return loaded(self.chip.get(array), self.shape.dtype)

    def _steps(self, rows: np.ndarray) -> np.ndarray:
        """[steps·wide, n] as [steps,B,n]."""
        return rows.reshape(-1, self.wide, rows.shape[-1])[:, : self.B]
