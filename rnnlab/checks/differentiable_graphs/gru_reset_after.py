"""A GRU forward in 1 + T products, keeping U·h: variant 4 of the post.  The product given to it counts."""

import numpy as np

from rnnlab.checks.edits import call, wrong_values
from rnnlab.checks.traces import insist_on_trace
from rnnlab.grading.exercise import Code, Exercise, Mutant
from rnnlab.grading.judging import expect

EVERY_STEP = "makes a product of x at every step"
EVERY_GATE = "makes a product for every gate"
BEFORE = "resets before the product"


def gru_reset_after(product, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    (T, B, I), H = x.shape, h0.shape[1]
    sigmoid = lambda a: 1 / (1 + np.exp(-a))
    gates_x = (product(x.reshape(T * B, I), weight_ih) + bias_ih).reshape(T, B, 3 * H)
    h, states, products = h0, [], []
    for x_r, x_z, x_n in (np.split(gates, 3, axis=1) for gates in gates_x):
        h_r, h_z, h_n = np.split(product(h, weight_hh) + bias_hh, 3, axis=1)
        r, z = sigmoid(x_r + h_r), sigmoid(x_z + h_z)
        n = np.tanh(x_n + r * h_n)
        h = (1 - z) * n + z * h
        states.append(h)
        products.append(h_n)
    return np.stack(states), np.stack(products)


TOO_MANY = (
    Mutant(
        BEFORE,
        "n = np.tanh(x_n + r * h_n)",
        "n = np.tanh(x_n + product(r * h, weight_hh[2 * H :]) + bias_hh[2 * H :])",
    ),
    Mutant(
        EVERY_STEP,
        "(product(x.reshape(T * B, I), weight_ih) + bias_ih).reshape(T, B, 3 * H)",
        "[product(x_t, weight_ih) + bias_ih for x_t in x]",
    ),
    Mutant(
        EVERY_GATE,
        "np.split(product(h, weight_hh) + bias_hh, 3, axis=1)",
        "[product(h, U) + b for U, b in zip(np.split(weight_hh, 3), np.split(bias_hh, 3))]",
    ),
)
MUTANTS = (
    *TOO_MANY,
    Mutant(
        "adds the recurrent bias behind the reset gate",
        "r * h_n)",
        "r * (h_n - bias_hh[2 * H :]) + bias_hh[2 * H :])",
    ),
    Mutant("forgets the recurrent bias", "product(h, weight_hh) + bias_hh", "product(h, weight_hh)"),
    Mutant("swaps z and 1 − z", "(1 - z) * n + z * h", "z * n + (1 - z) * h"),
    Mutant("takes the gates in the order z, r, n", "r, z = sigmoid", "z, r = sigmoid"),
    Mutant("keeps r∘(U·h) instead of U·h", "products.append(h_n)", "products.append(r * h_n)"),
    Mutant("keeps n instead of U·h", "products.append(h_n)", "products.append(n)"),
    Mutant("starts from zeros instead of h0", "h, states, products = h0", "h, states, products = 0 * h0"),
)

COUNTED_PRODUCT = """
def counted(allowed, inputs):
    lefts, weights = [], []

    def product(a, weight):
        if len(lefts) == allowed:
            raise Wrong(
                f"product was called more than 1 + T = {allowed} times for T={allowed - 1}.",
                why(a, weight),
                "One call serves all steps of x, as [T*B,I]; one call a step serves all three gates.",
            )
        lefts.append(a.copy())
        trace.append(("product", a))
        weights.append(weight.shape)
        return a @ weight.T

    def why(a, weight):
        if sum(shape[1] == inputs for shape in weights) > 1:
            return "makes a product of x at every step"
        if a.shape == lefts[-1].shape and (a == lefts[-1]).all():
            return "makes a product for every gate"
        return "resets before the product" if len(weight) < weights[0][0] else None

    return product

"""


def check(submission, rng):
    drawn = int(rng.integers(5, 9))
    for T, B, I, H in ((1, 1, 2, 3), (3, 2, 4, 3), (4, 3, 1, 2), (drawn, 2, 5, 4)):
        arguments = _draw(rng, T, B, I, H)
        want = call(gru_reset_after, arguments)
        case = f"T={T}, B={B}, I={I}, H={H}"
        expect(
            submission(*arguments),
            want,
            axes=("step", "sequence", "unit"),
            what=("y", "the kept product"),
            case=case,
            wrong=wrong_values(gru_reset_after, MUTANTS[len(TOO_MANY) :], *arguments),
        )
        insist_on_trace(arguments[0].trace, gru_reset_after, arguments, case)


def _draw(rng: np.random.Generator, T: int, B: int, I: int, H: int) -> tuple:
    """A sequence, a state and weights; I and H must differ, so that products can be told apart."""
    return (
        Code(f"{COUNTED_PRODUCT}\nproduct = counted({1 + T}, {I})\n", "product", []),
        rng.standard_normal((T, B, I)),
        rng.uniform(-0.9, 0.9, (B, H)),
        rng.standard_normal((3 * H, I)) / np.sqrt(I),
        rng.standard_normal((3 * H, H)) / np.sqrt(H),
        rng.standard_normal(3 * H) / 2,
        rng.standard_normal(3 * H) / 2,
    )


GRU_RESET_AFTER = Exercise(
    name="gru_reset_after",
    points=4,
    difficulty=3,
    minutes=25,
    lines=12,
    hints=(
        "Which of the products do not wait for h? All those with x, of all steps: one call before the loop. "
        "Which products of a step read the same left factor? With the reset gate behind the product all "
        "three read h: one call a step.",
        "Before the loop: reshape x to [T*B,I], multiply by weight_ih, add bias_ih, reshape to [T,B,3H]. "
        "In the loop: h times weight_hh plus bias_hh, [B,3H]; both are then split along axis 1 into r, z, "
        "n. The candidate is tanh(x_n + r∘h_n), where h_n already contains its bias; h_n is what you keep.",
        "`gates_x = (product(x.reshape(T * B, I), weight_ih) + bias_ih).reshape(T, B, 3 * H)`; for each step "
        "`h_r, h_z, h_n = np.split(product(h, weight_hh) + bias_hh, 3, axis=1)`, the same split for "
        "gates_x[t], then r and z are sigmoids of sums, n = np.tanh(x_n + r * h_n) and h = (1 - z) * n + "
        "z * h. Collect h and h_n in two lists, and np.stack them.",
    ),
    check=check,
    truth=gru_reset_after,
    mutants=MUTANTS,
    also_right=(
        """def gru_reset_after(product, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    (T, B, I), H = x.shape, len(weight_hh[0])
    before = product(x.reshape(-1, I), weight_ih).reshape(T, B, -1)
    y, kept = np.empty((T, B, H)), np.empty((T, B, H))
    h = h0
    for t in range(T):
        recurrent = product(h, weight_hh) + bias_hh
        a = before[t] + bias_ih
        gates = 0.5 * np.tanh(0.5 * (a + recurrent)[:, : 2 * H]) + 0.5
        kept[t] = recurrent[:, 2 * H :]
        n = np.tanh(a[:, 2 * H :] + gates[:, :H] * kept[t])
        h = y[t] = n + gates[:, H:] * (h - n)
    return y, kept
""",
        """def gru_reset_after(product, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    T, B, I = x.shape
    H = h0.shape[-1]
    rows = product(np.concatenate(list(x)), weight_ih) + bias_ih
    states, kept = [h0], []
    for t in range(T):
        x_r, x_z, x_n = (rows[t * B : (t + 1) * B, k * H : (k + 1) * H] for k in range(3))
        h_r, h_z, h_n = np.hsplit(product(states[-1], weight_hh) + bias_hh, 3)
        r, z = 1 / (1 + np.exp(-x_r - h_r)), 1 / (1 + np.exp(-x_z - h_z))
        kept.append(h_n)
        states.append(z * states[-1] + (1 - z) * np.tanh(x_n + h_n * r))
    return np.array(states[1:]), np.array(kept)
""",
    ),
)
