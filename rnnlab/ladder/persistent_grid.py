"""The persistent layer on tensor cores, over the whole chip: persistent_grid.cu, products in TF32.

Launches per layer: still one kernel.  A step's product: of FP32 lanes → of tensor cores, which take eight
sequences in the time of one.  Between blocks: the same flags; each warp reads its part of h from the L2
straight into the registers that the product wants it in.
"""

import numpy as np

from rnnlab.ladder.persistence import on_gpu
from rnnlab.ladder.persistence.shapes import GridShape, grid_shape
from rnnlab.machine.devices import Device
from rnnlab.network import Network


def forward(network: Network, x: np.ndarray, state: tuple | None = None):
    """y [T,B,H], final state, saved; see rnnlab.ladder."""
    return on_gpu.forward(shape_for, network, x, state)


def backward(network: Network, saved: object, dy: np.ndarray, dstate: tuple | None = None):
    """dx [T,B,I], dstate, gradients; see rnnlab.ladder."""
    return on_gpu.backward(network, saved, dy, dstate)


def why_not(network: Network, T: int, B: int) -> str | None:
    """Why this network does not run here; None if it does."""
    return on_gpu.why_not(shape_for, network, B)


def shape_for(cell: str, hidden: int, B: int, device: Device) -> GridShape:
    return grid_shape(cell, hidden, "tf32", B, device)
