"""The shares of a minibatch: each sequence in one of them, none larger than another by more than one."""

from itertools import pairwise

import numpy as np

from rnnlab.checks.edits import wrong_values
from rnnlab.grading.exercise import Exercise, Mutant, Wrong


def split_minibatch(B, threads):
    parts = min(threads, B)
    edges = [B * k // parts for k in range(parts + 1)]
    return [(edges[k], edges[k + 1]) for k in range(parts)]


MUTANTS = (
    Mutant("makes empty shares", "min(threads, B)", "threads"),
    Mutant("gives everything to one thread", "min(threads, B)", "1"),
    Mutant("leaves the rest out", "B * k // parts", "B // parts * k"),
    Mutant("runs past the last sequence", "B * k // parts", "-(-B // parts) * k"),
    Mutant("shares overlap by one", "edges[k + 1])", "edges[k + 1] + 1)"),
    Mutant("ends are the last sequence, not one past it", "edges[k + 1])", "edges[k + 1] - 1)"),
    Mutant("gives sizes in place of ends", "edges[k + 1])", "edges[k + 1] - edges[k])"),
    Mutant(
        "gives the whole rest to one thread", "B * k // parts", "min(k * (B // parts), B) if k < parts else B"
    ),
)


def check(submission, rng):
    drawn = (int(rng.integers(20, 60)), int(rng.integers(3, 9)))
    for B, threads in ((1, 1), (4, 2), (7, 3), (2, 4), (11, 4), drawn):
        got = submission(B, threads)
        if problem := _problem(got, B, threads):
            known = wrong_values(split_minibatch, MUTANTS, B, threads)
            name = next((name for name, value in known.items() if value() == got), None)
            raise Wrong(f"{problem} (B={B}, threads={threads}; you return {got!r:.90})", name)


def _problem(got: object, B: int, threads: int) -> str | None:
    """The first thing that is wrong with the shares, as a sentence."""
    if not _is_pairs(got):
        return "Asked for is a list of pairs of whole numbers, (first sequence, one past the last)."
    if any(last <= first for first, last in got):
        return "A share has no sequence: its thread is started for nothing."
    if got[0][0] != 0 or got[-1][1] != B or any(a[1] != b[0] for a, b in pairwise(got)):
        return f"The shares are not 0 … {B} in order, each sequence once."
    if len(got) != min(threads, B):
        return f"There are {len(got)} shares where {min(threads, B)} threads could have one."
    sizes = [last - first for first, last in got]
    if max(sizes) - min(sizes) > 1:
        return f"Shares of {min(sizes)} and of {max(sizes)} sequences: all wait for the largest."
    return None


def _is_pairs(got: object) -> bool:
    whole = lambda n: isinstance(n, int | np.integer) and not isinstance(n, bool)
    is_pair = lambda each: isinstance(each, tuple | list) and len(each) == 2 and all(map(whole, each))
    return isinstance(got, tuple | list) and len(got) > 0 and all(map(is_pair, got))


SPLIT_MINIBATCH = Exercise(
    name="split_minibatch",
    points=2,
    difficulty=2,
    minutes=12,
    lines=3,
    hints=(
        "All threads wait for the one with the largest share, so sizes may differ by one sequence at most. "
        "Try 11 sequences and 4 threads by hand, then 2 sequences and 4 threads.",
        "Think of the edges between shares. With as many shares as threads, but no more than sequences, "
        "edge k of n lies at k/n of the minibatch, rounded to a whole sequence.",
        "`edges = [B * k // parts for k in range(parts + 1)]` with `parts = min(threads, B)`; a share is two "
        "neighbouring edges.",
    ),
    check=check,
    truth=split_minibatch,
    mutants=MUTANTS,
    also_right=(
        """def split_minibatch(B, threads):
    small, more = divmod(B, min(threads, B))
    shares, first = [], 0
    for k in range(min(threads, B)):
        size = small + (k < more)
        shares.append((first, first + size))
        first += size
    return shares
""",
        """def split_minibatch(B, threads):
    parts = np.array_split(np.arange(B), min(threads, B))
    return tuple((int(part[0]), int(part[-1]) + 1) for part in parts)
""",
    ),
)
