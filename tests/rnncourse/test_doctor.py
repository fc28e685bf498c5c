"""The doctor says what there is, what is missing, and the command that mends it."""

import json
from importlib.metadata import PackageNotFoundError
from types import SimpleNamespace

import pytest
from values_in import holds

from nbjudge.running import sandbox
from rnncourse.cli import main
from rnncourse.lab import crowd, doctor, driver
from rnncourse.lab.doctor import Diagnosis, DoctorReport

GIB = 2**30


def by_name(report):
    return {finding.name: finding for finding in report.findings}


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    """No other program uses the cores."""
    monkeypatch.setattr(crowd, "others_part", lambda: 0.0)


def test_a_quick_report_names_the_machine_and_measures_nothing(monkeypatch):
    monkeypatch.setattr(doctor, "_speed", lambda: pytest.fail("measured"))
    result = by_name(doctor.report(measured=False))
    text = "processor cores caches memory disk Python BLAS jupyterlab ipywidgets GPU sandbox".split()
    assert not {*text} - result.keys()
    assert not {"products", "peak", "bandwidth"} & result.keys()


@pytest.mark.slow
def test_a_full_report_has_measured_rates():
    result = by_name(doctor.report())
    for name, unit in (("peak", "GFLOP/s"), ("bandwidth", "GB/s")):
        assert unit in result[name].value


def missing(name):
    raise PackageNotFoundError(name)


def test_packages_of_another_system_are_told_with_the_command(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/opt/ros/lib")
    monkeypatch.delenv("PYTHONHOME", raising=False)
    findings = {finding.name: finding for finding in doctor._python()}
    assert findings["PYTHONPATH"].value.startswith("/opt/ros/lib: ")
    assert findings["PYTHONPATH"].remedy == "unset PYTHONPATH"
    assert "PYTHONHOME" not in findings


def test_the_doctor_says_where_answers_and_progress_are_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("RNNLAB_HOME", str(tmp_path))
    findings = {finding.name: finding for finding in doctor._machine()}
    assert findings["your progress"].value == f"kept in {tmp_path}"
    assert findings["your answers"].value == f"kept in {doctor.ROOT / 'work'}"
    monkeypatch.setattr(doctor, "ROOT", tmp_path)
    assert "not a clone of the course" in doctor._writable(tmp_path).value


def test_a_missing_package_is_told_with_what_it_is_for_and_the_command(monkeypatch):
    monkeypatch.setattr(doctor, "version", missing)
    result = doctor._package("ipywidgets", "moves the pictures")
    assert (result.name, result.remedy) == ("ipywidgets", "make lab")
    assert "moves the pictures" in result.value


def test_a_full_disk_and_a_folder_that_cannot_be_written_are_told(monkeypatch, tmp_path):
    assert str(tmp_path) in doctor._disk(3 * 10**8, tmp_path).remedy
    assert doctor._disk(50 * 10**9, tmp_path).remedy is None
    monkeypatch.setattr(doctor.os, "access", lambda path, mode: False)
    assert doctor._writable(tmp_path).remedy == f"chmod u+w {tmp_path}"


def test_a_containers_limit_of_memory_is_told():
    memory = SimpleNamespace(total=64 * GIB, available=32 * GIB)
    assert holds(doctor._memory(memory, 4 * GIB).value, "64", "32", "4.0")
    assert doctor._memory(memory, float("inf")).value == "64 GiB, 32 GiB free"


@pytest.mark.parametrize(
    ("cuda", "message", "remedies"),
    [
        (None, "every lesson works without one", [None]),
        ((11, 4), "supports CUDA 11.4, too old", ["install a driver for CUDA 12 or newer"]),
    ],
)
def test_a_gpu_is_told_by_what_its_driver_supports(monkeypatch, cuda, message, remedies):
    monkeypatch.setattr(driver, "cuda_version", lambda: cuda)
    result = list(doctor._gpu(measured=True))
    assert message in result[0].value
    assert [finding.remedy for finding in result] == remedies


@pytest.fixture
def card(monkeypatch):
    """A machine with a card whose driver supports CUDA 13, and no package for it."""
    monkeypatch.setattr(driver, "cuda_version", lambda: (13, 0))
    monkeypatch.setattr(doctor, "cards", lambda: ["NVIDIA T4, 15360 MiB, driver 580.1"])
    monkeypatch.setattr(doctor, "version", lambda name: packages[name])
    packages = {"cupy-cuda13x": "14.2.0", "numba-cuda": "0.30"}
    return packages


def test_a_gpu_is_told_with_what_runs_on_it(monkeypatch, card):
    monkeypatch.setattr(doctor, "trial_failure", lambda program: None)
    result = list(doctor._gpu(measured=True))
    assert [finding.value for finding in result] == [
        "NVIDIA T4, 15360 MiB, driver 580.1, supports CUDA 13.0",
        "14.2.0, runs a kernel",
        "0.30, runs a kernel",
    ]


def test_a_package_that_is_there_but_runs_no_kernel_is_told_with_the_error(monkeypatch, card):
    monkeypatch.setattr(
        doctor, "trial_failure", lambda program: "ImportError: libnvrtc" if "cupy" in program else None
    )
    _, cupy, numba_cuda = doctor._gpu(measured=True)
    assert holds(cupy.value, "14.2.0", "ImportError", "libnvrtc")
    assert "--force-reinstall" in cupy.remedy
    assert cupy.remedy.endswith("cupy-cuda13x==14.2.0")
    assert numba_cuda.remedy is None


def test_a_quick_look_runs_nothing_on_the_gpu(monkeypatch, card):
    monkeypatch.setattr(doctor, "trial_failure", lambda program: pytest.fail("ran a kernel"))
    assert [finding.remedy for finding in doctor._gpu(measured=False)] == [None] * 3


def test_a_gpu_without_its_packages_sends_to_make_lab(monkeypatch):
    monkeypatch.setattr(driver, "cuda_version", lambda: (12, 4))
    monkeypatch.setattr(doctor, "cards", list)
    monkeypatch.setattr(doctor, "version", missing)
    result = {finding.name: finding.remedy for finding in doctor._gpu(measured=True)}
    assert result == {"GPU": None, "cupy-cuda12x": "make lab", "numba-cuda": "make lab"}


def test_a_report_marks_what_to_mend_without_relying_on_colour():
    report = DoctorReport((Diagnosis("a", "fine"), Diagnosis("b<c", "broken", "mend & go")))
    assert str(report) == (
        "  a    fine\n! b<c  broken\n       → mend & go\n\n"
        "1 thing to mend, marked with ! and followed by what to do."
    )
    page = report._repr_html_()
    assert "⚠" in page
    assert "b&lt;c" in page
    assert "mend &amp; go" in page
    assert json.loads(report.json())[1] == {"name": "b<c", "value": "broken", "remedy": "mend & go"}
    assert DoctorReport((Diagnosis("a", "fine"),)).summary() == "Nothing needs mending."


def test_the_command_prints_for_people_and_as_json_for_programs(monkeypatch, capsys):
    monkeypatch.setattr(
        doctor, "report", lambda measured: DoctorReport((Diagnosis("measured", str(measured)),))
    )
    assert main(["doctor"]) == 0
    assert capsys.readouterr().out == "  measured  True\n\nNothing needs mending.\n"
    assert main(["doctor", "--json", "--quick"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"name": "measured", "value": "False", "remedy": None}]


def test_the_doctor_says_of_the_sandbox_what_grade_would_say(monkeypatch):
    monkeypatch.setattr(
        sandbox, "_why_not_bubblewrap", lambda: "bubblewrap does not work here: not permitted"
    )
    (result,) = doctor._tools()
    assert holds(result.value, "not permitted")
    monkeypatch.setattr(sandbox, "_why_not_bubblewrap", lambda: "")
    (result,) = doctor._tools()
    assert result.value.startswith("bubblewrap: ")
