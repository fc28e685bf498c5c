"""What a call costs is counted as one counts it on paper."""

import numpy as np
import pytest

from nbjudge.exercise import Code
from nbjudge.grading.in_process import InProcess
from nbjudge.grading.meter import BYTES, OPERATIONS, ROUNDS, Meter, count_costs

a, b = np.ones((3, 4)), np.ones((3, 4))
ARRAY = 3 * 4 * 8  # bytes


def array_costs(function, *inputs):
    costs = count_costs(function, *inputs)
    return costs[OPERATIONS], costs[BYTES]


def copied(a, b):
    return np.asarray(a).astype("float32") * np.array(b, "float32")


def gathered(a, b):
    rows = [a[0], np.zeros(4)]
    return np.stack(rows), np.zeros_like(a), a.T.reshape(2, 6)


@pytest.mark.parametrize(
    ("function", "operations", "moved"),
    [
        (lambda a, b: a * b + a, 2, 6 * ARRAY),
        (lambda a, b: 1 / (2 * a), 2, 4 * ARRAY),  # a plain number costs nothing
        (lambda a, b: a + b[0], 1, 2 * ARRAY + 4 * 8),
        (lambda a, b: np.tanh(a[:, :2], out=np.empty((3, 2))), 1, ARRAY),
        (lambda a, b: a @ b.T, 1, 2 * ARRAY + 9 * 8),
        (lambda a, b: a.dot(b.T), 1, 2 * ARRAY + 9 * 8),
        (lambda a, b: np.einsum("ij,kj", a, b), 1, 2 * ARRAY + 9 * 8),
        (lambda a, b: np.tensordot(a, b.T, 1), 1, 2 * ARRAY + 9 * 8),
        (lambda a, b: np.linalg.norm(a), 1, ARRAY),
        (lambda a, b: np.linalg.lstsq(a, np.ones(3), rcond=None)[0], 1, ARRAY + 3 * 8 + 4 * 8 + 3 * 8),
        (lambda a, b: np.split(a, 2, axis=1), 0, 0),
        (lambda a, b: np.ones(4) + np.arange(4.0), 1, 3 * 4 * 8),  # arrays that it made itself
        (copied, 2, ARRAY + ARRAY // 2 + 3 * ARRAY // 2),
        (gathered, 1, 4 * 4 * 8),  # views and shapes cost nothing
    ],
)
def test_each_operation_reads_its_operands_and_writes_a_new_array(function, operations, moved):
    assert array_costs(function, a.copy(), b.copy()) == (operations, moved)


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("argmax", ()),
        ("argmin", (0,)),
        ("cumsum", (1,)),
        ("nonzero", ()),
        ("ravel", ()),
        ("reshape", ((2, 6),)),
        ("take", ([0, 2], 0)),
    ],
)
def test_a_method_costs_what_the_function_of_its_name_does(name, others):
    by_function = array_costs(lambda a: getattr(np, name)(a.T, *others), a)
    assert array_costs(lambda a: getattr(a.T, name)(*others), a) == by_function


def test_numbers_stay_what_they_are():
    function = Meter(lambda a, b: (np.exp(a) - b, [a.sum()], {"a": a}))
    first, (second,), named = function(a, b)
    assert np.array_equal(first, np.exp(a) - b)
    assert (type(first), type(named["a"])) == (np.ndarray, np.ndarray)
    assert second == 12
    narrow = count_costs(lambda a: 1 / (1 + a), a.astype("float32"))
    assert narrow[BYTES] == 4 * ARRAY // 2  # a plain number leaves single precision as it is


def countdown(n):
    return 0 if n == 0 else 1 + countdown(n - 1)


def over_lines(n):
    total = 0
    for k in range(n):
        for _ in range(2):
            total += k
    return total


@pytest.mark.parametrize(
    ("function", "rounds"),
    [
        (over_lines, 5 + 5 * 2),
        (lambda n: [k for k in range(n)], 5),
        (lambda n: sum(k for k in range(n)), 5),
        (lambda n: {k: [j for j in "ab"] for k in range(n)}, 5 + 5 * 2),
        (countdown, 5),
        (lambda n: max(range(n), key=lambda k: -k), 5),
        (lambda n: sum(range(n)), 0),
        (lambda n: sum(1 for k in range(n) for _ in "ab"), 5 + 5 * 2),
        (lambda n: sum(k for k in range(n) if k % 2), 5),
        (lambda n: any(k > 2 for k in range(n)), 3),  # the generator ends before its loop
    ],
)
def test_rounds_of_loops_and_calls_of_own_functions_count(function, rounds):
    assert count_costs(function, 5)[ROUNDS] == rounds


def test_calls_of_the_judges_functions_count_and_the_costliest_call_is_kept():
    def answer(double, x, times):
        for _ in range(times):
            x = double(x)
        return x

    meter = Meter(answer)
    double = Code("def double(x):\n    return 2 * x\n", "double", [])
    submission = InProcess(meter, "answer", is_own=True)
    results = [submission(double, a, times).max() for times in (2, 5, 1)]
    assert results == [4, 32, 2]
    assert meter.costs["call of double"] == 5


def test_a_notebook_has_its_numpy_and_its_debugger_again():
    import sys

    def broken(x):
        raise ValueError("of the answer")

    traced = sys.gettrace()
    with pytest.raises(ValueError, match="of the answer"):
        Meter(broken)(a)
    assert sys.gettrace() is traced
    assert broken.__globals__["np"] is np


def test_what_an_answer_kept_of_an_earlier_call_is_there_again():
    notebook = {"np": np}
    exec("def answer(x):\n    global states\n    states = np.tanh(x)\n    return states", notebook)
    notebook["answer"](a)
    states = notebook["states"]
    Meter(notebook["answer"])(b)
    assert notebook["states"] is states
    assert notebook["np"] is np


def test_what_an_answer_keeps_of_a_call_that_counts_is_plain():
    notebook = {"np": np}
    source = "def answer(x):\n    global last, steps\n    last = 2 * x\n    steps = [(x,), {'h': x + 1}]\n"
    exec(source, notebook)
    Meter(notebook["answer"])(a)
    (first,), named = notebook["steps"]
    assert {type(array) for array in (notebook["last"], first, named["h"])} == {np.ndarray}
    assert np.array_equal(named["h"], a + 1)
