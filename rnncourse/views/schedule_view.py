"""A pass through a network on a GPU's timeline, with a switch for each optimisation: predicted, not measured.

When the host issues each kernel and when it runs, how many there are and how fast products go; below, what
each stage of the ladder has to move and to compute.  Published figures stand beside the prediction where
the settings are those of a publication.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from nbjudge.printable import quantity
from pocketgpu.devices import DEVICES, find
from rnncourse.figures.picture import Page, Slider, View, slider_view
from rnncourse.views.published_timelines import published
from rnncourse.views.schedule_drawing import draw, scaled
from rnncourse.views.schedule_numbers import (
    Prediction,
    Settings,
    prediction,
    shown_part,
    stage_numbers,
    stage_times,
)
from rnnlab.cells import CELLS
from rnnlab.graphs.cells import EQUATIONS

__all__ = [
    "Prediction",
    "Settings",
    "draw_schedule",
    "explore_schedule",
    "finding",
    "prediction",
    "stage_numbers",
    "stage_times",
]

OFF_ON = False, True
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


def finding(settings: Settings) -> str:
    """What the picture shows, in a few sentences; numbers are those of the steps that it shows."""
    shown = shown_part(settings)
    result = prediction(shown)
    device = find(settings.device)
    ladder = stage_numbers(settings.direction, settings.cell, settings.sizes)
    ends = ([scaled(s.bytes, "B"), scaled(s.flops, "FLOP")] for s in (ladder[0], ladder[-1]))
    ways = (f"keeps {a}" if a == b else f"goes from {a} to {b}" for a, b in zip(*ends, strict=True))
    steps = quantity(settings.steps, "step")
    return (
        f"Predicted for {device.name}, not measured{_part(settings)}: {quantity(result.launches, 'launch')}, "
        f"{result.makespan / 1e3:.3g} ms, {result.tflops:.3g} of {device.peak:.3g} TFLOP/s; for "
        f"{result.idle:.0%} of the time no kernel is on the device. {_beside(settings, result)}From "
        f"{ladder[0].name} to {ladder[-1].name} a pass of {steps} {' and '.join(ways)}."
    )


def draw_schedule(settings: Settings, look_at: float = 0, launches_shown: int = 50) -> Page:
    """The pass, a look at some launches of it, and the stages' bytes and times; a notebook shows it.

    Of a pass with more than LAUNCHES launches (schedule_numbers), the first steps are simulated and drawn.
    look_at: where the look begins, in % of the time.
    """
    result = prediction(shown_part(settings))
    alt = finding(settings)
    numbers = stage_numbers(settings.direction, settings.cell, settings.sizes)
    shown = shown_part(settings)
    times = stage_times(shown.direction, shown.cell, shown.sizes, shown.device)
    stages = [stage._replace(time=times[stage.name]) for stage in numbers]
    look = (look_at / 100, launches_shown)
    title = _title(settings, result)
    return Page(draw(result.bars, result.makespan, stages, look, (title, shown.steps), alt), alt)


def explore_schedule(
    passes: Sequence[str] = tuple(SWITCHES), sizes: Sequence[str] = tuple(SIZES), **start: Any
) -> View:
    """Sliders for these sizes, a switch for each of these passes; `start` sets both, and what has none.

    passes: keys of SWITCHES; sizes: keys of SIZES; start: fields of Settings, look_at, launches_shown.
    """
    first = Settings(**{name: value for name, value in start.items() if name not in LOOK})
    look = {name: start[name] for name in LOOK if name in start}
    shown = {name: SIZES[name] for name in sizes} | {name: SWITCHES[name] for name in passes}
    sliders = {name: _at(slider, getattr(first, name)) for name, slider in shown.items()}
    sliders |= {
        name: _at(slider, look.get(name, slider.values[slider.start])) for name, slider in LOOK.items()
    }
    return slider_view(partial(_draw, first), partial(_find, first), **sliders)


def _draw(first: Settings, look_at: float, launches_shown: int, **positions: Any) -> Page:
    return draw_schedule(replace(first, **positions), look_at, launches_shown)


def _find(first: Settings, look_at: float, launches_shown: int, **positions: Any) -> str:
    return finding(replace(first, **positions))


def _at(slider: Slider, value: Any) -> Slider:
    """The slider at this value, which joins the others if it is not among them."""
    if value in slider.values:
        return slider._replace(start=list(slider.values).index(value))
    if not isinstance(value, int):
        raise ValueError(f"{slider.label} is {value!r}; there are {', '.join(map(str, slider.values))}")
    numbers = sorted([*(number for number in slider.values if not isinstance(number, str)), value])
    words = [word for word in slider.values if isinstance(word, str)]
    return slider._replace(values=(*words, *numbers), start=len(words) + numbers.index(value))


def _title(settings: Settings, result: Prediction) -> str:
    return (
        f"predicted, {settings.device}{_part(settings)}: {result.makespan / 1e3:.3g} ms, "
        f"{quantity(result.launches, 'launch')}, {result.tflops:.3g} TFLOP/s. {_beside(settings, result)}"
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
    naive = prediction(replace(shown, **{name: getattr(Settings, name) for name in SWITCHES}))
    return (
        f"Predicted {naive.makespan / result.makespan:.1f} × naive, published {known.times_naive} × "
        f"({known.source}). "
    )
