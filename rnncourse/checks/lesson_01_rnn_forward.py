"""Checks of lesson 01: a step, a sequence, a minibatch, and a network that computes a filter."""

import numpy as np

from nbjudge.comparing.judging import refuse
from nbjudge.exercise import Code, Wrong
from rnncourse.checks.answers import answers
from rnncourse.checks.results import expect, one_array_in_all
from rnncourse.checks.traces import missing_vector, with_hidden_weights
from rnnlab.compare import TOLERANCES

ANSWERS = answers("01_rnn_forward")


def parameters(rng, I: int, H: int, dtype="float64") -> tuple:
    """weight_ih [H,I], weight_hh [H,H], bias_ih [H], bias_hh [H], at which tanh is not saturated."""
    shapes = (H, I), (H, H), (H,), (H,)
    gains = 0.7 / np.sqrt(I), 0.9 / np.sqrt(H), 0.3, 0.3
    drawn = (gain * rng.standard_normal(shape) for gain, shape in zip(gains, shapes, strict=True))
    return tuple(array.astype(dtype) for array in drawn)


def exact(name: str, *arguments) -> np.ndarray:
    """The course's answer to arrays of any shape in float64, rounded to the dtype of the last argument."""
    wide = (a.astype("float64") if isinstance(a, np.ndarray) else a for a in arguments)
    return ANSWERS[name].call(*wide).astype(arguments[-1].dtype)


@ANSWERS.exercise("""
    I  H  dtype    spread
    3  2  float64       1
    2  2  float64       1
    1  1  float64       1
    4  6  float32       1
    3  4  float32    1000
    n  3  float64       1
""")
def check_rnn_step(answer, submission, rng, I, H, dtype, spread):
    """spread: scale of the inputs. At some hundred, tanh is 1 and exp overflows float32.

    Where it is large, unit 0 gets a sum far above zero and unit 1 one far below, whatever the seed.
    """
    x, h = (rng.standard_normal(size).astype(dtype) for size in (I, H))
    weights = parameters(rng, I, H, dtype)
    if spread > 1:
        weight_ih = weights[0]
        weight_ih[1] = -weight_ih[0]
        x = (spread * rng.uniform(1, 2, I) * np.sign(weight_ih[0])).astype(dtype)
    arguments = x, h, *weights
    want = exact("rnn_step", *arguments)
    case = f"I={I}, H={H}, {dtype}" + (f", inputs of about {spread}" if spread > 1 else "")
    got = submission(*arguments)

    def advice():
        return _sums(np.stack([h, got]), np.stack([h, want]), x[np.newaxis], weights)

    expect(got, want, "h': unit", case, advice=advice)


def _sums(got: np.ndarray, want: np.ndarray, x: np.ndarray, weights: tuple) -> str:
    """What tanh is taken of at the first state that differs; states [T+1,...,H] follow x [T,...,I]."""
    if repeated := one_array_in_all(got, want):
        return repeated
    far = np.abs(got - want) > TOLERANCES["float32"].gradient * np.abs(want).max()
    if not far.any():
        return "look at the last digits: which arrays are float32?"
    row, *sequence, unit = map(int, np.argwhere(far)[0])
    if row == 0:
        return "row 0 is the initial state itself."
    weight_ih, weight_hh, bias_ih, bias_hh = weights
    own = weight_ih[unit] @ x[(row - 1, *sequence)] + bias_ih[unit]
    carried = weight_hh[unit] @ want[(row - 1, *sequence)] + bias_hh[unit]
    sums = f"the input and its bias give {own:.4g}, the state before and its bias {carried:.4g}"
    return f"print both sums there: {sums}; tanh is taken once, of their sum."


@ANSWERS.exercise("""
    T  I  H  dtype
    3  1  2  float64
    1  1  1  float64
    5  4  2  float64
    4  2  6  float32
    n  3  2  float64
""")
def check_rnn_forward(answer, submission, rng, T, I, H, dtype):
    x = rng.standard_normal((T, I)).astype(dtype)
    h0 = rng.standard_normal(H).astype(dtype)
    arguments = x, h0, *parameters(rng, I, H, dtype)
    want = exact("rnn_forward", *arguments)
    case = f"T={T}, I={I}, H={H}, {dtype}"
    got = submission(*arguments)
    advice = lambda: _sums(got, want, x, arguments[2:])
    expect(got, want, "the array of states: row, unit", case, advice=advice)


COUNTED_PRODUCT = """
calls = multiplications = single = 0

def multiply(a, b):
    global calls, multiplications, single
    calls += 1
    single += np.shape(a)[-1:] == (1,) and {is_wide}
    trace.append((a, b))
    shapes = f"{{np.shape(a)}} and {{np.shape(b)}}"
    if calls > {budget}:
        raise Wrong(
            f"multiply is called more than 2*T = {budget} times for T={T} steps of B={B} sequences; "
            f"in the last call its factors have the shapes {{shapes}}.",
            None,
            "A product with one column in its first factor is a bias: add it with +." if single else
            "Give multiply the rows of all sequences at once: x[t] is [B,I].",
        )
    if np.ndim(a) != 2 or np.ndim(b) != 2:
        raise Wrong(
            f"multiply takes two matrices, and gets the shapes {{shapes}}.",
            None,
            "A minibatch at one step is a matrix already: x[t] is [B,I].",
        )
    if np.shape(a)[1] != np.shape(b)[0]:
        raise Wrong(
            f"multiply cannot multiply the shapes {{shapes}}: the two sizes in the middle differ.",
            None,
            "With one sequence a row the weights stand on the right: x[t] [B,I] times weight_ih.T [I,H].",
        )
    multiplications += np.size(a) * np.shape(b)[1]
    if multiplications > {most}:
        raise Wrong(
            f"All calls of multiply together need more than {most} multiplications, for T={T} steps of B={B} "
            f"sequences; in the last call its factors have the shapes {{shapes}}.",
            None,
            "Repeated rows and blocks of zeros are multiplied, too: x[t] is [B,I] and needs none.",
        )
    return hidden(a) @ hidden(b)
"""


@ANSWERS.exercise("""
    T  B  I  H  dtype    has_own
    3  3  2  4  float64    False
    1  1  1  1  float64    False
    2  5  3  4  float64    False
    4  3  5  2  float32    False
    2  3  4  5  float64     True
    n  2  3  4  float64    False
""")
def check_rnn_forward_batched(answer, submission, rng, T, B, I, H, dtype, has_own):
    """A multiply with weights of its own shows whether each product goes through it, from either side."""
    x = rng.standard_normal((T, B, I)).astype(dtype)
    h0 = rng.standard_normal((B, H)).astype(dtype)
    weights = parameters(rng, I, H, dtype)
    most = T * B * H * (I + 1 + H + 1)  # with a column of ones for each bias
    sizes = {"budget": 2 * T, "most": most, "T": T, "B": B, "is_wide": I > 1 < H}
    used, hidden = with_hidden_weights(rng, weights[:2], has_own)
    multiply = Code(hidden + COUNTED_PRODUCT.format(**sizes), "multiply", [])
    case = f"T={T}, B={B}, I={I}, H={H}, {dtype}" + (", multiply uses weights of its own" if has_own else "")
    got = submission(multiply, x, h0, *weights)
    want = exact("rnn_forward_batched", np.matmul, x, h0, *used, *weights[2:])
    advice = lambda: None if has_own else _sums(got, want, x, weights)
    if expect(got, want, "the array of states: row, sequence, unit", case, advice=advice):
        pairs = [(a, np.transpose(b)) for a, b in multiply.trace]
        refuse(missing_vector("multiply", pairs, {"x": x, "h": want[:-1]}), case)


@ANSWERS.exercise("""
        K
        2
        1
        3
        4
    12:40
        n
""")
def check_filter_weights(answer, submission, rng, K):
    delay = answer.number("delay", 0)
    kernel = rng.uniform(1, 2, K) * rng.choice((-1, 1), K)
    row = rng.uniform(0, 1, 9 + K + 2 * delay)  # so long that a pixel that comes back is seen
    if K > 3:
        kernel[::2] = 0  # Sobel's kernel has a 0, too
    delayed = np.concatenate([np.zeros(delay), kernel])
    arrays = _as_weights(submission(kernel), K, len(delayed))
    coarse = any(array.dtype == np.float32 for array in arrays)  # the lesson's own network is float32
    tolerance = TOLERANCES["float32" if coarse else "float64"].gradient
    got = run_linear(row, *(array.astype(float) for array in arrays))
    case = f"K={K}, kernel {np.round(kernel, 2).tolist()}"
    want = np.convolve(row, delayed)[: len(row)]
    advice = lambda: _spot(arrays, delayed)
    expect(got, want, "y: pixel", case, tolerance=tolerance, advice=advice)


def _spot(arrays: list, kernel: np.ndarray) -> str:
    """What the network makes of one bright pixel: the kernel that it computes."""
    pixels = np.eye(1, len(kernel) + 2)[0]
    answer = run_linear(pixels, *(array.astype(float) for array in arrays))

    def listed(numbers):
        return ", ".join(f"{number:.4g}" for number in numbers)

    right = listed(np.convolve(pixels, kernel)[: len(pixels)])
    return f"A row of one bright pixel, {listed(pixels)}, becomes {listed(answer)}; right is {right}."


def run_linear(row, weight_ih, weight_hh, weight_out):
    """y [T] of the network h' = weight_ih x + weight_hh h, y = weight_out h', from h = 0, over row [T]."""
    h = np.zeros(len(weight_hh))
    y = []
    for pixel in row:
        h = weight_ih[:, 0] * pixel + weight_hh @ h
        y.append(weight_out[0] @ h)
    return np.array(y)


def _as_weights(result, K: int, units: int) -> list:
    if not isinstance(result, tuple | list) or len(result) != 3:
        remedy = "End with `return weight_ih, weight_hh, weight_out`."
        raise Wrong("The result is not three arrays.", "returns the wrong type", remedy)
    kinds = [type(array).__name__ for array in result if not isinstance(array, np.ndarray)]
    if kinds:
        message = f"The result holds a {kinds[0]}; expected are three arrays."
        raise Wrong(message, "returns the wrong type", "np.array(...) makes an array of a list.")
    shapes = [array.shape for array in result]
    H = shapes[1][0] if shapes[1] else 0
    if not H or shapes != [(H, 1), (H, H), (1, H)]:
        raise Wrong(
            f"For a kernel of K={K} numbers the shapes are {shapes[0]}, {shapes[1]}, {shapes[2]}.",
            "returns the wrong shape",
            f"With H units: weight_ih (H, 1), weight_hh (H, H), weight_out (1, H); H = {units} is enough.",
        )
    return list(result)
