"""Reference answers of lesson 11: a product's time against the model, a GRU step against the reference."""

import numpy as np
import pytest

from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import judge
from pocketgpu.devices import find
from rnncourse import checks
from rnncourse.checks.lesson_11_naive_gpu_rnn import ANSWERS
from rnnlab import reference
from rnnlab.network import Network
from rnnlab.schedule.build import forward_plan
from rnnlab.schedule.plan import Sizes
from rnnlab.schedule.timeline import Work

product_time, step_kernels = (ANSWERS[name].function for name in ("product_time", "step_kernels"))


@pytest.mark.parametrize("device", ["M40", "T4", "H200"])
@pytest.mark.parametrize("sizes", [(64, 512), (1, 100), (130, 4096), (256, 2048)], ids=str)
def test_the_time_by_hand_is_the_models_for_a_gates_recurrent_product(sizes, device):
    B, H = sizes
    sheet = find(device)
    gates = [op for op in forward_plan("lstm", Sizes(1, B, 3, H, 1)).operations if op.kind == "gemm"]
    work = Work.of(gates[1], sheet, itemsize=0)  # without bytes: the exercise has arithmetic alone
    assert work.solo_us == pytest.approx(product_time(B, H, H, sheet.multiprocessors, sheet.peak))


def test_the_lessons_product_takes_30_8_microseconds():
    sheet = find("H200")
    assert round(product_time(64, 512, 512, sheet.multiprocessors, sheet.peak), 1) == 30.8


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
    verdict = judge(exercise, InProcess(exercise.make(mutant), exercise.name), seed)
    assert verdict.misconception == mutant.name
