"""What the host passes to a simulated kernel and gets back: arrays of every kind, streams and events."""

import numpy as np
import pytest

from pocketgpu import simulator as cuda
from pocketgpu.devices import find
from pocketgpu.simulator.settings import Settings

BOTH = pytest.mark.parametrize("checks", [True, False], ids=["watched", "bare"])


def run(kernel, grid, block, *arguments, **settings):
    """Launch without analysis; the faults that ended the launch."""
    return kernel[grid, block].run(arguments, Settings(**settings)).stopped


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
