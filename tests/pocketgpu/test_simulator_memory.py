"""Memory that a simulated kernel asks for or indexes: shared, local, constant, records and slices."""

import functools

import numpy as np
import pytest
from launches import BOTH, run
from numba import float32, int32

from pocketgpu import simulator as cuda
from pocketgpu.cuda import observe
from pocketgpu.simulator.source import source_of


@BOTH
def test_memory_that_nobody_wrote_is_poisoned(checks):
    @cuda.jit
    def kernel(floats, integers):
        floats[0], integers[0] = cuda.local.array(3, float32)[1], cuda.shared.array(3, int32)[1]

    floats, integers = np.zeros(1, np.float32), np.zeros(1, np.int32)
    assert not run(kernel, 1, 1, floats, integers, checks=checks)
    assert np.isnan(floats[0])
    assert integers.view(np.uint32)[0] == 0xCDCDCDCD


@BOTH
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16])
def test_narrow_integers_are_widened_as_soon_as_they_are_loaded(checks, dtype):
    @cuda.jit
    def kernel(a, out):
        i = cuda.grid(1)
        row = a[i]
        out[i] = row[0] + row[1] - a[i, 0] * 2
        row[1] = row[0] * 2

    a, out = np.full((2, 2), 120, dtype), np.zeros(2, np.int64)
    a[:, 1] = 100
    assert not run(kernel, 1, 2, a, out, checks=checks)
    assert out.tolist() == [-20, -20]
    np.testing.assert_array_equal(a[:, 1], np.array([240, 240], np.int64).astype(dtype))


def test_packed_records_are_read_byte_by_byte_but_for_atomics_and_odd_places():
    """Code of numba-cuda 0.30.4: ld.u8 eight times for a float64; `odds[i].v` is refused, as not aligned."""
    cell = np.dtype([("total", np.float64), ("n", np.int32)])
    odd = np.dtype([("flag", np.uint8), ("v", np.float32)])

    @cuda.jit
    def sound(cells, odds, out):
        i = cuda.grid(1)
        cells[i].total += i
        out[i] = cells["total"][i] + odds["v"][i]

    @cuda.jit
    def faulty(cells, odds):
        i = cuda.grid(1)
        cuda.atomic.add(cells["total"], i, 1.0)
        odds[i].v = 1

    cells, odds, out = np.ones(3, cell), np.ones(3, odd), np.zeros(3)
    assert not run(sound, 1, 3, cells, odds, out)
    assert out.tolist() == [2, 3, 4]
    findings = observe(faulty, 1, 3, cells, odds).findings
    assert [finding.kind for finding in findings] == ["misaligned", "misaligned"]


def test_elements_of_arrays_in_packed_records_are_whole_loads_and_cells_of_their_own():
    """Code of numba-cuda 0.30.4: r[i].w[k] is one load of 4 bytes, and r["w"][i, k] four of one byte."""
    odd = np.dtype([("flag", np.uint8), ("w", np.float32, 2)])

    @cuda.jit
    def sound(r, out):
        i = cuda.threadIdx.x
        r["w"][0, i] += i
        cuda.syncthreads()
        out[i] = r["w"][0, 1 - i] + r[0].flag
        cuda.syncthreads()
        if i == 0:
            r[1] = r[0]

    @cuda.jit
    def faulty(r, out):
        i = cuda.threadIdx.x
        out[i] = r[i].w[1]

    records, out = np.zeros(2, odd), np.zeros(2)
    records["w"][0] = 3, 5
    assert observe(sound, 1, 2, records, out).findings == ()
    assert out.tolist() == [6, 3]
    assert records["w"].tolist() == [[3, 6], [3, 6]]
    assert [finding.kind for finding in observe(faulty, 1, 2, records, out).findings] == ["misaligned"]
    assert out.tolist() == [6, 6]

    @cuda.jit
    def faulty_in_a_slice(r, out):
        out[cuda.threadIdx.x] = r[cuda.threadIdx.x].w[1:][0]

    findings = observe(faulty_in_a_slice, 1, 2, records, out).findings
    assert [finding.kind for finding in findings] == ["misaligned"]


def test_functions_behind_one_decorator_keep_texts_of_their_own():
    def passed_on(function):
        return functools.wraps(function)(lambda *arguments: function(*arguments))

    @passed_on
    def first(): ...

    @passed_on
    def second(): ...

    assert source_of(first)[1] < source_of(second)[1]
