"""A program apart ends alone, by the same status in a process of its own and in a browser's only one."""

import os

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
