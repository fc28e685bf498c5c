"""A GRU's gates in one loop over its units: the judge hands out single elements and notices a second walk."""

import numpy as np

from rnnlab.checks.edits import wrong_values
from rnnlab.checks.numba_cpu.machines import AGAIN, Walk
from rnnlab.checks.numba_cpu.shells import INPUT, WHOLE, Row, Vector, Watched, shells
from rnnlab.grading.differences import WRONG_TYPE, describe
from rnnlab.grading.exercise import Exercise, Mutant, Wrong
from rnnlab.grading.judging import expect

LEFT_OUT = "leaves units out"


def fused_gates(g, u, h):
    H = len(h)
    h_next = np.empty_like(h)
    for j in range(H):
        r = 1 / (1 + np.exp(-(g[j] + u[j])))
        z = 1 / (1 + np.exp(-(g[H + j] + u[H + j])))
        n = np.tanh(g[2 * H + j] + r * u[2 * H + j])
        h_next[j] = (1 - z) * n + z * h[j]
    return h_next


LAST = "n = np.tanh(g[2 * H + j] + r * u[2 * H + j])\n        h_next[j] = (1 - z) * n + z * h[j]"
WALKS = (
    Mutant(
        AGAIN,
        "    for j in range(H):\n        r = 1 / (1 + np.exp(-(g[j] + u[j])))",
        "    reset = [1 / (1 + np.exp(-(g[j] + u[j]))) for j in range(H)]\n"
        "    for j in range(H):\n        r = reset[j]",
    ),
    Mutant(WHOLE, "    for j in range(H):", "    g, u = list(g), list(u)\n    for j in range(H):"),
    Mutant(INPUT, "        n = np.tanh", "        g[j], g[H + j] = r, z\n        n = np.tanh"),
    Mutant(LEFT_OUT, "for j in range(H):", "for j in range(H - 1):"),
)
VALUES = (
    Mutant("swaps z and 1 − z", "(1 - z) * n + z * h[j]", "z * n + (1 - z) * h[j]"),
    Mutant("takes the gates in the order z, r, n", LAST, LAST.replace("r *", "z *").replace("z)", "r)", 1)),
    Mutant(
        "resets the input's part too", "g[2 * H + j] + r * u[2 * H + j]", "r * (g[2 * H + j] + u[2 * H + j])"
    ),
    Mutant("forgets the reset gate", "r * u[2 * H + j]", "u[2 * H + j]"),
    Mutant(
        "takes tanh for the update gate",
        "z = 1 / (1 + np.exp(-(g[H + j] + u[H + j])))",
        "z = np.tanh(g[H + j] + u[H + j])",
    ),
)
VECTORS = """
g = Vector("g", {rows}, read, write, make)
u = Vector("u", {rows}, read, write, make)
h = Vector("h", {units}, read, write, make)
"""


def check(submission, rng):
    for H in (1, 2, 5, int(rng.integers(6, 12))):
        g, u = rng.normal(size=(2, 3 * H))
        h = rng.uniform(-0.9, 0.9, H)
        walk = Walk(H, {"g": g, "u": u, "h": h})
        vectors = shells((Watched, Vector, Row), VECTORS.format(rows=3 * H, units=H), walk.services)
        want = fused_gates(g, u, h)
        result = _result(submission(vectors["g"], vectors["u"], vectors["h"]), walk)
        if not walk.written[result].all():
            missing = int(np.argmin(walk.written[result]))
            raise Wrong(f"h_next[{missing}] was never written (H={H}).", LEFT_OUT)
        wrong = wrong_values(fused_gates, VALUES, g, u, h)
        expect(walk.vectors[result], want, axes=("unit",), what="h_next", case=f"H={H}", wrong=wrong)


def _result(got: object, walk: Walk) -> str:
    """The name of the result that was returned."""
    if type(got) is tuple and len(got) == 1 and type(got[0]) is str and got[0] in walk.written:
        return got[0]
    raise Wrong(
        f"It returns {describe(got)}; asked for is the array that np.empty_like(h) made.",
        WRONG_TYPE,
        "Begin with h_next = np.empty_like(h), and end with return h_next.",
    )


FUSED_GATES = Exercise(
    name="fused_gates",
    points=2,
    difficulty=2,
    minutes=15,
    lines=8,
    hints=(
        "Write the step for a single unit j, with plain numbers. Which numbers of g, u and h does unit j "
        "need? Only then put a loop around it.",
        "g and u have 3·H entries: unit j finds its own at j, at H + j and at 2·H + j. r, z and n are plain "
        "numbers that live for one turn of the loop; nothing but h_next is an array.",
        "`h_next = np.empty_like(h)`; for j in range(H): r and z are 1 / (1 + np.exp(-(g[...] + u[...]))); n "
        "is np.tanh(g[2 * H + j] + r * u[2 * H + j]); then h_next[j]. Return h_next.",
    ),
    check=check,
    truth=fused_gates,
    mutants=(*WALKS, *VALUES),
    also_right=(
        """def fused_gates(g, u, h):
    H = h.size
    h_next = np.zeros_like(h)
    for j in range(H - 1, -1, -1):
        reset = 0.5 + 0.5 * np.tanh(0.5 * (g[j] + u[j]))
        update = 0.5 + 0.5 * np.tanh(0.5 * (g[j + H] + u[j + H]))
        new = np.tanh(g[j + 2 * H] + reset * u[j + 2 * H])
        h_next[j] = new + update * (h[j] - new)
    return h_next
""",
        """import math

def logistic(a):
    return 1.0 / (1.0 + math.exp(-a))

def fused_gates(g, u, h):
    h_next, j = np.empty_like(h), 0
    while j < len(h):
        z = logistic(g[len(h) + j] + u[len(h) + j])
        h_next[j] = z * h[j]
        n = math.tanh(g[2 * len(h) + j] + logistic(g[j] + u[j]) * u[2 * len(h) + j])
        h_next[j] += (1 - z) * n
        j += 1
    return h_next
""",
    ),
)
