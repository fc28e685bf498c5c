"""Packed products: panels, tiles, and a layer on them, against float64 and against one another."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("numba", reason="install Numba: pip install --constraint constraints.txt numba")

from both_ways import both_ways, by_reference, errors, problem
from numba.core.dispatcher import Dispatcher

from rnnlab.compare import TOLERANCES, relative_error
from rnnlab.kernels.cells import KERNEL_PROPERTIES
from rnnlab.kernels.packed import backward as backward_loop
from rnnlab.kernels.packed import forward as forward_loop
from rnnlab.kernels.packed import panels, products, propagation, steps, vectors
from rnnlab.kernels.packed import split as splitting
from rnnlab.kernels.packed.host import CORE, ROWS, VECTOR_BYTES, VECTORS
from rnnlab.kernels.packed.tiles import CORES, Core, Tile, choose_tile, predicted_rate
from rnnlab.ladder import numba_fused, numba_parallel, packed_bfloat16, packed_weights
from rnnlab.ladder.properties import WITH_KERNELS
from rnnlab.narrow import from_bfloat16, to_bfloat16
from rnnlab.network import Network

DTYPES = ("float32", "float64")


# ---- tiles


@pytest.mark.parametrize("name", CORES)
def test_the_chosen_tile_fits_the_registers_and_keeps_every_unit_busy(name):
    core = CORES[name]
    tile = choose_tile(core)
    assert tile.registers <= core.registers
    assert tile.sums >= core.fma_latency * core.fmas_per_cycle
    assert tile.loads_per_fma * core.fmas_per_cycle <= core.loads_per_cycle
    assert predicted_rate(tile, core) == 1


def test_a_tile_is_slow_for_one_of_three_reasons():
    core = Core(registers=32, fmas_per_cycle=2, fma_latency=4, loads_per_cycle=2)
    assert predicted_rate(Tile(1, 2), core) == 2 / 8  # two sums, eight in flight are wanted
    assert predicted_rate(Tile(12, 1), core) == 12 / 13  # 13 loads for 12 FMAs
    assert predicted_rate(Tile(8, 2), core) == 1
    spilling = Tile(16, 2)  # 35 registers: 3 sums are stored and loaded in every step
    assert spilling.spills(core) == 3
    assert predicted_rate(spilling, core) == 1  # 24 memory operations in 16 cycles: not what limits it
    assert predicted_rate(Tile(32, 2), core) < 1


# ---- packing and products


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("K", "N"), [(1, 1), (3, 31), (70, 32), (9, 97)])
def test_a_packed_matrix_is_its_columns_in_panels_and_zeros(K, N, dtype):
    width, P = panels.panel_width(dtype), panels.panel_count(N, dtype)
    matrix = np.random.default_rng(N).normal(size=(K, N)).astype(dtype)
    wide = np.zeros((K, P * width), dtype)
    wide[:, :N] = matrix
    want = wide.reshape(K, P, width).transpose(1, 0, 2)
    copied, transposed = np.full(want.size, np.nan, dtype), np.full(want.size, np.nan, dtype)
    panels.pack_panels(matrix.ravel(), 0, N, K, N, copied, 0, K)
    panels.pack_transposed(matrix.T.ravel(), 0, K, K, N, transposed, 0)
    np.testing.assert_array_equal(copied.reshape(want.shape), want)
    np.testing.assert_array_equal(transposed.reshape(want.shape), want)


SIZES = [(1, 1, 1), (5, 7, 3), (ROWS + 2, 300, 70), (3, 0, 40), (2 * ROWS, 257, 64), (40, 513, 1)]  # M, K, N


def operands(M, K, N, dtype):
    """a [M,K], b [K,N] with gaps between their rows, and a result with gaps that must stay as they are."""
    draw = np.random.default_rng(M + N)
    a, b, c = (draw.normal(size=shape).astype(dtype) for shape in ((M, K + 3), (K, N + 5), (M, N + 2)))
    exact = a[:, :K].astype("float64") @ b[:, :N].astype("float64")
    return a, b, c, exact


def multiply_transposed(M, a, a_row, K, b, b_at, b_row, N, c, c_at, c_row, is_sum, strips, spare):
    """c [M,N] from a [K,M], as backward.py multiplies: both packed, block after block."""
    width = VECTORS * VECTOR_BYTES // c.itemsize
    packed = np.empty(-(-N // width) * K * width, c.dtype)
    panels.pack_panels(b, b_at, b_row, K, N, packed, 0, K)
    for k in range(0, max(K, 1), products.K_BLOCK):
        steps, adds = min(products.K_BLOCK, K - k), is_sum or k > 0
        panels.pack_strips(a, k * a_row, a_row, steps, M, strips)
        rest = K * width, N, c, c_at, c_row, adds, spare
        products.multiply_strips(M, strips, steps, packed, k * width, *rest)


@pytest.mark.parametrize("is_sum", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("M", "K", "N"), SIZES)
def test_products_of_all_sizes_agree_with_float64_and_touch_nothing_else(M, K, N, dtype, is_sum):
    a, b, c, exact = operands(M, K, N, dtype)
    before, width = c.copy(), panels.panel_width(dtype)
    block, spare = np.empty(2 * width * products.K_BLOCK, dtype), np.empty(ROWS * width, dtype)
    strips = np.empty(products.STRIP_ROOM, dtype)
    want = exact + is_sum * before[:, :N]
    tolerance = 1e-6 if dtype == "float32" else 1e-14
    rest = K, b.ravel(), 0, N + 5, N, c.reshape(-1), 0, N + 2
    for transposed in (False, True):
        c[:] = before
        if transposed:
            at = np.concatenate([a[:, :K].T, np.full((K, 4), np.nan, dtype)], axis=1)
            source = np.ascontiguousarray(at).ravel()
            multiply_transposed(M, source, M + 4, *rest, is_sum, strips, spare)
        else:
            products.multiply_unpacked(M, a.ravel(), 0, K + 3, *rest, is_sum, block, spare)
        assert relative_error(c[:, :N], want) < tolerance
        np.testing.assert_array_equal(c[:, N:], before[:, N:])


# ---- a layer


def step(*example, members):
    """Everything that a training step gives, as a flat list of arrays."""
    forward = partial(propagation.forward, members=members)
    backward = partial(propagation.backward, members=members)
    outputs, gradients = both_ways(SimpleNamespace(forward=forward, backward=backward), *example)
    return outputs + gradients


CHOICES = {"sequences": splitting._by_sequences, "units": splitting._by_units}


@pytest.mark.parametrize(
    "dtype", ["float32", pytest.param("float64", marks=pytest.mark.slow)]
)  # compiled once more, 10 s
@pytest.mark.parametrize("cell", WITH_KERNELS)
def test_every_team_and_split_agrees_with_float64_and_repeats_its_bits(cell, dtype, monkeypatch):
    """Sizes with edges everywhere: rows, panels of 32 and 16 units, strips, chunks, blocks of a chunk."""
    example = problem(cell, 5, 13, 35, 70, 2, dtype=dtype)
    outputs, gradients = by_reference(*example)
    monkeypatch.setattr(propagation, "CHUNK_ROWS", 40)  # three time steps, and two in the last chunk
    monkeypatch.setattr(propagation, "STRIP_STEPS", 40)  # the same for blocks, where dx is computed in place
    for choice, members in [("sequences", 1), ("sequences", 3), ("units", 1), ("units", 2)]:
        monkeypatch.setattr(propagation, "split", lambda sizes, *_, c=choice, m=members: CHOICES[c](sizes, m))
        once, again = step(*example, members=members), step(*example, members=members)
        for got, same, exact in zip(once, again, outputs + gradients, strict=True):
            assert relative_error(got, exact) < TOLERANCES[dtype].gradient, (choice, members)
            np.testing.assert_array_equal(got, same)


def test_arrays_that_are_read_only_or_not_aligned_are_as_good(monkeypatch):
    network, x, state, dy, dstate = problem("gru", 4, 3, 5, 6, 1, dtype="float32")
    want = step(network, x, state, dy, dstate, members=1)
    shifted = np.frombuffer(b"\0" + x.tobytes(), "uint8")[1:].view("float32").reshape(x.shape)
    assert not shifted.flags.aligned
    frozen = {name: parameter.copy() for name, parameter in network.parameters.items()}
    for parameter in frozen.values():
        parameter.flags.writeable = False
    got = step(network.with_parameters(frozen), shifted, state, dy, dstate, members=1)
    assert all(np.array_equal(a, b) for a, b in zip(got, want, strict=True))


def test_one_sequence_goes_the_way_that_is_fastest_for_it():
    network, x, state, dy, dstate = problem("lstm", 5, 1, 3, 4, 2, dtype="float32")
    y, _, saved = packed_weights.forward(network, x, state)
    want, _, theirs = numba_parallel.forward(network, x, state)
    assert type(saved[0]) is type(theirs[0])
    np.testing.assert_array_equal(y, want)
    gradients = packed_weights.backward(network, saved, dy, dstate)[2]
    want = numba_parallel.backward(network, theirs, dy, dstate)[2]
    assert all(np.array_equal(gradients[name], want[name]) for name in want)


@pytest.mark.parametrize("rung", [packed_weights, numba_fused], ids=lambda rung: rung.__name__)
def test_writing_to_the_output_does_not_go_unseen(rung):
    for H in (5, panels.panel_width("float32")):  # a copy, and a view
        y, _, _ = rung.forward(Network.create("rnn_tanh", 2, H), np.ones((2, 3, 2), "float32"))
        assert y.flags.c_contiguous
        with pytest.raises(ValueError, match="read-only"):
            y += 1


def test_what_is_no_input_is_refused_in_the_words_of_the_network():
    for bad in ([1.0], np.ones((2, 3), "float32"), np.ones((2, 3, 9), "float32")):
        with pytest.raises(ValueError, match=r"x (is a list|has shape)"):
            packed_weights.forward(Network.create("lstm", 2, 5), bad)


# ---- how the work is split


def sizes(B, H, G=4):
    P = panels.panel_count(H, "float32")
    return forward_loop.Sizes(KERNEL_PROPERTIES["lstm"], 10, B, H, H, G, P, chunk=1, together=1, slots=11)


def test_sequences_are_split_where_the_weights_fit_the_cache_and_units_where_they_do_not():
    cache = 2**21
    narrow, wide = sizes(64, 128), sizes(64, 1024)
    assert not any(share.waits for share in splitting.split(narrow, 2, 4, cache))
    assert all(share.waits for share in splitting.split(wide, 2, 4, cache))
    few = sizes(2, 1024)  # tiles of one row would leave most of a core idle
    assert all(share.waits for share in splitting.split(few, 2, 4, cache))


@pytest.mark.parametrize("members", [1, 2, 3, 16])
@pytest.mark.parametrize(("B", "H"), [(1, 1), (2, 1024), (5, 40), (64, 96), (7, 700)])
def test_shares_cover_every_sequence_and_unit_once_and_nobody_goes_without(B, H, members):
    layer = sizes(B, H)
    shares = splitting.split(layer, members, 4, 2**20)
    assert 1 <= len(shares) <= members
    covered = [
        (b, p)
        for share in shares
        for b in range(share.low, share.high)
        for p in range(share.first, share.last)
    ]
    assert sorted(covered) == [(b, p) for b in range(B) for p in range(layer.P)]
    assert all(share.high > share.low and share.last > share.first for share in shares)
    assert [share.member for share in shares] == list(range(len(shares)))


# ---- the ledger, on the same functions uncompiled


class CountingArray:
    """A flat array that counts how many of its numbers are read."""

    def __init__(self, array):
        self.array, self.reads, self.itemsize = array, 0, array.itemsize

    def __getitem__(self, at):
        self.reads += self.array[at].size
        return self.array[at]


def wide(array):
    """A copy in the numbers that the array stands for."""
    return from_bfloat16(array) if array.dtype == np.uint16 else np.array(array)


def write(array, part, numbers):
    array[part] = to_bfloat16(numbers) if array.itemsize == 2 else numbers


def store(array, at, vector):
    write(array, slice(at, at + vector.size), vector)


def spread(array, at, distance, vector):
    deep = vectors.depth(array)
    for step in range(deep):
        last = at + vector.size * distance
        write(array, slice(at + step, last + step, deep * distance), vector[step::deep])


def load(array, at):
    return wide(array[at : at + vectors.lanes(array)])


def number(array, at):
    return wide(array[at : at + 1])[0]


def put(array, at, value):
    write(array, slice(at, at + 1), np.array([value], "float32"))


def store_step(panel, at, source, begin, row):
    deep = vectors.depth(panel)
    for step in range(deep):
        numbers = load(source, begin + step * row)
        write(panel, slice(at + step, at + step + deep * numbers.size, deep), numbers)


def steps_of(array, columns):
    """[K,columns] of a panel or strip."""
    deep = vectors.depth(array)
    return wide(array).reshape(-1, columns, deep).transpose(0, 2, 1).reshape(-1, columns)


def multiply_tile(is_strip, rows, a, a_at, a_row, b, b_at, K, c, c_at, c_row, is_sum):
    columns = VECTORS * vectors.lanes(c)
    panel = steps_of(b[b_at : b_at + K * columns], columns)
    strip = steps_of(a[a_at : a_at + K * rows], rows) if is_strip else None
    for r in range(rows):
        row = strip[:, r] if is_strip else wide(a[a_at + r * a_row : a_at + r * a_row + K])
        place = slice(c_at + r * c_row, c_at + r * c_row + columns)
        c[place] = row @ panel + c[place] if is_sum else row @ panel


def uncompile(monkeypatch):
    """The package in plain Python: compiled functions as their source, vectors as slices, tiles as loops."""
    models = {function.__name__: function for function in (
        load, store, spread, number, put, store_step, multiply_tile,
    )}  # fmt: skip
    models |= {
        "tanh": np.tanh, "sigmoid": lambda v: 1 / (1 + np.exp(-v)), "positive": lambda v: np.maximum(v, 0),
        "wait": lambda counter, members: None, "prefetch": lambda array, at: None,
        "add_pair_tiles": lambda: None,
    }  # fmt: skip
    for module in (panels, products, steps, forward_loop, backward_loop, propagation):
        for name, value in list(vars(module).items()):
            if name in models:
                monkeypatch.setattr(module, name, models[name])
            elif isinstance(value, Dispatcher):
                monkeypatch.setattr(module, name, value.py_func)
    monkeypatch.setattr(steps, "step", lambda vector: vector > 0)


@pytest.mark.parametrize(
    ("rung", "cell"),
    [(packed_weights, cell) for cell in ("rnn_tanh", "gru", "lstm")] + [(packed_bfloat16, "gru")],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_recurrent_weights_are_packed_as_often_as_the_ledger_says(rung, cell, monkeypatch):
    uncompile(monkeypatch)
    monkeypatch.setattr("rnnlab.kernels.packed.team.count", lambda: 1)
    example = problem(cell, 3, 4, 4, 32, dtype="float32")
    weights, arrays = [], propagation._arrays

    def counting(*arguments):
        layer = arrays(*arguments)
        weights.append(CountingArray(layer.weight_hh))
        return layer._replace(weight_hh=weights[-1])

    monkeypatch.setattr(propagation, "_arrays", counting)
    allowed = TOLERANCES[rung.PROPERTIES.precision or "float32"].gradient
    assert max(errors(both_ways(rung, *example), by_reference(*example))) < allowed
    packings = [array.reads / array.array.size for array in weights]
    ledger = rung.PROPERTIES.ledger
    assert packings == [ledger.forward(None), ledger.backward(None)]


def test_the_host_has_a_core_that_was_chosen_for():
    assert choose_tile(CORE) == (ROWS, VECTORS)
