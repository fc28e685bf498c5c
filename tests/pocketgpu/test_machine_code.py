"""In machine code the loops that wait load, and h comes past the first-level cache; nothing is spilled."""

import machine_code
import numpy as np
import pytest
from course_kernels import CPP, LESSONS, SOLUTIONS, kernels
from test_compiling import CONSTANTS

from pocketgpu import cuda
from pocketgpu.compiling import compilers
from pocketgpu.compiling.report import compile_report
from pocketgpu.device_words import load_acquire
from rnnlab.kernels.persistence.shapes import with_includes

pytestmark = pytest.mark.skipif(bool(compilers.missing()), reason=compilers.missing())
INTEGERS = np.zeros(64, np.int32)
WAITING = {
    name: entry
    for name, entry in kernels([*LESSONS, *SOLUTIONS]).items()
    if "_persistent_rnn" in name and "atomic" in entry[0].py_func.__code__.co_names
}
assert WAITING, "the lesson on persistent kernels has another name"


@cuda.jit
def waits_for_a_weak_load(flags, out):
    looks = 0
    while cuda.ldcv(flags, 0) < 1 and looks < 1 << 24:
        looks += 1
    out[0] = looks


@cuda.jit
def waits_for_an_atomic(flags, out):
    looks = 0
    while cuda.atomic.add(flags, 0, 0) < 1 and looks < 1 << 24:
        looks += 1
    out[0] = looks


@cuda.jit
def waits_for_an_acquire(flags, out):
    looks = 0
    while load_acquire(flags, 0) < 1 and looks < 1 << 24:
        looks += 1
    out[0] = looks


@cuda.jit
def synchronises_in_a_loop(flags, out):
    for _ in range(flags[0]):
        cuda.cg.this_grid().sync()


def loops_of(kernel):
    """Innermost loops of a kernel of flags and out."""
    (report,) = compile_report(kernel, (INTEGERS, INTEGERS), "sm_90")
    (code,) = machine_code.disassembled(report.cubin).values()
    return report, machine_code.innermost_loops(code)


def test_a_loop_that_waits_for_a_weak_load_is_seen_to_wait_for_a_register():
    report, (loop,) = loops_of(waits_for_a_weak_load)
    assert machine_code.blind_loops(report.cubin)
    assert loop.waits
    assert not loop.loads


@pytest.mark.parametrize("kernel", [waits_for_an_atomic, waits_for_an_acquire], ids=lambda k: k.__name__)
def test_a_loop_that_waits_for_an_atomic_or_an_acquire_load_looks_again(kernel):
    report, loops = loops_of(kernel)
    assert machine_code.blind_loops(report.cubin) == []
    assert any(loop.loads for loop in loops)


def test_a_loop_that_calls_a_function_waits_in_that_function_if_at_all():
    (report,) = compile_report(synchronises_in_a_loop, (INTEGERS, INTEGERS), "sm_90")
    codes = machine_code.disassembled(report.cubin)
    kernel = next(name for name in codes if "synchronises" in name)
    assert machine_code.innermost_loops(codes[kernel])
    assert machine_code.waiting_loops(codes[kernel]) == []
    assert machine_code.blind_loops(report.cubin) == []


@pytest.mark.parametrize("name", WAITING)
def test_the_loops_of_the_lesson_on_persistent_kernels_look_again(name):
    (report,) = compile_report(*WAITING[name], "sm_90")
    assert machine_code.blind_loops(report.cubin) == []
    loops = [
        loop
        for code in machine_code.disassembled(report.cubin).values()
        for loop in machine_code.waiting_loops(code)
    ]
    assert loops


@pytest.mark.parametrize("path", CPP, ids=lambda path: path.name)
def test_every_loop_of_the_cuda_files_that_waits_looks_again(path):
    text = with_includes(path.read_text(encoding="utf-8"))
    report = compile_report(text, arch="sm_90", options=CONSTANTS[path.name])
    assert machine_code.blind_loops(report.kernels[0].cubin) == []
    codes = machine_code.disassembled(report.kernels[0].cubin)
    assert any(loop.loads for code in codes.values() for loop in machine_code.waiting_loops(code))
