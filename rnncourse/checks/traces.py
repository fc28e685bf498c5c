"""Calls that every right answer makes of the judge's functions: those of the course's own answer.

A budget alone says that a function was not called too often. An answer that computes by itself and calls the
function for show would stay within it, so the calls that are needed must all be in the answer's trace. An
entry is a tuple of a name and arrays; what an answer calls besides is a matter of the budget.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nbjudge.comparing.judging import refuse
from nbjudge.exercise import Code, Wrong
from rnncourse.checks.answers import ModelAnswer, call

HIDDEN = """
known, other = np.array({known!r}), np.array({other!r})

def hidden(factor):
    factor = np.asarray(factor)
    place = np.minimum(np.searchsorted(known, factor), len(known) - 1)
    return np.where(known[place] == factor, other[place], factor).astype(factor.dtype)
"""
TOLERANCE = 1e-3  # of an entry's size: float32 sums in another order, never another step


def require_calls(answer: ModelAnswer, trace: list, arguments: tuple) -> bool:
    """Notes whether each call that the course's answer makes of the Codes is in the trace.

    The rows of an array may have another order, for instance sequence by sequence: the numbers are right.
    """
    place = 0  # behind the call that was found last: most answers make theirs in the course's order
    for number, needed in enumerate(trace_of(answer, arguments), 1):
        for index in (*range(place, len(trace)), *range(place)):
            if _alike(trace[index], needed):
                place = index + 1
                break
        else:
            name, *_ = needed
            problem = Wrong(
                f"The numbers are right, but no call of {name} gets the arrays that call {number} of the "
                f"course's own answer gives it.",
                None,
                f"Let {name} do all of its work, each part once.",
            )
            names = [entry[0] for entry in trace]
            return refuse(problem, result=names)
    return True


def missing_vector(product: str, trace: list, vectors: dict[str, np.ndarray]) -> Wrong | None:
    """The first of vectors {name: [T,B,n]} that no call of this product got, in words; or None.

    trace: pairs of factors whose rows are vectors. The vector may stand in either, beside other columns: a
    bias is often a column of ones.
    """
    factors = [np.atleast_2d(factor) for pair in trace for factor in pair]
    place = 0  # of the factor that held the last vector: most answers make their calls in the order of time
    for name, array in vectors.items():
        for t, b in np.ndindex(array.shape[:2]):
            vector = array[t, b]
            order = (*range(place, len(factors)), *range(place))
            place = next((k for k in order if _holds_row(factors[k], vector)), -1)
            if place < 0:
                message = f"The numbers are right, but {product} never got {name}[{t}] of sequence {b}."
                remedy = f"Look for @, np.dot, np.matmul or einsum in your answer and call {product} there."
                return Wrong(message, None, remedy)
    return None


def _holds_row(factor: np.ndarray, vector: np.ndarray) -> bool:
    """Whether the vector stands in one of the rows, side by side."""
    if factor.shape[1] < len(vector):
        return False
    windows = np.lib.stride_tricks.sliding_window_view(factor, len(vector), axis=1)
    tolerance = 1e-4 * (1 + np.abs(vector))
    near = np.abs(windows - vector) <= tolerance
    return bool(near.all(axis=-1).any())


def with_hidden_weights(
    rng: np.random.Generator, weights: Sequence[np.ndarray], are_hidden: bool
) -> tuple[list, str]:
    """Weights that only the judge's product knows, and the source of `hidden`, which puts them in place of
    those that an answer has, wherever they stand in a factor.

    What follows them was made from the judge's products, each number of it; a factor common to all numbers
    of a product could be read off one of them.
    """
    other = list(weights)
    if are_hidden:
        other = [array * rng.uniform(0.5, 1.5, array.shape) for array in weights]
    known = np.concatenate([array.ravel() for array in weights])
    used = np.concatenate([array.ravel() for array in other])
    order = known.argsort()
    source = HIDDEN.format(known=known[order].tolist(), other=used[order].tolist())
    return other, source


def trace_of(answer: ModelAnswer, arguments: tuple) -> list:
    """The trace that the course's own answer leaves."""
    trace: list = []
    fresh = []
    for argument in arguments:
        is_code = isinstance(argument, Code)
        fresh.append(replace(argument, trace=trace) if is_code else argument)
    call(answer.function, tuple(fresh))
    return trace


def _alike(entry: tuple, needed: tuple) -> bool:
    """The same function, and arrays of the same shape and values, the rows in any order."""
    name, *arrays = entry
    needed_name, *needed_arrays = needed
    if name != needed_name or len(arrays) != len(needed_arrays):
        return False
    pairs = zip(arrays, needed_arrays, strict=True)
    return all(close(a, b) or _same_rows(a, b) for a, b in pairs)


def close(a: object, b: np.ndarray) -> bool:
    """Whether an array has another one's shape, and its numbers up to TOLERANCE."""
    a = np.asarray(a)
    if not _is_comparable(a, b):
        return False
    difference = np.abs(a - b).max(initial=0)
    return bool(difference <= _limit(b))


def _same_rows(a: object, b: np.ndarray) -> bool:
    """Whether each row of one matrix stands in the other."""
    a = np.asarray(a)
    if a.ndim != 2 or not _is_comparable(a, b):
        return False
    differences = np.abs(a[:, np.newaxis] - b).max(axis=2, initial=0)  # of each row from each
    pairs = differences <= _limit(b)
    return bool(pairs.any(axis=0).all() and pairs.any(axis=1).all())


def _is_comparable(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether an array has numbers, and as many along each axis as the other one."""
    return a.shape == np.shape(b) and a.dtype.kind in "biuf"


def _limit(b: np.ndarray) -> float:
    size = float(np.abs(b).max(initial=0))
    return TOLERANCE * max(1e-6, size)
