"""Two results side by side: are they the same, and if not, where does the first difference stand, in words.

What an answer returns must have the exact type, shape and dtype and be finite; only then do values count.
These four mistakes have the same names in every exercise.
"""

from collections.abc import Mapping

import numpy as np

from nbjudge.comparing.patterns import common_pattern
from nbjudge.course import current
from nbjudge.exercise import Wrong

WRONG_TYPE = "returns the wrong type"
WRONG_SHAPE = "returns the wrong shape"
WRONG_DTYPE = "returns the wrong dtype"
NOT_FINITE = "returns NaN or infinity"
BOOLS = bool, np.bool
WHOLE = bool, int, np.bool, np.integer
NUMERIC = bool, int, float, np.generic, np.ndarray
Tolerance = float | None  # a relative error; None: by the dtype
Difference = Wrong | None


def first_difference(
    got: object, want: object, axes: tuple | Mapping, what: object, tolerance: Tolerance
) -> Difference:
    """The first thing that is not as wanted, None if all agree. Parts of a tuple or dict are gone through
    in order."""
    if isinstance(want, tuple | list):
        return _in_sequence(got, want, axes, what, tolerance)
    if isinstance(want, dict):
        return _in_dict(got, want, axes, what, tolerance)
    if isinstance(want, np.ndarray):
        return _in_array(got, want, _axes_of(what, axes), str(what), tolerance)
    return _in_plain(got, want, str(what), tolerance)


def same(got: object, want: object, tolerance: Tolerance) -> bool:
    """Equal in structure, shape and value; dtypes may differ."""
    is_plain = type(got) is type(want) in (float, int)
    if is_plain and got == want and got - got == 0:
        return True  # for speed: most numbers of a known mistake's results
    if isinstance(want, tuple | list):
        if not isinstance(got, tuple | list) or len(got) != len(want):
            return False
        return all(same(*pair, tolerance) for pair in zip(got, want, strict=True))
    if isinstance(want, dict):
        alike = isinstance(got, dict) and got.keys() == want.keys()
        return alike and all(same(got[key], want[key], tolerance) for key in want)
    if isinstance(got, WHOLE) and isinstance(want, WHOLE) and not tolerance:
        return int(got) == int(want)  # a float64 does not tell 2⁶⁰ from 2⁶⁰ + 1
    if not (isinstance(got, NUMERIC) and isinstance(want, NUMERIC)):
        return type(got) is type(want) and got == want
    limit = _limit(got, want, tolerance)
    if np.shape(got) != np.shape(want):
        return False
    return current().compare.relative_error(got, want) <= limit


def whole_numbers(got: object, width: int = 0) -> list | None:
    """A list of whole numbers, or of tuples of `width` of them; None for any other answer."""
    if not isinstance(got, list | tuple | np.ndarray):
        return None
    try:
        parts = [np.asarray(part) for part in got]
    except (TypeError, ValueError):  # an array of no axes; parts of other lengths within one
        return None

    shape = (width,) if width else ()
    for part in parts:
        if part.shape != shape or part.dtype.kind not in "iuf":
            return None
        if not all(float(number).is_integer() for number in part.flat):
            return None
    if width:
        return [tuple(map(int, part)) for part in parts]
    return [int(part) for part in parts]


def describe(value: object) -> str:
    """What a value is, in words that follow 'returns': 'an array of shape (3, 2)', 'a tuple of 2', 'nothing
    (None)'."""
    if value is None:
        return "nothing (None)"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    name = type(value).__name__
    if isinstance(value, tuple | list | dict):
        return f"a {name} of {len(value)}"
    article = "an" if name[0] in "aeiou" else "a"
    return f"{article} {name}"


def _in_sequence(got, want: tuple, axes, what, tolerance: Tolerance) -> Difference:
    count = len(want)
    names = what if isinstance(what, tuple | list) else [f"result {n}" for n in range(count)]
    of_numbers = not any(isinstance(part, np.ndarray | tuple | list | dict) for part in want)
    if of_numbers and isinstance(got, np.ndarray) and got.shape == (count,):
        got = tuple(got)  # np.array([a, b]) holds the numbers of (a, b)
    if not isinstance(got, tuple | list) or len(got) != count:
        expected = f"expected is a tuple of {count}: {', '.join(names)}"
        return Wrong(f"It returns {describe(got)}; {expected}.", WRONG_TYPE, _type_advice(got))
    results = dict(zip(names, got, strict=True))
    wanted = dict(zip(names, want, strict=True))
    return _first_part(results, wanted, axes, tolerance)


def _in_dict(got, want: dict, axes, what, tolerance: Tolerance) -> Difference:
    if not isinstance(got, dict):
        keys = ", ".join(map(str, want))
        return Wrong(f"It returns {describe(got)}; a dict with {keys} is expected.", WRONG_TYPE)
    if missing := [str(key) for key in want if key not in got]:
        return Wrong(f"The dict it returns lacks {', '.join(missing)}.", WRONG_TYPE)
    if surplus := [str(key) for key in got if key not in want]:
        return Wrong(f"The dict it returns holds {', '.join(surplus)}, which are not expected.", WRONG_TYPE)
    return _first_part(got, want, axes, tolerance)


def _first_part(got: dict, want: dict, axes, tolerance: Tolerance) -> Difference:
    """The first difference of named parts, and which of the others are right."""
    parts = {name: first_difference(got[name], part, axes, name, tolerance) for name, part in want.items()}
    right = [str(name) for name, difference in parts.items() if difference is None]
    wrong = [name for name, difference in parts.items() if difference is not None]
    if not wrong:
        return None
    name = wrong[0]
    first = parts[name]
    others = {other: part for other, part in want.items() if other != name}
    if other := _other_part(got[name], others, tolerance):
        noun = str(other).removeprefix("the ")
        first.message += f" It is the right {noun}."
    elif place := _place_elsewhere(got[name], want[name], others, axes, tolerance):
        first.message += f" That number belongs to {place}."
    if right:
        first.message += f" Right: {', '.join(right)}."
    return first


def _other_part(got, want: dict, tolerance: Tolerance) -> object:
    """The name of the wanted part that a result holds in another's place; None if it agrees with no part.

    Whole numbers and single elements may agree by chance.
    """
    is_array = isinstance(got, np.ndarray) and got.size > 1
    if not is_array and not isinstance(got, float):
        return None
    for name, part in want.items():
        if same(got, part, tolerance):
            return name
    return None


def _place_elsewhere(got, want, others: dict, axes, tolerance: Tolerance) -> str | None:
    """Where in other parts the first wrong number of an array stands; None unless that is one place."""
    if not isinstance(want, np.ndarray) or want.dtype.kind != "f" or not want.ndim:
        return None
    if not isinstance(got, np.ndarray) or got.dtype != want.dtype or got.shape != want.shape:
        return None
    limit = _limit(got, want, tolerance) * np.abs(want).max(initial=0)
    is_close = np.abs(got - want) <= limit
    wrong = np.argwhere(~is_close)
    if not len(wrong):
        return None
    number = got[tuple(wrong[0])]
    places = []
    for name, part in others.items():
        if isinstance(part, np.ndarray) and part.dtype == want.dtype:
            is_number = np.abs(part - number) <= limit
            places += [(name, place) for place in np.argwhere(is_number)]
    if len(places) != 1:
        return None
    name, place = places[0]
    place = tuple(map(int, place))
    description = current().compare.describe_place(place, _axes_of(name, axes))
    return f"{name}, {description}" if description else str(name)


def _axes_of(name, axes: tuple | Mapping) -> tuple:
    """The names of the axes of one part of a result."""
    return axes.get(name, ()) if isinstance(axes, Mapping) else axes


def _in_array(got, want: np.ndarray, axes: tuple, what: str, tolerance: Tolerance) -> Difference:
    if not isinstance(got, np.ndarray):
        message = f"{what} {verb(what, 'is')} {describe(got)} instead of an array of shape {want.shape}."
        return Wrong(message, WRONG_TYPE, _type_advice(got))
    if got.shape != want.shape:
        return Wrong(f"{what} {verb(what, 'has')} shape {got.shape} instead of {want.shape}.", WRONG_SHAPE)
    if got.dtype != want.dtype:
        message = f"{what} {verb(what, 'has')} dtype {got.dtype} instead of {want.dtype}."
        return Wrong(message, WRONG_DTYPE, _dtype_advice(got, want))
    is_finite = np.isfinite(got)
    if not is_finite.all():
        places = np.argwhere(~is_finite)
        first = tuple(map(int, places[0]))
        place = current().compare.describe_place(first, axes)
        at = f", first at {place}" if place else ""
        return Wrong(f"{what} {verb(what, 'holds')} {got[first]}{at}.", NOT_FINITE)
    limit = _limit(got, want, tolerance)
    error = current().compare.relative_error(got, want)
    if error <= limit:
        return None
    place = current().compare.first_difference(got, want, axes, limit)
    if place is None:
        return Wrong(f"{what} {verb(what, 'is')} off by {error:.1g} of its size.")
    if verb(what, "is") == "are":
        place = place.replace("first differs at", "first differ at")
    sentences = f"{what} {place}.", common_pattern(got, want, axes, limit), _overflow(got, want)
    return Wrong(" ".join(filter(None, sentences)))


def _in_plain(got, want, what: str, tolerance: Tolerance) -> Difference:
    """Difference of a number, a text, a bool or None; None if they agree."""
    is_unwanted_bool = isinstance(got, BOOLS) and not isinstance(want, BOOLS)
    if is_unwanted_bool or not isinstance(got, _accepted(want)):
        expected = "nothing (None)" if want is None else f"the {type(want).__name__} that is expected"
        message = f"{what} {verb(what, 'is')} {describe(got)} instead of {expected}."
        return Wrong(message, WRONG_TYPE, _type_advice(got))
    if isinstance(got, float | np.floating) and not np.isfinite(got):
        return Wrong(f"{what} {verb(what, 'is')} {got}.", NOT_FINITE)
    if same(got, want, tolerance):
        return None
    if isinstance(want, BOOLS) or not isinstance(want, int | float | np.number):
        return Wrong(f"{what} {verb(what, 'is')} {got!r} instead of {want!r}.")
    value, wanted = current().compare.format_numbers(got, want)
    message = f"{what} {verb(what, 'is')} {value} instead of {wanted}."
    overflow = _overflow(np.asarray(got), np.asarray(want))
    return Wrong(" ".join(filter(None, [message, overflow])))


PLURALS = {"is": "are", "has": "have", "holds": "hold"}
SINGULAR_ENDINGS = "ss", "us", "is", "as", "/s"  # "/s": a rate


def verb(what: str, singular: str) -> str:
    """The verb that follows the name of a result: "the words" take a plural, `h` and `gates` do not."""
    noun = what.partition(" of ")[0]
    is_plural = what.startswith("the ") and noun.endswith("s") and not noun.endswith(SINGULAR_ENDINGS)
    return PLURALS[singular] if is_plural else singular


def _overflow(got: np.ndarray, want: np.ndarray) -> str | None:
    """That whole numbers are off by a multiple of 2³² or 2⁶⁴: they did not fit into their dtype."""
    if want.dtype.kind not in "iuO" or got.dtype.kind not in "iuO" or got.shape != want.shape:
        return None
    off = [int(a) - int(b) for a, b in zip(got.flat, want.flat, strict=True)]
    if not any(off):
        return None
    for bits in (64, 32):
        if all(difference % 2**bits == 0 for difference in off):
            reason = f"whole numbers of {bits} bits overflowed"
            return f"It is off by a multiple of 2 to the power {bits}: {reason}."
    return None


def _accepted(want) -> tuple:
    """Types that may stand for a wanted value: NumPy's own numbers are what its functions return."""
    if isinstance(want, BOOLS):
        return BOOLS
    if isinstance(want, int | np.integer):
        return int, np.integer
    if isinstance(want, float | np.floating):
        return float, int, np.floating, np.integer
    return (type(want),)


def _type_advice(got) -> str | None:
    return "is a `return` missing?" if got is None else None


def _dtype_advice(got: np.ndarray, want: np.ndarray) -> str | None:
    if want.dtype.kind == "f" and got.dtype == np.float64:
        return "np.zeros and np.array without a dtype make float64; so does float32 times a NumPy integer."
    return None


def _limit(got, want, tolerance: Tolerance) -> float:
    """The relative error allowed: that of the coarser dtype, none at all for whole numbers."""
    if tolerance is not None:
        return tolerance
    known = current().compare.TOLERANCES
    limit = 0.0
    for array in (got, want):
        name = np.asarray(array).dtype.name
        if name in known:
            limit = max(limit, known[name].gradient)
    return limit
