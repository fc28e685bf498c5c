"""A CMU record as a picture: seconds of an epoch, measured here and published then, on one scale."""

from matplotlib.figure import Figure

from rnncourse.figures.picture import PALETTE, canvas
from rnncourse.records import cmu_report as report

OURS = "halide ours"
PUBLISHED = "published 2016, on 61 cores of a Xeon Phi"
ROW = 0.3
EDGE = 1.2  # inches
COLOURS = {"halide": "sky", "numpy": "orange", "pytensor": "purple"}  # by the first word of a name


def draw(record: dict) -> Figure:
    """A row for each contestant, the fastest at the top, and a mark where the project's own figure stands."""
    names = sorted(report.timed(record), key=lambda name: -report.median(record, name))
    figure, axis = canvas(width=8.0, height=EDGE + ROW * len(names))
    seconds = [report.median(record, name) for name in names]
    colours = [PALETTE[COLOURS.get(name.split()[0], "green")] for name in names]
    axis.set_xscale("log")
    axis.hlines(range(len(names)), min(seconds) / 2, seconds, colors=colours, linewidth=7)
    published = {row: report.PUBLISHED[name] for row, name in enumerate(names) if name in report.PUBLISHED}
    if report.size(record) == report.Size():  # their figures are of the whole epoch
        black = PALETTE["black"]
        axis.plot([*published.values()], [*published], "D", color=black, markersize=5, label=PUBLISHED)
        axis.legend(frameon=False, loc="upper right")
    axis.set_yticks(range(len(names)), map("{}  {:.3g} s".format, names, seconds))
    axis.set_xlim(min(seconds) / 2)
    axis.set_xlabel("seconds of an epoch")
    figure.suptitle(report.heading(record).replace(". ", "\n", 1), fontsize=9)
    return figure


def finding(record: dict) -> str:
    """What the picture shows, in one sentence."""
    sentence = f"An epoch takes {_seconds(record, report.THEIRS)} in the project's NumPy"
    schedules = [name for name in report.timed(record) if name.startswith("halide ") and name != OURS]
    if schedules:
        best = min(schedules, key=lambda name: report.median(record, name))
        sentence += (
            f", {_seconds(record, best)} in the fastest of its schedules ({best.removeprefix('halide ')})"
        )
    if OURS in report.timed(record):
        sentence += f", {_seconds(record, OURS)} in our Halide schedule"
    return sentence + "."


def _seconds(record: dict, name: str) -> str:
    is_timed = name in report.timed(record)
    return f"{report.median(record, name):.3g} s" if is_timed else "an unmeasured time"
