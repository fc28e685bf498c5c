"""A layer's work split over a team, by sequences or by units, whichever a model expects to be faster.

By sequences, members do not wait in the loop over time, and each reads all recurrent weights in every step:
from its core's second-level cache if they fit, else from beyond it.  By units, each reads its own part of the
weights, for all sequences, and all wait at a barrier once a step.  The model is the time of a step,

    products at the rate of the member's tiles + weights beyond the cache at BANDWIDTH + barrier

Its constants decide where the ways are close; they change no result.
"""

from functools import cache
from itertools import pairwise

from rnnlab.kernels.packed.forward import Share, Sizes
from rnnlab.kernels.packed.host import CORE, ROWS, VECTORS
from rnnlab.kernels.packed.tiles import Tile, predicted_rate

# Measured on two cores of an Intel Xeon (AVX-512, 2 MB of second-level cache) that other programs used, too.
# The same cores alone gave 163e9, 217e9 and a barrier below the noise; with the constants below the model
# still chose the faster way, or one as fast, at all 15 sizes that bench/split_constants.py measures.
# Turned by ±30 % (its --turn), none of these three changes a choice there, with a cache of 0.5, 1 or 2 MB.
RATE = 156e9  # FLOP/s of one core's tiles of ROWS rows, float32, 66 rows by weights of 1 MB
BANDWIDTH = 20e9  # bytes/s beyond that cache, as weights of 8 MB add to the time at RATE: 19e9 and 23e9
BARRIER = 5e-6  # seconds that waiting adds to a step: 1.2e-6, 6.0e-6 and 7.3e-6 for steps of 7 to 36 µs
CACHE_PART = 0.75  # of the second-level cache that weights may fill: states and gates want some


@cache
def split(sizes: Sizes, members: int, number_bytes: int, cache_bytes: int) -> tuple[Share, ...]:
    """A share for each member, by sequences or by units; fewer members where there is less to share.

    One member alone has the same time either way; it goes by units, which need less memory, where the weights
    are larger than the cache.
    """
    by_sequences = min(members, sizes.B // sizes.together)
    by_units = min(members, sizes.P)
    time_by_sequences = _step(sizes, number_bytes, cache_bytes, by_sequences, 1)
    time_by_units = _step(sizes, number_bytes, cache_bytes, 1, by_units)
    weight_bytes = sizes.G * sizes.H**2 * number_bytes
    is_large = weight_bytes > CACHE_PART * cache_bytes
    if time_by_units < time_by_sequences or (members == 1 and is_large):
        return _by_units(sizes, by_units)
    return _by_sequences(sizes, by_sequences)


def _step(sizes: Sizes, number_bytes: int, cache_bytes: int, row_parts: int, unit_parts: int) -> float:
    """Predicted seconds of a time step, if sequences and units are in so many parts."""
    rows = -(-sizes.B // row_parts)
    panels = -(-sizes.P // unit_parts)
    weights = sizes.G * sizes.H * panels * sizes.H / sizes.P
    tiles = -(-rows // ROWS)
    tile = Tile(-(-rows // tiles), VECTORS)  # the largest of equal tiles
    rate = RATE * predicted_rate(tile, CORE)
    seconds = 2 * rows * weights * number_bytes / 4 / rate
    weight_bytes = weights * number_bytes
    if weight_bytes > CACHE_PART * cache_bytes:
        seconds += weight_bytes / BANDWIDTH
    if unit_parts > 1:
        seconds += BARRIER
    return seconds


def _by_sequences(sizes: Sizes, members: int) -> tuple[Share, ...]:
    groups = sizes.B // sizes.together
    cuts = [groups * k // members * sizes.together for k in range(members + 1)]
    shares = []
    for member, (low, high) in enumerate(pairwise(cuts)):
        shares.append(Share(member, members, low, high, 0, sizes.P, False))
    return tuple(shares)


def _by_units(sizes: Sizes, members: int) -> tuple[Share, ...]:
    cuts = [sizes.P * k // members for k in range(members + 1)]
    shares = []
    for member, (first, last) in enumerate(pairwise(cuts)):
        shares.append(Share(member, members, 0, sizes.B, first, last, True))
    return tuple(shares)
