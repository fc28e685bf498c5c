"""Behind a check: the course's own answer beside a right one, with both counted; a wrong kernel's replay."""

import re

import numpy as np
import pytest
from values_in import holds

import rnnlab
from nbjudge import variants
from nbjudge.authoring.percent import BEGIN
from nbjudge.grading import costs, learner, own_answer
from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import judge
from nbjudge.grading.meter import BYTES, OPERATIONS, ROUNDS
from rnncourse import checks
from rnncourse.checks.answers import answers
from rnnlab import cuda

FORMULAS = {  # or one view: there is nothing to save, though an answer may loop where none is needed
    "arithmetic_intensity",
    "choose_minibatch",
    "count_rnn_flops",
    "filter_weights",
    "index_of_sums",
    "last_step",
    "product_time",
    "register_budget",
}
SOLVED = "solutions/09_cuda_first_kernels.ipynb"


@pytest.fixture(autouse=True)
def kernel_of_a_learner(tmp_path, monkeypatch):
    monkeypatch.setenv("RNNLAB_HOME", str(tmp_path / "home"))
    for name in ("_passed", "_calls", "_numbers", "_hints"):
        monkeypatch.setattr(learner, name, {})


@cuda.jit
def fix_the_race(x, steps):
    """Right, with a barrier more than are needed."""
    part = cuda.shared.array(32, np.float32)
    i = cuda.threadIdx.x
    n = cuda.blockDim.x
    part[i] = x[cuda.grid(1)]
    cuda.syncthreads()
    for _ in range(steps):
        mean = (part[(i + n - 1) % n] + part[i] + part[(i + 1) % n]) / np.float32(3)
        cuda.syncthreads()
        part[i] = mean
        cuda.syncthreads()
    x[cuda.grid(1)] = part[i]


@cuda.jit
def saxpy_kernel(a, x, y):
    """Right, and loads y twice."""
    i = cuda.grid(1)
    if i < x.shape[0]:
        y[i] = a * x[i] + y[i] + np.float32(0) * y[i]


def solved(name, lesson, old="", new=""):
    """The course's own kernel, as a learner would write it."""
    answer = answers(lesson)[name]
    assert old in answer.source
    return answer.define(answer.source.replace(old, new), f"<learner's {name}>")


def test_both_answers_are_counted_on_the_same_input():
    own = rnnlab.check(fix_the_race).below
    case, got, theirs, better = own.costs
    assert "blocks=2, threads=32, steps=3" in case
    assert (got["barrier"], theirs["barrier"]) == (2 * (2 * 3 + 1), 2 * 2 * 3)
    assert got["load from global memory"] == theirs["load from global memory"] == 2 * 32
    assert got["request to shared memory"] == 2 * (4 * 3 + 2)  # a warp a block
    assert theirs["barrier"] == better["barrier"]  # another right answer has fewer still, and is not the next
    assert holds(own.in_counts(), "14", "12")
    _, got, theirs, _ = rnnlab.check(saxpy_kernel).below.costs
    assert (got["load from global memory"], theirs["load from global memory"]) == (3 * 300, 2 * 300)


def test_an_answer_in_numpy_is_counted_by_operations_bytes_and_rounds():
    one_product = """
def rnn_forward(x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    states = [h0]
    weights = np.concatenate([weight_ih, weight_hh], axis=1)
    bias = bias_ih + bias_hh
    for row in x:
        states.append(np.tanh(weights @ np.concatenate([row, states[-1]]) + bias))
    return np.array(states)
"""
    function = answers("rnn_forward")["rnn_forward"].define(one_product, "<learner's rnn_forward>")
    verdict = rnnlab.check(function)
    case, got, own, better = verdict.below.costs
    T = int(re.search(r"T=(\d+), I=3, H=2", case)[1])
    assert got == {OPERATIONS: 4 * T + 2, ROUNDS: T, BYTES: got[BYTES]}
    assert own == {OPERATIONS: 6 * T, ROUNDS: T, BYTES: T * (6 + 3 + 2 + 4 + 2 + 2 + 3 * 6 + 4) * 8}
    assert better is None  # fewer operations, more bytes
    assert holds(str(verdict), f"{4 * T + 2} and {6 * T}", f"{T}")


def test_one_better_is_the_next_right_answer_that_takes_less_and_no_more_of_anything():
    function = solved("clip_by_global_norm", "training")
    own = rnnlab.check(function).below
    assert own.costs.better < own.costs.got
    assert own.costs.better[OPERATIONS] == 2
    assert holds(own.in_counts(), "4", "2")
    calls = rnnlab.check(solved("group_gates", "fused_cell")).below.costs
    assert calls.got == calls.own
    assert calls.got["call of multiply"] == 2


@pytest.mark.parametrize("name", [name for lesson in checks.LESSONS for name in checks.catalogue(lesson)])
def test_each_exercise_counts_something_but_those_whose_answer_is_one_formula(name):
    _, exercise = checks.find(name)
    if exercise.is_kernel:
        pytest.skip("a launch always counts")
    _, spent = costs._spend(exercise, exercise.reference, 5, -1)
    assert (not spent) == (name in FORMULAS)


def test_the_verdict_folds_the_courses_answer_and_says_where_to_see_it_without_a_page():
    verdict = rnnlab.check(saxpy_kernel)
    page = verdict._repr_html_()
    assert "<details><summary>" in page
    assert "loads y twice" in page[page.index("<details>") :]  # the learner's own text
    assert SOLVED in page
    assert str(verdict).endswith("from rnnlab import solution; solution(saxpy_kernel)")
    shown = str(rnnlab.solution(saxpy_kernel))
    assert answers("cuda_first_kernels")["saxpy_kernel"].hints[1] in shown
    assert "def saxpy_kernel" in shown
    assert "<details open>" in rnnlab.solution(saxpy_kernel)._repr_html_()


@pytest.mark.parametrize("name", [name for lesson in checks.LESSONS for name in checks.catalogue(lesson)])
def test_each_exercise_has_a_cell_with_its_solution(name):
    lesson, _ = checks.find(name)
    text = own_answer._solution(own_answer.solved_notebook(lesson), name)
    assert f"def {name}(" in text
    assert BEGIN not in text


def hand_out(monkeypatch, tmp_path):
    monkeypatch.setattr(own_answer, "ROOT", tmp_path)


def marks_by_nbgrader(monkeypatch, tmp_path):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")


@pytest.mark.parametrize("surroundings", [hand_out, marks_by_nbgrader])
def test_no_answer_is_shown_where_there_is_none_or_for_marks(surroundings, monkeypatch, tmp_path):
    surroundings(monkeypatch, tmp_path)
    verdict = rnnlab.check(fix_the_race)
    shown = f"{verdict}{verdict._repr_html_()}{rnnlab.solution(fix_the_race)}"
    assert "solution" not in shown
    assert "part[i] = mean" not in shown
    assert holds(shown, "14", "12")  # counts give nothing away
    last = [str(rnnlab.hint(fix_the_race)) for _ in range(3)][-1]
    assert "solutions/" not in last


def test_a_variant_is_counted_and_its_answer_not_shown():
    answer = variants.variants_of("saxpy_kernel")[1]
    verdict = rnnlab.check(answer.function, **answer.numbers)
    assert verdict.passed
    assert verdict.below.costs.got == verdict.below.costs.own
    assert "solution" not in f"{verdict}{verdict._repr_html_()}"
    assert "solutions/" not in str([rnnlab.hint(answer.function) for _ in range(3)][-1])


def test_a_grade_has_no_answer_and_a_failed_check_opens_none():
    _, exercise = checks.find("saxpy_kernel")
    assert judge(exercise, InProcess(saxpy_kernel), 3).below is None
    wrong = solved("saxpy_kernel", "cuda_first_kernels", "+ y[i]", "")
    assert "solution" not in str(rnnlab.check(wrong))
    with pytest.raises(ValueError, match="saxpy_kernel"):
        rnnlab.solution(wrong)


def test_the_last_hint_says_so_and_where_the_solution_stands():
    first, _, last, again = (str(rnnlab.hint(saxpy_kernel)) for _ in range(4))
    assert SOLVED not in first
    assert SOLVED in last
    assert last == again
