"""The comparison with Numba's simulator: the same kernel, a right result, and a table of both."""

import numpy as np
import pytest

from bench import simulator_speed


def test_what_is_timed_has_computed_the_product(monkeypatch):
    assert simulator_speed.seconds("pocketgpu.simulator", 16, checks=False) > 0
    monkeypatch.setattr(simulator_speed, "tiled_matmul", lambda A, B, C: None)
    with pytest.raises(AssertionError):
        simulator_speed.seconds("pocketgpu.simulator", 16, checks=False)


@pytest.mark.slow
def test_the_kernel_runs_unchanged_in_both(monkeypatch):
    monkeypatch.setattr(simulator_speed, "SIZE", 8)
    assert simulator_speed.numbas_seconds() > 0


def test_the_table_says_how_many_times_faster(monkeypatch, capsys):
    monkeypatch.setattr(simulator_speed, "numbas_seconds", lambda: 4.0)
    seconds = {True: 0.1, False: 0.02}  # s, with checks and without
    slower = {True: 1, False: 10}  # times, one thread after another
    monkeypatch.setattr(
        simulator_speed,
        "seconds",
        lambda module, size, checks, lockstep=True: seconds[checks] * slower[lockstep],
    )
    simulator_speed.main(["--rounds", "1"])
    text = capsys.readouterr().out
    assert np.all(
        [
            entry in text
            for entry in ("4000.0 ms", "100.0 ms    40.0 ×", "20.0 ms   200.0 ×", "1000.0 ms     4.0 ×")
        ]
    )
