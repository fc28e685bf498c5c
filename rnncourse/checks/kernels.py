"""Checks of kernels: launch the learner's and the course's, and note the first difference.

A kernel is judged three ways, in this order: what the simulator finds wrong with it, the arrays it leaves,
and limits on what it moved.
"""

import pickle
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from nbjudge.comparing.differences import WRONG_TYPE, describe, first_difference
from nbjudge.comparing.judging import begin_call, keep_costs, refuse
from nbjudge.exercise import Wrong
from nbjudge.grading.in_process import InProcess
from rnncourse.checks.answers import ModelAnswer
from rnncourse.checks.results import named
from rnnlab.compare import TOLERANCES

MARGIN = 2
SLACK = 8  # the longest thread makes at most 2n + 8 accesses, where the course's makes n
KEPT = 512  # launches of the course's kernels: those of all exercises with one seed
REMEDIES = {
    "out_of_bounds": "A thread without work needs a condition around it; one with work, another index.",
    "race": "Draw who writes and who reads between two barriers.",
    "uninitialised": "Which thread writes that element, and when? A cuda.local array is each thread's own.",
    "barrier_divergence": "Every thread of the block must come to the same cuda.syncthreads().",
    "deadlock": "Who waits, and who should let them continue?",
    "weak_poll": "Poll with cuda.atomic.add(flags, i, 0): it adds nothing, and no compiler takes it out.",
    "missing_fence": "The data must be visible before the flag is: cuda.threadfence() between the two.",
    "whole_array": "A thread works on single elements: give the array one whole number for each dimension.",
    "undefined_lane": "Every lane of the mask must call the shuffle: put conditions around what follows it.",
    "limit": "Make the array smaller: a block has 48 KiB of shared memory without further settings.",
    "endless": "Look at the loop's condition: what changes in each turn, so that it becomes false?",
}
BETWEEN_BLOCKS = re.compile(r"; blocks run in any order[^;]*")  # the simulator's remedy
# Its advice of an atomic, which solves no exercise: a wrong index needs none, and most checks refuse them.
ATOMIC = re.compile(r", or (use )?an atomic( if both change it)?(?=;|$)| an atomic,(?= a flag)")
NUMBER = re.compile(r"[\d.]+(?: ([a-z]+?)[es]*\b)?")  # and its noun without an ending: 1 barrier, 2 barriers
COSTS = {  # of a launch, as nouns; no atomics, for how often a thread polls is a matter of the threads' order
    "global_loads": "load from global memory",
    "global_stores": "store to global memory",
    "global_load_sectors": "sector read",
    "global_store_sectors": "sector written",
    "shared_requests": "request to shared memory",
    "bank_conflicts": "bank conflict",
    "exchanges": "exchange between lanes",
    "barriers": "barrier",
}
NEVER_LAUNCHED = "does_not_compile"  # a finding
SHARES = "idlest", "shared_loads_of_thread", "stored_by_thread"  # of no use to tell mistakes apart
UNSET = np.uint32(0x7FC0_5EED).view(np.float32)  # NaN that no arithmetic gives: an element before any store


class Case(NamedTuple):
    """One launch."""

    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: tuple


class LaunchResult(NamedTuple):
    """What came of a launch."""

    arrays: list[np.ndarray]
    counts: dict | None  # of simulator.shares.judged_counts; None on a GPU
    findings: list  # [kind, message]


class Share(str):
    """A limit on what one thread does: tried last, and of no use to tell mistakes apart."""


def normal(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Numbers of a normal distribution in float32."""
    return rng.normal(size=shape).astype("float32")


def unset(*shape: int) -> np.ndarray:
    """Float32 array for results, each element NaN until a thread writes it."""
    return np.full(shape, UNSET)


Limit = Callable[[dict, Case], str | None]  # (counts, case) -> what the launch exceeded, as a sentence
Explain = Callable[[str, tuple, float], str]  # (array, place, surplus) -> what the right number consists of


def launch(submission: Callable, case: Case) -> LaunchResult:
    """The submission's launch; arrays are copies. Raises Wrong if the submission is not a kernel."""
    result = submission(case.grid, case.block, *case.arguments)
    is_launch = type(result) is dict and result.keys() == set(LaunchResult._fields)
    if is_launch and (result["counts"] is not None or isinstance(submission, InProcess)):
        return LaunchResult(**result)
    raise Wrong(
        f"It returns {describe(result)}, as a plain function does; a kernel is expected.",
        WRONG_TYPE,
        "Write @cuda.jit above its def.",
    )


def compare_launches(
    answer: ModelAnswer,
    submission: Callable,
    case: Case,
    results: str,
    limit: Limit = lambda counts, case: None,
    explain: Explain = lambda name, place, surplus: "",
    remedies: Mapping[str, str] = MappingProxyType({}),
    counted: str = "",
) -> list[np.ndarray]:
    """The arrays that the course's kernel leaves; notes whether the submission leaves them, within the limit.

    results: names of the array arguments and of their axes (results.py), in order; those behind are for the
    kernel's own use.  "gates: sequence, gate of 4, unit" splits the second axis of [B,4·H] in messages;
    explain follows the first difference, and remedies replace REMEDIES.  A known mistake must have the same
    kinds of findings, leave the same arrays and break the same limit, and a race the same number of what
    `counted` names.
    """
    axes = named(results)
    begin_call(case)
    got = launch(submission, case)
    if any(kind == NEVER_LAUNCHED for kind, _ in got.findings):
        begin_call(None)
    want = _launch_own(answer, case)
    counts = got.counts
    excess = share = detail = None
    if counts is not None:
        share = limit(counts, case) or _limit_stores(counts, want.counts, axes, case)
        excess = share
        if isinstance(share, Share | None):
            excess = _limit_longest(counts, want.counts)
        detail = {name: count for name, count in counts.items() if name not in SHARES}
    problem = _finding(got, remedies) or _difference(got, want, axes, case, explain) or excess or share
    symptoms = _symptoms(got, excess, counted)
    refuse(problem, result=symptoms, detail=detail)
    if counts is not None:
        costs = counts | counts["without_atomics"]
        keep_costs({noun: costs[name] for name, noun in COSTS.items()})
    return want.arrays


def _symptoms(got: LaunchResult, excess: str | None, counted: str) -> dict:
    """What a known mistake must repeat."""
    kinds = ", ".join(sorted({_kind(*finding) for finding in got.findings}))
    is_counted_race = counted and "race" in kinds and got.counts is not None
    return {
        "findings": kinds,
        "excess": NUMBER.sub(r"N \1", excess or ""),
        "arrays": tuple(got.arrays),
        "counted": got.counts[counted] if is_counted_race else None,
    }


def _limit_stores(counts: dict, own: dict | None, names: Iterable[str], case: Case) -> Share | None:
    """No thread writes more elements of a result than the course's busiest one."""
    stored = counts["stored_by_thread"]
    most = (own or counts)["stored_by_thread"]
    arrays = (k for k, part in enumerate(case.arguments) if isinstance(part, np.ndarray))
    for name, k in zip(names, arrays, strict=False):
        if stored[k] > most[k]:
            return Share(f"One thread writes {stored[k]} elements of {name}, where its share is {most[k]}")
    return None


def _limit_longest(counts: dict, own: dict | None) -> str | None:
    """The work is shared: no thread does far more than the course's busiest one."""
    if own is None:
        return None
    longest = counts["longest"]
    own_longest = own["longest"]
    if longest <= MARGIN * own_longest + SLACK:
        return None
    thread = counts["longest_thread"]
    accesses = counts["accesses"]
    return (
        f"{thread} does {longest} of {accesses} accesses to memory; "
        f"the busiest thread of the course's kernel does {own_longest}: share the work among the threads"
    )


def _launch_own(answer: ModelAnswer, case: Case) -> LaunchResult:
    """The launch of the course's kernel, which all answers with one seed and all known mistakes share."""
    packed = pickle.dumps(case)
    return _launch_packed(answer.function, answer.name, packed)


@lru_cache(KEPT)
def _launch_packed(function: Callable, name: str, packed: bytes) -> LaunchResult:
    case = pickle.loads(packed)
    own = InProcess(function, name, is_own=True)
    return launch(own, case)


def _kind(kind: str, message: str) -> str:
    """Kind of a finding; a missing fence of the writer and one of the reader are different mistakes."""
    if kind == "missing_fence" and "the second has waited" in message:
        return f"{kind} of the reader"
    return kind


def _finding(got: LaunchResult, remedies: Mapping[str, str]) -> Wrong | None:
    """The first finding and its remedy."""
    if not got.findings:
        return None
    kind, message = got.findings[0]
    place = f"{kind} between blocks" if BETWEEN_BLOCKS.search(message) else kind
    if place in remedies:  # the exercise knows more than the simulator
        message = BETWEEN_BLOCKS.sub("", message)
    remedy = remedies.get(place, REMEDIES.get(kind))
    return Wrong(ATOMIC.sub("", message), next_step=remedy)


def _difference(
    got: LaunchResult, want: LaunchResult, axes: Mapping[str, tuple], case: Case, explain: Explain
) -> Wrong | None:
    """The first difference of the judged arrays, and which other results are right."""
    before = [part for part in case.arguments if isinstance(part, np.ndarray)]
    first = None
    right = []
    for name, own, wanted, old in zip(axes, got.arrays, want.arrays, before, strict=False):
        labels, shape = _split_axes(axes[name], own.shape)
        split = own.reshape(shape)
        difference = first_difference(split, wanted.reshape(shape), labels, name, None)
        if difference and first is None:
            first = _not_written(name, labels, split.shape, own, wanted) or difference
            if first is difference:
                _add_explanation(first, own, wanted, old, name, explain)
        elif difference is None and wanted.tobytes() != old.tobytes():
            right.append(name)
    if first and right:
        names = ", ".join(right)
        first.message += f" Right: {names}."
    return first


def _split_axes(axes: Sequence[str], shape: tuple) -> tuple[list[str], tuple]:
    """Names of axes, and an array's shape with "gate of 4" as an axis of its own."""
    parts = [axis.partition(" of ") for axis in axes]
    labels = [label for label, _, _ in parts]
    if len(labels) <= len(shape):
        return labels, shape
    counts = [int(count) if count else -1 for _, _, count in parts[1:]]
    return labels, (shape[0], *counts)


def _not_written(
    name: str, axes: Sequence[str], shape: tuple, got: np.ndarray, want: np.ndarray
) -> Wrong | None:
    """The first element that is not finite, where it is what `unset` put there: the learner made no NaN."""
    if got.shape != want.shape or got.dtype != np.float32:
        return None
    strange = np.flatnonzero(~np.isfinite(got))
    if not len(strange):
        return None
    first = strange[0]
    if got.flat[first].tobytes() != UNSET.tobytes():
        return None
    place = np.unravel_index(first, shape)
    where = ", ".join(f"{axis} {number}" for axis, number in zip(axes, place, strict=False))
    message = f"{name} still holds at {where} the NaN that the check put there before the launch."
    return Wrong(message, next_step="Does a thread write this element? A sum (+=) onto that NaN stays NaN.")


def _add_explanation(
    difference: Wrong, got: np.ndarray, want: np.ndarray, before: np.ndarray, name: str, explain: Explain
) -> None:
    """Adds what the array before the launch shows: no store, a sum on top of it, an input that changes; or
    what the right number consists of."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return
    finite = np.isfinite(got)
    tolerance = TOLERANCES["float32"].gradient * np.abs(want).max(initial=0)
    with np.errstate(invalid="ignore"):
        wrong = np.abs(got - want) > tolerance
    candidates = wrong if finite.all() else ~finite
    place = tuple(np.argwhere(candidates)[0])
    number = got[place]
    old = before[place]
    if want.tobytes() == before.tobytes():
        difference.message += f" This launch has to leave {name} as it is."
    elif number.tobytes() == old.tobytes():
        difference.message += " It holds the same number before the launch."
        difference.next_step = "Does a thread write this element, and does none read it before?"
    elif not finite[place]:
        difference.next_step = "A thread computes it: which function or division leaves the range of float32?"
    elif np.isclose(number, want[place] + old, rtol=1e-4):
        difference.message += " That is the right number plus what the element holds before the launch."
        difference.next_step = "`=` replaces what is there; `+=` and an atomic add to it."
    elif explanation := explain(name, place, float(number - want[place])):
        difference.message += f" {explanation}"
