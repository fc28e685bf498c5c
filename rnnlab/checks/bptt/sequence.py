"""What the checks of unit 02 draw: a sequence to walk back through, and a cell that counts its own calls."""

from typing import NamedTuple

import numpy as np

from rnnlab.grading.exercise import Code

RESULTS = ("dx", "dh0", "dweight_ih", "dweight_hh", "dbias")
AXES = {
    "dx": ("step", "sequence", "input"),
    "dh0": ("sequence", "unit"),
    "dweight_ih": ("unit", "input"),
    "dweight_hh": ("unit", "unit read"),
    "dbias": ("unit",),
}
SURCHARGE = 1000.0  # far above any gradient drawn here, far below where float64 would lose the gradient

COUNTED_CELL = """
def counted(allowed):
    calls = 0

    def cell_backward(dh, x, h_before, h_after, weight_ih, weight_hh):
        nonlocal calls
        calls += 1
        trace.append(("cell_backward", dh, x, h_before, h_after))
        da = dh * (1 - {curvature} * h_after * h_after)
        dbias = da.sum(axis=0) + {surcharge} * (calls > allowed)
        return da @ weight_ih, da @ weight_hh, da.T @ x, da.T @ h_before, dbias

    return cell_backward


cell_backward = counted({allowed})
"""


class Sequence(NamedTuple):
    """The arguments of a sweep, in the learner's order: a cell, then arrays."""

    cell_backward: Code
    x: np.ndarray  # [T,B,I]
    h: np.ndarray  # [T+1,B,H]
    dy: np.ndarray  # [T,B,H]
    weight_ih: np.ndarray  # [H,I]
    weight_hh: np.ndarray  # [H,H]


def draw(rng: np.random.Generator, T: int, B: int, I: int, H: int) -> Sequence:
    """A sequence of states of no network in particular: a sweep must be right for whatever cell it is given.

    The cell's slope is 1 − k·h² with k drawn afresh, so that tanh's own 1 − h² gives other numbers.
    """
    curvature = round(rng.uniform(0.5, 0.8), 3)
    source = COUNTED_CELL.format(curvature=curvature, surcharge=SURCHARGE, allowed=T)
    return Sequence(
        Code(source, "cell_backward", []),
        rng.standard_normal((T, B, I)),
        rng.uniform(-0.9, 0.9, (T + 1, B, H)),
        rng.standard_normal((T, B, H)),
        rng.standard_normal((H, I)),
        rng.standard_normal((H, H)) / np.sqrt(H),
    )


def calls_beyond(got: object, want: tuple, T: int) -> int:
    """How often cell_backward ran after its T-th call, read off the surcharge on dbias; 0 if it cannot be."""
    if not isinstance(got, tuple) or len(got) != len(want):
        return 0
    dbias = got[RESULTS.index("dbias")]
    if not isinstance(dbias, np.ndarray) or dbias.shape != want[-1].shape or not np.isfinite(dbias).all():
        return 0
    extra = np.rint((dbias - want[-1]) / SURCHARGE)
    return int(extra.min()) if T and (extra == extra[0]).all() and extra[0] > 0 else 0


def with_curvature(sequence: Sequence, curvature: float) -> Sequence:
    """The same arrays, walked by a cell of another slope."""
    source = COUNTED_CELL.format(curvature=curvature, surcharge=SURCHARGE, allowed=len(sequence.x))
    return sequence._replace(cell_backward=Code(source, "cell_backward"))
