"""All pages of the site: start, map, lessons, exercises, documents, measurements, search.

Every page is one template around one main part.  A link between files of the clone becomes a link between
pages; a link to a file that has no page leads to the published repository where one is named, and is plain
text elsewhere.
"""

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path, PurePosixPath

import jinja2
import nbformat

import rnnlab
from nbjudge.files import ROOT, write_whole
from pages import places
from pages.colab import write_colab
from pages.lite import NotBuilt, add_lite
from pages.notebook import main_part
from pages.prose import Prose
from pages.run import Run, run_lesson

OWN = Path(__file__).parent
FIRST = "00_start_here"
MENU = (
    ("lessons/index.html", "Lessons"),
    ("documents/index.html", "Documents"),
    ("records/index.html", "Measurements"),
    ("search.html", "Search"),
)
EXERCISE_NOTE = (
    "This is the text of the exercises. To answer them, and to have answers checked, "
    "<a href='../index.html#ways-in'>start the course</a>."
)


@dataclass
class Site:
    """A site while it is built: its folder, its options, and the sections that the search will find."""

    folder: Path
    repository: str | None = None  # address of the published clone, such as https://github.com/name/rnnlab
    tag: str = "main"
    absent: frozenset[str] = frozenset()  # pages of lessons that this site leaves out
    sections: list[dict] = field(default_factory=list)
    browser: str = ""  # what became of the lessons in the browser

    def __post_init__(self) -> None:
        loader = jinja2.FileSystemLoader(OWN / "template")
        self.template = jinja2.Environment(loader=loader, trim_blocks=True).get_template("page.html.j2")

    def prose(self, source: str, page: str) -> Prose:
        """The renderer for a file of the clone that becomes that page."""
        link = lambda url: places.page_link(url, source, page, self.repository, self.tag, self.absent)
        return Prose(link, PurePosixPath(source).parent)

    def keep(self, page: str) -> Callable[[bytes, str], str]:
        """A function that stores a picture of a page and answers with its address from there."""

        def store(content: bytes, kind: str) -> str:
            name = f"pictures/{hashlib.sha256(content).hexdigest()[:16]}.{kind}"
            path = self.folder / name
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            return up_from(page) + name

        return store

    def write(self, page: str, title: str, body: str, prose: Prose | None = None, **more: object) -> None:
        """Write one page, and note its sections for the search."""
        sections = prose.sections if prose else []
        self.sections += [
            {"page": title, "title": s.title, "url": f"{page}#{s.anchor}", "words": " ".join(s.words)}
            for s in sections
            if s.anchor
        ]
        contents = [s for s in sections if s.anchor and s.level == 2]
        text = self.template.render(
            title=title, body=body, page=page, up=up_from(page), menu=MENU, version=rnnlab.__version__,
            sections=contents if len(contents) > 2 else [],
            **{"description": title, "scripts": [], "before": None, "after": None, **more},
        )  # fmt: skip
        path = self.folder / page
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode())


def up_from(page: str) -> str:
    """The way from a page to the site's first folder: "" or "../"."""
    return "../" * page.count("/")


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
    from pages.records import write_records  # draws pictures: matplotlib loads for a second

    if folder.exists():
        shutil.rmtree(folder)
    shutil.copytree(OWN / "assets", folder / "assets")
    left_out = {path.stem for path in all_lessons()} - {path.stem for path in lessons}
    absent = frozenset(f"{kind}/{stem}.html" for kind in ("lessons", "exercises") for stem in left_out)
    site = Site(folder, repository, tag, absent)
    if pyodide is not None:
        try:
            site.browser = add_lite(folder, pyodide)
        except NotBuilt as problem:
            shutil.rmtree(folder / "lite", ignore_errors=True)
            site.browser = f"lite/ is left out: {problem}"
    runs = {path.stem: run_lesson(path, ROOT / "build/lessons") for path in lessons}
    write_start(site)
    write_lessons(site, runs)
    write_exercises(site, list(runs))
    write_documents(site)
    write_records(site)
    write_search(site)
    if repository:
        write_colab(folder, repository, tag)
    return site


def write_start(site: Site) -> None:
    """The start page: README as far as the course map; the rest of it is a document."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    start, rest = text.split("\n## Without a GPU", 1)
    for page, title, part in (
        ("index.html", "rnnlab", start),
        ("documents/about.html", "About the course", "# About the course\n\n## Without a GPU" + rest),
    ):
        prose = site.prose("README.md", page)
        body = mended_prose(site, page, prose, part)
        if page == "index.html" and (link := run_here(site, page, FIRST, "Begin lesson 00 in this browser")):
            body = body.replace(
                "</h1>", f"</h1>\n<div class='facts'><p>{link}: nothing is installed.</p></div>", 1
            )
        site.write(page, title, body, prose)


def run_here(site: Site, page: str, stem: str, words: str) -> str:
    """The link of a page to a lesson that Python runs in the browser; "" where the site has none."""
    if not (site.folder / "lite").is_dir() or stem[:2] > places.LAST_IN_BROWSER:
        return ""
    return f'<a href="{up_from(page)}lite/lab/index.html?path=notebooks/{stem}.ipynb">{words}</a>'


def write_lessons(site: Site, runs: dict[str, Run]) -> None:
    """One page a lesson, and the list of all."""
    stems, rows = [*runs], []
    for number, (stem, run) in enumerate(runs.items()):
        page, source = f"lessons/{stem}.html", f"notebooks/{stem}.ipynb"
        prose = site.prose(source, page)
        body = main_part(run.book, prose, site.keep(page))
        title = prose.sections[0].title
        copy_notebook(site, source)
        facts = lesson_facts(site, stem, run)
        neighbours = {"before": stems[number - 1] if number else None}
        neighbours["after"] = stems[number + 1] if number + 1 < len(stems) else None
        links = {way: stem and (f"{stem}.html", lesson_title(stem)) for way, stem in neighbours.items()}
        body = body.replace("</h1>", f"</h1>\n{facts}", 1)
        site.write(page, title, body, prose, description=first_words(run.book), **links)
        rows.append(map_row(stem, title, run.book))
    body = f"<h1>Lessons</h1>\n<ol class='map' start='0'>{''.join(rows)}</ol>"
    site.write("lessons/index.html", "Lessons", body)


def lesson_facts(site: Site, stem: str, run: Run) -> str:
    """Where the outputs come from, and the ways to run the lesson oneself."""
    ways = [
        f'<a href="{stem}.ipynb" download>this notebook</a>',
        f'<a href="../exercises/{stem}.html">its exercises</a>',
        *places.services(site.repository, site.tag, f"notebooks/{stem}.ipynb"),
    ]
    ways += filter(None, [run_here(site, f"lessons/{stem}.html", stem, "run it in this browser")])
    outputs = f"Outputs: computed on {escape(run.machine)}, {run.date}, in {run.seconds:.0f} s"
    return f'<div class="facts"><p>{outputs}. GPU kernels were simulated.</p><p>{" · ".join(ways)}</p></div>'


def map_row(stem: str, title: str, book: nbformat.NotebookNode) -> str:
    """One entry of the course map: title, claim and what comes afterwards, as the lesson itself says it."""
    opening = book.cells[0].source
    prose = Prose(lambda url: None)
    match = re.search(r"\*\*Claim to test: (.*?)\*\*", opening, re.S)
    claim = prose.html(f"Claim to test: {match[1]}") if match else ""
    after = re.search(r"\*\*Afterwards you can\*\* (.*)", opening)
    afterwards = prose.html(f"Afterwards you can {after[1]}") if after else ""
    words = escape(re.sub(r"^\d+ · ", "", title))
    return f'<li><h2><a href="{stem}.html">{words}</a></h2>{claim}{afterwards}</li>'


def write_exercises(site: Site, stems: list[str]) -> None:
    """The texts of each lesson's exercises, as a learner gets them."""
    for stem in stems:
        source, page = f"exercises/{stem}.ipynb", f"exercises/{stem}.html"
        if not (ROOT / source).exists():
            continue
        prose = site.prose(source, page)
        body = main_part(nbformat.read(ROOT / source, as_version=4), prose, site.keep(page))
        copy_notebook(site, source)
        download = f'<a href="{stem}.ipynb" download>This notebook</a>'
        note = f'<div class="facts"><p>{EXERCISE_NOTE} {download}</p></div>'
        body = body.replace("</h1>", f"</h1>\n{note}", 1)
        title = f"Exercises: {lesson_title(stem)}"
        site.write(page, title, body, prose, before=(f"../lessons/{stem}.html", lesson_title(stem)))


def write_documents(site: Site) -> None:
    """docs/*.md, CHANGELOG.md and CONTRIBUTING.md as pages, and their list."""
    entries = ['<li><a href="about.html">About the course</a></li>']
    for source, page in places.documents(ROOT):
        prose = site.prose(source, page)
        text = (ROOT / source).read_text(encoding="utf-8")
        body = mended_prose(site, page, prose, text)
        title = prose.sections[0].title
        site.write(page, title, body, prose)
        entries.append(f'<li><a href="{PurePosixPath(page).name}">{escape(title)}</a></li>')
    body = f"<h1>Documents</h1>\n<ul>{''.join(entries)}</ul>"
    site.write("documents/index.html", "Documents", body)


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


def lesson_title(stem: str) -> str:
    """ "02 · bptt" from 02_bptt."""
    number, _, name = stem.partition("_")
    return f"{number} · {name.replace('_', ' ')}"


def first_words(book: nbformat.NotebookNode) -> str:
    """The claim of a lesson, for those who find the page by a search engine."""
    match = re.search(r"\*\*Claim to test: (.*?)\*\*", book.cells[0].source, re.S)
    return " ".join(match[1].split()) if match else "A lesson of the course rnnlab"


def all_lessons() -> Iterator[Path]:
    """Every lesson of the clone, in order."""
    yield from sorted(ROOT.glob("notebooks/*.ipynb"))
