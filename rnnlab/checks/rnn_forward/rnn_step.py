"""rnn_step: the next state of one sequence, from one input and the state before."""

import numpy as np

from rnnlab.grading.exercise import Exercise, Mutant
from rnnlab.grading.judging import expect


def parameters(rng, I: int, H: int, dtype="float64") -> tuple:
    """weight_ih [H,I], weight_hh [H,H], bias_ih [H], bias_hh [H], at which tanh is not saturated."""
    shapes = (H, I), (H, H), (H,), (H,)
    gains = 0.7 / np.sqrt(I), 0.9 / np.sqrt(H), 0.3, 0.3
    drawn = (gain * rng.standard_normal(shape) for gain, shape in zip(gains, shapes, strict=True))
    return tuple(array.astype(dtype) for array in drawn)


def exact(function, *arrays):
    """function(*arrays) worked out in float64 and rounded to the dtype of the arrays."""
    return function(*(array.astype("float64") for array in arrays)).astype(arrays[0].dtype)


def rnn_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):
    return np.tanh(weight_ih @ x + bias_ih + weight_hh @ h + bias_hh)


def check(submission, rng):
    for I, H, dtype in ((1, 1, "float64"), (2, 2, "float64"), (3, 2, "float64"), (4, 6, "float32")):
        x, h = (rng.standard_normal(size).astype(dtype) for size in (I, H))
        weights = parameters(rng, I, H, dtype)
        want = exact(rnn_step, x, h, *weights)
        wrong = _misconceptions(x, h, *weights)
        got = submission(x, h, *weights)
        expect(got, want, axes=("unit",), what="h'", case=f"I={I}, H={H}, {dtype}", wrong=wrong)


def _misconceptions(x, h, weight_ih, weight_hh, bias_ih, bias_hh) -> dict:
    gates_x, gates_h = weight_ih @ x + bias_ih, weight_hh @ h + bias_hh
    before = gates_x + gates_h
    wrong = {
        "forgets tanh": before,
        "uses the logistic function instead of tanh": 1 / (1 + np.exp(-before)),
        "takes tanh of each part": np.tanh(gates_x) + np.tanh(gates_h),
        "forgets the input bias": np.tanh(before - bias_ih),
        "forgets the recurrent bias": np.tanh(before - bias_hh),
        "forgets both biases": np.tanh(weight_ih @ x + weight_hh @ h),
        "forgets the old state": np.tanh(gates_x + bias_hh),
        "transposes weight_hh": np.tanh(gates_x + h @ weight_hh + bias_hh),
    }
    if len(x) == len(h):
        wrong["transposes weight_ih"] = np.tanh(x @ weight_ih + bias_ih + gates_h)
    return wrong


RNN_STEP = Exercise(
    name="rnn_step",
    points=2,
    difficulty=1,
    minutes=8,
    lines=3,
    hints=(
        "Two matrices meet two vectors. Which of them fits x [I], which h [H]? Both products have H "
        "entries: why?",
        "Everything is added up before tanh is taken, once: two products and two biases. For a single "
        "vector the matrix stands on the left: `matrix @ vector`.",
        "`gates_x = weight_ih @ x + bias_ih`; `gates_h` is made in the same way from h; the next state is "
        "`np.tanh` of their sum.",
    ),
    check=check,
    truth=rnn_step,
    mutants=(
        Mutant("forgets tanh", "np.tanh(gates_x + gates_h)", "gates_x + gates_h"),
        Mutant(
            "uses the logistic function instead of tanh",
            "np.tanh(gates_x + gates_h)",
            "1 / (1 + np.exp(-(gates_x + gates_h)))",
        ),
        Mutant(
            "takes tanh of each part", "np.tanh(gates_x + gates_h)", "np.tanh(gates_x) + np.tanh(gates_h)"
        ),
        Mutant("forgets the input bias", " + bias_ih", ""),
        Mutant("forgets the recurrent bias", " + bias_hh", ""),
        Mutant("forgets the old state", "weight_hh @ h + bias_hh", "bias_hh"),
        Mutant("transposes weight_ih", "weight_ih @ x", "x @ weight_ih"),
        Mutant("transposes weight_hh", "weight_hh @ h", "h @ weight_hh"),
        Mutant(
            "changes its input",
            "return np.tanh(gates_x + gates_h)",
            "h[:] = np.tanh(gates_x + gates_h)\n    return h",
        ),
    ),
    also_right=(
        "def rnn_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):\n"
        "    both = np.concatenate([weight_ih, weight_hh], axis=1)\n"
        "    return np.tanh(both @ np.concatenate([x, h]) + (bias_ih + bias_hh))",
        "def rnn_step(x, h, weight_ih, weight_hh, bias_ih, bias_hh):\n"
        "    after = np.empty_like(h)\n"
        "    for j in range(len(h)):\n"
        "        after[j] = np.tanh(weight_ih[j].dot(x) + weight_hh[j].dot(h) + bias_ih[j] + bias_hh[j])\n"
        "    return after",
    ),
)
