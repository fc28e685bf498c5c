"""Poster: a learner's course as one HTML file: numbers, pictures as SVG, their own words.

It reads in light, in dark and on paper.  Every number says whether it was measured here or predicted.
"""

import math
from html import escape

from rnncourse.capstone.own_numbers import LAYER, SHOWN, STEP, OwnNumbers
from rnncourse.capstone.schedule_picture import draw_runs
from rnncourse.figures.pen import INK, QUIET, ROLES, Sheet

WHAT = "what was measured"  # where the page does not say
LEFT, INNER, LINE = 250, 540, 34  # pixels: names, the axis, a bar with its room
STYLE = """
:root { color-scheme: light dark; --page: #f4f6f8; --card: #fff;
  --ink: #1b2733; --dim: #55606e; --line: #d5dce3 }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8edf2; --dim: #a8b3bf; --line: #33404c; --page: #11171d; --card: #18212a } }
* { box-sizing: border-box }
body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page) }
main { max-width: 960px; margin: 0 auto; padding: 40px 24px 64px }
h1 { font-size: 38px; line-height: 1.15; margin: 0 0 6px } h2 { font-size: 22px; margin: 40px 0 8px }
p { margin: 6px 0 12px } .dim { color: var(--dim) } svg { display: block; width: 100% }
.facts { display: grid; gap: 14px; margin: 26px 0;
  grid-template-columns: repeat(auto-fit, minmax(200px, 1fr)) }
.facts div, .lessons li { background: var(--card); border: 1px solid var(--line); border-radius: 9px }
.facts div { padding: 14px 16px }
.facts b { display: block; font-size: 30px; line-height: 1.2 }
.facts span { color: var(--dim); font-size: 14px }
.lessons { display: grid; grid-template-columns: repeat(5, 1fr); gap: 8px; padding: 0; list-style: none }
.lessons li { padding: 8px 10px; font-size: 13px }
.lessons meter { width: 100%; height: 10px } .lessons small { color: var(--dim) }
@media (max-width: 700px) {
  .lessons { grid-template-columns: repeat(2, 1fr) } h1 { font-size: 29px } }
@media print {
  :root { --page: #fff; --card: #fff; --ink: #1b2733; --dim: #55606e; --line: #d5dce3 }
  h2 { break-after: avoid } svg { break-inside: avoid } }
"""


def poster(own: OwnNumbers, values: dict, prose: dict[str, str]) -> str:
    """The HTML; values and prose are those of `page.read_page`."""
    title = "A recurrent network, made fast"
    parts = [
        f"<h1>{title}</h1>",
        f'<p class="dim">{escape(own.machine)} · {own.day} · rnnlab, lessons 00 to 19</p>',
        _facts(own, values),
        *_schedule(own),
        *_measurement(values),
        *(
            f"<h2>{escape(heading)}</h2><p>{_paragraphs(words)}</p>"
            for heading, words in prose.items()
            if words
        ),
        *_machine(own),
        *_lessons(own),
    ]
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>'
    body = "\n".join(parts)
    start = f'<!doctype html>\n<html lang="en"><head>{head}<style>{STYLE}</style></head>'
    return f"{start}\n<body><main>{body}</main></body></html>\n"


def _facts(own: OwnNumbers, values: dict) -> str:
    """Four large numbers."""
    times, (slow, quick) = own.measured.milliseconds, _slowest_and_quickest(own.measured.milliseconds)
    earned, possible = (sum(pair[k] for pair in own.points.values()) for k in (0, 1))
    where = "measured while other programs ran" if own.measured.disturbed else "measured on this machine"
    facts = [(f"{times[slow] / times[quick]:.1f} ×", f"{quick} over {slow}, {where}")]
    if own.row:
        words = f"the lower bound in the worst problem; place {own.row.place} of {own.row.of} on the board"
        facts.append((f"{own.row.entry.worst:.2f} ×", words))
    (low, high), median = values["interval"], values["median"][0]
    facts.append((f"{median:g}", f"median of {values.get('what', WHAT)}; {low:g} to {high:g}"))
    facts.append((f"{earned} of {possible}", "points in the exercises"))
    return (
        '<div class="facts">'
        + "".join(f"<div><b>{a}</b><span>{escape(b)}</span></div>" for a, b in facts)
        + "</div>"
    )


def _slowest_and_quickest(times: dict[str, float]) -> tuple[str, str]:
    return max(times, key=times.get), min(times, key=times.get)


def _schedule(own: OwnNumbers) -> list[str]:
    if own.row is None:
        how = "rnnlab board --add work/19_capstone.ipynb --as NAME"
        return ["<h2>My schedule</h2>", f"<p>It is not on the board yet: <code>{how}</code> adds it.</p>"]
    subject = (
        f"{SHOWN.layers} layers of {SHOWN.hidden_size} units, {SHOWN.steps} steps, predicted for an H200"
    )
    entry, before, now = own.row.entry, *own.row.runs.values()
    words = (
        f"{subject}: {before.end / now.end:.1f} times as fast as one layer at a time, with "
        f"{now.limit:.0f} MB in place of {max(value for _, value in before.memory):.0f}. "
        f"Schedule {entry.schedule[:16]}, derived again for this page."
    )
    return ["<h2>My schedule</h2>", f"<p>{escape(words)}</p>", draw_runs(own.row.runs, subject).tag()]


def _measurement(values: dict) -> list[str]:
    """The prediction beside its measurements."""
    runs, prediction, (low, high) = values["measurements"], values["prediction"][0], values["interval"]
    inside = "inside" if low <= prediction <= high else "outside"
    sentence = (
        f"Predicted {prediction:g}, {inside} the interval {low:g} to {high:g} that holds the true median "
        f"with {values['confidence'][0]:g} %; {len(runs)} measurements."
    )
    sheet = Sheet("Prediction and measurement", sentence, 150)
    least, most = min(*runs, prediction), max(*runs, prediction)
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
    return [
        "<h2>My prediction, and what I measured</h2>",
        f"<p>{escape(values.get('what', WHAT))}: {sentence}</p>",
        sheet.tag(),
    ]


def _machine(own: OwnNumbers) -> list[str]:
    """The ladder on this machine, and what the course's model says of an H200."""
    roof, times = own.measured.roof, own.measured.milliseconds
    cell, units, steps, sequences = LAYER
    roofs = f"Peak {roof.peak:.0f} GFLOP/s, bandwidth {roof.bandwidth:.1f} GB/s."
    ladder_title = f"{cell} forward, {units} units, {steps} steps, {sequences} sequences, ms, measured here"
    cell, units, dtype, (_, sequences) = STEP
    ways_title = f"Step of {cell}, {units} units, {sequences} sequences, {dtype}, µs, predicted for an H200"
    return [
        "<h2>My machine, lessons 00 to 08</h2>",
        f"<p>{escape(f'{roofs} {own.measured.disturbed}')}</p>",
        _bars(ladder_title, times, "state").tag(),
        "<h2>A GPU, lessons 11 to 16</h2>",
        "<p>Predicted by the course's model; no GPU has run this.</p>",
        _bars(ways_title, own.predicted, "weights").tag(),
    ]


def _bars(title: str, numbers: dict[str, float], role: str) -> Sheet:
    """Horizontal bars on a logarithmic axis, in the order of the ladder."""
    finding = ", ".join(f"{name} {value:.3g}" for name, value in numbers.items())
    sheet = Sheet(title, f"{title}: {finding}.", 56 + LINE * len(numbers))
    sheet.text(24, 32, f"{title} (logarithmic axis)", anchor="start", bold=True)
    least, most = min(numbers.values()) / 2, max(numbers.values())
    for k, (name, value) in enumerate(numbers.items()):
        width, top = INNER * math.log(value / least) / math.log(most / least), 48 + LINE * k
        sheet.element("rect", x=LEFT, y=top, width=width, height=LINE - 10, rx=3, fill=ROLES[role].solid)
        sheet.text(LEFT - 10, top + 17, name, anchor="end", colour=INK)
        sheet.text(LEFT + width + 8, top + 17, f"{value:.3g}", anchor="start", bold=True)
    return sheet


def _lessons(own: OwnNumbers) -> list[str]:
    items = "".join(
        f"<li>{number:02} {escape(lesson.replace('_', ' '))}<br><meter max='{most}' value='{earned}' "
        f"aria-label='{earned} of {most} points'></meter><small>{earned} of {most}</small></li>"
        for number, (lesson, (earned, most)) in enumerate(own.points.items())
    )
    return ["<h2>All lessons</h2>", f'<ul class="lessons">{items}</ul>']


def _paragraphs(words: str) -> str:
    return escape(words).replace("\n\n", "</p><p>")
