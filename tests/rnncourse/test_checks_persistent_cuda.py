"""The emulated line of CUDA C++: whole numbers as C++ computes them, and a sentence where it has no value."""

import numpy as np
import pytest

from rnncourse.checks.lesson_16_persistent_cuda import emulate


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("lane", lambda lane, reg: lane),
        ("7 - 3 * reg", lambda lane, reg: 7 - 3 * reg),
        ("lane / 4 % 3 + (reg << 2 | 1)", lambda lane, reg: lane // 4 % 3 + 4 * reg + 1),
        ("(lane - 9) / 4", lambda lane, reg: abs(lane - 9) // 4 * (1 if lane > 9 else -1)),  # towards zero
        (
            "(lane - 9) % 4",
            lambda lane, reg: abs(lane - 9) % 4 * (1 if lane > 9 else -1),
        ),  # the sign of the left
        ("lane ^ reg & 1", lambda lane, reg: lane ^ (reg & 1)),
        ("(lane & ~3) + 0x10", lambda lane, reg: lane // 4 * 4 + 16),
        ("(lane +\n reg)", lambda lane, reg: lane + reg),
    ],
)
def test_an_expression_has_its_value_in_every_lane_and_register(text, value):
    want = [[value(lane, reg) for reg in range(4)] for lane in range(32)]
    assert np.array_equal(emulate(text), want)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("lane // 4", "`//`"),
        ("pitch * lane", "'pitch'"),
        ("lane / reg", "zero"),
        ("1 << 40", "31"),
        ("lane * 2000000000", "int"),
        ("lane ** 2", "lane ** 2"),
        ("0.5 * lane", "0.5"),
        ("__import__('os')", "__import__"),
        ("lane; reg", "syntax"),
        ("lane + 1_000", "_000"),  # Python reads this and the next, C++ does not
        ("lane # + reg", "#"),
        ("", "syntax"),
    ],
)
def test_what_is_no_such_expression_gets_a_sentence(text, word):
    sentence = emulate(text)
    assert isinstance(sentence, str)
    assert word in sentence
