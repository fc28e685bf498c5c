"""All states of a linear recurrence h[t] = a[t] h[t−1] + b[t], with fewer dependent steps than T.

One step is an affine map h → a h + b, and two of them are one: (a₂, b₂) after (a₁, b₁) is (a₂a₁, a₂b₁ + b₂).
The composition is associative, so all prefixes of T steps are a parallel prefix sum (scan); it is not
commutative, so a scan must keep the order of time.  What each scan below costs, in compositions and in levels
that wait for each other:

                                        compositions     levels
    sequential                          T                T
    hillis_steele (1986)                T log₂ T         log₂ T
    blelloch (1990)                     2 T              2 log₂ T
    chunked, chunks of C steps          2 T              C + T/C

An a [T,...,n] multiplies the state element by element, where a step's Jacobian is diagonal; an a [T,...,n,n]
is a matrix for a state b [T,...,n].  Time runs along the first axis; the others are independent recurrences.

A prefix multiplies all a of its steps, also where the loop multiplies them by a state of 0: products of
growing steps overflow, and ∞·0 is not a number.  `states` then cuts time in halves until they stay finite.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Maps(NamedTuple):
    """Affine maps h → a h + b, one for each step of the first axis."""

    a: np.ndarray  # [T,...,n], or [T,...,n,n] if the maps are matrices
    b: np.ndarray  # [T,...,n]

    def part(self, first: int | None, stop: int | None, stride: int = 1) -> "Maps":
        """The maps of these steps, as a slice has them."""
        steps = slice(first, stop, stride)
        return Maps(self.a[steps], self.b[steps])

    def write(self, steps: slice, maps: "Maps") -> None:
        """Let these steps have other maps."""
        self.a[steps] = maps.a
        self.b[steps] = maps.b


Compose = Callable[[Maps, Maps], Maps]
Scan = Callable[[Maps], Maps]


def apply(a: np.ndarray, h: np.ndarray) -> np.ndarray:
    """a h [...,n], of a diagonal a [...,n] or a matrix a [...,n,n]."""
    is_diagonal = a.ndim == h.ndim
    return a * h if is_diagonal else np.einsum("...ij,...j->...i", a, h)


def compose(later: Maps, earlier: Maps) -> Maps:
    """The maps that do `earlier` first and then `later`, step by step."""
    is_diagonal = later.a.ndim == later.b.ndim
    a = later.a * earlier.a if is_diagonal else later.a @ earlier.a
    b = apply(later.a, earlier.b) + later.b
    return Maps(a, b)


def sequential(maps: Maps, compose: Compose = compose) -> Maps:
    """All prefixes, one after the other: the loop over time."""
    prefixes = [maps.part(0, 1)]
    for t in range(1, len(maps.b)):
        step = maps.part(t, t + 1)
        prefixes.append(compose(step, prefixes[-1]))
    return _joined(prefixes)


def hillis_steele(maps: Maps, compose: Compose = compose) -> Maps:
    """All prefixes: after level k, each map covers the last 2ᵏ steps (Hillis and Steele 1986)."""
    distance = 1
    T = len(maps.b)
    while distance < T:
        later = maps.part(distance, None)
        earlier = maps.part(0, T - distance)
        complete = maps.part(0, distance)
        maps = _joined([complete, compose(later, earlier)])
        distance *= 2
    return maps


def blelloch(maps: Maps, compose: Compose = compose) -> Maps:
    """All prefixes: neighbours paired, the pairs scanned, the steps between completed (Blelloch 1990)."""
    T = len(maps.b)
    if T <= 1:
        return maps
    even = maps.part(0, None, 2)
    odd = maps.part(1, None, 2)
    pairs = compose(odd, even.part(0, T // 2))
    ending_odd = blelloch(pairs, compose)  # prefixes that end at odd steps
    prefixes = Maps(*map(np.empty_like, maps))
    prefixes.write(slice(0, 1), even.part(0, 1))
    prefixes.write(slice(1, None, 2), ending_odd)
    if T > 2:
        before = ending_odd.part(0, (T - 1) // 2)
        ending_even = compose(even.part(1, None), before)
        prefixes.write(slice(2, None, 2), ending_even)
    return prefixes


def chunked(maps: Maps, chunk: int, compose: Compose = compose) -> Maps:
    """All prefixes: step k of every chunk at once, then one chunk after the other, then all chunks completed.

    Raises ValueError if chunk is not a whole number of at least 1.
    """
    if not isinstance(chunk, int | np.integer) or chunk < 1:
        raise ValueError(f"chunk is {chunk!r}, expected a whole number of at least 1 step")
    T = len(maps.b)
    if T == 0:
        return maps
    chunk = min(chunk, T)
    prefixes = Maps(*map(np.empty_like, maps))
    within = maps.part(0, None, chunk)  # of each chunk, the prefix that ends at its step k
    for k in range(chunk):
        if k > 0:
            steps = maps.part(k, None, chunk)  # the last chunk may be shorter
            within = compose(steps, within.part(0, len(steps.b)))
        prefixes.write(slice(k, None, chunk), within)
    if T > chunk:
        carries = sequential(within, compose)
        carried_a = np.repeat(carries.a, chunk, axis=0)
        carried_b = np.repeat(carries.b, chunk, axis=0)
        before = Maps(carried_a, carried_b).part(0, T - chunk)
        after_first = prefixes.part(chunk, None)
        prefixes.write(slice(chunk, None), compose(after_first, before))
    return prefixes


def states(maps: Maps, first: np.ndarray, scan: Scan = blelloch) -> np.ndarray:
    """States h [T,...,n] after each step, from the state `first` [...,n] before the first one.

    They are finite wherever those of the loop are.  If products of a overflow, the halves of the steps are
    scanned one after the other, and halves of these: more levels, but the same states.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        prefixes = scan(maps)
        start = np.broadcast_to(first, prefixes.b.shape)
        h = apply(prefixes.a, start) + prefixes.b
    if np.isfinite(h).all():
        return h
    half = len(maps.b) // 2
    if half == 0 or not np.isfinite(first).all():
        return _loop(maps, first)
    earlier = states(maps.part(0, half), first, scan)
    later = states(maps.part(half, None), earlier[-1], scan)
    return np.concatenate([earlier, later])


def reversed_states(maps: Maps, last: np.ndarray, scan: Scan = blelloch) -> np.ndarray:
    """g [T,...,n] with g[t] = a[t] g[t+1] + b[t], in reverse from `last` [...,n], after the last step."""
    backwards = maps.part(None, None, -1)
    return states(backwards, last, scan)[::-1]


def _loop(maps: Maps, h: np.ndarray) -> np.ndarray:
    """States [T,...,n] after each step from h [...,n], one step after the other."""
    after = np.empty_like(maps.b)
    for t in range(len(after)):
        h = apply(maps.a[t], h) + maps.b[t]
        after[t] = h
    return after


def _joined(parts: list[Maps]) -> Maps:
    a, b = zip(*parts, strict=True)
    return Maps(np.concatenate(a), np.concatenate(b))
