"""Similar answers: what is found, what is left out on purpose, and what the page says about it."""

import json
import re
from pathlib import Path

import pytest

from nbjudge.authoring.course import exercise_notebook
from nbjudge.authoring.percent import parse
from nbjudge.classroom import fingerprints, report, similar
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
    words = fingerprints.tokens(program)
    return similar.Text(student, "", program, passed, tuple(fingerprints.winnow(words)), len(words))


def a_class(*programs):
    """A class in which everybody else hands in the course's answers in turn."""
    answer = answers(LESSON)[EXERCISE]
    usual = [answer.source, *answer.right]
    others = [text(f"other{n}", usual[n % len(usual)]) for n in range(20)]
    return [text(f"own{n}", program) for n, program in enumerate(programs)] + others


def pairs_in(texts):
    return [*similar.similar_pairs(EXERCISE, texts, similar.course_prints(EXERCISE))]


def test_a_copy_with_other_names_and_comments_is_found_and_nothing_else():
    (pair,) = pairs_in(a_class(OWN, COPY))
    assert [t.student for t in pair.texts] == ["own0", "own1"]
    assert pair.share > 0.7
    assert pair.lines[0] >= {8, 9, 10}


REORDERED = """def bptt_linear(cell_backward, x, h, dy, weight_ih, weight_hh):
    steps, batch, inputs = x.shape
    sums = [0.0 * weight_ih, weight_hh * 0.0, 0.0 * weight_hh[0]]
    carried = 0.0 * dy[steps - 1]
    step = steps - 1
    result = np.empty((steps, batch, inputs))
    while step >= 0:
        arriving = np.add(carried, dy[step])
        outcome = cell_backward(arriving, x[step], h[step], h[1 + step], weight_ih, weight_hh)
        for place in range(3):
            sums[place] = outcome[place + 2] + sums[place]
        result[step], carried = outcome[0], outcome[1]
        step = step - 1
    return (result, carried, *sums)
"""


def test_a_copy_whose_statements_stand_in_another_order_is_found_and_nothing_else():
    known = similar.course_prints(EXERCISE)
    assert not pairs_in(a_class(OWN, REORDERED))
    (pair,) = similar.either_way(EXERCISE, a_class(OWN, REORDERED), known)
    assert ({t.student for t in pair.texts}, pair.share > 0.9) == ({"own0", "own1"}, True)
    assert not similar.either_way(EXERCISE, a_class(OWN), known)
    (pair,) = similar.either_way(EXERCISE, a_class(OWN, COPY), known)
    assert pair.share > 0.7


@pytest.mark.corpus
@pytest.mark.parametrize(
    "path", sorted(Path(__file__).parents[1].glob("answers/*/*.py")), ids=lambda path: path.stem
)
def test_whole_statements_make_no_answers_written_apart_a_pair(path):
    cells = [cell for cell in parse(path.read_text(encoding="utf-8"), path.name) if cell.kind == "right"]
    texts = [text(f"s{number}", cell.text) for number, cell in enumerate(cells)]
    texts = [part for part in texts if part.size >= similar.SHORTEST]
    known = similar.course_prints(path.stem)
    by_passages = [*similar.similar_pairs(path.stem, texts, known)]
    assert len(similar.either_way(path.stem, texts, known)) == len(by_passages)


def test_the_courses_own_answers_and_known_mistakes_resemble_nothing():
    answer = answers(LESSON)[EXERCISE]
    mutated = [answer.source.replace(m.old, m.new) for m in answer.mutants]
    assert not pairs_in(a_class(mutated[0], mutated[0], answer.source, answer.source))


def test_three_copies_are_found_in_a_small_class_too():
    answer = answers(LESSON)[EXERCISE]
    texts = [text(name, program) for name, program in zip("abc", (OWN, COPY, OWN), strict=True)]
    texts += [text(f"other{n}", answer.source) for n in range(3)]
    assert len(pairs_in(texts)) == 3


def test_what_many_in_the_class_wrote_is_left_out():
    assert not pairs_in(a_class(*[OWN] * 12))


def test_every_passage_of_the_promised_length_leaves_a_common_fingerprint():
    # winnowing's guarantee: WINDOW + LENGTH - 1 tokens in common give a common hash, wherever they stand
    shared = [
        fingerprints.Token(f"w{n * n % 31}", 1) for n in range(fingerprints.WINDOW + fingerprints.LENGTH - 1)
    ]
    for before in range(9):
        left = [fingerprints.Token(f"a{n}", 1) for n in range(30)]
        right = [fingerprints.Token(f"b{n}", 1) for n in range(before)]
        prints = [
            {p.digest for p in fingerprints.winnow(words)}
            for words in (left + shared + right, right + shared + left)
        ]
        assert prints[0] & prints[1]


@pytest.mark.parametrize("program", ["def f(:", "x = (" + "(" * 5000, "\x00", ""])
def test_what_python_cannot_read_has_no_fingerprints(program):
    assert fingerprints.winnow(fingerprints.tokens(program)) == []
    assert fingerprints.shape(program) in ("", "Module()", "Module(body=[], type_ignores=[])")


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
    assert not [*similar.similar_pairs(name, texts, similar.course_prints(name))]


def test_a_helper_of_another_name_leaves_the_shape():
    program = "def f(x):\n    return g(x)\ndef g(x):\n    return x * 3\n"
    assert fingerprints.shape(program) == fingerprints.shape(program.replace("g", "helper"))
    assert fingerprints.shape(program) != fingerprints.shape(program.replace("3", "4"))


def notebook(path, *cells):
    entries = [{"cell_type": "code", "id": name, "source": source, "outputs": []} for name, source in cells]
    entries.append("no cell")
    path.write_text(json.dumps({"cells": entries, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}))
    return str(path)


def paper(student, file, *, passed=True, mistake=None):
    verdict = Verdict(EXERCISE, Status.passed if passed else Status.failed, 0, 3, misconception=mistake)
    return Paper(student, f"Name of {student}", LESSON, (verdict,), file=file)


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
    assert [tuple(t.student for t in pair.texts) for pair in findings.pairs] == [("ada", "bo")]
    assert findings.cells == (similar.SameCells(("ada", "bo"), ("Name of ada", "Name of bo"), 1),)
    assert (findings.students, findings.unread) == (4, ("di",))


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
    assert (findings.pairs, findings.cells, findings.left_out[EXERCISE]) == ((), (), 0)


def test_the_page_shows_both_texts_and_accuses_nobody(papers):
    page = report.similar_page([similar.find_similar(LESSON, papers)], names=False, most=50)
    plain = re.sub(r"<[^>]+>", " ", page)
    assert "Please talk with the students before you decide anything." in plain
    assert "carried = outcome[0], outcome[1]" in plain
    assert "Name of ada" not in plain
    assert "Not compared, because their notebooks cannot be read: di ." in " ".join(plain.split())
    for word in ("cheat", "plagiar", "guilty", "offen", "suspicio", "fraud", "caught", "misconduct"):
        assert word not in plain.lower()
