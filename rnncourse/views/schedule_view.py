"""A pass through a network on a GPU's timeline, with a switch for each optimisation: predicted, not measured.

When the host issues each kernel and when it runs, how many there are and how fast products go; below, what
each stage of the ladder has to move and to compute.  Published figures stand beside the prediction where
the settings are those of a publication.

`prediction` simulates a whole pass.  A view simulates and draws at most LAUNCHES launches of the naive
plan, so that a slider's move stays under 150 ms: of a longer pass it shows the first steps, and says so.
"""

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np

from nbjudge.printable import quantity
from pocketgpu.devices import DEVICES, Device, find
from rnncourse.figures.picture import OFF_ON, Page, Slider, View, slider_view
from rnncourse.views.published_timelines import published
from rnncourse.views.schedule_drawing import KINDS, Bars, Stage, draw, scaled
from rnnlab.cells import CELLS
from rnnlab.graphs.cells import EQUATIONS
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

SWITCHES = {  # by pass, in the order in which they are made
    "group_gates": Slider("group gates", OFF_ON),
    "fuse_pointwise": Slider("fuse pointwise", OFF_ON),
    "transpose_once": Slider("transpose once", OFF_ON),
    "batch_inputs": Slider("inputs of k steps", ("off", 2, 4, 8, 16, "T")),
    "weight_gradient_after_loop": Slider("weight gradient once", OFF_ON),
    "wavefront": Slider("wavefront", OFF_ON),
    "streams": Slider("streams a layer", ("one for all", 1, 2)),
    "graph": Slider("CUDA graph", OFF_ON),
}
SIZES = {
    "direction": Slider("direction", ("forward", "backward")),
    "cell": Slider("cell", tuple(name for name in EQUATIONS if CELLS[name].reads_state)),
    "layers": Slider("layers L", range(1, 5)),
    "hidden_size": Slider("hidden size H", (32, 64, 128, 256, 512, 1024, 2048)),
    "minibatch": Slider("minibatch B", (1, 4, 16, 32, 64, 128, 256)),
    "steps": Slider("steps T", (1, 2, 5, 10, 20, 50, 100)),
    "device": Slider("device", tuple(DEVICES)),
}
LOOK = {
    "look_at": Slider("look at, % of the time", range(0, 101, 5)),
    "launches_shown": Slider("launches to look at", (12, 25, 50, 100, 200), start=2),
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
    launches_per_cell = _launches_of_a_cell(settings.direction, settings.cell)
    launches_per_step = settings.layers * launches_per_cell
    even_steps = LAUNCHES // launches_per_step // 2 * 2
    steps = max(2, even_steps)
    return replace(settings, steps=min(settings.steps, steps))


@lru_cache(maxsize=32)
def prediction(settings: Settings) -> Prediction:
    """The timeline of these settings, of all their steps."""
    with _collector_off():
        plan = _plan(settings.direction, settings.cell, settings.sizes, settings.passes)
        timeline = predict(plan, settings.sheet)
    kinds = list(KINDS)
    row = []
    kind = []
    labels = []
    for operation in plan.operations:
        row.append(operation.stream or operation.layer)
        kind.append(kinds.index(operation.kind))
        name = _short_name(operation)
        labels.append((name, operation.layer, *operation.steps))
    bars = Bars(
        rows=_row_names(settings),
        row=np.array(row),
        kind=np.array(kind),
        start=np.array(timeline.start),
        end=np.array(timeline.end),
        issued=np.array(timeline.issued),
        issue=settings.sheet.launch,
        labels=labels,
    )
    launches = plan.count()
    return Prediction(bars, launches, timeline.makespan, timeline.tflops, timeline.idle)


def _row_names(settings: Settings) -> tuple[str, ...]:
    """Rows of the timeline, one for each stream of each layer."""
    names = []
    for layer in range(settings.layers):
        names.append(f"layer {layer}")
        if settings.streams == 2:
            names.append(f"layer {layer}, beside")
    return tuple(names)


@lru_cache(maxsize=64)
def stage_times(direction: str, cell: str, sizes: Sizes, device: str) -> dict[str, float]:
    """Predicted microseconds of the ladder's stages: five timelines, once for each size and device."""
    with _collector_off():
        sheet = find(device)
        makespans = {}
        for name, passes in stage_passes().items():
            plan = _plan(direction, cell, sizes, tuple(passes))
            makespans[name] = predict(plan, sheet).makespan
        return makespans


@lru_cache(maxsize=64)
def stage_numbers(direction: str, cell: str, sizes: Sizes) -> tuple[Stage, ...]:
    """Launches, bytes and FLOPs of the ladder's stages.

    All three grow by the same amount with every two steps, so those of a long sequence follow from two short
    ones; all layers have the same; and it matters what is launched, not the order or the stream.
    """
    T = min(sizes.T, 2 + sizes.T % 2)
    pairs_left = (sizes.T - T) // 2
    short_sizes = replace(sizes, T=T, L=1)
    longer_sizes = replace(sizes, T=T + 2, L=1)
    result = []
    for name, passes in stage_passes().items():
        what = tuple(change for change in passes if _changes_what_runs(change))
        short = _counts(direction, cell, short_sizes, what)
        longer = _counts(direction, cell, longer_sizes, what)
        of_layer = short + (longer - short) * pairs_left
        of_all_layers = sizes.L * of_layer
        result.append(Stage(name, *of_all_layers.tolist()))
    return tuple(result)


def _changes_what_runs(change: stages.Pass) -> bool:
    function = getattr(change, "func", change)  # a partial's
    return function not in ONLY_WHEN


def _counts(direction: str, cell: str, sizes: Sizes, passes: tuple[stages.Pass, ...]) -> np.ndarray:
    """Launches, bytes and FLOPs [3]."""
    plan = _plan(direction, cell, sizes, passes)
    return np.array([plan.count(), plan.bytes(), plan.flops])


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
    *earlier, last = passes
    return last(_plan(direction, cell, sizes, tuple(earlier)))


@lru_cache
def _launches_of_a_cell(direction: str, cell: str) -> int:
    one_cell = Sizes(T=1, B=1, I=1, H=1, L=1)
    return stages.plan_for(direction, cell, one_cell, ()).count()


def _short_name(operation: Operation) -> str:
    """A name for a bar: W x, U h, dW, sum, tanh, ×17, …"""
    if operation.kind == "pointwise":
        count = len(operation.body)
        return operation.body[0].rule if count == 1 else f"×{count}"
    written = operation.writes[0].buffer
    if operation.kind == "gemm" and not written.startswith("dweight"):
        weight = operation.reads[1].buffer
        return "W" if weight.startswith("weight_ih") else "U"
    parameter = written.split("_l")[0]
    return {"dweight_ih": "dW", "dweight_hh": "dU"}.get(parameter, operation.kind)


def finding(settings: Settings) -> str:
    """What the picture shows, in a few sentences; numbers are those of the steps that it shows."""
    result = prediction(shown_part(settings))
    device = settings.sheet
    part = _part(settings)
    published_figure = _beside(settings, result)
    launches = quantity(result.launches, "launch")
    milliseconds = result.makespan / 1e3
    first, *_, last = stage_numbers(settings.direction, settings.cell, settings.sizes)
    traffic = _change(first.bytes, last.bytes, "B")
    arithmetic = _change(first.flops, last.flops, "FLOP")
    steps = quantity(settings.steps, "step")
    return (
        f"Predicted for {device.name}, not measured{part}: {launches}, "
        f"{milliseconds:.3g} ms, {result.tflops:.3g} of {device.peak:.3g} TFLOP/s; for "
        f"{result.idle:.0%} of the time no kernel is on the device. {published_figure}From "
        f"{first.name} to {last.name} a pass of {steps} {traffic} and {arithmetic}."
    )


def _change(first: float, last: float, unit: str) -> str:
    before = scaled(first, unit)
    after = scaled(last, unit)
    return f"keeps {before}" if before == after else f"goes from {before} to {after}"


def draw_schedule(settings: Settings, look_at: float = 0, launches_shown: int = 50) -> Page:
    """The pass, a look at some launches of it, and the stages' bytes and times; a notebook shows it.

    Of a pass with more than LAUNCHES launches, the first steps are simulated and drawn.
    look_at: where the look begins, in % of the time.
    """
    shown = shown_part(settings)
    result = prediction(shown)
    alt = finding(settings)
    numbers = stage_numbers(settings.direction, settings.cell, settings.sizes)
    times = stage_times(shown.direction, shown.cell, shown.sizes, shown.device)
    stages = [stage._replace(time=times[stage.name]) for stage in numbers]
    look = (look_at / 100, launches_shown)
    title = (_title(settings, result), shown.steps)
    svg = draw(result.bars, result.makespan, stages, look, title, alt)
    return Page(svg, alt)


def explore_schedule(
    passes: Sequence[str] = tuple(SWITCHES), sizes: Sequence[str] = tuple(SIZES), **start: Any
) -> View:
    """Sliders for these sizes, a switch for each of these passes; `start` sets both, and what has none.

    passes: keys of SWITCHES; sizes: keys of SIZES; start: fields of Settings, look_at, launches_shown.
    """
    look = {}
    for name, slider in LOOK.items():
        value = start.pop(name, slider.values[slider.start])
        look[name] = _at(slider, value)
    first = Settings(**start)
    shown = {name: SIZES[name] for name in sizes}
    shown |= {name: SWITCHES[name] for name in passes}
    sliders = {name: _at(slider, getattr(first, name)) for name, slider in shown.items()}
    sentence = lambda look_at, launches_shown, **to: finding(replace(first, **to))
    return slider_view(partial(_draw, first), sentence, **sliders, **look)


def _draw(first: Settings, look_at: float, launches_shown: int, **positions: Any) -> Page:
    return draw_schedule(replace(first, **positions), look_at, launches_shown)


def _at(slider: Slider, value: Any) -> Slider:
    """The slider at this value, which joins the others if it is not among them."""
    if value in slider.values or not isinstance(value, int):
        return slider.at(value)
    names = [other for other in slider.values if isinstance(other, str)]
    numbers = sorted({*slider.values, value} - {*names})
    extended = slider._replace(values=(*names, *numbers))
    return extended.at(value)


def _title(settings: Settings, result: Prediction) -> str:
    part = _part(settings)
    milliseconds = result.makespan / 1e3
    launches = quantity(result.launches, "launch")
    published_figure = _beside(settings, result)
    return (
        f"predicted, {settings.device}{part}: {milliseconds:.3g} ms, "
        f"{launches}, {result.tflops:.3g} TFLOP/s. {published_figure}"
    )


def _part(settings: Settings) -> str:
    """Which steps are simulated; empty if all are."""
    steps = shown_part(settings).steps
    return "" if steps == settings.steps else f", the first {steps} of {settings.steps} steps"


def _beside(settings: Settings, result: Prediction) -> str:
    """A published figure next to the prediction in the same unit; empty where there is none."""
    known = published(settings)
    shown = shown_part(settings)
    if known is None:
        return ""
    if known.milliseconds:
        published_ms = known.milliseconds / settings.steps
        predicted_ms = result.makespan / 1e3 / shown.steps
        return (
            f"Published: {known.milliseconds} ms ({known.source}), {published_ms:.3g} ms a step; predicted "
            f"{predicted_ms:.3g} ms a step. "
        )
    all_off = {name: getattr(Settings, name) for name in SWITCHES}
    naive = prediction(replace(shown, **all_off))
    speedup = naive.makespan / result.makespan
    return f"Predicted {speedup:.1f} × naive, published {known.times_naive} × ({known.source}). "
