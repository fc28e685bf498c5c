"""An LSTM step backward, read off its graph: two states in, two gradients back."""

import numpy as np

from rnnlab.checks.differentiable_graphs.gates import told_by_gate
from rnnlab.checks.edits import wrong_values
from rnnlab.grading.exercise import Exercise, Mutant
from rnnlab.grading.judging import expect

WHAT = ("dx", "dh", "dc", "dweight_ih", "dweight_hh", "dbias")
AXES = {
    "dx": ("sequence", "input"),
    "dh": ("sequence", "unit"),
    "dc": ("sequence", "unit"),
    "dweight_ih": ("gate row", "input"),
    "dweight_hh": ("gate row", "unit read"),
    "dbias": ("gate row",),
}


def lstm_backward(dh_next, dc_next, x, h, c, i, f, g, o, c_next, weight_ih, weight_hh):
    tanh_c = np.tanh(c_next)
    dc_total = dc_next + dh_next * o * (1 - tanh_c**2)
    da_i = dc_total * g * i * (1 - i)
    da_f = dc_total * c * f * (1 - f)
    da_g = dc_total * i * (1 - g**2)
    da_o = dh_next * tanh_c * o * (1 - o)
    da = np.concatenate([da_i, da_f, da_g, da_o], axis=1)
    return da @ weight_ih, da @ weight_hh, dc_total * f, da.T @ x, da.T @ h, da.sum(axis=0)


MUTANTS = (
    Mutant("forgets what arrives at c_next from the next step", "dc_next + dh_next", "dh_next"),
    Mutant("forgets that h_next reads c_next too", "dc_next + dh_next * o * (1 - tanh_c**2)", "dc_next"),
    Mutant("forgets tanh's slope between c_next and h_next", "dh_next * o * (1 - tanh_c**2)", "dh_next * o"),
    Mutant("forgets the forget gate on the way to c", "dc_total * f, da.T", "dc_total, da.T"),
    Mutant(
        "multiplies the forget gate's gradient by c_next instead of c",
        "dc_total * c * f",
        "dc_total * c_next * f",
    ),
    Mutant(
        "multiplies the output gate's gradient by c_next without its tanh",
        "dh_next * tanh_c * o",
        "dh_next * c_next * o",
    ),
    Mutant("gives the candidate a sigmoid's slope", "(1 - g**2)", "g * (1 - g)"),
    Mutant(
        "multiplies gate i's gradient by i instead of g",
        "dc_total * g * i * (1 - i)",
        "dc_total * i * i * (1 - i)",
    ),
    Mutant("puts the gates in the order i, f, o, g", "da_g, da_o]", "da_o, da_g]"),
    Mutant(
        "changes its input",
        "dc_total = dc_next + dh_next * o * (1 - tanh_c**2)",
        "dc_next += dh_next * o * (1 - tanh_c**2)\n    dc_total = dc_next",
    ),
)


def check(submission, rng):
    for B, I, H in ((1, 2, 3), (3, 1, 2), (2, 5, 4), (4, 3, 6)):
        step = _draw(rng, B, I, H)
        wrong = wrong_values(lstm_backward, MUTANTS[:-1], *step)
        want = lstm_backward(*step)
        got = submission(*step)
        with told_by_gate(got, want, "ifgo"):
            expect(got, want, axes=AXES, what=WHAT, case=f"B={B}, I={I}, H={H}", wrong=wrong)


def _draw(rng: np.random.Generator, B: int, I: int, H: int) -> tuple[np.ndarray, ...]:
    """One step's wires, of no network in particular."""
    i, f, o = rng.uniform(0.1, 0.9, (3, B, H))
    g, h = rng.uniform(-0.9, 0.9, (2, B, H))
    dh_next, dc_next, c, c_next = rng.standard_normal((4, B, H))
    weight_ih, weight_hh = rng.standard_normal((4 * H, I)), rng.standard_normal((4 * H, H))
    return dh_next, dc_next, rng.standard_normal((B, I)), h, c, i, f, g, o, c_next, weight_ih, weight_hh


LSTM_BACKWARD = Exercise(
    name="lstm_backward",
    points=4,
    difficulty=3,
    minutes=25,
    lines=8,
    hints=(
        "Two gradients arrive, at h_next and at c_next. c_next is read twice: by the next step, and by the "
        "tanh that makes h_next. So two gradients meet in it before they go on: a copy, mirrored, is a sum.",
        "With dc_total in hand, c_next = f∘c + i∘g sends dc_total to both sums, and each elementwise product "
        "sends it on times its other factor: to f times c, to c times f, to i times g, to g times i. "
        "o is a factor of h_next, beside tanh(c_next). Then go through each gate's own function, written "
        "on its output: three sigmoids and one tanh.",
        "`dc_total = dc_next + dh_next * o * (1 - np.tanh(c_next)**2)`; da_i = dc_total * g * i * (1 - i); "
        "da_f has c, f; da_g = dc_total * i * (1 - g**2); da_o = dh_next * np.tanh(c_next) * o * (1 - o). "
        "Concatenate i, f, g, o along axis 1 to da [B,4H]: dx = da @ weight_ih, dweight_ih = da.T @ x, "
        "the same for h; dc = dc_total * f; dbias adds da up over the sequences.",
    ),
    check=check,
    truth=lstm_backward,
    mutants=MUTANTS,
    also_right=(
        """def lstm_backward(dh_next, dc_next, x, h, c, i, f, g, o, c_next, weight_ih, weight_hh):
    t = np.tanh(c_next)
    dc = dh_next * o
    dc = dc_next + dc - dc * t * t
    slopes = [(i - i * i) * g, (f - f * f) * c, (1 - g * g) * i]
    da = np.hstack([dc * slope for slope in slopes] + [dh_next * t * (o - o * o)])
    ones = np.ones(len(x))
    return da.dot(weight_ih), da.dot(weight_hh), f * dc, da.T.dot(x), da.T.dot(h), ones.dot(da)
""",
        """def lstm_backward(dh_next, dc_next, x, h, c, i, f, g, o, c_next, weight_ih, weight_hh):
    H = h.shape[1]
    dc_next = dc_next + dh_next * o / np.cosh(c_next) ** 2
    da = np.empty((len(h), 4 * H))
    da[:, :H] = dc_next * g * i * (1 - i)
    da[:, H : 2 * H] = dc_next * c * f * (1 - f)
    da[:, 2 * H : 3 * H] = dc_next * i * (1 - g) * (1 + g)
    da[:, 3 * H :] = dh_next * np.tanh(c_next) * o * (1 - o)
    dx = sum(part @ W for part, W in zip(np.split(da, 4, axis=1), np.split(weight_ih, 4)))
    dh = np.einsum("bk,kj->bj", da, weight_hh)
    return dx, dh, dc_next * f, np.einsum("bk,bi->ki", da, x), np.einsum("bk,bj->kj", da, h), np.sum(da, 0)
""",
    ),
)
