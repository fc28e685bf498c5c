"""Memory that a simulated kernel asks for or indexes: shared, local, constant, records and slices."""

import numpy as np
import pytest
from launches import BOTH, run
from numba import float32, from_dtype, int32

from pocketgpu import simulator as cuda
from pocketgpu.cuda import observe

POINT = np.dtype([("x", np.float32), ("n", np.int32), ("v", np.float64, 2)])


@BOTH
def test_shared_arrays_are_one_for_each_place_and_block(checks):
    @cuda.jit
    def kernel(out):
        first, second = cuda.shared.array(4, int32), cuda.shared.array(4, int32)
        t = cuda.threadIdx.x
        first[t], second[t] = cuda.blockIdx.x, 10 * t
        cuda.syncthreads()
        out[cuda.grid(1)] = first[3 - t] + second[3 - t]

    out = np.zeros(8, np.int32)
    assert not run(kernel, 2, 4, out, checks=checks)
    assert out.tolist() == [30, 20, 10, 0, 31, 21, 11, 1]


@BOTH
def test_dynamic_shared_arrays_are_all_the_same_memory(checks):
    @cuda.jit
    def kernel(out):
        words, halves = cuda.shared.array(0, np.uint32), cuda.shared.array(0, np.uint16)
        words[cuda.threadIdx.x] = 0x20001
        out[cuda.threadIdx.x] = 10 * halves.size + halves[2 * cuda.threadIdx.x + 1]

    out = np.zeros(2, np.int32)
    assert not run(kernel, 1, 2, out, shared=8, checks=checks)
    assert out.tolist() == [42, 42]


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
def test_local_arrays_belong_to_one_thread_and_constants_to_all(checks):
    table = np.array([3.0, 1.0, 4.0])

    @cuda.jit
    def kernel(out):
        mine, constant = cuda.local.array((2, 2), float32), cuda.const.array_like(table)
        mine[1, 0] = cuda.grid(1)
        cuda.syncthreads()
        out[cuda.grid(1)] = mine[1, 0] + constant[cuda.grid(1)]

    out = np.zeros(3, np.float32)
    assert not run(kernel, 1, 3, out, checks=checks)
    assert out.tolist() == [3, 2, 6]


@BOTH
def test_records_are_read_and_written_by_field(checks):
    @cuda.jit
    def kernel(points, one):
        i = cuda.grid(1)
        points[i].x = 2 * points[i]["x"] + one.x
        points["n"][i] = points.n[i] + 1
        points[i].v[1] = i

    points = np.zeros(3, POINT)
    points["x"] = 1, 2, 3
    one = np.zeros(1, POINT)
    one["x"] = 0.5
    assert not run(kernel, 1, 3, points, one[0], checks=checks)
    assert points["x"].tolist() == [2.5, 4.5, 6.5]
    assert points["n"].tolist() == [1, 1, 1]
    assert points["v"].tolist() == [[0, 0], [0, 1], [0, 2]]


@BOTH
def test_slices_and_other_shapes_are_the_same_memory(checks):
    @cuda.jit
    def kernel(a):
        row = a[cuda.grid(1)]
        row[0] = a.shape[1] + a.ndim
        row[1:][0] = a.T[0, 0] if False else len(row)
        a.reshape(8)[3] = a.ravel()[0]

    a = np.zeros((2, 4))
    assert not run(kernel, 1, 2, a, checks=checks)
    assert a.tolist() == [[6, 4, 0, 6], [6, 4, 0, 0]]


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


def test_integers_too_large_for_an_element_keep_their_low_bits():
    @cuda.jit
    def kernel(a):
        a[0] = np.int64(2**32 + 5)
        a[1] = a[0] * 2

    a = np.zeros(2, np.int32)
    assert not run(kernel, 1, 1, a)
    assert a.tolist() == [5, 10]


def test_a_record_type_may_be_shared():
    record = from_dtype(POINT)

    @cuda.jit
    def kernel(out):
        points = cuda.shared.array(2, record)
        point = points[cuda.threadIdx.x]
        point.x = cuda.threadIdx.x + 1
        point["n"] = 5
        cuda.syncthreads()
        out[cuda.threadIdx.x] = points[1 - cuda.threadIdx.x].x * point.n

    out = np.zeros(2, np.float32)
    assert not run(kernel, 1, 2, out)
    assert out.tolist() == [10, 5]
    assert not observe(kernel, 1, 2, out).findings


def test_threads_may_write_different_fields_of_one_record_and_copy_records():
    @cuda.jit
    def kernel(points):
        if cuda.threadIdx.x:
            points[0].x = 3
        else:
            points[0].n = 4
        cuda.syncthreads()
        if cuda.threadIdx.x:
            points[1] = points[0]

    points = np.zeros(2, POINT)
    assert not observe(kernel, 1, 2, points).findings
    assert points["x"].tolist() == [3, 3]
    assert points["n"].tolist() == [4, 4]


def test_a_slice_that_is_filled_is_written():
    @cuda.jit
    def kernel(out):
        own = cuda.local.array((2, 3), float32)
        own[:] = 2
        own[1, 1:] = 5
        out[cuda.grid(1), :] = own[0, 0] + own[1, 2]

    out = np.zeros((4, 2), np.float32)
    assert not observe(kernel, 1, 4, out).findings
    assert (out == 7).all()


@BOTH
def test_a_field_may_have_a_name_of_numpys_or_of_the_simulators(checks):
    cluster = np.dtype([("label", np.int32), ("sum", np.float64), ("T", np.float64), ("owner", np.int32)])

    @cuda.jit
    def kernel(clusters, x):
        i = cuda.grid(1)
        own = clusters[i]
        own.sum += x[i]
        own.label = own.owner + 1
        clusters[i].T = 2 * clusters[i].sum + clusters.label[i]

    clusters = np.zeros(3, cluster)
    clusters["owner"] = [4, 5, 6]
    assert not run(kernel, 1, 3, clusters, np.array([1.0, 2, 3]), checks=checks)
    assert clusters["label"].tolist() == [5, 6, 7]
    assert clusters["T"].tolist() == [7, 10, 13]


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
    """Code of numba-cuda 0.30.4: r[i].w[k] is one load of 4 bytes, of r["w"][i, k] there are four of one."""
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
