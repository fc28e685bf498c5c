"""Published times of the very networks that the schedule view can show.

Appleyard, Kočiský and Blunsom (2016): the ladder's factors are second-hand, from a student's report on their
paper (Shubodh, Optimizing-LSTMs-on-GPU); the last time is the one that NVIDIA's LSTM.cu states.  CuLSTM (CMU
15-418, 2017) timed the backward pass of an LSTM with peepholes, whose pointwise work was always fused.  The
model's distance from all of them is printed by `python -m bench.timeline_figures`.
The figures stand in published_timelines.toml.
"""

from typing import Any, NamedTuple

from rnncourse.tables import read_table


class Published(NamedTuple):
    """A figure for one position of the switches: a time, or how many times faster than naive."""

    source: str
    milliseconds: float | None = None
    times_naive: float | None = None


TABLES = read_table(__file__)
FIGURES = [  # network, switches that are not in their first position, the figure
    (TABLES["networks"][line.pop("network")], line.pop("switches"), Published(**line))
    for line in TABLES["figures"]
]


def published(settings: Any) -> Published | None:
    """The figure for these settings (schedule_view.Settings), None if there is none."""
    if (settings.hidden_size, settings.minibatch) != (512, 64):
        return None
    for where, switches, figure in FIGURES:
        if settings == type(settings)(**where, **switches):
            return figure
    return None
