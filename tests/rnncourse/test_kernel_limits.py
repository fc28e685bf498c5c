"""Limits on kernels: atomics count as loads and stores, one thread may not do all, blocks must exchange."""

import numpy as np
import pytest
from attacks_table import attacks
from launches import names_of

from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import judge
from nbjudge.running.sandbox import CHECKOUT
from nbjudge.verdict import Status
from pocketgpu import cuda
from rnncourse import checks
from rnncourse.checks.kernels import Case
from rnncourse.checks.lesson_10_cuda_shared_memory import limit_block_sum
from rnncourse.kernel_answers import kernels

STATEMENT = CHECKOUT / "solutions/source/10_cuda_shared_memory/block_sum_kernel.py"
DEEDS = "kernel_atomics", "kernel_one", "kernel_every", "kernel_even"
LAZY = {attack.name: attack for attack in attacks() if attack.name.startswith(DEEDS)}


def loaded(attack):
    """The kernel of an attack, as a notebook has it."""
    return names_of(attack.source, f"<{attack.name}>", __name__="attack")[attack.exercise]


def test_there_are_nine_of_atomics_and_fifteen_of_threads_that_do_all():
    assert sum(name.startswith("kernel_atomics") for name in LAZY) == 9
    assert len(LAZY) >= 20


@pytest.mark.corpus
@pytest.mark.parametrize("seed", [1, 7])
@pytest.mark.parametrize("name", LAZY)
def test_a_kernel_that_leaves_out_its_lesson_fails_in_the_notebook_as_in_a_grade(name, seed):
    exercise = checks.find(LAZY[name].exercise)[1]
    verdict = judge(exercise, InProcess(loaded(LAZY[name])), seed)
    assert verdict.status is Status.failed, str(verdict)


def counted(kernel, grid, block, *arguments):
    return kernels.launched(cuda.jit(kernel))(grid, block, *arguments)["counts"]


def test_an_atomic_is_a_load_and_a_store_with_sectors_and_turns():
    def adds(x, y):
        i = cuda.grid(1)
        part = cuda.shared.array((32, 32), np.float32)
        part[i, 0] = 0
        cuda.atomic.add(part, (i, 0), 1)
        cuda.atomic.add(x, i * 8, 1)

    counts = counted(adds, (1,), (32,), np.zeros(256, "float32"), np.zeros(1))
    assert counts["atomics"] == 64
    assert (counts["global_loads"], counts["global_stores"]) == (32, 32)
    assert (counts["global_load_sectors"], counts["global_store_sectors"]) == (32, 32)
    assert counts["shared_requests"] == 3
    assert counts["bank_conflicts"] == 3 * 31


def test_the_longest_thread_is_named_and_a_row_of_polls_counts_once():
    def waits(x, flags):
        i = cuda.grid(1)
        if i == 0:
            while cuda.atomic.add(flags, 0, 0) < 1:
                pass
        if i == 5:
            for k in range(6):
                x[k] = x[k] + 1
            cuda.threadfence()
            cuda.atomic.exch(flags, 0, 1)

    counts = counted(waits, (2,), (4,), np.zeros(8, "float32"), np.zeros(1, "int32"))
    assert counts["longest"] == 13
    assert counts["longest_thread"] == "thread 1 of block 1"
    assert counts["accesses"] == 14
    assert counts["loads_of_parameter"][0] == 6


def test_blocks_exchange_what_one_stores_and_another_loads():
    def follows(x, flags):
        i = cuda.blockIdx.x
        if i == 0:
            x[0] = x[1] = 2
            cuda.threadfence()
            cuda.atomic.exch(flags, 0, 1)
        else:
            while cuda.atomic.add(flags, 0, 0) < 1:
                pass
            cuda.threadfence()
            x[2] = x[0] + x[1] + x[2]

    counts = counted(follows, (2,), (1,), np.zeros(3, "float32"), np.zeros(1, "int32"))
    assert counts["exchanged"] == [0, 2]


def test_what_two_blocks_store_is_exchanged_with_both():
    def shares(x, y):
        i = cuda.blockIdx.x
        cuda.atomic.add(y, i, x[2])  # an atomic is no store that another block takes
        if i < 2:
            x[0] = 1
            x[1 + i] = x[0]

    counts = counted(shares, (3,), (1,), np.zeros(4, "float32"), np.zeros(3, "float32"))
    assert counts["exchanged"] == [2, 1, 1]  # x[0] and x[2]; x[0], but x[2] is its own


def test_the_sum_of_a_block_may_make_the_requests_that_its_statement_names():
    case = Case((2,), (64,), (np.zeros(128, "float32"),))
    counts = {"barriers": 0, "atomics": 0, "global_loads": 128, "exchanges": 16 * 128}
    counts["shared_loads_of_thread"] = 0
    assert limit_block_sum(counts | {"shared_requests": 2 * 28}, case) is None
    assert "57" in limit_block_sum(counts | {"shared_requests": 2 * 28 + 1}, case)
    counts["shared_requests"] = 2
    assert "129" in limit_block_sum(counts | {"global_loads": 129}, case)
    assert "2049" in limit_block_sum(counts | {"exchanges": 2049}, case)
    assert "28 in all for 64 threads" in STATEMENT.read_text("utf-8")
