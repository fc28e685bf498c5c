"""Numbers of the schedule view: the timeline of a pass under any choice of optimisations.

`prediction` simulates a whole pass.  A view simulates and draws at most LAUNCHES launches of the naive plan,
so that a slider's move stays under 150 ms: of a longer pass it shows the first steps, and says so.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from typing import NamedTuple

import numpy as np

from pocketgpu.devices import Device, find
from rnncourse.views.schedule_drawing import KINDS, Bars, Stage
from rnnlab.ladder import stage_passes
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
from rnnlab.schedule.timeline import predict

LAUNCHES = 1500  # of the naive plan that a view simulates
ONLY_WHEN = {wavefront, assign_streams, capture}  # passes that change when something runs, not what


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
    def sheet(self) -> Device:
        """The device's data sheet."""
        return find(self.device)

    @property
    def passes(self) -> tuple[stages.Pass, ...]:
        """The switches that are not in their first position, as passes over a plan, in order."""
        switches = {
            group_gates: self.group_gates,
            fuse_pointwise: self.fuse_pointwise,
            transpose_once: self.transpose_once,
            _batched(self.batch_inputs): self.batch_inputs != Settings.batch_inputs,
            weight_gradient_after_loop: self.weight_gradient_after_loop,
            wavefront: self.wavefront,
            _streamed(self.streams): self.streams != Settings.streams,
            capture: self.graph,
        }
        return tuple(change for change, is_on in switches.items() if is_on)


@cache
def _batched(steps: int | str) -> stages.Pass:
    """Input products of so many steps become one; always the same object, so that plans can be kept."""
    return partial(batch_inputs, steps=0 if steps == "T" else steps)


@cache
def _streamed(per_layer: int | str) -> stages.Pass:
    return partial(assign_streams, per_layer=per_layer)


class Prediction(NamedTuple):
    """The model's timeline of a pass; times in microseconds."""

    bars: Bars
    launches: int
    makespan: float
    tflops: float  # of the products
    idle: float  # share of the time in which no kernel is on the device


def shown_part(settings: Settings) -> Settings:
    """The settings with as many steps as a view simulates: an even number if it is not all of them."""
    steps = LAUNCHES // (settings.layers * _launches_of_a_cell(settings.direction, settings.cell)) // 2 * 2
    return replace(settings, steps=min(settings.steps, max(2, steps)))


@lru_cache(maxsize=32)
def prediction(settings: Settings) -> Prediction:
    """The timeline of these settings, of all their steps."""
    with _collector_off():
        plan = _plan(settings.direction, settings.cell, settings.sizes, settings.passes)
        timeline = predict(plan, settings.sheet)
    per_layer = 0 if settings.streams == Settings.streams else settings.streams
    names = ("", ", beside") if per_layer == 2 else ("",)
    bars = Bars(
        tuple(f"layer {layer}{name}" for layer in range(settings.layers) for name in names),
        np.array([operation.stream or operation.layer for operation in plan.operations]),
        np.array([list(KINDS).index(operation.kind) for operation in plan.operations]),
        *(np.array(times) for times in (timeline.start, timeline.end, timeline.issued)),
        settings.sheet.launch,
        [(_short_name(operation), operation.layer, *operation.steps) for operation in plan.operations],
    )
    return Prediction(bars, plan.count(), timeline.makespan, timeline.tflops, timeline.idle)


@lru_cache(maxsize=64)
def stage_times(direction: str, cell: str, sizes: Sizes, device: str) -> dict[str, float]:
    """Predicted microseconds of the ladder's stages: five timelines, once for each size and device."""
    with _collector_off():
        plans = {
            name: _plan(direction, cell, sizes, tuple(passes)) for name, passes in stage_passes().items()
        }
        return {name: predict(plan, find(device)).makespan for name, plan in plans.items()}


@lru_cache(maxsize=64)
def stage_numbers(direction: str, cell: str, sizes: Sizes) -> tuple[Stage, ...]:
    """Launches, bytes and FLOPs of the ladder's stages.

    All three grow by the same amount with every two steps, so those of a long sequence follow from two short
    ones; all layers have the same; and it matters what is launched, not the order or the stream.
    """
    T = min(sizes.T, 2 + sizes.T % 2)
    result = []
    for name, passes in stage_passes().items():
        what = tuple(change for change in passes if getattr(change, "func", change) not in ONLY_WHEN)
        short, longer = (_counts(direction, cell, replace(sizes, T=steps, L=1), what) for steps in (T, T + 2))
        pairs = zip(short, longer, strict=True)
        result.append(Stage(name, *(sizes.L * (a + (b - a) * ((sizes.T - T) // 2)) for a, b in pairs)))
    return tuple(result)


def _counts(direction: str, cell: str, sizes: Sizes, passes: tuple[stages.Pass, ...]) -> tuple[int, int, int]:
    """Launches, bytes and FLOPs."""
    plan = _plan(direction, cell, sizes, passes)
    return plan.count(), plan.bytes(), plan.flops


@contextmanager
def _collector_off() -> Iterator[None]:
    """Python's garbage collector off: plans are not garbage yet, and searching them doubles the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@lru_cache(maxsize=64)
def _plan(direction: str, cell: str, sizes: Sizes, passes: tuple[stages.Pass, ...]) -> Plan:
    """The plan, from the one that lacks the last pass: so a switch costs what comes after it."""
    if not passes:
        return stages.plan_for(direction, cell, sizes, ())
    return passes[-1](_plan(direction, cell, sizes, passes[:-1]))


@lru_cache
def _launches_of_a_cell(direction: str, cell: str) -> int:
    return stages.plan_for(direction, cell, Sizes(T=1, B=1, I=1, H=1, L=1), ()).count()


def _short_name(operation: Operation) -> str:
    """A name for a bar: W x, U h, dW, sum, tanh, ×17, …"""
    if operation.kind == "pointwise":
        return operation.body[0].rule if len(operation.body) == 1 else f"×{len(operation.body)}"
    if operation.kind == "gemm" and not operation.writes[0].buffer.startswith("dweight"):
        return "W" if operation.reads[1].buffer.startswith("weight_ih") else "U"
    written = operation.writes[0].buffer
    return {"dweight_ih": "dW", "dweight_hh": "dU"}.get(written.split("_l")[0], operation.kind)
