"""The persistent layer in clusters of blocks: persistent_cluster.cu, products in bfloat16.

Between blocks: h in the L2, which all blocks of the chip poll → bytes pushed into the shared memory of
at most 15 others, counted where they arrive.  The minibatch: 8 sequences a cluster, which need no other.
"""

from functools import partial

from pocketgpu.devices import Device
from rnnlab.kernels.persistence.shapes import ClusterShape, cluster_shape
from rnnlab.ladder import cuda_chip
from rnnlab.ladder.chooser import persistent_in_clusters
from rnnlab.ladder.properties import WITH_KERNELS, RungProperties

PROPERTIES = RungProperties(
    idea="clusters push h to each other, in bfloat16",
    lesson="16_persistent_cuda",
    cells=WITH_KERNELS,
    needs="sm90",
    step_us=persistent_in_clusters,
)


def shape_for(cell: str, hidden: int, B: int, device: Device) -> ClusterShape:
    return cluster_shape(cell, hidden, "bfloat16", device)


forward = partial(cuda_chip.forward, shape_for)
why_not = partial(cuda_chip.why_not, shape_for)
backward = cuda_chip.backward
