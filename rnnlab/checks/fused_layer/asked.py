"""What the checks of this unit share: known mistakes, run on machines that count what is asked of them."""

from collections.abc import Callable, Iterable
from contextlib import suppress

from rnnlab.checks.edits import wrong_values
from rnnlab.grading.exercise import Mutant


def values_of(truth: Callable, mutants: Iterable[Mutant], *arguments: object) -> dict[str, object]:
    """{mistake: its value}, of those that ask a machine for nothing it refuses; it names the others."""
    found = {}
    for name, value in wrong_values(truth, mutants, *arguments).items():
        with suppress(Exception):  # the machine raises in its own words
            found[name] = value()
    return found
