"""Checks of lesson 11: a GRU step as four small kernels, and what a naive forward pass launches."""

from functools import partial

from nbjudge.comparing.judging import expect
from nbjudge.comparing.patterns import part_of_sum
from rnncourse.checks.answers import answers
from rnncourse.checks.kernels import Case, compare_launches

ANSWERS = answers("naive_gpu_rnn")
NAMES = ("x", "h", "weight_ih", "weight_hh", "bias_ih", "bias_hh", "gates_x", "gates_h", "h_next")
AXES = (
    ("sequence", "input"),
    ("sequence", "unit"),
    ("gate row", "input"),
    ("gate row", "unit read"),
    ("gate row",),
    ("gate row",),
    ("sequence", ("gate", 3), "unit"),
    ("sequence", ("gate", 3), "unit"),
    ("sequence", "unit"),
)
PRODUCTS = {0: "gates_x", 1: "gates_h"}  # of x and of h, and the launch that leaves them
RESULTS = ("x times weight_ih", "h times weight_hh", "the gates r and z", "the new state")
BLOCK = (8, 4)  # columns, sequences


def check_step_kernels(submission, rng, B, I, H, largest):
    """The four launches of a step, each on what the course's kernel left. Results hold old numbers."""
    draw = lambda *shape: rng.normal(size=shape).astype("float32")
    parameters = draw(3 * H, I), draw(3 * H, H), draw(3 * H), draw(3 * H)
    arrays = [draw(B, I), draw(B, H), *parameters, draw(B, 3 * H), draw(B, 3 * H), draw(B, H)]
    for gate in range(3):  # far into the sigmoids of r and z, and into the tanh of n
        arrays[4][gate * H + rng.integers(H)] += largest
    grid = (-(-3 * H // BLOCK[0]) + 1, -(-B // BLOCK[1]))  # one column of blocks more than is needed
    for number, result in enumerate(RESULTS):
        says = f"launch {number}, {result}; B={B}, I={I}, H={H}, {grid} blocks of {BLOCK} threads"
        case = Case(grid, BLOCK, (number, *arrays), says)
        explain = partial(_explain, number, arrays)
        arrays = compare_launches(submission, ANSWERS["step_kernels"], case, NAMES, AXES, explain=explain)


def _explain(launch: int, arrays: list, name: str, place: tuple, surplus: float) -> str:
    """Terms of a product, in launches 0 and 1."""
    if name != PRODUCTS.get(launch):
        return ""
    return part_of_sum(surplus, arrays[launch][place[0]] * arrays[launch + 2][place[1]])


def check_launch_count(submission, rng, *sizes):
    """Numbers may be floats, as 2.0 * T * B makes them."""
    want = tuple(map(float, ANSWERS["launch_count"].call(*sizes)))
    what = ("the number of launches", "the number of FLOPs", "the number of microseconds")
    case = "{}, T={}, B={}, I={}, H={}, L={}, {} µs a launch".format(*sizes)
    expect(submission(*sizes), want, axes=(), what=what, case=case)


def draw_passes(rng) -> list[tuple]:
    """cell, T, B, I, H, L, microseconds a launch."""
    fixed = [
        ("rnn_tanh", 1, 1, 2, 3, 1),
        ("lstm", 1, 2, 3, 4, 1),
        ("gru", 1, 2, 3, 4, 1),
        ("lstm", 3, 2, 3, 4, 2),
    ]
    drawn = [
        (cell, *map(int, rng.integers((2, 2, 2, 20, 2), (300, 65, 200, 600, 9))))
        for cell in ("gru", "rnn_tanh", "lstm")
    ]
    return [(*sizes, float(rng.integers(2, 11)) / 2) for sizes in (*fixed, *drawn)]


EXERCISES = (
    ANSWERS["step_kernels"].exercise(
        check_step_kernels,
        lambda rng: ((3, 4, 5, 0), (4, 3, 8, 100), (1, 2, 1, 0), (int(rng.integers(3, 7)), 5, 7, -100)),
        is_kernel=True,
    ),
    ANSWERS["launch_count"].exercise(check_launch_count, draw_passes),
)
