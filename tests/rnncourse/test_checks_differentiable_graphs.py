"""The checks of lesson 04: gates named in a message."""

import numpy as np
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
        ("gru_backward", "* z * (1 - z)", "* z", "z is wrong, before r, n right"),
        ("lstm_backward", "* i * (1 - i)", "* i", "before i is wrong"),
        ("lstm_backward", "dc_total * f, da.T", "dc_total * o, da.T", BETWEEN),
    ],
)
def test_an_unnamed_mistake_is_located_by_its_gate(name, old, new, gates):
    wrong = ANSWERS[name].mutated(Mutant("without a name", old, new))
    verdict = judge(checks.find(name)[1], InProcess(wrong, name), 0)
    assert verdict.status == "failed"
    assert verdict.misconception is None
    assert gates in verdict.next_step


@pytest.mark.parametrize(
    ("name", "biases", "gates"), [("gru_backward", 2, "rzn"), ("lstm_backward", 1, "ifgo")]
)
def test_rows_of_the_weights_clear_a_gate_whose_bias_is_added_up_wrongly(name, biases, gates):
    def advice(scales):
        def answer(*step):
            dx, *others = ANSWERS[name].call(*step)
            rows = np.repeat(scales, len(others[-1]) // len(gates))
            for place in range(-biases - 2, 0):
                weighted = others[place] * (rows[:, None] if others[place].ndim == 2 else 3 * rows)
                others[place] = weighted
            return 0.5 * dx, *others

        return judge(checks.find(name)[1], InProcess(answer, name), 0).next_step

    scales = np.ones(len(gates))
    assert "every gate is right: look at the sum in dbias" in advice(scales)
    scales[1] = 2
    assert f"before {gates[1]} is wrong, before {gates[0]}, {gates[2]}" in advice(scales)


@pytest.mark.parametrize(
    ("name", "spoil", "advice"),
    [
        ("gru_reset_after", lambda y, product: (1.1 * y, None), "print the gates there: r is"),
        ("gru_reset_after", lambda y, product: (1.1 * y, product[:, :, 1:]), "print the gates there: r is"),
        (
            "lstm_backward",
            lambda dx, dh, dc, *others: (1.1 * dx, dh, (1.1 * dc).tolist(), *others[:-1], 1.1 * others[-1]),
            "arrives at c_next instead of",
        ),
    ],
)
def test_a_later_result_that_cannot_be_read_leaves_the_first_difference_its_advice(name, spoil, advice):
    def answer(*arguments):
        return spoil(*ANSWERS[name].call(*arguments))

    verdict = judge(checks.find(name)[1], InProcess(answer, name), 0)
    assert "first differs" in str(verdict)
    assert advice in verdict.next_step
