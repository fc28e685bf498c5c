"""rnn_forward: all states of one sequence, the given one first."""

import numpy as np

from rnnlab.checks.rnn_forward.rnn_step import exact, parameters, rnn_step
from rnnlab.grading.exercise import Exercise, Mutant
from rnnlab.grading.judging import expect

CASES = ((1, 1, 1, "float64"), (3, 1, 2, "float64"), (5, 4, 3, "float64"), (4, 2, 6, "float32"))  # T, I, H


def rnn_forward(x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    states = [h0]
    for x_t in x:
        states.append(rnn_step(x_t, states[-1], weight_ih, weight_hh, bias_ih, bias_hh))
    return np.stack(states)


def check(submission, rng):
    for T, I, H, dtype in CASES:
        x, h0 = rng.standard_normal((T, I)).astype(dtype), rng.standard_normal(H).astype(dtype)
        weights = parameters(rng, I, H, dtype)
        want = exact(rnn_forward, x, h0, *weights)
        wrong = _misconceptions(x, h0, weights, want)
        case = f"T={T}, I={I}, H={H}, {dtype}"
        got = submission(x, h0, *weights)
        expect(got, want, axes=("row", "unit"), what="the array of states", case=case, wrong=wrong)


def _misconceptions(x, h0, weights, want) -> dict:
    late, backwards = np.roll(x, 1, axis=0), x[::-1]
    short = np.concatenate([want[:-1], np.zeros_like(want[:1])])
    return {
        "leaves out the initial state": want[1:],
        "leaves out the last step": short,
        "returns one row too few": want[:-1],
        "returns the last state only": want[-1],
        "starts from zero instead of h0": rnn_forward(x, np.zeros_like(h0), *weights),
        "starts every step from h0": np.stack([h0, *(rnn_step(x_t, h0, *weights) for x_t in x)]),
        "runs through the sequence backwards": rnn_forward(backwards, h0, *weights),
        "reads the input of the step before": rnn_forward(late, h0, *weights),
        "fills every row with the last state": np.broadcast_to(want[-1], want.shape),
        "stores the same array at every step": np.stack([h0, *(want[-1] for _ in x)]),
    }


RNN_FORWARD = Exercise(
    name="rnn_forward",
    points=3,
    difficulty=2,
    minutes=12,
    lines=7,
    hints=(
        "What does step t need, and where does it stand? The input is row t of x; the state before it is "
        "the one that you stored last. How many rows has the result if the given state counts?",
        "One loop over the T steps. Row 0 of the result is h0, and step t reads row t and writes row t + 1. "
        "Every step makes a new state: an array that is overwritten would be the same one in every row.",
        "`states = np.zeros((T + 1, H), dtype=h0.dtype)`, `states[0] = h0`, then for each t: `states[t + 1] "
        "= ...` with your step on `x[t]` and `states[t]`.",
    ),
    check=check,
    truth=rnn_forward,
    mutants=(
        Mutant("leaves out the initial state", "return states", "return states[1:]"),
        Mutant("leaves out the last step", "range(T)", "range(T - 1)"),
        Mutant("returns the last state only", "return states", "return states[-1]"),
        Mutant("starts from zero instead of h0", "states[0] = h0", "states[0] = 0"),
        Mutant("starts every step from h0", "weight_hh @ states[t]", "weight_hh @ h0"),
        Mutant("runs through the sequence backwards", "x[t]", "x[-1 - t]"),
        Mutant("reads the input of the step before", "x[t]", "x[t - 1]"),
        Mutant("stores the same array at every step", "states[t + 1] =", "states[1:] ="),
        Mutant("returns the wrong dtype", ", dtype=h0.dtype", ""),
        Mutant("changes its input", "states[t + 1] =", "states[t + 1] = h0[:] ="),
    ),
    also_right=(
        "def rnn_forward(x, h0, weight_ih, weight_hh, bias_ih, bias_hh):\n"
        "    states = [h0]\n"
        "    for x_t in x:\n"
        "        states.append(np.tanh(weight_ih @ x_t + weight_hh @ states[-1] + bias_ih + bias_hh))\n"
        "    return np.array(states)",
        "def rnn_forward(x, h0, weight_ih, weight_hh, bias_ih, bias_hh):\n"
        "    gates_x = x @ weight_ih.T + (bias_ih + bias_hh)\n"
        "    h = h0[np.newaxis]\n"
        "    for row in gates_x:\n"
        "        h = np.vstack([h, np.tanh(row + weight_hh @ h[-1])])\n"
        "    return h",
    ),
)
