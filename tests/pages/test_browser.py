"""A learner in a real JupyterLab and browser: runs lesson 00, moves a slider, answers wrongly and rightly."""

import pytest
from jupyterlab_browser import PANEL, Learner, copy_of_the_course, served, until
from page_browser import axe_source, axe_violations, needs_browser
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from rnncourse.lab import jupyterlab

pytestmark = needs_browser
WRONG = "def last_step(y):\n    return y[:, -1]"
RIGHT = "def last_step(y):\n    return y[-1].copy()"
# as some versions of Chromium: no part of the page gets the focus until the learner clicks
UNFOCUSED = """const focus = HTMLElement.prototype.focus;
HTMLElement.prototype.focus = () => {};
addEventListener("mousedown", () => { HTMLElement.prototype.focus = focus; }, {capture: true, once: true});"""
HANDLE = ".jp-OutputArea .noUi-handle"


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return copy_of_the_course(tmp_path_factory.mktemp("clone"))


@pytest.fixture(scope="module")
def address(course, tmp_path_factory):
    with served(course, tmp_path_factory.mktemp("home")) as address:
        yield address


@pytest.mark.slow
def test_lesson_00_runs_answers_and_moves(address, tmp_path):
    with Learner(address, tmp_path / "profile", tmp_path) as learner:
        learner.open("notebooks/00_start_here.ipynb")
        learner.run_all()
        assert "✘" in learner.output("rnnlab.check(last_step, practice=True)")

        outcome = learner.wait_for(".jp-OutputArea-child:has(.guess-cover) + .jp-OutputArea-child")
        assert not outcome.is_displayed()
        learner.click(".guess-cover summary")
        until(outcome.is_displayed, "a covered outcome is seen once its line was clicked")

        learner.type_into("def last_step(y)", RIGHT)
        assert "✔" in learner.run("rnnlab.check(last_step, practice=True)")

        cell = learner.cell("explore_roofline")
        view = lambda: cell.find_element(By.CSS_SELECTOR, ".jp-OutputArea img").get_attribute("src")
        text = lambda: cell.find_element(By.CSS_SELECTOR, '[role="status"]').text
        learner.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", cell)
        handles = cell.find_elements(By.CSS_SELECTOR, ".noUi-handle")
        until(lambda: all(handle.get_attribute("aria-label") for handle in handles), "sliders have names")
        labels = [label.text for label in cell.find_elements(By.CSS_SELECTOR, ".widget-slider .widget-label")]
        assert [handle.get_attribute("aria-label") for handle in handles] == labels
        assert all(handle.get_attribute("aria-valuetext") for handle in handles)
        before = until(lambda: (view(), text()), "the view is there")
        handle = cell.find_element(By.CSS_SELECTOR, HANDLE)
        handle.send_keys(Keys.ARROW_RIGHT)
        assert handle.value_of_css_property("outline-style") == "solid", "the focus is seen"
        until(lambda: view() != before[0], "the picture has changed")
        until(lambda: text() != before[1], "the line below it has changed")
        if source := axe_source():
            shown = cell.find_element(By.CSS_SELECTOR, ".jp-OutputArea")
            assert axe_violations(learner.browser, source, element=shown) == []


@pytest.mark.slow
def test_an_answer_in_the_learners_own_notebook_turns_from_wrong_to_right(address, course, tmp_path):
    with Learner(address, tmp_path / "profile", tmp_path) as learner:
        learner.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": UNFOCUSED})
        learner.open("work/00_start_here.ipynb")
        learner.run_all()
        assert "not attempted" in learner.output("check(last_step)")
        learner.type_into("def last_step(y)", WRONG)
        assert "✘" in learner.run("check(last_step)")
        learner.type_into("def last_step(y)", RIGHT)
        assert "✔" in learner.run("check(last_step)")
        folded = learner.cell("check(last_step)").find_element(By.CSS_SELECTOR, ".jp-OutputArea details")
        assert "solutions/00_start_here.ipynb" not in folded.text
        folded.find_element(By.CSS_SELECTOR, "summary").click()
        assert "solutions/00_start_here.ipynb" in folded.text
        assert (course / "work/00_start_here.ipynb").exists()


CUT = """return [...document.querySelectorAll(arguments[0])].filter(
    code => code.scrollWidth > code.clientWidth + 1).map(code => code.textContent)"""


@pytest.mark.slow  # opens JupyterLab once more
def test_at_1200_pixels_the_contents_are_open_and_no_line_of_code_is_cut(address, course, tmp_path):
    for layout in (course / "work/.jupyter/workspaces").iterdir():
        layout.unlink()  # as another test left it
    jupyterlab._layouts(course / "work")
    with Learner(address, tmp_path / "profile", tmp_path) as learner:
        learner.browser.set_window_size(1200, 900)
        learner.open("notebooks/08_packed_products.ipynb", reset=False)
        sections = learner.wait_for(".jp-TableOfContents-tree")
        until(lambda: "Recall" in sections.text, "the list of contents is shown")
        assert learner.browser.execute_script(CUT, f"{PANEL} .jp-CodeCell .cm-scroller") == []


OUTPUTS = f"{PANEL} .jp-OutputArea"
MOVING = """return [...document.querySelectorAll(arguments[0] + " *")].filter(element => {
    const style = getComputedStyle(element);
    return style.animationName !== "none" && style.animationDuration !== "0s";
}).map(element => element.className)"""
STOP = """const focused = document.activeElement;
return arguments[0].contains(focused) ? focused.getAttribute("aria-label") || focused.textContent : null"""


def stops(learner, output, key, most=30):
    """Names of what one key reaches in an output from where the focus is, until the focus leaves it."""
    names = []
    for _ in range(most):
        webdriver.ActionChains(learner.browser).key_down(key[0]).send_keys(key[-1]).key_up(key[0]).perform()
        if (name := learner.browser.execute_script(STOP, output)) is None:
            return names
        names.append(name)
    raise AssertionError(f"the focus never leaves the output: {names}")


@pytest.mark.slow
def test_pictures_have_words_and_numbers_and_the_keyboard_goes_through_sliders_and_out(address, tmp_path):
    with Learner(address, tmp_path / "profile", tmp_path) as learner:
        reduced = {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]}
        learner.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", reduced)
        learner.open("notebooks/00_start_here.ipynb")
        learner.run_all(600)
        output = learner.cell("explore_roofline").find_element(By.CSS_SELECTOR, ".jp-OutputArea")
        find = lambda selector: output.find_elements(By.CSS_SELECTOR, selector)
        handles = until(lambda: find(".noUi-handle[aria-label]"), "the sliders have names")
        labels = [handle.get_attribute("aria-label") for handle in handles]
        learner.browser.execute_script("arguments[0].focus()", handles[0])
        forward = stops(learner, output, (Keys.NULL, Keys.TAB))
        assert [name for name in forward if name in labels] == labels[1:]
        learner.browser.execute_script("arguments[0].focus()", handles[-1])
        back = stops(learner, output, (Keys.SHIFT, Keys.TAB))
        assert [name for name in back if name in labels] == labels[-2::-1]

        pictures = learner.browser.find_elements(By.CSS_SELECTOR, f"{OUTPUTS} img, {OUTPUTS} svg[role=img]")
        words = [one.get_attribute("alt") or one.get_attribute("aria-label") for one in pictures]
        assert pictures
        assert all(len(text or "") > 30 for text in words), words
        summary = learner.wait_for(f"{OUTPUTS} details:not(.guess-cover) > summary")
        learner.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", summary)
        summary.send_keys(Keys.ENTER)
        table = learner.wait_for(f"{OUTPUTS} details[open] table")
        assert table.find_elements(By.CSS_SELECTOR, "th[scope=col]")
        assert learner.browser.execute_script(MOVING, OUTPUTS) == [], "nothing moves by itself"
