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
        for step in range(T - 1):
            if same(got, y[step], None):
                return f"It is step {step}: which index has the last of {T} steps?"
        return None

    compare(answer, submission, (y,), "the last step: sequence, unit", advice)


def draw_networks(rng) -> list[tuple]:
    """T, B, I, H, L: each size alone, all sizes different, and one too large to list."""
    T = int(rng.choice((5, 7)))
    I = int(rng.choice((11, 13)))
    H = int(rng.choice((17, 19)))
    few = int(rng.integers(100, 300))  # layers: a recursion over them ends
    many = rng.integers(1_000, 10_000, 4).tolist()
    return [(5, 3, 2, 7, 1), (1, 1, 2, 3, 1), (1, 1, 2, 3, 2), (T, 3, I, H, 4), (*many, few)]


@ANSWERS.exercise(draw_networks)
def check_count_rnn_flops(answer, submission, rng, T, B, I, H, L):
    gates = answer.number("gates", 1)
    first_layer = 2 * gates * H * (I + H)
    counts = f"for one step of one sequence {first_layer} in the first layer"
    if L > 1:
        later_layer = 4 * gates * H * H
        others = "the other layer" if L == 2 else f"each of the other {L - 1} layers"
        counts += f", {later_layer} in {others}"
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
        hindered = rng.integers(repeats)
        runs[hindered] *= 9
        equal = 3 if repeats > 5 else 1
        shortest = runs.argsort()[:equal]
        runs[shortest] = runs.min()
        if repeats < 5 or _only_median_fits(runs):
            return runs


def _only_median_fits(runs: np.ndarray) -> bool:
    """Whether the run in the middle and the mean without the extremes differ from the median."""
    median = np.median(runs)
    middle = runs[len(runs) // 2]
    inner = np.sort(runs)[1:-1]
    return middle not in (runs.min(), median, runs.max()) and inner.mean() != median


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
    shortest = 30_000 if is_slow_first else 0
    warm_runs = shortest + rng.integers(1, 99) + 100 * np.arange(warm)
    durations = [*warm_runs.tolist(), *runs.tolist(), 50_000]
    pause = int(rng.integers(400, 500))
    source = SCRIPTED_MACHINE.format(warm=warm, pause=pause, durations=durations)
    trace: list = []
    multiply = Code(source, "multiply", trace)
    clock = Code(source, "clock", trace)
    got = submission(multiply, clock, m, n, k, repeats)
    flop = 2 * m * n * k
    want = flop / float(np.median(runs))
    listed = ", ".join(map(str, durations[:-1]))
    case = f"m={m}, n={n}, k={k}, repeats={repeats}; {flop} FLOP; run by run: {listed} ns"
    if "clock" not in trace:
        remedy = (
            "Read the time with clock(), before and after multiply(); another clock runs at another speed."
        )
        refuse(Wrong("It never calls clock.", None, remedy), case)
        return
    ran = trace.count("multiply")
    needed = warm + repeats

    def advice():
        if ran == needed:
            return None
        times = quantity(ran, "time")
        return f"multiply ran {times}; {warm} + {repeats} are needed."

    expect(got, want, "the rate in GFLOP/s", case, advice=advice)
