"""Launches, FLOPs and launch-bound time of a naive forward pass, counted from the equations of its cell."""

from rnnlab.checks.edits import wrong_values
from rnnlab.grading.exercise import Exercise, Mutant
from rnnlab.grading.judging import expect


def launch_count(cell, T, B, I, H, L, launch):
    gates, pointwise = {"rnn_tanh": (1, 3), "gru": (3, 15), "lstm": (4, 17)}[cell]
    launches = T * L * (2 * gates + pointwise)
    flops = 0
    for layer in range(L):
        inputs = I if layer == 0 else H
        flops += T * gates * 2 * B * H * (inputs + H)
    return launches, flops, launches * launch


MUTANTS = (
    Mutant("launches each kernel once for all layers", "T * L *", "T *"),
    Mutant("counts one step only", "launches = T * L", "launches = L"),
    Mutant("launches one product a gate instead of two", "(2 * gates + pointwise)", "(gates + pointwise)"),
    Mutant("counts products only", "(2 * gates + pointwise)", "(2 * gates)"),
    Mutant("misses one of the pointwise kernels of a GRU", "(3, 15)", "(3, 14)"),
    Mutant("misses one of the pointwise kernels of an LSTM", "(4, 17)", "(4, 16)"),
    Mutant("gives every layer inputs as wide as x", "I if layer == 0 else H", "I"),
    Mutant("gives the first layer inputs as wide as h", "I if layer == 0 else H", "H"),
    Mutant("counts a multiply-add as one FLOP", "gates * 2 * B", "gates * B"),
    Mutant("pays for one launch a step", "launches * launch", "T * L * launch"),
)

WHAT = ("launches", "FLOPs of the products", "microseconds")
FIRST = (
    ("rnn_tanh", 1, 1, 2, 3, 1),
    ("lstm", 1, 2, 3, 4, 1),
    ("gru", 1, 2, 3, 4, 1),
    ("lstm", 3, 2, 3, 4, 2),
)


def check(submission, rng):
    drawn = [
        (cell, *(int(n) for n in rng.integers((2, 2, 2, 20, 2), (30, 65, 20, 60, 6))))
        for cell in ("gru", "rnn_tanh", "lstm")
    ]
    for sizes in (*FIRST, *drawn):
        arguments = (*sizes, float(rng.integers(2, 11)) / 2)
        cell, T, B, I, H, L, launch = arguments
        expect(
            submission(*arguments),
            launch_count(*arguments),
            what=WHAT,
            axes=(),
            case=f"{cell}, T={T}, B={B}, I={I}, H={H}, L={L}, {launch} µs a launch",
            wrong=wrong_values(launch_count, MUTANTS, *arguments),
        )


LAUNCH_COUNT = Exercise(
    name="launch_count",
    points=4,
    difficulty=2,
    minutes=20,
    lines=8,
    hints=(
        "Begin with one step of one layer. Write the cell's equations down, one operation under the other: "
        "every product, every bias, every sum, every function and every ∘ is a kernel. The lesson lists the "
        "25 of an LSTM.",
        "A gate has two products, x·Wᵀ and h·Uᵀ. FLOPs: a product of [B,K] and [K,H] takes 2·B·K·H, where K "
        "is I in the first layer and H in all others for W, and H for U. No kernel waits for another to be "
        "launched at the same time: the host pays for each.",
        "Products and pointwise kernels of a step: rnn_tanh 2 + 3, gru 6 + 15 (its candidate has a second "
        "bias), lstm 8 + 17. launches = T·L·(both); flops adds T·gates·2·B·H·(inputs + H) for each layer; "
        "the time is launches · launch.",
    ),
    check=check,
    truth=launch_count,
    mutants=MUTANTS,
    also_right=(
        """def launch_count(cell, T, B, I, H, L, launch):
    a_step = {"rnn_tanh": 5, "gru": 21, "lstm": 25}
    gates = {"rnn_tanh": 1, "gru": 3, "lstm": 4}
    first = 2 * gates[cell] * H * B * (I + H)
    others = (L - 1) * 4 * gates[cell] * B * H * H
    n = sum(a_step[cell] for _ in range(T * L))
    return n, T * (first + others), n * launch
""",
        """def launch_count(cell, T, B, I, H, L, launch):
    widths = [I] + [H] * (L - 1)
    products, others = dict(rnn_tanh=(2, 3), gru=(6, 15), lstm=(8, 17))[cell]
    launches = flops = 0
    for t in range(T):
        for width in widths:
            launches += products + others
            flops += products // 2 * (2 * B * H * width + 2 * B * H * H)
    return launches, flops, launch * launches
""",
    ),
)
