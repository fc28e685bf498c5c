"""Comparison of two results: do they agree, and if not, where do they first differ.

Tolerances are relative norms ‖got − want‖/‖want‖ against float64 fed with the same rounded inputs.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np


class Tolerance(NamedTuple):
    """Largest relative error accepted, of outputs over T steps and of gradients."""

    forward: Callable[[int], float]
    gradient: float
    growth: float = 0.0  # of a gradient that is itself a sum of this type over the steps: times √T

    def gradient_over(self, T: int) -> float:
        """Largest relative error of gradients whose sum over T steps may be of the type itself."""
        return max(self.gradient, self.growth * T**0.5)


TOLERANCES = {
    # rounding errors of a recurrence add like a random walk: √T units of 2⁻²⁴, with room for the products
    "float32": Tolerance(lambda T: 2e-6 * T**0.5, 1e-5),
    # the same reasoning with 2⁻⁵³; gradients sum over T·B terms
    "float64": Tolerance(lambda T: 1e-14 * T**0.5, 1e-12),
    # 10 bits of mantissa.  Operands rounded to them: errors up to 5e-4 forward, 8e-4 in gradients.  Tensor
    # cores that are handed float32 drop the lower bits, all in one direction: up to 2e-3 and 3.4e-3 in four
    # layers.  Both are right.  Operands of 7 bits are not: 4e-3 and 1e-2 (simulated, test_compare_tf32.py)
    "tf32": Tolerance(lambda T: 3e-3, 5e-3),
    "float16": Tolerance(lambda T: 3e-3, 1e-2),  # 10 bits, and every h and gate is rounded to them
    # 7 bits of mantissa.  A sum in float32 needs no growth: 4e-3 for 4,096 steps of torch 2.13's LSTM.  Its
    # RNN and GRU add the steps of dW_hh in bfloat16: 1.2e-2, 3.8e-2 and 9.4e-2 for 64, 1,024 and 4,096 steps
    "bfloat16": Tolerance(lambda T: 1e-2, 3e-2, growth=2e-3),
    # whole numbers to 127 with a scale a row, inputs too: a product is off by 8e-3 of its norm
    "int8_weights": Tolerance(lambda T: 3e-2, 3e-2),
}


def relative_error(got: np.ndarray, want: np.ndarray) -> float:
    """‖got − want‖/‖want‖ of [T,B,H] or any shape.

    ‖got‖ if want is 0; inf if the shapes differ or got is not finite.
    """
    got = np.asarray(got, "float64")
    want = np.asarray(want, "float64")
    if got.shape != want.shape or not np.isfinite(got).all():
        return float("inf")
    # squares of numbers beyond 1e±154 are 0 or inf: both are scaled by a power of two, which rounds nothing
    largest_got = np.abs(got).max(initial=0)
    largest_want = np.abs(want).max(initial=0)
    _, exponent = np.frexp(max(largest_got, largest_want))
    got = np.ldexp(got, -exponent)
    want = np.ldexp(want, -exponent)
    distance = np.linalg.norm(got - want)
    size = np.linalg.norm(want)
    error = distance / size if size > 0 else np.ldexp(distance, exponent)
    return float(error)


def first_difference(
    got: np.ndarray,
    want: np.ndarray,
    axes: Sequence[str] = ("step", "sequence", "unit"),
    tolerance: float = 1e-5,
) -> str | None:
    """The first difference of two arrays [T,B,H] (or with other axes) in words; None if they agree.

    For example "first differs at step 3, sequence 0, unit 2: 0.12 instead of 0.34".

    An entry differs when it is off by more than `tolerance` times the largest finite |want|, or not finite.
    """
    got = _numbers(got)
    want = _numbers(want)
    if got.shape != want.shape:
        return f"has shape {got.shape} instead of {want.shape}"
    is_close = _is_close(got, want, tolerance)
    if is_close.all():
        return None
    first_place = np.argwhere(~is_close)[0]
    index = tuple(int(k) for k in first_place)
    place = describe_place(index, axes)
    start = f"first differs at {place}:" if place else "is"
    got_text, want_text = format_numbers(got[index], want[index], 6)
    return f"{start} {got_text} instead of {want_text}"


def _numbers(array: np.ndarray) -> np.ndarray:
    """The array; truth values as whole numbers, which can be subtracted."""
    array = np.asarray(array)
    return array.astype("int64") if array.dtype.kind == "b" else array


def _is_close(got: np.ndarray, want: np.ndarray, tolerance: float) -> np.ndarray:
    """True for each entry that is finite and within the tolerance of the largest finite |want|."""
    kinds = {got.dtype.kind, want.dtype.kind}
    if kinds <= {"i", "u", "O"}:  # Python's integers beyond 64 bits are objects
        return _is_close_whole(got, want, tolerance)
    if got.dtype.kind == "O":
        got = got.astype("float64")
    if want.dtype.kind in "iuO":
        want = want.astype("float64")
    with np.errstate(invalid="ignore", over="ignore"):
        distance = np.abs(got - want)
    size = np.abs(want)
    largest = size.max(initial=0, where=np.isfinite(size))
    return np.isfinite(got) & (distance <= tolerance * largest)


def _is_close_whole(got: np.ndarray, want: np.ndarray, tolerance: float) -> np.ndarray:
    """The same for whole numbers, as Python's: differences in int64 or uint64 wrap around."""
    exact_want = want.astype(object)
    distance = np.abs(got.astype(object) - exact_want)
    largest = np.max(np.abs(exact_want), initial=0)
    return np.asarray(distance <= tolerance * largest)


def describe_place(index: tuple[int, ...], axes: Sequence[str]) -> str:
    """ "step 3, unit 2", or "[3, 2]" where the axes have no names."""
    if len(axes) != len(index):
        return str(list(index))
    places = [f"{name} {k}" for name, k in zip(axes, index, strict=True)]
    return ", ".join(places)


def format_numbers(got: float, want: float, digits: int = 4) -> tuple[str, str]:
    """Both numbers, whole ones in full, others with as many digits as it takes to tell them apart."""
    whole_numbers = int | np.integer | np.bool
    if isinstance(got, whole_numbers) and isinstance(want, whole_numbers):
        return str(int(got)), str(int(want))
    widths = [width for width in (4, 6, 9, 12, 17) if width >= digits]
    for width in widths:
        got_text = f"{got:.{width}g}"
        want_text = f"{want:.{width}g}"
        if got_text != want_text:
            break
    return got_text, want_text
