"""What a step of the grid kernel and of the cluster kernel cannot be faster than, by hand."""

from dataclasses import replace

from rnnlab.cells import GATES
from rnnlab.checks.edits import wrong_values
from rnnlab.devices import Device, find
from rnnlab.grading.exercise import Exercise, Mutant
from rnnlab.grading.judging import expect
from rnnlab.ladder.persistence.floor import H200, OF_PEAK, TENSOR_PEAK, Latencies, floor
from rnnlab.ladder.persistence.shapes import cluster_shape, grid_shape

TOLERANCE = 0.01
# barrier, push, l2, l2_bandwidth, exchange, push_bandwidth: between these
LEAST, MOST = (0.8, 0.2, 0.1, 4000, 0.3, 10), (2, 0.5, 0.2, 8000, 0.6, 30)


def steps_floor(gates, H, B, blocks, cluster, warps, gpu):
    B = -(-B // 8) * 8
    speed = gpu["tflops"] * 1e6 / gpu["multiprocessors"]
    moved = blocks * B * H * 2 / (gpu["l2_bandwidth"] * 1e3)
    grid = gpu["exchange"] + max(0, moved - gpu["l2"]) + 2 * gates * H * H * B / (speed * blocks)
    turns = -(-(B // 8) // (gpu["multiprocessors"] // cluster))
    product = 2 * gates * H * H * 8 / (speed * cluster)
    read = warps * 8 * H * 2 / 128 / (gpu["clock"] * 1e3)
    pushed = 8 * H * 2 / (gpu["push_bandwidth"] * 1e3)
    return grid, turns * (gpu["push"] + pushed + max(product, read))


MUTANTS = (
    Mutant("forgets that blocks read h", 'max(0, moved - gpu["l2"]) + ', ""),
    Mutant("lets one block read h for all", "moved = blocks * B", "moved = B"),
    Mutant("counts the latency of the second-level cache twice", 'max(0, moved - gpu["l2"])', "moved"),
    Mutant(
        "multiplies with all multiprocessors in a cluster",
        "(speed * cluster)", '(speed * gpu["multiprocessors"])',
    ),
    Mutant("does not fill up the minibatch", "B = -(-B // 8) * 8", "B = B"),
    Mutant("runs all clusters at once", "turns * (", "("),
    Mutant("forgets what pushes have to carry", "+ pushed ", ""),
    Mutant("forgets that warps read h from shared memory", "max(product, read)", "product"),
    Mutant("adds what runs at the same time", "max(product, read)", "product + read"),
    Mutant(
        "begins with a cluster that has not all its blocks",
        '// (gpu["multiprocessors"] // cluster)', '* cluster // gpu["multiprocessors"]',
    ),
)  # fmt: skip


def check(submission, rng):
    h200 = find("H200")
    few = replace(h200, multiprocessors=int(rng.integers(58, 64)))
    slow = replace(h200, name="A100", clock=float(rng.uniform(2.5, 3)))  # few operations a clock
    drawn = Latencies(2.5, 1.3, *rng.uniform(LEAST, MOST).tolist())
    behind = replace(drawn, l2_bandwidth=200)  # so slow that even one block's reading shows
    for cell, H, B, device, known in (
        ("rnn_tanh", 256, 1, h200, H200),
        ("lstm", 512, 16, h200, H200),
        ("gru", 384, 64, h200, drawn),
        ("lstm", 384, 51, few, H200),
        ("lstm", 512, int(rng.integers(70, 100)), slow, behind),
        ("gru", 256, 3, slow, H200),
    ):
        arguments, want = _case(cell, H, B, device, known)
        expect(
            submission(*arguments),
            want,
            axes=(),
            what=("the grid's step", "the cluster's step"),
            case=f"{cell} of {H} units, {B} sequences, {arguments[3]} blocks or {arguments[4]} in a cluster, "
            f"gpu={ {name: round(value, 3) for name, value in arguments[-1].items()} }",
            wrong=wrong_values(steps_floor, MUTANTS, *arguments),
            tolerance=TOLERANCE,
        )


def _case(cell: str, H: int, B: int, device: Device, known: Latencies) -> tuple[tuple, tuple[float, float]]:
    """The arguments, and what floor.py says of the same shapes."""
    grid, cluster = grid_shape(cell, H, "bfloat16", B, device), cluster_shape(cell, H, "bfloat16", device)
    gpu = {
        "multiprocessors": device.multiprocessors,
        "clock": device.clock,
        "tflops": OF_PEAK * TENSOR_PEAK[device.name],
        "exchange": known.grid_exchange,
        "push": known.push,
        "push_bandwidth": known.push_bandwidth,
        "l2": known.l2,
        "l2_bandwidth": known.l2_bandwidth,
    }
    arguments = len(GATES[cell]), H, B, grid.launch("forward", B).blocks, cluster.cluster, cluster.warps, gpu
    return arguments, tuple(floor(shape, B, device, known).step for shape in (grid, cluster))


STEPS_FLOOR = Exercise(
    name="steps_floor",
    points=3,
    difficulty=3,
    minutes=25,
    lines=8,
    hints=(
        "A step is a sum of parts that wait for one another. For each kernel ask: how long until the others' "
        "h is there, what must be moved, what must be multiplied, and by how many multiprocessors?",
        "Grid: exchange, then blocks·B·H·2 bytes at l2_bandwidth as far as that takes longer than l2, then "
        "2·gates·H²·B operations by `blocks` multiprocessors. Cluster: push, 8·H·2 bytes at push_bandwidth, "
        "then the longer of its 8 sequences' operations and its warps' reading, for each turn. Fill B up to "
        "eights first.",
        "`B = -(-B // 8) * 8`; `speed = tflops * 1e6 / multiprocessors`; grid = exchange + "
        "max(0, moved - l2) + 2·gates·H²·B / (speed·blocks); turns = ⌈B/8 / (multiprocessors // cluster)⌉; "
        "read = warps·8·H·2 / 128 / (clock·1e3); pushed = 8·H·2 / (push_bandwidth·1e3); "
        "cluster's = turns · (push + pushed + max(product, read)).",
    ),
    check=check,
    truth=steps_floor,
    mutants=MUTANTS,
    also_right=(
        """import math
def steps_floor(gates, H, B, blocks, cluster, warps, gpu):
    tiles = math.ceil(B / 8)
    of_a_tile = 2 * gates * H**2 * 8
    one = gpu["tflops"] * 1e12 / gpu["multiprocessors"] / 1e6
    row = 8 * H * 2
    broadcast = tiles * row * blocks / gpu["l2_bandwidth"] / 1000 - gpu["l2"]
    grid = gpu["exchange"] + tiles * of_a_tile / one / blocks
    if broadcast > 0:
        grid += broadcast
    work = max(of_a_tile / one / cluster, warps * row / 128 / gpu["clock"] / 1000)
    push = gpu["push"] + row / gpu["push_bandwidth"] / 1000
    return grid, math.ceil(tiles / (gpu["multiprocessors"] // cluster)) * (push + work)
""",
        """def steps_floor(gates, H, B, blocks, cluster, warps, gpu):
    sequences = int(8 * np.ceil(B / 8))
    seconds = lambda flops, many: flops * gpu["multiprocessors"] / many / (gpu["tflops"] * 1e12)
    waited = np.clip(blocks * sequences * H * 2e-9 / gpu["l2_bandwidth"] - gpu["l2"] * 1e-6, 0, None)
    grid = gpu["exchange"] * 1e-6 + waited + seconds(2 * gates * H * H * sequences, blocks)
    turns = np.ceil(sequences / 8 / (gpu["multiprocessors"] // cluster))
    inside = max(seconds(16 * gates * H * H, cluster), warps * H / (8e9 * gpu["clock"]))
    push = gpu["push"] + 16e-3 * H / gpu["push_bandwidth"]
    return float(grid * 1e6), float(turns * (push + inside * 1e6))
""",
    ),
)
