"""The measurement of the constants of the split: both ways are computed, and the choice stays as it was."""

import pytest

pytest.importorskip("numba", reason="install Numba: pip install --constraint constraints.txt numba")

from bench import split_constants
from rnnlab.kernels.packed import passes, split


def test_both_ways_are_timed_and_the_choice_is_given_back(monkeypatch):
    seen, plan = [], passes._plan

    def watched(*arguments):
        seen.append(plan(*arguments)[1])
        return plan(*arguments)

    monkeypatch.setattr(passes, "_plan", watched)
    timings = split_constants.both_ways("rnn_tanh", (2, 4, 3, 64), 2)
    assert set(timings) == {"sequences", "units"}
    assert {(len(shares), shares[0].waits) for shares in seen} == {(2, False), (2, True)}
    assert passes.split is split.split


@pytest.mark.slow
def test_constants_follow_from_four_timings():
    values, timings = split_constants.constants()
    assert set(timings) == {"small", "large", "free", "barrier"}
    assert 1e8 < values["RATE"] < 1e13
    assert values["BANDWIDTH"] > 0
    assert values["BARRIER"] >= 0
