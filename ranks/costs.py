"""Costs of an all-reduce in the α–β model: messages, bytes on the longest path, and additions.

A message of m bytes takes α + m·β seconds; adding m received bytes takes m·γ more.  A rank sends and receives
at the same time, one message each.  The formulas are those of Thakur, Rabenseifner and Gropp (2005), as the
sources of MPICH state them; `test_scaling_model.py` holds each against simulated ranks that send the
messages one by one.  n is the bytes of the array that is reduced, p the number of ranks.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class Link:
    """Connection of two ranks: seconds a message, seconds a byte, seconds to add a received byte."""

    latency: float  # α
    byte: float  # β
    addition: float = 0.0  # γ

    def __post_init__(self):
        for name in ("latency", "byte", "addition"):
            value = getattr(self, name)
            if not (isinstance(value, int | float) and math.isfinite(value) and value >= 0):
                raise ValueError(f"{name} is {value!r}; a link needs finite seconds of at least 0")

    @classmethod
    def from_bandwidth(cls, microseconds: float, gigabytes: float) -> "Link":
        """Link with this latency in µs and this bandwidth in GB/s."""
        if not gigabytes > 0:
            raise ValueError(f"the bandwidth is {gigabytes!r} GB/s; it must be above 0")
        return cls(1e-6 * microseconds, 1e-9 / gigabytes)


class Path(NamedTuple):
    """Longest chain of messages that wait for one another, and what it carries."""

    messages: float
    bytes: float
    added: float  # bytes that are added after they were received

    def seconds(self, link: Link) -> float:
        """Time of the path over equal links."""
        return self.messages * link.latency + self.bytes * link.byte + self.added * link.addition


def one_reducer(p: int, n: float) -> Path:
    """One rank receives from all others in turn, then sends the sum to all in turn."""
    return Path(2 * (p - 1), 2 * (p - 1) * n, (p - 1) * n)


def recursive_doubling(p: int, n: float) -> Path:
    """Partners at distance 1, 2, 4, … exchange whole arrays; ranks beyond a power of two fold in first."""
    doublings, folded = _folded(p)
    return Path(doublings + 2 * folded, (doublings + 2 * folded) * n, (doublings + folded) * n)


def rabenseifner(p: int, n: float) -> Path:
    """Halves, quarters, … are reduced between partners, then gathered in the opposite order."""
    doublings, folded = _folded(p)
    part = n * (1 - 0.5**doublings)
    return Path(2 * doublings + 2 * folded, 2 * part + 2 * folded * n, part + folded * n)


def ring(p: int, n: float) -> Path:
    """Neighbours pass on one of p chunks in each of 2(p−1) steps: reduce-scatter, then all-gather."""
    part = n * (p - 1) / p
    return Path(2 * (p - 1), 2 * part, part)


def tree(p: int, n: float) -> Path:
    """Whole arrays go up a binomial tree and are added; the sum comes down the same tree."""
    rounds = math.ceil(math.log2(p))
    return Path(2 * rounds, 2 * rounds * n, rounds * n)


ALGORITHMS: dict[str, Callable[[int, float], Path]] = {
    "one reducer": one_reducer,
    "tree": tree,
    "recursive doubling": recursive_doubling,
    "Rabenseifner": rabenseifner,
    "ring": ring,
}


def all_reduce_seconds(algorithm: str, ranks: int, size: float, link: Link) -> float:
    """Seconds in which `ranks` ranks sum an array of `size` bytes over equal links.

    Raises ValueError for an unknown algorithm, fewer than one rank, or a size below 0.
    """
    check_ranks(ranks)
    check_size(size)
    if algorithm not in ALGORITHMS:
        raise ValueError(f"no all-reduce is called {algorithm!r}; there are {', '.join(ALGORITHMS)}")
    return 0.0 if ranks == 1 else ALGORITHMS[algorithm](ranks, size).seconds(link)


def fastest(ranks: int, size: float, link: Link) -> str:
    """Name of the algorithm with the shortest time; the first of ALGORITHMS if several share it."""
    return min(ALGORITHMS, key=lambda name: all_reduce_seconds(name, ranks, size, link))


def two_level_seconds(ranks: int, size: float, node: int, inside: Link, between: Link) -> float:
    """Seconds of a ring in each node of `node` ranks, rings between nodes on a part each, and both ways back.

    The reduce-scatter and the all-gather in the node are halves of a ring of all bytes; between nodes, rank k
    of every node sums its part with its peers, all parts at once, each over its own share of `between`.
    Raises ValueError unless the ranks fill whole nodes.
    """
    check_ranks(ranks)
    check_ranks(node, "a node's ranks")
    check_size(size)
    inner = min(node, ranks)
    if ranks % inner:
        raise ValueError(f"{ranks} ranks do not fill nodes of {node}; use a multiple of {node}")
    parts = all_reduce_seconds("ring", inner, size, inside)
    return parts + all_reduce_seconds("ring", ranks // inner, size / inner, between)


def check_ranks(ranks: int, name: str = "ranks") -> None:
    """Raises ValueError unless `ranks` is a whole number of at least 1."""
    if not isinstance(ranks, int) or isinstance(ranks, bool) or ranks < 1:
        raise ValueError(f"{name} is {ranks!r}; it must be a whole number of at least 1")


def check_size(size: float) -> None:
    """Raises ValueError unless `size` is a finite number of bytes of at least 0."""
    if not (math.isfinite(size) and size >= 0):
        raise ValueError(f"the size is {size!r} bytes; it must be finite and at least 0")


def power_of_two(p: int) -> int:
    """The largest power of two within p."""
    return 1 << p.bit_length() - 1


def _folded(p: int) -> tuple[int, bool]:
    """(doublings up to the largest power of two within p, whether ranks are left over)."""
    return p.bit_length() - 1, p != power_of_two(p)
