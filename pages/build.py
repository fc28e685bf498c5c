"""All pages of the site: front page, list of lessons, exercises, documents, measurements, search.

Every page is one template around one main part.  A link between files of the clone becomes a link between
pages; a link to a file that has no page leads to the published repository where one is named, and is plain
text elsewhere.
"""

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path, PurePosixPath

import nbformat
from bs4 import BeautifulSoup

from nbjudge.files import ROOT
from pages import moving, places, quiz
from pages.colab import write_colab
from pages.covers import cover
from pages.lite import NotBuilt, add_lite
from pages.notebook import main_part
from pages.opening import Opening, opening
from pages.prose import Prose
from pages.run import STORED, LessonRun, run_lesson
from pages.site import OWN, Site
from rnncourse.checks.answers import ModelAnswer, answers
from rnncourse.paths import NEEDS, list_lessons

EXERCISE_NOTE = (
    "This is the text of the exercises, with their hints. To answer them, and to have answers checked, "
    "<a href='../index.html#your-computer'>start the course</a>."
)
CHECK = re.compile(r"check\((\w+)\)")
NEXT = re.compile(
    r"<p>Next: <a [^>]*>[^<]*</a></p>\n?"
)  # for notebooks: pages have links to their neighbours
DISTURBED = (
    "While this lesson ran, something else was using the cores: times and rates on this page are not those "
    "of a quiet machine, and a verdict that rests on them may be wrong."
)
QUIZ_NOTE = (
    '<p class="quiz-note" hidden>What you answer on this page stays in this browser. '
    '<label><input type="checkbox"> cover each outcome until I have predicted</label> '
    '<button type="button">forget my answers</button></p>'
)


def build(
    folder: Path,
    lessons: list[Path],
    repository: str | None = None,
    tag: str = "main",
    pyodide: list[str] | None = None,
) -> Site:
    """Write the whole site into an empty folder; `lessons` are run first if their results are not stored.

    `pyodide` are addresses of a Pyodide for lessons in the browser; None leaves them out without a word.
    """
    from pages.front import write_front  # counts, with all that the course computes
    from pages.records import write_records  # draws pictures: matplotlib loads for a second

    runs = run_lessons(lessons)  # takes minutes and may fail: until then an older site stays
    if folder.exists():
        shutil.rmtree(folder)
    shutil.copytree(OWN / "assets", folder / "assets")
    left_out = {path.stem for path in all_lessons()} - {path.stem for path in lessons}
    absent = frozenset(f"{kind}/{stem}.html" for kind in ("lessons", "exercises") for stem in left_out)
    site = Site(folder, repository, tag, absent, runs=runs)
    if pyodide is not None:
        try:
            site.browser = add_lite(folder, pyodide)
        except NotBuilt as problem:
            shutil.rmtree(folder / "lite", ignore_errors=True)
            site.browser = f"lite/ is left out: {problem}"
    write_front(site, {stem: str(opening(stem)) for stem in site.disturbed()})
    write_about(site)
    write_lessons(site, site.runs)
    write_exercises(site, list(site.runs))
    write_documents(site)
    write_records(site)
    write_search(site)
    if repository:
        write_colab(folder, repository, tag)
    return site


def run_lessons(lessons: list[Path]) -> dict[str, LessonRun]:
    """Every lesson with its outputs; a line is printed for each while it runs."""
    runs = {}
    for number, path in enumerate(lessons, start=1):
        print(f"{number} of {len(lessons)}, lesson {opening(path.stem)}: ", end="", flush=True)
        runs[path.stem] = run = run_lesson(path, STORED)
        source = f"stored on {run.date}" if run.is_stored else f"{run.seconds:.0f} s"
        print(source + ", disturbed" * run.is_disturbed, flush=True)
    return runs


def write_about(site: Site) -> None:
    """README from its commands on as a document; what stands before is on the front page in other words."""
    text = (ROOT / "README.md").read_text(encoding="utf-8").split("\n## Start", 1)[1]
    prose = site.prose("README.md", "documents/about.html")
    text = "# About the course\n\n## Start" + text
    body = mended_prose(site, "documents/about.html", prose, text)
    site.write("documents/about.html", "About the course", body, prose)


def run_here(site: Site, page: str, stem: str, label: str, folder: str = "notebooks") -> str:
    """The link of a page to a notebook that Python runs in the browser; "" where the site has none."""
    if not (site.folder / "lite").is_dir():
        return ""
    return f'<a href="{site.browser_address(page, stem, folder)}">{label}</a>'


def links_to_neighbours(stems: list[str], number: int) -> dict[str, tuple[str, str] | None]:
    """(address, title) of the pages before and after one of the same kind."""
    before = stems[number - 1] if number else None
    after = next(iter(stems[number + 1 :]), None)
    link = lambda stem: stem and (f"{stem}.html", str(opening(stem)))
    return {"before": link(before), "after": link(after)}


def write_lessons(site: Site, runs: dict[str, LessonRun]) -> None:
    """One page a lesson, and the list of all."""
    stems = [*runs]
    entries = []
    for number, (stem, run) in enumerate(runs.items()):
        page = f"lessons/{stem}.html"
        source = f"notebooks/{stem}.ipynb"
        prose = site.prose(source, page)
        scripts = [quiz.SCRIPT, *([moving.SCRIPT] if moving.add_controls(run.book, site.keep(page)) else [])]
        body = NEXT.sub("", main_part(run.book, prose, site.keep(page), has_quizzes=True))
        copy_notebook(site, source)
        links = links_to_neighbours(stems, number)
        body = body.replace("</h1>", f"</h1>\n{lesson_notes(site, stem, run)}", 1)
        claim = opening(stem).claim or "A lesson of the course rnnlab"
        site.write(page, str(opening(stem)), body, prose, description=claim, scripts=scripts, **links)
        entries.append(list_entry(site, opening(stem)))
    body = f"<h1>Lessons</h1>\n<ul class='map'>{''.join(entries)}</ul>"
    site.write("lessons/index.html", "Lessons", body)


def lesson_notes(site: Site, stem: str, run: LessonRun) -> str:
    """Where the outputs come from, and the ways to run the lesson oneself."""
    services = places.services(site.repository, site.tag, f"notebooks/{stem}.ipynb")
    ways = [
        f'<a href="{stem}.ipynb" download>this notebook</a>',
        f'<a href="../exercises/{stem}.html">its exercises</a>',
        *(f'<a href="{escape(address)}">open in {service}</a>' for address, service in services),
    ]
    ways += filter(None, [run_here(site, f"lessons/{stem}.html", stem, "run it in this browser")])
    outputs = f"Outputs: computed on {escape(run.machine)}, {run.date}, in {run.seconds:.0f} s"
    warning = f'<p class="disturbed">{DISTURBED}</p>' if run.is_disturbed else ""
    notes = f"<p>{outputs}. GPU kernels were simulated.</p><p>{' · '.join(ways)}</p>"
    return f'<div class="notes"><div>{notes}{warning}{QUIZ_NOTE}</div></div>'


def list_entry(site: Site, lesson: Opening) -> str:
    """One entry of the list of lessons: title, minutes, claim and what comes afterwards, in its own words."""
    prose = Prose(lambda url: None)
    claim = prose.html(f"Claim to test: {lesson.claim}") if lesson.claim else ""
    afterwards = prose.html(f"Afterwards you can {lesson.afterwards}") if lesson.afterwards else ""
    link = f'<a href="{lesson.stem}.html">{escape(str(lesson))}</a>'
    picture = cover(lesson, site.keep("lessons/index.html"))
    needs = f" Builds on {list_lessons(NEEDS[lesson.number])}." if lesson.number in NEEDS else ""
    minutes = f"<p>{lesson.minutes} minutes.{needs}</p>"
    return f"<li>{picture}<div><h2>{link}</h2>{minutes}{claim}{afterwards}</div></li>"


def write_exercises(site: Site, stems: list[str]) -> None:
    """The texts of each lesson's exercises, as a learner gets them, and their hints."""
    for number, stem in enumerate(stems):
        source = f"exercises/{stem}.ipynb"
        page = f"exercises/{stem}.html"
        prose = site.prose(source, page)
        book = nbformat.read(ROOT / source, as_version=4)
        try_it = run_here(site, page, stem, "try it here", "work")
        book.cells = [*cells_with_hints(book, answers(opening(stem).name), try_it)]
        body = main_part(book, prose, site.keep(page))
        copy_notebook(site, source)
        ways = [f'<a href="../lessons/{stem}.html">the lesson</a>']
        ways += [f'<a href="{stem}.ipynb" download>this notebook</a>', *filter(None, [try_it])]
        note = f'<div class="notes"><div><p>{EXERCISE_NOTE}</p><p>{" · ".join(ways)}</p></div></div>'
        body = body.replace("</h1>", f"</h1>\n{note}", 1)
        site.write(page, f"Exercises: {opening(stem)}", body, prose, **links_to_neighbours(stems, number))


def cells_with_hints(
    book: nbformat.NotebookNode, known: Mapping[str, ModelAnswer], try_it: str
) -> Iterator[nbformat.NotebookNode]:
    """The cells of a notebook of exercises, behind each check the hints, folded one into the other."""
    for cell in book.cells:
        yield cell
        match = CHECK.fullmatch(cell.source.strip())
        if cell.cell_type == "code" and match and match[1] in known:
            hints = known[match[1]].hints
            folds = ""
            for number in range(len(hints), 0, -1):
                summary = f"<summary>Hint {number} of {len(hints)}</summary>"
                folds = f"<details>{summary}\n\n{hints[number - 1]}\n\n{folds}\n\n</details>"
            yield nbformat.v4.new_markdown_cell(f"{try_it}\n\n{folds}")


def write_documents(site: Site) -> None:
    """docs/*.md, CHANGELOG.md and CONTRIBUTING.md as pages, and their list with first sentences."""
    entries = ['<li><a href="about.html">About the course</a></li>']
    for source, page in places.documents(ROOT):
        prose = site.prose(source, page)
        text = (ROOT / source).read_text(encoding="utf-8")
        body = mended_prose(site, page, prose, text)
        title = prose.sections[0].title
        site.write(page, title, body, prose)
        link = f'<a href="{PurePosixPath(page).name}">{escape(title)}</a>'
        entries.append(f"<li>{link}<p>{escape(first_sentence(body))}</p></li>")
    body = f"<h1>Documents</h1>\n<ul>{''.join(entries)}</ul>"
    site.write("documents/index.html", "Documents", body)


def first_sentence(body: str) -> str:
    """The first sentence of a page's first paragraph; empty for a page without prose."""
    paragraph = BeautifulSoup(body, "html.parser").find("p")
    text = " ".join(paragraph.get_text().split()) if paragraph else ""
    return re.split(r"(?<=[.:]) (?=[A-Z✔])", text, maxsplit=1)[0]


def write_search(site: Site) -> None:
    """The page that searches, and the sections that it searches in."""
    sections = json.dumps(site.sections, ensure_ascii=False, separators=(",", ":"))
    index = site.folder / "assets/search-index.js"
    index.write_text(f"window.RNNLAB_SECTIONS = {sections};\n", encoding="utf-8")
    body = (OWN / "template/search.html").read_text(encoding="utf-8")
    site.write("search.html", "Search", body, scripts=["assets/search-index.js", "assets/search.js"])


def mended_prose(site: Site, page: str, prose: Prose, text: str) -> str:
    """The HTML of a Markdown file of the clone, with its pictures copied to the site."""
    from pages.mend import mended

    def relink(url: str) -> str | None:
        source = (ROOT / prose.base / url).resolve()
        return site.keep(page)(source.read_bytes(), source.suffix[1:]) if source.is_file() else None

    return mended(prose.html(text), site.keep(page), relink)


def copy_notebook(site: Site, source: str) -> None:
    """Put a notebook beside its page, to be downloaded."""
    folder = {"notebooks": "lessons", "exercises": "exercises"}[source.split("/")[0]]
    target = site.folder / folder / PurePosixPath(source).name
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(ROOT / source, target)


def all_lessons() -> Iterator[Path]:
    """Every lesson of the clone, in order."""
    yield from sorted(ROOT.glob("notebooks/*.ipynb"))
