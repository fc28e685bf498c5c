"""A network by the CUDA C++ kernels on the GPU at hand, as a rung runs it: from host to host."""

from collections.abc import Callable

import numpy as np

from rnnlab.devices import Device
from rnnlab.gpu import card
from rnnlab.kernels.persistence.chooser import Abilities, abilities
from rnnlab.kernels.persistence.cuda_chip import CudaChip
from rnnlab.kernels.persistence.layers import TensorLayers
from rnnlab.kernels.persistence.shapes import Shape
from rnnlab.network import Network, check_gradients, check_input

ShapeFor = Callable[[str, int, int, Device], Shape]  # cell, hidden size, sequences, device


def forward(shape_for: ShapeFor, network: Network, x: np.ndarray, state: tuple | None = None):
    """y [T,B,H], final state, saved; see rnnlab.ladder."""
    state = check_input(network, x, state)
    shape = shape_for(network.cell, network.hidden_size, x.shape[1], abilities().sheet)
    layers = TensorLayers(network, shape, x.shape[:2], CudaChip(shape.precision))
    layers.load(x, state)
    layers.forward()
    layers.check()
    return *layers.outputs(), layers


def backward(network: Network, layers: TensorLayers, dy: np.ndarray, dstate: tuple | None = None):
    """dx [T,B,I], dstate, gradients; see rnnlab.ladder."""
    dstate = check_gradients(network, layers.T, layers.B, dy, dstate)
    layers.load_gradients(dy, dstate)
    layers.backward()
    layers.check()
    return layers.gradients()


def why_not(
    shape_for: ShapeFor, network: Network, T: int, B: int, gpu: Abilities | None = None
) -> str | None:
    """Why that network does not run by these kernels on the GPU at hand (or on `gpu`); None if it does."""
    if network.dtype != "float32":
        return f"it takes networks in float32 and rounds them, not in {network.dtype}"
    if network.cell == "gru" and network.reset != "after":
        return "it resets after the product: Network(reset='after')"
    if gpu is None and (why := card.why_not()):
        return why
    gpu = gpu or abilities()
    try:
        shape = shape_for(network.cell, network.hidden_size, B, gpu.sheet)
    except ValueError as error:
        return str(error)
    if shape.cooperative and not gpu.cooperative:
        return f"{gpu.sheet.name} does not promise here that all blocks run at once"
    return None
