"""Patterns that follow a first difference: true of both arrays, and none where nothing stands out."""

import numpy as np
import pytest
from values_in import holds

from nbjudge.comparing.differences import WRONG_DTYPE, first_difference, whole_numbers
from nbjudge.comparing.patterns import common_pattern, first_place, part_of_sum
from rnnlab.compare import format_numbers

WANT = np.random.default_rng(1).normal(size=(4, 3, 2))
AXES = ("step", "sequence", "unit")


def changed(*places):
    got = WANT.copy()
    for place in places:
        got[place] += 1
    return got


@pytest.mark.parametrize(
    ("got", "pattern"),
    [
        (2 * WANT, "Every number is 2 times the right one."),
        (-WANT, "Every number has the wrong sign."),
        (0 * WANT, "Every number is 0."),
        (WANT[::-1], "It is right in reverse order: step 0 stands last."),
        (WANT[:, [0, 0, 0]], "It holds the same at every sequence."),
        (
            np.concatenate([WANT[:1], WANT[:-1]]),
            "At step 1 and later it holds what belongs to the step before.",
        ),
        (
            np.concatenate([WANT[1:], WANT[:1]]),
            "At step 0 and later it holds what belongs to the step after.",
        ),
        (WANT + 0.75, "Every number is 0.75 too large."),
        (
            WANT[[1, 0, 3, 2]],
            "The numbers are the right ones at other places: "
            "the first belongs to step 1, sequence 0, unit 0.",
        ),
        (changed(1), "Wrong only at step 1."),
        (changed(0, 2, 3), "Right at step 1."),
        (changed((slice(None), 0)), "Wrong only at sequence 0."),
        (changed((2, 0, 0), (3, 1, 1)), "Right at sequence 2."),
        (WANT**2 + 1, None),
        (np.concatenate([WANT[:2], WANT[2:] ** 2 + 1]), None),  # which the first difference says by itself
    ],
)
def test_a_pattern_follows_the_first_difference(got, pattern):
    assert common_pattern(got, WANT, AXES, 1e-9) == pattern


def test_a_number_that_stands_in_two_places_belongs_to_neither():
    pattern = common_pattern(np.array([2.0, 1, 1, 3]), np.array([1.0, 2, 1, 3]), ("unit",), 1e-9)
    assert pattern == "The numbers are the right ones at other places: the first belongs to unit 1."
    pattern = common_pattern(np.array([1.0, 2, 3, 1]), np.array([2.0, 1, 3, 1]), ("unit",), 1e-9)
    assert pattern == "The numbers are the right ones at other places."


def test_a_part_that_is_right_in_another_place_is_named():
    parts = dict(zip("ifg", WANT, strict=False))
    swapped = {"i": parts["f"], "f": parts["i"], "g": parts["g"]}
    problem = first_difference(swapped, parts, ("sequence", "unit"), "gates", None)
    assert problem.message.endswith("the right f. Right: g.")
    swapped["i"] = np.concatenate([parts["f"][:1], parts["i"][1:]])
    problem = first_difference(swapped, parts, ("sequence", "unit"), "gates", None)
    assert problem.message.endswith("That number belongs to f, sequence 0, unit 0. Right: g.")
    problem = first_difference(parts | {"i": WANT[0].astype("float32")}, parts, (), "gates", None)
    assert holds(problem.message, "float32", "float64")


@pytest.mark.parametrize(
    ("terms", "sentence"),
    [
        ([0, 1, 2, 3], "The sum lacks term 4 of its 5, counted from 0."),
        ([2, 3, 4], "The sum lacks terms 0 to 1 of its 5, counted from 0."),
        ([0, 1, 1, 2, 3, 4], "The sum has twice term 1 of its 5, counted from 0."),
        ([0, 2, 4], "Its terms begin with 1, 2.5, 7."),
    ],
)
def test_a_wrong_sum_lacks_terms_or_has_them_twice(terms, sentence):
    right = np.array([1, 2.5, 7, -40, 300])
    assert part_of_sum(right[terms].sum() - right.sum(), right) == sentence


def test_a_number_has_no_patterns_and_axes_without_names_have_numbers():
    assert common_pattern(np.ones(1), np.zeros(1), ("unit",), 1e-9) is None
    assert holds(common_pattern(changed(1), WANT, (), 1e-9), "1", "0")


def test_results_that_are_right_are_named_beside_one_that_is_not():
    wrong = first_difference((WANT, WANT**2, 3), (WANT, WANT, 3), AXES, ("y", "h", "step"), None)
    assert wrong.message.endswith("Right: y, step.")
    assert "Right" not in first_difference((WANT**2,), (WANT,), AXES, ("y",), None).message


def test_the_first_place_is_the_first_number_that_differs():
    assert first_place(changed((2, 1, 0), (1, 2, 1)), WANT) == (1, 2, 1)
    assert first_place(WANT, WANT) is None
    assert first_place(np.full(2, np.nan), np.ones(2)) == (0,)


@pytest.mark.parametrize(
    ("got", "width", "numbers"),
    [
        ((np.int64(3), 4.0), 0, [3, 4]),
        ([[1, 2], (3, 4), np.array([5, 6])], 2, [(1, 2), (3, 4), (5, 6)]),
        (np.array([[1.0, 2.0]]), 2, [(1, 2)]),
        ([], 2, []),
        ([1, None], 0, None),
        ([1, "2"], 0, None),
        ([1, True], 0, None),
        ([1, 2.5], 0, None),
        ([1, np.inf], 0, None),
        ([1, 2], 2, None),
        ([(1, 2), (3,)], 2, None),
        ([(1, [2])], 2, None),
        (np.ones(()), 0, None),
        ({1: 2}, 0, None),
        (None, 2, None),
    ],
)
def test_whole_numbers_are_told_from_other_answers(got, width, numbers):
    assert whole_numbers(got, width) == numbers


@pytest.mark.parametrize(
    ("got", "want", "words"),
    [
        (np.uint32(4162467901), np.uint32(4162467902), ("4162467901", "4162467902")),
        (4162467901, 4162467902, ("4162467901", "4162467902")),
        (1.0, 1.0000001, ("1", "1.0000001")),
        (2.5, 3, ("2.5", "3")),
        (True, 3, ("1", "3")),
    ],
)
def test_two_numbers_that_differ_print_as_two(got, want, words):
    assert format_numbers(got, want) == words


def test_whole_numbers_of_an_array_are_printed_in_full_and_another_dtype_comes_first():
    words = np.array([4162467902, 7, 9], "uint32")
    wrong = first_difference(words + np.array([1, 0, 0], "uint32"), words, ("word",), "the words", 0.0)
    assert "4162467903 instead of 4162467902" in wrong.message
    assert (
        first_difference(words.astype("int64") + 1, words, (), "the words", 0.0).misconception == WRONG_DTYPE
    )


@pytest.mark.parametrize(
    ("got", "bits"),
    [(np.int32(-1929746752), "32"), (1811321933111387840 - 2**64, "64"), (1811321933111387841, "")],
)
def test_whole_numbers_that_overflowed_say_so(got, bits):
    message = first_difference(got, 1811321933111387840, (), "the number of FLOP", None).message
    assert bool(bits) == ("overflowed" in message)
    assert f"power {bits}" in message or not bits


def test_places_without_names_are_written_as_indices_and_one_number_everywhere_is_named():
    wrong = first_difference(np.full((2, 3), 99.36), WANT[0, :, :].reshape(2, 3), (), "numeric", None)
    assert "[0, 0]" in wrong.message
    assert "axis" not in wrong.message
    assert "All 6 numbers are 99.36." in wrong.message


def test_a_result_that_has_an_article_keeps_one_article_and_its_number():
    parts = {"the words": 3, "the time of layer 2": 4.5, "the time of layer 1": 6.5}
    wrong = first_difference(parts | {"the words": 0}, parts, (), "", None)
    assert wrong.message.startswith("the words are 0")
    swapped = first_difference(parts | {"the time of layer 1": 4.5}, parts, (), "", None)
    assert holds(swapped.message, "layer 2")
    assert first_difference(2.5, 2, (), "the bias", None).message.startswith("the bias is")
