"""Benchmarks keep their promises; how fast anything is, no test says."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from values_in import holds

import bench.gru_variants
from rnncourse.lab import gru_variants, turns
from rnncourse.lab.gru_variants import Case
from rnncourse.lab.turns import Timing, disturbance, take_turns, verdict


def test_candidates_take_turns_after_one_run_to_warm_up():
    runs, ticks = [], iter(range(100))
    timings = take_turns({name: lambda n=name: runs.append(n) for name in "ab"}, 3, clock=lambda: next(ticks))
    assert "".join(runs) == "ab" + "ab" + "ba" + "ab"
    assert timings["a"].seconds == (1, 1, 1)


@pytest.mark.parametrize(("spinning", "looks"), [(0.0, 1), (0.05, 6), (math.inf, 30)])
def test_a_settled_turn_begins_when_other_threads_have_stopped_or_for_too_long_have_not(
    monkeypatch, spinning, looks
):
    clock, runs = SimpleNamespace(now=0.0, sleeps=0), []

    def sleep(seconds):
        clock.now, clock.sleeps = clock.now + seconds, clock.sleeps + 1

    monkeypatch.setattr(turns.time, "sleep", sleep)
    monkeypatch.setattr(turns.time, "process_time", lambda: min(clock.now, spinning - 1e-9))
    take_turns({"a": lambda: runs.append(clock.sleeps)}, 2, settled=True)
    again = looks if spinning == math.inf else 1  # at the second round nothing spins any longer
    assert runs == [0, looks, looks, looks + again, looks + again]  # to warm up; untimed and timed, twice


@pytest.mark.parametrize(("browser", "least", "rounds"), [(False, 2, 5), (True, 2, 2), (True, 4, 4)])
def test_rounds_that_take_long_are_fewer_in_a_browser(monkeypatch, browser, least, rounds):
    monkeypatch.setattr(turns, "in_browser", lambda: browser)
    ticks = iter(range(0, 1000, 20))
    timings = take_turns(dict.fromkeys("ab", lambda: None), 5, clock=lambda: next(ticks), least=least)
    assert timings["a"].seconds == timings["b"].seconds == (20,) * rounds


def test_a_timing_is_told_by_median_and_quartiles():
    timing = Timing((5.0, 1.0, 2.0, 3.0, 100.0))
    assert timing.median == 3.0
    assert timing.spread == (1.5, 52.5)


def test_a_spread_above_the_median_is_reported_with_its_name():
    calm, disturbed = Timing((1.0, 1.1, 1.2, 1.3, 9.0)), Timing((1.0, 1.0, 2.0, 5.0, 9.0))
    assert disturbance({"calm": Timing((1.0, 1.1, 1.2))}) == ""
    sentence = disturbance({"calm": Timing((1.0, 1.1, 1.2)), "busy": disturbed})
    assert holds(sentence, "300")
    crowded = disturbance({"steady": Timing((3.0, 3.1, 3.2), load=4.5)})
    assert holds(crowded, "4.5")
    assert calm.relative_spread > 1  # one stray run among five moves a quartile
    assert (verdict(True), verdict(False)) == ("holds", "does NOT hold")
    assert {verdict(holds, sentence).split(" (")[0] for holds in (True, False)} == {"is undecided"}


def test_one_round_is_no_measurement():
    with pytest.raises(ValueError, match=r"rounds is 1.*2"):
        take_turns({"a": lambda: None}, rounds=1)


def test_speed_is_relative_to_the_first_variant_and_rates_count_the_same_work():
    timings = {rung.name: Timing((2.0 / k,) * 2) for k, rung in enumerate(gru_variants.VARIANTS, 1)}
    case = Case(hidden_size=10, minibatch=4, T=5, timings=timings)
    assert case.relative_speed() == [1, 2, 3, 4, 5]
    assert case.gflops()[0] == pytest.approx(1e-9 * 3 * 2 * (30 * 20) * 20 / 2)


def test_all_five_variants_are_measured_at_every_size():
    text = []
    cases = gru_variants.measure([4, 6], [1, 3], T=2, rounds=2, tell=text.append)
    assert [(case.hidden_size, case.minibatch) for case in cases] == [(4, 1), (4, 3), (6, 1), (6, 3)]
    assert text == cases
    assert all(len(case.relative_speed()) == 5 for case in cases)
    assert all(np.isfinite(case.relative_speed()).all() for case in cases)


def test_no_size_follows_one_that_took_too_long(monkeypatch):
    monkeypatch.setattr(gru_variants, "LONGEST", 0.0)
    assert [case.hidden_size for case in gru_variants.measure([4, 6, 8], [1], T=2, rounds=2)] == [4]


def test_a_variant_with_wrong_numbers_is_not_timed(monkeypatch):
    rung = gru_variants.VARIANTS[-1].module
    right = rung.backward
    monkeypatch.setattr(rung, "backward", lambda *a: (right(*a)[0] * 1.001, *right(*a)[1:]))
    with pytest.raises(ValueError, match=r"gru_batched_recompute.*1\.0e-03"):
        gru_variants.measure([4], [2])


def test_the_published_table_is_the_posts():
    assert gru_variants.PUBLISHED[1024] == (1, 1.153, 1.274, 1.395)
    assert max(row[3] for row in gru_variants.PUBLISHED.values()) == 1.395  # "up to 40 %"


def test_the_command_measures_every_size_of_the_posts_figures(monkeypatch, capsys):
    timings = {rung.name: Timing((2.0 / k,) * 2) for k, rung in enumerate(gru_variants.VARIANTS, 1)}

    def measure(hidden_sizes, minibatches, T, tell):
        for H in hidden_sizes:
            for B in minibatches:
                tell(Case(H, B, T, timings))

    monkeypatch.setattr(bench.gru_variants, "measure", measure)
    bench.gru_variants.main()
    rows = capsys.readouterr().out.splitlines()[2:]
    assert [row.split()[:2] for row in rows[:2]] == [["128", "8"], ["128", "16"]]
    assert len(rows) == 25
    assert rows[0].split()[2:7] == ["1.00", "2.00", "3.00", "4.00", "5.00"]
