"""Values are found as whole numbers and words, in their order, and nothing else is."""

import pytest
from values_in import holds

SENTENCE = "rank 1 of 12 waits 0.50 ms\nfor 'sum' (3, 2), network.npz: --out"


@pytest.mark.parametrize(
    "values", [["1", "12"], ["0.50", "'sum'", "(3, 2)"], ["network.npz", "--out"], ["ms"]]
)
def test_values_that_a_message_holds_are_found_over_its_lines(values):
    assert holds(SENTENCE, *values)


@pytest.mark.parametrize(
    "values", [["5"], ["12", "1"], ["0"], ["0.5"], ["50"], ["ran"], ["'su'"], ["1", "1"]]
)
def test_a_part_of_a_number_or_word_or_another_order_is_no_value(values):
    assert not holds(SENTENCE, *values)
