"""Threads at barriers: hand-made cases, laws every picture keeps, and a picture in time."""

import numpy as np
import pytest
from values_in import holds

from rnncourse.views import thread_timeline as view


def test_even_shares_and_free_barriers_give_the_number_of_threads():
    for run in (view.barrier_every_step, view.barrier_once):
        assert run(4, 8, 0.0, 0).makespan == pytest.approx(8 * view.STEP / 4)
        assert run(4, 8, 0.0, 0).working == pytest.approx(1)


def test_even_shares_pay_for_each_barrier():
    assert view.barrier_every_step(2, 10, 5.0, 0).makespan == pytest.approx(10 * (50 + 5))
    assert view.barrier_once(2, 10, 5.0, 0).makespan == pytest.approx(10 * 50 + 5)


@pytest.mark.parametrize("threads", view.THREADS)
@pytest.mark.parametrize("uneven", view.UNEVEN)
def test_barrier_once_is_never_slower_and_nobody_works_twice_at_a_time(threads, uneven):
    often, once = (f(threads, 16, 10.0, uneven) for f in (view.barrier_every_step, view.barrier_once))
    assert once.makespan <= often.makespan + 1e-9
    for run in (often, once):
        assert (run.starts[:, 1:] >= run.ends[:, :-1] - 1e-9).all()
        np.testing.assert_allclose((run.ends - run.starts).sum(), view.work(threads, 16, uneven).sum())


def test_one_thread_waits_for_nobody():
    assert view.barrier_every_step(1, 4, 50.0, 0).makespan == view.barrier_once(1, 4, 50.0, 0).makespan == 400


def test_the_finding_states_both_speeds():
    assert holds(view.finding(2, 10, 5, 0), "2", "10", "5", "10", "1.82")


def test_work_waits_and_barriers_make_up_all_the_time_until_the_end():
    often, once = view.barrier_every_step(4, 8, 10.0, 40), view.barrier_once(4, 8, 10.0, 40)
    assert often.working + often.waiting + 8 * 10 / often.makespan == pytest.approx(1)
    assert once.working + once.waiting + 10 / once.makespan == pytest.approx(1)


def test_two_uneven_threads_wait_as_counted_by_hand(monkeypatch):
    monkeypatch.setattr(view, "work", lambda *_: np.array([[3.0, 1.0], [1.0, 3.0]]))
    often, once = view.barrier_every_step(2, 2, 1.0, 0), view.barrier_once(2, 2, 1.0, 0)
    assert (often.makespan, often.waiting) == (8.0, pytest.approx(4 / 16))  # steps of 3, each released for 1
    assert (once.makespan, once.waiting) == (5.0, 0.0)  # 3 + 1 and 1 + 3: both are ready at 4
