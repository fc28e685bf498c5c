"""Drawings that open the lessons: how a thing is, before any prose; numbers that were measured are charts.

`show("unrolled_network")` displays one.  Each drawing is a function that returns a Sheet of SVG; the language
they share (roles, arrows, sizes) stands in roles.py, the shapes in pen.py.
"""

from collections.abc import Callable

from rnnlab.drawings import arithmetic, kernels, packing, ranks, recurrence, schedules
from rnnlab.drawings.pen import Sheet
from rnnlab.picture import Slider, display, slider_view

DRAWINGS: dict[str, Callable[[], Sheet]] = {  # in the order of the lessons that they open
    function.__name__: function
    for function in (
        recurrence.shared_weights,
        recurrence.unrolled_network,
        recurrence.arrows_back,
        recurrence.training_loop,
        arithmetic.graph_and_mirror,
        arithmetic.equal_arithmetic,
        arithmetic.passes_over_memory,
        arithmetic.threads_and_barriers,
        packing.packed_panels,
        kernels.grid_block_warp,
        kernels.shared_tile,
        kernels.launch_timeline,
        kernels.fused_cell,
        schedules.fused_layer,
        schedules.wavefront,
        schedules.weights_on_chip,
        schedules.cluster_exchange,
        ranks.ring_all_reduce,
    )
}
STEPPERS = {  # drawings of something that passes in time: words for each turn, and the turns
    "wavefront": (
        schedules.describe_turn,
        Slider("turn", range(schedules.TURNS), schedules.LIT),
    ),
}


def show(name: str) -> None:
    """Displays a drawing, with a slider where time passes in it; its alternative text states the finding.

    Raises ValueError for an unknown name.
    """
    if name not in DRAWINGS:
        raise ValueError(f"no drawing is called {name!r}; there are {', '.join(DRAWINGS)}")
    draw = DRAWINGS[name]
    if name in STEPPERS:
        describe, slider = STEPPERS[name]
        display(slider_view(draw, describe, turn=slider))
    else:
        display(draw())
