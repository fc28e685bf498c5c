"""Drawings of the lessons: how a thing is, before any prose; numbers that were measured are charts.

`show("unrolled_network")` displays one.  Each drawing is a function that returns a Sheet of SVG; the language
they share (roles, arrows, sizes) and the shapes stand in pen.py and parts.py.
"""

from collections.abc import Callable

from rnnlab.drawings import (
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
    schedules,
    sequences,
    threads,
)
from rnnlab.drawings.pen import Sheet
from rnnlab.picture import Slider, display, slider_view

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
    "product_in_tiles": Slider("turn", range(len(products.TURNS)), 3),
    "register_tile": Slider("term", range(products.TERMS), 1),
    "wavefront": Slider("turn", range(schedules.TURNS), schedules.MARK),
}


def show(name: str) -> None:
    """Displays a drawing, with a slider where time passes in it; its alternative text states the finding.

    Raises ValueError for an unknown name.
    """
    if name not in DRAWINGS:
        raise ValueError(f"no drawing is called {name!r}; rnnlab.drawings.DRAWINGS has the names")
    draw = DRAWINGS[name]
    if name in STEPPERS:
        slider = STEPPERS[name]
        display(slider_view(draw, lambda **step: draw(**step).now, **{slider.label: slider}))
    else:
        display(draw())
