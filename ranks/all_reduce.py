"""All-reduce: every rank contributes an array, and every rank receives the sum of all of them.

`ring_all_reduce` is written out to be read: it needs no more than a send to the right neighbour and a receive
from the left one.  Training uses MPI's own all-reduce (see sums); tests compare ours with MPI's.

A ring of P ranks cuts the array into P chunks.  In the first P-1 steps partial sums travel: each rank sends
one chunk to the right and adds the chunk from the left to its own.  Then each rank owns one complete chunk,
and in P-1 further steps the complete chunks travel.  A rank sends 2(P-1)/P of the array in all: less than two
arrays, however many ranks there are.  But the number of steps grows with P, and each step costs a latency.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from mpi4py.MPI import Comm

Arrays = dict[str, np.ndarray]


class Interval(NamedTuple):
    """One sum: when its array was complete on this rank, when it was begun, and when it was complete (s)."""

    name: str
    bytes: int
    ready: float
    start: float
    end: float


def ring_all_reduce(comm: "Comm", array: np.ndarray) -> int:
    """Replace array [n] on every rank by its sum over all ranks; the number of bytes that this rank sent.

    All ranks must pass the same n and dtype.  Raises ValueError if the array is not a contiguous vector.
    """
    if array.ndim != 1 or not array.flags.c_contiguous:
        raise ValueError(f"array has shape {array.shape}, expected a contiguous vector: use ravel()")
    rank = comm.Get_rank()
    ranks = comm.Get_size()
    chunks = [array[bounds] for bounds in chunk_slices(array.size, ranks)]
    incoming = np.empty(max(chunk.size for chunk in chunks), array.dtype)
    sent_bytes = 0
    for step in range(2 * (ranks - 1)):
        outgoing = chunks[(rank - step) % ranks]
        target = chunks[(rank - step - 1) % ranks]
        received = incoming[: target.size]
        # one call for both directions: if all ranks sent first, each could wait for a receiver forever
        comm.Sendrecv(outgoing, (rank + 1) % ranks, recvbuf=received, source=(rank - 1) % ranks)
        adds = step < ranks - 1
        target[:] = target + received if adds else received
        sent_bytes += outgoing.nbytes
    return sent_bytes


def chunk_slices(size: int, chunks: int) -> list[slice]:
    """Slices that cut `size` numbers into chunks whose sizes differ by one at most; some may be empty."""
    borders = [size * k // chunks for k in range(chunks + 1)]
    return [slice(start, stop) for start, stop in pairwise(borders)]


def average_gradients(comm: "Comm", gradients: Arrays, sequences: int) -> Arrays:
    """Gradients of the whole minibatch, weights [G*H,I] and others, from each rank's mean over its sequences.

    A rank's mean counts as often as the rank has sequences.  The mean of the means would be wrong: with 3
    sequences on one rank and 1 on another, the single one would count as much as the three together.
    """
    total = comm.allreduce(sequences)
    if sequences < 0 or total < 1:
        raise ValueError(f"this rank has {sequences} sequences and all have {total}: at least 1 is needed")
    flat = pack(list(gradients.values()))
    flat *= flat.dtype.type(sequences / total)
    summed = np.empty_like(flat)
    comm.Allreduce(flat, summed)
    shapes = [gradient.shape for gradient in gradients.values()]
    return dict(zip(gradients, unpack(summed, shapes), strict=True))


def pack(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """One vector [n] with all numbers of the arrays (any shapes), so that one message carries them."""
    return np.concatenate([array.ravel() for array in arrays])


def unpack(flat: np.ndarray, shapes: Sequence[tuple[int, ...]]) -> list[np.ndarray]:
    """Arrays of these shapes, one after another in the vector flat [n], whose memory they share."""
    borders = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
    return [part.reshape(shape) for part, shape in zip(np.split(flat, borders), shapes, strict=True)]
