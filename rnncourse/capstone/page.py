"""Page: a learner's report of one prediction, its measurements and their interval; its numbers are checked.

The template has one line `name: value` for each number.  The check derives median, coverage and verdict again
from the measurements; prose below the numbers is not read.
"""

import math
import re
from statistics import median
from typing import NamedTuple

FEWEST = 6  # measurements: below that, no two of them bracket the median with 95 %
ROUNDING = 0.005  # relative: a page states three digits
TEMPLATE = """# Prediction and measurement

what: training step with recomputation, in training steps without
prediction:
measurements:
median:
interval:
confidence: 95 %
verdict:

## What I expected, and why

## What I measured, on which machine, and how

## What explains the difference
"""
NUMBERS = {"prediction": 1, "median": 1, "interval": 2, "confidence": 1, "measurements": None}
VERDICTS = ("inside", "outside")


class Line(NamedTuple):
    """A value of the page, as text, and its line."""

    number: int
    value: str


def check_page(text: str) -> list[str]:
    """What is wrong with the numbers of a page, a sentence each; empty if they agree."""
    lines = _lines(text)
    missing = [name for name in (*NUMBERS, "verdict") if name not in lines]
    if missing:
        return [f"The page has no line `{name}: …`." for name in missing]
    values, problems = {}, []
    for name, count in NUMBERS.items():
        values[name] = _numbers(lines[name].value)
        problems += _wrong_form(name, lines[name], values[name], count)
    return problems or _disagreements(lines, values)


def coverage(measurements: list[float], low: float, high: float) -> float:
    """Probability that the median of what was measured lies within low … high, two of the measurements.

    Each measurement is above the median with probability 1/2, so the number below it is binomial.
    """
    n = len(measurements)
    below = sum(value < low for value in measurements)
    up_to = sum(value <= high for value in measurements)
    return sum(math.comb(n, k) for k in range(below + 1, up_to)) / 2**n


def _lines(text: str) -> dict[str, Line]:
    lines = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = re.fullmatch(r"\s*(?:[-*]\s*)?(\w+)\s*:\s*(.*?)\s*", line)
        if match:
            lines.setdefault(match[1].lower(), Line(number, match[2]))
    return lines


def _numbers(text: str) -> list[float] | None:
    """The numbers of a value, separated by blanks, commas or `to`; None where something else stands there."""
    words = re.split(r"[,;\s]+", re.sub(r"\bto\b|…|%", " ", text).strip())
    try:
        return [float(word) for word in words if word]
    except ValueError:
        return None


def _wrong_form(name: str, line: Line, numbers: list[float] | None, count: int | None) -> list[str]:
    where = f"Line {line.number}, {name}"
    if numbers is None or not all(map(math.isfinite, numbers)):
        return [f"{where}: {line.value!r:.60} is no list of finite numbers."]
    if count is not None and len(numbers) != count:
        return [f"{where}: expected {count} number{'s' * (count > 1)}, found {len(numbers)}."]
    if count is None and len(numbers) < FEWEST:
        return [f"{where}: expected {FEWEST} numbers or more, found {len(numbers)}; measure again."]
    return []


def _disagreements(lines: dict[str, Line], values: dict[str, list[float]]) -> list[str]:
    """What the measurements contradict."""
    runs, (low, high), (prediction,) = values["measurements"], values["interval"], values["prediction"]
    where, problems = (lambda name: f"Line {lines[name].number}, {name}"), []
    if not _near(values["median"][0], median(runs)):
        problems.append(
            f"{where('median')}: {values['median'][0]:g}; the measurements give {median(runs):.4g}."
        )
    ends = [min(runs, key=lambda run, end=end: abs(run - end)) for end in (low, high)]
    if low > high or not all(map(_near, (low, high), ends)):
        sentence = f"{low:g} to {high:g} are not two of the measurements, in order"
        return [*problems, f"{where('interval')}: {sentence}."]
    wanted, real = values["confidence"][0] / 100, coverage(runs, *ends)
    if not 0 < wanted < 1:
        problems.append(f"{where('confidence')}: {100 * wanted:g} %, expected between 0 and 100 %.")
    elif real < wanted:
        problems.append(
            f"{where('interval')}: it covers the median with {real:.1%}, the page says {wanted:.1%}."
        )
    verdict = VERDICTS[not low <= prediction <= high]
    if lines["verdict"].value.lower() != verdict:
        problems.append(
            f"{where('verdict')}: {lines['verdict'].value!r:.30}; {prediction:g} lies {verdict} "
            f"{low:g} to {high:g}."
        )
    return problems


def _near(stated: float, derived: float) -> bool:
    return abs(stated - derived) <= ROUNDING * abs(derived)
