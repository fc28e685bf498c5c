"""The ladder's stages as contestants: a plan for each direction, both on the same buffers of the GPU."""

import time

import numpy as np

from rnnlab.bench.workload import STORED, Problem
from rnnlab.cells import STATES
from rnnlab.graphs.cells import cell_name
from rnnlab.schedule import network_arrays as arrays_of
from rnnlab.schedule.card import Gpu
from rnnlab.schedule.plan import Sizes
from rnnlab.schedule.run_cuda import Prepared
from rnnlab.schedule.stages import STAGES, plan_for

QUEUE = (
    500  # commands that a stream takes before the host must wait for the GPU; the driver has room for 1024
)


class Stage:
    """A rung that is a list of passes, prepared on the GPU."""

    def __init__(self, asked: Problem, name: str):
        cell, T, B, I, H, L = asked.workload
        self.network, self.T, self.B = asked.network, T, B
        self.gpu, passes = Gpu(tf32=asked.precision == "tf32"), STAGES[name]
        dtype, before = STORED.get(asked.precision, asked.precision), self.gpu.used_bytes()
        nothing = tuple(np.zeros((L, B, H), "float32") for _ in STATES[cell])
        plans = (
            plan_for(way, cell_name(self.network), Sizes(T, B, I, H, L), passes)
            for way in ("forward", "backward")
        )
        given = arrays_of.forward_arrays(self.network, asked.x, nothing)
        there = Prepared(next(plans), dtype, given, self.gpu)
        incoming = arrays_of.backward_arrays(self.network, asked.dy, nothing)
        back = Prepared(
            next(plans), dtype, there.buffers | incoming, self.gpu, tuple(incoming.keys() - {"dy"})
        )
        self.parts = {"forward": (there,), "backward": (back,), "step": (there, back)}
        self.launches = {part: sum(each.plan.count() for each in them) for part, them in self.parts.items()}
        self.gpu.finish()
        self.bytes = self.gpu.used_bytes() - before  # a step makes nothing more: this is the highest too

    def seconds(self, part: str, repeats: int) -> float:
        """See contestant.Contestant."""

        def run() -> None:
            for _ in range(repeats):
                for each in self.parts[part]:
                    each.issue()

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
        there, back = self.parts["step"]
        y, _ = arrays_of.forward_results(self.network, there.arrays(), self.T, self.B)
        dx, _, gradients = arrays_of.backward_results(self.network, back.arrays(), self.T, self.B)
        return {"y": y, "dx": dx, **{name: gradients[name] for name in self.network.parameters}}


contestant = Stage
