"""What the checks of lesson 04 need: gates named in a message, and plans that tell every mistake apart."""

import numpy as np
import pytest

from nbjudge.exercise import Mutant
from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import judge
from rnncourse import checks
from rnncourse.checks.answers import answers
from rnncourse.checks.differentiable_graphs import distinct_mistakes, draw_plans

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


@pytest.mark.parametrize("seed", range(3))
def test_each_known_plan_is_alone_and_wrong_in_some_case(seed):
    alone = [name for plan in draw_plans(np.random.default_rng(seed)) for name in distinct_mistakes(*plan)]
    assert {*alone} == {mutant.name for mutant in ANSWERS["plan_memory"].mutants}
