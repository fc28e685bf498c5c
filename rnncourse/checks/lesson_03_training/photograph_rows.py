"""Rows of two real photographs, what a filter makes of them, and how well a trained network does the same."""

from typing import NamedTuple

import numpy as np

from rnnlab import reference
from rnnlab.network import Network
from rnnlab.tasks.image_filters import filtered
from rnnlab.tasks.photographs import brightness


class Rows(NamedTuple):
    """Stretches of rows of a photograph and the same stretches filtered, both [T,N,1]."""

    x: np.ndarray
    target: np.ndarray


def draw_rows(rng, kernel, T: int, count: int, split: str) -> Rows:
    """`count` stretches of T pixels of the split's photograph; kernel[k] weighs the pixel k places back."""
    grey = brightness(split).astype(np.float64)
    lines = rng.integers(grey.shape[0], size=count)
    starts = rng.integers(grey.shape[1] - T, size=count)
    x = grey[lines, starts + np.arange(T)[:, np.newaxis], np.newaxis]
    return Rows(x, filtered(x, kernel[np.newaxis]))


def untrained(rng, H: int) -> dict:
    """Parameters of a network of H units that knows nothing yet."""
    shapes = {"weight_ih": (H, 1), "weight_hh": (H, H), "bias": (H,), "weight_out": (1, H), "bias_out": (1,)}
    return {name: rng.uniform(-1, 1, shape) / np.sqrt(H) for name, shape in shapes.items()}


def predict(parameters: dict, x: np.ndarray) -> np.ndarray:
    """What the network makes of x [T,N,1], by the reference."""
    layer = {f"{name}_l0": parameters[name] for name in ("weight_ih", "weight_hh")}
    layer |= {"bias_ih_l0": parameters["bias"], "bias_hh_l0": np.zeros_like(parameters["bias"])}
    network = Network.create("rnn_tanh", 1, len(parameters["bias"]), dtype="float64").with_parameters(layer)
    y, _, _ = reference.forward(network, x)
    return y @ parameters["weight_out"].T + parameters["bias_out"]


def response_to_one_pixel(parameters: dict, size: float = 0.2) -> np.ndarray:
    """What one bright pixel in an even row adds to the answers at its step and the next 3 [4], by size."""
    x = np.zeros((24, 2, 1))
    x[20, 1] = size  # by then the state no longer moves
    answers = predict(parameters, x)[20:, :, 0]
    return (answers[:, 1] - answers[:, 0]) / size


def mean_square(difference: np.ndarray) -> float:
    """Mean of the squares of an array of any shape."""
    return float(np.mean(difference**2))


def error_on(parameters: dict, rows: Rows) -> float:
    """Mean squared error of the network on these rows."""
    return mean_square(predict(parameters, rows.x) - rows.target)


def error_without_memory(train: Rows, held_out: Rows) -> float:
    """The baseline: error of the straight line through (present pixel, target) that fits the rows best."""
    line = np.polyfit(train.x.ravel(), train.target.ravel(), deg=1)
    return mean_square(np.polyval(line, held_out.x) - held_out.target)
