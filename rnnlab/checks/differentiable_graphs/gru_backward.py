"""A GRU step backward, read off its graph: reset after the product, sibling of the lesson's reset before."""

import numpy as np

from rnnlab.checks.differentiable_graphs.gates import told_by_gate
from rnnlab.checks.edits import wrong_values
from rnnlab.grading.exercise import Exercise, Mutant
from rnnlab.grading.judging import expect

WHAT = ("dx", "dh", "dweight_ih", "dweight_hh", "dbias_ih", "dbias_hh")
AXES = {
    "dx": ("sequence", "input"),
    "dh": ("sequence", "unit"),
    "dweight_ih": ("gate row", "input"),
    "dweight_hh": ("gate row", "unit read"),
    "dbias_ih": ("gate row",),
    "dbias_hh": ("gate row",),
}


def gru_backward(dh_next, x, h, r, z, n, product, weight_ih, weight_hh):
    da_n = dh_next * (1 - z) * (1 - n**2)
    da_z = dh_next * (h - n) * z * (1 - z)
    da_r = da_n * product * r * (1 - r)
    d_input = np.concatenate([da_r, da_z, da_n], axis=1)
    d_recurrent = np.concatenate([da_r, da_z, da_n * r], axis=1)
    dh = d_recurrent @ weight_hh + dh_next * z
    dweight_ih, dweight_hh = d_input.T @ x, d_recurrent.T @ h
    return d_input @ weight_ih, dh, dweight_ih, dweight_hh, d_input.sum(axis=0), d_recurrent.sum(axis=0)


MUTANTS = (
    Mutant("forgets the wire from h past all gates, z∘h", " + dh_next * z\n", "\n"),
    Mutant("swaps z and 1 − z", "dh_next * (1 - z) * (1 - n**2)", "dh_next * z * (1 - n**2)"),
    Mutant("forgets that z is read twice, as z and as 1 − z", "(h - n)", "h"),
    Mutant("takes the wrong sign for z", "(h - n)", "(n - h)"),
    Mutant("forgets tanh's slope", " * (1 - n**2)", ""),
    Mutant("forgets the slope of the reset gate", "product * r * (1 - r)", "product"),
    Mutant("multiplies the reset gate's gradient by h instead of the product", "da_n * product", "da_n * h"),
    Mutant("lets the candidate's gradient past the reset gate", "da_n * r]", "da_n]"),
    Mutant("gives both biases the same gradient", "d_recurrent.sum(axis=0)", "d_input.sum(axis=0)"),
    Mutant("puts the gates in the order z, r, n", "[da_r, da_z,", "[da_z, da_r,"),
)


def check(submission, rng):
    for B, I, H in ((1, 2, 3), (3, 1, 2), (2, 5, 4), (4, 3, 6)):
        step = _draw(rng, B, I, H)
        wrong = wrong_values(gru_backward, MUTANTS, *step)
        want = gru_backward(*step)
        got = submission(*step)
        with told_by_gate(got, want, "rzn"):
            expect(got, want, axes=AXES, what=WHAT, case=f"B={B}, I={I}, H={H}", wrong=wrong)


def _draw(rng: np.random.Generator, B: int, I: int, H: int) -> tuple[np.ndarray, ...]:
    """One step's wires, of no network in particular: a gradient is right for any."""
    r, z = rng.uniform(0.1, 0.9, (2, B, H))
    n, h = rng.uniform(-0.9, 0.9, (2, B, H))
    dh_next, product = rng.standard_normal((2, B, H))
    weight_ih, weight_hh = rng.standard_normal((3 * H, I)), rng.standard_normal((3 * H, H))
    return dh_next, rng.standard_normal((B, I)), h, r, z, n, product, weight_ih, weight_hh


GRU_BACKWARD = Exercise(
    name="gru_backward",
    points=4,
    difficulty=4,
    minutes=30,
    lines=8,
    hints=(
        "Put a finger on dh_next in the reverse picture and follow every wire. First come two elementwise "
        "products, (1−z)∘n and z∘h, and each sends gradients to both of its factors. Write down what "
        "arrives at n, at z (twice: once through 1−z, which turns the sign) and at h.",
        "Go through each gate's function on its output, which gives the gradient in front of it: da_n, da_z, "
        "da_r. r is a factor of r∘product, so its other factor is the product, and what arrives there is "
        "da_n. The product is the other factor: it gets da_n∘r. So the input side gets [da_r, da_z, da_n] "
        "and the recurrent side [da_r, da_z, da_n∘r]: two arrays [B,3H].",
        "`da_n = dh_next * (1 - z) * (1 - n**2)`, `da_z = dh_next * (h - n) * z * (1 - z)`, `da_r = da_n * "
        "product * r * (1 - r)`. With d_input and d_recurrent concatenated along axis 1: dx = d_input @ "
        "weight_ih, dweight_ih = d_input.T @ x, and the same for h with d_recurrent. Last, h also leaves "
        "past all gates: add dh_next * z to dh. A bias gets the sum over the sequences.",
    ),
    check=check,
    truth=gru_backward,
    mutants=MUTANTS,
    also_right=(
        """def gru_backward(dh_next, x, h, r, z, n, product, weight_ih, weight_hh):
    dn, dz, dh = dh_next * (1 - z), dh_next * h - dh_next * n, dh_next * z
    into = {"n": dn * (1 - n * n), "z": dz * (z - z * z)}
    into["r"] = into["n"] * product * (r - r * r)
    d_input = np.hstack([into[gate] for gate in "rzn"])
    d_recurrent = np.hstack([into["r"], into["z"], r * into["n"]])
    dh = dh + d_recurrent.dot(weight_hh)
    dx, dbias_ih, dbias_hh = d_input.dot(weight_ih), np.sum(d_input, 0), np.sum(d_recurrent, 0)
    return dx, dh, d_input.T.dot(x), d_recurrent.T.dot(h), dbias_ih, dbias_hh
""",
        """def gru_backward(dh_next, x, h, r, z, n, product, weight_ih, weight_hh):
    W_r, W_z, W_n = np.split(weight_ih, 3)
    U_r, U_z, U_n = np.split(weight_hh, 3)
    n_in = dh_next * (1 - z) * (1 - n**2)
    z_in = dh_next * (h - n) * (1 - z) * z
    r_in = n_in * product * (1 - r) * r
    n_rec = n_in * r
    dx = r_in @ W_r + z_in @ W_z + n_in @ W_n
    dh = z * dh_next + r_in @ U_r + z_in @ U_z + n_rec @ U_n
    dweight_ih = np.concatenate([r_in.T @ x, z_in.T @ x, n_in.T @ x])
    dweight_hh = np.concatenate([r_in.T @ h, z_in.T @ h, n_rec.T @ h])
    dbias_ih = np.concatenate([a.sum(0) for a in (r_in, z_in, n_in)])
    dbias_hh = np.concatenate([a.sum(0) for a in (r_in, z_in, n_rec)])
    return dx, dh, dweight_ih, dweight_hh, dbias_ih, dbias_hh
""",
    ),
)
