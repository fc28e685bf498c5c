"""clip_by_global_norm: one norm over all gradients, one factor for all of them."""

import numpy as np

from rnnlab.grading.exercise import Exercise, Mutant
from rnnlab.grading.judging import expect

SHAPES = {
    "weight_ih_l0": (6, 3),
    "weight_hh_l0": (6, 6),
    "bias_ih_l0": (6,),
    "weight_out": (1, 6),
    "bias_out": (1,),
}


def global_norm(gradients) -> float:
    """Length of all the numbers of all arrays, taken as one long vector."""
    return np.sqrt(sum((gradient**2).sum() for gradient in gradients.values()))


def clip_by_global_norm(gradients, limit):
    norm = global_norm(gradients)
    factor = limit / norm if norm > limit else 1.0
    return {name: gradient * factor for name, gradient in gradients.items()}


def check(submission, rng):
    small = {"weight_hh_l0": (2, 2), "bias_hh_l0": (2,)}
    # the norm wanted, in units of the limit: above it, below it, exactly 0
    _check_case(submission, rng, {"weight": (3,)}, 4.0)
    _check_case(submission, rng, small, 3.0)
    _check_case(submission, rng, small, 0.4)
    _check_case(submission, rng, small, 0.0)
    _check_case(submission, rng, SHAPES, 50.0, "float32")
    _check_case(submission, rng, SHAPES, 0.99, "float32")


def _check_case(submission, rng, shapes, ratio, dtype="float64"):
    drawn = {name: rng.standard_normal(shape) for name, shape in shapes.items()}
    limit = round(rng.uniform(0.6, 1.6), 2)
    scale = ratio * limit / global_norm(drawn)
    gradients = {name: (scale * gradient).astype(dtype) for name, gradient in drawn.items()}
    case = f"gradients of {', '.join(shapes)}, {dtype}, norm {ratio * limit:.3g}, limit {limit}"
    want = clip_by_global_norm(gradients, limit)
    wrong = _misconceptions(gradients, limit)
    axes = {name: ("row", "column") if gradient.ndim == 2 else ("entry",) for name, gradient in want.items()}
    # wide enough for limit / (norm + 1e-6), which is how PyTorch writes it
    expect(submission(gradients, limit), want, axes=axes, case=case, wrong=wrong, tolerance=1e-5)


def _misconceptions(gradients, limit) -> dict:
    norm = global_norm(gradients)
    scaled = lambda factor: {
        name: gradient * gradient.dtype.type(factor) for name, gradient in gradients.items()
    }
    shrunk_to = lambda length: scaled(limit / length if length > limit else 1.0)
    norms = {name: np.sqrt((gradient**2).sum()) for name, gradient in gradients.items()}
    each = lambda name: gradients[name] * min(1.0, limit / norms[name]) if norms[name] else gradients[name]
    size = sum(gradient.size for gradient in gradients.values())
    return {
        "stretches small gradients up to the limit": lambda: scaled(limit / norm) if norm else None,
        "clips every number on its own": lambda: {n: np.clip(g, -limit, limit) for n, g in gradients.items()},
        "clips every array on its own": lambda: {name: each(name) for name in gradients},
        "forgets the square root": lambda: shrunk_to(norm**2),
        "adds up the norms of the arrays": lambda: shrunk_to(sum(norms.values())),
        "takes the largest number for the norm": lambda: shrunk_to(
            max(np.abs(g).max() for g in gradients.values())
        ),
        "takes the mean of the squares": lambda: shrunk_to(norm / np.sqrt(size)),
        "scales to length 1 instead of the limit": lambda: scaled(1 / norm if norm > limit else 1.0),
        "never clips": gradients,
    }


CLIP_BY_GLOBAL_NORM = Exercise(
    name="clip_by_global_norm",
    points=2,
    difficulty=2,
    minutes=10,
    lines=4,
    hints=(
        "Clipping must not change the direction of the step, only its length. What may then differ between "
        "the factor for one array and the factor for another?",
        "Write all numbers of all arrays one after the other: the global norm is the length of that vector, "
        "the square root of the sum of all squares. Above the limit every array is multiplied by limit / "
        "norm; else by 1.",
        "`norm = np.sqrt(sum((g**2).sum() for g in gradients.values()))`; then a factor, 1 unless norm > "
        "limit; then `{name: g * factor for name, g in gradients.items()}`.",
    ),
    check=check,
    truth=clip_by_global_norm,
    mutants=(
        Mutant(
            "stretches small gradients up to the limit",
            "limit / norm if norm > limit else 1.0",
            "limit / (norm or 1)",
        ),
        Mutant(
            "clips every number on its own", "gradient * factor for", "np.clip(gradient, -limit, limit) for"
        ),
        Mutant(
            "clips every array on its own",
            "gradient * factor for",
            "gradient * min(1.0, limit / (np.linalg.norm(gradient) + 1e-30)) for",
        ),
        Mutant("forgets the square root", "np.sqrt(squares)", "squares"),
        Mutant(
            "adds up the norms of the arrays",
            "np.sqrt(squares)",
            "sum(np.sqrt((gradient**2).sum()) for gradient in gradients.values())",
        ),
        Mutant(
            "takes the largest number for the norm",
            "np.sqrt(squares)",
            "max(np.abs(gradient).max() for gradient in gradients.values())",
        ),
        Mutant(
            "takes the mean of the squares",
            "np.sqrt(squares)",
            "np.sqrt(squares / sum(g.size for g in gradients.values()))",
        ),
        Mutant("scales to length 1 instead of the limit", "limit / norm if", "1 / norm if"),
        Mutant(
            "changes its input", "gradient * factor for", "np.multiply(gradient, factor, out=gradient) for"
        ),
        Mutant(
            "returns the wrong type",
            "return {name: gradient * factor for name, gradient in gradients.items()}",
            "return [gradient * factor for gradient in gradients.values()]",
        ),
    ),
    also_right=(
        "def clip_by_global_norm(gradients, limit):\n"
        "    everything = np.concatenate([g.ravel() for g in gradients.values()])\n"
        "    norm = np.linalg.norm(everything)\n"
        "    if norm <= limit:\n"
        "        return gradients\n"
        "    return {name: g / (norm / limit) for name, g in gradients.items()}",
        "def clip_by_global_norm(gradients, limit):\n"
        "    total = 0.0\n"
        "    for g in gradients.values():\n"
        "        total += float(np.vdot(g, g))\n"
        "    clipped = {}\n"
        "    for name in gradients:\n"
        "        clipped[name] = gradients[name].copy()\n"
        "        if total > limit**2:\n"
        "            clipped[name] *= limit / total**0.5\n"
        "    return clipped",
        "def clip_by_global_norm(gradients, limit):\n"
        "    norm = sum(np.linalg.norm(g) ** 2 for g in gradients.values()) ** 0.5\n"
        "    factor = min(1.0, float(limit / (norm + 1e-6)))\n"
        "    return {name: factor * g for name, g in gradients.items()}",
    ),
)
