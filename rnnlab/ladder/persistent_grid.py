"""The persistent layer on tensor cores, over the whole chip: persistent_grid.cu, products in TF32.

Launches per layer: still one kernel.  A step's product: of FP32 lanes → of tensor cores, which take eight
sequences in the time of one.  Between blocks: flags, a fence and h → h alone, which every warp polls in the
L2, straight into the registers that the product wants it in.
"""

from functools import partial

from pocketgpu.devices import Device
from rnnlab.kernels.persistence.shapes import GridShape, grid_shape
from rnnlab.ladder import cuda_chip
from rnnlab.ladder.chooser import persistent_over_the_grid
from rnnlab.ladder.properties import WITH_KERNELS, RungProperties

PROPERTIES = RungProperties(
    idea="tensor cores keep the weights, in TF32",
    lesson="16_persistent_cuda",
    cells=WITH_KERNELS,
    needs="sm80",
    step_us=persistent_over_the_grid,
)


def shape_for(cell: str, hidden: int, B: int, device: Device) -> GridShape:
    return grid_shape(cell, hidden, "tf32", B, device)


forward = partial(cuda_chip.forward, shape_for)
why_not = partial(cuda_chip.why_not, shape_for)
backward = cuda_chip.backward
