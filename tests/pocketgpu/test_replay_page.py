"""A replay's page in Chromium: keyboard, axe-core, light and dark, reduced motion, still, requests."""

import json

import nbformat
import numpy as np
import pytest
from page_browser import WIDTHS, axe_source, needs_axe, needs_browser, outside
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from pages.notebook import main_part
from pages.prose import Prose
from pocketgpu import cuda
from pocketgpu.replay.page import replay, text_of
from pocketgpu.replay.record import EVENTS
from pocketgpu.simulator import jit
from pocketgpu.simulator.memory import Shared
from pocketgpu.simulator.synchronisation import syncthreads
from pocketgpu.simulator.threads import grid, threadIdx

pytestmark = [
    needs_browser,
    pytest.mark.skipif(not cuda.is_simulated, reason="a GPU keeps no record of its steps"),
]
SECONDS = 30  # for the page to draw, should other programs have the cores
SLIDER = "input[type=range]"


@jit
def reverse_with_a_race(x, y):
    part = Shared.array(64, np.float32)
    i = threadIdx.x
    part[i] = x[i]
    y[i] = part[63 - i]


@jit
def transpose(x, y):
    column, row = grid(2)
    y[column, row] = x[row, column]


@jit
def walk_a_column(out):
    tile = Shared.array((32, 32), np.float32)
    tile[threadIdx.x, 3] = 1
    syncthreads()
    out[threadIdx.x] = tile[threadIdx.x, 3]


@jit
def many(x):
    i = grid(1)
    for _ in range(4):
        x[i] = x[i] + 1


@pytest.fixture(scope="module")
def replays(tmp_path_factory):
    """A folder of pages, and {name: the Replay that the page name.html shows}."""
    folder, x = tmp_path_factory.mktemp("replays"), np.zeros((16, 16), "float32")
    shown = {
        "race": replay(reverse_with_a_race[1, 64], (np.zeros(64, "float32"), np.zeros(64, "float32"))),
        "transpose": replay(transpose[(2, 2), (8, 8)], (x, x.copy())),
        "banks": replay(walk_a_column[1, 32], (np.zeros(32, "float32"),)),
        "many": replay(many[20, 64], (np.zeros(1280, "float32"),)),
    }
    for name, launch in shown.items():
        (folder / f"{name}.html").write_text(launch.html(), encoding="utf-8")
    assert shown["many"].trace["total"] > EVENTS
    return folder, shown


@pytest.fixture
def show(replays, browser):
    """Opens a page by its name, and waits until it is drawn: its browser."""

    def open_page(name, width=WIDTHS[2], theme="light"):
        browser.show((replays[0] / f"{name}.html").as_uri(), width, theme)
        wait_for(browser.browser, lambda: step_of(browser.browser) == replays[1][name].trace["opens"])
        return browser.browser

    return open_page


def wait_for(driver, condition):
    WebDriverWait(driver, SECONDS).until(lambda _: condition())


def one(driver, selector):
    return driver.find_element(By.CSS_SELECTOR, selector)


def step_of(driver):
    """The step that is drawn; -1 before the first."""
    texts = [
        range_.get_attribute("aria-valuetext") for range_ in driver.find_elements(By.CSS_SELECTOR, SLIDER)
    ]
    return int(texts[0].split()[0]) if texts and texts[0] else -1


@needs_axe
@pytest.mark.parametrize("name", ["race", "transpose", "banks"])
@pytest.mark.parametrize(("width", "theme"), [(WIDTHS[0], "light"), (WIDTHS[2], "dark")])
def test_axe_finds_nothing_and_the_page_is_not_wider_than_the_window(show, browser, name, width, theme):
    driver = show(name, width, theme)
    driver.execute_script("document.querySelector('.pgr details').open = true")
    assert one(driver, ".pgr").get_attribute("data-theme") == theme
    assert browser.violations(axe_source()) == []
    assert not browser.scrolls_sideways()


def test_a_page_asks_for_nothing_but_itself(show, browser, replays):
    browser.requests()
    for name in replays[1]:
        show(name)
    addresses = browser.requests()
    assert {(replays[0] / f"{name}.html").as_uri() for name in replays[1]} <= {*addresses}
    assert outside(addresses, replays[0]) == []
    assert browser.browser.get_log("browser") == []


def test_every_control_works_by_keyboard(show, replays):
    driver, trace = show("race"), replays[1]["race"].trace
    slider = one(driver, SLIDER)
    slider.send_keys(Keys.HOME)
    wait_for(driver, lambda: step_of(driver) == 0)
    slider.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    wait_for(driver, lambda: step_of(driver) == 2)
    threads = one(driver, "[role=slider][aria-label=thread]")
    assert threads.get_attribute("aria-valuenow") == "0"
    threads.send_keys(Keys.ARROW_DOWN, Keys.ARROW_RIGHT)  # a warp down, a lane on
    wait_for(driver, lambda: threads.get_attribute("aria-valuenow") == "33")
    assert not one(driver, ".pgr-time [type=checkbox]").is_selected()
    part = one(driver, "[role=slider][aria-label='element of part']")
    part.send_keys(Keys.HOME)
    wait_for(driver, lambda: "part[0]" in part.get_attribute("aria-valuetext"))
    assert "step 2" in part.get_attribute("aria-valuetext")
    following = next(b for b in driver.find_elements(By.TAG_NAME, "button") if "part[0]" in b.text)
    following.send_keys(Keys.ENTER)
    wait_for(driver, lambda: step_of(driver) == trace["opens"])  # thread 63 reads it: the race


def test_jupyterlab_leaves_the_keys_to_what_has_the_focus(show):
    """It looks at the focused element alone: b in a view would insert a cell."""
    driver = show("race")
    focusable = ".pgr :is(button, input, summary, [tabindex])"
    assert len(driver.find_elements(By.CSS_SELECTOR, focusable)) > 12
    assert not driver.find_elements(By.CSS_SELECTOR, f"{focusable}:not([data-lm-suppress-shortcuts])")


def test_a_race_leads_to_its_two_accesses(show, replays):
    driver, trace = show("race"), replays[1]["race"].trace
    buttons = driver.find_elements(By.CSS_SELECTOR, ".pgr-two button")
    for button, access in zip(buttons, trace["findings"][0]["accesses"], strict=True):
        button.click()
        wait_for(driver, lambda step=access["step"] + 1: step_of(driver) == step)
        assert access["name"] in one(driver, SLIDER).get_attribute("aria-valuetext")
    lines = {access["line"] for access in trace["findings"][0]["accesses"]}
    marked = driver.find_elements(By.CSS_SELECTOR, ".pgr-code .fault .pgr-no")
    assert {int(number.text.split()[1]) for number in marked} == lines


@pytest.mark.parametrize(("name", "says"), [("transpose", "8 sectors"), ("banks", "32 turns")])
def test_the_warps_request_is_drawn_and_said(show, name, says):
    driver = show(name)
    picture = one(driver, "canvas[role=img]")
    assert says in picture.get_attribute("aria-label")
    assert picture.size["width"] > 100


def test_threads_wait_until_the_barrier_opens(show):
    driver = show("banks")
    slider, threads = one(driver, SLIDER), one(driver, "[role=slider][aria-label=thread]")
    slider.send_keys(Keys.HOME, *[Keys.ARROW_RIGHT] * 2)  # thread 0: a write, the barrier
    wait_for(driver, lambda: step_of(driver) == 2)
    assert "waits" in threads.get_attribute("aria-valuetext")
    barrier = next(b for b in driver.find_elements(By.TAG_NAME, "button") if b.text == "next barrier")
    barrier.click()
    wait_for(driver, lambda: step_of(driver) == 64)  # the last of 32 threads has arrived
    threads.send_keys(Keys.HOME)
    wait_for(driver, lambda: threads.get_attribute("aria-valuenow") == "0")
    assert "waits" not in threads.get_attribute("aria-valuetext")


@pytest.mark.parametrize(("motion", "timers"), [("reduce", True), ("no-preference", False)])
def test_reduced_motion_takes_few_large_steps(show, browser, motion, timers):
    feature = {"features": [{"name": "prefers-reduced-motion", "value": motion}]}
    driver = show("transpose")
    browser.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", feature)
    driver.execute_script("window.asked = []; window.setTimeout = (act, ms) => { asked.push(ms); return 1; }")
    next(b for b in driver.find_elements(By.TAG_NAME, "button") if b.text == "play").click()
    assert bool(driver.execute_script("return asked.filter(ms => ms >= 500)")) == timers


def test_the_same_module_renders_for_any_model(show, replays):
    driver = show("race")
    driver.set_script_timeout(SECONDS)
    seen = driver.execute_async_script(
        """
        const [text, trace, done] = arguments, el = document.createElement("div");
        document.querySelector("main").append(el);
        import(URL.createObjectURL(new Blob([text], {type: "text/javascript"}))).then(module => {
          const end = module.default.render({model: {get: name => name === "trace" ? trace : null}, el});
          const canvases = el.querySelectorAll("canvas").length;
          end();
          done([Object.keys(module), typeof end, canvases > 5]);
        }, error => done(String(error)));
        """,
        text_of("view.js"),
        json.loads(json.dumps(replays[1]["transpose"].trace)),
    )
    assert seen == [["default"], "function", True]


def test_a_notebooks_output_moves_on_the_static_site_without_a_kernel(browser, replays):
    shown = replays[1]["race"]
    output = nbformat.v4.new_output("execute_result", {"text/html": shown._repr_html_()})
    book = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell("cuda.replay(…)", outputs=[output, output])]
    )
    page = replays[0] / "site.html"
    page.write_text(
        main_part(book, Prose(lambda url: url), keep=lambda data, kind: "data:,"), encoding="utf-8"
    )
    browser.show(page.as_uri())
    sliders = browser.browser.find_elements(By.CSS_SELECTOR, SLIDER)
    wait_for(browser.browser, lambda: step_of(browser.browser) == shown.trace["opens"])
    assert len(sliders) == 2  # each place once, though both scripts ran


def test_without_scripts_the_still_remains(browser, replays):
    browser.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.show((replays[0] / "race.html").as_uri())
        picture = one(browser.browser, "[data-replay] img")
        assert "syncthreads" in picture.get_attribute("alt")
        assert picture.size["width"] == 720
        assert not browser.browser.find_elements(By.CSS_SELECTOR, ".pgr")
    finally:
        browser.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.mark.slow
def test_ten_thousand_events_are_shown_frame_by_frame(show, record_property):
    """The frames a second are told, not held: other programs may have the cores."""
    driver, frames = show("many"), 100
    driver.set_script_timeout(4 * SECONDS)
    seconds = driver.execute_async_script(
        """
        const [frames, done] = arguments, range = document.querySelector("input[type=range]");
        let frame = 0, began = performance.now();
        const next = () => {
          range.value = Math.round(++frame * range.max / frames);
          range.dispatchEvent(new Event("input"));
          requestAnimationFrame(frame < frames ? next : () => done((performance.now() - began) / 1000));
        };
        requestAnimationFrame(next);
        """,
        frames,
    )
    wait_for(driver, lambda: step_of(driver) > 0)
    assert step_of(driver) == EVENTS
    record_property("frames a second", f"{frames / seconds:.1f}")
    print(f"{EVENTS} events: {frames / seconds:.1f} frames a second")
