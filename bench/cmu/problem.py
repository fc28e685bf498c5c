"""The numbers of an epoch: pictures, weights, and the gradients that float64 finds."""

from typing import NamedTuple

import numpy as np

from rnncourse.records.cmu_report import Size
from rnnlab.compare import relative_error

LEARNING_RATE = 0.01  # of the error per pixel; theirs was 0.01 of the summed error
TOLERANCE = 1e-5  # relative norm of a gradient in float32, as in rnnlab.compare
SIDE = 32  # pixels of a picture's side, as in CIFAR-10, which is not shipped with the course


class Problem(NamedTuple):
    """What every contestant is given, float32."""

    x: np.ndarray  # [T,B,units]
    target: np.ndarray  # [T,B,units]
    w_xh: np.ndarray  # [units,units], all three with a row for each unit that is read
    w_hh: np.ndarray
    w_hy: np.ndarray

    @property
    def rate(self) -> float:
        return LEARNING_RATE / self.x.size


class EpochAnswer(NamedTuple):
    """Result of an epoch: the summed error, its gradients, the weights after a step of descent."""

    loss: float
    d_xh: np.ndarray
    d_hh: np.ndarray
    d_hy: np.ndarray
    xh: np.ndarray
    hh: np.ndarray
    hy: np.ndarray

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """Error [1], gradients and weights [units,units] by name."""
        return self._asdict() | {"loss": np.array([self.loss], "float64")}


def descended(
    problem: Problem, loss: float, d_xh: np.ndarray, d_hh: np.ndarray, d_hy: np.ndarray
) -> EpochAnswer:
    """The EpochAnswer from gradients [units,units]; the step of descent in NumPy, 3 million multiply-adds."""
    gradients = (d_xh, d_hh, d_hy)
    weights = problem[2:]
    moved = (w - np.float32(problem.rate) * d for w, d in zip(weights, gradients, strict=True))
    return EpochAnswer(float(loss), *gradients, *moved)


def summed_error(difference: np.ndarray) -> float:
    """The sum of squares of [T·B,units], in blocks: ten million float32 in one sum lose a digit."""
    return sum(float(np.vdot(block, block)) for block in np.array_split(difference, 64))


def draw(size: Size, seed: int = 0) -> Problem:
    """Turning digits, 32 × 32 pixels cut off after `units`; weights uniform in ±1/√units.

    The project's weights were uniform in ±0.5, which saturates every unit; here tanh has work to do.
    """
    x, target = _pictures(size)
    rng = np.random.default_rng(seed)
    bound = size.units**-0.5
    weights = (rng.uniform(-bound, bound, (size.units,) * 2).astype("float32") for _ in range(3))
    return Problem(x, target, *weights)


def _pictures(size: Size) -> tuple[np.ndarray, np.ndarray]:
    """x and target [T,B,units]: digits of 8 × 8 pixels, enlarged four times to either side."""
    from scipy.ndimage import zoom

    from rnnlab.tasks.rotated_images import rotated

    views = rotated(10, size.T)  # [T+1,1797,64]
    if size.B > views.shape[1]:
        raise ValueError(f"a minibatch of {size.B}: there are only {views.shape[1]} digits")
    small = views[:, : size.B].reshape(-1, 8, 8)
    large = zoom(small, (1, SIDE // 8, SIDE // 8), order=1).reshape(size.T + 1, size.B, SIDE**2)
    if size.units > SIDE**2:
        raise ValueError(f"{size.units} inputs: a picture has only {SIDE**2} pixels")
    views = np.ascontiguousarray(large[..., : size.units], "float32")
    return views[:-1], views[1:]


def error(got: dict[str, np.ndarray], want: EpochAnswer) -> float:
    """The largest relative error among the arrays, in units of what is tolerated; inf for a missing one."""
    known = want.arrays
    if not got.keys() >= known.keys():
        return float("inf")
    return max(relative_error(got[name], array) / TOLERANCE for name, array in known.items())
