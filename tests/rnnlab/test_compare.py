"""Agreement is a number, disagreement a sentence."""

import numpy as np
import pytest
from values_in import holds

from rnnlab.compare import TOLERANCES, first_difference, relative_error
from rnnlab.narrow import from_bfloat16, to_bfloat16


def test_relative_error_is_a_ratio_of_norms():
    assert relative_error(np.array([3.0, 4.0]), np.array([3.0, 4.5])) == pytest.approx(0.5 / np.hypot(3, 4.5))
    assert relative_error(np.array([0.0, 1e-3]), np.zeros(2)) == 1e-3


@pytest.mark.parametrize("got", [np.zeros(3), np.array([1.0, np.nan]), np.array([1.0, np.inf])], ids=str)
def test_another_shape_or_a_non_finite_number_never_agrees(got):
    assert relative_error(got, np.ones(2)) == np.inf


def test_the_first_difference_is_told_by_step_sequence_and_unit():
    want = np.arange(24.0).reshape(4, 3, 2)
    got = want.copy()
    got[3, 0, 1] += 1
    got[2, 2, 0] = -5
    sentence = first_difference(got, want)
    assert holds(sentence, "2", "2", "0", "5", "16")
    assert first_difference(want, want) is None


def test_a_nan_is_a_difference():
    assert "nan instead of 1" in first_difference(np.array([1.0, np.nan]), np.ones(2), axes=("unit",))


def test_a_wrong_shape_and_a_number_have_their_own_sentences():
    assert first_difference(np.zeros((2, 3)), np.zeros((3, 2))) == "has shape (2, 3) instead of (3, 2)"
    assert first_difference(2.0, 3.0, axes=()) == "is 2 instead of 3"


def test_truth_values_differ_and_whole_numbers_do_not_wrap_around():
    truth = np.array([[True, False], [True, True]])
    assert holds(first_difference(truth, np.ones((2, 2), bool), ("row", "column")), "0", "1", "0", "1")
    assert first_difference(truth, truth) is None
    got = np.array([7, 198], "uint8")
    assert first_difference(got, np.array([7, 201], "uint8"), tolerance=0.02) is None
    assert holds(first_difference(got, np.array([9, 201], "uint8"), ("unit",)), "0", "7", "9")
    large = np.array([2**30], "int32")
    assert holds(first_difference(large, -large, ("unit",)), "0")


LEAST = np.array([-(2**63)])
LARGEST = np.array([2**63 - 1])


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (LEAST, LARGEST),
        (LARGEST, LEAST),
        (np.array([2**64 - 1], "uint64"), np.array([-1])),
        (np.array([3], "uint64"), np.array([2**64 - 1], "uint64")),
        (np.array([2**70]), np.array([-(2**70)])),
    ],
    ids=str,
)
def test_whole_numbers_far_apart_differ(got, want):
    sentence = first_difference(got, want, ("unit",))
    assert str(got[0]) in sentence
    assert str(want[0]) in sentence


def test_whole_numbers_beyond_64_bits_are_compared_with_fractions():
    huge = np.array([2**70])
    fraction = np.array([1.5])
    assert holds(first_difference(huge, fraction, ("unit",)), "0", "1.5")
    assert holds(first_difference(fraction, huge, ("unit",)), "0", "1.5")
    assert first_difference(huge, huge.astype("float64")) is None


def test_whole_numbers_close_to_the_least_one_agree():
    assert first_difference(LEAST + 1, LEAST) is None
    assert first_difference(LEAST[0], LEAST[0], tolerance=0) is None


def test_a_number_that_is_not_finite_differs_at_its_own_place():
    assert "[1]" in first_difference(np.array([1.0, np.inf]), np.array([1.0, -np.inf]))
    assert "[1]" in first_difference(np.array([1.0, 2.0]), np.array([1.0, np.nan]))
    assert "[0]" in first_difference(np.array([1.0, 5.0]), np.array([2.0, np.inf]))


@pytest.mark.parametrize("size", [5e-324, 1e-200, 1e200])
def test_relative_error_neither_underflows_nor_overflows(size):
    assert relative_error(np.array([2 * size]), np.array([size])) == 1
    assert relative_error(np.array([size, size]), np.array([size, size])) == 0
    assert relative_error(np.array([size]), np.zeros(1)) == size


def test_axes_that_do_not_fit_are_numbered():
    assert "[0, 1]" in first_difference(np.eye(2), np.array([[1.0, 1.0], [0, 1]]))


def test_float32_is_accepted_where_its_rounding_ends_and_refused_where_a_mistake_begins():
    want = np.random.default_rng(0).normal(size=1000)
    tolerance = TOLERANCES["float32"].forward(1)
    assert relative_error(want.astype("float32"), want) <= tolerance
    assert relative_error(want * (1 + 1e-5), want) > tolerance


@pytest.mark.parametrize("T", [8, 4096])
def test_a_bfloat16_gradient_that_is_summed_in_bfloat16_stays_within_its_tolerance(T):
    rng = np.random.default_rng(T)
    rounded = lambda array: from_bfloat16(to_bfloat16(array.astype("float32")))
    terms = rounded(rng.normal(size=(T, 4, 8))).swapaxes(1, 2) @ rounded(rng.normal(size=(T, 4, 8)))
    total = np.zeros((8, 8), "float32")
    for term in terms:
        total = rounded(total + rounded(term))
    exact = terms.sum(0, dtype="float64")
    tolerance = TOLERANCES["bfloat16"]
    assert relative_error(total, exact) <= tolerance.gradient_over(T)
    assert (relative_error(total, exact) <= tolerance.gradient) == (T == 8)
    assert tolerance.gradient_over(64) == tolerance.gradient
