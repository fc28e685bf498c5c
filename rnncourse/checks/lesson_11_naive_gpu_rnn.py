"""Checks of lesson 11: a GRU step as four small kernels, and the model's time of a product."""

from functools import partial

from nbjudge.comparing.judging import begin_case
from nbjudge.comparing.patterns import part_of_sum
from nbjudge.printable import quantity
from pocketgpu.devices import Device, find
from rnncourse.checks.answers import answers
from rnncourse.checks.kernels import Case, compare_launches, normal
from rnncourse.checks.results import expect

ANSWERS = answers("11_naive_gpu_rnn")
RESULTS = (
    "x: sequence, input; h: sequence, unit; weight_ih: gate row, input; weight_hh: gate row, unit read; "
    "bias_ih: gate row; bias_hh: gate row; gates_x: sequence, gate of 3, unit; "
    "gates_h: sequence, gate of 3, unit; h_next: sequence, unit"
)
PRODUCTS = {0: "gates_x", 1: "gates_h"}  # of x and of h, and the launch that leaves them
LAUNCHES = ("x times weight_ih", "h times weight_hh", "the gates r and z", "the new state")
BLOCK = (8, 4)  # columns, sequences


@ANSWERS.exercise("""
      B  I  H  largest
      3  4  5        0
      4  3  8      100
      1  2  1        0
    3:7  5  7     -100
""")
def check_step_kernels(answer, submission, rng, B, I, H, largest):
    """The four launches of a step, each on what the course's kernel left. Results hold old numbers."""
    draw = partial(normal, rng)
    G = 3 * H
    weight_ih = draw(G, I)
    weight_hh = draw(G, H)
    bias_ih = draw(G)
    bias_hh = draw(G)
    x = draw(B, I)
    h = draw(B, H)
    arrays = [x, h, weight_ih, weight_hh, bias_ih, bias_hh, draw(B, G), draw(B, G), draw(B, H)]
    for gate in range(3):  # far into the sigmoids of r and z, and into the tanh of n
        unit = rng.integers(H)
        bias_ih[gate * H + unit] += largest
    columns, sequences = BLOCK
    grid = (-(-G // columns) + 1, -(-B // sequences))  # one column of blocks more than is needed
    for number, result in enumerate(LAUNCHES):
        begin_case(f"launch {number}, {result}; B={B}, I={I}, H={H}, {grid} blocks of {BLOCK} threads")
        case = Case(grid, BLOCK, (number, *arrays))
        explain = partial(_explain, number, arrays)
        arrays = compare_launches(answer, submission, case, RESULTS, explain=explain)


def _explain(launch: int, arrays: list, name: str, place: tuple, surplus: float) -> str:
    """Terms of a product, in launches 0 and 1."""
    if name != PRODUCTS.get(launch):
        return ""
    sequence, gate_row = place
    rows = arrays[launch]  # x or h
    weights = arrays[launch + 2]
    return part_of_sum(surplus, rows[sequence] * weights[gate_row])


# few blocks and many, whole tiles and parts
@ANSWERS.exercise("""
    sequences      rows   inner  device
           64       512     512  H200
           64        64      64  M40
           64      2048     512  M40
          100        90      40  M40
          100      2100     300  M40  # more blocks than multiprocessors, and parts of tiles in them
          256      2048    2048  H200
            1         1       1  T4
        2:400  100:5000  20:900  V100
        2:400  100:5000  20:900  A100
""")
def check_product_time(answer, submission, rng, sequences, rows, inner, device):
    sheet = find(device)
    sizes = sequences, rows, inner, sheet.multiprocessors, sheet.peak
    want = answer.call(*sizes)
    got = submission(*sizes)
    case = "{} sequences, {} rows, {} inner, {} multiprocessors, {:.4g} TFLOP/s".format(*sizes)
    advice = partial(_factors, sequences, rows, inner, sheet)
    expect(got, want, "the time", case, tolerance=1e-6, advice=advice)


def _factors(sequences: int, rows: int, inner: int, sheet: Device) -> str:
    """The time at the peak, and the factors that follow from the number of blocks."""
    multiprocessors = sheet.multiprocessors
    blocks = -(-sequences // 64) * -(-rows // 64)
    half = float(ANSWERS["product_time"].number("half", 1.5))
    at_peak = 2e-6 * sequences * rows * inner / sheet.peak
    blocks_on_each = max(1, blocks / multiprocessors)
    for_empty = max(1, multiprocessors / blocks)
    for_occupancy = 1 + half / blocks_on_each
    return (
        f"At the peak it takes {at_peak:.4g} µs. {quantity(blocks, 'block')} for {multiprocessors} "
        f"multiprocessors: {for_empty:.4g} times as long where some stay empty, "
        f"{for_occupancy:.4g} times with {blocks_on_each:.4g} on each; then 1 / 0.85 and 1.12."
    )
