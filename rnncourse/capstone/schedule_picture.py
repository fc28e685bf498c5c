"""Picture of schedules: streams over time, recomputation hatched, the lower bound as a line, memory below.

All panels of a picture have the same axis of time.  Work of one kind that follows closely in a stream is
drawn as one bar, so that thousands of launches stay one small piece of SVG.
"""

from collections import defaultdict
from collections.abc import Callable
from itertools import islice
from typing import NamedTuple

import numpy as np

from nbjudge.printable import quantity
from rnncourse.capstone.launches import (
    BACKWARD,
    FORWARD,
    NAMES,
    WEIGHTS,
    Problem,
    launch_operations,
    read_schedule,
)
from rnncourse.capstone.score import DEVICE, array_versions, check_legal, lower_bound, place_arrays, to_plan
from rnncourse.figures.pen import CARD, HAIRLINE, QUIET, ROLES, WIDTH, Sheet
from rnnlab.schedule.timeline import predict

Intervals = list[tuple[float, float]]  # begin and end, or a time and a value from then on
AGAIN = "forward again"  # a launch that recomputes
FILLS = {
    NAMES[0]: ROLES["state"].solid,
    AGAIN: ROLES["state"].pale,
    NAMES[1]: ROLES["gradient"].solid,
    NAMES[2]: ROLES["weights"].solid,
}
LEFT = 92
INNER = WIDTH - 92 - 24  # pixels: the axis of time
LANE_MOST = 24
LANES = 168  # pixels: the highest lane, and all lanes together at most
TOP = 84
GAP = 12
MEMORY = 54
BELOW = 30  # pixels: above the lanes, below them, memory's strip, its axis
NEAR = 0.7  # pixels: a gap that nobody sees
BLACKEST = 3  # pixels between the strokes of a hatch


def one_layer_at_a_time(
    layers: int, steps: int, minibatch: int, hidden_size: int, memory: int
) -> tuple[int, np.ndarray]:
    """The schedule before any idea: one stream, whole sequences, all that is computed saved."""
    launches = [(FORWARD, layer, 0, 0) for layer in range(layers)]
    for layer in reversed(range(layers)):
        launches.append((BACKWARD, layer, 0, 0))
        launches.append((WEIGHTS, layer, 0, 0))
    return steps, np.array(launches)


class ScheduleRun(NamedTuple):
    """A legal schedule as the timeline runs it; times in milliseconds."""

    bars: dict[tuple[int, str], Intervals]  # stream, what: intervals
    memory: Intervals  # time, MB from then on
    end: float
    bound: float
    limit: float  # MB
    sentence: str

    @property
    def most(self) -> float:
        """MB that are live at once, at most."""
        return max(value for _, value in self.memory)

    @property
    def streams(self) -> list[int]:
        return sorted({stream for stream, _ in self.bars})

    @property
    def lane(self) -> float:
        """Pixels of a stream."""
        return min(LANE_MOST, LANES / len(self.streams))

    @property
    def height(self) -> float:
        """Pixels of the panel."""
        lanes = self.lane * len(self.streams)
        return TOP + lanes + GAP + MEMORY + BELOW


def show_schedule(functions: dict[str, Callable], problem: Problem) -> Sheet:
    """One panel for each {name: function}, all on one axis of time.  Raises Illegal for what cannot run."""
    runs = {}
    for name, function in functions.items():
        runs[name] = run_of(problem, function(*problem))
    return draw_runs(runs, f"{problem.layers} layers, {problem.steps} steps, predicted for {DEVICE.name}")


def draw_runs(runs: dict[str, ScheduleRun], subject: str) -> Sheet:
    """The panels of runs; subject: what was run, for the text alternative."""
    findings = "; ".join(f"{name}: {run.sentence}" for name, run in runs.items())
    alt = f"{subject}. {findings}."
    height = sum(run.height for run in runs.values()) + 34
    sheet = Sheet("Schedules over time", alt, round(height))
    scale = INNER / max(run.end for run in runs.values())
    top = 0.0
    for name, run in runs.items():
        _draw_panel(sheet, top, name, run, scale)
        top += run.height
    _draw_legend(sheet, top + 12)
    return sheet


def run_of(problem: Problem, answer: object) -> ScheduleRun:
    """The run of (block, launches).  Raises Illegal."""
    schedule = read_schedule(problem, answer)
    check_legal(schedule)
    places = place_arrays(schedule).places
    plan = to_plan(schedule, places)
    result = predict(plan, DEVICE)
    times = []
    for start, end in zip(result.start, result.end, strict=True):
        times.append((1e-3 * start, 1e-3 * end))
    bars = defaultdict(list)
    spans = []
    computed = set()
    remaining = iter(times)
    for launch, operations in zip(schedule.launches, launch_operations(schedule, places), strict=True):
        own = list(islice(remaining, len(operations)))
        start = own[0][0]
        end = max(end for _, end in own)
        spans.append((start, end))
        task = launch[:3]
        what = NAMES[launch.kind]
        if task in computed and launch.kind == FORWARD:
            what = AGAIN
        computed.add(task)
        bars[launch.stream, what] += own
    megabytes = 4e-6 * schedule.block * problem.minibatch * problem.hidden_size
    makespan = 1e-3 * result.makespan
    bound = 1e-3 * lower_bound(problem)
    ratio = makespan / bound
    sentence = f"{makespan:.2f} ms, {ratio:.2f} times the lower bound"
    limit = megabytes * problem.memory / schedule.block
    memory = _memory_over_time(schedule, spans, megabytes)
    return ScheduleRun(dict(bars), memory, makespan, bound, limit, sentence)


def _memory_over_time(schedule, spans: list, megabytes: float) -> Intervals:
    """MB that are live from each time on: a block lives from its writer's start to its last reader's end."""
    _, last_readers = array_versions(schedule)
    changes = []
    for (_, writer), reader in last_readers.items():
        begin, _ = spans[writer]
        _, end = spans[reader]
        changes.append((begin, megabytes))
        changes.append((end, -megabytes))
    times, sizes = zip(*sorted(changes), strict=True)
    live = np.cumsum(sizes).tolist()
    return list(zip(times, live, strict=True))


def _draw_panel(sheet: Sheet, top: float, name: str, run: ScheduleRun, scale: float) -> None:
    """Title, lanes, bound and memory of one schedule; scale: pixels a millisecond."""
    streams = run.streams
    lane = run.lane
    first = top + TOP
    below = first + lane * len(streams)
    middle = (first + below) / 2
    sheet.heading(24, name, f"{run.sentence}, predicted", y=top + 28)
    sheet.text(LEFT - 10, middle + 5, quantity(len(streams), "stream"), anchor="end")
    for (stream, what), intervals in sorted(run.bars.items()):
        top_of_lane = first + streams.index(stream) * lane
        bars = _joined(intervals, scale)
        _draw_bars(sheet, what, bars, (top_of_lane, lane * 0.86))
    memory = below + GAP
    _draw_memory(sheet, memory, run, scale)
    bound = LEFT + run.bound * scale
    end = LEFT + run.end * scale
    above = first - 14
    axis = memory + MEMORY
    label = axis + 16
    sheet.line((bound, above), (bound, axis), width=2, dashes="5 3")
    sheet.text(bound + 6, first - 6, f"lower bound {run.bound:.2f} ms", anchor="start")
    sheet.line((LEFT, axis), (LEFT + INNER, axis), colour=QUIET, width=1)
    sheet.text(LEFT, label, "0", anchor="start")
    sheet.text(end, label, f"{run.end:.3g} ms", anchor="end")


def _joined(intervals: Intervals, scale: float) -> Intervals:
    """Intervals in pixels, those that nearly touch as one."""
    joined = []
    for start, end in sorted(intervals):
        left = LEFT + scale * start
        right = LEFT + scale * end
        if joined:
            last_left, last_right = joined[-1]
            if left - last_right < NEAR:
                joined.pop()
                left = last_left
                right = max(right, last_right)
        joined.append((left, right))
    return joined


def _draw_bars(sheet: Sheet, what: str, bars: Intervals, box: tuple[float, float]) -> None:
    """Bars of one kind in one lane as one path; those that compute again have strokes across them."""
    top, height = box
    bottom = top + height
    path = ""
    for left, right in bars:
        path += f"M{left:.1f} {top:.1f}H{right:.1f}V{bottom:.1f}H{left:.1f}Z"
    sheet.element("path", d=path, fill=FILLS[what])
    if what != AGAIN:
        return
    strokes = ""
    for left, right in bars:
        for x in np.arange(left + 0.5, right, BLACKEST):
            strokes += f"M{x:.1f} {bottom:.1f}V{top:.1f}"
    sheet.element("path", d=strokes, fill="none", stroke=ROLES["state"].edge, stroke_width=1)


def _draw_memory(sheet: Sheet, top: float, run: ScheduleRun, scale: float) -> None:
    """The arrays that are live, as an area below the line of what there is room for."""
    most = run.most
    height = (MEMORY - 8) / max(run.limit, most)
    bottom = top + MEMORY
    right = LEFT + INNER
    path = f"M{LEFT} {bottom:.1f}"
    last = None
    for when, value in run.memory:
        x = round(LEFT + when * scale, 1)
        y = bottom - value * height
        if x != last:
            path += f"H{x:g}"
        path += f"V{y:.1f}"
        last = x
    path += f"V{bottom:.1f}Z"
    sheet.element("path", d=path, fill=HAIRLINE, stroke=QUIET, stroke_width=1)
    limit = bottom - run.limit * height
    middle = top + MEMORY / 2
    colour = ROLES["error"].edge
    sheet.line((LEFT, limit), (right, limit), colour=colour, width=1.5, dashes="2 3")
    sheet.text(LEFT - 10, middle + 10, "memory", anchor="end")
    sheet.text(right, limit + 15, f"at most {most:.0f} of {run.limit:.0f} MB", anchor="end")


def _draw_legend(sheet: Sheet, top: float) -> None:
    x = LEFT
    y = top - 11
    for what, fill in FILLS.items():
        sheet.element("rect", x=x, y=y, width=24, height=12, fill=fill, stroke=CARD)
        if what == AGAIN:
            _draw_bars(sheet, what, [(x, x + 24)], (y, 12))
        sheet.note(x + 32, top, what)
        x += 60 + 8 * len(what)
