"""The report on a class: statistics against counts by hand, pages against hostile text and axe-core."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from page_browser import THEMES, PageBrowser, axe_source, needs_axe, needs_browser
from values_in import holds

from nbjudge.classroom import exported, report, report_summary, similar
from nbjudge.classroom.report_summary import Mark, Paper
from nbjudge.classroom.submissions import Submission
from nbjudge.finding.notebook import Notebook
from nbjudge.finding.reading import parse
from nbjudge.verdict import Status, Verdict

HOSTILE = '</pre><script>alert(1)</script><img src="https://example.org/x">&amp;'
STEP, COUNT, RATE = "last_step", "count_rnn_flops", "measure_gemm"


def verdict(name, status="passed", misconception=None, message="", looks=()):
    points = {STEP: 1, COUNT: 2, RATE: 3}[name]
    earned = points if status == "passed" else 0
    return Verdict(name, Status(status), earned, points, message, misconception, f"hint({name})", 0.1, looks)


def paper(student, *statuses, **more):
    verdicts = [verdict(name, status) for name, status in zip((STEP, COUNT, RATE), statuses, strict=True)]
    return Paper(student, f"Name of {student}", "start_here", tuple(verdicts), **more)


def wrong(student, misconception, message, **more):
    verdicts = (verdict(STEP, "failed", misconception, message), verdict(COUNT), verdict(RATE))
    return Paper(student, "", "start_here", verdicts, **more)


CLASS = [
    paper("ada", "passed", "passed", "passed"),
    paper("bo", "failed", "crashed", "passed"),
    paper("cy", "not_attempted", "not_attempted", "not_attempted"),
    paper("di", "passed", "grader_error", "failed"),
    wrong("ed", "takes the first step", "h[0] is 3, should be 4."),
    wrong("flo", "takes the first step", "h[0] is -12345.25, should be 4."),
    wrong("gus", "takes the last unit", HOSTILE),
]


def test_verdicts_are_counted_by_exercise_and_a_fault_is_no_attempt():
    rows = {row.exercise: row for row in report_summary.verdict_rows(CLASS)}
    assert [*rows] == [STEP, COUNT, RATE]
    assert [*rows[STEP].counts.values()] == [2, 4, 0, 1, 0]
    assert [*rows[COUNT].counts.values()] == [4, 0, 1, 1, 1]
    assert rows[STEP].share == pytest.approx(2 / 6)
    assert rows[COUNT].attempts == 5


def test_misconceptions_come_by_frequency_and_unnamed_ones_last():
    mistakes = report_summary.frequent_mistakes(CLASS)
    assert [(m.exercise, m.misconception, len(m.students)) for m in mistakes if m.is_named] == [
        (STEP, "takes the first step", 2),
        (STEP, "takes the last unit", 1),
    ]
    assert mistakes[0].message == "h[0] is 3, should be 4."
    assert mistakes[0].attempts == 6
    assert {(m.exercise, m.misconception) for m in mistakes[2:]} == {
        (STEP, report_summary.UNNAMED), (COUNT, "was stopped (crashed)"), (RATE, report_summary.UNNAMED),
    }  # fmt: skip


def test_crashes_are_counted_by_their_exception():
    messages = "IndexError: 3 is too large", "IndexError: 4", "KeyError: 'x'", "ended its own process"
    verdicts = [verdict(STEP, "crashed", message=message) for message in messages]
    works = [Paper(f"s{number}", "", "start_here", (v,)) for number, v in enumerate(verdicts)]
    assert [(m.misconception, len(m.students)) for m in report_summary.frequent_mistakes(works)] == [
        ("was stopped (crashed: IndexError)", 2),
        ("was stopped (crashed)", 1),
        ("was stopped (crashed: KeyError)", 1),
    ]


def test_who_solved_less_than_half_of_their_attempts_may_be_stuck():
    stuck = report_summary.stuck_students(CLASS)
    assert [(p.student, len(p.attempts), len(p.unsolved), p.unsolved[0].name) for p in stuck] == [
        ("bo", 3, 2, STEP)
    ]
    assert [p.student for p in report_summary.summarise("start_here", CLASS).untouched] == ["cy"]


def test_points_are_told_and_verdicts_have_bars_as_wide_as_their_share_of_the_class():
    page = report.class_page(CLASS, [])  # 6, 3, 0, 1, 5, 5 and 5 of 6 points
    assert holds(page[page.index("The median is") :][:80], "5", "6", "0", "6")
    rows = {row[:40].split()[0]: row for row in page.split('<th scope="row">')}
    bars = lambda row: re.findall(r'<span class="([\w-]+)" style="width: ([\d.]+)%">', rows[row])
    assert bars(STEP) == [("passed", "28.57"), ("failed", "57.14"), ("not-attempted", "14.29")]


class Page(HTMLParser):
    """Tags, addresses and text of a page."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.addresses, self.content = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href", "action", "srcset")]

    def handle_data(self, data):
        self.content.append(data)


def written(folder, names=False):
    withheld = [Submission("inbox/==x.ipynb", "plain", reason="no student of the list has this name")]
    pages = report.report_pages(CLASS, withheld, folder, names=names, grader="Graded by rnnlab.")
    exported.write_files(None, pages, overwrite=True)
    return folder


def test_pages_hold_no_script_and_load_nothing(tmp_path):
    for path in written(tmp_path).rglob("*.html"):
        page = Page(path.read_text(encoding="utf-8"))
        assert not {"script", "img", "link", "iframe", "object"} & {*page.tags}
        assert all(re.match(r"#|students/[\w-]+\.html$", address) for address in page.addresses)
    assert HOSTILE in "".join(Page((tmp_path / "class.html").read_text(encoding="utf-8")).content)


def test_the_class_page_lists_what_was_not_graded_and_whose_fault_it_was(tmp_path):
    page = Page((written(tmp_path) / "class.html").read_text(encoding="utf-8"))
    content = " ".join(" ".join(page.content).split())
    assert "inbox/==x.ipynb no student of the list has this name" in content
    assert holds(content, "di count_rnn_flops", "0", "2")
    assert holds(content, "withheld", "1")
    assert "di 1 so far, of 6 2 points not judged, by a fault of the grader" in content


def test_only_a_fault_whose_points_are_missing_is_to_be_graded_again():
    verdicts = [verdict(STEP), replace(verdict(COUNT, "grader_error"), points=2), verdict(RATE)]
    proven = Paper("eve", "", "start_here", tuple(verdicts))
    unproven = paper("eve", "passed", "grader_error", "passed")
    by_hand = unproven._replace(marks=(Mark(COUNT, 1.5, 2),))
    offers = {}
    for name, work in {"proven": proven, "unproven": unproven, "by hand": by_hand}.items():
        pages = report.class_page([work], []), report.student_page([work])
        offers[name] = ["rade those again" in pages[0], "can grade it again" in pages[1]]
    assert offers == {"proven": [False, False], "unproven": [True, True], "by hand": [False, False]}
    assert ("full points" in report.student_page([proven]), proven.score) == (True, 6)


def test_identifiers_cannot_steer_a_page_and_notes_are_the_teachers_alone(tmp_path):
    work = CLASS[0]._replace(student="rlo\u202eevil\x1b[2J", note="1 other student handed in the same file")
    for text in (report.class_page([work], []), report.student_page([work])):
        assert not {"\u202e", "\x1b"} & {*text}
        assert "<bdi>rlo\\u202eevil\\x1b[2J</bdi>" in text
    assert work.note in report.class_page([work], [])
    assert work.note not in report.student_page([work])


def test_a_student_gets_the_words_of_check_and_nothing_about_others(tmp_path):
    work = replace_looks(wrong("ed", "takes the first step", "h[0] is 3, should be 4."))
    text = report.student_page([work])
    content = " ".join("".join(Page(text).content).split())
    for sentence in ("✘ failed · last_step · 0 of 1 points", "h[0] is 3, should be 4.",
                     "It looks as if last_step takes the first step.", "Next: hint(last_step)"):  # fmt: skip
        assert sentence in content
    assert "__globals__" not in text


def replace_looks(work):
    """The same paper, whose first answer has a line that the teacher should read."""
    first, *others = work.verdicts
    return work._replace(verdicts=(replace(first, looks=("cell 1, line 2: f.__globals__",)), *others))


def test_ids_that_are_no_file_names_get_pages_of_their_own(tmp_path):
    ids = ["ada", "Ada", "../../etc/passwd", "学生", "a b", "con\x00", "con", "é", "e\u0301"]
    ids += [report.page_name(student).removesuffix(".html") for student in ("a b", "学生")]
    names = [report.page_name(student) for student in ids]
    assert "con.html" not in names
    assert len({name.lower() for name in names}) == len(ids)
    assert all(re.fullmatch(r"[a-z0-9_-]+\.html", name) for name in names)


def test_an_example_is_the_last_definition_as_its_author_wrote_it(tmp_path):
    path = tmp_path / "book.ipynb"
    texts = [
        "def last_step(y):\n    return y[0]",
        "x = 1\n@decorated\ndef last_step(y):  # mine\n    return y\n",
    ]
    path.write_text(json.dumps({"cells": [{"cell_type": "code", "source": text} for text in texts]}))
    assert similar.answer_text(path, STEP) == "@decorated\ndef last_step(y):  # mine\n    return y"
    assert similar.answer_text(tmp_path / "missing.ipynb", STEP) == ""


def test_an_answer_is_found_before_a_stub_under_another_name_and_in_a_class():
    stub = f"def {STEP}(y):\n    raise NotImplementedError"
    text = f"{STEP} = Own().run\nclass Own:\n    run = chosen\nchosen = lambda self, y: y\ny = 1\n{stub}"
    notebook = Notebook([parse(1, text)])
    assert similar.definition(notebook, STEP) == f"{STEP} = Own().run"
    program = similar.own_program(notebook, STEP, ())
    assert program.split("\n") == text.split("\n")[:4]
    assert similar.definition(Notebook([parse(1, stub)]), STEP) == stub


@pytest.mark.parametrize(
    "text",
    [
        f"({STEP} := lambda y: y[-1])",
        f"{STEP}: object = lambda y: y[-1]",
        f"{STEP}, other = make()",
        f"while True:\n    def {STEP}(y):\n        return y[-1]\n    break",
        f"try:\n    import fast\nexcept ImportError:\n    def {STEP}(y):\n        return y[-1]",
    ],
)
def test_an_answer_is_shown_however_it_is_named(text):
    notebook = Notebook([parse(1, f"x = 1\n{text}\n{STEP}[0] = 1\ndel {STEP}")])
    assert similar.definition(notebook, STEP) == text


def similar_answers():
    """Findings of every kind for the page on similar answers."""
    texts = tuple(similar.Text(student, HOSTILE, f"x = 1\n# {HOSTILE}", False) for student in "ab")
    both = tuple(CLASS[n]._replace(student=student, name=HOSTILE * n) for n, student in enumerate("ab"))
    same_cells = similar.SameCells(both, 2)
    group = similar.Group(RATE, texts)
    same_file = similar.SameFile(both, True)
    return similar.Findings("start_here", (same_file,), (group,), (same_cells,), ("c",))


@needs_browser
def test_nothing_on_a_telephone_is_wider_than_it_and_bars_follow_the_dark_theme(tmp_path):
    written(tmp_path, names=True)
    wider = """return [...document.querySelectorAll(".wide")]
        .filter(part => part.scrollWidth > part.clientWidth).map(part => part.getAttribute("aria-label"))"""
    bar = "return getComputedStyle(document.querySelector('.bar span')).backgroundColor"
    with PageBrowser(tmp_path / "profile") as browser:
        colours = {}
        for theme in THEMES:
            browser.show((tmp_path / "class.html").as_uri(), width=390, theme=theme)
            assert not browser.scrolls_sideways()
            assert browser.browser.execute_script(wider) == []
            colours[theme] = browser.browser.execute_script(bar)
    assert colours["light"] != colours["dark"]


def test_the_class_page_begins_with_who_needs_help(tmp_path):
    withheld = [
        Submission("hal.pdf", "plain", student="hal", reason="it is not a notebook (.ipynb)"),
        Submission("old.ipynb", "plain", student="ada", reason="an older one"),
    ]
    page = report.class_page(CLASS, withheld)
    named = page.index("<bdi>hal</bdi>")
    places = [
        page.index(f"<h3>{title}") for title in ("Misconceptions", "Students who may", "Points", "Verdicts")
    ]
    assert [named, *places] == sorted([named, *places])
    assert page.index("<bdi>ada</bdi>") > places[0], "who has a mark is not missing"
    assert "8 students, 7 of them graded" in page


def test_the_lesson_of_most_submissions_comes_first(tmp_path):
    other = Paper("ada", "", "bptt", (Verdict("bptt_linear", Status.passed, 3, 3, ""),))
    for graded, first in (
        ([other, *CLASS], "start_here"),
        ([other, CLASS[0]._replace(student="bo"), other], "bptt"),
    ):
        page = report.class_page(graded, [])
        assert re.search(r"<h2 id=\"(\w+)\"", page)[1] == first


@needs_browser
@needs_axe
def test_pages_pass_axe_in_light_and_dark(tmp_path):
    written(tmp_path, names=True)
    (tmp_path / "similar.html").write_text(report.similar_page([similar_answers()], names=True))
    good = (tmp_path / "similar.html").read_text(encoding="utf-8")
    (tmp_path / "broken.html").write_text(good.replace("--quiet: #515c69", "--quiet: #aaaaaa"))
    broken, source = set(), axe_source()
    with PageBrowser(tmp_path / "profile") as browser:
        for page in ("class.html", "similar.html", "students/gus.html", "broken.html"):
            for theme in THEMES:
                browser.show((tmp_path / page).as_uri(), theme=theme)
                broken |= {(page, theme, rule) for rule, *_ in browser.violations(source)}
    worse = {("broken.html", "light", "color-contrast")}
    assert broken == worse, "a page that is made worse is the only one"
