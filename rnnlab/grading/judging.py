"""What a check says about one answer: right, or the first difference in the learner's words and the likely
mistake.

A check calls `expect(got, want, ...)` once a case, smallest case first. Type, shape, dtype and finiteness are
held exactly, values within the tolerance of their dtype. A wrong answer is compared with what known
misconceptions give. Where two misconceptions give the same numbers, the following cases decide between them;
the message stays that of the first case that differed.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from rnnlab.grading.differences import first_difference, same
from rnnlab.grading.exercise import Wrong


class Undecided:
    """The first difference of a check, while more than one misconception explains it."""

    def __init__(self) -> None:
        self.first: Wrong | None = None
        self.names: list[str] = []

    def note(self, wrong: Wrong, names: list[str]) -> None:
        """Keep the first message; keep the misconceptions that explain this difference too, if any does."""
        if self.first is None:
            self.first, self.names = wrong, names
        self.names = [name for name in self.names if name in names] or self.names
        self.first.misconception = self.names[0]
        if len(self.names) == 1:
            raise self.first

    def settled(self, last: Wrong | None = None) -> Wrong | None:
        """What to tell the learner: the first difference with the name that is left; `last` if there was
        none."""
        if self.first is None:
            return last
        if last is not None and last.misconception in self.names:
            self.first.misconception = last.misconception
        return self.first


_undecided: ContextVar[Undecided | None] = ContextVar("undecided", default=None)


@contextmanager
def deciding() -> Iterator[Undecided]:
    """While a whole check runs: lets later cases decide between misconceptions that agree on the first."""
    undecided = Undecided()
    token = _undecided.set(undecided)
    try:
        yield undecided
    finally:
        _undecided.reset(token)


def expect(
    got: object,
    want: object,
    *,
    axes: tuple | Mapping = ("step", "sequence", "unit"),
    what: str | tuple = "h",
    case: str = "",
    wrong: Mapping | None = None,
    tolerance: float | None = None,
) -> None:
    """Return if `got` is `want`, else raise Wrong with the first difference.

    `want` is an array, a number, or a tuple or dict of those; then `what` names the parts of a tuple and
    `axes` may be {part: axes}. `wrong` is {misconception: value, or a function that gives it}; `...` in it
    stands for the wanted part. `tolerance` is a relative error; without it the dtype decides
    (compare.TOLERANCES).
    """
    difference = first_difference(got, want, axes, what, tolerance)
    if difference is None:
        return
    difference.message += f" ({case})" if case else ""
    names = [name for name, value in (wrong or {}).items() if _explains(value, got, want, tolerance)]
    undecided = _undecided.get()
    if undecided is not None and (undecided.first is not None or len(names) > 1):
        undecided.note(difference, names)
        return
    if names:
        difference.misconception = names[0]
    raise difference


def _explains(value: object, got: object, want: object, tolerance: float | None) -> bool:
    """Does a misconception give what was got, and something other than what is wanted?"""
    value = _filled(value() if callable(value) else value, want)
    return same(got, value, tolerance) and not same(want, value, tolerance)


def _filled(value: object, want: object) -> object:
    """The value with the wanted part in each place that says `...`."""
    if value is ...:
        return want
    if isinstance(want, tuple | list) and isinstance(value, tuple | list) and len(value) == len(want):
        return tuple(map(_filled, value, want))
    if isinstance(want, dict) and isinstance(value, dict):
        return {key: _filled(part, want.get(key)) for key, part in value.items()}
    return value
