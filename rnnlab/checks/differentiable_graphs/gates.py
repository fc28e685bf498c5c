"""Which gates of a cell's gradient are right: a bias gradient is what arrived before each gate, added up."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from rnnlab.grading.exercise import Wrong


@contextmanager
def told_by_gate(got: object, want: tuple, gates: str) -> Iterator[None]:
    """Adds to an unnamed mistake in front of which gates it stands; the last result is a bias gradient."""
    try:
        yield
    except Wrong as wrong:
        if wrong.misconception is None and _ends_alike(got, want):
            wrong.next_step = _where(np.split(got[-1], len(gates)), np.split(want[-1], len(gates)), gates)
        raise


def _ends_alike(got: object, want: tuple) -> bool:
    last = got[-1] if isinstance(got, tuple | list) and len(got) == len(want) else None
    return isinstance(last, np.ndarray) and last.shape == want[-1].shape and last.dtype == want[-1].dtype


def _where(got: list, want: list, gates: str) -> str:
    wrong = [gate for gate, a, b in zip(gates, got, want, strict=True) if not np.allclose(a, b)]
    if not wrong:
        return (
            "The bias gradient is right for every gate: look at what happens between the gates and the rest."
        )
    right = [gate for gate in gates if gate not in wrong]
    return (
        f"By the last bias gradient, what arrives in front of {' and '.join(wrong)} is wrong"
        + (f", in front of {' and '.join(right)} right." if right else ".")
        + " Follow the wires from the output to there."
    )
