"""Fragments, shapes and registers of the CUDA C++ kernels: who holds which weight, and what does not fit."""

import ctypes
import runpy

import numpy as np
import pytest
from properties import given, st
from values_in import holds

from nbjudge.authoring.course import ROOT
from pocketgpu.compiling import compilers
from pocketgpu.devices import find
from rnncourse.records import register_table
from rnnlab.gpu import cuda_driver
from rnnlab.kernels.persistence import fragments
from rnnlab.kernels.persistence.fragments import STORED, factors, loaded
from rnnlab.kernels.persistence.shapes import DIRECTIONS, PersistentLaunch, cluster_shape, grid_shape
from rnnlab.ladder.properties import WITH_KERNELS

H200, A100 = find("H200"), find("A100")
page_lines = runpy.run_path(str(ROOT / "docs/registers.py"))["lines"]
needs_compilers = pytest.mark.skipif(bool(compilers.missing()), reason=compilers.missing())


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "tf32"])
def test_lanes_that_hold_what_the_manual_says_multiply_as_the_matrix_does(dtype):
    """PTX ISA, fragments of mma.m16n8k16 (16 bits) and m16n8k8 (TF32): by row and word of a tile."""
    rng = np.random.default_rng(0)
    weights, h = rng.integers(-8, 8, (32, 64)).astype("f"), rng.integers(-8, 8, (64, 8)).astype("f")
    packed, words = fragments.pack(factors(weights, dtype)), factors(h.T, dtype)
    numbers = lambda word: loaded(np.array([word]).view(STORED[dtype]), dtype)
    got = np.zeros((32, 8))
    for tile, k, row, column, word in np.ndindex(2, packed.shape[1], 16, 8, 8):
        a = packed[tile, k, 4 * (row % 8) + word % 4, row // 8 + 2 * (word // 4)]
        lane = 4 * column + word % 4  # of the second factor; it has read four words of its sequence's row
        b = words[column, 16 * (k // 2) + 4 * (lane % 4) + 2 * (k % 2) + word // 4]
        got[16 * tile + row, column] += numbers(a) @ numbers(b)
    np.testing.assert_array_equal(got, weights @ h)


@given(st.sampled_from([1, 3, 4]), st.sampled_from([32, 64, 96]), st.sampled_from([1, 2]))
def test_every_weight_is_in_one_place_of_every_packing(gates, hidden, blocks):
    weights = np.arange(1, gates * hidden * hidden + 1, dtype="f").reshape(-1, hidden)
    for result in (
        fragments.forward_fragments(weights, gates, "tf32"),
        fragments.backward_fragments(weights, "tf32"),
        fragments.scattered_fragments(weights, gates, blocks, "tf32"),
    ):
        run = np.sort(result.view("float32").ravel())
        np.testing.assert_array_equal(run[run != 0], factors(weights, "tf32").view("float32").ravel())


def test_rows_that_do_not_fill_tiles_are_refused():
    with pytest.raises(ValueError, match=r"\b24\b.*\b16\b.*\b16\b"):
        fragments.pack(np.zeros((24, 16), "uint32"))


@pytest.mark.parametrize(
    ("refused", "message"),
    [
        (lambda: cluster_shape("lstm", 640, "bfloat16", H200), "640 units of lstm do not stay in the regist"),
        (lambda: cluster_shape("lstm", 512, "tf32", H200), "multiplies 16-bit numbers"),
        (lambda: cluster_shape("lstm", 384, "float16", H200, bulk=True), "24 a block: bulk copies need 32"),
        (lambda: cluster_shape("lstm", 256, "float16", A100), "A100 has compute capability 8.0; the kernel"),
        (lambda: grid_shape("lstm", 4096, "bfloat16", 8, H200), "4096 units of lstm in bfloat16 do not stay"),
        (lambda: grid_shape("lstm", 100, "bfloat16", 8, H200), "100 units do not fill pairs of tiles: take"),
        (lambda: grid_shape("lstm", 64, "float16", 8, find("T4")), "T4 has compute capability 7.5; the ke"),
        (
            lambda: grid_shape("lstm", 64, "float64", 8, H200),
            "dtype is 'float64': bfloat16, ",
        ),
        (
            lambda: grid_shape("peephole", 64, "tf32", 8, H200),
            "the kernels support .*lstm.*not peephole",
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_the_reason(refused, message):
    with pytest.raises(ValueError, match=message):
        refused()


@pytest.mark.parametrize("cell", WITH_KERNELS)
@pytest.mark.parametrize("dtype", ["bfloat16", "tf32"])
def test_shapes_stay_within_the_device(cell, dtype):
    for hidden in range(64, 1025, 64):
        shape = grid_shape(cell, hidden, dtype, 64, H200)
        for way in DIRECTIONS:
            launch = shape.launch(way, 64)
            assert launch.blocks <= H200.multiprocessors
            assert launch.blocks * shape.units[DIRECTIONS.index(way)] == hidden
            assert launch.shared <= H200.shared_per_block_most
        if hidden <= 512 and dtype == "bfloat16":
            small = cluster_shape(cell, hidden, dtype, H200)
            assert small.cluster <= 16
            assert small.units * small.cluster == hidden


def in_its_leg():
    """Every architecture and shape; the quick leg has every third shape of sm_90."""
    shapes = register_table.shapes()
    quick = [shape for shape in shapes if shape[0] == "sm_90"][::3]
    return [shape if shape in quick else pytest.param(*shape, marks=pytest.mark.slow) for shape in shapes]


@needs_compilers
@pytest.mark.parametrize(("arch", "shape"), in_its_leg(), ids=str)
def test_registers_are_those_of_the_page_and_nothing_is_spilled(arch, shape):
    page = register_table.PAGE.read_text(encoding="utf-8")
    assert (ROOT / "docs/registers.md").read_text(encoding="utf-8") == page
    for line in page_lines(arch, shape):
        registers, spills, stack = line.split(" | ")[-4:-1]
        assert (int(spills), int(stack)) == (0, 0)
        assert int(registers) <= 255
        if register_table.compilers() in page:  # another compiler may choose otherwise
            assert line in page


def test_the_page_holds_what_two_blocks_on_a_multiprocessor_spill():
    one, two = register_table.recorded_crowded()
    assert holds(one, "201", "0")
    assert holds(two, "128", "244", "260")


@needs_compilers
def test_what_two_blocks_on_a_multiprocessor_need_is_that_of_the_page():
    if register_table.compilers() in register_table.PAGE.read_text(encoding="utf-8"):
        assert [register_table.crowded(blocks) for blocks in (1, 2)] == register_table.recorded_crowded()


@needs_compilers
def test_a_launch_with_clusters_is_described_as_nvidias_own_bindings_do():
    """Byte by byte: what ctypes lays out, and what cuda.bindings lays out for the same launch."""
    from cuda.bindings import driver

    value = driver.CUlaunchAttributeValue()
    value.clusterDim.x, value.clusterDim.y, value.clusterDim.z = 16, 1, 1
    attribute = driver.CUlaunchAttribute()
    attribute.id, attribute.value = driver.CUlaunchAttributeID(cuda_driver.CLUSTER_DIMENSION), value
    theirs = driver.CUlaunchConfig()
    theirs.gridDimX, theirs.gridDimY, theirs.gridDimZ = 128, 1, 1
    theirs.blockDimX, theirs.blockDimY, theirs.blockDimZ = 256, 1, 1
    theirs.sharedMemBytes, theirs.attrs, theirs.numAttrs = 777, [attribute], 1
    cluster, ours = cuda_driver.cluster_launch(*PersistentLaunch(128, 256, 777, 16))
    place, size = cuda_driver.LaunchConfig.attributes.offset, ctypes.sizeof(ours)
    mine, other = bytes(ours), ctypes.string_at(theirs.getPtr(), size)
    assert (mine[:place], mine[place + 8 :]) == (
        other[:place],
        other[place + 8 :],
    )  # but where attributes lie
    run = int.from_bytes(other[place : place + 8], "little")
    assert ctypes.string_at(run, ctypes.sizeof(cluster)) == bytes(cluster)
    names = driver.CUlaunchAttributeID, driver.CUfunction_attribute
    assert names[0](cuda_driver.CLUSTER_DIMENSION).name == "CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION"
    assert names[1](cuda_driver.MOST_SHARED).name == "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES"
    large = "CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED"
    assert names[1](cuda_driver.LARGE_CLUSTERS).name == large
