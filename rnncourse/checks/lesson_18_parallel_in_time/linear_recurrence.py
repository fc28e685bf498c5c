"""Functions of the judge that answers call: a linear recurrence, and what its arguments must be."""

from collections.abc import Callable

import numpy as np

from nbjudge.exercise import Proxy, Wrong
from rnncourse.checks.results import is_array


def linear_states(a: np.ndarray, b: np.ndarray, first: np.ndarray) -> np.ndarray:
    """g [K,B,n] with g[k] = a[k] g[k−1] + b[k], from `first` [B,n]."""
    state = first
    states = []
    for matrix, vector in zip(a, b, strict=True):
        state = np.einsum("bij,bj->bi", matrix, state) + vector
        states.append(state)
    return np.stack(states)


def require_shape(name: str, array: object, shape: tuple) -> None:
    """Raises Wrong for anything but an array of this shape, of one step or more."""
    if is_array(array, shape) and shape[0]:
        return
    has = f"is {array!r:.40}"
    if isinstance(array, np.ndarray):
        has = f"has shape {array.shape}"
    raise Wrong(f"{name} {has}, expected {shape}: time is the first axis.")


def proxy_of(name: str, function: Callable) -> Proxy:
    """A function of the judge as an argument."""
    source = f"def {name}(*arrays):\n    return {name}_of_the_judge(*arrays)\n"
    return Proxy(source, name, {f"{name}_of_the_judge": function})
