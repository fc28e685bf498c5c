"""Checks of lesson 18: loops over time are refused by their calls, and rules for the end are told apart."""

import re

import numpy as np
import pytest

from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import judge
from nbjudge.verdict import Status
from rnncourse import checks
from rnncourse.checks.answers import answers
from rnncourse.checks.lesson_18_parallel_in_time import newton

LOOPS = {  # known mistakes that take as many dependent steps as a loop: (exercise, mistake), calls of T steps
    ("scan_by_chunks", "goes through all steps one after the other"): (23, 24),
    ("backward_by_scan", "calls scan for each step"): (3, 3),
    ("newton_states", "runs all T rounds"): (13, 13),
}


@pytest.mark.parametrize(("name", "mistake"), LOOPS)
def test_a_loop_over_time_is_refused_by_the_number_of_its_calls(name, mistake):
    _, exercise = checks.find(name)
    mutant = next(mutant for mutant in exercise.mutants if mutant.name == mistake)
    verdict = judge(exercise, InProcess(exercise.make(mutant), name), seed=3)
    numbers = tuple(map(int, re.findall(r"\d+", verdict.message)))
    assert (verdict.status, numbers[:2]) == (Status.failed, LOOPS[name, mistake])


def test_an_answer_may_not_take_the_courses_own_scan():
    def imports_it(later, earlier):
        from rnnlab.scan import Maps, compose

        both = compose(*(Maps(maps[..., :-1], maps[..., -1]) for maps in (later, earlier)))
        return np.concatenate([both.a, both.b[..., None]], axis=-1)

    _, exercise = checks.find("compose_affine")
    assert judge(exercise, InProcess(imports_it, "compose_affine"), seed=1).status is Status.forbidden
    assert judge(exercise, InProcess(exercise.reference, "compose_affine"), seed=1).passed


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("T", "B", "n", "gain", "rounds"), [(13, 1, 3, 1.5, 4), (21, 3, 4, 1.5, 6)])
def test_mean_change_and_residual_stop_before_the_largest_change(seed, T, B, n, gain, rounds):
    rng = np.random.default_rng(seed)
    network, first, tolerance = newton._draw_network(rng, T, B, n, gain, rounds)
    solve = answers("parallel_in_time")["newton_states"].function
    states, needed = solve(network.step, network.scan, first, T, tolerance)
    assert needed == rounds
    residual, change = np.abs(newton._changes(network, first))
    first_below = lambda sizes: 1 + next(k for k, size in enumerate(sizes) if size <= tolerance)
    by_mean, by_residual = first_below(change.mean(axis=(1, 2, 3))), first_below(residual.max(axis=(1, 2, 3)))
    assert by_mean != by_residual
    assert max(by_mean, by_residual) < rounds
    h = first
    for t in range(T):
        h = np.tanh(np.einsum("bij,bj->bi", network.weights, h) + network.inputs[t])
        assert np.allclose(states[t], h, atol=tolerance)
