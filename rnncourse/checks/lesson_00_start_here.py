"""Checks of lesson 00: an axis to choose, FLOP to count, a rate to measure with a clock that is known."""

import numpy as np

from nbjudge.comparing.differences import same
from nbjudge.comparing.judging import add_to_case, refuse
from nbjudge.exercise import Code, Wrong
from nbjudge.printable import quantity
from rnncourse.checks.answers import answers
from rnncourse.checks.results import compare, expect

ANSWERS = answers("00_start_here")


@ANSWERS.exercise("""
    T  B  H
    3  4  2
    1  1  1
    3  1  2
    6  3  5
    n  3  2
""")
def check_last_step(answer, submission, rng, T, B, H):
    y = rng.standard_normal((T, B, H))

    def advice(got, want):
        step = next((t for t in range(T - 1) if same(got, y[t], None)), None)
        return None if step is None else f"It is step {step}: which index has the last of {T} steps?"

    compare(answer, submission, (y,), "the last step: sequence, unit", advice)


def draw_networks(rng) -> list[tuple]:
    """T, B, I, H, L: each size alone, all sizes different, and one too large to list."""
    drawn = int(rng.choice((5, 7))), 3, int(rng.choice((11, 13))), int(rng.choice((17, 19))), 4
    few = int(rng.integers(100, 300))  # layers: a recursion over them ends
    large = *map(int, rng.integers(1_000, 10_000, 4)), few
    return [(5, 3, 2, 7, 1), (1, 1, 2, 3, 1), (1, 1, 2, 3, 2), drawn, large]


@ANSWERS.exercise(draw_networks)
def check_count_rnn_flops(answer, submission, rng, T, B, I, H, L):
    gates = answer.number("gates", 1)
    counts = f"for one step of one sequence {2 * gates * H * (I + H)} in the first layer"
    if L > 1:
        others = "the other layer" if L == 2 else f"each of the other {L - 1} layers"
        counts += f", {4 * gates * H * H} in {others}"
    add_to_case(counts)
    compare(answer, submission, (T, B, I, H, L), "the number of FLOP")


# The learner's own code between two runs takes `pause`: it passes before the second of two readings. Where
# there is only one reading between two runs, the pause falls into the duration that this reading begins.
SCRIPTED_MACHINE = """
now, calls, readings, pause, durations = 3_600_000_000_000, 0, 0, {pause}, {durations}  # on for an hour
warm = {warm}

def multiply():
    global now, calls, readings
    trace.append("multiply")
    now += durations[min(calls, len(durations) - 1)] + (pause if calls > warm and readings == 1 else 0)
    calls, readings = calls + 1, 0

def clock():
    global now, readings
    readings += 1
    trace.append("clock")
    now += pause if readings > 1 else 0
    return now
"""


def _draw_runs(rng: np.random.Generator, repeats: int) -> np.ndarray:
    """Durations in ns; of 5 and more the one in the middle is neither the median nor an extreme, and the
    median is not the mean without the extremes.  Of 7 and more the three shortest are equal."""
    while True:
        runs = 100 * rng.permutation(np.arange(10, 10 + repeats)) + rng.integers(100)
        runs[rng.integers(repeats)] *= 9
        runs[runs.argsort()[: 3 if repeats > 5 else 1]] = runs.min()
        median = np.median(runs)
        inner = np.sort(runs)[1:-1]
        told_apart = runs[repeats // 2] not in (runs.min(), median, runs.max()) and inner.mean() != median
        if repeats < 5 or told_apart:
            return runs


@ANSWERS.exercise(
    """
      m   n   k  repeats  is_slow_first
      3   4   5        3
      4   3   2        1
     64   7  32        5
    128  16  48        9
      5   6   7        5          False
""",
    late=lambda n: (4, 5, 6, n | 1),
)
def check_measure_gemm(answer, submission, rng, m, n, k, repeats, is_slow_first=True):
    """Clock and product play from one script: the first runs are slow or the fastest, one is hindered."""
    warm = answer.number("warm", 1)
    runs = _draw_runs(rng, repeats)
    first = (30_000 if is_slow_first else 0) + rng.integers(1, 99) + 100 * np.arange(warm)
    script = [int(duration) for duration in (*first, *runs, 50_000)]
    source = SCRIPTED_MACHINE.format(warm=warm, pause=int(rng.integers(400, 500)), durations=script)
    trace: list = []
    multiply = Code(source, "multiply", trace)
    clock = Code(source, "clock", trace)
    got = submission(multiply, clock, m, n, k, repeats)
    want = 2 * m * n * k / float(np.median(runs))
    case = (
        f"m={m}, n={n}, k={k}, repeats={repeats}; {2 * m * n * k} FLOP; "
        f"run by run: {', '.join(map(str, script[:-1]))} ns"
    )
    if "clock" not in trace:
        remedy = (
            "Read the time with clock(), before and after multiply(); another clock runs at another speed."
        )
        refuse(Wrong("It never calls clock.", None, remedy), case)
        return
    ran = trace.count("multiply")
    needed = warm + repeats

    def advice():
        return (
            None if ran == needed else f"multiply ran {quantity(ran, 'time')}; {warm} + {repeats} are needed."
        )

    expect(got, want, "the rate in GFLOP/s", case, advice=advice)
