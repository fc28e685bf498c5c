"""The CUDA C++ kernels without a GPU: fragments, shapes, and every kernel run by emulated threads."""

from dataclasses import replace

import numpy as np
import pytest
from emulated_gpu import EmulatedChip, compiler

from pocketgpu.devices import find
from rnnlab import reference
from rnnlab.cells import find_cell
from rnnlab.compare import TOLERANCES, relative_error
from rnnlab.kernels.persistence.fragments import loaded, stored
from rnnlab.kernels.persistence.layers import TensorLayers
from rnnlab.kernels.persistence.shapes import ClusterShape, GridShape
from rnnlab.ladder.properties import WITH_KERNELS
from rnnlab.network import Network

H200, A100 = find("H200"), find("A100")
CELLS = WITH_KERNELS


def problem(cell, dtype, sizes, layers=1):
    """Everything rounded to the dtype, gain at which units are lively; T, B, H."""
    T, B, H = sizes
    network = Network.create(cell, 5, H, layers, gain=0.3 if cell == "rnn_relu" else 1.5, seed=H)
    if cell == "rnn_relu":  # far from the kink, on whose other side a rounded sum has another slope
        for layer in range(layers):
            network.parameters[f"bias_ih_l{layer}"][:] = np.where(np.arange(H) % 2, 2, -2)
    rounded = lambda array: loaded(stored(array, dtype), dtype)
    network = replace(network, parameters={k: rounded(v) for k, v in network.parameters.items()})
    rng = np.random.default_rng(T)
    draw = lambda *shape: rounded(rng.normal(size=shape))
    states = [tuple(0.5 * draw(layers, B, H) for _ in find_cell(cell).states) for _ in range(2)]
    return network, draw(T, B, 5), states[0], draw(T, B, H), states[1]


def ran(shape, chip, network, x, state, dy, dstate):
    """Outputs and gradients by the kernels."""
    layers = TensorLayers(network, shape, x.shape[:2], chip)
    layers.load(x, state)
    layers.load_gradients(dy, dstate)
    layers.forward()
    layers.backward()
    layers.check()
    y, final = layers.outputs()
    dx, dfirst, gradients = layers.gradients()
    return {"y": y, "final": np.stack(final)}, {"dx": dx, "dfirst": np.stack(dfirst), **gradients}


def wanted(network, x, state, dy, dstate):
    exact, wide = network.astype("float64"), lambda parts: tuple(entry.astype("float64") for entry in parts)
    y, final, remaining = reference.forward(exact, x.astype("float64"), wide(state))
    dx, dfirst, gradients = reference.backward(exact, remaining, dy.astype("float64"), wide(dstate))
    return {"y": y, "final": np.stack(final)}, {"dx": dx, "dfirst": np.stack(dfirst), **gradients}


def worst(got, want):
    return max(relative_error(got[name], want[name]) for name in want)


GRIDS = [  # warps, units of a block, pairs in shared memory, tiles of sequences at once; T, B, H
    ("lstm", "bfloat16", (2, (8, 16), (0, 0), 1), (4, 16, 64)),
    ("lstm", "tf32", (2, (8, 16), (1, 3), 2), (3, 11, 64)),
    ("gru", "float16", (1, (4, 32), (1, 5), 1), (4, 3, 64)),
    ("gru", "tf32", (2, (12, 48), (0, 0), 1), (1, 1, 96)),
    ("rnn_tanh", "float16", (1, (16, 16), (1, 1), 2), (5, 24, 64)),
    ("rnn_relu", "tf32", (4, (32, 32), (0, 0), 1), (3, 8, 64)),
    ("lstm", "float16", (2, (16, 32), (0, 2), 2), (3, 40, 64)),  # chunks: 2 + 2 + 1 tiles
]
CLUSTERS = [
    ("lstm", "bfloat16", 2, (5, 16, 64)),
    ("lstm", "float16", 8, (4, 2, 64)),
    ("gru", "float16", 4, (4, 9, 96)),
    ("gru", "bfloat16", 1, (1, 1, 32)),
    ("rnn_tanh", "bfloat16", 2, (5, 8, 64)),
    ("rnn_relu", "float16", 4, (3, 8, 128)),
    ("lstm", "bfloat16", 4, (5, 8, 128)),  # four groups of source blocks
    ("lstm", "float16", 4, (5, 8, 128), True),  # the same by bulk copies
    ("lstm", "bfloat16", 8, (3, 8, 160)),  # five warps, which do not pair up
]
SHAPES = [(GridShape(cell, sizes[2], dtype, *more), sizes) for cell, dtype, more, sizes in GRIDS] + [
    (ClusterShape(cell, sizes[2], dtype, cluster, *bulk), sizes)
    for cell, dtype, cluster, sizes, *bulk in CLUSTERS
]

GRID, CLUSTER = (
    next(entry for entry in SHAPES if type(entry[0]) is kind) for kind in (GridShape, ClusterShape)
)
SOON = "#define MOST_WAIT 1000000\n"  # nanoseconds, of which the emulator counts 1000 a round
WRONG = {  # kernel, what stands there, what stands there instead
    "no block waits for h": ("grid", "in_time && t > 0,", "false,"),
    "no block waits for dgates": ("grid", "tiles_now, in_time, keep_parts", "tiles_now, false, keep_parts"),
    "of four words one is tested": ("grid", "max(max(v.x, v.y), max(v.z, v.w)) ==", "v.x =="),
    "of a warp one lane tests": (
        "grid",
        "any_lane(missing)",
        "(threadIdx.x % 32 == 0 ? any_lane(missing) : any_lane(false))",
    ),
    "sums are read before all are written": (
        "grid",
        "atomicMax(failed, max(1, t));\n      __syncthreads();",
        "atomicMax(failed, max(1, t));",
    ),
    "one buffer of sums in place of two": ("grid", "chunk % 2 * CHUNK * ROWS * THREADS", "0"),
    "one buffer of sums of gradients": ("grid", "chunk % 2 * 4 * CHUNK * ROWS * THREADS", "0"),
    "no block of a cluster waits for h": ("cluster", "wait(here + group, t, failed, lost)", ""),
    "a block waits for its own group only": ("cluster", "wait(here + group,", "wait(here + own_group,"),
    "weights lie in the order of groups": ("cluster", "(g ^ own_group) * 2 * GROUP", "g * 2 * GROUP"),
    "no block waits for dh": ("cluster", "wait(barriers + step % 2, step, failed, lost)", ""),
    "one row of gates' gradients in place of two": (
        "cluster",
        "rows + step % 2 * SEQUENCES * BACK_ROW",
        "rows",
    ),
    "one state in place of two": ("cluster", "(t + 1) % 2 * 2 * STATE", "t % 2 * 2 * STATE"),
    "a warp pushes what its team has not written": (
        "cluster",
        "synchronize_team();\n    con",
        "__syncwarp();\n    con",
    ),
    "fewer bytes are announced than come": ("cluster", "SEQUENCES * HIDDEN * sizeof(Number) / GROUPS", "8"),
    "one outbox in place of two": ("bulk", "outbox + t % 2 * SEQUENCES * TEAM_UNITS", "outbox"),
    "a thread starts the copy before all have written": ("bulk", "synchronize_team();\n    con", "con"),
    "gates' gradients are read before they are there": (
        "cluster",
        "__syncthreads();\n    float sums",
        "float sums",
    ),
}
QUICK = "no block waits for h", "no block of a cluster waits for h", "fewer bytes are announced than come"
needs_cpp = pytest.mark.skipif(compiler() is None, reason="needs a C++ compiler: pip install ziglang")


@needs_cpp
@pytest.mark.parametrize(
    ("shape", "sizes"),
    [*SHAPES[:1], *(pytest.param(*entry, marks=pytest.mark.slow) for entry in SHAPES[1:-1]), SHAPES[-1]],
    ids=str,
)
def test_every_kernel_gives_the_references_numbers_whoever_is_late(shape, sizes, tmp_path):
    inputs = problem(shape.cell, shape.dtype, sizes)
    want, tolerance = wanted(*inputs), TOLERANCES[shape.dtype]
    bits = []
    for seed in (0, 1000):
        chip = EmulatedChip(shape.dtype, tmp_path, seed)
        got = ran(shape, chip, *inputs)
        assert chip.stuck == 0
        assert worst(got[0], want[0]) <= tolerance.forward(sizes[0])
        assert worst(got[1], want[1]) <= tolerance.gradient
        bits.append(np.concatenate([entry.ravel() for part in got for entry in part.values()]))
    np.testing.assert_array_equal(*bits)


@needs_cpp
@pytest.mark.parametrize("shape", [GRID[0], CLUSTER[0]], ids=str)
@pytest.mark.slow
def test_layers_hand_on_their_states_and_gradients(shape, tmp_path):
    inputs = problem("lstm", "bfloat16", (3, 5, 64), layers=3)
    got, want = ran(shape, EmulatedChip("bfloat16", tmp_path), *inputs), wanted(*inputs)
    assert worst(got[0], want[0]) <= TOLERANCES["bfloat16"].forward(3)
    assert worst(got[1], want[1]) <= TOLERANCES["bfloat16"].gradient


@needs_cpp
@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in WRONG]
)
@pytest.mark.slow
def test_an_order_that_is_not_kept_is_seen(name, tmp_path):
    kind, old, new = WRONG[name]
    shape, sizes = GRID if kind == "grid" else CLUSTER
    shape = replace(shape, bulk=True) if kind == "bulk" else shape
    inputs = problem(shape.cell, shape.dtype, (6, *sizes[1:]))
    assert old in shape.source
    want, tolerance = wanted(*inputs), TOLERANCES[shape.dtype]

    def goes_wrong(seed):
        change = lambda text: SOON + text.replace(old, new)
        chip = EmulatedChip(shape.dtype, tmp_path, 1000 * seed, change)
        try:
            got = ran(shape, chip, *inputs)
        except RuntimeError:
            return True  # blocks waited in vain, and said so
        wrong = worst(got[0], want[0]) > tolerance.forward(6) or worst(got[1], want[1]) > tolerance.gradient
        return wrong or chip.stuck

    assert any(goes_wrong(seed) for seed in range(60))  # not every lot shows it


@needs_cpp
@pytest.mark.parametrize("shape", [pytest.param(GRID[0], marks=pytest.mark.slow), CLUSTER[0]], ids=str)
@pytest.mark.slow
def test_a_block_that_never_comes_is_told_and_nobody_hangs(shape, tmp_path):
    at_once = "float4 *buffers = (float4 *)dynamic_shared();"
    goes_home = f"if (blockIdx.x == 1) return; {at_once}"
    announces, does_not = "if (threadIdx.x < GROUPS && t + 1 < T) announce", "if (rank < 0) announce"

    def change(text):
        return SOON + text.replace(at_once, goes_home).replace(announces, does_not)

    inputs = problem(shape.cell, shape.dtype, (4, 8, shape.hidden))
    chip = EmulatedChip(shape.dtype, tmp_path, change=change)
    with pytest.raises(RuntimeError, match=r"step \d"):
        ran(shape, chip, *inputs)
    assert chip.stuck == 0


@needs_cpp
@pytest.mark.parametrize(
    "shape", [SHAPES[0][0], pytest.param(SHAPES[1][0], marks=pytest.mark.slow), SHAPES[2][0]], ids=str
)
@pytest.mark.slow
def test_a_nan_with_the_bits_of_unwritten_memory_travels_and_nobody_waits_for_it(shape, tmp_path):
    inputs = problem(shape.cell, shape.dtype, (4, 9, shape.hidden))
    y, want = ran_with_nan(shape, EmulatedChip(shape.dtype, tmp_path), inputs), wanted(*inputs)[0]["y"]
    assert np.isnan(y[1:, 2]).all()  # of the sequence that has it, every unit from the second step on
    others = np.arange(9) != 2
    assert relative_error(y[:, others], want[:, others]) <= TOLERANCES[shape.dtype].forward(4)


@needs_cpp
@pytest.mark.slow
def test_a_kernel_that_publishes_the_bits_of_unwritten_memory_waits_in_vain(tmp_path):
    right = "min(__float_as_uint(value), UNWRITTEN - 1)"
    shape = SHAPES[1][0]
    assert right in shape.source
    chip = EmulatedChip(
        "tf32", tmp_path, change=lambda text: SOON + text.replace(right, "__float_as_uint(value)")
    )
    with pytest.raises(RuntimeError, match="did not synchronise"):
        ran_with_nan(shape, chip, problem("lstm", "tf32", (4, 9, 64)))


def ran_with_nan(shape, chip, inputs):
    """y [T,B,H] by the kernels where the third sequence begins with NaNs, all of whose bits are set."""
    network, x, state, dy, dstate = inputs
    state = tuple(part.copy() for part in state)
    for part in state:
        part[:, 2] = np.full(1, -1, "int32").view("float32")
    got = ran(shape, chip, network, x, state, dy, dstate)
    assert chip.stuck == 0
    return got[0]["y"]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "tf32"])
def test_rounding_keeps_what_is_no_number(dtype):
    odd = np.array([-1, 0x7FFFFFFF, 0x7FC00000, 0x7F800000, -0x800000], "int32").view("float32")
    np.testing.assert_array_equal(loaded(stored(odd, dtype), dtype), odd)


@needs_cpp
@pytest.mark.slow
def test_the_tests_for_a_gpu_pass_on_emulated_threads(tmp_path):
    """Everything in test_persistent_on_gpu.py that comes before and after the GPU itself."""
    from test_persistent_on_gpu import assert_right, cluster_cases, grid_cases

    chip_for = lambda dtype: EmulatedChip(dtype, tmp_path)
    assert_right(grid_cases("gru", "tf32", [(3, 3, 64), (2, 8, 4096)], H200), chip_for)
    assert_right(cluster_cases("lstm", "bfloat16", [(3, 3, 64)], H200), chip_for)
    with pytest.raises(pytest.skip.Exception, match="4096 units"):
        assert_right(grid_cases("gru", "tf32", [(2, 8, 4096)], H200), chip_for)
