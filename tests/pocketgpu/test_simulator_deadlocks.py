"""What is said when threads cannot continue: diverging barriers and deadlocks, each with who waits where."""

import gc
import weakref

import numpy as np
from launches import line_of, run
from numba import int32
from values_in import holds

from pocketgpu import simulator as cuda
from pocketgpu.simulator.settings import SimulatorSettings


def test_a_barrier_that_part_of_a_block_never_reaches_is_told():
    @cuda.jit
    def returns_early(a):
        i = cuda.grid(1)
        if i >= a.size:
            return
        a[i] = 1
        cuda.syncthreads()

    (finding,) = run(returns_early, 2, 8, np.zeros(13))
    assert finding.kind == "barrier_divergence"
    assert finding.line == line_of(returns_early, "cuda.syncthreads()")
    assert finding.block == (1, 0, 0)
    assert holds(finding.message, "3", "8")
    assert not run(returns_early, 2, 8, np.zeros(16))


def test_two_barriers_in_two_branches_are_told_with_both_lines():
    @cuda.jit
    def branches():
        if cuda.threadIdx.x < 5:
            cuda.syncthreads()  # few
        else:
            cuda.syncthreads()  # many

    (finding,) = run(branches, 1, 16)
    assert finding.kind == "barrier_divergence"
    assert (finding.line, finding.other_line) == (line_of(branches, "# few"), line_of(branches, "# many"))
    assert (finding.thread, finding.other_thread) == ((0, 0, 0), (5, 0, 0))


def test_a_whole_block_that_looks_between_barriers_is_a_deadlock_too():
    @cuda.jit
    def forgotten(flag):
        seen = cuda.shared.array(1, int32)
        while True:
            if cuda.threadIdx.x == 0:
                seen[0] = cuda.atomic.add(flag, 0, 0)
            cuda.syncthreads()
            if seen[0]:
                return
            cuda.syncthreads()

    (finding,) = run(forgotten, 1, 4, np.zeros(1, np.int32), checks=False)
    assert finding.kind == "deadlock"


def test_more_blocks_than_the_device_holds_cannot_wait_for_one_another():
    @cuda.jit
    def meet():
        cuda.cg.this_grid().sync()

    settings = SimulatorSettings(
        device="T4", checks=False
    )  # 40 multiprocessors, each with room for one such block
    assert not meet[40, 32, 0, 40_000].run((), settings).stopped
    (finding,) = meet[41, 32, 0, 40_000].run((), settings).stopped
    assert finding.kind == "deadlock"
    assert holds(finding.message, "40", "40", "41")


def test_a_loop_whose_rounds_change_nothing_is_noticed_soon():
    @cuda.jit
    def poll(flag, limits):
        if cuda.threadIdx.x == 0:
            seen = flag[0]
            while seen < limits[1]:
                seen = flag[0]
        else:
            flag[0] = 1

    (finding,) = run(poll, 1, 2, np.zeros(1, np.int32), np.arange(2), events=20_000)
    assert finding.kind == "deadlock"


def test_many_loads_that_lead_somewhere_are_no_spinning():
    @cuda.jit
    def long(table, out):
        total = 0.0
        for step in range(400_000):
            total += table[step % 100]
        out[0] = total

    out = np.zeros(1)
    assert not run(long, 1, 1, np.ones(100), out)
    assert out[0] == 400_000


def test_a_launch_that_has_ended_keeps_none_of_its_arrays():
    @cuda.jit
    def sums(x, out):
        i = 0
        while i < x.size:
            out[0] += x[i]
            i += 1

    x = np.ones(3000)
    with cuda.settings(lockstep=False):
        sums[1, 1](x, np.zeros(1))
    sums.watch = None
    reference = weakref.ref(x)
    del x
    gc.collect()
    assert reference() is None
