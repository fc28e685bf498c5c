"""Published times of the very networks that the schedule view can show.

Appleyard, Kočiský and Blunsom (2016): the ladder's factors are second-hand, from a student's report on their
paper (Shubodh, Optimizing-LSTMs-on-GPU); the last time is the one that NVIDIA's LSTM.cu states.  CuLSTM (CMU
15-418, 2017) timed the backward pass of an LSTM with peepholes, whose pointwise work was always fused.  The
model's distance from all of them is printed by `python -m bench.timeline_figures`.
"""

from typing import Any, NamedTuple


class Published(NamedTuple):
    """A figure for one position of the switches: a time, or how many times faster than naive."""

    milliseconds: float | None
    times_naive: float | None
    source: str


LADDER = "Appleyard et al. 2016, second-hand"
LSTM_CU = "LSTM.cu, measured on an M40"
CULSTM = "CuLSTM, with peepholes"
ONE_LAYER = {"direction": "forward", "cell": "lstm", "device": "M40", "layers": 1, "steps": 100}
FOUR_LAYERS = ONE_LAYER | {"layers": 4}
BACKWARD = FOUR_LAYERS | {"direction": "backward", "device": "GTX1080"}
STREAMED = {"group_gates": True, "streams": 2}
LAST = {**STREAMED, "fuse_pointwise": True, "transpose_once": True, "batch_inputs": 2, "wavefront": True}
FUSED = {"fuse_pointwise": True}
LAYERS = {"streams": 1, "wavefront": True}
ONCE = {"weight_gradient_after_loop": True}

FIGURES = (  # where, switches that are not in their first position, the figure
    (ONE_LAYER, {"group_gates": True}, Published(None, 1.9, LADDER)),
    (ONE_LAYER, STREAMED, Published(None, 2.8, LADDER)),
    (ONE_LAYER, {**STREAMED, **FUSED}, Published(None, 5.3, LADDER)),
    (ONE_LAYER, {**STREAMED, **FUSED, "transpose_once": True}, Published(None, 6.2, LADDER)),
    (FOUR_LAYERS, LAST, Published(27.8, None, LSTM_CU)),
    (BACKWARD, FUSED, Published(159.0, None, CULSTM)),
    (BACKWARD, {**FUSED, "group_gates": True}, Published(108.4, None, CULSTM)),
    (BACKWARD, {**FUSED, **LAYERS}, Published(76.7, None, CULSTM)),
    (BACKWARD, {**FUSED, **ONCE}, Published(107.8, None, CULSTM)),
    (BACKWARD, {**FUSED, "group_gates": True, **LAYERS, **ONCE}, Published(47.7, None, CULSTM)),
)


def published(settings: Any) -> Published | None:
    """The figure for these settings (schedule_view.Settings), None if there is none."""
    if (settings.hidden_size, settings.minibatch) != (512, 64):
        return None
    for where, switches, figure in FIGURES:
        if settings == type(settings)(**where, **switches):
            return figure
    return None
