"""Passes over memory are counted as one counts them on paper."""

import numpy as np

from rnncourse.lab.array_traffic import traffic

a, b = np.ones((3, 4)), np.ones((3, 4))
ARRAY = 3 * 4 * 8  # bytes


def test_each_operation_reads_its_operands_and_writes_a_new_array():
    moved = traffic(lambda a, b: a * b + a, a, b)
    assert (moved.calls, moved.bytes_read, moved.bytes_written) == (2, 4 * ARRAY, 2 * ARRAY)
    assert moved.bytes_moved == 6 * ARRAY


def test_a_plain_number_costs_nothing_and_a_narrow_operand_its_own_size():
    assert traffic(lambda a: 1 / (2 * a), a).bytes_read == 2 * ARRAY
    assert traffic(lambda a, row: a + row, a, np.ones(4)).bytes_read == ARRAY + 4 * 8


def test_slices_and_results_in_place_are_watched_too():
    moved = traffic(lambda a, b: np.tanh(a[:, :2], out=b[:, :2]), a.copy(), b.copy())
    assert (moved.calls, moved.bytes_read, moved.bytes_written) == (1, ARRAY // 2, ARRAY // 2)


def test_numbers_stay_what_they_are():
    seen = []
    traffic(lambda a, b: seen.append(np.asarray(np.exp(a) - b)), a, b)
    assert np.array_equal(seen[0], np.exp(a) - b)


def test_a_plain_number_leaves_single_precision_as_it_is():
    narrow = a.astype("float32")
    assert traffic(lambda a: 1 / (1 + a), narrow).bytes_moved == 4 * narrow.nbytes
