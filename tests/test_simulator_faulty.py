"""Faulty kernels have their finding, sound kernels have none and compute what NumPy computes."""

import time

import faulty_kernels
import numpy as np
import pytest

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
