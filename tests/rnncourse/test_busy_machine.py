"""A measurement on a busy machine says so: the large product, the roofs, the quickest rung."""

import os

import numpy as np
import pytest

from rnncourse import scoreboard
from rnncourse.lab import roofline
from rnnlab import Network, fastest


@pytest.fixture(params=["quiet", "busy"])
def busy(request, monkeypatch, tmp_path):
    """A machine on which nothing else runs, or on which seven threads wait for each core."""
    monkeypatch.setenv("RNNLAB_HOME", str(tmp_path))
    load = 7.0 * (os.cpu_count() or 1) if request.param == "busy" else 0.1
    monkeypatch.setattr(os, "getloadavg", lambda: (load, load, load))
    return request.param == "busy"


def test_the_large_product_is_marked(busy, capsys):
    scoreboard.measure_product(0.02)
    (row,) = scoreboard.rows()
    assert row.disturbed is busy
    assert ("7.0 threads" in capsys.readouterr().out) is busy


def test_the_roofs_say_so(busy):
    assert bool(roofline.measure(0.05).disturbed) is busy


def test_the_choice_of_a_rung_says_so(busy):
    choice = fastest(Network.create("min_gru", 3, 4), np.ones((3, 2, 3), "float32"), gradients=False)
    assert ("threads for each core" in choice.disturbed) is busy
    assert ("7.0 threads" in str(choice)) is busy
