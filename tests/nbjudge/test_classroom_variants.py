"""Variants: what a text may say, that each can be solved and refuses known mistakes, and who gets which."""

import json
import re
from collections import Counter

import pytest
from pretended_class import class_command
from values_in import holds

from nbjudge import variants
from nbjudge.authoring.course import ROOT, exercise_notebook, exercises_of, packed_answer
from nbjudge.authoring.exercise_text import read_exercise, varied
from nbjudge.authoring.percent import SourceError
from nbjudge.classroom import keys
from nbjudge.classroom import variants as of_a_class
from nbjudge.classroom.export_tables import read_table
from nbjudge.finding.notebook_file import Unusable
from nbjudge.grading import grade, learner
from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import run_check
from rnncourse import checks

VARYING = [  # kernels wait in the simulator for what their mistakes never bring: in the slow leg
    pytest.param(
        lesson,
        name,
        numbers,
        id=f"{name}-{variants.describe_numbers(numbers)}",
        marks=[pytest.mark.slow] * name.endswith("_kernel"),
    )
    for lesson in checks.LESSONS
    for name, listed in of_a_class.lessons_variants(lesson).items()
    for numbers in listed[1:]
]
TEXT = """# %% [markdown]
# Take the **last** step of 3.

# %%
def pick(y):
    ### BEGIN SOLUTION
    return y[-1], 3
    ### END SOLUTION

# %%
check(pick)

# %% [properties]
# points: 1
# difficulty: 1
# minutes: 3
# lines: 1

# %% [hint]
# The last of 3 is y[-1].

# %% [hint]
# Two.

# %% [hint]
# Three.

# %% [mistake] takes the last axis
# - y[-1]
# + y[:, -1]

# %% [right]
def pick(y):
    return y[len(y) - 1], 3
"""
VARIANT = """
# %% [variant] step=2, of=4
# - the **last** step of 3
# + step 2 of 4
# - y[-1]
# + y[2]
# - y[len(y) - 1]
# + y[len(y) - 2]
# - , 3
# + , 4
"""


def test_an_edit_holds_for_the_whole_text():
    exercise = read_exercise(TEXT + VARIANT, "pick.py", "pick")
    other = varied(exercise, exercise.variants[0])
    assert other.numbers == {"step": 2, "of": 4}
    assert [cell.text.split("\n")[-1] for cell in other.cells] == [
        "Take step 2 of 4.", "    ### END SOLUTION", "check(pick, step=2, of=4)",
    ]  # fmt: skip
    assert other.hints[0] == "The last of 3 is y[2]."
    assert other.mistakes == (("takes the last axis", "y[2]", "y[:, -1]"),)
    assert other.right == ("def pick(y):\n    return y[len(y) - 2], 4\n",)
    packed = packed_answer(exercise.cells, exercise)
    assert (packed.source, packed.variants[0].source) == (
        "def pick(y):\n    return y[-1], 3\n", "def pick(y):\n    return y[2], 4\n",
    )  # fmt: skip


def test_edits_are_made_at_once_so_that_two_texts_can_change_places():
    text = TEXT + "\n# %% [variant] order=ba\n# - last\n# + first\n# - y[-1]\n# + 3\n# - 3\n# + y[-1]\n"
    exercise = read_exercise(text, "pick.py", "pick")
    assert "return 3, y[-1]" in varied(exercise, exercise.variants[0]).cells[1].text


@pytest.mark.parametrize(
    ("cell", "why"),
    [
        ("# %% [variant]\n# - last\n# + first\n", "a variant names its numbers, such as"),
        ("# %% [variant] step\n# - last\n# + first\n", "a variant names its numbers, such as"),
        ("# %% [variant] step=2..1\n# - last\n# + {step}\n", "a range has numbers in rising order"),
        ("# %% [variant] step=1..2\n# - last\n# + first\n", "an edit says {step}"),
        ("# %% [variant] step=1\n# + first\n", "has lines with - and behind them lines with"),
        ("# %% [variant] step=1\n# - last\n", "has lines with - and behind them lines with"),
        ("# %% [variant] step=1\n# last\n", "a line of a variant begins with"),
        ("# %% [variant] step=1\n# - lost\n# + first\n", "edits 'lost', which is not in the exercise"),
        ("# %% [variant] step=1\n# - y[-1]\n# + y[1]\n", "changes nothing in the statement"),
    ],
)
def test_a_variant_that_cannot_be_is_named_with_its_line(cell, why):
    def build():
        exercise = read_exercise(f"{TEXT}\n{cell}", "pick.py", "pick")
        return varied(exercise, exercise.variants[0])

    with pytest.raises(SourceError, match=rf"^pick\.py:\d+: .*{why}"):
        build()


@pytest.mark.parametrize("lesson", checks.LESSONS)
def test_half_of_a_lessons_exercises_have_eight_variants_or_more(lesson):
    listed = of_a_class.lessons_variants(lesson)
    assert 2 * len(listed) >= len(checks.catalogue(lesson))
    assert all(len(numbers) > 8 for numbers in listed.values())


def test_a_range_is_a_variant_for_each_number_with_what_is_computed_from_it():
    cell = "# %% [variant] step=2..8:3\n# - the **last** step\n# + step {step} of {2*step+1}, not {step-1}\n"
    exercise = read_exercise(f"{TEXT}\n{cell}", "pick.py", "pick")
    assert [variant.numbers for variant in exercise.variants] == [{"step": 2}, {"step": 5}, {"step": 8}]
    texts = [varied(exercise, variant).cells[0].text for variant in exercise.variants]
    assert [re.findall(r"\d+", text)[:3] for text in texts] == [
        ["2", "5", "1"], ["5", "11", "4"], ["8", "17", "7"],
    ]  # fmt: skip


@pytest.mark.corpus
@pytest.mark.parametrize(("lesson", "name", "numbers"), VARYING)
def test_a_variant_is_solved_by_the_right_answers_and_refuses_each_known_mistake(lesson, name, numbers):
    exercise = variants.at_numbers(checks.find(name)[1], numbers)
    answer = next(v for v in variants.variants_of(name) if v.numbers == numbers)
    define = lambda program: InProcess(answer.define(f"import numpy as np\n{program}", "<right>"), name)
    for program in (answer.source, *answer.right):
        assert run_check(exercise, define(program), 7) is None
    for mutant in exercise.mutants:
        assert run_check(exercise, InProcess(exercise.make(mutant), name), 7), mutant.name


@pytest.mark.corpus
@pytest.mark.parametrize(("lesson", "name", "numbers"), VARYING)
def test_the_courses_own_answer_fails_in_a_variant_whose_notebook_shows_the_difference(lesson, name, numbers):
    exercise, stem = checks.find(name)[1], checks.LESSONS[lesson]
    wrong = run_check(variants.at_numbers(exercise, numbers), InProcess(exercise.reference, name), 7)
    assert variants.describe_numbers(numbers) in str(wrong.message)
    own, other = (exercise_notebook(ROOT, stem, {name: n}) for n in ({}, numbers))
    changed = {cell["id"] for cell in json.loads(other)["cells"]} ^ {
        c["id"] for c in json.loads(own)["cells"]
    }
    assert len(changed) >= 4, "the statement and the line with check are other cells"
    assert f"check({name}, {variants.describe_numbers(numbers)})" in json.loads(json.dumps(other))
    assert "SOLUTION" not in other


def test_numbers_that_no_variant_has_are_named_with_those_there_are():
    exercise = checks.find("measure_gemm")[1]
    with pytest.raises(ValueError, match=r"warm=11.*warm=2.*warm=3"):
        variants.at_numbers(exercise, {"warm": 11})
    with pytest.raises(ValueError, match=r"last_step.*k=1"):
        variants.at_numbers(checks.find("last_step")[1], {"k": 1})


def test_a_token_is_that_of_the_documented_hmac_and_draws_all_variants_evenly():
    # printf '["variant", "start_here", "ada"]' | openssl dgst -sha256 -mac HMAC -macopt hexkey:000...0
    token = keys.token(bytes(32), "variant", "start_here", "ada")
    assert token == "9dc4b3e30d91bfe67d0e50a064cd674d198a7f9e309e58f88f47d8c79afb9e81"
    tokens = [keys.token(bytes(32), "variant", "start_here", str(n)) for n in range(1800)]
    drawn = Counter(variants.draw_numbers("measure_gemm", token)["warm"] if
                    variants.draw_numbers("measure_gemm", token) else 1 for token in tokens)  # fmt: skip
    assert {*drawn} == {*range(1, 10)}
    assert min(drawn.values()) > 140  # 200 each, give or take 4.5 standard deviations
    assert variants.draw_numbers("last_step", token) is None


def test_check_hint_and_use_have_the_numbers_that_the_notebook_named(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("RNNLAB_HOME", str(tmp_path))
    monkeypatch.setattr(learner, "_numbers", {})
    monkeypatch.setattr(learner, "_passed", {})
    program = next(v for v in variants.variants_of("measure_gemm") if v.numbers == {"warm": 3}).source
    space = {"np": __import__("numpy")}
    exec(program, space)
    function = space["measure_gemm"]
    assert learner.check(function).status == "failed"
    assert learner.check(function, warm=3).passed
    assert learner.check(function).passed
    hints = [str(learner.hint(function)) for _ in range(3)]
    assert "`multiply()` 3 times; then" in hints[2]
    assert learner.use(function) is function
    with pytest.raises(ValueError, match="warm=17"):
        learner.check(function, warm=17)


def solved(numbers, gates=()):
    """The exercise notebook of start_here with these numbers for measure_gemm, those of count_rnn_flops in
    `gates`, and all answers in it."""
    drawn = {"measure_gemm": numbers, "count_rnn_flops": dict(gates)}
    book = json.loads(exercise_notebook(ROOT, "00_start_here", drawn))
    for cell in book["cells"]:
        if cell["id"] in checks.catalogue("start_here"):
            known = variants.variants_of(cell["id"])
            own = drawn.get(cell["id"], {})
            cell["source"] = next(v.source for v in known if v.numbers == own)
    return json.dumps(book)


def test_grade_takes_the_numbers_of_the_notebook_and_says_so(tmp_path):
    path = tmp_path / "00_start_here.ipynb"
    path.write_text(solved({"warm": 2}))
    report = grade.grade(path, seed=1, only="measure_gemm")
    assert report.all_passed
    assert holds(str(report), "measure_gemm", "warm=2")
    assert json.loads(report.to_json())["variants"] == {"measure_gemm": {"warm": 2}}
    path.write_text(solved({"warm": 2}).replace("warm=2", "warm=77"))
    assert not grade.grade(path, seed=1, only="measure_gemm").all_passed


@pytest.fixture
def rnnlab(capfd):
    return class_command(capfd)


def test_a_class_is_graded_by_the_numbers_of_its_key_whatever_a_notebook_says(tmp_path, rnnlab):
    folder, students = tmp_path / "class", [f"s{n}" for n in range(60)]
    (tmp_path / "list.txt").write_text("\n".join(students))
    code, text = rnnlab("variants", folder, "--lesson", "start_here", "--students", tmp_path / "list.txt")
    assert code == 0, text
    all_numbers = {s: of_a_class.numbers_for(folder, "start_here", s) for s in students}
    drawn = {s: numbers["measure_gemm"] for s, numbers in all_numbers.items()}
    one = next(s for s in students if drawn[s])  # a key is random: no numbers are certain to be drawn
    two = next(s for s in students if drawn[s] not in ({}, drawn[one]))
    warm, other = drawn[one]["warm"], drawn[two]["warm"]
    for student in (one, two):  # both hand in a measure_gemm that is right for the first
        (tmp_path / "in" / student).mkdir(parents=True)
        (tmp_path / "in" / student / "00_start_here.ipynb").write_text(
            solved(drawn[one], all_numbers[student]["count_rnn_flops"])
        )
    assert rnnlab("collect", folder, tmp_path / "in")[0] == 0
    assert rnnlab("grade", folder, "--plain")[0] == 0  # the answers are the course's own
    texts = [path.read_text() for path in folder.glob("results/*/*.json")]
    lines = map(json.loads, texts)
    scores = {line["student"]: (line["score"], line["variants"]["measure_gemm"]) for line in lines}
    assert scores == {one: (6, drawn[one]), two: (3, drawn[two])}
    report = "".join(texts)
    assert len(re.findall(f"warm={other}.*warm={warm}", report)) == 1
    assert of_a_class.describe(all_numbers[two]) in (folder / "handout/start_here/students.csv").read_text()
    (folder / "class.json").unlink()
    for command in (
        ("grade", folder, "--plain"),
        ("variants", folder, "--lesson", "bptt", "--students", tmp_path / "list.txt"),
    ):
        code, text = rnnlab(*command)
        assert code == 2
        assert holds(text, "class.json", "2")


def test_the_same_key_makes_the_same_notebooks_and_another_one_others(tmp_path):
    students = [f"s{n}" for n in range(8)]
    first = of_a_class.hand_out(tmp_path / "a", "start_here", students, tmp_path / "one")
    again = of_a_class.hand_out(tmp_path / "a", "start_here", students[::-1], tmp_path / "two")
    books = lambda handouts: {handout.student: handout.path.read_bytes() for handout in handouts}
    assert books(first) == books(again)
    other = of_a_class.hand_out(tmp_path / "b", "start_here", students, tmp_path / "three")
    assert books(first) != books(other)
    assert keys.settings(tmp_path / "a")["variants"] == ["start_here"]
    forms = [of_a_class.numbers_for(tmp_path / "a", "start_here", name) for name in ("zoe\u0301", "zo\xe9")]
    assert forms[0] == forms[1]


@pytest.mark.parametrize("lesson", ["start_here", "bptt"])
def test_one_more_student_is_added_to_the_table_and_nothing_is_lost(tmp_path, rnnlab, lesson):
    """Another lesson's notebooks in the same folder count as more, too."""
    (tmp_path / "list.txt").write_text("ada\n=bo\n")
    make = "variants", tmp_path / "class", "--out", tmp_path / "out", "--students", tmp_path / "list.txt"
    assert rnnlab(*make, "--lesson", "start_here")[0] == 0
    path = tmp_path / "out/students.csv"
    before = read_table(path)
    header, ada, bo = before.rows
    edited = [[*header, "group"], [*bo, "B"], [*ada, "A"], ["a note"]]
    path.write_bytes(before._replace(rows=edited, delimiter=";").to_bytes())
    books = {book: book.read_bytes() for book in tmp_path.glob("out/*/*.ipynb")}
    (tmp_path / "list.txt").write_text("'=bo\neve\n")
    assert rnnlab(*make, "--lesson", lesson)[0] == 0
    after = read_table(path)
    assert (after.delimiter, after.rows[:4]) == (";", edited)
    assert [row[0] for row in after.rows[4:]] == ["eve"] if lesson == "start_here" else ["'=bo", "eve"]
    assert all(book.read_bytes() == content for book, content in books.items())
    listed = {row[1] for row in after.rows[1:] if len(row) > 1}
    assert listed == {
        book.relative_to(tmp_path / "out").as_posix() for book in tmp_path.glob("out/*/*.ipynb")
    }


def test_a_list_of_students_that_is_another_table_stops_before_a_notebook_is_written(tmp_path, rnnlab):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/students.csv").write_text("id,student\n1,ada\n")
    (tmp_path / "list.txt").write_text("ada\n")
    make = "variants", tmp_path / "class", "--out", tmp_path / "out", "--students", tmp_path / "list.txt"
    code, printed = rnnlab(*make, "--lesson", "start_here")
    assert (code, holds(printed, "students.csv", "notebook")) == (2, True)
    assert [*(tmp_path / "out").iterdir()] == [tmp_path / "out/students.csv"]


def test_variants_are_not_brought_into_a_lesson_that_has_results(tmp_path):
    (tmp_path / "results" / "ada").mkdir(parents=True)
    (tmp_path / "results" / "ada" / "start_here.json").write_text("{}")
    with pytest.raises(Unusable, match="start_here"):
        of_a_class.hand_out(tmp_path, "start_here", ["ada"], tmp_path / "out")


@pytest.mark.parametrize(
    ("text", "students"),
    [
        ("ada\nbo\n\nada\n", ["ada", "bo"]),
        ("Identifier,Full name,Grade\nParticipant 1234,Ada,\nParticipant 1235,Bo,\n", ["1234", "1235"]),
        ("Teilnehmernummer,Name\nTeilnehmer/in1234,Ada\n", ["1234"]),
        ("Student,ID,Section,A (1)\n    Points Possible,,,10\nAda,77,X,\n", ["77"]),
        ("student,score\nzoe\u0301,1\nzoé,2\n'=bo,3\n", ["zoé", "=bo"]),
        ("id,first_name\nada,Ada\n", ["ada"]),
        ("id\nada\n", ["ada"]),
        ("Student\nada\nbo\n", ["ada", "bo"]),
        ("STUDENT_ID;\n007;\n008;\n", ["007", "008"]),
        ("Identifier\nada\n", ["ada"]),
        ("Student;Group\nada;1\n", ["ada"]),
    ],
)
def test_students_are_read_from_lists_worksheets_and_gradebooks(tmp_path, text, students):
    (tmp_path / "list.csv").write_text(text, encoding="utf-8-sig")
    assert of_a_class.students_in(tmp_path / "list.csv") == students


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "\n \n", "student\n", "Student,ID\n  Points Possible,\n"])
def test_a_table_without_students_is_refused(text, tmp_path):
    (tmp_path / "list.csv").write_text(text)
    with pytest.raises(Unusable, match=r"list\.csv"):
        of_a_class.students_in(tmp_path / "list.csv")


def test_a_variant_changes_no_notebook_of_the_course():
    for lesson in ("start_here", "bptt"):
        stem = checks.LESSONS[lesson]
        assert any(text.variants for text in exercises_of(ROOT, stem).values())
        assert exercise_notebook(ROOT, stem, {}) == (ROOT / f"exercises/{stem}.ipynb").read_text(
            encoding="utf-8"
        )
