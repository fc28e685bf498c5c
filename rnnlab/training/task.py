"""Task: sequences to learn from, others to be judged on, a loss, and a simple answer to beat.

A task is a value. Its batches depend on the generator that is handed in and on nothing else, so a run with
the same seed sees the same sequences on every machine.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:  # a rank that trains draws nothing, and its start would wait half a second for this
    from matplotlib.figure import Figure

PICTURES = "rnncourse.views.pictures"  # the course draws; loaded when a picture is asked for
HELD_OUT_SEQUENCES = 256
SPLITS = ("train", "test")


class Batch(NamedTuple):
    """x [T,B,I], target [T,B,O] (or class numbers [T,B]), weight [T]: how much each step counts."""

    x: np.ndarray
    target: np.ndarray
    weight: np.ndarray


class Baseline(NamedTuple):
    """The loss, on the held-out sequences, of an answer that needs no training; `what` says which answer."""

    value: float
    what: str


@dataclass(frozen=True)
class Task:
    """One problem; `draw(rng, B, split)` makes its batches, `guess(batch)` answers without any training."""

    name: str
    question: str
    steps: int
    input_size: int
    output_size: int
    loss: Callable[..., tuple[float, np.ndarray]]
    draw: Callable[[np.random.Generator, int, str], Batch]
    guess: Callable[[Batch], np.ndarray]
    guess_is: str
    paint: Callable[[np.ndarray, Batch], "Figure"]
    unit: str = ""

    def batch(self, rng: np.random.Generator, B: int, split: str = "train") -> Batch:
        """B sequences of one split, x [T,B,I]: no sequence of "test" is ever drawn for "train"."""
        whole("B", B, at_least=1)
        chosen("split", split, SPLITS)
        return self.draw(rng, B, split)

    @cached_property
    def held_out(self) -> Batch:
        """The sequences x [T,B,I] on which all models of this task are judged, of the split "test"."""
        return self.batch(np.random.default_rng(0), HELD_OUT_SEQUENCES, "test")

    @cached_property
    def baseline(self) -> Baseline:
        """What is to be beaten on `held_out`."""
        guess = self.guess(self.held_out)
        return Baseline(self.error(guess, self.held_out), self.guess_is)

    def error(self, prediction: np.ndarray, batch: Batch) -> float:
        """The loss of a prediction [T,B,O], as a number."""
        return self.loss(prediction, batch.target, batch.weight)[0]

    def picture(self, prediction: np.ndarray, batch: Batch) -> "Figure":
        """Prediction [T,B,O] beside target; its finding in words is `alt(prediction, batch)`."""
        T, B, _ = batch.x.shape
        expected = (T, B, self.output_size)
        if prediction.shape != expected:
            raise ValueError(f"prediction has shape {prediction.shape}, expected {expected} for this batch")
        return self.paint(prediction, batch)

    def alt(self, prediction: np.ndarray, batch: Batch) -> str:
        """The finding of `picture` on a prediction [T,B,O], in one sentence for those who hear the page."""
        _, B, _ = batch.x.shape
        loss = self.error(prediction, batch)
        baseline = self.error(self.guess(batch), batch)
        verdict = "better" if loss < baseline else "no better"
        return (
            f"{self.question} Over {B} sequences the network's loss is {loss:.3g}{self.unit}, "
            f"{verdict} than the baseline on the same sequences, {baseline:.3g}{self.unit}: {self.guess_is}."
        )


def weight_from(first: int, steps: int) -> np.ndarray:
    """Weight [T] by which steps count equally from the first one on that has an answer."""
    return (np.arange(steps) >= first).astype(np.float32)


def constant(batch: Batch, value: float) -> np.ndarray:
    """The same answer [T,B,O] everywhere."""
    return np.full_like(batch.target, value)


def drawn(picture: str, *arguments: object, **options: object) -> "Figure":
    """The picture of that name, a function of PICTURES, of what it is given."""
    return getattr(import_module(PICTURES), picture)(*arguments, **options)


def whole(name: str, value: int, at_least: int, at_most: int | None = None) -> None:
    """Raises ValueError if the value is not a whole number within the bounds."""
    is_bool = isinstance(value, bool)  # which Python counts among the whole numbers
    is_whole = isinstance(value, int | np.integer) and not is_bool
    is_too_large = is_whole and at_most is not None and value > at_most
    if not is_whole or value < at_least or is_too_large:
        bounds = f"at least {at_least}" if at_most is None else f"from {at_least} to {at_most}"
        raise ValueError(f"{name} is {value!r}, expected a whole number {bounds}")


def chosen(name: str, value: str, options: Iterable[str]) -> None:
    """Raises ValueError if the value is not one of the options."""
    if value not in options:
        names = ", ".join(map(repr, options))
        raise ValueError(f"{name} is {value!r}, expected one of {names}")
