"""Ranks as coroutines: what a program may be where no thread starts, and what it is told where it may not.

tests/ranks/test_simulated_ranks.py runs its programs in both ways.
"""

import traceback

import numpy as np
import pytest

from ranks import simulated_world
from ranks.simulated_ranks import RankError, run


@pytest.fixture(autouse=True)
def in_a_browser(monkeypatch):
    """No thread can be started."""
    monkeypatch.setattr(simulated_world, "in_browser", lambda: True)


class Neighbours:
    """A ring that a program sees as an object."""

    def __init__(self, comm):
        self.comm, self.seen = comm, []

    def passed_on(self, number, *, times=1):
        for _ in range(times):
            number = self.comm.sendrecv(
                number, (self.comm.rank + 1) % self.comm.size, source=(self.comm.rank - 1) % self.comm.size
            )
            self.seen.append(number)
        return number


class Doubled(Neighbours):
    """The same, with a method that calls the one above."""

    def passed_on(self, number, *, times=2):
        return 2 * super().passed_on(number, times=times)


def test_methods_with_defaults_and_those_above_them_may_wait():
    def program(comm):
        ring = Doubled(comm)
        return ring.passed_on(comm.rank), ring.seen

    assert run(3, program).results == [(2, [2, 1]), (4, [0, 2]), (0, [1, 0])]


def test_functions_within_closures_and_comprehensions_may_wait():
    def program(comm):
        added = []

        def add(number):
            added.append(comm.allreduce(number))
            return added[-1]

        sums = {f"{number}": add(number) for number in range(3) if number != 1}
        return sums, [[add(n) for n in range(k)] for k in (1, 2)], (lambda n: add(n) + 1)(5), len(added)

    assert run(2, program).results == [({"0": 0, "2": 4}, [[0], [0, 2]], 11, 6)] * 2


def test_a_rank_that_waits_in_a_block_keeps_its_settings_to_itself():
    def program(comm):
        with np.errstate(divide="raise" if comm.rank else "ignore"):
            comm.barrier()
            try:
                return comm.allreduce(float(np.float64(1) / np.float64(comm.rank - 1.0 * comm.rank)))
            except FloatingPointError:
                return comm.allreduce(0.0)
            finally:
                comm.barrier()

    assert run(3, program).results == [np.inf] * 3
    assert np.geterr()["divide"] != "raise"


def test_a_program_that_was_rewritten_names_its_own_line():
    def program(comm):
        comm.barrier()
        return {}["missing"]

    with pytest.raises(RankError, match=r"\b1\b.*KeyError.*missing") as caught:
        run(2, program)
    frames = traceback.extract_tb(caught.value.__cause__.__traceback__)
    lines = [frame.lineno for frame in frames if frame.name == "program"]
    assert lines == [program.__code__.co_firstlineno + 2]


def test_a_function_runs_as_it_is_where_others_run_it():
    def program(comm):
        longest = max(["a", "bbb", "cc"], key=lambda word: len(word))
        return comm.allgather(sorted(map(lambda n: -n, range(3)))), longest

    assert run(2, program).results == [([[-2, -1, 0]] * 2, "bbb")] * 2


@pytest.mark.parametrize(
    "program",
    [
        lambda comm: sum(comm.allreduce(1) for _ in range(2)),
        lambda comm: list(map(comm.allreduce, range(2))),
        eval("lambda comm: comm.allreduce(1)"),
    ],
)
def test_a_wait_that_no_text_shows_is_told_with_the_remedy(program):
    with pytest.raises(RankError, match="write a loop"):
        run(2, program)
