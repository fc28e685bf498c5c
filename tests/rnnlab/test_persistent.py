"""The persistent kernels: right, without a finding, the same bits twice, without spills, and what fits
where."""

import inspect
import re

import machine_code
import numpy as np
import pytest
from both_ways import both_ways, by_reference, errors, problem
from properties import given, st
from two_files import copy_with_new_cells, spills_of
from values_in import holds

from pocketgpu import cuda, devices
from pocketgpu.compiling import compilers
from rnnlab import reference
from rnnlab.cells import find_cell
from rnnlab.kernels.persistence import kernels, numba_layer, tiles
from rnnlab.kernels.persistence.tiles import MOST_WEIGHTS, Tiles, tiles_for
from rnnlab.ladder import find, persistent
from rnnlab.ladder.properties import WITH_KERNELS, LedgerSizes
from rnnlab.network import Network

needs_compilers = pytest.mark.skipif(bool(compilers.missing()), reason=compilers.missing())
H200 = devices.find("H200")


def assert_the_references_numbers(*example, seed):
    """Every output and every gradient; a finding raises."""
    with cuda.settings(shuffle=bool(seed), seed=seed):
        got = both_ways(persistent, *example)
    assert max(errors(got, by_reference(*example))) < 1e-12


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("cell", WITH_KERNELS)
def test_the_kernels_are_right_and_nothing_is_found_wrong_with_them_in_any_order(cell, seed):
    assert_the_references_numbers(*problem(cell, 3, 2, 3, 5), seed=seed)


def test_a_gru_is_right_where_warps_have_several_units_and_blocks_several_warps(monkeypatch):
    """One unit stands alone in the last block; 35 columns are more than the lanes."""
    monkeypatch.setattr(numba_layer, "tiles_of", lambda network: Tiles(3, 35, units=2, warps=2))
    assert_the_references_numbers(*problem("gru", 2, 2, 3, 35), seed=1)


def test_units_lanes_and_blocks_that_are_not_all_used_change_nothing():
    """Two warps of two units each, 35 columns: every edge of the tiles is inside the problem."""
    network, x, state, _, _ = problem("lstm", 2, 2, 3, 35)
    layer, tiles = network.layer(0), Tiles(4, 35, units=2, warps=2)
    kernel = kernels.forward_kernel("lstm", tiles, "float64")
    gates = x @ layer.weight_ih.T + layer.bias_ih + layer.bias_hh
    h, c = (np.concatenate([part, np.full((2, 2, 35), np.nan)]) for part in state)
    numba_layer.launch(kernel, tiles, (2, 2), (layer.weight_hh, layer.bias_hh[:35]), (gates, h, c))
    np.testing.assert_allclose(h[1:], reference.forward(network, x, state)[0], rtol=1e-12)


def test_two_runs_give_the_same_bits():
    network, x, state, dy, dstate = problem("gru", 4, 3, 3, 6)
    runs = []
    for seed in range(2):
        with cuda.settings(checks=False, shuffle=True, seed=seed):
            y, _, saved = persistent.forward(network, x, state)
            dx, dfirst, gradients = persistent.backward(network, saved, dy, dstate)
            runs.append((y, dx, *dfirst, *gradients.values()))
    for first, second in zip(*runs, strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("cell", ["rnn_tanh", "gru"])
def test_weights_are_read_once_however_long_the_sequence(cell):
    network, loads = Network.create(cell, 1, 6, dtype="float64"), []
    G, tiles = network.gates, Tiles(network.gates, 6, units=1, warps=1)
    kernel, _ = numba_layer.kernels_of(network, tiles)
    for T in (1, 4):
        weights, gates, h = np.ones((G * 6, 6)), np.ones(T * G * 6), np.zeros((T + 1) * 6)
        flags, failed = np.zeros(tiles.blocks, "int32"), np.zeros(1, "int32")
        observed = cuda.observe(
            kernel, tiles.blocks, 32, weights, np.zeros(6), gates, h, np.zeros(T * 6), flags, failed, T, 1
        )
        source = inspect.getsource(kernels).splitlines()
        (line,) = (number for number, text in enumerate(source, 1) if "= weights[g * H" in text)
        loads.append(observed.lines[line].global_loads)
    ledger = persistent.PROPERTIES.ledger
    assert ledger.unit == "weights"
    assert loads == [ledger.forward(LedgerSizes(T, B=1, H=6, G=G)) for T in (1, 4)]


def test_blocks_that_cannot_all_run_are_told_and_do_not_hang(monkeypatch):
    @cuda.jit
    def one_block_goes_home(flags, failed):
        if cuda.blockIdx.x > 0:
            kernels.grid_barrier(flags, failed, 1)

    monkeypatch.setattr(kernels, "PATIENCE", 50_000)
    monkeypatch.setattr(kernels, "LOOKS", 1)
    flags, failed = np.zeros(3, "int32"), np.zeros(1, "int32")
    with cuda.settings(raise_findings=False):
        one_block_goes_home[3, 4](flags, failed)
    assert failed[0] == 1


def test_a_layer_that_does_not_fit_is_refused_with_what_would():
    network = Network.create("lstm", 4, 1100)
    assert holds(find("persistent").refuses(network, 1, 1), "1100", "132")
    assert find("persistent").refuses(Network.create("lstm", 4, 1024), 1, 1) is None
    assert "after" in find("persistent").refuses(Network.create("gru", 4, 64, reset="before"), 1, 1)
    with pytest.raises(ValueError, match="100 weights, 64 fit"):
        tiles_for(1, 1600, 132, major=8)


@given(st.integers(1, 4), st.integers(1, 70), st.integers(1, 3), st.sampled_from([1, 2, 8]))
def test_every_weight_has_one_owner_and_every_owner_its_place(gates, hidden, units, warps):
    tiles = Tiles(gates, hidden, units, warps)
    owners = {tiles.owner(row, column) for row in range(gates * hidden) for column in range(hidden)}
    assert len(owners) == gates * hidden * hidden
    assert all(
        block < tiles.blocks and thread < tiles.threads and place < tiles.weights
        for block, thread, place in owners
    )


def test_the_published_tilings_share_out_evenly():
    assert tiles.weights_of_thread(1152, 1152, 24, 256) == 216  # TitanX, Diamos et al. 2016
    assert tiles.weights_of_thread(1792, 1792, 56, 256) == 224  # P100
    with pytest.raises(ValueError, match=r"\b1000\b.*\b1000\b"):
        tiles.weights_of_thread(1000, 1000, 24, 256)


@pytest.mark.parametrize(
    ("cell", "itemsize", "most"),
    [  # hand-computed: √(bytes / (gates · itemsize)), 128 KiB of registers and 200 of shared memory each
        ("rnn_tanh", 4, (289, 1159, 2079, 3329)),
        ("gru", 4, (167, 669, 1200, 1922)),
        ("lstm", 2, (204, 819, 1470, 2354)),
    ],
)
def test_the_largest_layers_on_an_h200_are_the_roots_of_what_there_is(cell, itemsize, most):
    result = tiles.fits(cell, 512, itemsize, H200)
    assert [entry.place.name.split()[0] for entry in result] == ["one", "a", "all", "all"]
    assert tuple(entry.most_hidden for entry in result) == most
    assert [entry.fits for entry in result] == [512 <= entry for entry in most]


def test_a_device_without_clusters_has_no_such_place():
    assert len(tiles.places(devices.find("A100"))) == 3


TILINGS = [
    pytest.param("rnn_tanh", 2048, marks=pytest.mark.slow),
    pytest.param("rnn_relu", 1024, marks=pytest.mark.slow),
    pytest.param("gru", 1056, marks=pytest.mark.slow),
    ("lstm", 1024),
    pytest.param("lstm", 512, marks=pytest.mark.slow),
]


@needs_compilers
@pytest.mark.parametrize(
    ("arch", "major"),
    [
        pytest.param("sm_75", 7, marks=pytest.mark.slow),
        pytest.param("sm_80", 8, marks=pytest.mark.slow),
        ("sm_90", 9),
    ],
)
@pytest.mark.parametrize(("cell", "hidden"), TILINGS)
@pytest.mark.slow
def test_the_kernels_keep_their_weights_in_registers_and_wait_by_loads(cell, hidden, arch, major):
    from numba import float32, int32

    from pocketgpu.compiling.report import compile_report

    gates = len(find_cell(cell).gates)
    hidden = min(hidden, 32 * (MOST_WEIGHTS[major] // gates), 2048 if major == 9 else 1056)
    tiles = tiles_for(gates, hidden, 132, major)
    flat, ints = float32[::1], int32[::1]
    output = numba_layer.kernels_of(Network.create(cell, 1, 1), tiles)
    for kernel, arrays in zip(output, (4, 9), strict=True):
        types = (float32[:, ::1], *[flat] * arrays, ints, ints, int32, int32)
        (compiled,) = compile_report(kernel, types, arch=arch)
        assert (compiled.spill_stores, compiled.spill_loads, compiled.stack) == (0, 0, 0)
        assert compiled.registers >= tiles.weights
        assert ".f64" not in compiled.ptx
        check_machine_code(compiled, kernel.__name__)


def check_machine_code(compiled, name):
    """Waiting loops load and look at the clock, h comes past the first-level cache, nothing is spilled."""
    matching = lambda pattern, code: [line for line in code if re.search(pattern, line)]
    codes = machine_code.disassembled(compiled.cubin)
    code = next(code for function, code in codes.items() if name in function)
    loops = machine_code.waiting_loops(code)
    assert loops
    assert all(loop.loads for loop in loops)
    assert all(matching("SR_GLOBALTIMER", loop.instructions) for loop in loops)
    in_loops = sum(len(matching(r"\bLDG?\.[\w.]*STRONG", loop.instructions)) for loop in loops)
    strong = matching(r"\bLDG?\.[\w.]*STRONG\.GPU", code)
    assert len(strong) > in_loops  # those of h, or of what dh is made of
    assert not matching(r"\b(LDL|STL)\b", code)


@needs_compilers
@pytest.mark.slow
def test_the_kernels_of_a_cell_in_two_files_compile_for_a_gpu(tmp_path):
    copy_with_new_cells(tmp_path)
    in_python = ["minimal_gated", "peephole_lstm", "coupled_lstm"]
    spills = spills_of(tmp_path, in_python, ["minimal_gated", "coupled_lstm", "peephole_lstm"])
    assert len(spills) == 3 * 2 + 3 * 4
    assert not any(spills.values())
