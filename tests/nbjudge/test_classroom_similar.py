"""Similar answers: what is found, what is left out on purpose, and what the page says about it."""

import json
import re

import pytest

from nbjudge.authoring.course import exercise_notebook
from nbjudge.classroom import exported, report, similar
from nbjudge.classroom.report_summary import Paper
from nbjudge.classroom.variants import lessons_variants
from nbjudge.files import ROOT
from nbjudge.verdict import Status, Verdict
from rnncourse import checks
from rnncourse.checks.answers import answers

LESSON, EXERCISE = "bptt", "bptt_linear"
OWN = """def bptt_linear(cell_backward, x, h, dy, weight_ih, weight_hh):
    steps, batch, inputs = x.shape
    result = np.empty((steps, batch, inputs))
    carried = dy[steps - 1] * 0.0
    sums = [weight_ih * 0.0, weight_hh * 0.0, weight_hh[0] * 0.0]
    step = steps - 1
    while step >= 0:
        arriving = np.add(carried, dy[step])
        outcome = cell_backward(arriving, x[step], h[step], h[step + 1], weight_ih, weight_hh)
        result[step], carried = outcome[0], outcome[1]
        for place in range(3):
            sums[place] = sums[place] + outcome[2 + place]
        step = step - 1
    return (result, carried, *sums)
"""
COPY = OWN.replace("carried", "d").replace("outcome", "o").replace("step = step - 1", "step -= 1  # back")
COPY = COPY.replace("    steps, batch", '    """Mine."""\n\n    steps, batch').replace(
    "arriving", "incoming_gradient"
)


def text(student, program, passed=True):
    return similar.Text(student, "", program, passed)


@pytest.mark.parametrize("program", ["def f(:", "x = (" + "(" * 5000, "\x00", ""])
def test_what_python_cannot_read_has_no_shape(program):
    assert similar.shape(program) in ("", "Module()", "Module(body=[], type_ignores=[])")


def test_an_uncommon_wrong_answer_that_two_gave_is_a_group_and_a_known_mistake_is_none():
    odd = "def bptt_linear(cell_backward, x, h, dy, weight_ih, weight_hh):\n    return x * 17, h[3]\n"
    known = answers(LESSON)[EXERCISE]
    mistake = known.source.replace(known.mutants[0].old, known.mutants[0].new)
    texts = [text("a", odd, False), text("b", odd.replace("x", "z"), False), text("c", mistake, False),
             text("d", mistake, False), text("e", odd.replace("17", "18"), False)]  # fmt: skip
    texts += [text(f"right{n}", known.source) for n in range(30)]
    (group,) = similar.same_wrong_answers(EXERCISE, texts)
    assert {t.student for t in group.texts} == {"a", "b"}


def test_answers_and_known_mistakes_of_a_variant_resemble_nothing():
    name = "gradient_check"
    variant = answers(LESSON)[name].variants[0]
    assert variant.numbers == lessons_variants(LESSON)[name][1]
    mutant = variant.mutants[0]
    mistake = variant.source.replace(mutant.old, mutant.new)
    texts = [text("a", mistake, False), text("b", mistake, False)]
    assert not [*similar.same_wrong_answers(name, texts)]


def test_a_helper_of_another_name_leaves_the_shape():
    program = "def f(x):\n    return g(x)\ndef g(x):\n    return x * 3\n"
    assert similar.shape(program) == similar.shape(program.replace("g", "helper"))
    assert similar.shape(program) != similar.shape(program.replace("3", "4"))


def notebook(path, *cells):
    entries = [{"cell_type": "code", "id": name, "source": source, "outputs": []} for name, source in cells]
    entries.append("no cell")
    path.write_text(json.dumps({"cells": entries, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}))
    return str(path)


def paper(student, file, *, passed=True, mistake=None):
    verdict = Verdict(EXERCISE, Status.passed if passed else Status.failed, 0, 3, misconception=mistake)
    return Paper(student, f"Name of {student}", LESSON, (verdict,), file=file)


WRONG = Verdict(EXERCISE, Status.failed, 0, 3)


@pytest.fixture
def papers(tmp_path):
    answer = answers(LESSON)[EXERCISE]
    files = {
        "ada": notebook(tmp_path / "a.ipynb", (EXERCISE, OWN), ("f00d", "x = 1")),
        "bo": notebook(tmp_path / "b.ipynb", ("bptt_linear", COPY), ("f00d", "y = 2"), ("beef", "1")),
        "cy": notebook(tmp_path / "c.ipynb", (EXERCISE, answer.source), ("cafe", "x = 1")),
        "di": str(tmp_path / "missing.ipynb"),
    }
    return [paper(student, file) for student, file in files.items()]


def test_notebooks_are_compared_with_what_their_answers_need(papers):
    findings = similar.find_similar(LESSON, papers)
    assert findings.cells == (similar.SameCells((papers[0], papers[1]), 1),)
    assert findings.unread == ("di",)


def test_the_same_file_comes_first_then_the_same_text_and_what_was_handed_out_is_neither(tmp_path):
    out = {cell["source"] for book in similar.notebooks_of_the_course(LESSON) for cell in book}
    (first, second), text = sorted(out)[:2], f"def {EXERCISE}(x):\n    return x"
    books = {
        "one": ((EXERCISE, text), ("f", first)), "two": ((EXERCISE, text), ("f", first)),
        "saved-1": (("a", text), ("b", "y = 1")), "saved-2": (("c", text), ("d", "y = 1"), ("e", second)),
        "short-1": (("g", "z = 2"),), "short-2": (("h", "z = 2"),),
        "empty-1": (("f", first),), "empty-2": (("f", first),),
    }  # fmt: skip
    papers = [paper(who, notebook(tmp_path / f"{who}.ipynb", *cells)) for who, cells in books.items()]
    for who, content in {"cut-1": "{cut", "cut-2": "{cut", "no-1": "\n", "no-2": "\n"}.items():
        (tmp_path / who).write_text(content)
        papers.append(paper(who, str(tmp_path / who)))
    groups = [[*(work.student for work in g.papers), g.is_whole] for g in similar.same_files(papers, out)]
    assert groups == [["one", "two", True], ["cut-1", "cut-2", True], ["saved-1", "saved-2", False]]


def test_a_wrong_answer_whose_mistake_the_verdict_names_is_none_that_the_course_does_not_know(tmp_path):
    file = notebook(tmp_path / "a.ipynb", (EXERCISE, f"def {EXERCISE}(x):\n    return x + 1"))
    for mistake, groups in (None, 1), ("walks forward", 0):
        wrong = [paper(student, file, passed=False, mistake=mistake) for student in "ab"]
        assert len(similar.find_similar(LESSON, wrong).wrong) == groups


def test_two_notebooks_of_one_variant_and_of_the_lesson_have_nothing_in_common(tmp_path):
    numbers = {name: choices[-1] for name, choices in lessons_variants(LESSON).items()}
    book = json.loads(exercise_notebook(ROOT, checks.LESSONS[LESSON], numbers))
    lesson = json.loads((ROOT / f"notebooks/{checks.LESSONS[LESSON]}.ipynb").read_text(encoding="utf-8"))
    shown = max(("".join(cell["source"]) for cell in lesson["cells"] if cell["cell_type"] == "code"), key=len)
    lines = "\n".join(f"    {line}" for line in shown.split("\n"))
    for student, own in ("a", "assert x.ndim == 3"), ("b", "x = [step for step in x]"):
        program = f"def {EXERCISE}(x):\n    {own}\n{lines}"
        cells = [*book["cells"], {"cell_type": "code", "source": program}]
        (tmp_path / student).write_text(json.dumps(book | {"cells": cells}))
    findings = similar.find_similar(LESSON, [paper(student, str(tmp_path / student)) for student in "ab"])
    assert (findings.wrong, findings.cells) == ((), ())


def test_programs_are_files_that_other_tools_compare(papers, tmp_path):
    exported.write_files(None, similar.programs(similar.find_similar(LESSON, papers), tmp_path / "out"))
    programs = {
        path.name[:2]: path.read_text(encoding="utf-8") for path in (tmp_path / "out" / EXERCISE).glob("*.py")
    }
    assert programs["ad"].strip() == OWN.strip()
    assert {*programs} == {"ad", "bo", "cy"}
    known = [
        path.read_text(encoding="utf-8") for path in (tmp_path / "out/handed_out" / EXERCISE).glob("*.py")
    ]
    assert answers(LESSON)[EXERCISE].source.strip() in [program.strip() for program in known]


def test_the_page_shows_both_texts_and_accuses_nobody(papers):
    papers = [paper._replace(verdicts=(WRONG,)) for paper in papers]
    papers[1] = papers[1]._replace(file=papers[0].file)
    page = report.similar_page([similar.find_similar(LESSON, papers)], names=False)
    plain = re.sub(r"<[^>]+>", " ", page)
    assert "Please talk with the students before you decide anything." in plain
    assert "carried = outcome[0], outcome[1]" in plain
    assert "Name of ada" not in plain
    assert "Not compared, because their notebooks cannot be read: di ." in " ".join(plain.split())
    for word in ("cheat", "plagiar", "guilty", "offen", "suspicio", "fraud", "caught", "misconduct"):
        assert word not in plain.lower()
