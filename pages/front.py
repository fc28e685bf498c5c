"""The front page: what the course is, a race to mend, doors, what was measured, the map of lessons.

Every number on it is counted here, or read from a record or a source of the course, while the site is built.
"""

import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import NamedTuple

from bench import timeline_figures
from nbjudge.authoring.percent import parse
from nbjudge.files import ROOT
from pages import places, race
from pages.covers import cover
from pages.opening import Opening, openings
from pages.site import Site
from rnncourse import checks, records
from rnncourse.paths import cell_backwards
from rnncourse.records import cpu_report
from rnnlab import reference

TITLE = "Making recurrent networks fast"
NO_GPU = "; on a GPU, the course itself has measured nothing yet"
MOVING = ROOT / "docs/race.svg"  # the same race as README's picture
STEPS = 64  # of the sequence whose cell-backwards are counted
ROW = re.compile(
    r"^\| \d\d \| \[[^]]+\]\(notebooks/(\w+)\.ipynb\) \| (.+?) \| [\d, ]*\| [\d.]+ \| *\d+ *\|$", re.M
)
ACTS = (
    ("00_start_here", "It computes, it learns", "What a step is, and how a gradient finds its way back."),
    ("05_gemm_shapes", "All of a processor", "Where the time goes when arithmetic is not to blame."),
    ("09_cuda_first_kernels", "A chip of your own", "From a first kernel to weights that stay on the chip."),
)
ABILITIES = (  # what a reader can do at the end, and the lesson that teaches it
    ("02_bptt", "write back-propagation through time in one sweep, and test any gradient"),
    ("04_differentiable_graphs", "read gradients, and what must be saved for them, off a picture of a cell"),
    ("08_packed_products", "write a matrix product in Python that stands beside the BLAS"),
    ("09_cuda_first_kernels", "count what a GPU kernel reads and find its races, without a GPU"),
    ("14_network_schedule", "schedule a network of several layers so that little of it waits"),
    ("15_persistent_rnn", "write a persistent kernel, which keeps the weights on the chip"),
    ("18_parallel_in_time", "compute all time steps of a network at once, and tell when that fails"),
)


class KeyFigure(NamedTuple):
    """A number in large type, the sentence that says what it is, and a link to where it comes from."""

    number: str
    text: str
    target: str  # page of the site
    source: str  # text of the link


class Door(NamedTuple):
    """A way into the course."""

    address: str
    text: str


def write_front(site: Site, disturbed: Mapping[str, str]) -> None:
    """The front page; `disturbed` are the lessons, {stem: title}, whose measurements something disturbed."""
    body = site.environment.get_template("front.html.j2").render(
        title=TITLE, picture=MOVING.read_text(encoding="utf-8"), race=race.draw(),
        doors=[*doors(site)], acts=[*acts(site)], disturbed=disturbed,
        figures=[*key_figures(site)], abilities=[*abilities()], repository=site.repository, hours=hours(),
        tag=site.tag, linked=site.has, cover=lambda lesson: cover(lesson, site.keep("index.html")),
    )  # fmt: skip
    description = (
        "A course in notebooks: recurrent networks from NumPy to kernels that keep weights on a GPU."
    )
    site.write("index.html", TITLE, body, kind="front", description=description)
    text = " ".join(f"{lesson.title}: {row}" for lesson in openings() if (row := rows().get(lesson.stem)))
    site.sections.append({"page": TITLE, "title": "The lessons", "url": "index.html", "text": text})


def doors(site: Site) -> Iterator[Door]:
    """The ways in that this site has, the nearest first."""
    first = openings()[0]
    page = f"lessons/{first.stem}.html"
    if site.has(page):
        yield Door(page, f"Start with lesson {first.number}")
    if (site.folder / "lite").is_dir():
        yield Door(site.browser_address("index.html", first.stem), "Open in the browser, nothing to install")
    for address, service in places.services(site.repository, site.tag, f"notebooks/{first.stem}.ipynb"):
        yield Door(address, f"Open in {service}")
    yield Door("#race", "Find a race, here")
    yield Door("#your-computer", "On your computer")


def acts(site: Site) -> Iterator[tuple[str, str, list[tuple[Opening, str, str]]]]:
    """(title, sentence, lessons) of each act; a lesson with its page or "", and its row of README."""
    begins = {name: (title, description) for name, title, description in ACTS}
    lessons = openings()
    first = [place for place, lesson in enumerate(lessons) if lesson.stem in begins]
    for begin, end in zip(first, [*first[1:], len(lessons)], strict=True):
        page = {lesson.stem: f"lessons/{lesson.stem}.html" for lesson in lessons[begin:end]}
        cards = [
            (lesson, page[lesson.stem] if site.has(page[lesson.stem]) else "", rows().get(lesson.stem, ""))
            for lesson in lessons[begin:end]
        ]
        yield *begins[lessons[begin].stem], cards


def rows() -> dict[str, str]:
    """{stem of a lesson: what one builds or finds out there}, from the course map of README."""
    return dict(ROW.findall((ROOT / "README.md").read_text(encoding="utf-8")))


def abilities() -> Iterator[tuple[str, Opening]]:
    """(what a reader can do, the lesson that teaches it); KeyError for a lesson that is gone."""
    by_stem = {lesson.stem: lesson for lesson in openings()}
    yield from ((ability, by_stem[stem]) for stem, ability in ABILITIES)


def hours() -> int:
    """Hours that all lessons take, by their own lines of time."""
    return round(sum(lesson.minutes for lesson in openings()) / 60)


def key_figures(site: Site) -> Iterator[KeyFigure]:
    """What was counted and measured, each with its source; a figure without a source is left out."""
    quadratic, linear = (
        cell_backwards(sweep, STEPS) for sweep in (reference.bptt_quadratic, reference.bptt_linear)
    )
    lesson = next(lesson for lesson in openings() if lesson.name == "bptt")
    yield KeyFigure(
        f"{quadratic:,} → {linear}",
        f"cells run backward for the same gradients of {STEPS} steps: as several tutorials write it, and as "
        "you will",
        f"lessons/{lesson.stem}.html",
        f"lesson {lesson.number}",
    )
    if record := cpu_report.newest():
        yield from speed(record, f"records/{records.place(record).stem}.html")
    figures = timeline_figures.lines()
    yield KeyFigure(
        f"{sum(line.is_close for line in figures)} of {len(figures)}",
        f"published times on GPUs, predicted within {timeline_figures.CLOSE * 100:.0f} % from a data sheet"
        f"{NO_GPU if not measured_gpus() else ''}",
        "documents/no_gpu.html",
        "how",
    )
    exercises = sum(len(checks.catalogue(lesson)) for lesson in checks.LESSONS)
    yield KeyFigure(
        str(exercises),
        f"exercises, judged at once; {mistakes()} known mistakes are named when you make them",
        "lessons/index.html",
        "the lessons",
    )


def speed(record: dict, page: str) -> Iterator[KeyFigure]:
    """The fastest rung beside PyTorch, over all sizes of a record."""
    ratios = cpu_report.speeds_over_pytorch(record)
    if ratios:
        machine = f"{record['machine']['processor']}, {record['machine']['cores']} cores"
        yield KeyFigure(
            f"{cpu_report.geometric_mean(ratios):.1f} ×",
            f"as fast as PyTorch: a training step, in the geometric mean of {len(ratios)} cells and sizes "
            f"({min(ratios):.2f} to {max(ratios):.0f}), by the fastest implementation that the lessons take "
            f"apart ({escape(machine)})",
            page,
            record["date"][:10],
        )


def measured_gpus() -> int:
    """How many records were made on a GPU."""
    return sum("gpu" in records.read(path)["machine"] for path in records.stored())


def mistakes() -> int:
    """Mistakes that the texts of all exercises name."""
    files = [*ROOT.glob("solutions/source/*.py"), *ROOT.glob("solutions/source/*/*.py")]
    cells = (cell for file in files for cell in parse(file.read_text(encoding="utf-8"), file.name))
    return sum(cell.kind == "mistake" for cell in cells)
