"""A GPU is described by itself: its own name, limits and speed, from compute capability 7.0 to 12.x."""

import sys
from itertools import product
from types import SimpleNamespace

import pytest

from pocketgpu.compiling import compilers
from pocketgpu.devices import DEVICES, KB, nearest_older
from rnnlab.cells import find_cell
from rnnlab.gpu import cuda_driver
from rnnlab.kernels.persistence import numba_layer
from rnnlab.kernels.persistence.floor import tensor_peak
from rnnlab.kernels.persistence.shapes import DIRECTIONS, cluster_shape, grid_shape
from rnnlab.kernels.persistence.tiles import MOST_WEIGHTS, tiles_for
from rnnlab.ladder import chooser, cuda_chip
from rnnlab.ladder.chooser import abilities, choose
from rnnlab.ladder.persistent_cluster import shape_for as cluster_for
from rnnlab.ladder.properties import WITH_KERNELS
from rnnlab.network import Network

needs_compilers = pytest.mark.skipif(bool(compilers.missing()), reason=compilers.missing())
MB, GHZ = KB * KB, 1e6  # GHz in kHz
# name, capability, multiprocessors, GHz, kHz of memory, bits, L2, KiB of a multiprocessor and of a block,
# threads of a multiprocessor, then TFLOP/s in float32 and GB/s of NVIDIA's data sheet
CARDS = [
    ("Tesla V100-SXM2", (7, 0), 80, 1.53, 877_000, 4096, 6 * MB, 96, 96, 2048, 15.7, 900),
    ("Tesla T4", (7, 5), 40, 1.59, 5_001_000, 256, 4 * MB, 64, 64, 1024, 8.1, 320),
    ("NVIDIA A100-SXM4-40GB", (8, 0), 108, 1.41, 1_215_000, 5120, 40 * MB, 164, 163, 2048, 19.5, 1555),
    ("NVIDIA A10G", (8, 6), 80, 1.71, 6_251_000, 384, 6 * MB, 100, 99, 1536, 35, 600),
    ("Orin", (8, 7), 16, 1.3, 3_200_000, 256, 4 * MB, 164, 163, 1536, 5.3, 204.8),
    ("NVIDIA L40S", (8, 9), 142, 2.52, 9_001_000, 384, 96 * MB, 100, 99, 1536, 91.6, 864),
    ("NVIDIA H100 PCIe", (9, 0), 114, 1.755, 1_593_000, 5120, 50 * MB, 228, 227, 2048, 51, 2039),
    ("NVIDIA B200", (10, 0), 148, 1.965, 3_996_000, 8192, 126 * MB, 228, 227, 2048, 75, 8000),
    ("NVIDIA B300", (10, 3), 148, 1.92, 3_996_000, 8192, 126 * MB, 228, 227, 2048, 73, 8000),
    ("NVIDIA Thor", (11, 0), 20, 1.57, 4_266_000, 256, 32 * MB, 228, 227, 1536, 8, 273),
    ("NVIDIA GeForce RTX 5090", (12, 0), 170, 2.41, 14_001_000, 512, 96 * MB, 100, 99, 1536, 104.8, 1792),
    ("NVIDIA GB10", (12, 1), 48, 2.42, 4_266_000, 256, 24 * MB, 100, 99, 1536, 29.7, 273),
]
DTYPES = "float32", "tf32", "bfloat16", "float16"


@pytest.fixture(params=CARDS, ids=lambda card: card[0])
def card(request, monkeypatch):
    """A pretended CuPy on that card, whose driver has no room for clusters of 16 blocks."""
    pretend(monkeypatch, *request.param[:10])
    monkeypatch.setattr(chooser, "has_large_clusters", lambda capability: False)
    return request.param


def pretend(monkeypatch, name, capability, blocks, clock, memory, bits, l2, shared, most, threads):
    attributes = {
        "ClockRate": int(clock * GHZ), "MemoryClockRate": memory, "GlobalMemoryBusWidth": bits,
        "L2CacheSize": l2, "MaxSharedMemoryPerMultiprocessor": shared * KB, "CooperativeLaunch": 1,
        "MaxSharedMemoryPerBlockOptin": most * KB, "MaxSharedMemoryPerBlock": 48 * KB,
        "MaxThreadsPerMultiProcessor": threads, "MaxRegistersPerMultiprocessor": 1 << 16,
    }  # fmt: skip
    major, minor = capability
    properties = {"name": name.encode(), "major": major, "minor": minor, "multiProcessorCount": blocks}
    runtime = SimpleNamespace(
        CUDARuntimeError=RuntimeError, getDevice=lambda: 0, getDeviceProperties=lambda number: properties
    )
    cuda = SimpleNamespace(runtime=runtime, Device=lambda number: SimpleNamespace(attributes=attributes))
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(cuda=cuda))


def test_a_sheet_has_the_cards_own_name_limits_and_speed(card):
    name, capability, blocks, clock, _, _, l2, shared, most, threads, peak, bandwidth = card
    sheet = abilities().sheet
    assert (sheet.name, sheet.compute_capability, sheet.multiprocessors) == (name, capability, blocks)
    assert (sheet.l2, sheet.threads_per_multiprocessor) == (l2, threads)
    assert (sheet.shared_per_multiprocessor, sheet.shared_per_block_most) == (shared * KB, most * KB)
    assert sheet.clock == pytest.approx(clock)
    assert sheet.bandwidth == pytest.approx(bandwidth, rel=0.03)
    assert sheet.peak == pytest.approx(peak, rel=0.03)
    assert sheet.registers_per_multiprocessor == 256 * KB


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_choice_is_made_without_another_cards_name_or_false_advice(card, dtype):
    gpu, others = abilities(), {name for name in DEVICES if name not in card[0]}
    for cell, hidden, B in product(WITH_KERNELS, (32, 512, 1024, 2048, 4096), (1, 8, 64)):
        for T in (1, 256):
            choice = choose(cell, hidden, dtype, (T, B), gpu)
            assert choice.name in {way.name for way in choice.ways if way.step is not None}
            assert not [word for word in others if word in str(choice)]
            assert " 0 fit" not in str(choice)


def test_shapes_fit_the_cards_own_shared_memory(card):
    sheet = abilities().sheet
    if sheet.compute_capability < (8, 0):
        with pytest.raises(ValueError, match=f"{sheet.name}.*8.0"):
            grid_shape("lstm", 512, "bfloat16", 64, sheet)
        return
    for cell, dtype in product(("lstm", "gru", "rnn_tanh"), ("bfloat16", "tf32")):
        shape = grid_shape(cell, 256, dtype, 64, sheet)
        for way in DIRECTIONS:
            launch = shape.launch(way, 64)
            assert launch.shared <= sheet.shared_per_block_most
            assert launch.blocks <= sheet.multiprocessors


def test_clusters_are_what_the_driver_says(card):
    gpu, network = abilities(), Network.create("lstm", 64, 512)
    assert not gpu.clusters
    reason = cuda_chip.why_not(cluster_for, network, 8, 8, gpu)
    assert gpu.sheet.name in reason
    if gpu.sheet.compute_capability >= (9, 0):
        assert cluster_shape("lstm", 512, "bfloat16", gpu.sheet).cluster == 16
        assert reason.endswith("clusters of 16 blocks here")


@pytest.mark.parametrize(("fit", "status", "has"), [(7, 0, True), (0, 0, False), (7, 912, False)])
def test_the_driver_is_asked_for_clusters_of_16_blocks(monkeypatch, fit, status, has):
    sizes = []

    def occupancy(count, kernel, config):
        sizes.append((config._obj.grid[0], config._obj.attributes[0].value[0]))
        count._obj.value = fit
        return status

    kernel = SimpleNamespace(kernel=SimpleNamespace(ptr=1))
    module = SimpleNamespace(get_function=lambda name: kernel)
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(RawModule=lambda code, options: module))
    driver = SimpleNamespace(cuFuncSetAttribute=lambda *arguments: 0, cuOccupancyMaxActiveClusters=occupancy)
    monkeypatch.setattr(cuda_driver, "library", lambda: driver)
    chooser.has_large_clusters.cache_clear()
    assert chooser.has_large_clusters((9, 0)) is has
    assert sizes == [(16, 16)]
    assert chooser.has_large_clusters((8, 9)) is False
    chooser.has_large_clusters.cache_clear()


def test_what_a_driver_does_not_state_comes_from_the_nearest_sheet():
    properties = {"name": b"Some GPU", "major": 9, "minor": 0, "multiProcessorCount": 78}
    sheet, near = chooser.own_sheet(properties, {}), DEVICES["H100"]
    assert (sheet.clock, sheet.bandwidth, sheet.l2) == (near.clock, near.bandwidth, near.l2)
    assert (sheet.name, sheet.multiprocessors) == ("Some GPU", 78)


@pytest.mark.parametrize(
    ("name", "published"), [("NVIDIA A100-SXM4-40GB", 312), ("NVIDIA L40S", 362), ("NVIDIA B200", 2250)]
)
def test_tensor_cores_reach_their_data_sheets_peak_on_paper(monkeypatch, name, published):
    pretend(monkeypatch, *next(card[:10] for card in CARDS if card[0] == name))
    monkeypatch.setattr(chooser, "has_large_clusters", lambda capability: False)
    assert tensor_peak(abilities().sheet) == pytest.approx(published, rel=0.06)


@pytest.mark.parametrize(
    ("major", "entry"), [(7, 64), (8, 64), (9, 128), (10, 112), (11, 112), (12, 128), (13, 128)]
)
def test_an_architecture_without_an_entry_has_that_of_the_one_before(major, entry):
    assert nearest_older(MOST_WEIGHTS, major) == entry
    assert tiles_for(4, 256, 40, major).weights <= entry


@needs_compilers
@pytest.mark.parametrize(
    ("arch", "cell", "hidden"),
    [
        ("sm_100", "rnn_tanh", 1792),
        pytest.param("sm_100", "lstm", 896, marks=pytest.mark.slow),
        pytest.param("sm_120", "lstm", 1024, marks=pytest.mark.slow),
    ],
)
@pytest.mark.slow
def test_numba_kernels_with_the_most_weights_spill_nothing_on_blackwell(arch, cell, hidden):
    from numba import float32, int32

    from pocketgpu.compiling.report import compile_report

    major, flat = int(arch[3:]) // 10, float32[::1]
    tiles = tiles_for(len(find_cell(cell).gates), hidden, 132, major)
    assert tiles.weights == MOST_WEIGHTS[major]
    kernels = numba_layer.kernels_of(Network.create(cell, 1, 1), tiles)
    for kernel, arrays in zip(kernels, (4, 9), strict=True):
        types = (float32[:, ::1], *[flat] * arrays, int32[::1], int32[::1], int32, int32)
        (compiled,) = compile_report(kernel, types, arch=arch)
        assert (compiled.spill_stores, compiled.spill_loads, compiled.stack) == (0, 0, 0)


def test_an_architecture_older_than_all_is_refused_by_its_number():
    with pytest.raises(ValueError, match=r"6.*7"):
        tiles_for(4, 256, 40, 6)
