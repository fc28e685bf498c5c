"""In machine code each loop that waits is still there, and loads.  docs/simulator.md has the forms."""

import ast
import re

import machine_code
import numpy as np
import pytest
import right_kernels_of_learners
import sound_kernels
import source_polls
from course_kernels import CPP, LESSONS, SOLUTIONS, kernels
from launches import names_of
from numba import float32, int32
from test_answers import CELLS
from test_compiling import CONSTANTS

from nbjudge.authoring.course import ROOT
from pocketgpu import cuda
from pocketgpu.compiling import compilers
from pocketgpu.compiling.report import compile_report
from pocketgpu.compiling.target import IS_NUMBA_CUDA
from pocketgpu.device_functions import load_acquire
from rnncourse.checks.lesson_15_persistent_rnn import ANSWERS
from rnnlab.kernels.persistence.shapes import with_includes

pytestmark = pytest.mark.skipif(bool(compilers.missing()), reason=compilers.missing())
INTEGERS = np.zeros(64, np.int32)
ARCHES = pytest.mark.parametrize(
    "arch",
    [pytest.param("sm_75", marks=pytest.mark.slow), pytest.param("sm_80", marks=pytest.mark.slow), "sm_90"],
)


def right_answers():
    """{name: (kernel, argument types)} of all right answers to the exercises that wait."""
    table, row = float32[:, ::1], int32[::1]
    signatures = {"flag_barrier": (table, row, int32), "persistent_rnn_kernel": (table, table, table, row)}
    result = {}
    for name, signature in signatures.items():
        cells = (cell.text for cell in CELLS[name][1] if cell.kind == "right")
        for number, text in enumerate([*ANSWERS[name].right, *cells]):
            kernel = ANSWERS[name].define(text, f"<{name}, right answer {number}>")
            result[f"{name}, right answer {number}"] = kernel, signature
    return result


def waiting_kernels():
    """{name: (kernel, arguments or their types)} of the course's, the answers', and the tests' that wait."""
    result = kernels([*LESSONS, *SOLUTIONS]) | right_answers()
    cases = sound_kernels.CASES | right_kernels_of_learners.CASES
    result |= {name: (case.kernel, case.arguments()) for name, case in cases.items()}
    return {name: entry for name, entry in result.items() if source_polls.waits_of(entry[0])}


WAITING = waiting_kernels()


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


def waits_found(report, kernel):
    """Loads in loops that wait, in the machine code of the kernel itself."""
    codes = machine_code.disassembled(report.cubin)
    return machine_code.waiting_loads(next(code for name, code in codes.items() if kernel.__name__ in name))


def test_kernels_that_wait_are_found_wherever_they_are_written():
    assert {"15_persistent_rnn:synchronise_by_counter", "15_persistent_rnn:flag_barrier"} <= {*WAITING}
    assert {"flag_barrier, right answer 0", "persistent_rnn_kernel, right answer 1"} <= {*WAITING}
    assert {"looks_back_at_the_block_before", "polling_what_a_store_sets"} <= {*WAITING}


@ARCHES
@pytest.mark.parametrize("name", WAITING)
def test_machine_code_waits_as_often_as_the_source(name, arch):
    kernel, arguments = WAITING[name]
    (report,) = compile_report(kernel, arguments, arch)
    assert machine_code.blind_loops(report.cubin) == []
    waits, expected = len(waits_found(report, kernel)), source_polls.waits_of(kernel)
    assert waits
    assert waits % expected == 0  # a loop around them may be unrolled, which repeats all of them


@ARCHES
@pytest.mark.parametrize("word", ["ldcv", "ldcg"])
@pytest.mark.parametrize("name", ["flag_barrier", "persistent_rnn_kernel"])
def test_the_answer_that_polls_by_a_load_waits_less_often_than_its_source(name, word, arch):
    atomic = r"atomic\.add\((flags, cuda\.threadIdx\.x), 0\)"
    source, edits = re.subn(atomic, rf"{word}(\1)", ANSWERS[name].source)
    assert edits == 1
    kernel = ANSWERS[name].define(source, f"<{name} by {word}>")
    (report,) = compile_report(kernel, WAITING[f"15_persistent_rnn:{name}"][1], arch)
    assert source_polls.waits_of(kernel) == 1
    assert waits_found(report, kernel) == []


LOOKS = {
    "`a[i]`": "flags[0]",
    "`cuda.ldcg`, `cuda.ldcv`": "cuda.ldcv(flags, 0)",
    "an atomic": "cuda.atomic.add(flags, 0, 0)",
    "`load_acquire`": "load_acquire(flags, 0)",
}
BODIES = {
    "nothing": "pass",
    "a counter": "looks += 1",
    "`cuda.nanosleep`": "cuda.nanosleep(20)",
    "`cuda.threadfence_block`": "cuda.threadfence_block()",
    "`cuda.threadfence`": "cuda.threadfence()",
}
HOISTED, REMOVED, WAITS = "waits for a register", "no loop", "waits"


def waiting_kernel(look, body):
    """A kernel that waits for flags[0] by such a look, with such a body of the loop."""
    source = (
        f"def waits(flags, out):\n    looks = 0\n    while {look} == 0:\n        {body}\n"
        "    cuda.threadfence()\n    out[0] = out[1] + looks\n"
    )
    names = names_of(source, f"<{look}, {body}>", cuda=cuda, load_acquire=load_acquire)
    return cuda.jit(names["waits"])


def made_of(look, body, arch):
    """What the compiler makes of such a loop."""
    kernel = waiting_kernel(look, body)
    (report,) = compile_report(kernel, (INTEGERS, INTEGERS), arch)
    blind, loads = machine_code.blind_loops(report.cubin), waits_found(report, kernel)
    assert len(blind) + len(loads) <= 1
    return HOISTED if blind else WAITS if loads else REMOVED


def documented():
    """{(body, look): what both compilers, and the second on Blackwell, make of it} of docs/simulator.md."""
    text = (ROOT / "docs/simulator.md").read_text(encoding="utf-8")
    table = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
    start = next(number for number, row in enumerate(table) if row[0] == "the loop's body")
    rows = {row[0]: row[1:] for row in table[start + 2 : start + 2 + len(BODIES)]}
    forms = {}
    for body, cells in rows.items():
        for look, cell in zip(table[start][1:], cells, strict=True):
            first, _, on_blackwell = cell.partition("; with numba-cuda on Blackwell: ")
            own, _, other = first.partition("; with numba-cuda: ")
            other = other or own
            forms[body, look] = own, other, on_blackwell or other
    return forms


def test_the_table_of_forms_of_waiting_has_every_form():
    assert {*documented()} == {(body, look) for body in BODIES for look in LOOKS}


@pytest.mark.slow
@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_100"])
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("look", LOOKS)
def test_the_documented_forms_of_waiting_are_what_the_compiler_makes(look, body, arch):
    own, other, on_blackwell = documented()[body, look]
    expected = own
    if IS_NUMBA_CUDA:
        expected = on_blackwell if arch == "sm_100" else other
    assert made_of(LOOKS[look], BODIES[body], arch) == expected


@pytest.mark.slow
def test_ldcg_is_treated_as_ldcv_is():
    for body in BODIES.values():
        assert made_of("cuda.ldcg(flags, 0)", body, "sm_90") == made_of("cuda.ldcv(flags, 0)", body, "sm_90")


WRONG_ON_PURPOSE = {"faulty_kernels.py", "wrong_kernels_of_learners.py", "strict_kernels.py"}


def weak_polls(path):
    """Names of the functions in a file that wait by a load with a cache hint."""
    functions = (n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.FunctionDef))
    return {f.name for f in functions if any(poll.kind == "weak" for poll in source_polls.polls_of(f))}


def test_no_loop_of_lessons_solutions_or_tests_waits_by_a_load_but_where_it_is_the_mistake():
    paths = [
        *LESSONS,
        *ROOT.glob("solutions/source/*/*.py"),
        *ROOT.glob("tests/*.py"),
        *ROOT.glob("tests/kernels/*.py"),
        *ROOT.glob("tests/*/test_*.py"),
    ]
    functions = {path.name: names for path in paths if (names := weak_polls(path))}
    assert {*functions} - {"test_machine_code.py"} <= WRONG_ON_PURPOSE
    assert functions["test_machine_code.py"] == {"waits_for_a_weak_load"}


@pytest.mark.parametrize("path", CPP, ids=lambda path: path.name)
def test_every_loop_of_the_cuda_files_that_waits_looks_again(path):
    text = with_includes(path.read_text(encoding="utf-8"))
    report = compile_report(text, arch="sm_90", options=CONSTANTS[path.name])
    assert machine_code.blind_loops(report.kernels[0].cubin) == []
    codes = machine_code.disassembled(report.kernels[0].cubin)
    assert any(loop.loads for code in codes.values() for loop in machine_code.waiting_loops(code))
