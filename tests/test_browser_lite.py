"""A learner with a browser alone: JupyterLite runs lesson 00, and judges a wrong and a right answer.

RNNLAB_SITE names a site that was built with --lite and a Pyodide; elsewhere this is skipped.
"""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from jupyterlab_browser import PANEL, Learner, until
from page_browser import needs_browser
from test_browser import RIGHT, WRONG

SITE = Path(os.environ.get("RNNLAB_SITE") or "nowhere").resolve()
START, RUN = 300.0, 600.0  # seconds until Python has loaded, and until a lesson has run: WebAssembly is slow
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (SITE / "lite").is_dir(), reason="build a site with --lite, name it in RNNLAB_SITE"
    ),
    needs_browser,
]


class Visitor(Learner):
    """A browser in front of JupyterLite."""

    def open(self, notebook: str) -> None:
        self.browser.get(f"{self.address}/lite/lab/index.html?path={notebook}")
        self.wait_for(f"{PANEL} .jp-Cell", START)
        status = lambda: (bar := self.first("#jp-main-statusbar")) and "| Idle" in bar.text
        until(status, "Python has started in the page", START)


@pytest.fixture(scope="module")
def address():
    """The site as a static host serves it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    line = [sys.executable, "-m", "http.server", str(port), "--bind", "127.0.0.1", "--directory", SITE]
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        until(lambda: _listens(port), "the host answers")
        yield f"http://127.0.0.1:{port}"
        server.terminate()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_lesson_00_runs_in_a_page_and_judges_a_wrong_and_a_right_answer(address, tmp_path):
    with Visitor(address, tmp_path / "profile", tmp_path) as visitor:
        visitor.open("notebooks/00_start_here.ipynb")
        visitor.run_all(RUN)
        assert "in a browser" in visitor.output("import rnnlab")
        assert "✘" in visitor.output("rnnlab.check(last_step)")
        visitor.type_into("def last_step(y)", WRONG)
        assert "takes the last sequence" in visitor.run("rnnlab.check(last_step)")
        visitor.type_into("def last_step(y)", RIGHT)
        assert "✔" in visitor.run("rnnlab.check(last_step)")
