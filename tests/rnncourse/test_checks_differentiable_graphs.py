"""The checks of lesson 04: gates named in a message."""

import pytest

from nbjudge.exercise import Mutant
from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import judge
from rnncourse import checks
from rnncourse.checks.answers import answers

ANSWERS = answers("differentiable_graphs")
BETWEEN = "The bias gradients are right for every gate"


@pytest.mark.parametrize(
    ("name", "old", "new", "gates"),
    [
        ("gru_backward", "* z * (1 - z)", "* z", "front of z is wrong, in front of r, n right"),
        ("lstm_backward", "* i * (1 - i)", "* i", "front of i is wrong"),
        ("lstm_backward", "dc_total * f, da.T", "dc_total * o, da.T", BETWEEN),
    ],
)
def test_an_unnamed_mistake_is_located_by_its_gate(name, old, new, gates):
    wrong = ANSWERS[name].mutated(Mutant("without a name", old, new))
    verdict = judge(checks.find(name)[1], InProcess(wrong, name), 0)
    assert verdict.status == "failed"
    assert verdict.misconception is None
    assert gates in verdict.next_step
