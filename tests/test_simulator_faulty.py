"""Faulty kernels have their finding, sound kernels have none and compute what NumPy computes."""

import faulty_kernels
import numpy as np
import pytest
import sound_kernels
import strict_kernels
from simulated_kernels import CORRECT
from wrong_kernels import WRONG

from rnnlab import cuda


@pytest.mark.parametrize("name", faulty_kernels.CASES)
def test_a_faulty_kernel_has_its_finding_with_a_line_and_a_remedy(name):
    case = faulty_kernels.CASES[name]
    report = cuda.observe(case.kernel, case.grid, case.block, *case.arguments(), shared=case.shared)
    kinds = {finding.kind: finding for finding in report.findings}
    assert case.kind in kinds, report.findings
    first, code = kinds[case.kind], case.kernel.py_func.__code__
    assert first.line >= code.co_firstlineno
    assert len(first.message) > 40


@pytest.mark.parametrize("shuffle", [False, True], ids=["in order", "shuffled"])
@pytest.mark.parametrize("name", sound_kernels.CASES)
def test_a_sound_kernel_has_no_finding_and_the_result_of_numpy(name, shuffle):
    case = sound_kernels.CASES[name]
    arguments = case.arguments()
    expected = case.expected(*arguments)
    with cuda.settings(shuffle=shuffle):
        report = cuda.observe(case.kernel, case.grid, case.block, *arguments, shared=case.shared)
    assert report.findings == ()
    np.testing.assert_allclose(arguments[-1], expected, rtol=1e-5)


def test_there_are_as_many_kernels_of_both_kinds_as_the_simulator_is_held_against():
    strict = [name for name in vars(strict_kernels) if hasattr(vars(strict_kernels)[name], "py_func")]
    twins = [name for name in strict if name.endswith("_repaired")]
    assert len(faulty_kernels.CASES) + len(WRONG) + len(strict) - 2 * len(twins) >= 63
    assert len(sound_kernels.CASES) + len(CORRECT) + len(twins) >= 59
