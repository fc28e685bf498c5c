"""The report on a class: one static page for the teacher, and one page for each student to get back.

The pages hold no script and load nothing, so that they can be read from a disk, printed and mailed. A
student's page has the verdicts in the words of `check`, and never an answer, a seed or another student.
"""

import hashlib
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from nbjudge.classroom.report_summary import GROUP_OF, GROUPS, Mistake, Paper, Papers, summarise
from nbjudge.classroom.similar import Findings, answer_text
from nbjudge.classroom.submissions import Submission
from nbjudge.course import current
from nbjudge.lesson_names import lesson_title
from nbjudge.printable import printable, quantity

# an id that is a file's name on every system, and no name that `page_name` makes up
PLAIN_NAME = re.compile(r"(?!.*--)(?!(?:con|prn|aux|nul|com\d|lpt\d)$)[a-z0-9][a-z0-9_-]{0,63}")


def report_pages(
    papers: Papers,
    withheld: Sequence[Submission],
    folder: Path,
    names: bool = False,
    grader: str = "",
) -> dict[Path, bytes]:
    """{file in `folder`: its content}: a page for each student, and the class page as the last."""
    by_student = defaultdict(list)
    for paper in papers:
        by_student[paper.student].append(paper)
    pages = {student: f"students/{page_name(student)}" for student in by_student}
    files = {folder / pages[student]: student_page(own).encode() for student, own in by_student.items()}
    graded = [paper for paper in papers if not paper.problem]
    page = class_page(graded, withheld, names, grader, pages)
    return files | {folder / "class.html": page.encode()}


def class_page(
    papers: Papers,
    withheld: Sequence[Submission],
    names: bool = False,
    grader: str = "",
    pages: dict[str, str] | None = None,
) -> str:
    """The HTML of the teacher's page; `pages` are the addresses of the students' own."""
    counts = Counter(paper.lesson for paper in papers)
    in_turn = sorted(lessons_of(papers), key=lambda lesson: -counts[lesson])  # the one of most papers first
    lessons = [summarise(lesson, papers) for lesson in in_turn]
    graded = {paper.student for paper in papers}
    without = {entry.student: entry for entry in withheld if entry.student and entry.student not in graded}
    size = f" of {quantity(len(graded | {*without}), 'student')}"
    size += f", {len(graded)} of them graded" if graded else ": no submission could be graded"
    return _render(
        "class_report.html",
        title=f"Report on a class{size}",
        lessons=lessons,
        example=_example,
        groups=GROUPS,
        withheld=withheld,
        without=[*without.values()],
        names=names,
        grader=grader,
        pages=pages or {},
    )


def student_page(papers: Papers) -> str:
    """The HTML of the page that one student gets back."""
    in_turn = [paper for lesson in lessons_of(papers) for paper in papers if paper.lesson == lesson]
    return _render("student.html", papers=in_turn, group_of=GROUP_OF)


def old_pages(folder: Path, papers: Iterable[Paper]) -> int:
    """Pages in a report's folder that an earlier report wrote, of students who are not in this one."""
    present = {page_name(paper.student) for paper in papers}
    return sum(path.name not in present for path in (folder / "students").glob("*.html"))


def similar_page(findings: Sequence[Findings], names: bool) -> str:
    """The HTML of the page on signs of copying."""
    return _render("similar.html", lessons=findings, names=names)


def lessons_of(papers: Iterable[Paper]) -> list[str]:
    """The lessons of some papers, in the order of the course."""
    return sorted({paper.lesson for paper in papers}, key=list(current().lessons).index)


def page_name(student: str) -> str:
    """The file of a student's page: the id where that can be a file's name, else one with a hash of it.

    Ids that differ by capital letters alone are one name on some systems; the hash keeps them apart.
    """
    if PLAIN_NAME.fullmatch(student):
        return f"{student}.html"
    legible = re.sub(r"[^a-z0-9]+", "-", student.lower()).strip("-")[:40]
    return f"{legible}--{hashlib.sha256(student.encode(errors='surrogatepass')).hexdigest()[:12]}.html"


def _example(mistake: Mistake) -> str:
    """An answer with the mistake; empty where none can be read."""
    return answer_text(Path(mistake.file), mistake.exercise)


@cache
def templates() -> Environment:
    """The templates of all pages; text is escaped, and a misspelt variable is an error."""
    loader = PackageLoader("nbjudge.classroom", "pages")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        finalize=lambda value: printable(value) if type(value) is str else value,
    )  # fmt: skip
    environment.filters["title_of"] = lesson_title
    environment.filters["pre"] = lambda text: Markup("<pre>") + escape(text) + Markup("</pre>")
    return environment


def _render(template: str, **values) -> str:
    return templates().get_template(template).render(date=time.strftime("%Y-%m-%d %H:%M"), **values)
