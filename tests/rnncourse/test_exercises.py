"""Every exercise of the course: its solution passes, its stub is untouched, its known mistakes are named."""

import json
import sys
from collections import Counter
from types import ModuleType

import pytest

from nbjudge.authoring.course import ROOT
from nbjudge.exercise import Exercise
from nbjudge.finding.notebook import Notebook
from nbjudge.grading import grade
from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import run_check
from nbjudge.grading.self_check import findings, mutated, notebook
from nbjudge.running.inside import main
from nbjudge.running.learner_answer import of_source
from nbjudge.running.sandbox import choose
from rnncourse import checks, cli

LESSONS = list(checks.LESSONS)
EXERCISES = [
    pytest.param(lesson, entry, id=entry.name) for lesson in LESSONS for entry in checks.exercises(lesson)
]
SEED = 1
GRADED = "start_here", "cuda_shared_memory"  # without and with kernels
LONG = (  # three quarters of the time
    "training",
    "numba_cpu",
    "packed_products",
    "cuda_first_kernels",
    "cuda_shared_memory",
    "naive_gpu_rnn",
    "persistent_rnn",
    "capstone",
)
MUTANTS, RIGHT_ANSWERS, POINTS = (5, 18), 2, (1, 10)


@pytest.mark.parametrize(
    "lesson", [pytest.param(name, marks=[pytest.mark.slow] * (name in LONG)) for name in LESSONS]
)
def test_every_answer_whose_verdict_is_known_gets_it_in_one_process(lesson, monkeypatch):
    """Stub, solution, right answers written differently, and every mutant: it fails, and by its own name."""
    monkeypatch.setattr(grade, "_run_apart", run_here)
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])  # run_here takes its place
    entries = list(findings(lesson, choose(plain=True), SEED))
    assert {entry.exercise for entry in entries} == {entry.name for entry in checks.exercises(lesson)}
    assert not [
        (entry.exercise, entry.answer, str(entry.verdict)) for entry in entries if not entry.as_wanted
    ]


def run_here(exercise, answer, seed, box, lines):
    """What a check finds in an answer that is loaded and called in this process."""
    sys.modules["__main__"] = ModuleType("__main__")
    namespace, _ = main.load(answer.cells, answer.names, answer.history)
    function = InProcess(namespace.get(answer.name), answer.name, is_own=True, seconds=exercise.seconds)
    return run_check(exercise, function, seed)


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS)
@pytest.mark.parametrize("is_plain", [False, True], ids=["sandbox", "plain"])
def test_three_answers_of_a_lesson_get_their_verdicts_in_processes_of_their_own(lesson, is_plain):
    """The same as the grader runs them, in bubblewrap where it is installed, or in plain mode."""
    box = choose(is_plain)
    first, *_, last = checks.exercises(lesson)
    solved = Notebook.read(notebook("solutions", lesson))
    other = of_source(last.name, f"import numpy as np\n{last.right[0]}")
    mutant = first.mutants[0]
    verdicts = [
        grade.grade_one(first, solved, SEED, box),
        grade.judge_apart(last, other, SEED, box),
        grade.grade_one(first, mutated(solved, first.name, mutant), SEED, box),
    ]
    named = [(verdict.passed, verdict.misconception) for verdict in verdicts]
    assert named == [(True, None), (True, None), (False, mutant.name)]


@pytest.mark.parametrize(("lesson", "exercise"), EXERCISES)
def test_an_exercise_says_all_a_learner_and_a_teacher_need(lesson: str, exercise: Exercise):
    assert POINTS[0] <= exercise.points <= POINTS[1]
    assert 1 <= exercise.difficulty <= 5
    assert exercise.minutes >= 1
    assert exercise.lines >= 1
    assert len(exercise.hints) == 3
    assert all(len(hint) > 20 for hint in exercise.hints)
    assert MUTANTS[0] <= len(exercise.mutants) <= MUTANTS[1]
    assert len({mutant.name for mutant in exercise.mutants}) == len(exercise.mutants)
    assert len(set(exercise.right)) >= RIGHT_ANSWERS


def test_a_name_stands_for_one_exercise_in_the_whole_course():
    names = Counter(exercise.name for lesson in LESSONS for exercise in checks.exercises(lesson))
    assert names.most_common(1)[0][1] == 1


def test_an_exercise_is_found_by_its_name_and_a_near_miss_is_told():
    lesson, exercise = checks.find("rnn_step")
    assert (lesson, exercise.name) == ("rnn_forward", "rnn_step")


@pytest.mark.parametrize("lesson", GRADED)
@pytest.mark.parametrize(
    ("folder", "code", "status"), [("solutions", 0, "passed"), ("exercises", 1, "not_attempted")]
)
def test_the_command_gives_solutions_full_marks_and_untouched_exercises_none(
    tmp_path, lesson, folder, code, status
):
    out = tmp_path / "report.json"
    assert (
        cli.main(["grade", str(ROOT / folder / f"{checks.LESSONS[lesson]}.ipynb"), "--json", str(out)])
        == code
    )
    report = json.loads(out.read_text())
    possible = sum(exercise.points for exercise in checks.exercises(lesson))
    assert (report["lesson"], report["max_score"]) == (lesson, possible)
    assert report["score"] == (possible if folder == "solutions" else 0)
    assert {entry["status"] for entry in report["exercises"]} == {status}
