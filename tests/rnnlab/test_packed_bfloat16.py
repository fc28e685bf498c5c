"""The rung in 16 bits: its rounding, its pairs, its gradients, and processors without the instruction."""

import ctypes
import os
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("numba", reason="install Numba: pip install --constraint constraints.txt numba")

from both_ways import both_ways, by_reference, errors
from numba import cfunc, njit, types

from bench.workload import rounded
from rnnlab.cells import find_cell
from rnnlab.compare import TOLERANCES, relative_error
from rnnlab.kernels.packed import host, kernel, propagation, team, vectors
from rnnlab.kernels.packed import split as splitting
from rnnlab.kernels.packed.host import ROWS, VECTOR_BYTES, VECTORS, has_instruction
from rnnlab.ladder import packed_bfloat16, packed_weights
from rnnlab.ladder.properties import WITH_KERNELS
from rnnlab.narrow import from_bfloat16, to_bfloat16
from rnnlab.network import Network

CHOICES = {"sequences": splitting._by_sequences, "units": splitting._by_units}
LANES = VECTOR_BYTES // 4


def problem(cell, T, B, I, H, L=1):
    """A network, x, state, dy, dstate, all of bfloat16 numbers; units of ReLU keep clear of its kink."""
    network = Network.create(cell, I, H, L, gain=1.5, seed=H)
    if cell == "rnn_relu":
        for name, array in network.parameters.items():
            array *= 0.2 if array.ndim == 2 else 0
            if name.startswith("bias_ih"):
                array[0::2] = 6
                array[1::2] = -6
    network = network.with_parameters({k: rounded(p, "bfloat16") for k, p in network.parameters.items()})
    draw = np.random.default_rng(T)
    arrays = lambda *size: rounded(draw.normal(size=size).astype("float32"), "bfloat16")
    states = [tuple(0.5 * arrays(L, B, H) for _ in find_cell(cell).states) for _ in range(2)]
    return network, arrays(T, B, I), states[0], arrays(T, B, H), states[1]


def assert_right_step(*example):
    got = both_ways(packed_bfloat16, *example)
    assert {array.dtype for part in got for array in part} == {np.dtype("float32")}
    of_outputs, of_gradients = errors(got, by_reference(*example))
    assert of_outputs <= TOLERANCES["bfloat16"].forward(len(example[1]))
    assert of_gradients <= TOLERANCES["bfloat16"].gradient


# ---- a layer


@pytest.mark.parametrize("cell", WITH_KERNELS)
def test_every_team_and_split_agrees_with_float64(cell, monkeypatch):
    """Odd sizes, whose last pair has a zero; three steps fit a chunk, so that its slots are used again."""
    example = problem(cell, 8, 13, 35, 70, 2)
    monkeypatch.setattr(propagation, "CHUNK_ROWS", 40)
    for choice, members in [("sequences", 1), ("sequences", 3), ("units", 2)]:
        monkeypatch.setattr(team, "count", lambda m=members: m)
        monkeypatch.setattr(propagation, "split", lambda sizes, *_, c=choice, m=members: CHOICES[c](sizes, m))
        assert_right_step(*example)


@pytest.mark.parametrize(("T", "B", "I", "H"), [(1, 1, 1, 1), (3, 2, 2, 33), (60, 5, 8, 3), (4, 24, 300, 64)])
def test_edges_of_tiles_and_chunks_agree_with_float64(T, B, I, H):
    assert_right_step(*problem("gru", T, B, I, H))


@pytest.mark.parametrize(("I", "H"), [(34, 64), (100, 30)])
def test_a_plain_rnn_replaces_its_gates_gradients_by_dx_from_either_end(I, H, monkeypatch):
    """Rows of dx are shorter or longer than those that they replace, in blocks of two steps."""
    monkeypatch.setattr(propagation, "STRIP_STEPS", 16)
    monkeypatch.setattr(propagation, "MANY_WEIGHTS", 100)
    for choice, members in [("sequences", 1), ("sequences", 2), ("units", 2)]:
        monkeypatch.setattr(team, "count", lambda m=members: m)
        monkeypatch.setattr(propagation, "split", lambda sizes, *_, c=choice, m=members: CHOICES[c](sizes, m))
        assert_right_step(*problem("rnn_tanh", 9, 8, I, H))


def test_a_sum_over_many_steps_does_not_stop_where_bfloat16_would():
    """A cell that adds 2⁻¹¹ a step: in 8 bits of precision 1 + 2⁻¹¹ is 1."""
    network = Network.create("lstm", 2, 4)
    for array in network.parameters.values():
        array[:] = 0
    i, f, g, o = np.split(network.parameters["bias_ih_l0"], 4)
    f[:] = i[:] = o[:] = 30  # gates open
    g[:] = np.arctanh(2.0**-11)
    state = np.zeros((1, 2, 4), "float32"), np.ones((1, 2, 4), "float32")
    _, (_, c), _ = packed_bfloat16.forward(network, np.zeros((1024, 2, 2), "float32"), state)
    np.testing.assert_allclose(c, 1.5, rtol=1e-4)


def test_gates_and_c_are_kept_in_half_the_bytes_and_x_and_h_as_they_are():
    network = Network.create("lstm", 64, 64)
    x = np.ones((20, 8, 64), "float32")
    y, _, (_, (narrow,)) = packed_bfloat16.forward(network, x)
    (whole,) = packed_weights.forward(network, x)[2]
    for name in ("gates", "c", "saved"):
        assert getattr(narrow, name).nbytes == getattr(whole, name).nbytes / 2
    assert narrow.x is x
    assert np.shares_memory(narrow.h, y)


def test_a_backward_pass_of_what_another_process_saved_has_its_tiles_first(monkeypatch):
    """LLVM ends a process that calls a tile which has no address."""
    example = problem("gru", 2, 3, 4, 5)
    _, _, saved = packed_bfloat16.forward(*example[:3])
    with monkeypatch.context() as patch:
        patch.setattr(propagation, "add_pair_tiles", lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            packed_bfloat16.backward(example[0], saved, *example[3:])


def test_what_is_not_float32_is_refused():
    network = Network.create("lstm", 2, 4, dtype="float64")
    with pytest.raises(ValueError, match="float64"):
        packed_bfloat16.forward(network, np.ones((2, 3, 2)))
    assert "float64" in packed_bfloat16.why_not(network, 2, 3)
    with pytest.raises(ValueError, match=r"\(2, 3\)"):
        packed_bfloat16.forward(Network.create("gru", 3, 4), np.ones((2, 3), "float32"))


# ---- numbers


@njit
def narrow(source, target):
    for j in range(0, source.size - vectors.lanes(source), vectors.lanes(source)):
        vectors.store(target, j, vectors.load(source, j))
    for j in range(source.size - vectors.lanes(source), source.size):
        vectors.put(target, j, vectors.number(source, j))


@njit
def in_pairs(first, second, target):
    for j in range(0, first.size, vectors.lanes(first)):
        vectors.store_step(target, 2 * j, first, j, 0)
        vectors.store_step(target, 2 * (first.size + j), second, j, -j)


def test_vectors_and_numbers_round_as_numpy_does_and_keep_nan():
    bits = np.random.default_rng(0).integers(0, 2**32, 4096, "uint32")
    ties = np.array([0x3F808000, 0x3F818000, 0x7F7FFFFF, 0xFF800001, 0x7FFFFFFF, 0x00008001], "uint32")
    numbers = np.concatenate([bits, np.resize(ties, 2 * LANES)]).view("float32")
    got = np.empty(numbers.size, "uint16")
    narrow(numbers, got)
    np.testing.assert_array_equal(from_bfloat16(got), from_bfloat16(to_bfloat16(numbers)))
    back = np.empty_like(numbers)
    narrow(got, back)
    np.testing.assert_array_equal(back, from_bfloat16(got))


def test_a_step_of_a_panel_holds_two_rows_side_by_side():
    rows = np.arange(2 * LANES, dtype="float32").reshape(2, LANES)
    got = np.empty(4 * LANES, "uint16")
    in_pairs(rows[0], rows[1], got)
    twice = np.repeat(rows, 2, axis=1).reshape(-1)
    np.testing.assert_array_equal(from_bfloat16(got), twice)


# ---- products of pairs


@pytest.mark.parametrize("has_pair_products", sorted({False, host.HAS_PAIR_PRODUCTS}))
def test_a_tile_of_pairs_sums_in_float32_with_or_without_the_instruction(has_pair_products, monkeypatch):
    monkeypatch.setattr(kernel, "HAS_PAIR_PRODUCTS", has_pair_products)
    size, pairs, sums = types.int64, types.CPointer(types.uint32), types.CPointer(types.float32)
    tile = cfunc(types.void(size, pairs, size, pairs, size, sums, size, size))(kernel._matrix_tile)
    K = 8192
    width = VECTORS * LANES
    draw = np.random.default_rng(1)
    a, b = (to_bfloat16(draw.normal(size=shape).astype("float32")) for shape in ((ROWS, K), (K, width)))
    a[0] = b[:, 0] = to_bfloat16(np.ones(1, "float32"))  # sums of ones: in bfloat16 they end at 256
    panel = np.ascontiguousarray(b.reshape(K // 2, 2, width).transpose(0, 2, 1))
    c = np.ones((ROWS, width), "float32")
    want = 1 + from_bfloat16(a).astype("float64") @ from_bfloat16(b).astype("float64")
    kinds = ctypes.POINTER(ctypes.c_uint32), ctypes.POINTER(ctypes.c_float)
    at = [array.ctypes.data_as(kind) for array, kind in ((a, kinds[0]), (panel, kinds[0]), (c, kinds[1]))]
    tile.ctypes(ROWS, at[0], K // 2, at[1], K // 2, at[2], width, 1)
    assert relative_error(c, want) < 1e-6
    assert c[0, 0] == 1 + K


@pytest.mark.parametrize(
    ("features", "flags", "known"),
    [
        ("+avx512f,+avx512bf16", {"avx512f": True, "avx512bf16": True}, True),
        ("+avx512f,-avx512bf16", {"avx512f": True, "avx512bf16": True}, False),  # NUMBA_CPU_FEATURES masks it
        ("+avx512f,+avx512bf16", {"avx512f": True, "avx512bf16": False}, False),  # a hypervisor masks it
        ("+avx512f,+avx512bf16", {"avx512f": True}, False),
        ("+neon,+bf16", {"neon": True, "bf16": True}, False),
        ("", {}, False),
    ],
)
def test_the_instruction_needs_the_target_and_the_processors_own_flags(features, flags, known):
    assert has_instruction(host.PAIR_FEATURES, features, flags) is known


def test_a_processor_without_the_instruction_is_told_why_not(monkeypatch):
    network = Network.create("lstm", 2, 4)
    monkeypatch.setattr(host, "HAS_PAIR_PRODUCTS", False)
    assert "avx512bf16" in packed_bfloat16.why_not(network, 2, 3)
    monkeypatch.setattr(host, "HAS_PAIR_PRODUCTS", True)
    assert packed_bfloat16.why_not(network, 2, 3) is None
    assert packed_bfloat16.why_not(Network.create("gru", 2, 4, reset="before"), 2, 3)


MASKED = """
import sys
sys.path[:0] = sys.argv[1:]
import test_packed_bfloat16 as here
assert not here.host.HAS_PAIR_PRODUCTS
assert here.packed_bfloat16.why_not(here.Network.create("lstm", 2, 4), 2, 3)
here.assert_right_step(*here.problem("lstm", 6, 5, 9, 20))
"""


@pytest.mark.slow
def test_under_masked_flags_it_runs_by_widening():
    environment = os.environ | {"NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": "+avx2,+fma,+avx,+f16c"}
    folder = os.path.dirname(__file__)
    folders = [folder, os.path.dirname(folder)]  # with what the tests of all folders share
    done = subprocess.run([sys.executable, "-c", MASKED, *folders], env=environment, check=False)
    assert done.returncode == 0
