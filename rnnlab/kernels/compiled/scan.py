"""All states of h[t] = a[t] h[t−1] + b[t], element by element, by compiled loops on threads.

P threads share P + 1 chunks of the T steps.  First one runs chunk 0, from the state that is given, while the
others join the maps of a chunk each to one.  These maps give the state before every other chunk; then each
thread runs one.  So 2T/(P + 1) steps follow one another, not T: two threads save a third of them.
"""

import math
from functools import partial

import numpy as np
from numba import njit

from rnnlab.kernels.compiled import threads
from rnnlab.kernels.compiled.recurrence import OPTIONS
from rnnlab.scan import Maps

LEAST = 2**22  # numbers of a chunk: on fewer, one thread is the quicker one (docs/performance.md)


@njit(**OPTIONS)
def run(a, b, h, first, last, is_reversed):
    """h after steps first … last from h before them; a, b [T,n], h [T+1,n]."""
    for k in range(first, last):
        t = len(a) - 1 - k if is_reversed else k
        before = h[t + 1] if is_reversed else h[t]
        after = h[t] if is_reversed else h[t + 1]
        for j in range(before.size):
            after[j] = a[t, j] * before[j] + b[t, j]


@njit(**OPTIONS)
def join(a, b, scale, offset, first, last, is_reversed):
    """The map of steps first … last as one: scale and offset [n], which come in as 1 and 0."""
    for k in range(first, last):
        t = len(a) - 1 - k if is_reversed else k
        for j in range(scale.size):
            scale[j] *= a[t, j]
            offset[j] = a[t, j] * offset[j] + b[t, j]


def states(maps: Maps, first: np.ndarray, is_reversed: bool = False, parts: int | None = None) -> np.ndarray:
    """h [T+1,...,n] from diagonal maps, with h[0] = first [...,n]; in reverse from h[T] = first.

    parts: threads; None takes as many as BLAS may use and the numbers are worth.
    """
    T = len(maps.b)
    shape = maps.b.shape[1:]
    flat = [np.require(array, requirements=("C", "A", "W")).reshape(T, math.prod(shape)) for array in maps]
    parts = parts or max(1, min(threads.count(), maps.b.size // LEAST - 1))
    cuts = [T * k // (parts + 1) for k in range(parts + 2)]
    row = [T - cut if is_reversed else cut for cut in cuts]  # of the state before each chunk
    h = np.empty((T + 1, flat[1].shape[1]), maps.b.dtype)
    h[row[0]] = np.ravel(first)
    joined = [(np.ones_like(h[0]), np.zeros_like(h[0])) for _ in cuts[2:-1]]

    def chunk(work, k, end, *arrays):
        return partial(work, *flat, *arrays, cuts[k], end, is_reversed)

    maps_of_others = [chunk(join, k, cuts[k + 1], *pair) for k, pair in enumerate(joined, 1)]
    threads.together([chunk(run, 0, cuts[1], h), *maps_of_others])
    with np.errstate(over="ignore", invalid="ignore"):
        for k, (scale, offset) in enumerate(joined, 1):
            h[row[k + 1]] = scale * h[row[k]] + offset
    if parts > 1 and not np.isfinite(h[row[2:-1]]).all():  # a product of steps has overflowed: run them all
        return states(maps, first, is_reversed, parts=1)
    ends = [*(cut - 1 for cut in cuts[2:-1]), T]  # the last state of these chunks is there already
    threads.together([chunk(run, k, end, h) for k, end in enumerate(ends, 1)])
    return h.reshape(T + 1, *shape)
