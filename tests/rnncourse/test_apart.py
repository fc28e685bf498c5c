"""A call in a process of its own ends alone, and says how."""

import os
import signal
import time

import pytest

from rnncourse.lab import apart


def test_a_call_apart_returns_raises_and_dies_alone():
    assert apart.call_apart(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        apart.call_apart(divmod, 7, 0)
    for status in (9, 0):
        with pytest.raises(apart.ProcessEnded, match=rf"\b{status}\b"):
            apart.call_apart(os._exit, status)
    with pytest.raises(apart.ProcessEnded, match=r"\b0\.2 s"):
        apart.call_apart(time.sleep, 60, patience=0.2)


@pytest.mark.parametrize("name", ["SIGILL", "SIGSEGV", "SIGKILL"])
def test_the_signal_that_ended_a_call_is_named_with_its_meaning(name):
    with pytest.raises(apart.ProcessEnded, match=f"{name}.*{apart.MEANINGS[name]}"):
        apart.call_apart(signal.raise_signal, signal.Signals[name])
