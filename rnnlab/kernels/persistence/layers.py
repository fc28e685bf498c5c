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
        ones = np.ones((1, self.T * self.wide))
        self.ones = chip.put(stored(ones, shape.dtype))
        self.layers = [self._layer(index) for index in range(network.layers)]

    def load(self, x: np.ndarray, state: tuple[np.ndarray, ...]) -> None:
        """x [T,B,I] and the first state, [L,B,H] each."""
        self._fill(self.x, x)
        for index, layer in enumerate(self.layers):
            first_h = layer["h"][: self.wide]
            self._fill(first_h, state[0][index][None])
            if self.properties.has_c:
                c = state[1][index].astype("float32")
                layer["reserve"][: self.B, :, 0] = self.chip.put(c)

    def load_gradients(self, dy: np.ndarray, dstate: tuple[np.ndarray, ...]) -> None:
        """dy [T,B,H] of the last layer's h, and that of the last state, [L,B,H] each."""
        self._fill(self.layers[-1]["dy"], dy)
        for index, layer in enumerate(self.layers):
            for name, part in zip(("dlast", "dlast_c"), dstate, strict=False):  # h alone, or h and c
                gradient = part[index].astype("float32")
                layer[name][: self.B] = self.chip.put(gradient)

    def forward(self) -> None:
        """Fills every layer's gates, h and reserve."""
        x = self.x
        for layer in self.layers:
            gates = layer["gates"]
            gates.reshape(self.T * self.wide, -1)[:] = layer["bias"]
            self.chip.product(x, layer["weight_ih"], gates, (False, True), True)
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
            x = self.x
            dx = self.dx
            if index:
                below = self.layers[index - 1]
                x = below["h"][self.wide :]
                dx = below["dy"]
            h = layer["h"][: self.T * self.wide]
            dgates = layer["dgates"]
            dgates_h = layer["dgates_h"]
            dgates_of_first = dgates_h[: self.wide]
            self._product(dgates, layer["weight_ih"], dx)
            self._product(dgates, x, layer["dweight_ih"], is_transposed=True)
            self._product(dgates_h, h, layer["dweight_hh"], is_transposed=True)
            self._product(self.ones, dgates, layer["dbias_ih"])
            self._product(self.ones, dgates_h, layer["dbias_hh"])
            self._product(dgates_of_first, layer["weight_hh"], layer["dfirst"])

    def check(self) -> None:
        """Raises RuntimeError if blocks waited longer for each other than any step takes."""
        if step := int(self.chip.get(self.failed)[0]):
            raise RuntimeError(f"the blocks did not synchronise at step {step}: not all of them ran at once")

    def outputs(self) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
        """y [T,B,H] and the final state, float32."""
        last_h = []
        last_c = []
        for layer in self.layers:
            h = self._steps(self._number(layer["h"]))
            last_h.append(h[-1])
            if self.properties.has_c:
                reserve = self.chip.get(layer["reserve"])
                c = self._steps(reserve[..., 0])
                last_c.append(c[-1])
        state = (np.stack(last_h),)
        if self.properties.has_c:
            state += (np.stack(last_c),)
        return h[1:], state

    def gradients(self) -> tuple[np.ndarray, tuple[np.ndarray, ...], dict[str, np.ndarray]]:
        """dx [T,B,I], dstate, those of the parameters; float32."""
        properties = self.properties
        flat = {}
        first = []
        for index, layer in enumerate(self.layers):
            carry = self.chip.get(layer["carry"])[: self.B]
            columns = np.moveaxis(carry, -1, 0)  # [.,B,H]
            dparameters = [self._number(layer[f"d{name}"]) for name in Layer._fields]
            dvectors = carry.sum(0).T[self.passing :][: properties.own_vectors]
            names = parameter_names(self.network.cell, index)
            flat |= zip(names, (*dparameters, *dvectors), strict=True)
            dh = self._steps(self._number(layer["dfirst"]))[0]
            if properties.passes_h:
                dh = dh + columns[self.passing - 1]
            first.append((dh, columns[0]) if properties.has_c else (dh,))
        dx = self._steps(self._number(self.dx))
        dfirst = tuple(np.stack(parts) for parts in zip(*first, strict=True))
        gradients = {}
        for name, parameter in self.network.parameters.items():
            gradients[name] = flat[name].reshape(parameter.shape)
        return dx, dfirst, gradients

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
        reserved = properties.has_c + properties.saves  # numbers of a unit
        carried = self.passing + properties.own_vectors
        inputs = parameters.weight_ih.shape[1]
        number = lambda array: put(stored(array, self.shape.dtype))
        layer = {way: put(self.shape.pack(way, parameters.weight_hh)) for way in DIRECTIONS}
        layer["weight_ih"] = number(parameters.weight_ih)
        layer["weight_hh"] = number(parameters.weight_hh)
        layer["bias"] = number(merged_bias(self.network, parameters))
        vectors = step_vectors(self.network, parameters)
        layer["vectors"] = put(vectors.astype("float32"))
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
            "reserve": (steps * self.wide, H, max(1, reserved)),
            "carry": (self.wide, H, max(1, carried)),
            "dlast": (self.wide, H),
        }
        if properties.inner >= 0:
            numbers["dgates_h"] = rows, wide
        if index == 0:
            numbers["dx"] = rows, inputs
        if properties.has_c:
            floats["dlast_c"] = self.wide, H
        for name, shape in numbers.items():
            layer[name] = self._numbers(*shape)
        for name, shape in floats.items():
            layer[name] = put(np.zeros(shape, "float32"))
        layer.setdefault("dgates_h", layer["dgates"])
        return layer

    def _clear(self, direction: str, layer: dict[str, Array]) -> None:
        """Mark what the kernel will publish as unwritten."""
        if self.shape.cooperative:  # blocks poll what is written in every step, exchange.cuh
            if direction == "forward":
                written = layer["h"][self.wide :]
            else:
                written = layer["dgates_h"]
            written.view("uint32")[:] = UNWRITTEN  # a store of 4 bytes: by bytes it takes four times as many

    def _start(self, direction: str, layer: dict[str, Array]) -> None:
        arguments = [*map(layer.__getitem__, ARGUMENTS[direction]), self.failed]
        self.chip.launch(self.shape, direction, arguments, self.T, self.wide)

    def _product(self, a: Array, b: Array, out: Array, is_transposed: bool = False) -> None:
        """out = a b, or aᵀ b."""
        self.chip.product(a, b, out, (is_transposed, False), False)

    def _numbers(self, rows: int, columns: int) -> Array:
        zeros = np.zeros((rows, columns), STORED[self.shape.dtype])
        return self.chip.put(zeros)

    def _fill(self, rows: Array, array: np.ndarray) -> None:
        """[steps·wide, n] from [steps,B,n]; what fills the last tile is 0."""
        filling = self.wide - self.B
        padded = np.pad(array, ((0, 0), (0, filling), (0, 0)))
        numbers = stored(padded, self.shape.dtype).reshape(rows.shape)
        rows[:] = self.chip.put(numbers)

    def _number(self, array: Array) -> np.ndarray:
        return loaded(self.chip.get(array), self.shape.dtype)

    def _steps(self, rows: np.ndarray) -> np.ndarray:
        """[steps·wide, n] as [steps,B,n]."""
        steps = rows.reshape(-1, self.wide, rows.shape[-1])
        return steps[:, : self.B]
