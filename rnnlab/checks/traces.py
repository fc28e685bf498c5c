"""What every right answer must ask of the judge's functions: the course's own answer asks it too.

A budget alone says that a function was not called too often. An answer that computes by itself and calls the
function for show would keep within it, so the calls that are needed must all stand in the answer's trace. An
entry is a tuple of a name and arrays; whatever an answer asks beside is the budget's matter.
"""

from collections.abc import Callable

import numpy as np

from rnnlab.checks.edits import trace_of
from rnnlab.grading.exercise import Wrong

TOLERANCE = 1e-3  # of an entry's size: float32 sums in another order, never another step


def insist_on_trace(trace: list, truth: Callable, arguments: tuple, case: str) -> None:
    """Raises Wrong unless every call that truth(*arguments) makes stands in the trace."""
    for number, needed in enumerate(trace_of(truth, arguments), 1):
        if not any(_alike(entry, needed) for entry in trace):
            name, *_ = needed
            raise Wrong(
                f"The numbers are right, but {name} never got what call {number} of the course's own answer "
                f"gives it: they were computed some other way ({case}).",
                None,
                f"Let {name} do all of its work, each part once.",
            )


def _alike(entry: tuple, needed: tuple) -> bool:
    """The same function, and arrays of the same shape and values."""
    if entry[0] != needed[0] or len(entry) != len(needed):
        return False
    return all(_close(a, b) for a, b in zip(entry[1:], needed[1:], strict=True))


def _close(a: object, b: np.ndarray) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype.kind not in "biuf":
        return False
    return bool(np.abs(a - b).max(initial=0) <= TOLERANCE * max(1e-6, float(np.abs(b).max(initial=0))))
