"""The doctor says what there is, what is missing, and the command that mends it."""

import json
from importlib.metadata import PackageNotFoundError

import pytest

from rnnlab.machine import doctor, driver, roofline
from rnnlab.machine.doctor import Finding, Report


def by_name(report):
    return {finding.name: finding for finding in report.findings}


def test_a_quick_report_names_the_machine_and_measures_nothing(monkeypatch):
    monkeypatch.setattr(doctor, "_speed", lambda: pytest.fail("measured"))
    found = by_name(doctor.report(measured=False))
    assert {"processor", "cores", "memory", "disk", "Python", "jupyterlab", "GPU", "sandbox"} <= found.keys()
    assert "BLAS" not in found


def test_a_full_report_has_measured_rates():
    found = by_name(doctor.report())
    for name, unit in (("BLAS", "GFLOP/s"), ("products", "GFLOP/s"), ("bandwidth", "GB/s")):
        assert unit in found[name].value


def test_a_missing_package_is_told_with_what_it_is_for_and_the_command(monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(doctor, "version", missing)
    found = doctor._package("ipywidgets", "moves the pictures")
    assert found == Finding("ipywidgets", "missing: it moves the pictures", "make lab")


def test_a_full_disk_and_a_folder_that_cannot_be_written_are_told(monkeypatch, tmp_path):
    assert "free some space" in doctor._disk(3 * 10**8).remedy
    assert doctor._disk(50 * 10**9).remedy is None
    monkeypatch.setattr(doctor.os, "access", lambda path, mode: False)
    assert doctor._writable(tmp_path).remedy == f"chmod u+w {tmp_path}"


@pytest.mark.parametrize(
    ("cuda", "words", "remedies"),
    [
        (None, "every lesson works without one", [None]),
        ((11, 4), "supports CUDA 11.4, too old", ["install a driver for CUDA 12"]),
    ],
)
def test_a_gpu_is_told_by_what_its_driver_supports(monkeypatch, cuda, words, remedies):
    monkeypatch.setattr(driver, "cuda_version", lambda: cuda)
    found = list(doctor._gpu())
    assert words in found[0].value
    assert [finding.remedy for finding in found] == remedies


def test_a_gpu_without_its_packages_sends_to_make_lab(monkeypatch):
    monkeypatch.setattr(driver, "cuda_version", lambda: (13, 0))
    found = {finding.name: finding for finding in doctor._gpu()}
    assert {"cupy-cuda13x", "numba-cuda"} <= found.keys()
    assert all(f.remedy in (None, "make lab") for f in found.values())


def test_too_few_blas_threads_are_blamed_on_the_variable(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    found = doctor._threads(1, 8)
    assert "1 of 8 usable cores, because" in found.value
    assert "OMP_NUM_THREADS=1" in found.value
    assert found.remedy.startswith("unset ")
    assert doctor._threads(8, 8).remedy is None


def test_a_report_marks_what_to_mend_without_relying_on_colour():
    report = Report((Finding("a", "fine"), Finding("b<c", "broken", "mend & go")))
    assert str(report) == (
        "  a    fine\n! b<c  broken\n       → mend & go\n\n"
        "1 thing to mend, marked with ! and followed by what to do."
    )
    page = report._repr_html_()
    assert "⚠" in page
    assert "b&lt;c" in page
    assert "mend &amp; go" in page
    assert json.loads(report.json())[1] == {"name": "b<c", "value": "broken", "remedy": "mend & go"}
    assert Report((Finding("a", "fine"),)).summary() == "Nothing needs mending."


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


def test_measuring_gives_positive_numbers():
    roof = roofline.measure(seconds=0.2)
    assert roof.peak > 0
    assert roof.bandwidth > 0
