"""Checks of lesson 01: a step, a sequence, a minibatch, and a network that computes a filter."""

from functools import partial

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
    weight_ih = 0.7 / np.sqrt(I) * rng.standard_normal((H, I))
    weight_hh = 0.9 / np.sqrt(H) * rng.standard_normal((H, H))
    bias_ih = 0.3 * rng.standard_normal(H)
    bias_hh = 0.3 * rng.standard_normal(H)
    arrays = weight_ih, weight_hh, bias_ih, bias_hh
    return tuple(array.astype(dtype) for array in arrays)


def exact(name: str, *arguments) -> np.ndarray:
    """The course's answer to arrays of any shape in float64, rounded to the dtype of the last argument."""
    dtype = arguments[-1].dtype
    wide = []
    for argument in arguments:
        is_array = isinstance(argument, np.ndarray)
        wide.append(argument.astype("float64") if is_array else argument)
    result = ANSWERS[name].call(*wide)
    return result.astype(dtype)


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
    x = rng.standard_normal(I).astype(dtype)
    h = rng.standard_normal(H).astype(dtype)
    weights = parameters(rng, I, H, dtype)
    case = f"I={I}, H={H}, {dtype}"
    if spread > 1:
        weight_ih = weights[0]
        weight_ih[1] = -weight_ih[0]
        sizes = spread * rng.uniform(1, 2, I)
        signs = np.sign(weight_ih[0])
        x = (sizes * signs).astype(dtype)
        case += f", inputs of about {spread}"
    arguments = x, h, *weights
    want = exact("rnn_step", *arguments)
    got = submission(*arguments)

    def advice():
        right_states = np.stack([h, want])  # [T+1,H], T = 1
        states = np.stack([h, got])
        inputs = x[np.newaxis]  # [T,I]
        return _sums(states, right_states, inputs, weights)

    expect(got, want, "h': unit", case, advice=advice)


def _sums(got: np.ndarray, want: np.ndarray, x: np.ndarray, weights: tuple) -> str:
    """What tanh is taken of at the first state that differs; states [T+1,...,H] follow x [T,...,I]."""
    if repeated := one_array_in_all(got, want):
        return repeated
    tolerance = TOLERANCES["float32"].gradient * np.abs(want).max()
    far = np.abs(got - want) > tolerance
    if not far.any():
        return "look at the last digits: which arrays are float32?"
    row, *sequence, unit = map(int, np.argwhere(far)[0])
    if row == 0:
        return "row 0 is the initial state itself."
    step = (row - 1, *sequence)
    weight_ih, weight_hh, bias_ih, bias_hh = weights
    own = weight_ih[unit] @ x[step] + bias_ih[unit]
    carried = weight_hh[unit] @ want[step] + bias_hh[unit]
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
    weights = parameters(rng, I, H, dtype)
    want = exact("rnn_forward", x, h0, *weights)
    got = submission(x, h0, *weights)
    case = f"T={T}, I={I}, H={H}, {dtype}"
    advice = partial(_sums, got, want, x, weights)
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
    biases = weights[2:]
    most = T * B * H * (I + 1 + H + 1)  # with a column of ones for each bias
    sizes = {"budget": 2 * T, "most": most, "T": T, "B": B, "is_wide": I > 1 < H}
    used, hidden = with_hidden_weights(rng, weights[:2], has_own)
    source = hidden + COUNTED_PRODUCT.format(**sizes)
    multiply = Code(source, "multiply", [])
    case = f"T={T}, B={B}, I={I}, H={H}, {dtype}"
    if has_own:
        case += ", multiply uses weights of its own"
    got = submission(multiply, x, h0, *weights)
    want = exact("rnn_forward_batched", np.matmul, x, h0, *used, *biases)

    def advice():
        if has_own:
            return None
        return _sums(got, want, x, weights)

    if expect(got, want, "the array of states: row, sequence, unit", case, advice=advice):
        pairs = [(a, np.transpose(b)) for a, b in multiply.trace]
        vectors = {"x": x, "h": want[:-1]}
        missing = missing_vector("multiply", pairs, vectors)
        refuse(missing, case)


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
    sizes = rng.uniform(1, 2, K)
    signs = rng.choice((-1, 1), K)
    kernel = sizes * signs
    length = 9 + K + 2 * delay  # so long that a pixel that comes back is seen
    row = rng.uniform(0, 1, length)
    if K > 3:
        kernel[::2] = 0  # Sobel's kernel has a 0, too
    delayed = np.concatenate([np.zeros(delay), kernel])
    result = submission(kernel)
    weights = _as_weights(result, K, len(delayed))
    is_coarse = any(array.dtype == np.float32 for array in weights)  # the lesson's own network is float32
    dtype = "float32" if is_coarse else "float64"
    got = run_linear(row, *weights)
    want = np.convolve(row, delayed)[: len(row)]
    rounded = np.round(kernel, 2).tolist()
    case = f"K={K}, kernel {rounded}"
    tolerance = TOLERANCES[dtype].gradient
    advice = partial(_spot, weights, delayed)
    expect(got, want, "y: pixel", case, tolerance=tolerance, advice=advice)


def _spot(weights: list, kernel: np.ndarray) -> str:
    """What the network makes of one bright pixel: the kernel that it computes."""
    pixels = np.eye(1, len(kernel) + 2)[0]
    got = run_linear(pixels, *weights)
    want = np.convolve(pixels, kernel)[: len(pixels)]

    def listed(numbers):
        return ", ".join(f"{number:.4g}" for number in numbers)

    return f"A row of one bright pixel, {listed(pixels)}, becomes {listed(got)}; right is {listed(want)}."


def run_linear(row, weight_ih, weight_hh, weight_out):
    """y [T] of h' = weight_ih x + weight_hh h, y = weight_out h', from h = 0, over row [T], in float64."""
    input_weights = weight_ih[:, 0].astype(float)
    weight_hh = weight_hh.astype(float)
    output_weights = weight_out[0].astype(float)
    h = np.zeros(len(weight_hh))
    y = []
    for pixel in row:
        h = input_weights * pixel + weight_hh @ h
        y.append(output_weights @ h)
    return np.array(y)


def _as_weights(result, K: int, units: int) -> list:
    is_triple = isinstance(result, tuple | list) and len(result) == 3
    if not is_triple:
        remedy = "End with `return weight_ih, weight_hh, weight_out`."
        raise Wrong("The result is not three arrays.", "returns the wrong type", remedy)
    for part in result:
        if not isinstance(part, np.ndarray):
            message = f"The result holds a {type(part).__name__}; expected are three arrays."
            raise Wrong(message, "returns the wrong type", "np.array(...) makes an array of a list.")
    shapes = [array.shape for array in result]
    H = shapes[1][0] if shapes[1] else 0
    expected = [(H, 1), (H, H), (1, H)]
    if not H or shapes != expected:
        listed = ", ".join(map(str, shapes))
        raise Wrong(
            f"For a kernel of K={K} numbers the shapes are {listed}.",
            "returns the wrong shape",
            f"With H units: weight_ih (H, 1), weight_hh (H, H), weight_out (1, H); H = {units} is enough.",
        )
    return list(result)
