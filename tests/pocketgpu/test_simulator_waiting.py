"""Threads that wait for one another at barriers, flags and locks, in every order."""

import numpy as np
import pytest
from launches import BOTH, run
from numba import float32

from pocketgpu import simulator as cuda
from pocketgpu.simulator.settings import SimulatorSettings

ORDERS = pytest.mark.parametrize("order", [{}, *({"shuffle": True, "seed": s} for s in range(5))], ids=str)


@BOTH
@ORDERS
def test_a_barrier_lets_a_block_reverse_its_elements(checks, order):
    @cuda.jit
    def reverse(a):
        s = cuda.shared.array(64, float32)
        t, i = cuda.threadIdx.x, cuda.grid(1)
        s[t] = a[i]
        cuda.syncthreads()
        a[i] = s[63 - t]

    a = np.arange(192, dtype=np.float32)
    expected = a.reshape(3, 64)[:, ::-1].ravel()
    assert not run(reverse, 3, 64, a, checks=checks, **order)
    np.testing.assert_array_equal(a, expected)


@ORDERS
def test_a_barrier_tells_all_how_many_said_yes(order):
    @cuda.jit
    def votes(a, out):
        yes = a[cuda.threadIdx.x]
        out[0, cuda.threadIdx.x] = cuda.syncthreads_count(yes)
        out[1, cuda.threadIdx.x] = cuda.syncthreads_and(yes)
        out[2, cuda.threadIdx.x] = cuda.syncthreads_or(yes)

    for pattern in ([1] * 40, [0] * 40, [0, 2] * 20):
        out = np.full((3, 40), -1)
        assert not run(votes, 1, 40, np.array(pattern), out, **order)
        assert (out[0] == np.count_nonzero(pattern)).all()
        assert (out[1] == all(pattern)).all()
        assert (out[2] == any(pattern)).all()


@BOTH
@ORDERS
def test_the_grid_meets_although_it_has_many_blocks(checks, order):
    @cuda.jit
    def rows(m):
        column, grid = cuda.grid(1), cuda.cg.this_grid()
        for row in range(1, m.shape[0]):
            m[row, column] = m[row - 1, m.shape[1] - column - 1] + 1
            grid.sync()

    m = np.zeros((12, 64), np.int32)
    assert not run(rows, 8, 8, m, checks=checks, **order)
    np.testing.assert_array_equal(m, np.arange(12)[:, None] + np.zeros_like(m))


@cuda.jit
def persistent_sum(history, flags):
    """Every block adds up what all blocks wrote in the step before, with a flag for each block."""
    block, t, blocks = cuda.blockIdx.x, cuda.threadIdx.x, cuda.gridDim.x
    for step in range(1, history.shape[0]):
        if t < blocks:
            while cuda.atomic.add(flags, t, 0) < step - 1:
                pass
            cuda.threadfence()
        cuda.syncthreads()
        if t == 0:
            total = 0
            for other in range(blocks):
                total += cuda.ldcg(history, (step - 1, other))
            history[step, block] = total
        cuda.syncthreads()
        if t == 0:
            cuda.threadfence()
            cuda.stcg(flags, block, step)


@BOTH
@ORDERS
def test_a_persistent_kernel_waits_at_flags_of_its_own(checks, order):
    history, flags = np.zeros((6, 4), np.int64), np.zeros(4, np.int64)
    history[0] = 1, 2, 3, 4
    assert not run(persistent_sum, 4, 32, history, flags, checks=checks, **order)
    np.testing.assert_array_equal(history[1:], (10 * 4 ** np.arange(5))[:, None] * np.ones(4, int))


def test_a_thousand_steps_of_flags_are_no_deadlock():
    history, flags = np.zeros((1001, 2), np.int64), np.zeros(2, np.int64)
    assert not run(persistent_sum, 2, 2, history, flags, checks=False)
    assert (flags == 1000).all()


@ORDERS
def test_a_lock_is_held_by_one_thread_at_a_time(order):
    @cuda.jit
    def guarded(lock, counter):
        while cuda.atomic.cas(lock, 0, 0, 1) == 1:
            cuda.nanosleep(100)
        value = cuda.ldcv(counter, 0)
        cuda.nanosleep(10)
        counter[0] = value + 1
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)

    lock, counter = np.zeros(1, np.int32), np.zeros(1, np.int32)
    assert not run(guarded, 3, 16, lock, counter, **order)
    assert counter[0] == 48


@ORDERS
def test_the_last_block_to_finish_adds_up_all_others(order):
    @cuda.jit
    def total(a, partial, ticket, out):
        if cuda.threadIdx.x == 0:
            partial[cuda.blockIdx.x] = a[cuda.blockIdx.x]
            cuda.threadfence()
            if cuda.atomic.inc(ticket, 0, cuda.gridDim.x - 1) == cuda.gridDim.x - 1:
                for block in range(cuda.gridDim.x):
                    out[0] += partial[block]

    a, out = np.arange(10.0), np.zeros(1)
    assert not run(total, 10, 4, a, np.zeros(10), np.zeros(1, np.uint32), out, **order)
    assert out[0] == a.sum()


def test_the_same_seed_gives_the_same_order_and_another_seed_another():
    @cuda.jit
    def arrivals(order, ticket):
        order[cuda.atomic.add(ticket, 0, 1)] = cuda.grid(1)

    def order_of(**settings):
        order = np.zeros(64, np.int32)
        run(arrivals, 1, 64, order, np.zeros(1, np.int32), **settings)
        return order.tolist()

    assert order_of() == [*range(64)]
    assert order_of(shuffle=True, seed=3) == order_of(shuffle=True, seed=3)
    assert order_of(shuffle=True, seed=3) != order_of(shuffle=True, seed=4)


def test_a_missing_barrier_shows_in_some_order_of_threads():
    @cuda.jit
    def missing(a):
        s = cuda.shared.array(32, float32)
        s[cuda.threadIdx.x] = a[cuda.threadIdx.x]
        a[cuda.threadIdx.x] = s[31 - cuda.threadIdx.x]

    wrong = 0
    for seed in range(5):
        a = np.arange(32, dtype=np.float32)
        run(missing, 1, 32, a, shuffle=True, seed=seed)
        wrong += np.isnan(a).any()
    assert wrong == 5


def test_a_kernel_under_a_magic_command_waits_as_in_any_cell():
    from IPython.core.interactiveshell import InteractiveShell

    cell = """%%time
from pocketgpu import cuda
@cuda.jit
def reverse(x):
    tile = cuda.shared.array(8, "f8")
    i = cuda.threadIdx.x
    tile[i] = x[i]
    cuda.syncthreads()
    x[i] = tile[7 - i]
"""
    shell = InteractiveShell()  # not the one of this process, which tests of notebooks may have
    try:
        shell.run_cell(cell).raise_error()
        x = np.arange(8.0)
        shell.user_ns["reverse"][1, 8](x)
    finally:
        shell.history_manager.end_session()
    assert x.tolist() == [7, 6, 5, 4, 3, 2, 1, 0]


@pytest.mark.parametrize("polls", [1, 2, 3, 20, 21, 22, 50, None])
def test_a_thread_that_goes_on_whatever_it_polls_is_early_or_noted(polls):
    """Held back, the other block is late for few polls; after many, some have read nothing new."""

    @cuda.jit
    def pass_on(a, flags):
        if cuda.blockIdx.x == 1:
            a[0] = 5
            cuda.threadfence()
            cuda.atomic.exch(flags, 0, 1)
        elif polls is None:
            while cuda.atomic.add(flags, 0, 0) < 1:
                pass
            a[1] = a[0]
        else:
            for _ in range(polls):
                cuda.atomic.add(flags, 0, 0)
            a[1] = a[0]

    a = np.zeros(2, np.int64)
    with cuda.settings(hold=20):
        watch = pass_on[2, 1].run((a, np.zeros(1, np.int32)), SimulatorSettings(hold=20))
    is_found = bool(watch.ignored_poll) or a[1] != 5
    assert is_found == (polls is not None)
