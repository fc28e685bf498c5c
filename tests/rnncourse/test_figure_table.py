"""The numbers of a picture as tables: the same numbers, with headings, and no more rows than one reads."""

import numpy as np
import pytest
from bs4 import BeautifulSoup

from rnncourse.figures.picture import MOST_ROWS, Slider, canvas, settings_table, tables_of


def tables(figure):
    """Each table as (caption, [row, ...]) of words."""
    page = BeautifulSoup(tables_of(figure), "html.parser")
    texts = lambda row: [cell.get_text() for cell in row.find_all(["th", "td"])]
    caption = lambda table: table.caption.get_text() if table.caption else ""
    return [
        (caption(table), [texts(row) for row in table.find_all("tr")]) for table in page.find_all("table")
    ]


def test_lines_over_the_same_places_share_a_table():
    figure, axis = canvas()
    axis.plot([1, 2], [0.5, 1234.5], label="measured")
    axis.plot([1, 2], [3, np.nan], label="predicted")
    axis.set(title="rates", xlabel="minibatch")
    rows = [["minibatch", "measured", "predicted"], ["1", "0.5", "3"], ["2", "1234", "–"]]
    assert tables(figure) == [("rates", rows)]


@pytest.mark.parametrize("across", [False, True])
def test_bars_have_the_words_of_their_ticks(across):
    figure, axis = canvas()
    (axis.barh if across else axis.bar)([0, 1], [3, 4], label="ms")
    (axis.set_yticks if across else axis.set_xticks)([0, 1], ["one <b>", "two"])
    ((_, rows),) = tables(figure)
    assert rows[1:] == [["one <b>", "3"], ["two", "4"]]


def test_a_long_line_is_thinned_and_says_so():
    figure, axis = canvas()
    axis.plot(np.arange(1000), np.arange(1000))
    ((caption, rows),) = tables(figure)
    assert f"({MOST_ROWS} of 1000 points)" in caption
    assert len(rows) == 1 + MOST_ROWS
    assert (rows[1][0], rows[-1][0]) == ("0", "999")


def test_pictures_without_numbers_and_lines_across_the_axis_have_no_table():
    figure, axis = canvas()
    axis.imshow(np.zeros((2, 2)))
    axis.axhline(0.5, label="base")
    assert tables_of(figure) == ""


def test_each_slider_is_moved_alone_and_every_finding_is_a_row():
    sliders = {"T": Slider("steps T", range(1, 4), start=1), "cell": Slider("cell", ("gru", "lstm"))}
    page = BeautifulSoup(settings_table("T = {T}, {cell}".format, sliders), "html.parser")
    rows = [[cell.get_text() for cell in row.find_all(["th", "td"])] for row in page.find_all("tr")]
    assert rows == [
        ["setting", "finding"],
        ["steps T: 1", "T = 1, gru"], ["steps T: 2", "T = 2, gru"], ["steps T: 3", "T = 3, gru"],
        ["cell: gru", "T = 2, gru"], ["cell: lstm", "T = 2, lstm"],
    ]  # fmt: skip
