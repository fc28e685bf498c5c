"""A variable that overrides OpenBLAS's choice of kernels is named before its harm is done."""

import sys

import pytest
from values_in import holds

from rnncourse.lab import blas, crowd, doctor, roofline

PRESCOTT = {"OPENBLAS_CORETYPE": "Prescott"}


def test_a_variable_that_is_set_is_named_with_its_value_and_taken_away():
    environment = PRESCOTT | {"OPENBLAS_L2_SIZE": "1", "HOME": "/home/ada"}
    assert holds(blas.warning(environment), "OPENBLAS_CORETYPE=Prescott", "OPENBLAS_L2_SIZE=1")
    assert blas.without_overrides(environment) == {"HOME": "/home/ada"}


def test_without_such_a_variable_nothing_is_said():
    assert blas.warning({"HOME": "/home/ada"}) == ""


def test_a_numpy_that_does_not_load_is_described(monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert blas.describe_library().startswith("NumPy does not load: ")


def test_the_doctor_says_how_to_mend_it_and_multiplies_nothing_meanwhile(monkeypatch):
    for name, value in PRESCOTT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(crowd, "others_part", lambda: 0.0)
    monkeypatch.setattr(roofline, "measure", lambda: pytest.fail("multiplied"))
    (finding,) = doctor._speed()
    assert holds(finding.value, "OPENBLAS_CORETYPE=Prescott")
    assert finding.remedy == "unset OPENBLAS_CORETYPE"
