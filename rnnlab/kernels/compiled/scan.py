"""All states of h[t] = a[t] h[t−1] + b[t], element by element, by compiled loops on threads.

P threads share P + 1 chunks of the T steps.  First one runs chunk 0, from the state that is given, while the
others join the maps of a chunk each to one.  These maps give the state before every other chunk; then each
thread runs one.  So 2T/(P + 1) steps follow one another, not T: two threads save a third of them.
"""

import math
from functools import partial
from itertools import pairwise

import numpy as np
from numba import njit

from rnnlab.kernels.compiled import threads
from rnnlab.kernels.compiled.recurrence import OPTIONS
from rnnlab.scan import Maps

LEAST = 2**22  # numbers of a chunk: on fewer, one thread is the quicker one (docs/performance.md)


@njit(**OPTIONS)
def run(a, b, h, first, last, is_reversed):
    """h after steps first … last from h before them; a, b [T,n], h [T+1,n]."""
    end = len(a) - 1
    for k in range(first, last):
        t = end - k if is_reversed else k
        before = h[t + 1] if is_reversed else h[t]
        after = h[t] if is_reversed else h[t + 1]
        for j in range(before.size):
            after[j] = a[t, j] * before[j] + b[t, j]


@njit(**OPTIONS)
def join(a, b, scale, offset, first, last, is_reversed):
    """The map of steps first … last as one: scale and offset [n], which come in as 1 and 0."""
    end = len(a) - 1
    for k in range(first, last):
        t = end - k if is_reversed else k
        for j in range(scale.size):
            scale[j] *= a[t, j]
            offset[j] = a[t, j] * offset[j] + b[t, j]


def states(maps: Maps, first: np.ndarray, is_reversed: bool = False, parts: int | None = None) -> np.ndarray:
    """h [T+1,...,n] from diagonal maps, with h[0] = first [...,n]; in reverse from h[T] = first.

    parts: threads; None takes as many as BLAS may use and the numbers are worth.
    """
    T, *shape = maps.b.shape
    numbers = math.prod(shape)
    a, b = (np.require(array, requirements=("C", "A", "W")).reshape(T, numbers) for array in maps)
    if not parts:
        worthwhile = b.size // LEAST - 1
        parts = max(1, min(threads.count(), worthwhile))
    cuts = [T * k // (parts + 1) for k in range(parts + 2)]
    row = [T - cut if is_reversed else cut for cut in cuts]  # of the state before each chunk
    h = np.empty((T + 1, numbers), b.dtype)
    h[row[0]] = np.ravel(first)

    tasks = [partial(run, a, b, h, 0, cuts[1], is_reversed)]
    joined = []  # the maps of all other chunks but the last
    for begin, end in pairwise(cuts[1:-1]):
        scale = np.ones_like(h[0])
        offset = np.zeros_like(h[0])
        joined.append((scale, offset))
        tasks.append(partial(join, a, b, scale, offset, begin, end, is_reversed))
    threads.together(tasks)
    with np.errstate(over="ignore", invalid="ignore"):
        for k, (scale, offset) in enumerate(joined, 1):
            h[row[k + 1]] = scale * h[row[k]] + offset
    if not np.isfinite(h[row[2:-1]]).all():  # a product of steps has overflowed: run them all
        return states(maps, first, is_reversed, parts=1)
    tasks = []
    for k in range(1, parts + 1):
        end = cuts[k + 1]
        if k < parts:
            end -= 1  # the last state of the chunk is there already
        tasks.append(partial(run, a, b, h, cuts[k], end, is_reversed))
    threads.together(tasks)
    return h.reshape(T + 1, *shape)
