"""Seconds to a verdict: an answer's text becomes its kernel, and the slowest launches come first."""

from functools import partial

import faulty_kernels
import numpy as np

from bench import judging_seconds
from bench.judging_seconds import SLOWEST, launched, measure


def test_the_slowest_come_first_with_what_was_found(monkeypatch, capsys):
    cases = [*faulty_kernels.CASES.items()][: SLOWEST + 2]
    every = [measure(name, partial(launched, case)) for name, case in cases]
    monkeypatch.setattr(judging_seconds, "durations", lambda only: iter(every))
    judging_seconds.main([])
    first, _, *rows = capsys.readouterr().out.splitlines()
    assert int(first.split()[0]) == len(cases)
    assert len(rows) == SLOWEST
    for row, duration in zip(rows, sorted(every, reverse=True), strict=False):
        assert row.endswith(f"{duration.label}: {duration.outcome}")
        assert duration.outcome


def test_the_text_of_an_answer_becomes_its_kernel():
    text = "@cuda.jit\ndef last(x, y):\n    y[0] = x[-1]\n"
    y = np.zeros(1)
    judging_seconds.function_of(text, "last", "a text")[1, 1](np.arange(4.0), y)
    assert y[0] == 3
