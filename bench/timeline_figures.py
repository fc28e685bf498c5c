"""The timeline model beside published figures: python -m bench.timeline_figures

One set of constants for all devices (schedule/timeline.py).  A figure is a time, a factor over the naive
network, or a rate of the products; some are second-hand, and say so.  What is off by more than a quarter are
two steps of CuLSTM's backward pass, where the model makes naive products with the weights' gradients too
slow; that project does not say what exactly it batched.
"""

from typing import NamedTuple

from pocketgpu.devices import find
from rnncourse.records.gpu_report import aligned
from rnncourse.views.published_timelines import FIGURES, Published
from rnncourse.views.schedule_view import Settings, prediction
from rnnlab.ladder import layer_wavefront
from rnnlab.schedule.plan import Sizes
from rnnlab.schedule.stages import plan_for
from rnnlab.schedule.timeline import predict

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


class ComparedFigure(NamedTuple):
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


def lines() -> list[ComparedFigure]:
    """Every figure."""
    return [_of_figure(*line) for line in FIGURES] + [_of_sample(*line) for line in SAMPLE]


def _of_figure(where: dict, switches: dict, figure: Published) -> ComparedFigure:
    settings = Settings(**where, **switches)
    what = f"{settings.direction}, {settings.layers} × {settings.cell}: {', '.join(switches) or 'naive'}"
    time = prediction(settings).makespan
    if figure.times_naive is None:
        return ComparedFigure(
            what, figure.milliseconds, 1e-3 * time, "ms", f"{figure.source} ({settings.device})"
        )
    naive = prediction(Settings(**where)).makespan
    return ComparedFigure(
        what, figure.times_naive, naive / time, "× naive", f"{figure.source} ({settings.device})"
    )


def _of_sample(cell: str, direction: str) -> ComparedFigure:
    plan = plan_for(direction, cell, Sizes(20, 64, 512, 512, 2), layer_wavefront.PASSES)
    rate = 1e3 * predict(plan, find("M40")).tflops
    what = f"{direction}, 2 × {cell}, T=20: cuDNN's own schedule, ours for it"
    return ComparedFigure(what, SAMPLE[cell, direction], rate, "GFLOP/s", "NVIDIA's sample (M40)")


def table(entries: list[ComparedFigure]) -> str:
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
