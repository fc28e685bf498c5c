"""What the checks of lesson 06 stand on: arrays and numbers that watch, and a fraction that is tanh."""

import math

import numpy as np
import pytest

from nbjudge.exercise import Wrong
from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import judge
from rnncourse import checks
from rnncourse.checks.lesson_06_numba_cpu.machines import Arithmetic, UnitLoop
from rnncourse.checks.lesson_06_numba_cpu.proxies import Number, RowProxy, Tape, VectorProxy, Watched, proxies
from rnncourse.lambert import lambert


def vector(length=6, units=3):
    loop = UnitLoop(units, {"g": np.arange(length, dtype="float64")})
    return VectorProxy("g", length, loop.read, loop.write, loop.make), loop


def number(value, comparisons=3):
    arithmetic = Arithmetic(np.float32, (value,), comparisons)
    return Number(Tape(4, arithmetic.perform, arithmetic.compare, 1), 0), arithmetic


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
    g, _ = vector()
    assert [g[0], g[3], g[1], g[-2]] == [0.0, 3.0, 1.0, 4.0]
    with pytest.raises(Wrong, match=r"unit 0.*unit 1"):
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
        (lambda g: g[-7], "runs past the edge"),
    ],
)
def test_what_is_not_a_loop_over_elements_is_named(use, misconception):
    with pytest.raises(Wrong) as wrong:
        use(vector()[0])
    assert wrong.value.misconception == misconception


def test_a_result_lies_with_the_judge_who_knows_what_was_written():
    g, loop = vector(3)
    row = np.empty_like(g)
    row[1] = 5.0
    (name,) = row
    assert loop.vectors[name][1] == 5.0
    assert loop.written[name].tolist() == [False, True, False]


def test_a_number_counts_operations_in_float32_wherever_the_batches_end():
    a, arithmetic = number(np.float32(0.1))
    (handle,) = 2 * (a * a + 1.0) / a - np.float32(3) * a
    f = np.float32
    assert arithmetic.values[handle] == f(2) * (f(0.1) * f(0.1) + f(1)) / f(0.1) - f(3) * f(0.1)
    assert (arithmetic.operations, arithmetic.divisions) == (6, 1)


def test_a_number_has_nothing_to_read_and_few_comparisons():
    a, _ = number(np.float32(0.1))
    assert not [part for part in vars(a).values() if isinstance(part, float | np.floating)]
    assert [a > 0, a < 0, a == a] == [True, False, True]
    with pytest.raises(Wrong, match="compared more often"):
        bool(a > 1)


@pytest.mark.parametrize("call", [math.tanh, np.tanh, np.exp, float, lambda a: np.array(a)])
def test_a_function_of_a_library_is_refused(call):
    with pytest.raises(Wrong) as wrong:
        call(number(1.0)[0])
    assert wrong.value.misconception == "leaves the work to a library's function"


@pytest.mark.parametrize(
    "rows",
    [
        np.zeros((1, 2), "int64"),
        np.zeros((1, 3)),
        np.array([[6, 0, 0]]),
        np.array([[-1, 0, 0]]),
        np.array([[0, 5, 0]]),
        np.array([[0, 0, -2]]),
    ],
)
def test_a_forged_batch_raises_and_reaches_nothing(rows):
    arithmetic = Arithmetic(np.float64, (1.0,))
    with pytest.raises((ValueError, IndexError)):
        arithmetic.perform(rows, np.zeros(1))
    assert arithmetic.values == [1]


def test_what_is_sent_holds_names_and_sizes_and_no_number():
    loop = UnitLoop(1, {"g": np.array([0.12345])})
    proxy = proxies(
        (Watched, VectorProxy, RowProxy), 'g = VectorProxy("g", 1, read, write, make)\n', loop.services
    )["g"]
    assert "12345" not in proxy.source


def test_an_answer_that_is_already_compiled_is_judged_as_python():
    numba = pytest.importorskip("numba")
    for exercise in checks.exercises("numba_cpu"):
        verdict = judge(exercise, InProcess(numba.njit(exercise.reference), exercise.name), seed=1)
        assert verdict.passed, verdict
