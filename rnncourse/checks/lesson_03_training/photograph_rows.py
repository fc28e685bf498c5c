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
    height, width = grey.shape
    lines = rng.integers(height, size=count)
    starts = rng.integers(width - T, size=count)
    columns = starts + np.arange(T)[:, np.newaxis]  # [T,N]
    x = grey[lines, columns, np.newaxis]
    return Rows(x, filtered(x, kernel[np.newaxis]))


def untrained(rng, H: int) -> dict:
    """Parameters of a network of H units that knows nothing yet."""
    shapes = {"weight_ih": (H, 1), "weight_hh": (H, H), "bias": (H,), "weight_out": (1, H), "bias_out": (1,)}
    parameters = {}
    for name, shape in shapes.items():
        drawn = rng.uniform(-1, 1, shape)
        parameters[name] = drawn / np.sqrt(H)
    return parameters


def predict(parameters: dict, x: np.ndarray) -> np.ndarray:
    """What the network makes of x [T,N,1], by the reference."""
    bias = parameters["bias"]
    layer = {
        "weight_ih_l0": parameters["weight_ih"],
        "weight_hh_l0": parameters["weight_hh"],
        "bias_ih_l0": bias,
        "bias_hh_l0": np.zeros_like(bias),
    }
    initial = Network.create("rnn_tanh", 1, len(bias), dtype="float64")
    network = initial.with_parameters(layer)
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
    prediction = predict(parameters, rows.x)
    return mean_square(prediction - rows.target)


def error_without_memory(train: Rows, held_out: Rows) -> float:
    """The baseline: error of the straight line through (present pixel, target) that fits the rows best."""
    line = np.polyfit(train.x.ravel(), train.target.ravel(), deg=1)
    prediction = np.polyval(line, held_out.x)
    return mean_square(prediction - held_out.target)
