"""What the schedule view shows, in numbers: the timeline of a pass under any choice of optimisations."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from rnnlab.machine.devices import Device, find
from rnnlab.schedule import stages
from rnnlab.schedule.joining import cells_of
from rnnlab.schedule.order import assign_streams, capture, wavefront
from rnnlab.schedule.passes import (
    batch_inputs,
    fuse_pointwise,
    group_gates,
    transpose_once,
    weight_gradient_after_loop,
)
from rnnlab.schedule.plan import Sizes
from rnnlab.schedule.repeat import alike, showing_all
from rnnlab.schedule.timeline import Queues, Work, issue_times, run, work_of
from rnnlab.widgets.schedule_drawing import Bars, Stage
from rnnlab.widgets.schedule_table import launch, table_of

STAGES = {
    "kernel_per_operation": stages.KERNEL_PER_OPERATION,
    "fused_cell": stages.FUSED_CELL,
    "fused_layer": stages.FUSED_LAYER,
    "layer_wavefront": stages.LAYER_WAVEFRONT,
    "graph_replay": stages.GRAPH_REPLAY,
}
ONLY_WHEN = {wavefront, assign_streams, capture}  # passes that change when something runs, not what
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
    def of_device(self) -> Device:
        return find(self.device)

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
    on = dict.fromkeys(("group_gates", "fuse_pointwise"), at > 0)
    on |= dict.fromkeys(("transpose_once", "weight_gradient_after_loop"), at > 1)
    batch = ("off", "off", "T", 2, 2)[at]
    streams = 2 if at else "one for all"
    return Settings(**sizes, **on, batch_inputs=batch, wavefront=at > 2, streams=streams, graph=at > 3)


@lru_cache(maxsize=32)
def prediction(settings: Settings) -> Prediction:
    """The timeline of these settings in numbers."""
    within = {*stages.WITHIN_A_CELL, capture}
    with _collector_at_rest():
        return (_of_cells if within.issuperset(settings.passes) else _of_plan)(settings)


@lru_cache(maxsize=64)
def stage_numbers(direction: str, cell: str, sizes: Sizes) -> tuple[Stage, ...]:
    """Launches, bytes and FLOPs of the five named stages.

    All three grow by the same amount with every two steps, so a long sequence is told from two short ones;
    all layers have the same; and it matters what is launched, not the order or the stream.
    """
    T, found = min(sizes.T, 2 + sizes.T % 2), []
    for name, passes in STAGES.items():
        what = tuple(each for each in passes if each not in ONLY_WHEN)
        with _collector_at_rest():
            two = [_counted(direction, cell, replace(sizes, T=length, L=1), what) for length in (T, T + 2)]
        pairs = zip(*two, strict=True)
        found.append(Stage(name, *(sizes.L * (a + (b - a) * ((sizes.T - T) // 2)) for a, b in pairs)))
    return tuple(found)


def _counted(direction: str, cell: str, sizes: Sizes, passes: tuple[stages.Pass, ...]) -> list[int]:
    """Launches, bytes and FLOPs."""
    table = table_of(direction, cell, sizes, passes)
    few, times = table.resized(sizes.B, sizes.H), np.bincount(table.like).tolist()
    asked = [(n, n * each.bytes(), n * each.flops) for each, n in zip(few, times, strict=True)]
    return [sum(each) for each in zip(*asked, strict=True)]


def _of_plan(settings: Settings) -> Prediction:
    """Any plan: operation by operation."""
    launched = tuple(each for each in settings.passes if each is not capture)  # it changes no launch
    table = table_of(settings.direction, settings.cell, settings.sizes, launched)
    few = table.resized(settings.minibatch, settings.hidden_size)
    work = Work(*(each[table.like] for each in work_of(few, settings.of_device)))
    mflops = np.array([each.flops / 1e6 if each.kind == "gemm" else 0.0 for each in few])
    return _predicted(settings, table.launches, _when(settings, table.queues, work), mflops[table.like].sum())


def _of_cells(settings: Settings) -> Prediction:
    """A plan whose cells run one after another in one stream: the same, from one cell of each kind."""
    few = stages.make_plan(settings.direction, settings.cell, showing_all(settings.sizes), settings.passes)
    cells = {key: [few.operations[k] for k in places] for key, places in cells_of(few).items()}
    kinds = {key: [launch(each)[:2] for each in cell] for key, cell in cells.items()}
    work = {key: work_of(cell, settings.of_device).alone for key, cell in cells.items()}
    mflops = {key: sum(each.flops for each in cell if each.kind == "gemm") for key, cell in cells.items()}
    launches, alone, total = [], [], 0
    for (layer, step), (like, turn) in alike(settings.direction, settings.sizes):
        key = like, (turn, turn + 1)
        launches += [(*each, layer, layer, step, step + 1) for each in kinds[key]]
        alone.append(work[key])
        total += mflops[key]
    alone, none = np.concatenate(alone), np.zeros(len(launches), int)
    when = _when(settings, Queues(none, none, none), Work(none, none, alone))
    return _predicted(settings, launches, when, total / 1e6)


def _when(settings: Settings, queues: Queues, work: Work) -> list[np.ndarray]:
    """Start, end and issue of each launch."""
    device = settings.of_device
    return [*run(queues, work, device, settings.graph), issue_times(len(work.alone), device, settings.graph)]


def _predicted(
    settings: Settings, launches: list[tuple], when: list[np.ndarray], mflops: float
) -> Prediction:
    """launches: (kind, name, row, layer, first step, one past the last); when: start, end, issue of each."""
    start, end, issued = when
    streams = 0 if settings.streams == Settings.streams else settings.streams
    of_layer = ("", ", beside") if streams == 2 else ("",)
    rows = tuple(f"layer {k}{which}" for k in range(settings.layers) for which in of_layer)
    row, kind = (np.array([each[k] for each in launches]) for k in (2, 0))
    says = [(each[1], *each[3:]) for each in launches]
    bars = Bars(rows, row, kind, start, end, issued, settings.of_device.launch, says)
    makespan = float(end.max())
    return Prediction(bars, len(launches), makespan, mflops / makespan, 1 - _covered(start, end) / makespan)


@contextmanager
def _collector_at_rest() -> Iterator[None]:
    """Python's collector off: walking through plans, none of which is garbage yet, doubles the time.

    Afterwards all objects count as old ones, or the collector would walk through the new plans at once.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.freeze()
            gc.unfreeze()
            gc.enable()


def _covered(start: np.ndarray, end: np.ndarray) -> float:
    """Microseconds in which at least one of the intervals runs."""
    order = np.argsort(start, kind="stable")
    until = np.maximum.accumulate(end[order])
    before = np.concatenate([[0.0], until[:-1]])
    return float(np.maximum(0, until - np.maximum(start[order], before)).sum())
