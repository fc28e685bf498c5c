"""Checks of unit 00: an axis to choose, FLOP to count, a rate to measure with a clock that is known."""

import numpy as np

from rnnlab.grading.exercise import Code, Exercise, Mutant
from rnnlab.grading.judging import expect


def check_last_step(submission, rng):
    for T, B, H in ((1, 1, 1), (3, 1, 2), (3, 4, 2), (6, 3, 5)):
        y = rng.standard_normal((T, B, H))
        wrong = {
            "keeps the time axis": y[-1:],
            "takes the last sequence": y[:, -1],
            "takes the last unit": y[..., -1],
            "takes the first step": y[0],
            "averages over the steps": y.mean(axis=0),
            "adds up the steps": y.sum(axis=0),
        }
        case = f"T={T}, B={B}, H={H}"
        expect(submission(y), y[-1], axes=("sequence", "unit"), what="the last step", case=case, wrong=wrong)


LAST_STEP = Exercise(
    name="last_step",
    points=1,
    difficulty=1,
    minutes=3,
    lines=1,
    hints=(
        "y has three axes, in the order steps, sequences, units. Which of them should be gone from the "
        "result [B,H]?",
        "An index on the first axis picks one step. Python counts from the end with negative numbers.",
        "`y[0]` is the first step, of all sequences and units. The last one is `y[...]` with the index -1.",
    ),
    check=check_last_step,
    truth=lambda y: y[-1],
    mutants=(
        Mutant("keeps the time axis", "y[-1]", "y[-1:]"),
        Mutant("takes the last sequence", "y[-1]", "y[:, -1]"),
        Mutant("takes the last unit", "y[-1]", "y[:, :, -1]"),
        Mutant("takes the first step", "y[-1]", "y[0]"),
        Mutant("averages over the steps", "y[-1]", "y.mean(axis=0)"),
        Mutant("adds up the steps", "y[-1]", "y.sum(axis=0)"),
    ),
    also_right=(
        "def last_step(y):\n    T, B, H = y.shape\n    return y[T - 1, :, :]",
        "def last_step(y):\n    for step in y:\n        last = step\n    return last.copy()",
        "def last_step(y):\n    return np.take(y, -1, axis=0)",
    ),
)


def count_rnn_flops(T, B, I, H, L):
    return 2 * T * B * (H * (I + H) + (L - 1) * H * (H + H))


def check_count_rnn_flops(submission, rng):
    drawn = (int(rng.choice((5, 7))), 3, int(rng.choice((11, 13))), int(rng.choice((17, 19))), 4)
    large = (*rng.integers(20, 600, 4).tolist(), int(rng.integers(2, 9)))  # no table holds them all
    for T, B, I, H, L in ((1, 1, 2, 3, 1), (5, 3, 2, 7, 1), (1, 1, 2, 3, 2), drawn, large):
        want = count_rnn_flops(T, B, I, H, L)
        first, deeper = H * (I + H), H * (H + H)
        wrong = {
            "counts a multiply-add as one operation": want // 2,
            "forgets the recurrent product": 2 * T * B * (H * I + (L - 1) * deeper),
            "forgets the input product": 2 * T * B * (H * H + (L - 1) * deeper),
            "counts one step only": want // T,
            "counts one sequence only": want // B,
            "forgets the layers above the first": 2 * T * B * first,
            "feeds every layer with x": 2 * T * B * L * first,
            "counts the biases too": want + 2 * T * B * L * H,
            "counts one layer too many": 2 * T * B * (first + L * deeper),
        }
        case = f"T={T}, B={B}, I={I}, H={H}, L={L}"
        expect(submission(T, B, I, H, L), want, what="the number of FLOP", case=case, wrong=wrong)


COUNT_RNN_FLOPS = Exercise(
    name="count_rnn_flops",
    points=2,
    difficulty=2,
    minutes=10,
    lines=3,
    hints=(
        "Count for one step, one sequence, one layer first. A product of an [H,I] matrix with I numbers "
        "gives H results: how many multiplications does each of them need?",
        "Each of the H results of the first layer needs I + H multiplications, and as many additions. "
        "Everything then happens T times and B times. From the second layer on, the layer reads H inputs "
        "instead of I.",
        "`first = H * (I + H)` for one layer's multiplications, `deeper = H * (H + H)` for each of the L - "
        "1 others. Add them up, times 2 for the additions, times steps, times sequences.",
    ),
    check=check_count_rnn_flops,
    truth=count_rnn_flops,
    mutants=(
        Mutant("counts a multiply-add as one operation", "2 * T * B", "T * B"),
        Mutant("forgets the recurrent product", "H * (I + H)", "H * I"),
        Mutant("forgets the input product", "H * (I + H)", "H * H"),
        Mutant("counts one step only", "2 * T * B", "2 * B"),
        Mutant("counts one sequence only", "2 * T * B", "2 * T"),
        Mutant("forgets the layers above the first", "first + (L - 1) * deeper", "first"),
        Mutant("feeds every layer with x", "first + (L - 1) * deeper", "L * first"),
        Mutant("counts the biases too", "H * (I + H)", "H * (I + H + 1)"),
        Mutant("counts one layer too many", "(L - 1) * deeper", "L * deeper"),
    ),
    also_right=(
        "def count_rnn_flops(T, B, I, H, L):\n"
        "    flops = 0\n"
        "    inputs = I\n"
        "    for _ in range(L):\n"
        "        flops += T * B * H * (inputs + H) * 2\n"
        "        inputs = H\n"
        "    return flops",
        "def count_rnn_flops(T, B, I, H, L):\n"
        "    weights = H * I + H * H + (L - 1) * 2 * H**2\n"
        "    return weights * T * B * 2",
    ),
)


SCRIPTED_MACHINE = """
now, calls, durations = 7_000, 0, {durations}

def multiply():
    global now, calls
    now += durations[min(calls, len(durations) - 1)]
    calls += 1

def clock():
    return now
"""


def check_measure_gemm(submission, rng):
    """Clock and product play from one script: the first run is slow, one is hindered, no two are equal."""
    for m, n, k, repeats in ((4, 3, 2, 1), (3, 4, 5, 3), (64, 7, 32, 5), (128, 16, 48, 9)):
        runs = 100 * rng.permutation(np.arange(10, 10 + repeats)) + rng.integers(100)
        runs[rng.integers(repeats)] *= 9
        script = [int(duration) for duration in (30_000 + rng.integers(999), *runs, 50_000)]
        source = SCRIPTED_MACHINE.format(durations=script)
        flop = 2 * m * n * k
        want = flop / float(np.median(runs))
        wrong = {
            "counts the first run": flop / float(np.median(script[:repeats])),
            "takes the mean": flop / float(np.mean(runs)),
            "takes the fastest run": flop / float(np.min(runs)),
            "takes the total time": flop / float(np.sum(runs)),
            "counts a multiply-add as one operation": want / 2,
            "leaves out the inner size k": want / k,
            "returns FLOP/s": want * 1e9,
            "takes nanoseconds for seconds": want / 1e9,
            "measures one run too many": flop / float(np.median(script[1 : repeats + 2])),
        }
        got = submission(Code(source, "multiply"), Code(source, "clock"), m, n, k, repeats)
        case = f"m={m}, n={n}, k={k}, repeats={repeats}"
        expect(got, want, what="the rate in GFLOP/s", case=case, wrong=wrong)


def measure_gemm(multiply, clock, m, n, k, repeats):
    multiply()
    marks = []
    for _ in range(repeats):
        marks.append(clock())
        multiply()
        marks.append(clock())
    return 2 * m * n * k / float(np.median(np.diff(marks)[::2]))


MEASURE_GEMM = Exercise(
    name="measure_gemm",
    points=3,
    difficulty=2,
    minutes=15,
    lines=7,
    hints=(
        "Two questions: which durations do you collect, and how do you get from a duration to a rate? The "
        "four steps above the cell are the program; only the units are left to you.",
        "FLOP of one product: 2·m·n·k. FLOP per nanosecond is the same number as GFLOP per second, because "
        "10⁹ appears above and below. The duration of a run is the difference of two clock readings around "
        "that run alone.",
        "`multiply()` once; then in a loop `start = clock()`, `multiply()`, `durations.append(clock() - "
        "start)`; finally `2 * m * n * k / np.median(durations)`, made a plain number by `float(...)`.",
    ),
    check=check_measure_gemm,
    truth=measure_gemm,
    mutants=(
        Mutant("counts the first run", "    multiply()\n    durations = []", "    durations = []"),
        Mutant("takes the mean", "np.median", "np.mean"),
        Mutant("takes the fastest run", "np.median", "np.min"),
        Mutant("takes the total time", "np.median", "np.sum"),
        Mutant("counts a multiply-add as one operation", "2 * m * n * k", "m * n * k"),
        Mutant("leaves out the inner size k", "2 * m * n * k", "2 * m * n"),
        Mutant("returns FLOP/s", "2 * m * n * k", "1e9 * 2 * m * n * k"),
        Mutant("takes nanoseconds for seconds", "2 * m * n * k", "1e-9 * 2 * m * n * k"),
        Mutant("measures one run too many", "range(repeats)", "range(repeats + 1)"),
    ),
    also_right=(
        "def measure_gemm(multiply, clock, m, n, k, repeats):\n"
        "    def seconds():\n"
        "        start = clock()\n"
        "        multiply()\n"
        "        return (clock() - start) * 1e-9\n"
        "    seconds()\n"
        "    runs = sorted(seconds() for _ in range(repeats))\n"
        "    return 2 * m * n * k / runs[repeats // 2] / 1e9",
        "def measure_gemm(multiply, clock, m, n, k, repeats):\n"
        "    multiply()\n"
        "    marks = [clock()]\n"
        "    for _ in range(repeats):\n"
        "        multiply()\n"
        "        marks.append(clock())\n"
        "    rates = 2 * m * n * k / np.diff(marks)\n"
        "    return float(np.median(rates))",
    ),
)

EXERCISES = (LAST_STEP, COUNT_RNN_FLOPS, MEASURE_GEMM)
