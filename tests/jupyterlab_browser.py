"""A JupyterLab on a copy of the course, and a browser that works in it as a learner does.

Everything waits for what it needs to see; nothing sleeps for a guess.
"""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

pytest.importorskip("selenium", reason="install selenium: make test")

from selenium import webdriver
from selenium.common.exceptions import ElementClickInterceptedException, StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from nbjudge.authoring.course import ROOT

WAIT = 60.0  # seconds until something must have appeared: a shared machine is slow
# a page still moves: an element was replaced while it was looked at, or lies below another
IN_MOTION = StaleElementReferenceException, ElementClickInterceptedException
TOKEN = "for-this-test-only"
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
    "--window-size=1280,1600",
)  # fmt: skip
PANEL = ".jp-NotebookPanel:not(.lm-mod-hidden)"
CELL = f"{PANEL} .jp-CodeCell"
ERRORS = f'{PANEL} [data-mime-type="application/vnd.jupyter.stderr"]'  # what is printed there, and exceptions
# The status bar is empty until the notebook has the focus, and the circle beside the kernel's name is idle
# before there is a kernel. JupyterLab and JupyterLite show `jupyterapp` where exposeAppInBrowser is set.
KERNEL = """const shown = [...(window.jupyterapp?.shell.widgets("main") ?? [])].find(
    widget => widget.isVisible && widget.sessionContext);
const kernel = shown?.sessionContext.session?.kernel;
return kernel ? [kernel.connectionStatus, kernel.status] : []"""
PROMPTS = """const shown = [...window.jupyterapp.shell.widgets("main")].find(
    widget => widget.isVisible && widget.sessionContext);
const cells = shown.content.widgets.filter(cell => cell.model.type === "code");
return cells.map(cell => `[${cell.prompt || " "}]:`)"""
SOURCES = """return [...document.querySelectorAll(arguments[0])].map(
    cell => (cell.querySelector(".cm-content") || cell).textContent)"""


def copy_of_the_course(folder: Path) -> Path:
    """The course without what a learner made: nothing of theirs may be touched."""
    skip = shutil.ignore_patterns(
        ".git", ".venv*", "build", "work", "__pycache__", ".*_cache", ".hypothesis", "tests"
    )  # an environment has gigabytes
    return shutil.copytree(ROOT, folder / "course", ignore=skip)


@contextlib.contextmanager
def served(course: Path, home: Path):
    """`rnnlab lab --no-browser --port N` on that copy; gives the address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    own = {
        "RNNLAB_HOME": "rnnlab", "JUPYTER_CONFIG_DIR": "config", "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime", "IPYTHONDIR": "ipython", "JUPYTERLAB_SETTINGS_DIR": "settings",
    }  # fmt: skip
    env = os.environ | {name: str(home / folder) for name, folder in own.items()}
    env |= {"PYTHONPATH": str(course), "JUPYTER_TOKEN": TOKEN}
    (home / "config").mkdir()
    (home / "config/jupyter_lab_config.json").write_text('{"LabApp": {"expose_app_in_browser": true}}')
    command = [sys.executable, "-m", "rnncourse.cli", "lab", "--no-browser", "--port", str(port)]
    with open(home / "lab.log", "wb") as log:
        server = subprocess.Popen(
            command,
            cwd=course,
            env=env,
            stdout=log,
            stderr=log,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        until(lambda: _answers(address), "JupyterLab answers")
        yield address
    except Exception as error:
        error.add_note(f"what the server said:\n{(home / 'lab.log').read_text()[-3000:]}")
        raise
    finally:
        _end(server)


class Learner:
    """A browser in front of JupyterLab."""

    def __init__(self, address: str, profile: Path, pictures: Path):
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        service = webdriver.ChromeService(shutil.which("chromedriver"))
        self.browser = webdriver.Chrome(options, service)
        self.address, self.pictures = address, pictures

    def __enter__(self) -> "Learner":
        return self

    def __exit__(self, kind, error, traceback) -> None:
        if kind:
            picture = self.pictures / "at_the_failure.png"
            self.browser.save_screenshot(str(picture))
            error.add_note(f"what the browser showed: {picture}")
        self.browser.quit()

    def open(self, notebook: str, reset: bool = True) -> None:
        """Open a notebook; with `reset`, in JupyterLab's own layout."""
        self.browser.get(f"{self.address}/lab/tree/{notebook}?{'reset&' * reset}token={TOKEN}")
        self.wait_for(f"{PANEL} .jp-Cell")
        self.wait_for_kernel()

    def wait_for_kernel(self, seconds: float = WAIT) -> None:
        """Wait until the notebook's kernel is idle, then select a cell: menus act where the focus is.

        A cell run before the kernel has started asks which kernel to take.
        """
        idle = lambda: self.browser.execute_script(KERNEL) == ["connected", "idle"]
        until(idle, "the notebook's kernel is connected and idle", seconds)
        self.click(f"{CELL} .jp-InputPrompt")

    def run_all(self, seconds: float = 120) -> None:
        """Menu Run, entry Run All Cells; back when every cell has run, RuntimeError when one has failed."""
        before = self.prompts()
        self.click('//div[contains(@class,"lm-MenuBar-itemLabel") and text()="Run"]', By.XPATH)
        self.click('.lm-Menu-item[data-command="runmenu:run-all"]')

        def ran():
            for error in self.browser.find_elements(By.CSS_SELECTOR, ERRORS):
                if "Traceback (most recent call last)" in error.text:
                    raise RuntimeError(f"a cell failed: {error.text}")
            return all(map(_has_run, self.prompts(), before))

        until(ran, "every cell has run", seconds)

    def prompts(self) -> list[str]:
        """ "[ ]:", "[*]:" or "[3]:", of each code cell."""
        return self.browser.execute_script(PROMPTS)  # the page shows none of a folded cell

    def type_into(self, part: str, code: str) -> None:
        """Replace the code of the cell that holds `part`, and run it."""
        self.click_into(part)
        self.press(Keys.CONTROL, "a")
        self.browser.execute_cdp_cmd("Input.insertText", {"text": code})
        self.run(code.splitlines()[0])

    def run(self, part: str) -> str:
        """Run the cell that holds `part` by Shift + Enter; the text of its output."""
        prompt = lambda: self.prompts()[self.place(part)]
        before = prompt()
        self.click_into(part)
        self.press(Keys.SHIFT, Keys.ENTER)
        until(lambda: _has_run(prompt(), before), f"the cell with {part!r} has run")
        return self.output(part)

    def click_into(self, part: str) -> None:
        def clicked():
            editor = self.cell(part).find_element(By.CSS_SELECTOR, ".cm-content")
            self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", editor)
            editor.click()
            return True

        until(clicked, f"the cell with {part!r} can be clicked")

    def press(self, state: str, key: str) -> None:
        webdriver.ActionChains(self.browser).key_down(state).send_keys(key).key_up(state).perform()

    def output(self, part: str) -> str:
        """The text below the cell that holds `part`."""
        text = lambda: (self.cell(part).find_element(By.CSS_SELECTOR, ".jp-OutputArea").text,)
        return until(text, f"the cell with {part!r} has a place for output")[0]

    def cell(self, part: str):
        """The first code cell whose source holds `part`."""
        return self.browser.find_elements(By.CSS_SELECTOR, CELL)[self.place(part)]

    def place(self, part: str) -> int:
        """Which of the code cells that is."""

        def found():
            sources = self.browser.execute_script(SOURCES, CELL)
            return next((str(k) for k, source in enumerate(sources) if part in source), None)

        return int(until(found, f"a cell holds {part!r}"))

    def wait_for(self, selector: str, seconds: float = WAIT):
        return until(lambda: self.first(selector), f"{selector} is on the page", seconds)

    def first(self, selector: str):
        return next(iter(self.browser.find_elements(By.CSS_SELECTOR, selector)), None)

    def click(self, selector: str, by: str = By.CSS_SELECTOR) -> None:
        def clicked():
            for element in self.browser.find_elements(by, selector)[:1]:
                self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
                element.click()
                return True

        until(clicked, f"{selector} can be clicked")


def _answers(address: str) -> bool:
    with contextlib.suppress(OSError):
        return urllib.request.urlopen(f"{address}/api?token={TOKEN}", timeout=5).status == 200
    return False


def _end(server: subprocess.Popen) -> None:
    """JupyterLab ends its kernels when it is asked to end."""
    server.terminate()
    try:
        server.wait(WAIT)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGKILL)
        raise


def _has_run(prompt: str, before: str) -> bool:
    return prompt != before and re.fullmatch(r"\[\d+\]:", prompt) is not None


def until(look, what: str, seconds: float = WAIT):
    """What `look` returns as soon as it is true."""
    end = time.monotonic() + seconds
    while True:
        with contextlib.suppress(*IN_MOTION):
            if result := look():
                return result
        if time.monotonic() > end:
            raise TimeoutError(f"after {seconds:.0f} s it is still not so that {what}")
        time.sleep(0.1)
