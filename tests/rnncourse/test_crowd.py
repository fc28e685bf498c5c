"""Other programs on the cores are told before the numbers that they spoil."""

import os

import pytest

from rnncourse import cli
from rnncourse.lab import blas, crowd, doctor


@pytest.mark.parametrize(("percents", "allowed", "part"), [
    ([100.0, 100.0], {0, 1}, 1.0), ([0.0, 80.0], {0, 1}, 0.4), ([0.0, 80.0], {0}, 0.0), ([30.0], {7}, 0.3),
])  # fmt: skip
def test_only_cores_that_this_process_may_use_count(monkeypatch, percents, allowed, part):
    monkeypatch.setattr("psutil.cpu_percent", lambda seconds, percpu: percents)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: allowed, raising=False)
    assert crowd.others_part() == pytest.approx(part)
    assert bool(crowd.warning(part)) == (part > crowd.CROWDED)


def test_a_browser_is_never_crowded(monkeypatch):
    monkeypatch.setattr(crowd, "in_browser", lambda: True)
    assert crowd.others_part() == 0


@pytest.mark.parametrize("part", [0.0, 0.95])
def test_the_doctor_says_first_that_others_use_the_cores(monkeypatch, part):
    monkeypatch.setattr(crowd, "others_part", lambda: part)
    monkeypatch.setattr(blas, "warning", str)
    monkeypatch.setattr(doctor, "_roofs", lambda: [doctor.Diagnosis("peak", "1 GFLOP/s")])
    findings = [*doctor._speed()]
    assert [finding.name for finding in findings] == ["other programs"] * bool(part) + ["peak"]
    assert doctor.DoctorReport(tuple(findings)).summary().startswith("1 thing" if part else "Nothing")
    assert not part or "95%" in findings[0].value


@pytest.mark.parametrize(
    ("command", "runs"),
    [("cpu", "bench.cpu_run.run"), ("cmu", "bench.cmu_workload.run"), ("gpu", "bench.gpu.command.run")],
)
def test_a_benchmark_says_it_before_its_numbers(monkeypatch, capsys, command, runs):
    monkeypatch.setattr(crowd, "others_part", lambda: 0.95)
    monkeypatch.setattr(runs, lambda chosen: print("numbers") or 0)
    assert cli.main(["bench", command]) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert "95%" in first
    assert last == "numbers"
