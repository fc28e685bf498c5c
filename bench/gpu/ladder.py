"""The ladder's stages as contestants: a plan for each direction, both on the same buffers of the GPU."""

import time

import numpy as np

from bench.workload import STORED, Problem
from rnnlab.cells import find_cell
from rnnlab.gpu.card import Gpu
from rnnlab.gpu.run_cuda import PreparedPlan
from rnnlab.ladder import stage_passes
from rnnlab.schedule import network_arrays as arrays_of
from rnnlab.schedule.plan import Sizes
from rnnlab.schedule.stages import plan_for

QUEUE = 500  # commands issued before the host waits for the GPU: the driver's queue has room for 1024


class Stage:
    """A rung that is a list of passes, prepared on the GPU."""

    def __init__(self, problem: Problem, name: str):
        cell, T, B, I, H, L = problem.workload
        self.network = problem.network
        self.T = T
        self.B = B
        self.gpu = Gpu(tf32=problem.dtype == "tf32")
        passes = stage_passes()[name]
        dtype = STORED.get(problem.dtype, problem.dtype)
        before = self.gpu.used_bytes()
        zeros = tuple(np.zeros((L, B, H), "float32") for _ in find_cell(cell).states)
        plans = (
            plan_for(way, self.network.properties.name, Sizes(T, B, I, H, L), passes)
            for way in ("forward", "backward")
        )
        arrays = arrays_of.forward_arrays(self.network, problem.x, zeros)
        forward = PreparedPlan(next(plans), dtype, arrays, self.gpu)
        incoming = arrays_of.backward_arrays(self.network, problem.dy, zeros)
        backward = PreparedPlan(
            next(plans), dtype, forward.buffers | incoming, self.gpu, tuple(incoming.keys() - {"dy"})
        )
        self.parts = {"forward": (forward,), "backward": (backward,), "step": (forward, backward)}
        self.launches = {
            part: sum(prepared.plan.count() for prepared in group) for part, group in self.parts.items()
        }
        self.gpu.finish()
        self.bytes = self.gpu.used_bytes() - before  # a step makes nothing more: this is the highest too

    def seconds(self, part: str, repeats: int) -> float:
        """See contestant.Contestant."""

        def run() -> None:
            for _ in range(repeats):
                for prepared in self.parts[part]:
                    prepared.issue()

        return self.gpu.seconds(run) / repeats

    def host_seconds(self) -> float:
        """See contestant.Contestant; the GPU is idle before, and its queue of launches never full."""
        commands = [command for part in self.parts["step"] for command in part.commands]
        first = commands[:QUEUE]
        self.gpu.finish()
        start = time.perf_counter()
        for command in first:
            command()
        seconds = time.perf_counter() - start
        self.gpu.finish()
        return seconds * len(commands) / len(first)

    def results(self) -> dict:
        """See contestant.Contestant."""
        forward, backward = self.parts["step"]
        y, _ = arrays_of.forward_results(self.network, forward.arrays(), self.T, self.B)
        dx, _, gradients = arrays_of.backward_results(self.network, backward.arrays(), self.T, self.B)
        return {"y": y, "dx": dx, **{name: gradients[name] for name in self.network.parameters}}


contestant = Stage
