"""The persistent layer in clusters of blocks: persistent_cluster.cu, products in bfloat16.

Between blocks: flags in the L2 that all blocks of the chip wait for → bytes pushed into the shared memory of
at most 15 others, counted where they arrive.  The minibatch: 8 sequences a cluster, which need no other.
"""

import numpy as np

from rnnlab.ladder.persistence import on_gpu
from rnnlab.ladder.persistence.shapes import ClusterShape, cluster_shape
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


def shape_for(cell: str, hidden: int, B: int, device: Device) -> ClusterShape:
    return cluster_shape(cell, hidden, "bfloat16", device)
