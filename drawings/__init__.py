"""Drawings of the lessons: how a thing is, before any prose; numbers that were measured are charts.

Each drawing is a function that returns a Sheet of SVG: pen.py has its shapes, rnncourse/figures/pen.py their
colours, parts.py what many drawings share.  `python -m rnncourse.build` writes them into rnncourse/drawings/,
where lessons find them.
"""

import json
from collections.abc import Callable

from drawings import (
    arithmetic,
    gates,
    kernels,
    launches,
    packing,
    persistence,
    products,
    ranks,
    recurrence,
    residual,
    scans,
    schedules,
    sequences,
    threads,
)
from drawings.pen import Sheet
from rnncourse.figures.picture import Slider

MODULES = (
    recurrence,
    sequences,
    gates,
    arithmetic,
    products,
    packing,
    persistence,
    threads,
    kernels,
    launches,
    schedules,
    ranks,
    scans,
    residual,
)
DRAWINGS: dict[str, Callable[..., Sheet]] = {
    name: function
    for module in MODULES
    for name, function in vars(module).items()
    if getattr(function, "__module__", "") == module.__name__
    and getattr(function, "__annotations__", {}).get("return") is Sheet
}
STEPPERS = {  # drawings of something that passes in time, with what their argument steps through
    "arrows_back": Slider("visit", range(len(recurrence.NAMES)), 1),
    "step_by_units": Slider("unit", range(sequences.UNITS), 1),
    "ring_steps": Slider("step", range(ranks.STEPS), 1),
    "barrier_of_flags": Slider("stage", range(len(persistence.STAGES)), 2),
    "tiled_product": Slider("strip", range(threads.STRIPS), 1),
    "sum_by_halving": Slider("turn", range(threads.ROUNDS), 1),
    "register_tile": Slider("term", range(products.TERMS), 1),
    "scan_levels": Slider("level", range(6), 1),
    "wavefront": Slider("turn", range(schedules.TURNS), schedules.MARK),
}


def files() -> dict[str, bytes]:
    """{name: content} of rnncourse/drawings/: NAME.svg, NAME_0.svg … if it has steps, and their sentences."""
    still = {name: draw for name, draw in DRAWINGS.items() if name not in STEPPERS}
    texts = {f"{name}.svg": draw().tag() for name, draw in still.items()}
    steps = {}
    for name, slider in STEPPERS.items():
        sheets = [DRAWINGS[name](**{slider.label: value}) for value in slider.values]
        texts |= {f"{name}_{step}.svg": sheet.tag() for step, sheet in enumerate(sheets)}
        now = [sheet.now for sheet in sheets]
        steps[name] = {"label": slider.label, "start": slider.start, "now": now}
    texts["steps.json"] = json.dumps(steps, indent=1, ensure_ascii=False) + "\n"
    return {name: text.encode() for name, text in texts.items()}
