"""Poster: a learner's course as one HTML file: numbers, pictures as SVG, their own words.

It reads in light, in dark and on paper.  Every number says whether it was measured here or predicted.
"""

import math

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from rnncourse.capstone.own_numbers import LAYER, SHOWN, STEP, OwnNumbers
from rnncourse.capstone.schedule_picture import draw_runs
from rnncourse.figures.pen import INK, QUIET, ROLES, Sheet

LEFT = 250
INNER = 540
LINE = 34  # pixels: names, the axis, a bar with its room


def poster(own: OwnNumbers, values: dict, prose: dict[str, str]) -> str:
    """The HTML; values and prose are those of `page.read_page`."""
    times = own.measured.milliseconds
    earned, possible = map(sum, zip(*own.points.values(), strict=True))
    network = f"{SHOWN.layers} layers of {SHOWN.hidden_size} units, {SHOWN.steps} steps"
    subject = f"{network}, predicted for an H200"
    cell, units, steps, sequences = LAYER
    ladder = f"{cell} forward, {units} units, {steps} steps, {sequences} sequences, ms, measured here"
    cell, units, dtype, (_, sequences) = STEP
    ways = f"Step of {cell}, {units} units, {sequences} sequences, {dtype}, µs, predicted for an H200"
    measurement = _draw_measurement(values)
    pages = Environment(
        loader=PackageLoader("rnncourse", "capstone"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    return pages.get_template("poster.html").render(
        own=own,
        values={"what": "what was measured"} | values,
        prose=prose,
        slow=max(times, key=times.get),
        quick=min(times, key=times.get),
        earned=earned,
        possible=possible,
        subject=subject,
        schedule=Markup(draw_runs(own.row.runs, subject).tag() if own.row else ""),
        finding=measurement.alt,
        measurement=Markup(measurement.tag()),
        ladder=Markup(_bars(ladder, times, "state").tag()),
        ways=Markup(_bars(ways, own.predicted, "weights").tag()),
    )


def _draw_measurement(values: dict) -> Sheet:
    """The prediction beside its measurements."""
    runs = values["measurements"]
    prediction = values["prediction"][0]
    (low, high) = values["interval"]
    inside = "inside" if low <= prediction <= high else "outside"
    sentence = (
        f"Predicted {prediction:g}, {inside} the interval {low:g} to {high:g} that holds the true median "
        f"with {values['confidence'][0]:g} %; {len(runs)} measurements."
    )
    sheet = Sheet("Prediction and measurement", sentence, 150)
    least = min(*runs, prediction)
    most = max(*runs, prediction)
    x = lambda value: 60 + 780 * (value - least) / (most - least or 1)
    sheet.area(x(low), 42, max(2, x(high) - x(low)), 56, ROLES["state"].pale, 4)
    sheet.line((60, 98), (840, 98), colour=QUIET, width=1)
    for k, value in enumerate(sorted(runs)):
        sheet.element("circle", cx=x(value), cy=82 - 12 * (k % 3), r=5, fill=ROLES["state"].solid)
    sheet.line((x(prediction), 34), (x(prediction), 104), colour=ROLES["error"].edge, width=3, dashes="6 4")
    sheet.text(x(prediction), 26, f"predicted {prediction:g}", colour=ROLES["error"].words)
    for value, name in ((low, "low"), (high, "high")):
        sheet.text(x(value), 118, f"{value:g}", anchor="end" if name == "low" else "start")
    sheet.text(450, 140, "one dot a measurement; the band is the interval of the median", colour=QUIET)
    return sheet


def _bars(title: str, numbers: dict[str, float], role: str) -> Sheet:
    """Horizontal bars on a logarithmic axis, in the order of the ladder."""
    finding = ", ".join(f"{name} {value:.3g}" for name, value in numbers.items())
    sheet = Sheet(title, f"{title}: {finding}.", 56 + LINE * len(numbers))
    sheet.text(24, 32, f"{title} (logarithmic axis)", anchor="start", bold=True)
    least = min(numbers.values()) / 2
    most = max(numbers.values())
    for k, (name, value) in enumerate(numbers.items()):
        width = INNER * math.log(value / least) / math.log(most / least)
        top = 48 + LINE * k
        sheet.element("rect", x=LEFT, y=top, width=width, height=LINE - 10, rx=3, fill=ROLES[role].solid)
        sheet.text(LEFT - 10, top + 17, name, anchor="end", colour=INK)
        sheet.text(LEFT + width + 8, top + 17, f"{value:.3g}", anchor="start", bold=True)
    return sheet
