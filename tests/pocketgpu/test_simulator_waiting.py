"""Threads that wait for one another at barriers, flags and locks, in every order."""

import numpy as np
import pytest
from launches import BOTH, run
from numba import float32
from sound_kernels import CASES

from pocketgpu import simulator as cuda
from pocketgpu.simulator.settings import SimulatorSettings

ORDERS = pytest.mark.parametrize("order", [{}, *({"shuffle": True, "seed": s} for s in range(5))], ids=str)


WAITING = (
    "reverses_a_block",
    "reverses_a_warp",
    "counts_votes_at_a_barrier",
    "meets_as_a_grid_at_each_row",
    "waits_at_flags_in_each_step",
    "counts_under_a_lock",
    "lets_the_last_block_add_up_all",
)


@BOTH
@ORDERS
@pytest.mark.parametrize("name", WAITING)
def test_threads_that_wait_for_one_another_leave_the_same_in_every_order(name, checks, order):
    case = CASES[name]
    arguments = case.arguments()
    expected = case.expected(*arguments)
    assert not run(case.kernel, case.grid, case.block, *arguments, checks=checks, **order)
    np.testing.assert_array_equal(arguments[-1], expected)


def test_a_thousand_steps_of_flags_are_no_deadlock():
    flags, history = np.zeros(2, np.int64), np.zeros((1001, 2), np.int64)
    assert not run(CASES["waits_at_flags_in_each_step"].kernel, 2, 2, flags, history, checks=False)
    assert (flags == 1000).all()


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
