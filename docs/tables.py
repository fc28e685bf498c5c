"""Tables of the lessons in pages of prose: README's ways in and course map, and those of docs/teachers.md.
Beside them the minutes of each lesson, as its source states them, in rnncourse/lesson_minutes.json.

A table stands between `<!-- built: KIND -->` and `<!-- built: end -->`; `python -m rnncourse.build` writes it
anew from the lessons and exercises.  The lessons of a syllabus are the author's; its minutes are counted.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from rnncourse.checks import LESSONS
from rnncourse.checks.answers import ModelAnswer
from rnncourse.lab.work import REPOSITORY
from rnncourse.paths import MINUTES, NEEDS, PATHS, cell_backwards, list_lessons
from rnncourse.records import cpu_report
from rnnlab import reference

Answers = Mapping[str, Sequence[ModelAnswer]]  # of each lesson
PAGES = "README.md", "docs/teachers.md"
END = "<!-- built: end -->"
TABLE = re.compile(rf"<!-- built: ([a-z ]+) -->\n(.*?){END}", re.S)
SENTENCE = re.compile(r"\A# Course map: (.+)$", re.M)  # of a lesson's source, what its row says
TITLE = re.compile(r"^# # (\d\d) · (.+)$", re.M)
TIME = re.compile(r"\*\*Time:\*\* (\d+) minutes")
LONGEST_EXAM = 25  # minutes of an exercise
STEPS = 64  # of the sequence whose cells are counted
FIRST = f"notebooks/{next(iter(LESSONS.values()))}.ipynb"


def pages(root: Path, answers: Answers) -> dict[Path, bytes]:
    """{path: content} of the pages that are there, with their tables made anew."""
    paths = [path for name in PAGES if (path := root / name).exists()]
    if not paths:
        return {}
    names = {lesson: root / f"notebooks/source/{stem}.py" for lesson, stem in LESSONS.items()}
    sources = {lesson: path.read_text(encoding="utf-8") for lesson, path in names.items()}

    def table(match: re.Match) -> str:
        kind, before = match.groups()
        return f"<!-- built: {kind} -->\n{TABLES[kind](sources, answers, before)}{END}"

    tables = {path: TABLE.sub(table, path.read_text(encoding="utf-8")).encode() for path in paths}
    minutes = f"{json.dumps(minutes_by_number(sources), indent=1)}\n"
    return tables | {root / "rnncourse" / MINUTES.name: minutes.encode()}


def minutes_by_number(sources: Mapping[str, str]) -> dict[str, int]:
    """{number: minutes} of every lesson."""
    return {stem[:2]: stated_minutes(sources[lesson]) for lesson, stem in LESSONS.items()}


def stated_minutes(source: str) -> int:
    """The minutes that a lesson's source says it takes."""
    return int(TIME.search(source)[1])


def ways_in(repository: str) -> str:
    """README's line for a person without a clone, with links once the course is published."""
    if not repository:
        return "Run these two commands in this folder.\n"
    command = f"git clone {repository} rnnlab && cd rnnlab && make lab"
    clone = f"If you have no clone yet: `{command}`."
    owner, name = repository.removeprefix("https://github.com/").split("/")
    site = f"https://{owner}.github.io/{name}/"  # of the branch `pages`
    colab, binder = "https://colab.research.google.com/github", "https://mybinder.org/v2/gh"
    links = {
        "read the site": site,
        "lesson 00 in this browser": f"{site}lite/lab/index.html?path={FIRST}",
        "in Colab": f"{colab}/{owner}/{name}/blob/pages/colab/{FIRST}",
        "on Binder": f"{binder}/{owner}/{name}/main?urlpath=lab/tree/{quote(FIRST, safe='')}",
    }
    row = " · ".join(f"[{label}]({address})" for label, address in links.items())
    return f"{clone} With nothing installed:\n{row}\n"


def _course_map(sources: Mapping[str, str], answers: Answers, before: str) -> str:
    rows = []
    for lesson, stem in LESSONS.items():
        number, title = TITLE.search(sources[lesson]).groups()
        sentence = SENTENCE.search(sources[lesson])
        if sentence is None:
            raise ValueError(f"notebooks/source/{stem}.py does not begin with a line '# Course map: …'")
        hours = f"{stated_minutes(sources[lesson]) / 60:.1f}"
        needs = ", ".join(sorted(NEEDS.get(number, ())))
        link = f"[{title}](notebooks/{stem}.ipynb)"
        rows.append([number, link, sentence[1], needs, hours, len(answers[lesson])])
    return _table(["#", "lesson", "what you build or find out", "needs", "hours", "exercises"], rows)


def _figures(sources: Mapping[str, str], answers: Answers, before: str) -> str:
    every = [answer for own in answers.values() for answer in own]
    minutes = minutes_by_number(sources)
    sweeps = reference.bptt_quadratic, reference.bptt_linear
    quadratic, linear = (cell_backwards(sweep, STEPS) for sweep in sweeps)
    row = [
        f"**{quadratic:,} → {linear}** cells run backward for the same gradients of {STEPS} steps",
        f"**{len(every)} exercises** judged at once, {sum(len(a.mutants) for a in every)} mistakes named",
        f"**{sum(minutes.values()) / 60:.0f} hours**, the first path {PATHS['understand'].hours(minutes)[1]}",
        "**0 GPUs** needed: a simulator counts accesses and finds races",
    ]
    if record := cpu_report.newest():
        ratios = cpu_report.speeds_over_pytorch(record)
        span = f"{min(ratios):.2f} to {max(ratios):.0f}"
        mean = f"{cpu_report.geometric_mean(ratios):.1f} times"
        where = f"geometric mean of {len(ratios)} cells and sizes ({span}), measured {record['date'][:10]}"
        row.insert(1, f"**{mean}** PyTorch's speed in a training step on a CPU: {where}")
    return " · ".join(row) + "\n"


def _paths(sources: Mapping[str, str], answers: Answers, before: str) -> str:
    rows = []
    for name, path in PATHS.items():
        own, every = path.hours(minutes_by_number(sources))
        lessons, needs = list_lessons(path.lessons), list_lessons(path.outside())
        rows.append([f"to {path.aim}", lessons, own, needs, every, f"`paths.test({name!r})`"])
    return _table(["three paths", "lessons", "hours", "they need", "hours in all", "may I skip it?"], rows)


def _lessons(sources: Mapping[str, str], answers: Answers, before: str) -> str:
    rows = []
    for lesson in LESSONS:
        own = answers[lesson]
        varying = ", ".join(f"`{answer.name}` ({_variants(answer)})" for answer in own if answer.variants)
        same = ", ".join(f"`{answer.name}`" for answer in own if not answer.variants)
        alone, points = sum(answer.minutes for answer in own), sum(answer.points for answer in own)
        rows.append([_title(sources[lesson]), stated_minutes(sources[lesson]), alone, points, varying, same])
    head = ["lesson", "minutes", "alone", "points", "with variants (one of how many)", "the same for all"]
    return _table(head, rows)


def _exam(sources: Mapping[str, str], answers: Answers, before: str) -> str:
    rows = [
        [f"`{answer.name}`", _title(sources[lesson]), answer.minutes, answer.points, _variants(answer)]
        for lesson in LESSONS
        for answer in answers[lesson]
        if answer.variants and answer.difficulty in (2, 3) and answer.minutes <= LONGEST_EXAM
    ]
    return _table(["exercise", "lesson", "minutes", "points", "one of"], rows)


def _syllabus(sources: Mapping[str, str], answers: Answers, before: str) -> str:
    """The weeks and lessons that stood there, by number, with the titles and minutes that they have now."""
    by_number = {stem[:2]: lesson for lesson, stem in LESSONS.items()}
    rows = []
    for line in before.splitlines()[2:]:
        week, lessons, _ = (cell.strip() for cell in line.strip("|").split("|"))
        chosen = [sources[by_number[number]] for number in re.findall(r"\b\d\d\b", lessons)]
        rows.append([week, " and ".join(map(_title, chosen)), sum(map(stated_minutes, chosen))])
    return _table(["week", "lessons", "minutes"], rows)


TABLES: dict[str, Callable[..., str]] = {
    "ways in": lambda sources, answers, before: ways_in(REPOSITORY),
    "course map": _course_map,
    "lessons": _lessons,
    "figures": _figures,
    "paths": _paths,
    "exam": _exam,
    "syllabus": _syllabus,
}


def _variants(answer: ModelAnswer) -> int:
    return len(answer.variants) + 1


def _title(source: str) -> str:
    return " ".join(TITLE.search(source).groups())


def _table(head: list[str], rows: Iterable[Iterable[object]]) -> str:
    first, *others = (f"| {' | '.join(map(str, row))} |\n" for row in (head, *rows))
    return "".join([first, f"|{'---|' * len(head)}\n", *others])
