"""A check and the answer compute under NumPy's own settings, whatever the notebook has set."""

import numpy as np
import pytest

from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import judge, own_settings
from nbjudge.verdict import Status
from rnncourse.checks import find

RAISING = ("cross_entropy_gradient", "fused_gates", "last_step", "lstm_backward", "adam_update", "rnn_step")


@pytest.fixture
def raising():
    """A notebook that looks for its NaN and prints few digits."""
    before = np.geterr(), np.get_printoptions()
    np.seterr(all="raise")
    np.set_printoptions(precision=1, formatter={"float": lambda value: "?"})
    yield
    np.seterr(**before[0])
    np.set_printoptions(**before[1])


@pytest.mark.parametrize("name", RAISING)
def test_a_right_answer_passes_whatever_numpy_shall_do_with_small_numbers(raising, name):
    exercise = find(name)[1]
    verdict = judge(exercise, InProcess(exercise.reference, name), seed=3)
    assert verdict.status is Status.passed, verdict.message


def test_neither_the_answer_nor_the_check_sees_what_a_notebook_has_set(raising):
    seen = []

    def last_step(y):
        seen.append(np.geterr()["under"])
        return y[-1] + np.exp(np.float32(-200))

    assert judge(find("last_step")[1], InProcess(last_step), seed=4).status is Status.passed
    assert set(seen) == {"ignore"}
    with own_settings():
        assert np.geterr()["under"] == "ignore"
        assert str(np.array([0.25])) == "[0.25]"
    assert np.geterr()["under"] == "raise"


def test_an_answer_may_ask_for_errors_itself(raising):
    def last_step(y):
        with np.errstate(under="raise"):
            return y[-1] + np.exp(np.float32(-200))

    verdict = judge(find("last_step")[1], InProcess(last_step), seed=5)
    assert verdict.status is Status.crashed
