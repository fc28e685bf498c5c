"""Simulated ranks: sums, clocks and findings of schedules as data and of programs that send messages."""

import threading

import numpy as np
import pytest
from values_in import holds

from ranks import simulated_world
from ranks.all_reduce import ring_all_reduce
from ranks.buffers import IN_PLACE
from ranks.costs import Link, all_reduce_seconds
from ranks.simulated_ranks import Deadlock, RankError, RankLost, call, run
from ranks.simulated_transfers import SCHEDULES, from_transfers, replay, ring, schedule

LINK = Link(1e-5, 1e-9)
each_way = pytest.mark.usefixtures("ranks_are")


@pytest.fixture(params=["threads", "coroutines"])
def ranks_are(request, monkeypatch):
    """What simulated ranks are; in a browser they are coroutines."""
    monkeypatch.setattr(simulated_world, "in_browser", lambda: request.param == "coroutines")
    return request.param


def edited_ring(ranks, edit):
    """Replay of a ring whose transfers (step, from, to, chunk) were edited."""
    transfers = [edit(transfer) for transfer in ring(ranks).transfers()]
    return replay(from_transfers(ranks, ranks, [t for t in transfers if t]), 8e3, LINK)


@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 8, 65])
def test_a_ring_as_transfers_is_the_ring(ranks):
    transfers = ring(ranks).transfers()
    assert len(transfers) == 2 * (ranks - 1) * ranks
    again, whole = edited_ring(ranks, lambda transfer: transfer), replay(ring(ranks), 8e3, LINK)
    assert not again.findings
    assert again.seconds == pytest.approx(whole.seconds)
    assert np.allclose(whole.traffic, 2 * (ranks - 1) / ranks * 8e3)


def test_chunks_that_are_followed_hold_what_real_numbers_would():
    numbers = np.random.default_rng(0).integers(1, 1000, (5, 5))
    array = numbers.copy()
    for step in ring(5).steps():
        moved = array[step.source, step.first]
        old = array[step.target, step.first]
        array[step.target, step.first] = np.where(step.adds, moved + old, moved)
    assert (array == numbers.sum(0)).all()
    assert not replay(ring(5), 8e3, LINK).findings


def test_a_chunk_that_is_reduced_twice_is_found_with_its_ranks():
    off = edited_ring(4, lambda t: (*t[:3], (t[3] + 1) % 4) if t[0] == 1 else t)
    assert "reduces it twice" in " ".join(off.findings)


def test_a_transfer_that_is_left_out_leaves_ranks_without_a_whole_sum():
    off = edited_ring(4, lambda t: None if t[:2] == (5, 2) else t)
    assert len(off.findings) == 1
    assert holds(off.findings[0], "3", "1", "0")


def test_a_sum_that_is_sent_before_it_is_complete_is_found():
    whole = ring(4)

    def steps():
        for number, step in enumerate(whole.steps()):
            yield step._replace(adds=step.adds & (number != 2))

    off = replay(type(whole)("early", 4, 4, steps), 8e3, LINK)
    assert holds(off.findings[0], "2", "0", "2", "1", "1")


def test_two_messages_of_a_rank_in_one_step_are_found():
    star = from_transfers(3, 1, [(0, 1, 0, 0), (0, 2, 0, 0)])
    assert holds(replay(star, 8, LINK).findings[0], "0", "0", "2")


@pytest.mark.parametrize("transfer", [(0, 4, 0, 0), (0, 0, 1, 4), (-1, 0, 1, 0)])
def test_a_transfer_of_a_rank_or_chunk_that_does_not_exist_is_refused(transfer):
    with pytest.raises(ValueError, match=r"\b0\b.*\b0\b.*\b3\b.*\b0\b.*\b3\b"):
        from_transfers(4, 4, [transfer])


@pytest.mark.parametrize("algorithm", SCHEDULES)
def test_a_thousand_ranks_and_more_take_the_time_of_the_formula(algorithm):
    many = replay(schedule(algorithm, 1500 if algorithm in ("ring", "one reducer") else 10_000), 8e6, LINK)
    assert not many.findings
    expected = all_reduce_seconds(algorithm, many.schedule.ranks, 8e6, LINK)
    assert many.seconds == pytest.approx(expected)


def test_sizes_of_a_replay_that_do_not_fit_are_named():
    with pytest.raises(ValueError, match="a link between nodes needs the ranks of a node"):
        replay(ring(4), 8, LINK, between=LINK)
    with pytest.raises(ValueError, match="'star'"):
        schedule("star", 4)


def ring_program(comm, data):
    """Ring all-reduce of data[rank], written with messages."""
    p, r = comm.size, comm.rank
    chunks = np.array_split(data[r].copy(), p)
    for s in range(p - 1):
        chunks[(r - s - 1) % p] += comm.sendrecv(chunks[(r - s) % p], (r + 1) % p, source=(r - 1) % p)
    for s in range(p - 1):
        chunks[(r - s) % p] = comm.sendrecv(chunks[(r + 1 - s) % p], (r + 1) % p, source=(r - 1) % p)
    return np.concatenate(chunks)


@each_way
@pytest.mark.parametrize("ranks", [2, 3, 7])
def test_a_program_of_messages_sums_like_a_collective_and_takes_as_long_as_the_formula(ranks):
    data = np.random.default_rng(ranks).normal(size=(ranks, 4 * ranks))
    rings = run(ranks, ring_program, data, link=LINK)
    for total in rings.results:
        np.testing.assert_allclose(total, data.sum(0), rtol=1e-12)
    assert rings.seconds == pytest.approx(all_reduce_seconds("ring", ranks, data[0].nbytes, LINK))
    sums = run(ranks, lambda comm: comm.allreduce(data[comm.rank]), link=LINK, algorithm="ring")
    assert sums.seconds == pytest.approx(rings.seconds)
    np.testing.assert_allclose(sums.results[0], data.sum(0), rtol=1e-12)


@each_way
def test_the_rings_of_real_ranks_run_on_simulated_ones_in_the_time_of_the_formula():
    numbers = np.random.default_rng(0).normal(size=(5, 20))

    def program(comm):
        array = numbers[comm.rank].copy()
        return ring_all_reduce(comm, array), array

    rings = run(5, program, link=LINK)
    assert [size for size, _ in rings.results] == [2 * 4 * 4 * 8] * 5
    for _, array in rings.results:
        np.testing.assert_allclose(array, numbers.sum(0), rtol=1e-12)
    assert rings.seconds == pytest.approx(all_reduce_seconds("ring", 5, 160, LINK))


@each_way
def test_two_runs_agree_to_the_last_bit_and_in_every_event():
    data = np.random.default_rng(0).normal(size=(5, 20)).astype("float32")
    first, second = (run(5, ring_program, data) for _ in range(2))
    assert first.events == second.events
    assert all(np.array_equal(a, b) for a, b in zip(first.results, second.results, strict=True))


@each_way
def test_five_hundred_ranks_sum_their_numbers():
    many = run(500, lambda comm: comm.allreduce(comm.rank))
    assert many.results == [500 * 499 // 2] * 500


@each_way
def test_ranks_that_wait_when_a_run_is_over_are_ended():
    before, ended = threading.active_count(), []

    def program(comm):
        try:
            comm.recv(source=2) if comm.rank < 2 else 1 / 0
        finally:
            ended.append(comm.rank)

    with pytest.raises(RankError):
        run(3, program)
    assert threading.active_count() == before
    assert sorted(ended) == [0, 1, 2]


def test_without_threads_the_error_says_what_a_rank_is(monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(RankError, match="thread"):
        run(2, lambda comm: comm.rank)


@each_way
def test_collectives_give_what_mpi_gives():
    def program(comm):
        total = np.empty(2)
        comm.Allreduce(np.full(2, comm.rank + 1.0), total)
        comm.Barrier()
        return total.tolist(), comm.bcast(comm.rank, 1), comm.gather(comm.rank, 2), comm.allgather(-comm.rank)

    results = run(3, program).results
    assert [r[0] for r in results] == [[6.0, 6.0]] * 3
    assert [r[1] for r in results] == [1, 1, 1]
    assert [r[2] for r in results] == [None, None, [0, 1, 2]]
    assert [r[3] for r in results] == [[0, -1, -2]] * 3


@each_way
def test_a_function_is_called_on_each_rank_with_its_own_arguments():
    results = call(lambda comm, number: comm.allreduce(number) - number, [{"number": n} for n in (1, 5, 9)])
    assert results == [14, 10, 6]


@each_way
def test_ranks_that_all_send_before_they_receive_deadlock():
    def program(comm):
        comm.send(comm.rank, (comm.rank + 1) % comm.size)
        return comm.recv(source=(comm.rank - 1) % comm.size)

    with pytest.raises(Deadlock, match=r"\b0\b.*\b1\b.*\b1\b.*\b2\b"):
        run(3, program)


@each_way
def test_a_rank_that_ended_is_named_in_the_deadlock_of_the_others():
    with pytest.raises(Deadlock, match=r"\b1\b.*\b0\b.*\b0\b"):
        run(2, lambda comm: comm.recv(source=0) if comm.rank else None)


@each_way
def test_a_gradient_that_changes_while_it_is_summed_is_found():
    def program(comm):
        gradient = np.zeros(3)
        total = np.empty(3)
        request = comm.Iallreduce(gradient, total)
        gradient[1] += 1
        request.wait()
        return total.tolist()

    early = run(2, program)
    assert early.results == [[0, 0, 0]] * 2
    assert holds(" ".join(early.findings), "0", "1", "3")


@each_way
def test_a_sum_beside_arithmetic_is_hidden_and_one_after_it_is_not():
    def program(comm, beside):
        request = comm.Iallreduce(IN_PLACE, np.zeros(1000)) if beside else None
        comm.compute(1.0)
        (request or comm.Iallreduce(IN_PLACE, np.zeros(1000))).wait()

    beside, after = (run(4, program, choice, link=LINK).seconds for choice in (True, False))
    assert beside == pytest.approx(1.0)
    assert after > 1.0


@each_way
@pytest.mark.parametrize(
    ("program", "message"),
    [
        (
            lambda comm: comm.allreduce(np.ones(2 + comm.rank)),
            r"\b0\b.*\(2,\).*\b1\b",
        ),
        (lambda comm: comm.bcast(1) if comm.rank else comm.allreduce(1), r"\b1\b.*bcast.*\b0\b"),
        (lambda comm: 1 / comm.rank, r"\b0\b.*ZeroDivisionError"),
        (lambda comm: comm.send(1, 9), r"send.*\b9\b.*\b0\b.*\b2\b"),
        (lambda comm: comm.compute(-1.0), "time only passes forward"),
    ],
)
def test_a_mistake_of_a_program_names_the_rank(program, message):
    with pytest.raises(RankError, match=message):
        run(3, program)


@each_way
def test_a_lost_rank_is_named_by_those_that_wait_for_it():
    with pytest.raises(RankLost, match=r"\b1\b.*\b0\b.*allreduce"):
        run(3, lambda comm: [comm.allreduce(1) for _ in range(5)], lost={1: 2})


@pytest.mark.parametrize("ranks", [0, -1, 2.0, True])
def test_a_count_of_ranks_that_makes_no_sense_is_named(ranks):
    with pytest.raises(ValueError, match="at least 1"):
        run(ranks, lambda comm: None)
    with pytest.raises(ValueError, match=r"\b3\b.*\b0\b.*\b1\b"):
        run(2, lambda comm: None, lost={3: 1})


def test_a_replay_says_which_ranks_hold_whole_sums():
    half = ring(4)
    steps = half.steps
    half = type(half)("reduce-scatter", 4, 4, lambda: list(steps())[:3])
    whole = replay(half, 8e3, LINK).whole
    assert whole.tolist() == np.roll(np.eye(4, dtype=bool), 1, axis=1).tolist()
