"""The measurement of the constants of the split: both ways are computed, and the choice stays as it was."""

import pytest

pytest.importorskip("numba", reason="install Numba: pip install --constraint constraints.txt numba")

from bench import split_constants
from rnnlab.kernels.packed import propagation, split


def test_both_ways_are_timed_and_the_choice_is_given_back(monkeypatch):
    seen, plan = [], propagation._plan

    def watched(*arguments):
        seen.append(plan(*arguments))
        return plan(*arguments)

    monkeypatch.setattr(propagation, "_plan", watched)
    timings = split_constants.both_ways("rnn_tanh", (2, 4, 3, 64), 2)
    assert set(timings) == {"sequences", "units"}
    assert {(len(shares), shares[0].waits) for shares in seen} == {(2, False), (2, True)}
    assert propagation.split is split.split


@pytest.mark.parametrize("cache_bytes", [2**19, 2**20, 2**21])
def test_rate_bandwidth_and_barrier_may_be_off_by_a_third_at_every_size_of_the_benchmark(cache_bytes):
    changes = split_constants.turned(2, cache_bytes)
    assert {change.constant for change in changes} <= {"CACHE_PART"}
    expected = {("gru", 128, 256), ("gru", 256, 256)} if cache_bytes == 2**20 else set()
    assert {(change.cell, *change.shape[2:]) for change in changes} == expected


def test_a_constant_that_is_far_off_is_found_with_what_it_costs():
    changes = split_constants.turned(2, 2**20, factors=(100,))
    barrier = [change for change in changes if change.constant == "BARRIER"]
    assert {change.way for change in barrier} == {"sequences"}
    assert max(change.loss for change in barrier) > 0.1
    assert split.BARRIER == 5e-6


@pytest.mark.slow
def test_constants_follow_from_four_timings():
    values, timings = split_constants.constants()
    assert set(timings) == {"small", "large", "free", "barrier"}
    assert 1e8 < values["RATE"] < 1e13
    assert values["BANDWIDTH"] > 0
    assert values["BARRIER"] >= 0
