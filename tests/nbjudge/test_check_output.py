"""What an answer prints under `check`: nothing on standard error, and no more than a page holds."""

import builtins
import logging
import os
import sys
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from types import SimpleNamespace

import numpy as np
import pytest

from nbjudge.grading.output import DISPLAYS, LIMIT
from rnncourse import checks
from rnnlab import check

checks.find("last_step")  # loads the course
LOG = logging.Logger("answer")  # of nobody else: some programs disable all loggers that exist


def test_what_a_library_writes_to_the_descriptor_is_no_error_either(capfd):
    def last_step(y):
        os.write(2, b"OMP: Info\n")
        return y[-1]

    os.write(2, b"before\n")
    assert check(last_step, practice=True).passed
    os.write(2, b"behind\n")
    output, errors = capfd.readouterr()
    assert errors.split() == ["before", "behind"]
    assert "OMP: Info" in output


class Stream:
    """A notebook's stream: an object whose methods can be replaced, as ipykernel's."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text
        return len(text)

    def flush(self):
        pass


@contextmanager
def notebook_streams():
    """Standard output and standard error of a notebook's cell."""
    output, errors = Stream(), Stream()
    with redirect_stdout(output), redirect_stderr(errors):
        yield output, errors


def with_a_bar(y):
    from tqdm import tqdm

    for step in tqdm(y, mininterval=0):
        last = step
    return np.array(last)


def with_a_warning(y):
    LOG.warning("shape %s", y.shape)
    return y[-1]


@pytest.mark.parametrize(("answer", "word"), [(with_a_bar, "100%"), (with_a_warning, "shape")])
def test_a_right_answer_writes_nothing_to_standard_error(answer, word):
    answer.__name__ = "last_step"
    with notebook_streams() as (output, errors):
        handler = logging.StreamHandler()  # keeps the stream of now
        LOG.addHandler(handler)
        verdict = check(answer, practice=True)
        LOG.removeHandler(handler)
        errors_of_check = errors.text
        sys.stderr.write("free again")
    assert verdict.passed
    assert word in output.text
    assert not errors_of_check
    assert errors.text == "free again"


def test_what_an_answer_prints_is_cut_and_the_verdict_stays():
    def last_step(y):
        print(y.size * "a long line of numbers ")
        sys.stderr.write(500_000 * "x")
        return y[-1]

    with notebook_streams() as (output, errors):
        verdict = check(last_step, practice=True)
    assert verdict.passed
    assert LIMIT <= len(output.text) < LIMIT + 200
    assert not errors.text


class Publisher:
    """What displays data in a notebook: shell.display_pub of IPython."""

    def __init__(self):
        self.shown = []

    def publish(self, data, metadata=None):
        self.shown.append(data)


@pytest.mark.parametrize(("count", "size"), [(1, 3 * DISPLAYS), (100, DISPLAYS // 20)])
def test_what_an_answer_displays_is_cut_and_what_is_displayed_later_is_not(monkeypatch, count, size):
    publisher = Publisher()
    shell = SimpleNamespace(display_pub=publisher)
    monkeypatch.setattr(builtins, "get_ipython", lambda: shell, raising=False)

    def last_step(y):
        publisher.publish({"text/plain": "a small one"})
        for _ in range(count):
            publisher.publish({"image/png": size * b"x", "text/plain": "a plot"}, metadata={})
        return y[-1]

    with notebook_streams() as (output, _):
        assert check(last_step, practice=True).passed
    assert sum(len(part) for data in publisher.shown for part in data.values()) <= DISPLAYS
    assert {"text/plain": "a small one"} in publisher.shown
    assert "left out" in output.text
    publisher.publish({"text/plain": 2 * DISPLAYS * "x"})
    assert len(publisher.shown[-1]["text/plain"]) == 2 * DISPLAYS


def test_a_call_that_counts_shows_nothing(monkeypatch):
    publisher = Publisher()
    shell = SimpleNamespace(display_pub=publisher)
    monkeypatch.setattr(builtins, "get_ipython", lambda: shell, raising=False)
    calls = []

    def last_step(y):
        calls.append(type(y))
        print("printed")
        sys.stderr.write("warned")
        publisher.publish({"text/plain": "a plot"})
        return y[-1]

    with notebook_streams() as (output, errors):
        assert check(last_step, practice=True).passed
    judged = calls.count(np.ndarray)
    assert len(calls) == judged + 1
    assert [output.text.count(word) for word in ("printed", "warned")] == [judged, judged]
    assert len(publisher.shown) == judged
    assert not errors.text
