"""A learner's page as one HTML file: their schedule beside the bound, their numbers, their own words.

The schedule is `my_schedule` of their notebook. The file reads in light, in dark and on paper, and loads
nothing.
"""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import NamedTuple

from nbjudge import course
from nbjudge.files import ROOT
from rnncourse.capstone import board
from rnncourse.capstone.launches import Problem
from rnncourse.capstone.page import right_verdict
from rnncourse.capstone.schedule_picture import ScheduleRun, draw_runs, one_layer_at_a_time, run_of
from rnncourse.capstone.score import PROBLEMS, score_all
from rnncourse.figures.pen import QUIET, ROLES, Sheet
from rnncourse.lab.work import course_folder
from rnnlab.resources import processor_name

SHOWN = next(problem for problem in PROBLEMS if problem.layers == 100)  # its memory is a fifth of all
BEFORE = "before: one stream, one layer at a time"


class ComparedSchedule(NamedTuple):
    """The learner's schedule beside the one before, and its worst ratio to the lower bound."""

    worst: float
    runs: dict[str, ScheduleRun]


def web_page(row: ComparedSchedule | None, values: dict, prose: dict[str, str]) -> str:
    """The HTML; values and prose are those of `page.read_page`."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    network = f"{SHOWN.layers} layers of {SHOWN.hidden_size} units, {SHOWN.steps} steps"
    subject = f"{network}, predicted for an H200"
    measurement = _draw_measurement(values)
    schedule = draw_runs(row.runs, subject).tag() if row else ""
    pages = Environment(
        loader=PackageLoader("rnncourse", "capstone"), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    return pages.get_template("page.html").render(
        machine=processor_name(),
        day=date.today().isoformat(),
        row=row,
        values={"what": "what was measured"} | values,
        prose=prose,
        subject=subject,
        schedule=Markup(schedule),
        finding=measurement.alt,
        measurement=Markup(measurement.tag()),
    )


def own_row(notebook: Path | None = None) -> ComparedSchedule | None:
    """The row of the learner's schedule; None, and a printed reason, where it may not be scored."""
    own = own_schedule(SHOWN, notebook).get("yours")
    if own is None:
        return None
    try:
        worst = max(score.ratio for score in score_all(own, PROBLEMS))
    except Exception as error:  # whatever a learner's code raises
        print(f"Your schedule is left out: {error}")
        return None
    states = SHOWN.layers * SHOWN.steps
    roomy = SHOWN._replace(memory=3 * states)
    share = SHOWN.memory / (2 * states)
    before = run_of(roomy, one_layer_at_a_time(*roomy))
    now = run_of(SHOWN, own(*SHOWN))
    runs = {BEFORE: before, f"now, in {share:.0%} of the memory": now}
    return ComparedSchedule(worst, runs)


def own_schedule(problem: Problem, notebook: Path | None = None) -> dict[str, Callable]:
    """{"yours": my_schedule} of the learner's notebook if it may be scored here, else the course's own."""
    path = notebook or course_folder(ROOT) / "work" / "19_capstone.ipynb"
    try:
        names: dict[str, Callable] = {}
        exec(board.program_in(path), names)
        own = names[board.FUNCTION]
        run_of(problem, own(*problem))
        return {"yours": own}
    except Exception as error:  # whatever a learner's code raises
        sentence = str(error).partition("\n")[0]
        print(f"Your schedule cannot be scored, so a picture shows the course's own: {sentence}")
    standard = course.current().answers("capstone")[board.FUNCTION]
    return {"the course's standard": standard.call}


def _draw_measurement(values: dict) -> Sheet:
    """The prediction beside its measurements."""
    runs = values["measurements"]
    (prediction,) = values["prediction"]
    low, high = values["interval"]
    (confidence,) = values["confidence"]
    verdict = right_verdict(prediction, low, high)
    sentence = (
        f"Predicted {prediction:g}, {verdict} the interval {low:g} to {high:g} that holds the true median "
        f"with {confidence:g} %; {len(runs)} measurements."
    )
    sheet = Sheet("Prediction and measurement", sentence, 150)
    least = min(*runs, prediction)
    most = max(*runs, prediction)
    extent = most - least or 1
    x = lambda value: 60 + 780 * (value - least) / extent
    left = x(low)
    right = x(high)
    sheet.area(left, 42, max(2, right - left), 56, ROLES["state"].pale, 4)
    sheet.line((60, 98), (840, 98), colour=QUIET, width=1)
    for k, value in enumerate(sorted(runs)):
        row = k % 3
        sheet.element("circle", cx=x(value), cy=82 - 12 * row, r=5, fill=ROLES["state"].solid)
    predicted = x(prediction)
    error = ROLES["error"]
    sheet.line((predicted, 34), (predicted, 104), colour=error.edge, width=3, dashes="6 4")
    sheet.text(predicted, 26, f"predicted {prediction:g}", colour=error.text)
    sheet.text(left, 118, f"{low:g}", anchor="end")
    sheet.text(right, 118, f"{high:g}", anchor="start")
    sheet.text(450, 140, "one dot a measurement; the band is the interval of the median", colour=QUIET)
    return sheet
