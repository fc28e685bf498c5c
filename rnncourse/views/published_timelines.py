"""The timeline model beside published figures: python -m rnncourse.views.published_timelines

One set of constants for all devices (schedule/timeline.py).  A figure is a time, a factor over the naive
network, or a rate of the products; some are second-hand, and say so.  What is off by more than a quarter are
two steps of CuLSTM's backward pass, where the model makes naive products with the weights' gradients too
slow; that project does not say what exactly it batched.

FIGURES are published times of the very networks that the schedule view can show.  Appleyard, Kočiský and
Blunsom (2016): the ladder's factors are second-hand, from a student's report on their paper (Shubodh,
Optimizing-LSTMs-on-GPU); the last time is the one that NVIDIA's LSTM.cu states.  CuLSTM (CMU 15-418, 2017)
timed the backward pass of an LSTM with peepholes, whose pointwise work was always fused.
"""

from typing import Any, NamedTuple

from pocketgpu.devices import find
from rnncourse.records.gpu_report import aligned
from rnncourse.views.schedule_numbers import Settings, prediction
from rnnlab.ladder import layer_wavefront
from rnnlab.schedule.plan import Sizes
from rnnlab.schedule.stages import plan_for
from rnnlab.schedule.timeline import predict


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
    """The figure for these settings (schedule_numbers.Settings), None if there is none."""
    if (settings.hidden_size, settings.minibatch) != (512, 64):
        return None
    for where, switches, figure in FIGURES:
        if settings == type(settings)(**where, **switches):
            return figure
    return None


CLOSE = 0.25  # what the model aims for
SAMPLE = {  # NVIDIA's RNN sample for cuDNN, M40, T=20, 2 layers, H=512, B=64: GFLOP/s
    ("rnn_relu", "forward"): 1299,
    ("rnn_relu", "backward"): 2171,
    ("rnn_tanh", "forward"): 1296,
    ("rnn_tanh", "backward"): 2235,
    ("lstm", "forward"): 2635,
    ("lstm", "backward"): 2757,
    ("gru_after", "forward"): 2428,
    ("gru_after", "backward"): 2645,
}


class Line(NamedTuple):
    """A published figure and the model's."""

    what: str
    published: float
    predicted: float
    unit: str
    source: str

    @property
    def time_ratio(self) -> float:
        """Predicted time over published time, whatever the unit: above 1 the model is too slow."""
        ratio = self.predicted / self.published
        return ratio if self.unit == "ms" else 1 / ratio

    @property
    def is_close(self) -> bool:
        return abs(self.predicted / self.published - 1) <= CLOSE


def lines() -> list[Line]:
    """Every figure."""
    return [_of_figure(*line) for line in FIGURES] + [_of_sample(*line) for line in SAMPLE]


def _of_figure(where: dict, switches: dict, figure: Published) -> Line:
    settings = Settings(**where, **switches)
    what = f"{settings.direction}, {settings.layers} × {settings.cell}: {', '.join(switches) or 'naive'}"
    time = prediction(settings).makespan
    if figure.times_naive is None:
        return Line(what, figure.milliseconds, 1e-3 * time, "ms", f"{figure.source} ({settings.device})")
    naive = prediction(Settings(**where)).makespan
    return Line(what, figure.times_naive, naive / time, "× naive", f"{figure.source} ({settings.device})")


def _of_sample(cell: str, direction: str) -> Line:
    plan = plan_for(direction, cell, Sizes(20, 64, 512, 512, 2), layer_wavefront.PASSES)
    rate = 1e3 * predict(plan, find("M40")).tflops
    what = f"{direction}, 2 × {cell}, T=20: cuDNN's own schedule, ours for it"
    return Line(what, SAMPLE[cell, direction], rate, "GFLOP/s", "NVIDIA's sample (M40)")


def table(entries: list[Line]) -> str:
    """All figures, and which the model misses by more than a quarter."""
    head = ("what", "source", "published", "predicted", "time, predicted / published", "")
    rows = [
        (
            line.what,
            line.source,
            f"{line.published:g} {line.unit}",
            f"{line.predicted:.3g}",
            f"{line.time_ratio:.2f}",
            "" if line.is_close else "off",
        )
        for line in entries
    ]
    close = sum(line.is_close for line in entries)
    return f"{aligned([head, *rows])}\n\n{close} of {len(entries)} within {CLOSE:.0%}"


if __name__ == "__main__":
    print(table(lines()))
