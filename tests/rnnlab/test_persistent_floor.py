"""The floor under a step, and the choice of a way: hand-counted, refused with reasons."""

from dataclasses import replace

import pytest
from values_in import holds

from pocketgpu.devices import DEVICES, find
from rnnlab.kernels.persistence.floor import H200 as PAPER
from rnnlab.kernels.persistence.floor import TENSOR_PEAK, floor, latencies_of
from rnnlab.kernels.persistence.shapes import cluster_shape, grid_shape
from rnnlab.ladder import cuda_chip
from rnnlab.ladder.chooser import Abilities, choose
from rnnlab.ladder.persistent_cluster import shape_for as cluster_for
from rnnlab.ladder.persistent_grid import shape_for
from rnnlab.ladder.properties import WITH_KERNELS
from rnnlab.network import Network
from rnnlab.schedule.build import forward_plan
from rnnlab.schedule.plan import Sizes

H200, A100, T4 = find("H200"), find("A100"), find("T4")


def test_the_grids_floor_is_an_exchange_what_is_broadcast_and_a_product():
    shape = grid_shape("lstm", 1024, "bfloat16", 64, H200)
    result = floor(shape, 60, H200)  # filled up to 64 sequences
    assert result.exchange == PAPER.grid_exchange == 2 * PAPER.l2
    assert result.broadcast == pytest.approx(128 * 64 * 1024 * 2 / 9.8e6 - 0.151)  # 128 blocks read all of h
    assert result.product == pytest.approx(2 * 4 * 1024**2 * 64 / (0.65 * 989e6 * 128 / 132))
    assert floor(grid_shape("lstm", 1024, "tf32", 8, H200), 8, H200).product == pytest.approx(
        2 * floor(grid_shape("lstm", 1024, "bfloat16", 8, H200), 8, H200).product
    )


def test_the_clusters_floor_is_a_push_and_its_bytes_or_a_product_until_clusters_take_turns():
    shape = cluster_shape("lstm", 512, "bfloat16", H200)
    one, full, more = (floor(shape, B, H200) for B in (1, 64, 72))
    product = 2 * 4 * 512**2 * 8 / (0.65 * 989e6 * 16 / 132)
    read = 8 * 8 * 512 * 2 / 128 / 1755  # eight warps read 8 rows of h, 128 bytes a clock
    assert one.broadcast == pytest.approx(8 * 512 * 2 / 23e3)  # all of h into each block, 23 GB/s
    assert one.broadcast > max(product, read)
    assert one.product == 0
    fast = replace(PAPER, push_bandwidth=46)
    assert floor(shape, 8, H200, fast).step == pytest.approx(PAPER.push + max(product, read))
    assert one == full
    assert more.step == pytest.approx(2 * one.step)
    few = PAPER.__class__(**{**vars(PAPER), "large_clusters": 4})
    assert floor(shape, 64, H200, few).step == pytest.approx(2 * one.step)


def test_a_device_without_tensor_cores_on_paper_has_no_floor():
    with pytest.raises(ValueError, match="T4"):
        floor(cluster_shape("lstm", 64, "float16", H200), 8, T4)
    assert latencies_of(A100).node == A100.node


@pytest.mark.parametrize(
    ("task", "gpu", "chosen"),
    [
        (("lstm", 512, "bfloat16", (1024, 8)), Abilities(H200), "persistent_grid"),
        (("lstm", 512, "bfloat16", (1024, 64)), Abilities(H200), "persistent_cluster"),
        (("lstm", 512, "bfloat16", (1024, 8)), Abilities(H200, cooperative=False), "persistent_cluster"),
        (("lstm", 1024, "bfloat16", (1024, 8)), Abilities(H200), "persistent_grid"),
        (("lstm", 256, "float32", (100, 1)), Abilities(H200), "persistent"),
        (("lstm", 2048, "float32", (100, 64)), Abilities(H200), "graph_replay"),
        (("lstm", 512, "bfloat16", (1, 8)), Abilities(H200), "graph_replay"),
        (("gru", 512, "float16", (100, 8)), Abilities(A100), "persistent_grid"),
        (("lstm", 512, "float16", (100, 8)), Abilities(T4), "graph_replay"),
        (("lstm", 512, "float16", (100, 8)), Abilities(T4, graphs=False), "kernel_per_operation"),
        (("lstm", 512, "bfloat16", (9, 8)), Abilities(H200, clusters=False), "persistent_grid"),
        (("lstm", 512, "bfloat16", (9, 8)), Abilities(H200, False, False), "graph_replay"),
    ],
)
def test_the_chooser_takes_what_runs_and_says_why_not_the_others(task, gpu, chosen):
    result = choose(*task, gpu)
    assert result.name == chosen
    assert tuple(way.name for way in result.ways) == (
        "kernel_per_operation",
        "graph_replay",
        "persistent",
        "persistent_grid",
        "persistent_cluster",
    )
    assert all((way.step is None) == bool(way.why_not) for way in result.ways)
    assert chosen in str(result).splitlines()[0]


@pytest.mark.parametrize("cell", WITH_KERNELS)
def test_a_naive_step_has_as_many_kernels_as_its_plan(cell):
    """Two steps' plan less one's, apart from how the chooser counts."""
    plans = [forward_plan("gru_after" if cell == "gru" else cell, Sizes(T, 8, 64, 64, 1)) for T in (1, 2)]
    naive = choose(cell, 64, "float32", (9, 8), Abilities(H200)).ways[0].step
    slower = (
        choose(cell, 64, "float32", (9, 8), Abilities(replace(H200, launch=H200.launch + 1))).ways[0].step
    )
    assert slower - naive == pytest.approx(plans[1].count() - plans[0].count())


def test_a_slice_of_a_gpu_takes_no_cluster_larger_than_itself():
    slice_of_one = Abilities(replace(H200, multiprocessors=14), cooperative=False)
    assert choose("lstm", 256, "bfloat16", (9, 8), slice_of_one).name == "persistent_cluster"  # of 8 blocks
    result = choose("lstm", 512, "bfloat16", (9, 8), slice_of_one)
    assert holds(result.ways[-1].why_not, "14")


def test_every_device_with_a_tensor_peak_has_a_data_sheet():
    assert TENSOR_PEAK.keys() <= DEVICES.keys()


def test_the_chooser_names_what_a_gpu_lacks():
    why = {way.name: way.why_not for way in choose("lstm", 512, "float16", (9, 8), Abilities(T4)).ways}
    assert holds(why["persistent_cluster"], "T4", "7.5", "9.0")
    why = {
        way.name: way.why_not for way in choose("lstm", 512, "float16", (9, 8), Abilities(H200, False)).ways
    }
    assert "does not promise here that all blocks run at once" in why["persistent_grid"]
    with pytest.raises(ValueError, match="lstm in int8"):
        choose("lstm", 512, "int8", (9, 8), Abilities(H200))
    with pytest.raises(ValueError, match=r"0 sequences.*1"):
        choose("lstm", 512, "float16", (9, 0), Abilities(H200))


def test_a_rung_says_why_it_does_not_run():
    task = lambda network, gpu: cuda_chip.why_not(shape_for, network, 5, 8, gpu)
    assert task(Network.create("lstm", 4, 1024), Abilities(H200)) is None
    assert "not in float64" in task(Network.create("lstm", 4, 64, dtype="float64"), Abilities(H200))
    assert "resets after" in task(Network.create("gru", 4, 64, reset="before"), Abilities(H200))
    assert "does not promise" in task(Network.create("lstm", 4, 64), Abilities(H200, cooperative=False))
    alone = Abilities(H200, cooperative=False)  # a cluster starts whole or not at all, and needs no promise
    assert cuda_chip.why_not(cluster_for, Network.create("lstm", 4, 64), 5, 8, alone) is None
    assert "2080 units" in task(Network.create("lstm", 4, 2080), Abilities(H200))
