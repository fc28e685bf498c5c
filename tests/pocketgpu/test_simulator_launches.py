"""Launches that would never end, that a GPU refuses, that race on two streams; and the text of findings."""

import gc
import math
import multiprocessing
import os
import sys
import threading
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numba
import numba.cuda
import numpy as np
import pytest
from launches import BOTH
from values_in import holds

from pocketgpu import simulator as cuda
from pocketgpu.simulator import endless
from pocketgpu.simulator.report import observe


@cuda.jit
def forgets_to_count_up(x):
    i = 0
    while i < x.size:
        x[i] = 1


@cuda.jit
def loops_without_memory(x):
    i = 1
    while i:
        i = 2


@cuda.jit
def copies(x, y):
    y[cuda.grid(1)] = x[cuda.grid(1)]


@cuda.jit
def writes_the_first(x):
    x[0] = cuda.grid(1)


@pytest.mark.parametrize("kernel", [forgets_to_count_up, loops_without_memory])
@pytest.mark.parametrize("checks", [True, False])
def test_a_launch_that_never_ends_is_stopped_with_one_sentence(kernel, checks):
    with (
        cuda.settings(seconds=0.2, checks=checks),
        pytest.raises(cuda.Findings, match="a loop that never stops") as sentence,
    ):
        kernel[1, 1](np.zeros(4))
    (finding,) = sentence.value.findings
    assert finding.kind == "endless"
    assert finding.line >= kernel.py_func.__code__.co_firstlineno


def test_a_launch_that_writes_down_too_much_is_stopped():
    with cuda.settings(events=1000), pytest.raises(cuda.Findings, match="more than 1,000 accesses"):
        forgets_to_count_up[1, 1](np.zeros(4))


def test_many_writers_of_one_element_take_memory_in_proportion():
    tracemalloc.start()
    with cuda.settings(raise_findings=False):
        writes_the_first[10, 512](np.zeros(1))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [finding.kind for finding in writes_the_first.report().findings] == ["race"]
    assert peak < 100e6  # bytes; clocks of 5,120 threads for one another are 210 MB


@pytest.mark.parametrize(
    ("grid", "block"), [(0, 32), (1, 0), (1, (1, 1, 128)), ((1, 70_000), 1), (1, 2048), (1, (64, 32))]
)
def test_a_grid_or_block_that_no_gpu_launches_is_refused(grid, block):
    with pytest.raises(ValueError, match=r"a grid|a block"):
        copies[grid, block](np.zeros(1), np.zeros(1))


def two_streams():
    return cuda.stream(), cuda.stream(), *(cuda.to_device(np.ones(4)) for _ in range(3))


@pytest.mark.parametrize("how", ["no event", "event too early", "event of the reader", "waits too late"])
def test_two_streams_that_touch_the_same_array_need_an_event_between(how):
    first, second, x, y, z = two_streams()
    moment = cuda.event()
    if how == "event too early":
        moment.record(first)
    copies[1, 4, first](x, y)
    if how == "event of the reader":
        moment.record(second)
    if how in ("event too early", "event of the reader"):
        moment.wait(second)
    elif how == "waits too late":
        moment.record(first)
        second.synchronize()
    with pytest.raises(cuda.Findings, match=r"both touch x.*record an event"):
        copies[1, 4, second](y, z)


@pytest.mark.parametrize("how", ["event", "synchronise", "default stream", "one stream", "apart"])
def test_ordered_launches_on_streams_are_not_accused(how):
    first, second, x, y, z = two_streams()
    copies[1, 4, first](x, y)
    if how == "event":
        moment = cuda.event()
        moment.record(first)
        moment.wait(second)
    elif how == "synchronise":
        first.synchronize()
    elif how == "default stream":
        copies[1, 4](x, cuda.to_device(np.ones(4)))
    copies[1, 4, first if how == "one stream" else second](x if how == "apart" else y, z)
    assert z.copy_to_host().tolist() == [1, 1, 1, 1]


def test_memory_that_was_freed_and_given_to_another_array_orders_nothing():
    first, second, x, y, z = two_streams()
    address = x.__cuda_array_interface__["data"][0]
    copies[1, 4, first](x, y)
    copies[1, 4, first](y, z)
    numbers = [np.full(4, float(n)) for n in range(40)]
    del x
    gc.collect()
    *_, source = others = [*map(cuda.to_device, numbers)]
    at_address = [other for other in others if other.__cuda_array_interface__["data"][0] == address]
    again = (at_address or others)[0]
    copies[1, 4, second](source, again)
    assert again.copy_to_host().tolist() == [39] * 4


def test_a_device_view_keeps_its_offset_and_a_host_array_its_own_alignment():
    x, y = cuda.to_device(np.ones(40, "float32")), cuda.to_device(np.ones(32, "float32"))
    sectors = lambda view: observe(copies, 1, 32, (view, y)).counts.global_load_sectors
    assert [sectors(x[offset : offset + 32]) for offset in (0, 1, 8)] == [4, 5, 4]
    assert sectors(np.ones(40, "float32")[1:33]) == 4


def messages(kernel, grid, block, *arguments):
    return [finding.message for finding in observe(kernel, grid, block, arguments).findings]


def test_a_finding_names_arrays_as_the_kernel_does_and_threads_with_all_dimensions():
    @cuda.jit
    def reads_the_neighbour(x):
        tile = cuda.shared.array((4, 4), np.float32)
        column, row = cuda.grid(2)
        tile[row, column] = x[row, column]
        x[row, column] = tile[column, row]

    (message,) = messages(reads_the_neighbour, (1, 1), (4, 4), np.ones((4, 4), "float32"))
    assert "tile[" in message
    assert "(shared)" in message
    assert "thread (0, 0, 0)" in message or "thread (1, 0, 0)" in message


def test_remedies_fit_the_line_and_the_space():
    (message,) = messages(writes_the_first, 1, 4, np.zeros(1))
    assert "two threads run this line for the same element" in message

    @cuda.jit
    def beyond(x):
        part = cuda.shared.array(8, np.float32)
        part[cuda.threadIdx.x] = x[0]

    assert any("the shared array has 8 elements" in text for text in messages(beyond, 1, 16, np.zeros(16)))


def test_a_function_without_jit_and_a_kernel_of_numba_say_what_to_write():
    with pytest.raises(TypeError, match="is not a kernel"):
        observe(lambda x: None, 1, 1, (np.zeros(1),))
    with pytest.raises(TypeError, match="from rnnlab import cuda"):
        observe(numba.cuda.jit(copies.py_func), 1, 1, (np.zeros(1), np.zeros(1)))


def test_a_kernel_that_names_numba_cuda_runs_here():
    scope = {"cuda": numba.cuda, "jit": cuda.jit}
    exec("@jit\ndef fills(x):\n    x[cuda.grid(1)] = cuda.threadIdx.x\n", scope)
    x = np.zeros(4)
    scope["fills"][1, 4](x)
    assert x.tolist() == [0, 1, 2, 3]
    assert scope["cuda"] is numba.cuda


@numba.njit
def root_of(x, i):
    return math.sqrt(x[i])


@cuda.jit
def writes_a_root(x, out):
    out[0] = root_of(x, 1)


def test_a_function_compiled_for_the_cpu_is_a_device_function_whose_loads_count():
    out = np.zeros(1)
    counts = observe(writes_a_root, 1, 1, (np.array([1.0, 9.0]), out)).counts
    assert (counts.global_loads, counts.global_stores, out[0]) == (1, 1, 3)
    assert root_of.signatures == [], "Numba has compiled nothing, and the name has its value back"


def test_a_lock_that_many_blocks_wait_for_in_vain_is_told_soon():
    @cuda.jit
    def never(flag):
        while cuda.atomic.add(flag, 0, 0) == 0:
            pass

    began = time.monotonic()
    (message,) = messages(never, 2000, 1, np.zeros(1, "int32"))
    assert "no thread can continue" in message
    assert time.monotonic() - began < 60


def test_without_checks_an_atomic_beyond_the_end_has_its_line_in_the_kernel_and_the_block_its_number():
    @cuda.jit
    def counts_beyond(bins):
        cuda.atomic.add(bins, cuda.grid(1), 1)

    with cuda.settings(checks=False), pytest.raises(cuda.Findings) as raised:
        counts_beyond[3, 2](np.zeros(5))
    (finding,) = raised.value.findings
    assert finding.line == counts_beyond.py_func.__code__.co_firstlineno + 2
    assert holds(finding.message, "thread 1", "block 2")


def test_an_extension_that_is_added_to_a_kernel_prepares_the_arguments_of_its_launches():
    class Doubled:
        def prepare_args(self, kind, argument, **_):
            return kind, 2 * argument if isinstance(argument, int) else argument

    @cuda.jit
    def store(y, number):
        y[0] = number

    y = np.zeros(1, np.int64)
    store.extensions.append(Doubled())
    store[1, 1](y, 21)
    assert y[0] == 42


@pytest.mark.parametrize("bounds", [64, (64, 2)], ids=str)
@BOTH
def test_a_block_of_more_threads_than_launch_bounds_promise_is_refused(bounds, checks):
    def first(x):
        x[cuda.grid(1)] = 1

    bounded = cuda.jit(launch_bounds=bounds)(first)
    x = np.zeros(128, np.float32)
    with cuda.settings(checks=checks):
        bounded[2, 64](x)
        assert x.sum() == 128
        with pytest.raises(ValueError, match="64"):
            bounded[1, 128](x)
        with pytest.raises(ValueError, match="64"):
            bounded[1, (8, 3, 3)](x)


def test_a_long_range_that_reads_the_same_elements_is_no_waiting_thread(monkeypatch):
    monkeypatch.setattr(endless, "SECONDS", -1)

    @cuda.jit
    def kernel(weights, out):
        total = 0.0
        for step in range(30_000):
            total = total / 2 + weights[step % 4]
        out[0] = total

    out = np.zeros(1)
    assert observe(kernel, 1, 1, (np.ones(4), out)).findings == ()
    assert out[0] == 2


def test_threads_of_the_host_launch_one_after_another():
    """None of them takes another's launch for its own."""

    @cuda.jit
    def reversed_sums(x, out):
        shared = cuda.shared.array(32, "float64")
        i = cuda.threadIdx.x
        shared[i] = x[i]
        cuda.syncthreads()
        total = 0.0
        for k in range(i, 32):
            total += shared[k]
        out[i] = total

    def launched(number):
        x = np.random.default_rng(number).random(32)
        out = np.zeros(32)
        with cuda.settings(lockstep=False):
            reversed_sums[1, 32](x, out)
        return np.allclose(out, np.cumsum(x[::-1])[::-1], rtol=1e-12)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(launched, range(24)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process is forked here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_process_forked_amid_a_launch_of_another_thread_launches_kernels_of_its_own():
    runs = threading.Event()

    def prepare(kind, argument, **options):
        runs.set()
        time.sleep(0.2)
        return kind, argument

    slow = cuda.jit(copies.py_func, extensions=[SimpleNamespace(prepare_args=prepare)])
    x, y = np.ones(4), np.zeros(4)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(slow[1, 4], x, y)
        assert runs.wait(10)
        child = multiprocessing.get_context("fork").Process(target=copies[1, 4], args=(x, np.zeros(4)))
        child.start()
        child.join(20)
        running.result(10)
    is_right = child.exitcode == 0
    child.kill()
    assert is_right
    assert y.tolist() == [1, 1, 1, 1]


def test_a_kernel_without_a_text_ends_too():
    namespace = {"cuda": cuda}
    text = "@cuda.jit\ndef waits(flag, out):\n    while flag[0] == 0:\n        pass\n    out[0] = 1\n"
    exec(compile(text, "<a text that nobody kept>", "exec"), namespace)
    out = np.zeros(1)
    namespace["waits"][1, 1](np.ones(1, "int32"), out)
    assert out[0] == 1
    with cuda.settings(seconds=0.2), pytest.raises(cuda.Findings, match="endless"):
        namespace["waits"][1, 1](np.zeros(1, "int32"), out)
    assert sys.gettrace() is None or "coverage" in str(sys.gettrace())


def test_a_kernel_with_a_text_leaves_debuggers_alone(monkeypatch):
    @cuda.jit
    def kernel(x):
        while x[0] < 2_000:
            x[0] += 1

    monkeypatch.setattr(sys, "settrace", lambda function: pytest.fail("a debugger would hear of it"))
    with cuda.settings(lockstep=False):
        kernel[1, 1](np.zeros(1))
