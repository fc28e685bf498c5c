"""The lower bound ("floor") of a step: an exchange, its bytes, a product.  Latencies measured, or on paper.

On paper: launches, graph nodes and barriers of an H200 and its L2 bandwidth as gpu-benches measured them
(te42kyfo/gpu-benches: gpu-small-kernels, gpu-l2-cache), the L2's latency on an H100 (gpu-latency).  Two are
estimates: a push into another block's shared memory; and the exchange over the whole chip: a number's way to
the L2, up to one round of polling that has just missed it, and the way back, together twice the L2's latency.
Two were measured on an H800 PCIe with 114 multiprocessors (Luo and others, arXiv 2402.13499): mma's rate,
494 of 756 TFLOP/s; and 2.65 TB/s between the multiprocessors of clusters of 4, read 4 bytes at a time, which
other packets and larger clusters may miss or exceed.  `rnnlab bench gpu --suite persistent` measures all but
mma's rate before anything else.

A step takes longer than its floor, which leaves out tanh, the sum in shared memory, and barriers of a block.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

from pocketgpu.devices import Device
from rnnlab.kernels.persistence.fragments import ITEMSIZE
from rnnlab.kernels.persistence.shapes import PORTABLE, SEQUENCES, ClusterShape, GridShape, Shape

TENSOR_PEAK = {"A100": 312, "H100": 989, "H200": 989}  # dense TFLOP/s of 16 bits, NVIDIA's data sheets
OF_PEAK = 0.65  # what a warp's own mma reached of it
TF32 = 0.5  # of the 16-bit rate
SHARED_BYTES = 128  # a clock, of a multiprocessor


@dataclass(frozen=True)
class Latencies:
    """Microseconds; bandwidths in GB/s."""

    launch: float
    node: float  # of a CUDA graph
    grid_barrier: float  # all blocks synchronise, with one load and one store of each
    push: float  # into another block's shared memory, until it is seen there
    l2: float
    l2_bandwidth: float
    grid_exchange: float  # from a block's store until every block has polled it from the L2
    push_bandwidth: float  # GB/s into one multiprocessor's shared memory, while all of a cluster push
    large_clusters: int | None = None  # of 16 blocks at once; on paper as many as multiprocessors allow
    measured: bool = False


H200 = Latencies(
    launch=2.5,
    node=1.3,
    grid_barrier=1.05,
    push=0.25,
    l2=0.151,
    l2_bandwidth=9800,
    grid_exchange=2 * 0.151,
    push_bandwidth=23,
)


class Floor(NamedTuple):
    """Parts of a step that follow one another, microseconds."""

    exchange: float
    broadcast: float  # of all h to every block, beyond what the exchange hides
    product: float  # in a cluster, beyond what runs while h arrives

    @property
    def step(self) -> float:
        return sum(self)


def latencies_of(device: Device) -> Latencies:
    """On paper: the H200's, with the device's own launch and node, and a barrier as long as a node."""
    barrier = min(H200.grid_barrier, device.node)
    return replace(H200, launch=device.launch, node=device.node, grid_barrier=barrier)


def floor(shape: Shape, B: int, device: Device, known: Latencies | None = None) -> Floor:
    """Lower bound of a forward step with B sequences.  Raises ValueError if the peak is not known."""
    if tensor_peak(device) is None:
        raise ValueError(
            f"the tensor cores' peak of {device.name} is not known; {', '.join(TENSOR_PEAK)} are"
        )
    known = known or latencies_of(device)
    wide = -(-B // SEQUENCES) * SEQUENCES
    if isinstance(shape, ClusterShape):
        return _cluster(shape, wide, device, known)
    return _grid(shape, wide, device, known)


def tensor_peak(device: Device) -> float | None:
    """Dense TFLOP/s of 16 bits: the device's own, or that of its data sheet; None if neither is known."""
    return device.tensor_peak or TENSOR_PEAK.get(device.name)


def rate(shape: Shape, blocks: int, device: Device) -> float:
    """FLOP per microsecond of that many multiprocessors' tensor cores."""
    peak = tensor_peak(device)
    if shape.dtype == "tf32":
        peak = peak * TF32
    at_work = min(blocks, device.multiprocessors)
    return OF_PEAK * peak * 1e6 * at_work / device.multiprocessors


def _grid(shape: GridShape, B: int, device: Device, known: Latencies) -> Floor:
    """Every block reads all of h from the second-level cache; one load of it is in the exchange already."""
    blocks = shape.launch("forward", B).blocks
    read_bytes = blocks * B * shape.hidden * ITEMSIZE[shape.dtype]
    broadcast = read_bytes / known.l2_bandwidth * 1e-3
    flops = 2 * shape.gates * shape.hidden**2 * B
    product = flops / rate(shape, blocks, device)
    return Floor(known.grid_exchange, max(0.0, broadcast - known.l2), product)


def _cluster(shape: ClusterShape, B: int, device: Device, known: Latencies) -> Floor:
    """Clusters exchange nothing with each other; where not all fit at once, they take turns.

    All of h is pushed into each block's shared memory.  Every warp reads it while tensor cores multiply, and
    both begin when the first part of h has arrived.
    """
    at_once = device.multiprocessors // shape.cluster
    if shape.cluster > PORTABLE and known.large_clusters:
        at_once = known.large_clusters
    turns = -(-B // SEQUENCES // max(1, at_once))
    flops = 2 * shape.gates * shape.hidden**2 * SEQUENCES
    product = flops / rate(shape, shape.cluster, device)
    h_bytes = SEQUENCES * shape.hidden * ITEMSIZE[shape.dtype]
    reading = shape.warps * h_bytes / SHARED_BYTES / device.clock * 1e-3
    broadcast = h_bytes / known.push_bandwidth * 1e-3
    later = max(0.0, product - broadcast, reading - broadcast)
    return Floor(turns * known.push, turns * broadcast, turns * later)
