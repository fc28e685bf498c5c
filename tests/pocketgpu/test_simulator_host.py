"""What the host passes to a simulated kernel and gets back: arrays of every kind, streams and events."""

import numpy as np
import pytest
from launches import BOTH, run

from pocketgpu import simulator as cuda
from pocketgpu.devices import find


@BOTH
def test_host_arrays_are_written_back_and_device_arrays_stay(checks):
    @cuda.jit
    def add_one(a):
        a[cuda.grid(1)] += 1

    host = np.arange(4.0)
    on_device = cuda.to_device(host)
    run(add_one, 2, 2, on_device, checks=checks)
    assert host.tolist() == [0, 1, 2, 3]
    assert on_device.copy_to_host().tolist() == [1, 2, 3, 4]
    run(add_one, 2, 2, host, checks=checks)
    assert host.tolist() == [1, 2, 3, 4]
    run(add_one, 2, 2, cuda.In(host), checks=checks)
    assert host.tolist() == [1, 2, 3, 4]
    run(add_one, 2, 2, cuda.InOut(host), checks=checks)
    assert host.tolist() == [2, 3, 4, 5]


@BOTH
def test_an_out_argument_brings_nothing_to_the_device(checks):
    @cuda.jit
    def fill(a, seen):
        i = cuda.grid(1)
        seen[i] = a[i]
        a[i] = 7

    host, seen = np.ones(2), np.zeros(2)
    run(fill, 1, 2, cuda.Out(host), seen, checks=checks)
    assert host.tolist() == [7, 7]
    assert np.isnan(seen).all()


def test_memory_of_every_kind_can_be_passed():
    @cuda.jit
    def add_one(a):
        a[cuda.grid(1)] += 1

    arrays = [
        cuda.device_array_like(np.zeros(3)),
        cuda.device_array(3, np.float32),
        cuda.pinned_array(3),
        cuda.mapped_array(3),
        cuda.managed_array(3),
    ]
    with cuda.pinned(np.zeros(3)):
        for array in arrays:
            array[:] = 1
            run(add_one, 1, 3, array)
            assert np.asarray(getattr(array, "_ary", array)).tolist() == [2, 2, 2]


def test_a_tuple_of_arrays_arrives_as_a_tuple():
    @cuda.jit
    def swap(pair, scale):
        i = cuda.grid(1)
        pair[0][i], pair[1][i] = scale * pair[1][i], pair[0][i]

    a, b = np.arange(3.0), 10 * np.arange(3.0)
    run(swap, 1, 3, (a, b), 2)
    assert a.tolist() == [0, 20, 40]
    assert b.tolist() == [0, 1, 2]


def test_streams_and_events_are_accepted_and_in_order():
    @cuda.jit
    def add_one(a):
        a[cuda.grid(1)] += 1

    stream, start, end = cuda.stream(), cuda.event(), cuda.event()
    a = cuda.to_device(np.zeros(4), stream=stream)
    start.record(stream)
    with stream.auto_synchronize(), cuda.settings(checks=False):
        add_one[2, 2, stream](a)
    end.record(stream)
    end.synchronize()
    assert a.copy_to_host(stream=stream).all()
    h200 = find("H200")
    assert cuda.event_elapsed_time(start, end) == pytest.approx(1e-3 * (h200.launch + h200.node))


@pytest.mark.parametrize("device", ["H200", "M40"])
def test_the_time_between_two_events_is_the_models_and_grows_with_what_is_moved(device):
    @cuda.jit
    def copy(a, b):
        b[cuda.grid(1)] = a[cuda.grid(1)]

    start, middle, end = (cuda.event() for _ in range(3))
    a = np.zeros(256, "float32")
    sheet = find(device)
    with cuda.settings(device=device):
        start.record()
        copy[1, 256](a, a.copy())
        middle.record()
        copy[1, 256](a, a.copy())
        copy[1, 256](a, a.copy())
        end.record()
    one = sheet.launch + sheet.node + 2 * 1024 / (sheet.bandwidth * 1e3)  # µs: 1 KiB each way, GB/s are kB/µs
    assert start.elapsed_time(middle) == pytest.approx(1e-3 * one)
    assert middle.elapsed_time(end) == pytest.approx(2e-3 * one)


@pytest.mark.parametrize(("name", "multiprocessors"), [("T4", 40), ("H200", 132)])
def test_the_current_device_is_that_of_the_settings(name, multiprocessors):
    with cuda.settings(device=name):
        device = cuda.get_current_device()
    assert (device.name, device.MULTIPROCESSOR_COUNT, device.WARP_SIZE) == (name, multiprocessors, 32)
    assert device.MAX_THREADS_PER_BLOCK == 1024


@cuda.jit
def count_up(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


WAYS_TO_WAIT = {
    "synchronize": lambda array, stream: cuda.synchronize(),
    "stream": lambda array, stream: stream.synchronize(),
    "context": lambda array, stream: cuda.current_context().synchronize(),
    "copy": lambda array, stream: cuda.device_array(2).copy_to_host(),
    "host array": lambda array, stream: count_up[1, 2](np.zeros(2)),
}
READS = {
    "element": lambda array: array[3],
    "sum": lambda array: (2 * array).sum(),
    "comparison": lambda array: np.allclose(array, 1),
    "part": lambda array: array[2:5].tolist(),
    "store": lambda array: array.__setitem__(slice(None), 0),
}


@pytest.mark.parametrize("make", [cuda.managed_array, cuda.mapped_array])
@pytest.mark.parametrize("read", READS)
def test_the_host_may_use_memory_that_it_shares_only_when_it_has_waited(make, read):
    array = make(6, dtype=np.float32)
    array[:] = 0
    count_up[1, 8](array)
    with pytest.raises(cuda.Findings) as early:
        READS[read](array)
    assert [finding.kind for finding in early.value.findings] == ["race"]
    READS[read](array)  # said once
    count_up[1, 8](array[:2])
    assert array[5] in (0, 1)  # no launch writes there


@pytest.mark.parametrize("wait", WAYS_TO_WAIT)
def test_each_way_of_waiting_lets_the_host_read_mapped_memory(wait):
    array = cuda.managed_array(6)
    array[:] = 0
    stream = cuda.stream()
    count_up[1, 8, stream](array)
    WAYS_TO_WAIT[wait](array, stream)
    assert array.sum() == 6


def test_a_block_in_which_arrays_of_the_host_are_mapped_writes_into_them():
    one = np.zeros(3)
    two = np.ones(3)
    with cuda.mapped(one, two) as (first, second):
        count_up[1, 4](first)
        count_up[1, 4](second)
        cuda.synchronize()
    np.testing.assert_array_equal([one, two], [[1] * 3, [2] * 3])


def test_launches_are_ordered_behind_a_block_that_synchronises_their_stream():
    array = cuda.to_device(np.zeros(4))
    first = cuda.stream()
    with first.auto_synchronize():
        count_up[1, 4, first](array)
    count_up[1, 4, cuda.stream()](array)  # no finding
    np.testing.assert_array_equal(array.copy_to_host(), [2] * 4)


def test_parts_have_addresses_and_squeezed_arrays_stay_on_the_device():
    @cuda.jit
    def distance(x, out):
        part = x[1:, 2:]
        out[0] = part.ctypes.data - x.ctypes.data

    out = np.zeros(1, np.int64)
    distance[1, 1](np.zeros((3, 4), np.int16), out)  # no finding
    assert out[0] == 2 * (4 + 2)
    squeezed = cuda.to_device(np.arange(5.0)[:, None]).squeeze()
    assert isinstance(squeezed, cuda.DeviceArray)
    np.testing.assert_array_equal(squeezed.copy_to_host(), np.arange(5.0))
