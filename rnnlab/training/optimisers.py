"""Optimisers: a step from a gradient with momentum or Adam, and a limit on the gradient's length.

An optimiser is a value with two pure functions: `start(parameters) -> state` and `update(parameters,
gradients, state) -> (parameters, state)`. Parameters and gradients are dicts of arrays with the same names;
the state is a flat dict of arrays, so that a checkpoint can hold it as it is.
"""

from dataclasses import dataclass

import numpy as np

Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class SGD:
    """Gradient descent with momentum, PyTorch's form: velocity = momentum · velocity + gradient."""

    learning_rate: float = 0.1
    momentum: float = 0.0

    def __post_init__(self):
        _positive("learning_rate", self.learning_rate)
        _fraction("momentum", self.momentum)
        _convert_numbers(self)

    def start(self, parameters: Arrays) -> Arrays:
        """The optimiser's state before the first step: zeros, weights [G*H,I] like their parameter."""
        return {f"velocity.{name}": np.zeros_like(array) for name, array in parameters.items()}

    def update(self, parameters: Arrays, gradients: Arrays, state: Arrays) -> tuple[Arrays, Arrays]:
        """(parameters, state) after a step, in the parameters' shapes, weights [G*H,I] and all others."""
        moved = {}
        new = {}
        for name, array in parameters.items():
            velocity = self.momentum * state[f"velocity.{name}"] + gradients[name]
            moved[name] = array - self.learning_rate * velocity
            new[f"velocity.{name}"] = velocity
        return moved, new


@dataclass(frozen=True)
class Adam:
    """Kingma and Ba's Adam (2015, algorithm 1): a weight's step is scaled by its gradient's running size."""

    learning_rate: float = 1e-3
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8

    def __post_init__(self):
        _positive("learning_rate", self.learning_rate)
        _positive("epsilon", self.epsilon)
        _fraction("beta1", self.beta1)
        _fraction("beta2", self.beta2)
        _convert_numbers(self)

    def start(self, parameters: Arrays) -> Arrays:
        """The optimiser's state before the first step: zeros, weights [G*H,I] like their parameter."""

        def zeros(key):
            return {f"{key}.{name}": np.zeros_like(array) for name, array in parameters.items()}

        return {"count": np.array(0)} | zeros("mean") | zeros("square")

    def update(self, parameters: Arrays, gradients: Arrays, state: Arrays) -> tuple[Arrays, Arrays]:
        """(parameters, state) after a step, in the parameters' shapes, weights [G*H,I] and all others."""
        count = state["count"] + 1
        moved = {}
        new = {"count": count}
        for name, gradient in gradients.items():
            mean = self.beta1 * state[f"mean.{name}"] + (1 - self.beta1) * gradient
            square = self.beta2 * state[f"square.{name}"] + (1 - self.beta2) * gradient**2
            moved[name] = parameters[name] - self._step(mean, square, int(count))
            new[f"mean.{name}"] = mean
            new[f"square.{name}"] = square
        return moved, new

    def _step(self, mean: np.ndarray, square: np.ndarray, count: int) -> np.ndarray:
        """Both running means began at 0: dividing by 1 - beta^count takes that start out again."""
        mean = mean / (1 - self.beta1**count)
        square = square / (1 - self.beta2**count)
        return self.learning_rate * mean / (np.sqrt(square) + self.epsilon)


def clip_by_global_norm(gradients: Arrays, limit: float | None) -> tuple[Arrays, float]:
    """(gradients, norm): all of them scaled together so that their common length is at most `limit`.

    The norm is the length before clipping; limit=None only measures. The direction never changes.
    """
    if limit is not None:
        _positive("limit", limit)
    norm = global_norm(gradients)
    if limit is None or norm <= limit:
        return gradients, norm
    factor = limit / norm
    clipped = {name: array * array.dtype.type(factor) for name, array in gradients.items()}
    return clipped, norm


def clip_limit(clip: float | None) -> float | None:
    """The limit that a training's `clip` stands for: None if there is none.

    Raises ValueError unless clip is None, infinity or a number above 0.
    """
    if clip is None or (_is_number(clip) and clip == np.inf):
        return None
    if not _is_number(clip) or not clip > 0:
        raise ValueError(f"clip is {clip!r}, expected a number above 0, or None for no limit")
    return float(clip)


def global_norm(gradients: Arrays) -> float:
    """Length of all gradients, weights [G*H,I] and all others, as one vector.

    Raises FloatingPointError, with their names, if some are not finite.
    """
    squares = []
    broken = []
    for name, array in gradients.items():
        # float64: squares of float32 numbers overflow from 1.8e19 on
        square = float((array.astype(np.float64) ** 2).sum())
        squares.append(square)
        if not np.isfinite(square):
            broken.append(name)
    if broken:
        raise FloatingPointError(f"the gradient of {', '.join(broken)} is not finite")
    return float(np.sqrt(sum(squares)))


def _convert_numbers(optimiser: SGD | Adam) -> None:
    """A NumPy float64 as a factor would turn float32 parameters into float64; Python's float does not."""
    for name, value in vars(optimiser).items():
        object.__setattr__(optimiser, name, float(value))


def _positive(name: str, value: float) -> None:
    if not (_is_number(value) and 0 < value < np.inf):
        raise ValueError(f"{name} is {value!r}, expected a number above 0")


def _fraction(name: str, value: float) -> None:
    if not (_is_number(value) and 0 <= value < 1):
        raise ValueError(f"{name} is {value!r}, expected at least 0 and less than 1")


def _is_number(value: object) -> bool:
    is_bool = isinstance(value, bool)  # which Python counts among the whole numbers
    return isinstance(value, int | float | np.integer | np.floating) and not is_bool
