"""A site while it is built, and how its pages are written."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import jinja2

import rnnlab
from nbjudge.files import write_whole
from pages import places
from pages.opening import Opening, openings
from pages.prose import Prose
from pages.run import LessonRun

OWN = Path(__file__).parent
MENU = (
    ("lessons/index.html", "Lessons"),
    ("documents/index.html", "Documents"),
    ("records/index.html", "Measurements"),
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
    runs: dict[str, LessonRun] = field(default_factory=dict)  # of each lesson that has a page

    def __post_init__(self) -> None:
        self.environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(OWN / "template"), trim_blocks=True
        )
        self.template = self.environment.get_template("page.html.j2")

    def has(self, page: str) -> bool:
        """Whether this site has a page of a lesson, or any other page."""
        return page not in self.absent

    def browser_address(self, page: str, stem: str, folder: str = "notebooks") -> str:
        """The address, from a page, of a notebook that Python runs in the browser."""
        return f"{up_from(page)}lite/lab/index.html?path={folder}/{stem}.ipynb"

    def chapters(self, page: str) -> list[tuple[Opening, str, bool]]:
        """(lesson, its page of the same kind or "", whether it is this one), beside a lesson or exercises."""
        folder, _, name = page.rpartition("/")
        if folder not in ("lessons", "exercises") or name == "index.html":
            return []
        stem = name.removesuffix(".html")

        def address(lesson):
            return f"{lesson.stem}.html" if self.has(f"{folder}/{lesson.stem}.html") else ""

        return [(lesson, address(lesson), lesson.stem == stem) for lesson in openings()]

    def disturbed(self) -> list[str]:
        """Lessons whose stored outputs say that something else was using the cores."""
        return [stem for stem, run in self.runs.items() if run.is_disturbed]

    def prose(self, source: str, page: str) -> Prose:
        """The renderer for a file of the clone that becomes that page."""

        def link(url):
            return places.page_link(url, source, page, self.repository, self.tag, self.absent)

        return Prose(link, PurePosixPath(source).parent)

    def keep(self, page: str) -> Callable[[bytes, str], str]:
        """A function that stores a picture or a script with frames, and answers with its address."""

        def store(content: bytes, kind: str) -> str:
            folder = "frames" if kind == "js" else "pictures"
            name = f"{folder}/{hashlib.sha256(content).hexdigest()[:16]}.{kind}"
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
            {"page": title, "title": s.title, "url": f"{page}#{s.anchor}", "text": " ".join(s.lines)}
            for s in sections
            if s.anchor
        ]
        contents = [s for s in sections if s.anchor and s.level == 2]
        text = self.template.render(
            title=title, body=body, page=page, up=up_from(page), menu=MENU, version=rnnlab.__version__,
            sections=contents if len(contents) > 2 else [], chapters=self.chapters(page),
            **{"description": title, "kind": "", "scripts": [], "before": None, "after": None, **more},
        )  # fmt: skip
        path = self.folder / page
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text.encode())


def up_from(page: str) -> str:
    """The way from a page to the site's first folder: "" or "../"."""
    return "../" * page.count("/")
