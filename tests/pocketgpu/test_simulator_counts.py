"""Counts of the simulator against counts by hand."""

import re

import numpy as np
import pytest
import simulated_kernels as kernels
from simulated_kernels import CORRECT, numbers
from values_in import holds

from nbjudge import printable
from pocketgpu import cuda, quantities
from pocketgpu.simulator.counts import count_sectors

HAND = {  # kernel -> counts; requests are a warp's, sectors 32 bytes
    # 2 of 3 warps do something: 64 threads load x and y and store y, each warp 128 bytes = 4 sectors
    "saxpy": {
        "global_loads": 128, "global_load_requests": 4, "global_load_sectors": 16, "global_bytes_loaded": 512,
        "global_stores": 64, "global_store_requests": 2, "global_store_sectors": 8, "launches": 1,
    },
    # every fourth float: 8 floats a sector, so a warp's 32 loads lie in 16 sectors; stores are dense
    "strided_copy": {"global_load_sectors": 32, "global_store_sectors": 8, "global_loads": 64},
    # a warp is 8 columns × 4 rows: reads 4 rows of 32 bytes; writes 8 rows of 16 bytes, a sector each
    "naive_transpose": {"global_load_sectors": 8 * 4, "global_store_sectors": 8 * 8, "global_loads": 256},
    # 4 blocks of 32 warps; a warp moves rows of 128 bytes; a column of the tile is one bank: 31 extra turns
    "tiled_transpose": {
        "global_load_sectors": 4 * 32 * 4, "global_store_sectors": 4 * 32 * 4, "bank_conflicts": 4 * 32 * 31,
        "shared_loads": 4096, "shared_stores": 4096, "shared_requests": 4 * 64, "barriers": 4,
    },
    "padded_transpose": {"global_store_sectors": 4 * 32 * 4, "bank_conflicts": 0, "shared_requests": 4 * 64},
    # 9 blocks, 3 tiles each: a warp is 8 columns × 4 rows and loads 4 sectors of each matrix; the inner loop
    # reads a column of tile_a (4 words, 4 banks) and a row of tile_b (8 words, 8 banks): no conflict
    "tiled_matmul": {
        "global_loads": 9 * 3 * 128, "global_load_sectors": 9 * 3 * 2 * 8, "shared_stores": 9 * 3 * 128,
        "shared_loads": 9 * 3 * 64 * 16, "bank_conflicts": 0, "barriers": 9 * 3 * 2,
        "global_store_sectors": 9 * 8,
    },
    # 31 additions a block: each loads two and stores one; 32 stores first, one load last; 1 + 5 barriers
    "block_sum": {
        "shared_loads": 2 * (62 + 1), "shared_stores": 2 * (32 + 31), "barriers": 2 * 6, "bank_conflicts": 0,
        "global_load_sectors": 8, "global_stores": 2, "shared_bytes": 4 * 2 * (63 + 63),
    },
    "warp_sum": {"global_loads": 64, "atomics": 2, "barriers": 0, "shared_requests": 0},
    "histogram": {"atomics": 64, "global_loads": 64, "global_load_sectors": 16, "global_bytes_loaded": 512},
    "neighbours": {"shared_loads": 64, "shared_stores": 64, "bank_conflicts": 0, "barriers": 2},
    # float64: 256 bytes a warp; two half warps, each without a conflict
    "double_words": {"global_load_sectors": 8, "bank_conflicts": 0, "shared_requests": 2,
        "shared_bytes": 512},
    # 4 blocks × 8 threads × 3 rounds; every thread reads and writes once a round; two grid barriers a round
    "grid_barrier": {"global_loads": 192, "global_stores": 192, "barriers": 6},
}  # fmt: skip


@pytest.mark.parametrize("name", HAND)
def test_counts_are_those_made_by_hand(name):
    kernel, grid, block, arguments = CORRECT[name]()
    counts = cuda.observe(kernel, grid, block, *arguments).counts
    assert {key: getattr(counts, key) for key in HAND[name]} == HAND[name]


@pytest.mark.parametrize(("offset", "sectors"), [(0, 4), (1, 5), (7, 5), (8, 4), (9, 5)])
def test_a_shifted_row_touches_one_sector_more_unless_by_whole_sectors(offset, sectors):
    counts = cuda.observe(kernels.shifted_copy, 1, 32, numbers(64), numbers(32), offset).counts
    assert counts.global_load_sectors == sectors


@pytest.mark.parametrize(("stride", "sectors"), [(1, 4), (2, 8), (4, 16), (8, 32), (16, 32)])
def test_a_stride_touches_as_many_sectors_as_it_spreads_over(stride, sectors):
    counts = cuda.observe(kernels.strided_copy, 1, 32, numbers(32 * stride), numbers(32), stride).counts
    assert counts.global_load_sectors == sectors


def test_lines_add_up_to_the_whole_and_stand_beside_their_source():
    kernel, grid, block, arguments = CORRECT["tiled_matmul"]()
    report = cuda.observe(kernel, grid, block, *arguments)
    for name in ("global_loads", "shared_loads", "bank_conflicts", "barriers", "global_load_sectors"):
        assert sum(getattr(line, name) for line in report.lines.values()) == getattr(report.counts, name)
    by_text = {text.strip(): cells for _, text, cells in report.table()}
    assert by_text["tile_a[y, x] = a[row, k + x]"] == {"loads": 1728, "sectors": 216, "shared": 1728}
    assert by_text["cuda.syncthreads()"] == {"barriers": 27}


def test_a_report_reads_as_text_and_as_a_table():
    kernel, grid, block, arguments = CORRECT["block_sum"]()
    report = cuda.observe(kernel, grid, block, *arguments)
    assert "part[i] += part[i + step]" in str(report)
    assert str(report).endswith("no findings")
    page = report._repr_html_()
    assert page.count("<tr>") == 1 + len(report.source)
    assert '<th scope="col">conflicts</th>' not in page  # a column without a number is left out


def test_negative_indices_and_slices_count_where_they_point():
    @cuda.jit
    def last_row(x, y):
        row = x[-1]
        y[cuda.grid(1)] = row[cuda.grid(1)] + x[0, -1]

    report = cuda.observe(last_row, 1, 8, numbers(4, 8), numbers(8))
    places = np.unique(report.accesses.address[report.accesses.kind == 0])
    start = report.accesses.base[1]
    assert list(places - start) == [4 * 7, *(4 * (24 + k) for k in range(8))]


def alternating(x, y):
    """Lanes of a warp come to one place in global and in shared memory, and add in place."""
    tile = cuda.shared.array(32, "float32")
    i = cuda.threadIdx.x
    tile[i] = 1
    place = tile if i % 2 else x
    for k in range(3):
        y[i * (k + 1)] += place[i]


MIXED = cuda.jit(alternating), 1, 32, (np.ones(32, "float32"), np.ones(96, "float32"))


@pytest.mark.parametrize("case", [*CORRECT.values(), lambda: MIXED])
def test_a_launch_that_nobody_observes_moves_as_many_sectors(case):
    kernel, grid, block, arguments = case()
    report = cuda.observe(kernel, grid, block, *arguments)
    assert count_sectors(report.accesses) == report.counts.sectors


@cuda.jit
def _one_of_each(x):
    part = cuda.shared.array(1, np.float32)
    part[0] = x[0]
    cuda.syncthreads()
    cuda.atomic.add(x, 0, part[0])


def test_one_of_a_thing_is_told_in_the_singular():
    seen = cuda.observe(_one_of_each, 1, 1, np.ones(1, np.float32))
    sentence = seen.sentence()
    assert holds(sentence, "1 load", "1 sector", "2 shared accesses", "1 atomic", "1 barrier")
    assert not re.findall(r"\b1 [a-z ]*s\b", sentence)


@pytest.mark.parametrize("quantity", [printable.quantity, quantities.quantity])
def test_nouns_take_the_plural_of_english(quantity):
    nouns = {"launch": "launches", "access": "accesses", "box": "boxes", "bank conflict": "bank conflicts"}
    for noun, plural in nouns.items():
        assert [quantity(number, noun) for number in (0, 1, 2)] == [f"0 {plural}", f"1 {noun}", f"2 {plural}"]
