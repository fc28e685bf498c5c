"""What the schedule view shows, in numbers: the timeline of a pass under any choice of optimisations."""

from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from rnnlab.machine.devices import find
from rnnlab.schedule import stages
from rnnlab.schedule.order import assign_streams, capture, wavefront
from rnnlab.schedule.passes import (
    batch_inputs,
    fuse_pointwise,
    group_gates,
    transpose_once,
    weight_gradient_after_loop,
)
from rnnlab.schedule.plan import Operation, Plan, Sizes
from rnnlab.schedule.timeline import issue_times, predict
from rnnlab.widgets.schedule_drawing import KINDS, Bars, Stage

STAGES = {
    "kernel_per_operation": stages.KERNEL_PER_OPERATION,
    "fused_cell": stages.FUSED_CELL,
    "fused_layer": stages.FUSED_LAYER,
    "layer_wavefront": stages.LAYER_WAVEFRONT,
    "graph_replay": stages.GRAPH_REPLAY,
}
PASSES = {  # in the order in which they are made, from the position of their switch
    "group_gates": lambda _: group_gates,
    "fuse_pointwise": lambda _: fuse_pointwise,
    "transpose_once": lambda _: transpose_once,
    "batch_inputs": lru_cache(lambda steps: partial(batch_inputs, steps=0 if steps == "T" else steps)),
    "weight_gradient_after_loop": lambda _: weight_gradient_after_loop,
    "wavefront": lambda _: wavefront,
    "streams": lru_cache(lambda per_layer: partial(assign_streams, per_layer=per_layer)),
    "graph": lambda _: capture,
}


@dataclass(frozen=True)
class Settings:
    """One position of all switches and sliders; the inputs are as wide as the layers, I = H."""

    direction: str = "forward"
    cell: str = "lstm"
    layers: int = 4
    hidden_size: int = 512
    minibatch: int = 64
    steps: int = 100
    device: str = "H200"
    group_gates: bool = False
    fuse_pointwise: bool = False
    transpose_once: bool = False
    batch_inputs: int | str = "off"  # steps whose input products become one; "T" for all
    weight_gradient_after_loop: bool = False
    wavefront: bool = False
    streams: int | str = "one for all"  # 1 or 2 a layer
    graph: bool = False

    @property
    def sizes(self) -> Sizes:
        return Sizes(self.steps, self.minibatch, self.hidden_size, self.hidden_size, self.layers)

    @property
    def passes(self) -> tuple[stages.Pass, ...]:
        """The switches that are not as at first, as passes over a plan, in order."""
        on = [name for name in PASSES if getattr(self, name) != getattr(Settings, name)]
        return tuple(PASSES[name](getattr(self, name)) for name in on)


class Prediction(NamedTuple):
    """What the model says of a pass; times in microseconds."""

    bars: Bars
    launches: int
    makespan: float
    tflops: float  # of the products
    idle: float  # share of the time in which no kernel is on the device


def settings_of_stage(stage: str, **sizes: Any) -> Settings:
    """The settings under which the view shows one of the five named stages."""
    at = list(STAGES).index(stage)
    names = ("group_gates", "fuse_pointwise")
    later = ("transpose_once", "weight_gradient_after_loop")
    on = dict.fromkeys(names, at > 0) | dict.fromkeys(later, at > 1)
    batch = ("off", "off", "T", 2, 2)[at]
    streams = 2 if at else "one for all"
    return Settings(**sizes, **on, batch_inputs=batch, wavefront=at > 2, streams=streams, graph=at > 3)


@lru_cache(maxsize=32)
def prediction(settings: Settings) -> Prediction:
    """The timeline of these settings in numbers."""
    plan = stages.make_plan(settings.direction, settings.cell, settings.sizes, settings.passes)
    timeline = predict(plan, find(settings.device))
    start, end = np.array(timeline.start), np.array(timeline.end)
    bars = _bars(plan, start, end, np.array(issue_times(plan, timeline.device)), timeline.device.launch)
    idle = 1 - _covered(start, end) / timeline.makespan
    return Prediction(bars, plan.count(), timeline.makespan, timeline.tflops, idle)


@lru_cache(maxsize=64)
def stage_numbers(direction: str, cell: str, sizes: Sizes) -> tuple[Stage, ...]:
    """Launches, bytes and FLOPs of the five named stages.

    All three grow by the same amount with every two steps, so a long sequence is told from two short ones.
    """
    found = []
    for name, passes in STAGES.items():
        T = sizes.T if sizes.T <= 6 else 4 + sizes.T % 2
        short, longer = (
            _counted(stages.make_plan(direction, cell, replace(sizes, T=length), passes))
            for length in (T, T + 2)
        )
        found.append(
            Stage(name, *(int(a + (b - a) * (sizes.T - T) // 2) for a, b in zip(short, longer, strict=True)))
        )
    return tuple(found)


def _bars(plan: Plan, start: np.ndarray, end: np.ndarray, issued: list[float], launch: float) -> Bars:
    """Rows are streams if there are some, else layers."""
    streams = 1 + max(each.stream for each in plan.operations)
    beside = streams > plan.sizes.L
    rows = [
        f"layer {k}{each}" for k in range(plan.sizes.L) for each in (("", ", beside") if beside else ("",))
    ]
    row = [each.stream if streams > 1 else each.layer for each in plan.operations]
    kinds = {kind: k for k, kind in enumerate(KINDS)}
    kind = [kinds[each.kind] for each in plan.operations]
    says = [(_short(each), each.layer, *each.steps) for each in plan.operations]
    return Bars(tuple(rows), np.array(row), np.array(kind), start, end, np.array(issued), launch, says)


def _short(each: Operation) -> str:
    """A name for a bar: W x, U h, dW, sum, tanh, ×17, …"""
    if each.kind == "pointwise":
        return each.body[0].rule if len(each.body) == 1 else f"×{len(each.body)}"
    if each.kind == "gemm" and not each.writes[0].buffer.startswith("dweight"):
        return "W" if each.reads[1].buffer.startswith("weight_ih") else "U"
    written = each.writes[0].buffer
    return {"dweight_ih": "dW", "dweight_hh": "dU"}.get(written.split("_l")[0], each.kind)


def _covered(start: np.ndarray, end: np.ndarray) -> float:
    """Microseconds in which at least one of the intervals runs."""
    order = np.argsort(start, kind="stable")
    until = np.maximum.accumulate(end[order])
    before = np.concatenate([[0.0], until[:-1]])
    return float(np.maximum(0, until - np.maximum(start[order], before)).sum())


def _counted(plan: Plan) -> tuple[int, int, int]:
    return plan.count(), plan.bytes(), plan.flops
