"""The persistent kernels in CUDA C++ as contestants: everything stays on the GPU between passes."""

import numpy as np

from bench.gpu.events import seconds, seconds_of_prepared
from bench.workload import Problem
from pocketgpu.devices import Device
from rnncourse.records.workload import Workload
from rnnlab.kernels.persistence.layers import Chip, TensorLayers
from rnnlab.kernels.persistence.shapes import Shape, cluster_shape, grid_shape
from rnnlab.ladder.chooser import abilities
from rnnlab.ladder.cuda_chip import CudaChip
from rnnlab.network import check_gradients, check_input

NAMES = "persistent_grid", "persistent_cluster"
BULK = "persistent_cluster_bulk"  # whose copy engine pushes h: a GPU decides which of the two pushes remains


class PersistentContestant:
    """One kernel a layer and direction, products over all steps around it."""

    launches = dict.fromkeys(("forward", "backward", "step"))  # copies of biases are CuPy's, not counted
    own_parts = ("kernel",)  # the forward kernels without the input products

    def __init__(self, problem: Problem, shape: Shape, chip: Chip):
        import cupy

        self.cupy = cupy
        self.problem = problem
        before = cupy.get_default_memory_pool().used_bytes()
        self.layers = TensorLayers(problem.network, shape, problem.x.shape[:2], chip)
        T, B, _ = problem.x.shape
        self.layers.load(problem.x, check_input(problem.network, problem.x))
        self.layers.load_gradients(problem.dy, check_gradients(problem.network, T, B, problem.dy))
        self.layers.forward()
        self.layers.backward()
        cupy.cuda.Device().synchronize()
        self.bytes = cupy.get_default_memory_pool().used_bytes() - before

    def seconds(self, part: str, repeats: int) -> float:
        """See contestant.Contestant.

        Every pass marks h as unwritten first, which is part of its price; of "kernel", which stands beside a
        lower bound without it, it is left out.
        """
        if part == "kernel":
            return seconds_of_prepared(self.layers.forward_kernels(), repeats)
        runs = {"forward": [self.layers.forward], "backward": [self.layers.backward]}
        return seconds(runs.get(part, [self.layers.forward, self.layers.backward]), repeats)

    def results(self) -> dict[str, np.ndarray]:
        """See contestant.Contestant.  Raises RuntimeError if blocks waited for each other in vain."""
        self.layers.check()
        dx, _, gradients = self.layers.gradients()
        return {"y": self.layers.outputs()[0], "dx": dx, **gradients}


def contestant(problem: Problem, name: str) -> PersistentContestant:
    """name: of NAMES, or BULK.  Raises ValueError where the shape, dtype or GPU does not allow it."""
    shape = shape_of(name, problem.workload, problem.dtype, abilities().sheet)
    return PersistentContestant(problem, shape, CudaChip(problem.dtype))


def shape_of(name: str, workload: Workload, dtype: str, device: Device) -> Shape:
    """Raises ValueError with the reason where there is no shape."""
    if name in ("persistent_cluster", BULK):
        return cluster_shape(workload.cell, workload.H, dtype, device, bulk=name == BULK)
    return grid_shape(workload.cell, workload.H, dtype, workload.B, device)
