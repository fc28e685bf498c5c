"""Tables of cases: what a cell stands for, and what is drawn."""

import numpy as np
import pytest

from rnncourse.checks.results import named
from rnncourse.checks.tables import cases_of, rows_of

TABLE = """
    n          shape     name          letters
    3          (2, 1)    float64       ('r', 'n')  # a comment
    1_000      (2:5, 7)  two words     ''
    0.25:0.75  ()        90.0          -1e3
    n          (n, 2)    float32       True
"""


@pytest.mark.parametrize("seed", range(5))
def test_a_row_holds_literals_texts_and_drawn_numbers(seed):
    draw, late = cases_of(TABLE)
    first, second, third = draw(np.random.default_rng(seed))
    assert first == (3, (2, 1), "float64", ("r", "n"))
    length, seven = second[1]
    assert (second[0], seven, second[2:]) == (1000, 7, ("two words", ""))
    assert length in range(2, 5)
    assert (third[1:], 0.25 <= third[0] <= 0.75) == (((), 90.0, -1000.0), True)
    assert round(third[0], 2) == third[0]
    assert late(41) == (41, (41, 2), "float32", True)


def test_drawn_numbers_are_those_that_the_generator_gives_in_the_order_of_cells():
    (row,) = rows_of("a  b  c\n2:9  10:400  6:14.", np.random.default_rng(3))
    drawn = np.random.default_rng(3)
    assert row == (drawn.integers(2, 9), drawn.integers(10, 400), float(drawn.integers(6, 14)))
    assert [type(cell) for cell in row] == [int, int, float]


def test_a_table_without_a_line_of_n_has_no_late_case():
    draw, late = cases_of("T\n1\n2")
    assert (draw(None), late) == (((1,), (2,)), None)


def test_results_are_named_with_their_axes_in_order():
    assert named("dx: step, input; loss; h': unit") == {"dx": ("step", "input"), "loss": (), "h'": ("unit",)}
