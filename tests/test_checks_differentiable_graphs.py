"""What the checks of unit 04 stand on: gates named in a message, and plans that tell every mistake apart."""

import inspect

import numpy as np
import pytest
from rnnlab.checks.differentiable_graphs.gru_backward import GRU_BACKWARD
from rnnlab.checks.differentiable_graphs.lstm_backward import LSTM_BACKWARD
from rnnlab.checks.differentiable_graphs.plan_memory import MUTANTS, _telling, plan_memory
from rnnlab.checks.edits import call, wrong_values

from rnnlab.grading.exercise import Wrong


@pytest.mark.parametrize(
    ("exercise", "old", "new", "gates"),
    [
        (
            GRU_BACKWARD,
            "(h - n) * z * (1 - z)",
            "(h - n) * z",
            "front of z is wrong, in front of r and n right",
        ),
        (LSTM_BACKWARD, "dc_total * g * i * (1 - i)", "dc_total * g * i", "front of i is wrong"),
        (LSTM_BACKWARD, "dc_total * f, da.T", "dc_total * o, da.T", "right for every gate"),
    ],
)
def test_a_mistake_without_a_name_is_told_by_the_gate_it_stands_at(exercise, old, new, gates):
    program = {"np": np}
    exec(inspect.getsource(exercise.truth).replace(old, new), program)
    with pytest.raises(Wrong) as wrong:
        exercise.check(program[exercise.name], np.random.default_rng(0))
    assert wrong.value.misconception is None
    assert gates in wrong.value.next_step


@pytest.mark.parametrize("seed", range(3))
def test_each_known_plan_is_alone_and_wrong_in_some_case(seed):
    untold = {mutant.name for mutant in MUTANTS}
    for arguments in _telling(np.random.default_rng(seed)):
        right = frozenset(call(plan_memory, arguments))
        found = wrong_values(plan_memory, MUTANTS, *arguments)
        plans = {name: frozenset(saved()) for name, saved in found.items()}
        untold -= {name for name in plans if [right, *plans.values()].count(plans[name]) == 1}
    assert not untold
