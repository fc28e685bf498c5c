"""Checks of lesson 11: a GRU step as four small kernels, and the model's time of a product."""

from functools import partial

from nbjudge.comparing.judging import begin_case, expect
from nbjudge.comparing.patterns import part_of_sum
from nbjudge.printable import quantity
from pocketgpu.devices import Device, find
from rnncourse.checks.answers import answers
from rnncourse.checks.kernels import Case, compare_launches
from rnncourse.checks.numbers import rows_of

ANSWERS = answers("11_naive_gpu_rnn")
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
    G = 3 * H
    parameters = draw(G, I), draw(G, H), draw(G), draw(G)
    arrays = [draw(B, I), draw(B, H), *parameters, draw(B, G), draw(B, G), draw(B, H)]
    for gate in range(3):  # far into the sigmoids of r and z, and into the tanh of n
        arrays[4][gate * H + rng.integers(H)] += largest
    grid = (-(-3 * H // BLOCK[0]) + 1, -(-B // BLOCK[1]))  # one column of blocks more than is needed
    for number, result in enumerate(RESULTS):
        begin_case(f"launch {number}, {result}; B={B}, I={I}, H={H}, {grid} blocks of {BLOCK} threads")
        case = Case(grid, BLOCK, (number, *arrays))
        explain = partial(_explain, number, arrays)
        arrays = compare_launches(submission, ANSWERS["step_kernels"], case, NAMES, AXES, explain=explain)


def _explain(launch: int, arrays: list, name: str, place: tuple, surplus: float) -> str:
    """Terms of a product, in launches 0 and 1."""
    if name != PRODUCTS.get(launch):
        return ""
    return part_of_sum(surplus, arrays[launch][place[0]] * arrays[launch + 2][place[1]])


def check_product_time(submission, rng, sequences, rows, inner, device):
    sheet = find(device)
    sizes = sequences, rows, inner, sheet.multiprocessors, sheet.peak
    want = ANSWERS["product_time"].call(*sizes)
    case = "{} sequences, {} rows, {} inner, {} multiprocessors, {:.4g} TFLOP/s".format(*sizes)
    advice = partial(_factors, sequences, rows, inner, sheet)
    expect(submission(*sizes), want, axes=(), what="the time", case=case, tolerance=1e-6, advice=advice)


def _factors(sequences: int, rows: int, inner: int, sheet: Device) -> str:
    """The time at the peak, and the factors that follow from the number of blocks."""
    blocks = -(-sequences // 64) * -(-rows // 64)
    half = float(ANSWERS["product_time"].number("half", 1.5))
    at_peak = 2e-6 * sequences * rows * inner / sheet.peak
    c = max(1, blocks / sheet.multiprocessors)
    return (
        f"At the peak it takes {at_peak:.4g} µs. {quantity(blocks, 'block')} for {sheet.multiprocessors} "
        f"multiprocessors: {max(1, sheet.multiprocessors / blocks):.4g} times as long where some stay empty, "
        f"{1 + half / c:.4g} times with {c:.4g} on each; then 1 / 0.85 and 1.12."
    )


SIZES = """
    sequences  rows  inner  device
           64   512    512  H200
           64    64     64  M40
           64  2048    512  M40
          100    90     40  M40
          100  2100    300  M40  # more blocks than multiprocessors, and parts of tiles in them
          256  2048   2048  H200
            1     1      1  T4
"""


def draw_products(rng) -> list[tuple]:
    """Few blocks and many, whole tiles and parts."""
    sizes = [rng.integers((2, 100, 20), (400, 5000, 900)).tolist() for _ in range(2)]
    return [*rows_of(SIZES), (*sizes[0], "V100"), (*sizes[1], "A100")]


EXERCISES = (
    ANSWERS["step_kernels"].exercise(
        check_step_kernels,
        lambda rng: ((3, 4, 5, 0), (4, 3, 8, 100), (1, 2, 1, 0), (int(rng.integers(3, 7)), 5, 7, -100)),
        is_kernel=True,
    ),
    ANSWERS["product_time"].exercise(check_product_time, draw_products),
)
