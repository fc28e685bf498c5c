"""Gradients of real ranks are those of one process, for any split, and the same bits every time."""

import numpy as np
import pytest
from values_in import holds

from nbjudge.authoring.course import ROOT
from ranks import launch
from ranks.all_reduce import chunk_slices, pack, unpack
from ranks.call import call_on_ranks
from ranks.faults import RankFailure
from rnnlab.compare import TOLERANCES
from rnnlab.scaling.overlap import Interval, RankResult, Step, rows, table

REASON = launch.why_not()
real_ranks = pytest.mark.skipif(REASON is not None, reason=str(REASON))
PROGRAMS = (ROOT / "tests/fixtures/rank_programs.py").read_text(encoding="utf-8")


def call(name, ranks, **options):
    return call_on_ranks(PROGRAMS, [{}] * ranks, name=name, **options)


def test_chunks_cover_an_array_once_and_may_be_empty():
    for size in (0, 1, 3, 10, 11):
        slices = chunk_slices(size, 4)
        assert np.concatenate([np.arange(size)[chunk] for chunk in slices]).tolist() == list(range(size))
        assert max(c.stop - c.start for c in slices) - min(c.stop - c.start for c in slices) <= 1


def test_arrays_come_back_from_the_vector_that_carries_them():
    arrays = [np.arange(6.0).reshape(2, 3), np.arange(2.0), np.array(7.0)]
    flat = pack(arrays)
    assert all(map(np.array_equal, unpack(flat, [array.shape for array in arrays]), arrays))


@pytest.fixture(scope="module")
def comparisons():
    """What four ranks found out, one result a rank; starting them is what takes time."""
    return call("compare", ranks=4, seconds=120)


@real_ranks
@pytest.mark.slow
def test_any_split_over_one_to_four_ranks_gives_the_gradients_of_one_process(comparisons):
    """Zero sequences on a rank, chunks, steps that do not count, sums in the background and afterwards."""
    for result in comparisons:
        assert result["float32"] < TOLERANCES["float32"].gradient
        assert result["float64"] < 1e-13
        assert result["average"] < 1e-13
        assert result["again"], "two runs differ"
        assert result["one rank"], "one rank is not, bit for bit, the loop without ranks"


@real_ranks
def test_the_ring_gives_the_sums_of_mpi_and_sends_less_than_two_arrays(comparisons):
    for result in comparisons:
        assert result["exact"]
        assert result["worst"] < 1e-14
        for ranks, size, volume in result["sent"]:
            whole = 2 * (ranks - 1) / ranks * size * 8
            assert abs(volume - whole) <= 2 * 8 * (ranks - 1)  # chunks differ by one number


@real_ranks
@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("fail_on_rank_1", "rank 1 failed: KeyError: 'weight_hh_l7'"),
        pytest.param(
            "wait_for_ever", r"did not end within 1 s: the last one is rank [01]", marks=pytest.mark.slow
        ),
        pytest.param(
            "end_without_a_word", r"rank 1 ended (with status 5|without a word)", marks=pytest.mark.slow
        ),
    ],
)
@pytest.mark.slow
def test_a_function_that_hangs_or_fails_on_one_rank_ends_all_with_one_sentence(program, message):
    with pytest.raises(RankFailure, match=message):
        call(program, ranks=2, seconds=1 if program == "wait_for_ever" else 60)


def test_a_sum_is_hidden_as_far_as_it_ran_during_the_backward_pass():
    backward = RankResult(0.0, start=10.0, end=10.4)
    across, after = Interval("layer 1", 8, 10.1, 10.2, 10.5), Interval("layer 0", 8, 10.4, 10.45, 10.7)
    step = Step(backward, [after, across])
    first, second = rows([step, step])
    assert (first.name, second.name) == ("layer 1", "layer 0")  # in the order in which they were complete
    assert first[2:] == pytest.approx((100, 500, 200, 100))
    assert second[2:] == pytest.approx((400, 700, 0, 250))
    assert step.exposed == pytest.approx(0.3)
    assert holds(table([step]), "300.00")
