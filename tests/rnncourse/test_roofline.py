"""The roofs are work over the best time; given the time, the rates are known."""

import numpy as np
import pytest

from rnncourse.lab import roofline


def test_the_roofs_meet_at_the_balance():
    roof = roofline.Roofline(peak=200.0, bandwidth=20.0)
    assert roof.balance == 10.0
    assert (roof.attainable(1.0), roof.attainable(10.0), roof.attainable(1000.0)) == (20.0, 200.0, 200.0)


def test_rates_are_work_over_the_best_time(monkeypatch):
    monkeypatch.setattr(roofline, "_best_time", lambda run, seconds: 0.5)
    assert roofline.gemm_rate(100, 200, 300) == pytest.approx(2 * 100 * 200 * 300 / 0.5 / 1e9)
    assert roofline.bandwidth(megabytes=8) == pytest.approx(4 * 8e6 / 0.5 / 1e9)


def test_the_best_of_several_runs_counts_and_the_first_does_not(monkeypatch):
    ticks = iter([0.0, 0.0, 1.0, 4.0, 4.0, 5.0, 7.0, 7.5, 99.0])
    monkeypatch.setattr(roofline.time, "perf_counter", lambda: next(ticks))
    runs = []
    best = roofline._best_time(lambda: runs.append(1), seconds=6.0)
    assert (best, len(runs)) == (2.0, 3)


def test_measuring_gives_positive_numbers(monkeypatch):
    monkeypatch.setattr(roofline, "SIZES", (16, 32))
    monkeypatch.setattr(roofline, "_too_large", lambda: 10**6)
    roof = roofline.measure(seconds=0.02)
    assert roof.peak > 0
    assert roof.bandwidth > 0


def test_no_larger_product_follows_one_that_outlasts_its_share(monkeypatch):
    sizes, rate = [], 0.1  # GFLOP/s, as in a browser: the first product takes 2.7 s, the last would take 72 s
    monkeypatch.setattr(roofline, "gemm_rate", lambda m, n, k, seconds: sizes.append(n) or rate)
    monkeypatch.setattr(roofline, "bandwidth", lambda seconds: 5.0)
    monkeypatch.setattr(roofline, "disturbance", lambda *measured: "")
    assert roofline.measure(seconds=1.5) == roofline.Roofline(0.1, 5.0)
    assert sizes == [roofline.SIZES[0]]
    rate = 1000.0
    assert roofline.measure(seconds=1.5).peak == 1000.0
    assert sizes[1:] == [*roofline.SIZES]


def test_every_number_is_added_once_however_the_cores_share_them(monkeypatch):
    sums = []
    add = lambda b, c, out: sums.append((len(out), np.all(b == 1), np.all(c == 1)))
    monkeypatch.setattr(roofline.np, "add", add)
    monkeypatch.setattr(roofline, "usable_cores", lambda: 3)
    monkeypatch.setattr(roofline, "_best_time", lambda run, seconds: run() and 1.0)
    assert roofline.bandwidth(megabytes=8) == pytest.approx(32e-3)
    assert sorted(sums) == [(333_333, True, True), (333_333, True, True), (333_334, True, True)]


def test_three_arrays_fit_no_cache(monkeypatch):
    for l3 in (0, 32 * 2**20, 480 * 2**20):
        monkeypatch.setattr(roofline, "caches", lambda l3=l3: {"L3": l3})
        assert 3 * roofline._too_large() > 1.4 * l3
