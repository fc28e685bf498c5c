"""What a wrong array has in common with the right one: patterns that follow the first difference.

The first difference says where to look, a pattern what for: "Every number is 2 times the right one." None
of them guesses at a cause, so none can name the wrong mistake.
"""

from collections.abc import Sequence

import numpy as np

MOST = 6  # places that a sentence lists


def common_pattern(got: np.ndarray, want: np.ndarray, axes: Sequence[str], tolerance: float) -> str | None:
    """A sentence about two arrays of one shape that differ; None if nothing stands out.

    `axes` names the axes of `want`; `tolerance` is relative to the largest number.
    """
    if want.size < 2 or want.dtype.kind not in "iuf":
        return None
    number = got.flat[0]
    is_constant = number and got.size > 2 and (got == number).all()
    if is_constant and (want != want.flat[0]).any():
        return f"All {got.size} numbers are {number:.6g}."
    got = got.astype("float64")
    want = want.astype("float64")
    largest = max(np.abs(want).max(), np.abs(got).max())
    limit = tolerance * largest
    close = np.abs(got - want) <= limit
    all_axes = range(want.ndim)
    names = [*axes] if len(axes) == want.ndim else [f"axis {n}" for n in all_axes]
    long = [axis for axis in all_axes if want.shape[axis] > 1]
    patterns = (
        _factor(got, want, limit),
        _offset(got, want, limit),
        *(_moved(got, want, axis, names[axis], limit) for axis in long),
        _elsewhere(got, want, names, limit),
        *(_right_parts(close, axis, names[axis]) for axis in long),
    )
    return next(filter(None, patterns), None)


def first_place(
    got: np.ndarray, want: np.ndarray, rtol: float = 1e-5, atol: float = 1e-8
) -> tuple[int, ...] | None:
    """Where the first number stands that differs; None if none does. Both have one shape."""
    is_close = np.isclose(got, want, rtol, atol)
    places = np.argwhere(~is_close)
    return tuple(map(int, places[0])) if len(places) else None


def part_of_sum(surplus: float, terms: np.ndarray) -> str:
    """Which of terms [n] in a row a sum lacks or has twice, if those of one place do; else the first ones."""
    count = len(terms)
    sums = np.concatenate([[0.0], np.cumsum(terms, dtype=float)])
    limit = 1e-4 * np.abs(terms).max(initial=0)
    runs = np.subtract.outer(sums, sums)  # [end, first]: the sum of the terms from first on, before end
    for verb, whole in (("lacks", -surplus), ("has twice", surplus)):
        is_whole = np.abs(runs - whole) <= limit
        ends, firsts = np.nonzero(np.tril(is_whole, -1))
        if len(ends) == 1 < count:
            first = int(firsts[0])
            last = int(ends[0]) - 1
            which = f"term {first}" if first == last else f"terms {first} to {last}"
            return f"The sum {verb} {which} of its {count}, counted from 0."
    beginning = ", ".join(f"{term:.4g}" for term in terms[:3])
    return f"Its terms begin with {beginning}."


def _factor(got: np.ndarray, want: np.ndarray, limit: float) -> str | None:
    """One factor for all numbers."""
    factor = float((got * want).sum() / (want * want).sum()) if want.any() else 0.0
    is_far = np.abs(got - factor * want) > limit
    if not factor or is_far.any():
        return None if got.any() else "Every number is 0."
    if abs(factor + 1) < 1e-4:
        return "Every number has the wrong sign."
    if f"{factor:.4g}" != "1":
        return f"Every number is {factor:.4g} times the right one."
    return None


def _offset(got: np.ndarray, want: np.ndarray, limit: float) -> str | None:
    """One number added to all."""
    offset = float((got - want).mean())
    size = abs(offset)
    is_far = np.abs(got - want - offset) > limit
    if size <= limit or is_far.any():
        return None
    direction = "large" if offset > 0 else "small"
    return f"Every number is {size:.4g} too {direction}."


def _moved(got: np.ndarray, want: np.ndarray, axis: int, name: str, limit: float) -> str | None:
    """The right numbers at other places of one axis, or one part of it everywhere."""
    got = np.moveaxis(got, axis, 0)
    want = np.moveaxis(want, axis, 0)
    noun = _noun(name)
    first = numbered(name, 0)
    second = numbered(name, 1)
    alike = lambda a, b: bool((np.abs(a - b) <= limit).all())
    if alike(got, got[:1]) and not alike(want, want[:1]):
        return f"It holds the same at every {noun}."
    if alike(got, want[::-1]):
        return f"It is right in reverse order: {first} stands last."
    if len(want) > 2 and not alike(want[1:], want[:-1]):
        if alike(got[1:], want[:-1]):
            return f"At {second} and later it holds what belongs to the {noun} before."
        if alike(got[:-1], want[1:]):
            return f"At {first} and later it holds what belongs to the {noun} after."
    return None


def _elsewhere(got: np.ndarray, want: np.ndarray, names: Sequence[str], limit: float) -> str | None:
    """All numbers at other places, and where the first of them belongs, if that is one place."""
    sorted_got = np.sort(got, axis=None)
    sorted_want = np.sort(want, axis=None)
    has_same_numbers = (np.abs(sorted_got - sorted_want) <= limit).all()
    if not has_same_numbers or want.size < 3:
        return None
    wrong = np.argwhere(np.abs(got - want) > limit)
    number = got[tuple(wrong[0])]
    places = np.argwhere(np.abs(want - number) <= limit)
    sentence = "The numbers are the right ones at other places"
    if len(places) > 1:
        return f"{sentence}."
    place = ", ".join(numbered(name, n) for name, n in zip(names, places[0], strict=True))
    return f"{sentence}: the first belongs to {place}."


def _right_parts(close: np.ndarray, axis: int, name: str) -> str | None:
    """Indices along `axis` whose whole slice is right, as a sentence; None if they all come before the first
    error."""
    slices = np.moveaxis(close, axis, 0).reshape(close.shape[axis], -1)
    is_right = slices.all(axis=1)
    right = np.flatnonzero(is_right)
    wrong = np.flatnonzero(~is_right)
    if not len(right) or right[-1] < wrong[0]:
        return None
    if len(wrong) < len(right):
        start = "Wrong only"
        places = wrong
    else:
        start = "Right"
        places = right
    if len(places) > MOST:
        return None
    numbers = ", ".join(map(str, places))
    return f"{start} at {numbered(name, numbers)}."


def numbered(name: str, number: object) -> str:
    """ "step 3", and "index 3 of axis 0" for an axis without a name."""
    if not name[-1].isdigit():
        return f"{name} {number}"
    return f"index {number} of {name}"


def _noun(name: str) -> str:
    return name if not name[-1].isdigit() else f"index of {name}"
