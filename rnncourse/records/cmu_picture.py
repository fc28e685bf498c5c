"""A CMU record as a picture: seconds of an epoch, measured here and published then, on one scale."""

from matplotlib.figure import Figure

from rnncourse.figures.picture import canvas
from rnncourse.records import cmu_report as report

OURS = "halide ours"
PUBLISHED = "published 2016, on 61 cores of a Xeon Phi"
ROW = 0.3
EDGE = 1.2  # inches
COLOURS = {
    "halide": "okabe:sky",
    "numpy": "okabe:orange",
    "pytensor": "okabe:purple",
}  # by the first word of a name


def draw(record: dict) -> Figure:
    """A row for each contestant, the fastest at the top, and a mark where the project's own figure stands."""
    names = sorted(report.timed(record), key=lambda name: -report.median(record, name))
    figure, axis = canvas(width=8.0, height=EDGE + ROW * len(names))
    seconds = [report.median(record, name) for name in names]
    colours = [COLOURS.get(name.split()[0], "okabe:green") for name in names]
    axis.set_xscale("log")
    axis.hlines(range(len(names)), min(seconds) / 2, seconds, colors=colours, linewidth=7)
    if report.size(record) == report.Size():  # their figures are of the whole epoch
        rows = [row for row, name in enumerate(names) if name in report.PUBLISHED]
        published = [report.PUBLISHED[names[row]] for row in rows]
        axis.plot(published, rows, "D", color="black", markersize=5, label=PUBLISHED)
        axis.legend(frameon=False, loc="upper right")
    axis.set_yticks(range(len(names)), map("{}  {:.3g} s".format, names, seconds))
    axis.set_xlim(min(seconds) / 2)
    axis.set_xlabel("seconds of an epoch")
    figure.suptitle(report.heading(record).replace(". ", "\n", 1), fontsize=9)
    return figure


def finding(record: dict) -> str:
    """What the picture shows, in one sentence."""
    parts = [f"An epoch takes {_seconds(record, report.THEIRS)} in the project's NumPy"]
    timed = report.timed(record)
    schedules = [name for name in timed if name.startswith("halide ") and name != OURS]
    if schedules:
        best = min(schedules, key=lambda name: report.median(record, name))
        schedule = best.removeprefix("halide ")
        parts.append(f"{_seconds(record, best)} in the fastest of its schedules ({schedule})")
    if OURS in timed:
        parts.append(f"{_seconds(record, OURS)} in our Halide schedule")
    return f"{', '.join(parts)}."


def _seconds(record: dict, name: str) -> str:
    is_timed = name in report.timed(record)
    return f"{report.median(record, name):.3g} s" if is_timed else "an unmeasured time"
