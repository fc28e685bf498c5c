"""The static site: its pages hold to what they promise; a browser and axe-core find nothing wrong with them.

The site of two lessons, not run, and of all other pages is built here; RNNLAB_SITE names a whole one, which
continuous integration builds by `make site` and examines page by page at three widths, light and dark.
"""

import os
from itertools import pairwise, product
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from fontTools.ttLib import TTFont
from page_browser import THEMES, WIDTHS, axe_source, needs_axe, needs_browser, outside
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from nbjudge.authoring.course import ROOT
from pages import build, front, places, verify
from pages.colab import colab_notebook
from pages.opening import openings
from pages.prose import Prose, mathml
from pages.run import LessonRun
from pages.site import OWN, Site
from rnncourse.checks.answers import answers

LESSONS = "00_start_here", "02_bptt"
WHOLE = os.environ.get("RNNLAB_SITE")
LIT = (WIDTHS[0], "light"), (WIDTHS[2], "dark")  # what is looked at while tests must be quick
PAGES = "index.html", "lessons/02_bptt.html", "exercises/02_bptt.html", "lessons/index.html", "search.html"
EXAMINED = "index.html", "lessons/02_bptt.html", "search.html"
DEEP = " " * 60
SENTENCE = "claim: holds for 528 against 32 cell-backwards, largest difference 4e-16"
OUTPUTS = """<table><tr><th>H</th><td>4</td><td>5</td></tr></table>
<img alt="A line that rises from 1 to 2." src="data:image/png;base64,{png}">"""


def with_outputs(path):
    """A lesson as if it had run: its first code cell shows a table and a picture and prints a long line."""
    from base64 import b64encode

    from rnncourse.figures.picture import canvas, png

    book = nbformat.read(path, as_version=4)
    cell = next(cell for cell in book.cells if cell.cell_type == "code")
    cell.source += f"\nif True:\n{DEEP}1  # a line that begins where a telephone's page ends"
    figure, axis = canvas()
    axis.plot([1, 2])
    page = OUTPUTS.format(png=b64encode(png(figure)).decode())
    cell.outputs = [
        nbformat.v4.new_output("display_data", {"text/html": page}),
        nbformat.v4.new_output("execute_result", {"text/plain": "the value of a cell's last line"}),
        nbformat.v4.new_output("stream", text="number  " * 30 + "\n"),
        nbformat.v4.new_output("stream", text="columns  " * 30 + "\n" + SENTENCE + "\n"),
        nbformat.v4.new_output("stream", name="stderr", text="words " * 30 + "\n"),
    ]
    return LessonRun(book, "a machine of this test", "2026-01-01", 1.0)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site."""
    if WHOLE:
        return Path(WHOLE).resolve()
    folder = tmp_path_factory.mktemp("built") / "site"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build, "run_lesson", lambda path, folder: with_outputs(path))
        build.build(folder, [path for path in build.all_lessons() if path.stem in LESSONS])
    return folder


def test_nothing_is_wrong_with_the_site(site):
    assert verify.problems(site) == []


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("<h1>a</h1><a href='nowhere.html'>x</a>", "the link 'nowhere.html' leads nowhere"),
        ("<h1>a</h1><a href='#not'>x</a>", "names an anchor that page.html lacks"),
        ("<h1>a</h1><script src='https://cdn.example/x.js'></script>", "from another computer"),
        ("<h1>a</h1><link href='//cdn.example/x.css'>", "from another computer"),
        ("<h1>a</h1><style>@import 'x.css'</style>", "a style loads a file"),
        ("<h1>a</h1><img src='data:,' alt='Image'>", "no sentence as its alternative text"),
        ("<h1>a</h1><svg></svg>", "a drawing has no sentence"),
        ("<h1>a</h1><h3>b</h3>", "a heading of level 3 follows one of level 1"),
        ("<p>a</p>", "the page has 0 headings of level 1"),
        ("<h1 id='a'>a</h1><p id='a'>b</p>", "the id 'a' stands twice"),
        ("<h1>a</h1>" + "x" * 600_001, "more than 0.6"),
    ],
)
def test_each_fault_of_a_page_is_named(tmp_path, monkeypatch, text, sentence):
    (tmp_path / "page.html").write_text(text)
    monkeypatch.chdir(tmp_path)
    (problem,) = [
        line for line in verify.problems(Path()) if "leads nowhere" not in line or "nowhere" in text
    ]
    assert problem.startswith("page.html: ")
    assert sentence in problem


def test_a_picture_becomes_a_file_and_a_table_says_what_its_headings_head(site):
    if WHOLE:
        return
    page = (site / "lessons/02_bptt.html").read_text()
    assert "data:image/png" not in page
    assert 'src="../pictures/' in page
    assert '<th scope="row">H</th>' in page
    assert "the value of a cell's last line" in page.replace("&#39;", "'")
    assert 'tabindex="0"' in page
    blocks = BeautifulSoup(page, "html.parser").find_all("pre")
    (together,) = (block for block in blocks if "number  number" in block.text)
    assert len(together.text.splitlines()) == 3, "what one loop printed is one box"
    assert [words.text for words in together.select(".sentence")] == [SENTENCE], "columns are not broken"
    assert '<pre class="printed warning wraps">words' in page, "lines without columns are broken, not cut off"


def test_a_formula_is_drawn_without_a_script_and_a_wrong_one_is_named():
    assert mathml(r"\frac{a}{b}", "block").startswith('<math data-tex="\\frac{a}{b}" xmlns=')
    prose = Prose(lambda url: url)
    assert "<mfrac>" in prose.html("so $\\frac{a}{b}$ is")
    with pytest.raises(ValueError, match="cannot be drawn as mathematics"):
        mathml(r"\begin{array}", "block")


def test_a_site_with_lessons_for_the_browser_offers_them_on_its_start_page(tmp_path):
    site = Site(tmp_path)
    assert build.run_here(site, "index.html", "00_start_here", "begin") == ""
    (tmp_path / "lite").mkdir()
    front.write_front(site, {})
    link = 'href="lite/lab/index.html?path=notebooks/00_start_here.ipynb"'
    assert link in (tmp_path / "index.html").read_text()
    assert "path=notebooks/a.ipynb" in build.run_here(site, "lessons/a.html", "a", "begin")


def test_the_hints_of_an_exercise_open_one_by_one(site):
    page = soup_of(site / "exercises/02_bptt.html")
    known = answers("bptt")
    folds = page.select(".prose > details")
    assert len(folds) == len(known)
    for fold, exercise in zip(folds, known.values(), strict=True):
        inner = [fold, *fold.select("details")]
        numbers = range(1, len(exercise.hints) + 1)
        assert [one.summary.text for one in inner] == [f"Hint {n} of {len(inner)}" for n in numbers]
        assert all(one.parent is before for before, one in pairwise(inner)), "each in the one before"
        assert fold.find_previous("pre").text.strip() == f"check({exercise.name})"


def test_an_exercise_can_be_tried_where_the_site_runs_python(tmp_path):
    site = Site(tmp_path)
    (tmp_path / "lite").mkdir()
    build.write_exercises(site, ["02_bptt"])
    links = lambda stem: soup_of(tmp_path / f"exercises/{stem}.html").find_all("a", string="try it here")
    assert {link["href"] for link in links("02_bptt")} == {"../lite/lab/index.html?path=work/02_bptt.ipynb"}
    assert len(links("02_bptt")) == 1 + len(answers("bptt")), "one a page, and one at each exercise"


def test_the_font_of_the_formulas_has_all_their_letters():
    font = TTFont(OWN / "assets/mathematics.woff").getBestCmap()
    letters = set()
    for path in (*ROOT.glob("notebooks/*.ipynb"), *ROOT.glob("exercises/*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "markdown" and "$" in cell.source:
                page = BeautifulSoup(Prose(lambda url: url).html(cell.source), "html.parser")
                letters |= {letter for formula in page.find_all("math") for letter in formula.text}
    assert len(letters) > 50
    assert {letter for letter in letters if ord(letter) not in font and letter.strip()} == set()
    assert {0x1D44E, 0x1D6FD, 0x210E} <= font.keys(), "a letter that stands alone is drawn in italics"


def soup_of(path):
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def test_no_page_calls_a_lesson_by_the_name_of_its_file(site):
    for page in verify.pages_of(site):
        if page.parent.name == "records" or page.parent.name == "documents":
            continue  # prose of its own, and what was measured
        soup = soup_of(page)
        places = [soup.title, *soup.select("h1, .neighbours a, .chapters li > *, .cards a, .cards b, .map a")]
        words = {text.text.partition(" ")[2].split(" · rnnlab")[0].strip() for text in places}
        assert not words & {
            lesson.name.replace("_", " ") for lesson in openings() if lesson.name != "training"
        }


def test_the_front_page_opens_lesson_00_and_maps_every_lesson_with_its_minutes(site):
    soup = soup_of(site / "index.html")
    first, *_ = soup.select(".doors a")
    assert first["href"] == f"lessons/{openings()[0].stem}.html"
    cards = [(card.small.text, card.select_one("a, b").text) for card in soup.select(".cards li")]
    assert cards == [(f"{lesson.number} · {lesson.minutes} min", lesson.title) for lesson in openings()]
    assert all(card.p.text for card in soup.select(".cards li")), "each has its row of README"


def test_a_lesson_names_all_chapters_and_its_own_place(site):
    chapters = soup_of(site / "lessons/02_bptt.html").select(".chapters li")
    assert len(chapters) == len(openings())
    (place,) = (chapter for chapter in chapters if "here" in chapter.get("class", []))
    assert place.a["aria-current"] == "page"
    assert place.a["href"] == "02_bptt.html"
    if not WHOLE:
        assert [bool(chapter.a) for chapter in chapters].count(True) == len(LESSONS)


def test_every_record_has_a_name_of_its_own_in_the_list(site):
    links = BeautifulSoup((site / "records/index.html").read_text(), "html.parser").select("main li a")
    assert len({link.text for link in links}) == len(links) > 1


def test_links_between_files_become_links_between_pages():
    link = lambda url, repository=None: places.page_link(
        url, "notebooks/02_bptt.ipynb", "lessons/02_bptt.html", repository, "v1"
    )
    assert link("03_training.ipynb#a") == "03_training.html#a"
    assert link("../work/02_bptt.ipynb") == "../exercises/02_bptt.html"
    assert link("../docs/halide.md") == "../documents/halide.html"
    assert link("../rnnlab/cells.py") is None
    address = "https://github.com/name/rnnlab"
    assert link("../rnnlab/cells.py", address) == f"{address}/blob/v1/rnnlab/cells.py"
    assert link("https://example.org/") == "https://example.org/"
    missing = lambda absent: places.page_link(
        "03_training.ipynb", "notebooks/a", "lessons/a", None, "v1", absent
    )
    assert missing({"lessons/03_training.html"}) is None
    assert missing({"lessons/04_differentiable_graphs.html"}) == "03_training.html"


def test_a_published_repository_adds_colab_and_binder_and_another_host_does_not():
    services = [*places.services("https://github.com/name/rnnlab", "v1", "notebooks/02_bptt.ipynb")]
    assert [service for _, service in services] == ["Colab", "Binder"]
    assert "github/name/rnnlab/blob/pages/colab/notebooks/02_bptt.ipynb" in services[0][0]
    assert "gh/name/rnnlab/v1?urlpath=lab/tree/notebooks%2F02_bptt.ipynb" in services[1][0]
    assert [*places.services("https://example.org/rnnlab", "v1", "a.ipynb")] == []


def test_colabs_notebook_is_the_lesson_behind_a_cell_that_upgrades_nothing():
    path = ROOT / "notebooks/02_bptt.ipynb"
    book = nbformat.reads(colab_notebook(path, "https://github.com/name/rnnlab", "v1"), as_version=4)
    nbformat.validate(book)
    first, *rest = book.cells
    assert [cell.source for cell in rest] == [cell.source for cell in nbformat.read(path, as_version=4).cells]
    compile(first.source, "set-up", "exec")
    assert "git+https://github.com/name/rnnlab@v1" in first.source
    assert "--no-deps" in first.source
    assert not {"jupyterlab", "ipykernel", "ipywidgets"} & {*first.source.split('"')}


def pages(site):
    """Every page of a whole site, a few of the small one."""
    return [path.relative_to(site).as_posix() for path in verify.pages_of(site)] if WHOLE else PAGES


@pytest.mark.slow
@needs_browser
@needs_axe
@pytest.mark.parametrize(("width", "theme"), [*product(WIDTHS, THEMES)] if WHOLE else LIT)
def test_axe_finds_nothing_and_no_page_is_wider_than_the_window(site, browser, width, theme):
    source, faults = axe_source(), []
    for page in pages(site) if WHOLE else EXAMINED:
        browser.show((site / page).as_uri(), width, theme)
        faults += [(page, *violation) for violation in browser.violations(source)]
        faults += [(page, "scrolls sideways")] * browser.scrolls_sideways()
    assert faults == []


@needs_browser
def test_a_telephone_shows_a_picture_so_that_its_letters_can_be_read_and_the_keyboard_scrolls_it(
    site, browser
):
    stops = []
    for width in WIDTHS[0], WIDTHS[2]:
        browser.show((site / "lessons/02_bptt.html").as_uri(), width)
        box = browser.browser.find_element(By.CSS_SELECTOR, ".shown:has(> img)")
        picture = box.find_element(By.CSS_SELECTOR, "img")
        assert picture.size["width"] >= min(600, int(picture.get_attribute("width")))
        stops.append(box.get_attribute("tabindex"))
    assert stops == ["0", None]


@needs_browser
def test_what_the_keyboard_reaches_is_in_the_window_at_once(site, browser):
    place = "const r = document.activeElement.getBoundingClientRect(); return [r.bottom, innerHeight - r.top]"
    browser.show((site / "lessons/02_bptt.html").as_uri(), WIDTHS[0])
    for _ in range(30):
        browser.press_tab()
        assert min(browser.browser.execute_script(place)) > 0


@needs_browser
def test_no_page_asks_for_anything_outside_its_folder(site, browser):
    browser.requests()
    for page in pages(site):
        browser.show((site / page).as_uri())
    addresses = browser.requests()
    assert len(addresses) > 2 * len(pages(site))
    assert outside(addresses, site) == []


@needs_browser
def test_a_request_outside_the_folder_is_found_and_the_browsers_own_pages_are_not(tmp_path, browser):
    wanted = ["http://127.0.0.1:9/a.png", (tmp_path / "site-2/b.css").as_uri()]
    (tmp_path / "site").mkdir()
    page = tmp_path / "site/page.html"
    inner = "<img src='data:,'><iframe src='about:blank'></iframe>"
    page.write_text(f"{inner}<img src='{wanted[0]}'><link rel=stylesheet href='{wanted[1]}'>")
    browser.requests()
    browser.show(page.as_uri())
    own = ["chrome-untrusted://new-tab-page/one-google-bar", "chrome://new-tab-page/", "devtools://a/b.js"]
    assert sorted(outside([*browser.requests(), *own], tmp_path / "site")) == sorted(wanted)


@needs_browser
def test_the_search_finds_a_section_and_says_how_many(site, browser):
    browser.show((site / "search.html").as_uri())
    field = browser.browser.find_element(By.ID, "search-words")
    field.send_keys("gradient step loss")
    links = browser.browser.find_elements(By.CSS_SELECTOR, "#search-results a")
    assert any("02_bptt.html#" in link.get_attribute("href") for link in links)
    assert "sections hold these words" in browser.browser.find_element(By.ID, "search-status").text
    field.clear()
    field.send_keys("races")
    marks = browser.browser.find_elements(By.CSS_SELECTOR, "#search-results mark")
    assert {mark.text.lower() for mark in marks} == {"race"}, "not the end of trace"
    field.clear()
    field.send_keys("vanishing")
    marks = browser.browser.find_elements(By.CSS_SELECTOR, "#search-results mark")
    assert "vanish" in {mark.text.lower() for mark in marks}
    field.send_keys(" zyxw")
    assert browser.browser.find_element(By.ID, "search-status").text == "0 sections hold these words."


@needs_browser
def test_the_key_slash_reaches_the_search_and_its_words_arrive(site, browser):
    browser.show((site / "lessons/02_bptt.html").as_uri())
    page = browser.browser
    page.find_element(By.TAG_NAME, "body").send_keys("/")
    assert page.switch_to.active_element.get_attribute("id") == "find"
    page.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert page.switch_to.active_element.tag_name == "body"
    page.find_element(By.TAG_NAME, "body").send_keys("/")
    page.switch_to.active_element.send_keys("gradient\n")
    WebDriverWait(page, 20).until(lambda page: page.find_elements(By.CSS_SELECTOR, "#search-results a"))
    assert page.find_element(By.ID, "search-words").get_attribute("value") == "gradient"
    browser.press_tab()
    assert "#" in page.switch_to.active_element.get_attribute("href"), "the first result comes next"


@needs_browser
def test_every_block_of_code_has_a_button_that_copies_its_lines(site, browser):
    browser.show((site / "lessons/02_bptt.html").as_uri())
    script = """navigator.clipboard.writeText = async (text) => { window.taken = text; };
    const blocks = [...document.querySelectorAll("pre.code")];
    blocks[0].querySelector("button.copy").click();
    return [blocks.length, document.querySelectorAll("pre.code > button.copy").length, window.taken]"""
    blocks, buttons, taken = browser.browser.execute_script(script)
    assert blocks == buttons > 5
    assert taken.startswith("import rnnlab\nrnnlab.banner()")


@needs_browser
@pytest.mark.parametrize("width", WIDTHS)
def test_the_list_of_lessons_is_open_where_there_is_room(site, browser, width):
    browser.show((site / "lessons/02_bptt.html").as_uri(), width)
    is_open = browser.browser.execute_script("return document.querySelector('.chapters details').open")
    assert is_open == (width >= 1280)


@needs_browser
def test_the_race_on_the_front_page_is_stepped_through_and_mended_by_the_keyboard(site, browser):
    browser.show((site / "index.html").as_uri(), WIDTHS[0], "dark")
    page = browser.browser
    find = lambda selector: page.find_element(By.CSS_SELECTOR, selector)
    slider = find("#race input[type=range]")
    before = slider.get_attribute("aria-valuetext")
    slider.send_keys(Keys.ARROW_RIGHT)
    WebDriverWait(page, 20).until(lambda _: slider.get_attribute("aria-valuetext") != before)
    is_racy = lambda: bool(page.find_elements(By.CSS_SELECTOR, "#race .pgr-found"))
    places = [is_racy()]
    for place in range(3):
        page.find_elements(By.CSS_SELECTOR, "#race input[type=radio]")[place].send_keys(Keys.ARROW_DOWN)
        assert find("#race [role=status]").text
        places.append(is_racy())
    assert places == [True, True, False, True]


@needs_browser
def test_the_reader_chooses_dark_and_the_keyboard_skips_to_the_text(site, browser):
    browser.show((site / "index.html").as_uri())
    ground = lambda: browser.browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    light = ground()
    browser.browser.find_element(By.CSS_SELECTOR, ".theme select").send_keys("dark")
    assert ground() != light
    browser.browser.execute_script("localStorage.clear(); document.activeElement.blur()")
    browser.show((site / "index.html").as_uri())
    browser.press_tab()
    focused = lambda: browser.browser.switch_to.active_element
    assert focused().get_attribute("class") == "skip"
    focused().send_keys("\n")
    assert browser.browser.current_url.endswith("#main")
