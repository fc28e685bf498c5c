"""Faulty kernels have their finding, sound kernels have none and compute what NumPy computes."""

import inspect

import faulty_kernels
import numpy as np
import pytest
import right_kernels_of_learners
import sound_kernels
import strict_kernels
import wrong_kernels_of_learners
from numpy.lib.recfunctions import structured_to_unstructured
from simulated_kernels import CORRECT
from values_in import holds
from wrong_kernels import WRONG

from pocketgpu import cuda
from pocketgpu.simulator import strict

ORDERS = pytest.mark.parametrize(
    "shuffle", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["in order", "shuffled"]
)


@pytest.mark.parametrize("name", faulty_kernels.CASES)
def test_a_faulty_kernel_has_its_finding_with_a_line_and_a_remedy(name):
    case = faulty_kernels.CASES[name]
    report = cuda.observe(case.kernel, case.grid, case.block, *case.arguments(), shared=case.shared)
    kinds = {finding.kind: finding for finding in report.findings}
    assert case.kind in kinds, report.findings
    first = kinds[case.kind]
    text, begin = inspect.getsourcelines(case.kernel.py_func)
    places = [number for number, line in enumerate(text, begin) if line.endswith("# here\n")]
    assert first.line in (places or range(begin, begin + len(text)))
    assert len(first.message) > 40
    assert holds(first.message, *case.says)


def plain(array):
    """The numbers of an array or of its records."""
    return structured_to_unstructured(array) if array.dtype.names else array


@ORDERS
@pytest.mark.parametrize("name", sound_kernels.CASES)
def test_a_sound_kernel_has_no_finding_and_the_result_of_numpy(name, shuffle):
    case = sound_kernels.CASES[name]
    for checks in (True, False):
        arguments = case.arguments()
        expected = plain(case.expected(*arguments))
        with cuda.settings(shuffle=shuffle, checks=checks):
            if checks:
                report = cuda.observe(case.kernel, case.grid, case.block, *arguments, shared=case.shared)
                assert report.findings == ()
            else:
                case.kernel[case.grid, case.block, 0, case.shared](*arguments)
        tolerance = 1e-5 if expected.dtype.kind in "fc" else 0
        np.testing.assert_allclose(plain(arguments[-1]), expected, rtol=tolerance)


def _findings(case, arguments):
    """(kind, message) of what the compiler refuses, and of what the launch does wrong."""
    launch = case.kernel, case.grid, case.block, *arguments
    try:
        refused = case.kind in ("does_not_compile", "float64") and strict.check(case.kernel, *arguments)
        findings = refused or cuda.observe(*launch, shared=case.shared).findings
    except (ValueError, TypeError) as refusal:
        return [("refused", str(refusal))]
    return [(finding.kind, finding.message) for finding in findings]


@pytest.mark.parametrize("kind", sorted({case.kind for case in wrong_kernels_of_learners.CASES.values()}))
def test_wrong_kernels_of_learners_have_their_finding_and_a_remedy_that_fits(kind):
    cases = {name: case for name, case in wrong_kernels_of_learners.CASES.items() if case.kind == kind}
    missed = {}
    for name, case in cases.items():
        findings = _findings(case, case.arguments())
        if not any(kind == one and case.message in message for one, message in findings):
            missed[name] = findings
    assert missed == {}


@ORDERS
@pytest.mark.slow
def test_right_kernels_of_learners_have_no_finding_and_the_result_of_numpy(shuffle):
    for name, case in right_kernels_of_learners.CASES.items():
        arguments, (place, expected) = case.arguments(), case.expected
        assert strict.check(case.kernel, *arguments) == (), name
        with cuda.settings(shuffle=shuffle):
            report = cuda.observe(case.kernel, case.grid, case.block, *arguments, shared=case.shared)
        assert report.findings == (), name
        result = np.asarray(getattr(arguments[place], "_ary", arguments[place]))
        np.testing.assert_allclose(result, expected(*case.arguments()), rtol=1e-4, atol=1e-5, err_msg=name)


def test_there_are_as_many_kernels_of_both_kinds_as_the_simulator_is_held_against():
    strict = [name for name in vars(strict_kernels) if hasattr(vars(strict_kernels)[name], "py_func")]
    twins = [name for name in strict if name.endswith("_repaired")]
    wrong = faulty_kernels.CASES | wrong_kernels_of_learners.CASES
    right = sound_kernels.CASES | right_kernels_of_learners.CASES
    assert len(wrong) + len(WRONG) + len(strict) - 2 * len(twins) >= 170
    assert len(right) + len(CORRECT) + len(twins) >= 135
