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

from nbjudge.files import ROOT
from rnncourse.checks.answers import answers

SITE = Path(os.environ.get("RNNLAB_SITE") or "nowhere").resolve()
LESSONS = sorted(path.stem for path in ROOT.glob("notebooks/*.ipynb"))
OUTPUTS = f"{PANEL} .jp-OutputArea"
START, RUN = 300.0, 1800.0  # seconds until Python has loaded, and until a lesson has run: WebAssembly is slow
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
        self.wait_for_kernel(START)

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


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_lesson_runs_to_its_end_in_a_page(address, tmp_path, lesson):
    with Visitor(address, tmp_path / "profile", tmp_path) as visitor:
        visitor.open(f"notebooks/{lesson}.ipynb")
        visitor.run_all(RUN)
        assert "in a browser" in visitor.output("import rnnlab")
        pictures = visitor.browser.find_elements(By.CSS_SELECTOR, f"{OUTPUTS} img, {OUTPUTS} svg[role=img]")
        words = [one.get_attribute("alt") or one.get_attribute("aria-label") for one in pictures]
        assert all(len(text or "") > 30 for text in words), words
        assert pictures or lesson.startswith("00"), "the lesson has pictures"


@pytest.mark.parametrize("lesson", LESSONS)
def test_an_answer_is_judged_kept_by_the_browser_and_can_be_downloaded(address, tmp_path, lesson):
    name, answer = next(iter(answers(lesson[3:]).items()))
    mistake = answer.mutants[0]
    with Visitor(address, tmp_path / "profile", tmp_path) as visitor:
        visitor.open(f"work/{lesson}.ipynb")
        visitor.run_all(RUN)
        assert "not attempted" in visitor.output(f"check({name})")
        visitor.type_into(f"def {name}(", answer.source.replace(mistake.old, mistake.new))
        assert mistake.name in visitor.run(f"check({name})")
        visitor.type_into(f"def {name}(", answer.source)
        assert "✔" in visitor.run(f"check({name})")
        visitor.press(Keys.CONTROL, "s")
        dirty = "#jp-main-dock-panel .lm-TabBar-tab.jp-mod-dirty"
        until(lambda: not visitor.first(dirty), "the notebook is saved")
        visitor.open(f"work/{lesson}.ipynb")
        code = answer.source.strip().replace("\n", "")
        assert any(code in source for source in visitor.sources())
        place = {"behavior": "allow", "downloadPath": str(tmp_path)}
        visitor.browser.execute_cdp_cmd("Browser.setDownloadBehavior", place)
        visitor.click('//div[contains(@class,"lm-MenuBar-itemLabel") and text()="File"]', By.XPATH)
        visitor.click('.lm-Menu-item[data-command="docmanager:download"]')
        (file,) = until(lambda: [*tmp_path.glob(f"*{lesson}.ipynb")], "the download is there")
        cells = until(lambda: file.stat().st_size and json.loads(file.read_text())["cells"], "it is whole")
        assert any(code in "".join(cell["source"]).replace("\n", "") for cell in cells)
