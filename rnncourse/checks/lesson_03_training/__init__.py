"""Checks of lesson 03: a gradient of the cross-entropy, clipping, Adam, and a training loop."""

from functools import partial
from itertools import cycle

import numpy as np

from nbjudge.comparing.differences import same
from nbjudge.comparing.judging import refuse
from nbjudge.exercise import Proxy, Wrong
from rnncourse.checks.answers import answers
from rnncourse.checks.lesson_03_training.train_filter import check_train_filter as check_train_filter
from rnncourse.checks.results import compare, expect

ANSWERS = answers("03_training")
TOO_LARGE = (
    "exp(710) is more than a float64 can hold, and exp(-750) is 0.",
    "Softmax does not change if you subtract the same number from all outputs of one step and sequence: "
    "subtract the largest of them before np.exp.",
)


@ANSWERS.exercise("""
    T  B  O  dtype    level
    3  2  4  float64  ''
    1  1  2  float64  ''
    2  5  3  float32  ''
    4  2  3  float64  steps
    2  3  4  float64  sequences
    3  2  3  float64  classes
    n  2  3  float64  ''
""")
def check_cross_entropy_gradient(answer, submission, rng, T, B, O, dtype, level):
    """`level`: how far the outputs lie from 0, as one number a step, a sequence or a class."""
    logits = rng.standard_normal((T, B, O))
    case = f"T={T}, B={B}, O={O}, {dtype}"
    if level:
        case += f", {level} 900 or more apart"
    if level == "steps":  # no single number subtracted from all of them keeps exp in range
        levels = rng.permutation(np.arange(T) - 1)
        logits += 900.0 * levels[:, np.newaxis, np.newaxis]
    elif level == "sequences":  # nor any single number of a step
        levels = _levels(rng, T, B)
        logits += 900.0 * levels[..., np.newaxis]
    elif level == "classes":  # nor does any but the largest output of its own row
        logits += 1000.0 * _levels(rng, T, B, O)
    logits = logits.astype(dtype)
    target = rng.integers(O, size=(T, B))
    want = answer.call(logits, target)
    got = submission(logits, target)
    if level and isinstance(got, np.ndarray) and not np.isfinite(got).all():
        problem, remedy = TOO_LARGE
        sentence = f"dlogits holds NaN or infinity: {problem}"
        refuse(Wrong(sentence, "returns NaN or infinity", remedy), case, got)
    else:
        advice = partial(_softmax_at, got, want, logits, target)
        expect(got, want, "dlogits: step, sequence, class", case, advice=advice)


def _levels(rng, *shape: int) -> np.ndarray:
    """Whole numbers from -1 on, in an order of its own in each row of the last axis."""
    *rows, length = shape
    levels = np.arange(length) - 1
    tiled = np.tile(levels, (*rows, 1))
    return rng.permuted(tiled, axis=-1)


def _softmax_at(got: np.ndarray, want: np.ndarray, logits: np.ndarray, target: np.ndarray) -> str:
    """Probabilities of the first guess whose gradient differs."""
    tolerance = 1e-5 * np.abs(want).max()
    far = np.abs(got - want) > tolerance
    t, b, _ = np.unravel_index(np.argmax(far), want.shape)
    outputs = logits[t, b].astype("float64")
    exponentials = np.exp(outputs - outputs.max())
    probabilities = exponentials / exponentials.sum()
    listed = ", ".join(f"{probability:.4g}" for probability in probabilities)
    label = target[t, b]
    return f"print the softmax: at step {t}, sequence {b} it is {listed}, and class {label} came."


SHAPES = {
    "weight_ih_l0": (6, 3),
    "weight_hh_l0": (6, 6),
    "bias_ih_l0": (6,),
    "weight_out": (1, 6),
    "bias_out": (1,),
}
SMALL = {"weight_hh_l0": (2, 2), "bias_hh_l0": (2,)}


# The dict that an answer is given: what is returned as it came is not of the type that a new dict has.
GIVEN = """
class Given(dict):
    def __reduce__(self):  # a copy of it is a new dict
        return dict, (dict(self),)

gradients = Given({{{parts}}})
"""
SAME_DICT = "returns the dict that it was given"


def _given(gradients: dict) -> Proxy:
    """The gradients {name: array} as a dict that is told from a new one."""
    parts = []
    for name, gradient in gradients.items():
        numbers = gradient.tolist()
        parts.append(f"{name!r}: np.array({numbers}, {gradient.dtype.name!r})")
    source = GIVEN.format(parts=", ".join(parts))
    return Proxy(source, "gradients")


@ANSWERS.exercise(
    (
        (SMALL, 3.0, "float64"),
        ({"weight": (3,)}, 4.0, "float64"),
        (SMALL, 0.4, "float64"),
        (SMALL, 0.0, "float64"),
        (SHAPES, 50.0, "float32"),
        (SHAPES, 0.99, "float32", 2.0),  # above 1 a square is larger than its root
        (SHAPES, 1.5, "float64"),  # and no number by itself is above the limit
        (SMALL, 1e25, "float32"),  # whose squares no float32 holds
        (SHAPES, 2.0, "float64, float32"),
    ),
    late=lambda n: ({"weight": (n, 2), "bias": (n,)}, 3.0, "float64"),
)
def check_clip_by_global_norm(answer, submission, rng, shapes, ratio, dtype, least=0.6):
    """`ratio`: the global norm in units of the limit, which is at least `least`; above it, below it, 0.
    dtype: of all gradients, or of each in turn."""
    drawn = {name: rng.standard_normal(shape) for name, shape in shapes.items()}
    squares = [(gradient**2).sum() for gradient in drawn.values()]
    norm = np.sqrt(sum(squares))
    limit = round(rng.uniform(least, least + 1), 2)
    scale = ratio * limit / norm
    dtypes = cycle(dtype.split(", "))
    gradients = {}
    for name, number_type in zip(shapes, dtypes, strict=False):
        gradient = scale * drawn[name]
        gradients[name] = gradient.astype(number_type)
    want = answer.call(gradients, limit)
    axes = {}
    for name, gradient in gradients.items():
        axes[name] = ("row", "column") if gradient.ndim == 2 else ("entry",)
    names = ", ".join(shapes)
    global_norm = ratio * limit
    case = f"gradients of {names}, {dtype}, global norm {global_norm:.6g}, limit {limit}"
    try:
        got = submission(_given(gradients), limit)
    except Wrong as wrong:
        if "type Given" in wrong.message:
            remedy = "A later change of the result would change the gradients, too: return a new dict."
            wrong = Wrong("It returns the dict that it was given, not a new one.", SAME_DICT, remedy)
        refuse(wrong, case)
        return
    # wide enough for limit / (norm + 1e-6), which is how PyTorch writes it
    expect(got, want, axes, case, tolerance=1e-5)


STATE = "weight: row, column; m: row, column; v: row, column; step"


@ANSWERS.exercise("""
    updates  shape  dtype
          2  (2,3)  float64
          4  (1,1)  float64
          7  (4,3)  float32
          0  (3,2)  float64
          1  (3,2)  float64
          2  (n,3)  float64
""")
def check_adam_update(answer, submission, rng, updates, shape, dtype):
    """One update after `updates` others, from the state that these have left."""
    # epsilon is far larger than in practice: where it stands must show
    rate = round(rng.uniform(0.05, 0.2), 3)
    beta1, beta2 = rng.uniform((0.8, 0.92), (0.9, 0.97)).round(2).tolist()
    settings = rate, beta1, beta2, 0.25

    def draw():
        return rng.standard_normal(shape).astype(dtype)

    def update(weight, m, v, step):
        return (weight, draw(), m, v, step, *settings)

    m = np.zeros(shape, dtype)
    v = np.zeros(shape, dtype)
    state = draw(), m, v, 0
    for _ in range(updates):
        state = answer.call(*update(*state))
    arguments = update(*state)
    case = f"an array of shape {shape}, {dtype}, after {updates} updates"
    advice = partial(_adam_parts, arguments=arguments)
    compare(answer, submission, arguments, STATE, advice, case)


def _adam_parts(got: tuple, want: tuple, arguments: tuple) -> str | None:
    """Advice for Adam: the first mean that is wrong, or the corrected means if only the weight is."""
    _, gradient, m_before, v_before, _, rate, beta1, beta2, epsilon = arguments
    _, own_m, own_v, own_step = got
    _, m, v, step = want
    means = (("m", own_m, m, m_before, beta1), ("v", own_v, v, v_before, beta2))
    for name, own, right, before, beta in means:
        if not same(own, right, None):
            old = before.flat[0]
            slope = gradient.flat[0]
            new = right.flat[0]
            return (
                f"{name} is wrong: at the first number it was {old:.4g}, the gradient is {slope:.4g}, "
                f"beta {beta}, and {name} becomes {new:.4g}."
            )
    if not same(own_step, step, None):
        return None
    m_hat = m.flat[0] / (1 - beta1**step)
    v_hat = v.flat[0] / (1 - beta2**step)
    return (
        f"print the corrected means of the first number: with s = {step} they are {m_hat:.4g} and "
        f"{v_hat:.4g}; learning_rate is {rate} and epsilon {epsilon}."
    )
