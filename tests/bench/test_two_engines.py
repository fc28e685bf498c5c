"""Kernels of many threads on both engines: all run in lockstep, with NumPy's results."""

import numpy as np
import pytest

from bench import two_engines
from pocketgpu import cuda

SIDE = 48


@pytest.mark.parametrize("make", two_engines.CASES.values(), ids=two_engines.CASES)
def test_what_is_timed_runs_in_lockstep(make):
    case = make(SIDE)
    report = cuda.observe(case.kernel, case.grid, case.block, *case.arguments)
    assert report.engine == "lockstep"
    assert report.findings == ()
    np.testing.assert_allclose(case.result, case.expected, rtol=1e-5)


def test_a_wrong_result_is_not_timed(monkeypatch):
    wrong = two_engines.of_saxpy(SIDE)._replace(expected=0)
    with pytest.raises(AssertionError):
        two_engines.seconds(lambda side: wrong, SIDE, True)


def test_the_table_has_a_row_for_each_kernel(capsys):
    two_engines.main(["--side", str(SIDE), "--rounds", "1"])
    lines = capsys.readouterr().out.splitlines()[1:]
    assert [line[:20].strip() for line in lines] == [*two_engines.CASES]
    for line in lines:
        _, one_by_one, _, lockstep, _, ratio, _ = [*line[:20].split("\n"), *line[20:].split()]
        assert float(ratio) > 0 < float(one_by_one)
        assert float(lockstep) >= 0
