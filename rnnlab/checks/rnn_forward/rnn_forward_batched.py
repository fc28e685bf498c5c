"""rnn_forward_batched: one product serves all sequences of a minibatch; calls of `multiply` are counted."""

from functools import partial

import numpy as np

from rnnlab.checks.rnn_forward.rnn_step import exact, parameters
from rnnlab.grading.exercise import Code, Exercise, Mutant, Wrong
from rnnlab.grading.judging import expect

COUNTED_PRODUCT = """
calls = 0

def multiply(a, b):
    global calls
    calls += 1
    shapes = f"{{np.shape(a)}} and {{np.shape(b)}}"
    if calls > {budget}:
        raise Wrong(
            f"multiply is called more than 2*T = {budget} times for T={T} steps of B={B} sequences; "
            f"in the last call its factors have the shapes {{shapes}}.",
            "multiplies one sequence at a time",
            "Give multiply the rows of all sequences at once: x[t] is [B,I].",
        )
    if np.ndim(a) != 2 or np.ndim(b) != 2:
        raise Wrong(
            f"multiply takes two matrices, and gets the shapes {{shapes}}.",
            "multiplies one sequence at a time" if 1 in (np.ndim(a), np.ndim(b)) else None,
            "A minibatch at one step is a matrix already: x[t] is [B,I].",
        )
    if np.shape(a)[1] != np.shape(b)[0]:
        raise Wrong(
            f"multiply cannot multiply the shapes {{shapes}}: the two sizes in the middle differ.",
            None,
            "With one sequence a row the weights stand on the right: x[t] [B,I] times weight_ih.T [I,H].",
        )
    trace.append(("multiply", a, b))
    return a @ b * {scale}
"""


def rnn_forward_batched(multiply, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    states = [h0]
    for x_t in x:
        gates = multiply(x_t, weight_ih.T) + multiply(states[-1], weight_hh.T)
        states.append(np.tanh(gates + (bias_ih + bias_hh)))
    return np.stack(states)


def check(submission, rng):
    for T, B, I, H in ((1, 1, 1, 1), (3, 3, 2, 4), (2, 5, 3, 4)):
        _check_case(submission, rng, T, B, I, H)
    _check_case(submission, rng, 4, 3, 5, 2, dtype="float32")
    try:
        _check_case(submission, rng, 2, 3, 4, 5, scale=0.5)
    except Wrong as wrong:
        raise Wrong(
            "With a multiply that halves every product the states do not change as they should.",
            "does not use multiply for every product",
            "Look for @, np.dot, np.matmul or einsum in your answer and call multiply there.",
        ) from wrong


def _check_case(submission, rng, T, B, I, H, dtype="float64", scale=1):
    x, h0 = rng.standard_normal((T, B, I)).astype(dtype), rng.standard_normal((B, H)).astype(dtype)
    weights = parameters(rng, I, H, dtype)
    code = Code(COUNTED_PRODUCT.format(budget=2 * T, T=T, B=B, scale=scale), "multiply", [])
    want = exact(partial(rnn_forward_batched, lambda a, b: a @ b * scale), x, h0, *weights)
    wrong = _misconceptions(x, h0, *weights) if scale == 1 else {}
    case = f"T={T}, B={B}, I={I}, H={H}, {dtype}"
    got = submission(code, x, h0, *weights)
    axes = "row", "sequence", "unit"
    expect(got, want, axes=axes, what="the array of states", case=case, wrong=wrong)
    _insist_on_products(code.trace, x, want, case)


def _insist_on_products(trace: list, x: np.ndarray, states: np.ndarray, case: str) -> None:
    """Raises Wrong unless every input x[t,b] and state h[t,b] was a row, or part of one, of some factor.

    A factor's columns count too: the weights may stand on the left.
    """
    factors = [factor for _, a, b in trace for factor in (a, np.transpose(b))]
    for name, vectors in (("x", x), ("h", states[:-1])):
        for t, b in np.ndindex(vectors.shape[:2]):
            if not any(_holds_row(factor, vectors[t, b]) for factor in factors):
                raise Wrong(
                    f"The states are right, but multiply never got {name}[{t}] of sequence {b} ({case}).",
                    "does not use multiply for every product",
                    "Look for @, np.dot, np.matmul or einsum in your answer and call multiply there.",
                )


def _holds_row(factor: np.ndarray, vector: np.ndarray) -> bool:
    """Does the vector stand in one of the rows, side by side?"""
    if factor.shape[1] < len(vector):
        return False
    windows = np.lib.stride_tricks.sliding_window_view(factor, len(vector), axis=1)
    return bool((np.abs(windows - vector) <= 1e-4 * (1 + np.abs(vector))).all(axis=-1).any())


def _misconceptions(x, h0, weight_ih, weight_hh, bias_ih, bias_hh) -> dict:
    run = rnn_forward_batched
    want = run(np.matmul, x, h0, weight_ih, weight_hh, bias_ih, bias_hh)
    wrong = {
        "starts from zero instead of h0": run(np.matmul, x, 0 * h0, weight_ih, weight_hh, bias_ih, bias_hh),
        "transposes weight_hh": run(np.matmul, x, h0, weight_ih, weight_hh.T, bias_ih, bias_hh),
        "forgets the recurrent bias": run(np.matmul, x, h0, weight_ih, weight_hh, bias_ih, 0 * bias_hh),
        "forgets the input bias": run(np.matmul, x, h0, weight_ih, weight_hh, 0 * bias_ih, bias_hh),
        "leaves out the initial state": want[1:],
        "shows every sequence the inputs of the first": run(
            np.matmul, np.broadcast_to(x[:, :1], x.shape), h0, weight_ih, weight_hh, bias_ih, bias_hh
        ),
    }
    if len(x) == len(h0):
        wrong["takes x for [B,T,I]"] = run(
            np.matmul, x.swapaxes(0, 1), h0, weight_ih, weight_hh, bias_ih, bias_hh
        )
    return wrong


RNN_FORWARD_BATCHED = Exercise(
    name="rnn_forward_batched",
    points=4,
    difficulty=3,
    minutes=15,
    lines=7,
    hints=(
        "Start from your rnn_forward. Which of its arrays get one more axis, and which stay as they are "
        "because all sequences share them?",
        "`x[t]` is now a matrix [B,I] with one sequence a row. A row vector has its matrix on the right, "
        "transposed: multiply(x[t], weight_ih.T) is [B,H], the products of all sequences at once. No loop "
        "over sequences is left.",
        "`states = np.zeros((T + 1, *h0.shape), dtype=h0.dtype)`; in the loop over t two products, "
        "`multiply(x[t], weight_ih.T)` and the same for `states[t]` and `weight_hh.T`, plus both biases, "
        "then tanh.",
    ),
    check=check,
    truth=rnn_forward_batched,
    mutants=(
        Mutant(
            "multiplies one sequence at a time",
            "multiply(states[t], weight_hh.T)",
            "np.concatenate([multiply(h[np.newaxis], weight_hh.T) for h in states[t]])",
        ),
        Mutant(
            "does not use multiply for every product",
            "multiply(states[t], weight_hh.T)",
            "states[t] @ weight_hh.T",
        ),
        Mutant("transposes weight_hh", "weight_hh.T", "weight_hh"),
        Mutant("takes x for [B,T,I]", "x[t]", "x[:, t]"),
        Mutant("shows every sequence the inputs of the first", "x[t]", "x[t][:1]"),
        Mutant("starts from zero instead of h0", "    states[0] = h0\n", ""),
        Mutant("leaves out the initial state", "return states", "return states[1:]"),
        Mutant("forgets the recurrent bias", " + bias_hh", ""),
        Mutant("returns the wrong dtype", ", dtype=h0.dtype", ""),
    ),
    also_right=(
        "def rnn_forward_batched(multiply, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):\n"
        "    T, B, I = x.shape\n"
        "    gates_x = multiply(x.reshape(T * B, I), weight_ih.T).reshape(T, B, -1)\n"
        "    states = [h0]\n"
        "    for t in range(T):\n"
        "        states.append(np.tanh(gates_x[t] + multiply(states[t], weight_hh.T) + bias_ih + bias_hh))\n"
        "    return np.stack(states)",
        "def rnn_forward_batched(multiply, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):\n"
        "    both = np.concatenate([weight_ih, weight_hh], axis=1)\n"
        "    states = [h0]\n"
        "    for x_t in x:\n"
        "        inputs = np.concatenate([x_t, states[-1]], axis=1)\n"
        "        column = multiply(both, inputs.T) + (bias_ih + bias_hh)[:, np.newaxis]\n"
        "        states.append(np.tanh(column).T)\n"
        "    return np.array(states)",
    ),
)
