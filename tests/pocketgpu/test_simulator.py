"""Kernels launched on the simulated GPU: who is where, what is passed, and what a device refuses."""

import math

import numpy as np
import pytest
from launches import BOTH, run
from numba import float32, int32, void
from values_in import holds

from pocketgpu import simulator as cuda


def test_sizes_of_grid_and_block_are_those_of_the_launch():
    @cuda.jit
    def sizes(out):
        out[:3] = cuda.gridsize(3)
        out[3], out[4:6] = cuda.gridsize(1), cuda.gridsize(2)
        out[6], out[7] = cuda.gridDim.z, cuda.warpsize

    out = np.zeros(8, np.int64)
    run(sizes, (2, 3, 4), (5, 1, 2), out, checks=False)
    assert out.tolist() == [10, 3, 8, 10, 10, 3, 4, 32]


@BOTH
def test_threads_beyond_the_first_dimension_have_no_fourth(checks):
    @cuda.jit
    def four():
        cuda.grid(4)

    with pytest.raises(ValueError, match="1, 2 or 3 dimensions"):
        run(four, 1, 1, checks=checks)


@pytest.mark.parametrize(
    "decorate",
    [
        cuda.jit,
        cuda.jit(),
        cuda.jit("void(float32[:])"),
        cuda.jit(void(float32[:])),
        cuda.jit((float32[:],)),
        cuda.jit([(float32[:],), (int32[:],)]),
        cuda.jit(debug=True, opt=False, fastmath=True, lineinfo=True),
    ],
    ids=["bare", "empty", "string", "signature", "tuple", "list", "options"],
)
def test_jit_takes_what_numbas_takes(decorate):
    def one(a):
        a[cuda.grid(1)] = 1

    a = np.zeros(4, np.float32)
    kernel = decorate(one)
    run(kernel, 2, 2, a)
    assert a.all()
    assert kernel.py_func is one


def test_forall_starts_at_least_as_many_threads_as_asked_for():
    @cuda.jit
    def count(a):
        i = cuda.grid(1)
        if i < a.size:
            a[i] += 1

    a = np.zeros(1000, np.int32)
    with cuda.settings(checks=False):
        count.forall(a.size)(a)
        count.forall(a.size, tpb=7)(a)
        count.forall(0)(a)
    assert (a == 2).all()
    with pytest.raises(ValueError, match="negative task count"):
        count.forall(-1)


def test_a_launch_without_a_grid_says_what_is_missing():
    with pytest.raises(ValueError, match="configuration was not specified"):
        cuda.jit(lambda: None)()


def test_a_block_that_is_too_large_is_refused():
    with pytest.raises(ValueError, match="at most 1024"):
        run(cuda.jit(lambda: None), 1, (33, 32))


def test_shared_memory_beyond_what_the_device_gives_is_refused():
    @cuda.jit
    def greedy():
        cuda.shared.array((64, 100), float32)
        cuda.shared.array((64, 100), float32)

    (finding,) = run(greedy, 1, 1, checks=False)
    assert holds(finding.message, "51200")
    with pytest.raises(ValueError, match="shared memory"):
        run(greedy, 1, 1, shared=50_000)


@pytest.mark.parametrize(("device", "threads", "blocks"), [("T4", 256, 160), ("H200", 256, 1056)])
def test_the_device_sheet_says_how_many_blocks_live_together(device, threads, blocks):
    kernel = cuda.jit(lambda: None)
    with cuda.settings(device=device):
        overload = kernel.overloads[void()]
        assert overload.max_cooperative_grid_blocks(threads) == blocks


def test_an_unknown_device_is_named_with_those_that_are_known():
    with pytest.raises(ValueError, match=r"'B300'; there are .*V100"), cuda.settings(device="B300"):
        pass


@BOTH
def test_an_access_beyond_the_end_is_told_with_thread_block_and_line(checks):
    @cuda.jit
    def forgot_the_bound(a):
        i = cuda.grid(1)
        a[i] = 1

    a = np.zeros(5)
    (finding,) = run(forgot_the_bound, 2, 4, a, checks=checks)
    assert finding.kind == "out_of_bounds"
    assert finding.line == forgot_the_bound.py_func.__code__.co_firstlineno + 3
    assert finding.block == (1, 0, 0)
    assert finding.thread == (1, 0, 0)
    assert a.all(), "what was written before the fault is there"


def test_an_error_of_the_kernel_itself_says_in_which_thread_it_happened():
    @cuda.jit
    def wrong():
        if cuda.grid(1) == 5:
            raise KeyError("no such thing")

    with pytest.raises(KeyError, match=r"tid=\[1, 0, 0\] ctaid=\[1, 0, 0\]: no such thing"):
        run(wrong, 2, 4)


def test_math_keeps_float32_and_does_not_raise():
    @cuda.jit
    def kernel(x, out):
        i = cuda.grid(1)
        out[0, i] = math.exp(x[i])
        out[1, i] = math.log(x[i])
        out[2, i] = math.sqrt(x[i])
        single[i] = type(math.tanh(x[i])) is np.float32

    single = np.zeros(3, bool)
    x = np.array([0, -1, 200], np.float32)
    out = np.zeros((3, 3), np.float32)
    run(kernel, 1, 3, x, out)
    assert single.all()
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(out, [np.exp(x), np.log(x), np.sqrt(x)], rtol=1e-6)
    assert type(math.exp(1)) is float


def test_a_launch_leaves_nothing_running_behind():
    @cuda.jit
    def stuck(witness):
        if cuda.threadIdx.x == 0:
            raise KeyError(len(witness))
        cuda.syncthreads()

    with pytest.raises(KeyError):
        run(stuck, 4, 8, np.zeros(3))
    assert cuda.machine.launch is None
    assert cuda.machine.now is None
