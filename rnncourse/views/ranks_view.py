"""Ranks that train together: one update of each rank above, and below who sends which chunk to whom.

Predicted by the α–β model (rnnlab/scaling), with sliders for ranks, bytes, latency, bandwidth, algorithm, and
for when a layer's gradients are sent.  Of many ranks and steps the first ones are drawn.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from nbjudge.printable import quantity
from ranks.costs import ALGORITHMS, Link, all_reduce_seconds, fastest
from ranks.simulated_transfers import TransferReplay, replay, schedule
from rnncourse.figures.picture import Slider, View, canvas, slider_view
from rnncourse.scaling.model import FORWARD, Update, schedule_update

RANKS_SHOWN = 6
STEPS_SHOWN = 8
LETTER = 0.0105
POINTS = 10  # width of a letter, as a share of the axis, and its size
STEPS = 100  # time steps of the wavefront
AFTER = "after backward"
LAYER_WISE = "layer by layer"
WAVEFRONT = "wavefront"
SENDS = (AFTER, LAYER_WISE, WAVEFRONT)
COLOURS = {
    "forward": "okabe:sky",
    "backward": "okabe:blue",
    "all-reduce": "okabe:yellow",
    "+ added": "okabe:orange",
    "= copied": "okabe:green",
}
SLIDERS = {
    "ranks": Slider("ranks p", (1, 2, 3, 4, 6, 8, 16, 64, 128, 256, 1024, 4096)),
    "megabytes": Slider("gradients n, MB", (0.001, 0.1, 1, 10, 74, 300, 1200)),
    "latency": Slider("latency α, µs", (0, 1, 5, 14, 50, 200, 2000)),
    "bandwidth": Slider("bandwidth 1/β, GB/s", (0.1, 1, 6, 10, 25, 100, 400)),
    "algorithm": Slider("algorithm", tuple(ALGORITHMS)),
    "sends": Slider("gradients are sent", SENDS),
    "layers": Slider("layers L", (1, 2, 4, 7, 16)),
    "arithmetic": Slider("arithmetic, ms", (1, 10, 50, 100, 500, 2000)),
}


class Bar(NamedTuple):
    """One piece of work, in seconds; its look is a key of COLOURS."""

    row: int
    start: float
    end: float
    look: str
    word: str

    @property
    def length(self) -> float:
        """Seconds."""
        return self.end - self.start


@dataclass(frozen=True)
class RankSliders:
    """One position of all sliders."""

    ranks: int = 8
    megabytes: float = 74
    latency: float = 14  # µs
    bandwidth: float = 6  # GB/s
    algorithm: str = "ring"
    sends: str = LAYER_WISE
    layers: int = 4
    arithmetic: float = 100  # ms of an update, forward and backward

    @property
    def link(self) -> Link:
        """The link of any two ranks."""
        return Link.from_bandwidth(self.latency, self.bandwidth)


def ready_times(layers: int, backward: float, sends: str) -> list[float]:
    """Seconds into the backward pass at which each layer's gradients are complete [L], layer 0 first.

    Raises ValueError for an unknown order.
    """
    if sends not in SENDS:
        raise ValueError(f"sends is {sends!r}; there are {', '.join(SENDS)}")
    if sends == WAVEFRONT:
        diagonals = STEPS + layers - 1
        return [backward * (diagonals - layer) / diagonals for layer in range(layers)]
    return [backward * (layers - layer) / layers for layer in range(layers)]


def update(settings: RankSliders) -> Update:
    """The timeline of one update, the same on every rank."""
    total = 1e-3 * settings.arithmetic
    L = settings.layers
    times = total * FORWARD, total * (1 - FORWARD)

    def reduce(size):
        return all_reduce_seconds(settings.algorithm, settings.ranks, size, settings.link)

    ready = ready_times(L, times[1], settings.sends)
    layer_bytes = 1e6 * settings.megabytes / L
    return schedule_update(times, ready, [layer_bytes] * L, reduce, settings.sends != AFTER)


def first_steps(settings: RankSliders) -> TransferReplay:
    """The first steps of the first message, on all ranks."""
    whole = schedule(settings.algorithm, settings.ranks)
    part = replace(whole, steps=lambda: islice(whole.steps(), STEPS_SHOWN))
    messages = 1 if settings.sends == AFTER else settings.layers
    size = 1e6 * settings.megabytes / messages
    return replay(part, size, settings.link, follow=False)


def finding(settings: RankSliders) -> str:
    """What the picture shows, in a few sentences."""
    one = update(settings)
    ranks = quantity(settings.ranks, "rank")
    whole = _time(one.seconds)
    arithmetic = _time(one.arithmetic)
    start = f"Predicted, {ranks}: an update takes {whole}, {arithmetic} of it arithmetic. "
    if settings.ranks == 1:
        return f"{start}Alone, a rank has nothing to send."
    message = one.messages[0]
    megabytes = message.size / 1e6
    best = fastest(settings.ranks, message.size, settings.link)
    shorter = "" if best == settings.algorithm else f"; {best} would take the shortest time"
    duration = _time(message.end - message.start)
    communication = _time(one.communication)
    hidden = _time(one.hidden)
    exposed = _time(one.exposed)
    busy = one.arithmetic / one.seconds
    return (
        f"{start}The links are busy for {communication}, {hidden} of it beside the "
        f"arithmetic and {exposed} after it ({settings.sends}): {busy:.0%} of the ranks' time is "
        f"arithmetic. A message of {megabytes:.3g} MB by {settings.algorithm} takes {duration}{shorter}."
    )


def explore_ranks(sliders: Sequence[str] = tuple(SLIDERS), **start: Any) -> View:
    """Sliders over the picture; sliders: keys of SLIDERS; start: fields of RankSliders, any of them.

    Raises ValueError for a start that its slider does not have.
    """
    first = RankSliders(**start)
    shown = {name: SLIDERS[name].at(getattr(first, name)) for name in sliders}
    figure = _empty()
    draw = lambda **positions: _draw(figure, replace(first, **positions))
    describe = lambda **positions: finding(replace(first, **positions))
    return slider_view(draw, describe, **shown)


def _empty() -> Figure:
    """The figure with what stands still."""
    figure, (above, below) = canvas(2, 1, width=9.0, height=5.2, gridspec_kw={"height_ratios": (2, 3)})
    figure.set_layout_engine("none")
    above.set_position((0.13, 0.66, 0.84, 0.25))
    below.set_position((0.13, 0.17, 0.84, 0.36))
    handles = [Patch(facecolor=colour, label=look) for look, colour in COLOURS.items()]
    figure.legend(handles=handles, loc="lower center", ncols=5, fontsize=8, frameon=False)
    return figure


def _draw(figure: Figure, settings: RankSliders) -> Figure:
    above, below = figure.axes
    for axis in (above, below):
        axis.clear()
    one = update(settings)
    _draw_update(above, one, settings)
    if settings.ranks > 1:
        _draw_messages(below, first_steps(settings), settings)
    else:
        below.text(0.5, 0.5, "one rank sends nothing", ha="center", transform=below.transAxes)
    return figure


def _draw_update(axis: Axes, one: Update, settings: RankSliders) -> None:
    """Arithmetic and links of every rank."""
    L = settings.layers if settings.sends == LAYER_WISE else 1
    bars = [Bar(0, 0.0, one.forward, "forward", "forward")]
    part = one.backward / L
    for k in range(L):
        word = f"layer {L - 1 - k}" if L > 1 else "backward"
        start = one.forward + k * part
        end = one.forward + (k + 1) * part
        bars.append(Bar(0, start, end, "backward", word))
    messages = one.messages if settings.ranks > 1 else ()
    for message in messages:
        word = "all" if settings.sends == AFTER else str(message.layer)
        bars.append(Bar(1, message.start, message.end, "all-reduce", word))
    _draw_bars(axis, bars, one.seconds)
    axis.vlines([message.ready for message in one.messages], 0.4, 0.6, color="black", lw=1.5)
    axis.axvline(one.arithmetic, color="black", lw=1, ls="--")
    axis.set(ylim=(1.5, -0.5), xlabel="ms; marks: gradients are complete; dashed: the arithmetic ends")
    axis.set_yticks([0, 1], labels=["arithmetic", "links"])
    axis.set_title(f"one update, {quantity(settings.ranks, 'rank')}, predicted", fontsize=10, loc="left")


def _draw_messages(axis: Axes, part: TransferReplay, settings: RankSliders) -> None:
    """A bar for each message, in the row of its sender."""
    rows = min(settings.ranks, RANKS_SHOWN)
    bars = []
    for event in part.events:
        if event.source < rows:
            chunks = _chunks(event.first, event.last) if part.schedule.chunks > 1 else ""
            look = "+ added" if event.adds else "= copied"
            word = f"{chunks}→{event.target}"
            bars.append(Bar(event.source, event.start, event.end, look, word))
    _draw_bars(axis, bars, part.seconds)
    axis.set(ylim=(rows - 0.5, -0.5), xlabel="ms from the start of the first message")
    axis.set_yticks(range(rows), labels=[f"rank {rank}" for rank in range(rows)])
    title = f"{settings.algorithm}: chunk → receiver in the sender's row"
    if part.steps == STEPS_SHOWN:
        title += f", first {part.steps} steps"
    if settings.ranks > rows:
        title += f", ranks 0 to {rows - 1} of {settings.ranks}"
    axis.set_title(title, fontsize=10, loc="left")


def _chunks(first: int, end: int) -> str:
    """Numbers of the chunks from first up to end, without it."""
    last = end - 1
    return str(first) if last == first else f"{first}–{last}"


def _draw_bars(axis: Axes, bars: Sequence[Bar], whole: float) -> None:
    """Bars on an axis of `whole` seconds, with their words where they have room."""
    groups = defaultdict(list)
    for bar in bars:
        span = bar.start, bar.length
        groups[bar.row, bar.look].append(span)
    for (row, look), spans in groups.items():
        style = {"facecolors": COLOURS[look], "edgecolors": "white", "linewidths": 0.5}
        axis.broken_barh(spans, (row - 0.36, 0.72), **style)
    for bar in bars:
        word_length = LETTER * len(bar.word) * whole
        if bar.length > word_length:
            ink = "white" if bar.look == "backward" else "black"
            middle = (bar.start + bar.end) / 2
            axis.text(middle, bar.row, bar.word, ha="center", va="center", fontsize=POINTS, color=ink)
    axis.set_xlim(0, 1.02 * whole or 1.0)
    axis.xaxis.set_major_formatter(lambda value, _: f"{1e3 * value:.4g}")


def _time(seconds: float) -> str:
    """Three digits in µs, ms or s."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            number = seconds / scale
            return f"{number:.3g} {unit}"
    microseconds = 1e6 * seconds
    return f"{microseconds:.3g} µs"
