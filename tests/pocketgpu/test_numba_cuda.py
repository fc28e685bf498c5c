"""Beside numba-cuda every kernel compiles as for a launch, and needs what Numba's own target says it needs.

`make test-cuda` runs this, with the other tests of compilers and types, in an environment with numba-cuda.
"""

import json
import subprocess
import sys

import pytest

from nbjudge.authoring.course import ROOT
from pocketgpu.compiling.report import ARCHITECTURES
from pocketgpu.compiling.target import IS_NUMBA_CUDA

pytestmark = pytest.mark.skipif(not IS_NUMBA_CUDA, reason="numba-cuda is not here: make test-cuda")
REGISTERS = 8  # that the two compilers may differ by; 6 was the most in November 2026, in numba-cuda's favour


@pytest.fixture(scope="module")
def tables():
    """What each kernel needs, by numba-cuda and by Numba's own target; both are compiled at once."""
    program = [sys.executable, ROOT / "tests/compile_like_a_gpu.py"]
    both = [
        subprocess.Popen([*program, *more], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for more in ([], ["built-in"])
    ]
    results = [process.communicate() for process in both]
    for process, (_, errors) in zip(both, results, strict=True):
        assert process.returncode == 0, errors[-2000:]
    return [json.loads(output) for output, _ in results]


def rows(table):
    return [(name, arch, row) for name, of in table["kernels"].items() for arch, row in of.items()]


def test_both_targets_were_at_work_on_the_same_kernels(tables):
    assert [table["target"] for table in tables] == ["numba-cuda", "numba"]
    names = [{*table["kernels"]} for table in tables]
    assert names[0] == names[1]
    assert len(names[0]) >= 40
    assert {arch for _, arch, _ in rows(tables[0])} == {*ARCHITECTURES}


def test_no_kernel_spills_a_register(tables):
    assert [(name, arch) for table in tables for name, arch, row in rows(table) if row["spills"]] == []


def test_every_loop_that_waits_loads(tables):
    assert [row["blind loops"] for table in tables for _, _, row in rows(table) if row["blind loops"]] == []


def test_every_loop_of_the_source_that_waits_is_in_the_machine_code(tables):
    waits = [(name, *row["waits"]) for table in tables for name, _, row in rows(table)]
    waiting = {name for name, _, expected in waits if expected}
    assert {"15_persistent_rnn:flag_barrier", "persistent_forward lstm"} <= waiting
    assert [entry for entry in waits if entry[2] and (not entry[1] or entry[1] % entry[2])] == []


def test_both_compute_in_float64_where_the_other_does(tables):
    theirs, own = ({(name, arch): row["float64"] for name, arch, row in rows(table)} for table in tables)
    assert theirs == own


def test_both_need_nearly_the_same_registers(tables):
    theirs, own = ({(name, arch): row["registers"] for name, arch, row in rows(table)} for table in tables)
    assert {key: (theirs[key], own[key]) for key in own if abs(theirs[key] - own[key]) > REGISTERS} == {}
