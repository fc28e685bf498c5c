"""Cases of a check as a table of text above it.

    @ANSWERS.exercise('''
        T    B  dtype
        3    2  float64
        5:9  1  float32  # few sequences
        n    2  float64
    ''')
    def check_name(answer, submission, rng, T, B, dtype):

The first line names the check's parameters behind the generator. Columns stand two blanks apart, and # begins
a comment. A cell is a literal of Python, else a text. In it 5:9 is drawn from range(5, 9), and 0.50:2.00 from
the numbers between, rounded to as many decimals; 5:9. is a float. A line with n is the late case: n is the
size of a long axis (nbjudge.answers.LATE).
"""

import re
from ast import literal_eval
from collections.abc import Callable

import numpy as np

RANGE = re.compile(r"([\d_]+(?:\.\d+)?):([\d_]+(?:\.(\d+))?)")
SIZE = re.compile(r"(?<![\w'])n(?![\w'])")
Cases = tuple[tuple, ...] | Callable[[np.random.Generator], tuple[tuple, ...]]
Late = Callable[[int], tuple] | None


def cases_of(table: str) -> tuple[Cases, Late]:
    """What draws the cases of a table, and its late case."""
    late = next((line for line in _lines(table) if SIZE.search(line)), None)

    def draw(rng: np.random.Generator) -> tuple[tuple, ...]:
        return tuple(rows_of(table, rng))

    def with_size(n: int) -> tuple:
        return _cells(SIZE.sub(str(n), late))

    return draw, with_size if late else None


def rows_of(table: str, rng: np.random.Generator | None = None) -> list[tuple]:
    """The rows below a table's line of names, but for the late case."""

    def number(ends: re.Match) -> str:
        low, high, decimals = ends.groups()
        if decimals:
            drawn = rng.uniform(float(low), float(high))
            return str(round(drawn, len(decimals)))
        return str(rng.integers(int(low), int(high)))

    rows = []
    for line in _lines(table):
        if not SIZE.search(line):
            drawn = RANGE.sub(number, line)
            rows.append(_cells(drawn))
    return rows


def _lines(table: str) -> list[str]:
    """The lines below the names, without comments."""
    lines = table.strip().splitlines()[1:]
    return [line.partition("#")[0].strip() for line in lines]


def _cells(line: str) -> tuple:
    texts = re.split(r"\s{2,}", line)
    return tuple(map(_value, texts))


def _value(text: str) -> object:
    try:
        return literal_eval(text)
    except (ValueError, SyntaxError):
        return text
