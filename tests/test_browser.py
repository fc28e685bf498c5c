"""A learner in a real JupyterLab and browser: runs lesson 00, moves a slider, answers wrongly and rightly."""

import pytest
from jupyterlab_browser import Learner, copy_of_the_course, served, until
from page_browser import axe_source, axe_violations, needs_browser
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

pytestmark = needs_browser
WRONG = "def last_step(y):\n    return y[:, -1]"
RIGHT = "def last_step(y):\n    return y[-1].copy()"
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
        assert "✘" in learner.output("rnnlab.check(last_step)")

        learner.type_into("def last_step(y)", RIGHT)
        assert "✔" in learner.run("rnnlab.check(last_step)")

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


def test_an_answer_in_the_learners_own_notebook_turns_from_wrong_to_right(address, course, tmp_path):
    with Learner(address, tmp_path / "profile", tmp_path) as learner:
        learner.open("work/00_start_here.ipynb")
        learner.run_all()
        assert "not attempted" in learner.output("check(last_step)")
        learner.type_into("def last_step(y)", WRONG)
        assert "✘" in learner.run("check(last_step)")
        learner.type_into("def last_step(y)", RIGHT)
        assert "✔" in learner.run("check(last_step)")
        assert (course / "work/00_start_here.ipynb").exists()
