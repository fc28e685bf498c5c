"""A learner with a browser alone: JupyterLite runs lessons, judges answers, keeps them and hands them out.

RNNLAB_SITE names a site that was built with --lite and a Pyodide; elsewhere this is skipped.
"""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from jupyterlab_browser import CELL, PANEL, SOURCES, Learner, until
from page_browser import needs_browser
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
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

    def sources(self) -> list[str]:
        """The text of each code cell."""
        return self.browser.execute_script(SOURCES, CELL)


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


STEP = """def relu_step_backward(dh, x, h_before, h_after, weight_ih, weight_hh):
    da = dh * (h_after > 0)
    return da @ weight_ih, da @ weight_hh, da.T @ x, da.T @ h_before, da.sum(axis=0)
"""


def test_an_answer_is_judged_kept_by_the_browser_and_can_be_downloaded(address, tmp_path):
    with Visitor(address, tmp_path / "profile", tmp_path) as visitor:
        visitor.open("work/02_bptt.ipynb")
        visitor.run_all(RUN)
        assert "not attempted" in visitor.output("check(relu_step_backward)")
        visitor.type_into("def relu_step_backward(", STEP.replace("(h_after > 0)", "h_after"))
        assert "multiplies by h instead of 1[h>0]" in visitor.run("check(relu_step_backward)")
        visitor.type_into("def relu_step_backward(", STEP)
        assert "✔" in visitor.run("check(relu_step_backward)")
        visitor.press(Keys.CONTROL, "s")
        dirty = "#jp-main-dock-panel .lm-TabBar-tab.jp-mod-dirty"
        until(lambda: not visitor.first(dirty), "the notebook is saved")
        visitor.open("work/02_bptt.ipynb")
        assert any("da = dh * (h_after > 0)" in source for source in visitor.sources())
        place = {"behavior": "allow", "downloadPath": str(tmp_path)}
        visitor.browser.execute_cdp_cmd("Browser.setDownloadBehavior", place)
        visitor.click('//div[contains(@class,"lm-MenuBar-itemLabel") and text()="File"]', By.XPATH)
        visitor.click('.lm-Menu-item[data-command="docmanager:download"]')
        (file,) = until(lambda: [*tmp_path.glob("*02_bptt.ipynb")], "the download is there")
        cells = until(lambda: file.stat().st_size and json.loads(file.read_text())["cells"], "it is whole")
        assert any("da = dh * (h_after > 0)" in "".join(cell["source"]) for cell in cells)
