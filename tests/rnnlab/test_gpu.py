"""Cards are read from nvidia-smi, and a package is believed when its kernel ran; here both are played."""

import pytest

from rnncourse.lab import doctor


@pytest.fixture
def nvidia_smi(tmp_path, monkeypatch):
    """Puts a program of that name on the path, which prints a text."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def put(text, status=0):
        program = tmp_path / "nvidia-smi"
        program.write_text(f"#!/bin/sh\necho '{text}'\nexit {status}\n")
        program.chmod(0o755)

    return put


def test_each_card_is_told_with_its_memory_and_driver(nvidia_smi):
    nvidia_smi("NVIDIA H200, 143771 MiB, 570.86.15\nTesla T4, 15360 MiB, 570.86.15")
    assert doctor.cards() == [
        "NVIDIA H200, 143771 MiB, driver 570.86.15",
        "Tesla T4, 15360 MiB, driver 570.86.15",
    ]


def test_no_program_or_one_that_fails_means_no_card_is_known(nvidia_smi):
    assert doctor.cards() == []
    nvidia_smi("No devices were found", status=6)
    assert doctor.cards() == []
    nvidia_smi("something else altogether")
    assert doctor.cards() == []


def test_a_program_that_runs_to_its_end_has_not_failed():
    assert doctor.trial_failure("pass") is None


def test_the_last_line_of_the_complaint_is_told():
    assert doctor.trial_failure("raise ImportError('libnvrtc.so.13 is missing')") == (
        "ImportError: libnvrtc.so.13 is missing"
    )
    assert doctor.trial_failure("import os; os._exit(7)") == "ended with status 7"


def test_a_program_that_never_answers_is_given_up(monkeypatch):
    monkeypatch.setattr(doctor, "TRIAL_SECONDS", 1)
    assert doctor.trial_failure("import time; time.sleep(60)") == "no answer within 1 s"


@pytest.mark.parametrize("program", doctor.TRIALS.values(), ids=doctor.TRIALS)
def test_each_trial_is_a_program(program):
    assert compile(program, "trial", "exec")
