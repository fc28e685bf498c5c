"""What the checks of unit 06 stand on: arrays and numbers that watch, and a fraction that is tanh."""

import math

import numpy as np
import pytest

from rnnlab.checks.edits import loaded
from rnnlab.checks.numba_cpu import EXERCISES
from rnnlab.checks.numba_cpu.blocked_matmul import blocked_matmul
from rnnlab.checks.numba_cpu.lambert import lambert
from rnnlab.checks.numba_cpu.watched import Accesses, Vector, Visits, sent
from rnnlab.checks.numba_cpu.watched_matrix import Matrix
from rnnlab.checks.numba_cpu.watched_number import Number, value_of
from rnnlab.grading.exercise import Wrong
from rnnlab.grading.in_process import InProcess
from rnnlab.grading.judge import judge


def vector(length=6, units=3):
    return Vector("g", np.arange(length, dtype="float64"), Visits(units))


def test_lambert_gives_the_fractions_that_are_in_every_table():
    # tanh a = (105 a + 10 a³) / (105 + 45 a² + a⁴) with four levels
    odd, even = lambert(4)
    assert odd == pytest.approx((1, 10 / 105))
    assert even == pytest.approx((1, 45 / 105, 1 / 105))


def test_thirteen_levels_are_tanh_to_an_ulp_of_float32():
    odd, even = lambert(13)
    for a in (0.1, 1.0, 3.0, 8.9):
        quotient = a * np.polyval(odd[::-1], a * a) / np.polyval(even[::-1], a * a)
        assert abs(quotient - math.tanh(a)) < np.spacing(np.float32(math.tanh(a)))


def test_all_numbers_of_a_unit_are_read_in_one_visit():
    g = vector()
    assert [g[0], g[3], g[1], g[4]] == [0.0, 3.0, 1.0, 4.0]
    with pytest.raises(Wrong, match="Unit 0 is visited again after unit 1"):
        g[0]


@pytest.mark.parametrize(
    ("use", "misconception"),
    [
        (lambda g: list(g), "works on whole arrays"),
        (lambda g: g[0:3], "works on whole arrays"),
        (lambda g: g * 2, "works on whole arrays"),
        (lambda g: np.float64(2) * g, "works on whole arrays"),
        (lambda g: np.exp(g), "works on whole arrays"),
        (lambda g: np.asarray(g), "works on whole arrays"),
        (lambda g: np.split(g, 3), "works on whole arrays"),
        (lambda g: g.__setitem__(0, 1.0), "overwrites its input"),
        (lambda g: g[6], "runs past the edge"),
        (lambda g: g[-1], "runs past the edge"),
    ],
)
def test_what_is_not_a_walk_by_elements_is_named(use, misconception):
    with pytest.raises(Wrong) as wrong:
        use(vector())
    assert wrong.value.misconception == misconception


def test_a_result_tells_its_numbers_and_which_were_written():
    made = np.empty_like(vector(3))
    made[1] = 5.0
    values, written = made
    assert values[1] == 5.0
    assert written.tolist() == [False, True, False]


def test_a_number_counts_operations_in_float32():
    a = Number(np.float32(0.1))
    value, operations, divisions = 2 * (a * a + 1.0) / a - np.float32(3) * a
    f = np.float32
    assert value == f(2) * (f(0.1) * f(0.1) + f(1)) / f(0.1) - f(3) * f(0.1)
    assert value.dtype == "float32"
    assert (operations, divisions) == (6, 1)


@pytest.mark.parametrize("call", [math.tanh, np.tanh, np.exp, float, lambda a: np.array(a)])
def test_a_function_of_a_library_is_refused(call):
    with pytest.raises(Wrong) as wrong:
        call(Number(1.0))
    assert wrong.value.misconception == "leaves the work to a library's function"


def test_every_access_of_a_matrix_is_written_down():
    accesses = Accesses()
    matrices = [
        Matrix(name, np.ones(shape), accesses)
        for name, shape in (("a", (1, 2)), ("b", (2, 1)), ("c", (1, 1)))
    ]
    product, addresses, reads = blocked_matmul(*matrices, 2)
    assert product.tolist() == [[3.0]]
    # c is copied to a place of its own, the fourth line of 64 bytes
    c, a, b = 192, 0, 64
    assert addresses.tolist() == [c, a, b, c, c, a + 4, b + 4, c]
    assert reads.tolist() == [2, 2]


def test_what_is_sent_needs_nothing_but_numpy():
    code = sent((Number, value_of), "a = Number(0.5)\n", {})["a"]
    assert tuple(loaded(code) * 2) == (1.0, 1, 0)


def test_an_answer_that_is_already_compiled_is_judged_as_python():
    numba = pytest.importorskip("numba")
    for exercise in EXERCISES:
        verdict = judge(exercise, InProcess(numba.njit(exercise.truth), exercise.name), seed=1)
        assert verdict.passed, verdict
