"""Page: a learner's report of one prediction, its measurements and their interval; its numbers are checked.

The template has one line `name: value` for each number.  The check derives median, coverage and verdict again
from the measurements; prose below the numbers is not read.
"""

import math
import re
from statistics import median
from typing import NamedTuple

from nbjudge.printable import quantity

FEWEST = 6  # measurements: below that, no two of them bracket the median with 95 %
ROUNDING = 0.005  # relative: a page states three digits
TEMPLATE = """# Prediction and measurement

what: time of a training step with recomputation, divided by that of one without
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


class PageLine(NamedTuple):
    """A value of the page, as text, and its line."""

    number: int
    value: str


def check_page(text: str) -> list[str]:
    """What is wrong with the numbers of a page, a sentence each, in the order of its lines."""
    lines = _lines(text)
    missing = [name for name in (*NUMBERS, "verdict") if name not in lines]
    if missing:
        return [f"The page has no line `{name}: …`." for name in missing]
    values = {}
    problems = {}
    for name, count in NUMBERS.items():
        value = lines[name].value
        values[name] = _numbers(value)
        problem = _wrong_form(value, values[name], count)
        if problem:
            problems[name] = problem
    if not problems:
        problems = _disagreements(lines["verdict"].value, values)
    sentences = []
    for name in sorted(problems, key=lambda name: lines[name].number):
        sentences.append(f"Line {lines[name].number}, {name}: {problems[name]}")
    return sentences


def read_page(text: str) -> tuple[dict[str, str | list[float]], dict[str, str]]:
    """({name: numbers; words for `what` and `verdict`}, {heading: prose}) of a page without problems."""
    numbers, *sections = re.split(r"^##\s+", text, flags=re.M)
    lines = _lines(numbers)
    values = {name: _numbers(lines[name].value) for name in NUMBERS}
    for name in ("what", "verdict"):
        if name in lines:
            values[name] = lines[name].value
    prose = {}
    for section in sections:
        heading, _, paragraphs = section.partition("\n")
        prose[heading.strip()] = paragraphs.strip()
    return values, prose


def coverage(measurements: list[float], low: float, high: float) -> float:
    """Probability that the median of what was measured lies within low … high, two of the measurements.

    Each measurement is above the median with probability 1/2, so the number below it is binomial.
    """
    below = sum(value < low for value in measurements)
    up_to = sum(value <= high for value in measurements)
    return probability_below(len(measurements), range(below + 1, up_to))


def probability_below(n: int, numbers: range) -> float:
    """Probability that one of these numbers of n measurements lie below the median."""
    subsets = sum(math.comb(n, k) for k in numbers)
    return subsets / 2**n


def _lines(text: str) -> dict[str, PageLine]:
    lines = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = re.fullmatch(r"\s*(?:[-*]\s*)?(\w+)\s*:\s*(.*?)\s*", line)
        if match:
            lines.setdefault(match[1].lower(), PageLine(number, match[2]))
    return lines


def _numbers(text: str) -> list[float] | None:
    """The numbers of a value, separated by blanks, commas or `to`; None where something else stands there."""
    plain = re.sub(r"\bto\b|…|%", " ", text)
    words = re.split(r"[,;\s]+", plain)
    try:
        return [float(word) for word in words if word]
    except ValueError:
        return None


def _wrong_form(text: str, numbers: list[float] | None, count: int | None) -> str | None:
    """What is wrong with a value that should be `count` numbers, FEWEST or more if that is None."""
    if numbers is None or not all(map(math.isfinite, numbers)):
        return f"{text!r:.60} is not a list of finite numbers."
    length = len(numbers)
    if count is None and length < FEWEST:
        return f"expected {FEWEST} numbers or more, found {length}; measure again."
    if count is None or length == count:
        return None
    comma = " A comma separates two numbers; the decimal mark is a point." if "," in text else ""
    return f"expected {quantity(count, 'number')}, found {length} in {text!r:.60}.{comma}"


def _disagreements(verdict: str, values: dict[str, list[float]]) -> dict[str, str]:
    """What the measurements contradict: {name of the line: sentence}."""
    runs = values["measurements"]
    low, high = values["interval"]
    (prediction,) = values["prediction"]
    (stated_median,) = values["median"]
    (percent,) = values["confidence"]
    problems = {}
    right_median = median(runs)
    if not _near(stated_median, right_median):
        problems["median"] = f"{stated_median:g}; the measurements give {right_median:.4g}."
    lowest = _nearest(runs, low)
    highest = _nearest(runs, high)
    if low > high or not _near(low, lowest) or not _near(high, highest):
        problems["interval"] = f"{low:g} to {high:g} are not two of the measurements, in order."
        return problems
    wanted = percent / 100
    real = coverage(runs, lowest, highest)
    if not 0 < wanted < 1:
        problems["confidence"] = f"{100 * wanted:g} %, expected between 0 and 100 %."
    elif real < wanted:
        problems["interval"] = f"it covers the median with {real:.1%}, the page says {wanted:.1%}."
    right = right_verdict(prediction, low, high)
    if verdict.lower() != right:
        problems["verdict"] = f"{verdict!r:.30}; {prediction:g} lies {right} {low:g} to {high:g}."
    return problems


def _nearest(runs: list[float], stated: float) -> float:
    """The first of the measurements that are nearest to a number."""
    return min(runs, key=lambda run: abs(run - stated))


def right_verdict(prediction: float, low: float, high: float) -> str:
    """Whether a prediction lies "inside" or "outside" low … high."""
    return "inside" if low <= prediction <= high else "outside"


def _near(stated: float, derived: float) -> bool:
    return abs(stated - derived) <= ROUNDING * abs(derived)
