"""What a reader does on a lesson's page: answers questions, moves views; what the build prepares for it."""

import re

import nbformat
import pytest
from bs4 import BeautifulSoup
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from page_browser import axe_source, needs_axe, needs_browser, outside
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait
from traitlets.config import Config

from nbjudge.authoring.course import ROOT
from pages import build, covers, frames, moving, quiz, run
from pages.opening import openings
from pages.run import LessonRun
from pages.site import OWN, Site
from rnncourse import guesses
from rnncourse.figures.picture import Page, Slider, slider_view

soup = lambda text: BeautifulSoup(text, "html.parser")


def view(monkeypatch, **sliders):
    """A view that says its values, as a kernel that runs lessons for the site shows it."""
    monkeypatch.setenv("RNNLAB_WIDGETS", "off")
    say = lambda **values: " ".join(f"{name}={value}" for name, value in values.items())
    draw = lambda **values: Page(f"<p>{say(**values)}</p>", "said")
    return frames.with_frames(slider_view(draw, say, **sliders))


def test_a_view_of_few_settings_has_a_frame_for_each_combination(monkeypatch):
    bundle = view(monkeypatch, a=Slider("a", range(3), 1), b=Slider("b", (False, True)))[frames.MEDIA]
    assert len(bundle["shown"]) == 3 * 2
    html, finding = bundle["frames"][bundle["shown"]["2,1"]]
    assert (html, finding) == ("<p>a=2 b=True</p>", "a=2 b=True")
    assert bundle["sliders"][1]["labels"] == ["off", "on"]


def test_a_view_of_many_settings_moves_one_slider_at_a_time_and_a_long_one_in_strides(monkeypatch):
    sliders = {"a": Slider("a", range(10), 4), "b": Slider("b", range(0, 2000, 2), 7)}
    bundle = view(monkeypatch, **sliders)[frames.MEDIA]
    a, b = bundle["sliders"]
    assert len(b["labels"]) <= frames.FEWER + 2
    assert (b["labels"][b["start"]], b["labels"][0], b["labels"][-1]) == ("14", "0", "1998")
    assert len(bundle["shown"]) == len(a["labels"]) + len(b["labels"]) - 1, "the start is common to both"
    assert f"0,{b['start']}" in bundle["shown"]
    assert "0,0" not in bundle["shown"]


def test_equal_frames_are_kept_once(monkeypatch):
    monkeypatch.setenv("RNNLAB_WIDGETS", "off")
    same = slider_view(lambda a: Page("<p></p>", "p"), lambda a: "always", a=Slider("a", range(5)))
    assert len(frames.with_frames(same)[frames.MEDIA]["frames"]) == 1


def test_what_a_kernel_runs_at_its_start_gives_views_their_frames(monkeypatch):
    from IPython.core.formatters import DisplayFormatter

    shell = type("Shell", (), {"display_formatter": DisplayFormatter()})
    exec(frames.STARTUP.format(root=str(ROOT)), {"get_ipython": lambda: shell})
    monkeypatch.setenv("RNNLAB_WIDGETS", "off")
    shown = slider_view(lambda a: Page("<p></p>", "p"), lambda a: "p", a=Slider("a", range(2)))
    assert frames.MEDIA in shell.display_formatter.format(shown)[0]


@pytest.mark.parametrize("package", run.PACKAGES)
def test_a_lesson_runs_again_when_a_package_that_it_uses_has_changed(package, monkeypatch, tmp_path):
    monkeypatch.setattr(run, "ROOT", tmp_path)
    for file in (f"{package}/a.py", "pages/frames.py", "pages/run.py", "lesson.ipynb"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text("1")
    before = run.content_number(tmp_path / "lesson.ipynb")
    (tmp_path / package / "a.py").write_text("2")
    assert run.content_number(tmp_path / "lesson.ipynb") != before


def covered(cell, printed):
    """The HTML of a cell that prints behind a cover, as the template writes what a kernel gave the site."""
    shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
    guesses.prepare(shell)
    with capture_output() as shown:
        shell.run_cell(f"{cell}\nprint({printed!r}, end='')").raise_error()
    InteractiveShell.clear_instance()
    blocks = [f'<div class="shown">{output.data["text/html"]}</div>' for output in shown.outputs]
    blocks.append(f'<pre class="printed">{shown.stdout}</pre>')
    attributes = quiz.guess_attribute(cell)
    return f'<div class="cell"{attributes}><div class="output">{"".join(blocks)}</div></div>'


@pytest.mark.parametrize(
    ("cell", "printed", "fields", "marked"),
    [
        ("my_guess = ...", "none of 64; you guessed none\n", 1, ["none"]),
        ("my_guess, my_factor = ..., ...", "guesses: none at 16, none\n", 2, ["none", "none"]),
        ("my_guess = {2: ..., 4: ...}", "you guessed none, 8\nyou guessed none, 16\n", 2, ["none", "none"]),
        ("my_guess = (..., ...)", "you guessed (none, none)\n", 1, ["(none, none)"]),
        ("my_guess = [...]", "your guess: [none]; nonesuch\n", 1, ["[none]"]),
        ("my_guess = ...", "the guess of nonetheless\n", 1, []),
    ],
)
def test_a_covered_outcome_has_a_form_and_the_guess_is_marked_where_it_is_printed(
    cell, printed, fields, marked
):
    page = soup(quiz.add_quizzes(covered(cell, printed)))
    assert [span.text for span in page.select(".guessed")] == marked
    assert page.select_one("form.guess + .outcome pre").text == printed
    assert len(page.select("form.guess input")) == fields
    assert [int(span["data-field"]) for span in page.select(".guessed")] == [*range(len(marked))]
    assert not page.select("details")


def test_a_later_outcome_waits_for_the_cell_that_asks():
    asks = f'<div class="cell"{quiz.guess_attribute("my_guess = ...")}></div>'
    others = covered("my_guess_b = ...", "1")
    shell = '<div class="cell"><div class="output"><div class="shown">'
    later = f"{shell}{guesses.Cover(['my_guess'], ['guess'])._repr_html_()}</div><pre></pre></div></div>"
    keys = [form["data-key"] for form in soup(quiz.add_quizzes(asks + others + later)).select("form")]
    assert keys == [quiz.key_of("my_guess_b = ..."), quiz.key_of("my_guess = ...")]


@pytest.mark.parametrize(("between", "waits"), [("", True), ("<h3>Next</h3>", False)])
def test_what_the_prose_of_a_section_says_of_an_outcome_waits_with_it(between, waits):
    fold = '<details class="outcome"><summary>What came out</summary><p>8</p></details>'
    page = soup(quiz.add_quizzes(f"{covered('my_guess = ...', '8')}<div class=prose>{between}{fold}</div>"))
    *_, last = page.select_one(".prose").find_all(recursive=False)
    assert last.p.text == "8"
    if waits:
        assert last["data-question"] == page.select_one("form.guess")["id"]
    assert bool(last.summary) is not waits
    assert len(page.select("form")) == 1


@pytest.mark.parametrize(
    ("after", "kinds"),
    [
        ("", ["note"]),
        ("<details class=outcome><summary>What came out</summary>c</details>", ["note"]),
        (
            "</div><div class=prose><h2>1</h2><p>b?</p><details><summary>answer</summary>c</details>",
            ["answer", "note"],
        ),
        ("</div><div class=prose><details><summary>answer</summary>c</details>", ["answer"]),
    ],
)
def test_a_look_for_that_asks_has_a_field_unless_its_folded_answer_has_one(after, kinds):
    question = "<p><strong>Look for:</strong> which? Section 4 answers.</p>"
    page = soup(quiz.add_quizzes(f"<div class=prose>{question}{after}</div>"))
    forms = page.select("form.quiz")
    assert sorted("answer" if form.fieldset else "note" for form in forms) == kinds
    assert all(form.textarea and form["data-key"] for form in forms)


@pytest.mark.parametrize("summary", ["Which?", "Name <code>two</code>.", "What you find"])
def test_the_field_stands_below_the_question_and_above_the_folded_answer(summary):
    page = soup(
        quiz.add_quizzes(f"<div class=prose><p>b?</p><details><summary>{summary}</summary>c</details></div>")
    )
    *questions, form, answer = page.select_one(".prose").find_all(recursive=False)
    assert (form.name, answer.name) == ("form", "details")
    assert soup(summary).text in (questions[-1].text, answer.summary.text)
    is_question = not summary.startswith("What")
    assert (questions[-1].text == soup(summary).text) is is_question


def test_the_fields_of_a_guess_are_named_by_its_keys():
    page = soup(quiz.add_quizzes(covered("my_guess = {1e3: ..., 'read': ...}", "")))
    assert [label.text for label in page.select("label")] == ["1000", "read"]


def test_every_lesson_has_a_cover_of_its_own_that_it_shows():
    assert [lesson.stem for lesson in openings()] == [*covers.COVERS]
    assert len({*covers.COVERS.values()}) == len(openings())
    for lesson in openings():
        source = (ROOT / f"notebooks/source/{lesson.stem}.py").read_text(encoding="utf-8")
        drawing = re.sub(r"_\d+$", "", covers.COVERS[lesson.stem])
        assert f'drawings.show("{drawing}")' in source
        image = soup(covers.cover(lesson, lambda content, kind: "a.svg")).img
        assert 20 <= len(image["alt"]) < 250


PRINTED = {"my_guess, my_factor": "your guesses: none at T = 16, and a factor of none\n"}


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page of lesson 02, not run: a view under its first cell, the outcome of one prediction, and a last
    question that nothing answers."""
    with pytest.MonkeyPatch.context() as patch:
        book = nbformat.read(ROOT / "notebooks/02_bptt.ipynb", as_version=4)
        book.cells.append(nbformat.v4.new_markdown_cell("## The end\n\n**Look for:** which comes first?"))
        code = [cell for cell in book.cells if cell.cell_type == "code"]
        long = lambda a, b: Page(f"<p>{a} {b}{' ' * moving.SHORT}</p>", "said")
        patch.setenv("RNNLAB_WIDGETS", "off")
        sliders = {"a": Slider("a", range(40), 1, play=True), "b": Slider("b", range(40))}
        shown = frames.with_frames(slider_view(long, lambda a, b: f"finding {a} {b}", **sliders))
        code[0].outputs = [nbformat.v4.new_output("display_data", shown)]
        for cell in code:
            printed = next((line for words, line in PRINTED.items() if words in cell.source), None)
            if printed:
                cover = guesses.Cover(["my_guess", "my_factor"], ["guess", "factor"])
                html = nbformat.v4.new_output("display_data", {"text/html": cover._repr_html_()})
                cell.outputs = [html, nbformat.v4.new_output("stream", text=printed)]
        folder = tmp_path_factory.mktemp("site")
        (folder / "lessons").mkdir()
        site = Site(folder)
        build.shutil.copytree(OWN / "assets", folder / "assets")
        build.write_lessons(site, {"02_bptt": LessonRun(book, "a machine", "2026-01-01", 1.0)})
    return folder / "lessons/02_bptt.html"


def test_without_scripts_all_outcomes_and_pictures_are_there_and_no_field(page):
    text = soup(page.read_text(encoding="utf-8"))
    assert all(form.has_attr("hidden") for form in text.select(".quiz, .controls"))
    assert text.select(".outcome")
    assert not text.select(".outcome[hidden]")
    assert text.select_one(".moves .frame p").text.strip() == "1 0"
    assert "factor of none" in text.text


@needs_browser
def test_sliders_load_frames_when_they_are_moved_and_say_the_finding(page, browser):
    browser.requests()
    browser.show(page.as_uri())
    assert not [address for address in browser.requests() if "/frames/" in address]
    first, second = browser.browser.find_elements(By.CSS_SELECTOR, ".controls input")
    shown = lambda: browser.browser.find_element(By.CSS_SELECTOR, ".moves .frame").text
    until = lambda words: WebDriverWait(browser.browser, 20).until(lambda _: shown() == words)
    first.send_keys(Keys.ARROW_RIGHT)
    until("2 0")
    assert first.get_attribute("aria-valuetext") == "2"
    assert browser.browser.find_element(By.CSS_SELECTOR, ".finding").text == "finding 2 0"
    second.send_keys(Keys.END)
    until("1 39")  # the other slider is back at its start
    assert first.get_property("value") == "1"
    addresses = browser.requests()
    assert len([address for address in addresses if "/frames/" in address]) == 3, "the list and two frames"
    assert outside(addresses, page.parent.parent) == []
    play = browser.browser.find_element(By.CSS_SELECTOR, ".controls button")
    play.send_keys(Keys.ENTER)
    until("2 0")
    play.send_keys(Keys.ENTER)
    assert play.get_attribute("aria-pressed") == "false"


@needs_browser
def test_an_outcome_is_covered_until_the_reader_predicts_and_the_answer_stays(page, browser):
    browser.show(page.as_uri())
    find = lambda selector: browser.browser.find_element(By.CSS_SELECTOR, selector)
    outcome = lambda: find(".quiz.guess + .outcome")
    hidden = lambda element: browser.browser.execute_script("return arguments[0].hidden", element)
    covered = lambda: hidden(outcome())
    assert covered() == hidden(find(".prose > .outcome")) == "until-found"
    one, other = browser.browser.find_elements(By.CSS_SELECTOR, ".quiz.guess input")[:2]
    one.send_keys("120")
    other.send_keys("4" + Keys.ENTER)
    for _ in range(2):
        assert covered() is hidden(find(".prose > .outcome")) is False
        assert outcome().text.strip() == "your guesses: 120 at T = 16, and a factor of 4"
        assert "120" in find(".quiz.guess [role=status]").text
        browser.show(page.as_uri())
    find(".quiz-note button").send_keys(Keys.ENTER)
    WebDriverWait(browser.browser, 20).until(lambda _: covered() == "until-found")
    find(".quiz-note input").send_keys(Keys.SPACE)
    assert covered() is False
    find(".quiz-note input").send_keys(Keys.SPACE)


@needs_browser
def test_an_answer_to_a_recall_question_is_judged_by_the_reader_and_stays(page, browser):
    browser.show(page.as_uri())
    find = lambda selector: browser.browser.find_elements(By.CSS_SELECTOR, selector)[-1]
    find(".quiz.answer:has(fieldset) textarea").send_keys("chunks")
    assert not find(".quiz.answer fieldset").is_displayed()
    find(".quiz.answer:has(fieldset) + details > summary").send_keys(Keys.ENTER)
    WebDriverWait(browser.browser, 20).until(lambda _: find(".quiz.answer fieldset").is_displayed())
    find(".quiz.answer input[value=yes]").send_keys(Keys.SPACE)
    browser.show(page.as_uri())
    assert find(".quiz.answer:has(fieldset) textarea").get_property("value") == "chunks"
    assert find(".quiz.answer input[value=yes]").is_selected()


@needs_browser
def test_a_note_on_a_look_for_stays_and_is_compared_with_nothing(page, browser):
    browser.show(page.as_uri())
    note = lambda: browser.browser.find_element(By.CSS_SELECTOR, ".quiz.answer:not(:has(fieldset)) textarea")
    note().send_keys("the first")
    browser.show(page.as_uri())
    assert note().get_property("value") == "the first"


@pytest.mark.slow
@needs_browser
@needs_axe
def test_axe_finds_nothing_on_open_questions_and_moved_views(page, browser):
    for width, theme in ((1400, "light"), (390, "dark")):
        browser.show(page.as_uri(), width, theme)
        script = "document.querySelectorAll('details').forEach(one => { one.open = true; });"
        browser.browser.execute_script(f"{script} document.querySelector('.quiz-note input').click()")
        assert browser.violations(axe_source()) == []
        assert not browser.scrolls_sideways()
