"""What checks of kernels share: launch the learner's, launch the course's, tell the first difference.

A kernel is judged three ways, in this order: what the simulator finds wrong with it, the arrays it leaves,
and limits on what it moved. A mistake is named by its symptoms: each known mistake is launched too, here, and
the one that leaves the same arrays and the same kinds of finding is the one.
"""

import inspect
import linecache
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from rnnlab.checks.edits import edited
from rnnlab.grading.differences import WRONG_TYPE, describe
from rnnlab.grading.exercise import Mutant, Wrong
from rnnlab.grading.in_process import InProcess
from rnnlab.grading.judging import expect
from rnnlab.grading.worker import Worker

NEXT = {
    "out_of_bounds": "Let threads beyond the end do nothing: a condition around the work.",
    "race": "Draw who writes and who reads between two barriers.",
    "uninitialised": "Follow the index: which thread writes that element, and when?",
    "barrier_divergence": "Every thread of the block must come to the same cuda.syncthreads().",
    "deadlock": "Who waits, and who should let them go on?",
    "missing_fence": "The data must be visible before the flag is: cuda.threadfence() between the two.",
}


class Case(NamedTuple):
    """One launch."""

    grid: tuple[int, ...]
    block: tuple[int, ...]
    arguments: tuple
    says: str  # the case in a message, e.g. "n=5, 2 blocks of 4 threads"


class Ran(NamedTuple):
    """What came of it."""

    arrays: list[np.ndarray]
    counts: dict | None  # fields of simulator.counts.Counts; None on a GPU
    findings: list  # [kind, message]

    @property
    def kinds(self) -> list[str]:
        return sorted({kind for kind, _ in self.findings})


Limit = Callable[[Ran, Case], str | None]  # what a launch may not exceed, as a sentence if it does


def launch(submission: Callable, case: Case) -> Ran:
    """The submission's launch; arrays are copies."""
    ran = submission(case.grid, case.block, *case.arguments)
    counted = type(ran) is dict and ran.get("counts") is not None
    if type(ran) is not dict or ran.keys() != set(Ran._fields) or isinstance(submission, Worker) > counted:
        raise Wrong(
            f"It returns {describe(ran)}, as a plain function does; a kernel is asked for.",
            WRONG_TYPE,
            "Write @cuda.jit above its def.",
        )
    return Ran(**ran)


def judge_kernel(
    submission: Callable,
    cases: Sequence[Case],
    truth: Callable,
    names: Sequence[str],
    axes: Sequence[tuple[str, ...]],
    mutants: Sequence[Mutant],
    limit: Limit = lambda ran, case: None,
) -> None:
    """Raises Wrong at the first case that is not as the course's kernel `truth` leaves it.

    names and axes: of the array arguments, in order; those behind are not judged.  mutants: edits of the
    truth's source.
    """
    for case in cases:
        want, ran = launch(InProcess(truth, truth.__name__), case), launch(submission, case)
        try:
            _hold(ran, want, case, names, axes, limit)
        except Wrong as wrong:
            wrong.misconception = wrong.misconception or _named(ran, case, truth, mutants)
            raise


def _hold(ran: Ran, want: Ran, case: Case, names, axes, limit: Limit) -> None:
    if ran.findings:
        kind, message = ran.findings[0]
        raise Wrong(f"{message} ({case.says})", next_step=NEXT.get(kind))
    some = slice(len(names))  # arrays behind those with a name are for the kernel's own use
    for got, wanted, name, axis in zip(ran.arrays[some], want.arrays[some], names, axes, strict=True):
        expect(got, wanted, what=name, axes=axis, case=case.says)
    if ran.counts is not None and (too_much := limit(ran, case)):
        raise Wrong(f"{too_much} ({case.says})")


def _named(ran: Ran, case: Case, truth: Callable, mutants: Sequence[Mutant]) -> str | None:
    """The known mistake with the same symptoms, closest first: counts too, or arrays and findings only."""
    likely = []
    for mutant in mutants:
        try:
            other = launch(InProcess(edited_kernel(truth, mutant), truth.__name__), case)
        except Exception:
            continue  # it does not even run on this case: it is another one's symptom
        if other.kinds == ran.kinds and all(map(_same, other.arrays, ran.arrays)):
            if other.counts == ran.counts:
                return mutant.name
            likely.append(mutant.name)
    return likely[0] if likely else None


def edited_kernel(truth: Callable, mutant: Mutant) -> Callable:
    """The course's kernel with a mutant's edit, ready to be launched."""
    source, label = edited(inspect.getsource(truth.py_func), mutant), f"<{mutant.name}>"
    linecache.cache[label] = (len(source), None, source.splitlines(True), label)
    namespace = dict(truth.py_func.__globals__)
    exec(compile(source, label, "exec"), namespace)
    return namespace[truth.__name__]


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.tobytes() == b.tobytes()
