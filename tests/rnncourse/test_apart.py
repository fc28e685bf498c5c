"""A program apart ends alone, by the same status in a process of its own and in a browser's only one."""

import os
import signal
import time

import pytest

from rnncourse.lab import apart


@pytest.fixture(params=["process", "browser"])
def where(request, monkeypatch):
    monkeypatch.setattr(apart, "in_browser", lambda: request.param == "browser")
    return request.param


@pytest.mark.parametrize(
    ("program", "status"), [("x = 1", 0), ("import os\nos._exit(9)\nraise ValueError", 9)]
)
def test_its_exit_status_is_returned_and_this_process_goes_on(where, program, status):
    before = os._exit
    assert apart.run_apart(program) == status
    assert os._exit is before


def test_what_it_wrote_before_its_end_stays(where, tmp_path):
    path = tmp_path / "written"
    program = f"import os\nwith open({str(path)!r}, 'w') as file:\n    file.write('half')\nos._exit(3)"
    assert apart.run_apart(program) == 3
    assert path.read_text() == "half"


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
