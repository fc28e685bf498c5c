"""A browser in front of static pages: at a width, in light or dark, examined by axe-core.

axe-core comes in the wheel axe-playwright-python, whose Python is not used: nothing of it is imported.
"""

import json
import shutil
from base64 import b64decode
from importlib.util import find_spec
from pathlib import Path

import pytest
from jupyterlab_browser import FLAGS
from selenium import webdriver
from selenium.webdriver.common.keys import Keys

WIDTHS = 360, 800, 1400  # a telephone, a tablet, a desktop; pixels
THEMES = "light", "dark"
RULES = "wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"
# what the browser itself opens, and what a page holds in itself: no request to anyone
INTERNAL = "about:", "blob:", "chrome:", "chrome-untrusted:", "data:", "devtools:"
AXE = """
const done = arguments[arguments.length - 1];
axe.run(arguments[1] || document, {runOnly: arguments[0], resultTypes: ["violations"]}).then(
    found => done(found.violations.flatMap(rule => rule.nodes.map(
        node => [rule.id, node.target.join(" "), rule.help]))),
    error => done([["axe", "", String(error)]]));
"""


def axe_violations(
    browser: webdriver.Chrome, source: str, rules: tuple[str, ...] = RULES, element=None
) -> list:
    """(rule, selector, help) of all that axe-core finds wrong in an element, or on the whole page."""
    browser.execute_script(source)
    browser.set_script_timeout(120)
    return [tuple(violation) for violation in browser.execute_async_script(AXE, list(rules), element)]


def axe_source() -> str | None:
    """The text of axe-core; None where it is not installed."""
    package = find_spec("axe_playwright_python")
    return Path(package.origin).with_name("axe.min.js").read_text(encoding="utf-8") if package else None


def outside(addresses: list[str], folder: Path) -> list[str]:
    """Those addresses that neither lie in the folder nor are the browser's own."""
    return [address for address in addresses if not address.startswith((f"{folder.as_uri()}/", *INTERNAL))]


class PageBrowser:
    """Chromium without a window, for pages on this disk."""

    def __init__(self, profile: Path):
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for flag in (*FLAGS, f"--user-data-dir={profile}", "--allow-file-access-from-files"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
        self.browser = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))

    def __enter__(self) -> "PageBrowser":
        return self

    def __exit__(self, *error: object) -> None:
        self.browser.quit()

    def show(self, address: str, width: int = 1400, theme: str = "light") -> None:
        """Open a page at a width in pixels, under the system's theme."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        media = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        self.browser.get(address)

    def violations(self, source: str, rules: tuple[str, ...] = RULES) -> list[tuple[str, str, str]]:
        """(rule, selector, help) of all that axe-core finds wrong on the page that is shown."""
        return axe_violations(self.browser, source, rules)

    def requests(self) -> list[str]:
        """Addresses that the browser has asked for since this was called last."""
        events = [json.loads(entry["message"])["message"] for entry in self.browser.get_log("performance")]
        requests = [event["params"] for event in events if event["method"] == "Network.requestWillBeSent"]
        return [request["request"]["url"] for request in requests]

    def press_tab(self) -> None:
        """Press the tabulator once."""
        webdriver.ActionChains(self.browser).send_keys(Keys.TAB).perform()

    def scrolls_sideways(self) -> bool:
        """Whether the page as a whole is wider than the window."""
        return self.browser.execute_script(
            "return document.documentElement.scrollWidth > document.documentElement.clientWidth + 1"
        )

    def picture(self, path: Path, height: int | None = None) -> None:
        """A PNG of the page from its top, as a whole or to a height in pixels."""
        whole = self.browser.execute_script("return document.documentElement.scrollHeight")
        width = self.browser.execute_script("return window.innerWidth")
        clip = {"x": 0, "y": 0, "width": width, "height": min(whole, height or whole), "scale": 1}
        shot = self.browser.execute_cdp_cmd(
            "Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True}
        )
        path.write_bytes(b64decode(shot["data"]))


needs_browser = pytest.mark.skipif(
    not (shutil.which("chromium") and shutil.which("chromedriver")),
    reason="install a browser: apt-get install chromium chromium-driver (Debian)",
)
needs_axe = pytest.mark.skipif(
    axe_source() is None, reason="install axe-core: pip install --no-deps axe-playwright-python"
)
