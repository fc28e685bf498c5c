"""Reference answers of lesson 11: launches against plans, a GRU step against the reference."""

import numpy as np
import pytest

from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import judge
from rnncourse import checks
from rnncourse.checks.naive_gpu_rnn import ANSWERS
from rnnlab import reference
from rnnlab.network import Network
from rnnlab.schedule.build import forward_plan
from rnnlab.schedule.plan import Sizes

launch_count, step_kernels = (ANSWERS[name].function for name in ("launch_count", "step_kernels"))
PLANS = {"rnn_tanh": "rnn_tanh", "gru": "gru_after", "lstm": "lstm"}


@pytest.mark.parametrize("cell", PLANS)
@pytest.mark.parametrize("sizes", [Sizes(1, 1, 2, 3, 1), Sizes(4, 3, 5, 2, 3)], ids=str)
def test_what_is_counted_by_hand_is_what_the_plan_launches(cell, sizes):
    plan = forward_plan(PLANS[cell], sizes)
    products = sum(operation.flops for operation in plan.operations if operation.kind == "gemm")
    counted = launch_count(cell, sizes.T, sizes.B, sizes.I, sizes.H, sizes.L, 2.5)
    assert counted == (plan.count(), products, 2.5 * plan.count())


def test_flops_are_those_of_the_author_of_lstm_cu_without_the_biases():
    """8·2·H·B·(H+1) a cell as he counts, which adds 8·2·H·B for what is no product."""
    T, B, H, L = 100, 64, 512, 4
    assert launch_count("lstm", T, B, H, H, L, 5.0)[1] == L * T * 8 * 2 * H * B * H


def test_four_launches_make_the_step_of_the_reference():
    B, I, H = 3, 4, 5
    network = Network.create("gru", I, H, dtype="float32", seed=2)
    rng = np.random.default_rng(3)
    x, h = (rng.normal(size=(B, n)).astype("float32") for n in (I, H))
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    parameters = [network.parameters[name] for name in names]
    gates_x, gates_h, h_next = (np.zeros((B, n), "float32") for n in (3 * H, 3 * H, H))
    for launch in range(4):
        step_kernels[(2, 1), (8, 4)](launch, x, h, *parameters, gates_x, gates_h, h_next)
    wanted = reference.forward(network, x[np.newaxis], (h[np.newaxis],))[0][0]
    np.testing.assert_allclose(h_next, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("seed", [3, 4])  # the large bias was a candidate's alone, which no sigmoid sees
def test_an_exp_that_overflows_is_seen_whatever_the_seed(seed):
    exercise = checks.find("step_kernels")[1]
    (mutant,) = [mutant for mutant in exercise.mutants if mutant.name == "lets exp overflow"]
    verdict = judge(exercise, InProcess(exercise.mutated(mutant), exercise.name), seed)
    assert verdict.misconception == mutant.name
