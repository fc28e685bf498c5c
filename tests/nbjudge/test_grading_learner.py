"""What a learner meets in a notebook: verdicts that teach, hints one at a time, progress that survives."""

import re
import sqlite3
import subprocess
import sys

import numpy as np
import pytest
from values_in import holds

import rnnlab
from nbjudge import progress_file
from nbjudge.authoring.course import ROOT
from nbjudge.comparing.judging import Transcript, expect, recording
from nbjudge.exercise import Code, Exercise, Mutant
from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import judge
from nbjudge.verdict import Status


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("RNNLAB_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def last_step(y):
    return y[-1].copy()


def wrong_last_step(y):
    return y[:, -1]


wrong_last_step.__name__ = "last_step"


def made(check, **changes):
    """A small exercise around one check."""
    fields = {
        "name": "doubled",
        "points": 2,
        "difficulty": 1,
        "minutes": 1,
        "lines": 1,
        "hints": ("a", "b", "c"),
    }
    functions = {None: lambda x: 2 * x, "squares it": lambda x: x**2, "forgets to double": lambda x: x.copy()}
    return Exercise(
        **fields,
        check=check,
        cases=((),),
        make=lambda mutant: functions[mutant and mutant.name],
        mutants=tuple(Mutant(name, "", "") for name in functions if name),
        right=(),
        **changes,
    )


def verdict_on(function, check):
    return judge(made(check), InProcess(function), 3)


def check_doubled(submission, rng):
    for T, H in ((1, 1), (3, 2)):
        x = rng.normal(size=(T, H))
        expect(submission(x), 2 * x, axes=("step", "unit"), what="y", case=f"T={T}, H={H}")


def test_a_right_answer_passes_with_all_its_points():
    verdict = verdict_on(lambda x: x + x, check_doubled)
    assert (verdict.status, verdict.points) == ("passed", 2)


@pytest.mark.parametrize(
    ("function", "misconception", "message"),
    [
        (lambda x: x**2, "squares it", "step 0, unit 0"),
        (lambda x: x.copy(), "forgets to double", "T=1, H=1"),
        (lambda x: 2 * x + (len(x) > 1), None, "T=3, H=2"),
        (lambda x: (2 * x).astype("float32"), "returns the wrong dtype", "float32"),
        (lambda x: (2 * x)[:, :1] if x.shape[1] > 1 else 2 * x, "returns the wrong shape", "(3, 1)"),
        (lambda x: 2 * x / 0, "returns NaN or infinity", "y"),
        (lambda x: (2 * x).tolist(), "returns the wrong type", "list"),
        (lambda x: np.multiply(x, 2, out=x), "changes its input", "x holds other numbers"),
        (lambda x: np.ma.masked_array(2 * x), "returns the wrong type", "MaskedArray"),
    ],
    ids=["squares", "copies", "unknown", "dtype", "shape", "infinity", "type", "in place", "subclass"],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_a_wrong_answer_is_told_by_its_first_difference_and_the_likely_mistake(
    function, misconception, message
):
    verdict = verdict_on(function, check_doubled)
    assert (verdict.status, verdict.misconception) == ("failed", misconception)
    assert message in verdict.message


def test_rounding_is_no_mistake_and_a_loose_answer_is():
    assert verdict_on(lambda x: x * (2 + 1e-15), check_doubled).passed
    assert not verdict_on(lambda x: x * (2 + 1e-6), check_doubled).passed


def test_what_an_answer_raises_is_told_by_its_own_line():
    def raises(x):
        return x / undefined  # noqa: F821

    verdict = verdict_on(raises, check_doubled)
    assert verdict.status == "crashed"
    assert "return x / undefined" in verdict.message


def test_code_as_an_argument_is_made_anew_for_every_call():
    source = "calls = []\ndef clock():\n    calls.append(1)\n    return len(calls)"

    def check(submission, rng):
        for _ in range(2):
            expect(submission(Code(source, "clock")), 3, what="the third tick")

    assert verdict_on(lambda clock: (clock(), clock(), clock())[-1], check).passed


def test_a_difference_of_parts_is_told_by_the_parts_name():
    transcript = Transcript()
    with recording(transcript):
        expect((np.zeros(2), np.ones(2)), (np.ones(2), np.ones(2)), what=("dx", "dh"), axes=("unit",))
    assert "dx" in transcript.first.message


def test_a_verdict_shows_a_word_and_a_sign_and_never_colour_alone():
    right, wrong = rnnlab.check(last_step), rnnlab.check(wrong_last_step)
    assert str(right).startswith("✔ passed")
    assert str(wrong).startswith("✘ failed")
    assert "✘ failed" in wrong._repr_html_()
    assert "takes the last sequence" in str(wrong)


def test_hints_open_one_at_a_time_and_are_remembered_by_another_kernel():
    assert "Hint 1 of 3" in str(rnnlab.hint(last_step))
    code = "import rnnlab\ndef last_step(y): pass\nprint(rnnlab.hint(last_step))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Hint 2 of 3" in done.stdout
    for _ in range(5):
        last = rnnlab.hint(last_step)
    assert "Hint 3 of 3" in str(last)


def test_use_gives_the_learners_own_once_it_passed_and_the_courses_until_then(capsys):
    rnnlab.check(wrong_last_step)
    assert rnnlab.use(wrong_last_step) is not wrong_last_step
    assert "the course's own" in capsys.readouterr().out
    rnnlab.check(last_step)
    assert rnnlab.use(last_step) is last_step
    assert "yours" in capsys.readouterr().out


def test_an_answer_that_uses_itself_gets_the_same_verdict_as_in_a_grade():
    def last_step(y):
        return rnnlab.use(last_step)(y)

    assert rnnlab.check(last_step).status == "crashed"
    assert rnnlab.use(last_step) is not last_step


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        ("last_step", "takes the function itself"),
        (np.ones(2), "not what it returns"),
        (lambda y: y, "lambda|name"),
    ],
    ids=["a name", "a result", "a lambda"],
)
def test_what_is_no_exercise_is_told_with_the_remedy(thing, message):
    with pytest.raises((TypeError, ValueError), match=message):
        rnnlab.check(thing)


def test_a_function_of_another_name_is_told_the_nearest():
    def last_stop(y):
        return y

    with pytest.raises(ValueError, match="last_step"):
        rnnlab.check(last_stop)


def test_progress_counts_what_passed_and_a_later_failure_takes_nothing_back():
    for function in (wrong_last_step, last_step, wrong_last_step):
        rnnlab.check(function)
    assert holds(str(rnnlab.progress("start_here")), "1 of 3", "1 of 6")


def test_an_untouched_exercise_is_no_try():
    def last_step(y):
        raise NotImplementedError

    assert rnnlab.check(last_step).status == "not_attempted"
    assert progress_file.entries() == {}


def test_practice_shows_a_verdict_and_stores_none_and_all_checks_of_lessons_are_practice():
    assert not rnnlab.check(wrong_last_step, practice=True).passed
    assert progress_file.entries() == {}
    texts = [path.read_text(encoding="utf-8") for path in ROOT.glob("notebooks/source/*.py")]
    checked = [call for text in texts for call in re.findall(r"^rnnlab\.check\(.*\)$", text, re.M)]
    assert checked
    assert all(call.endswith("practice=True)") for call in checked)


def test_two_notebooks_write_at_once_and_nothing_is_lost(home):
    code = "import rnnlab\ndef last_step(y): return y[-1].copy()\nfor _ in range(10): rnnlab.check(last_step)"
    running = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(3)]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert progress_file.entries()["last_step"].tries == 30


def test_a_folder_that_cannot_be_used_is_a_warning_and_the_verdict_still_shows(home):
    home.write_text("a file where the folder should be")
    with pytest.warns(UserWarning, match="could not keep"):
        assert rnnlab.check(last_step).passed


@pytest.mark.parametrize("damage", ["no database", "cut", "overwritten"])
def test_a_damaged_progress_file_is_moved_aside_and_progress_begins_anew(home, damage):
    rnnlab.check(last_step)
    path = home / "progress.sqlite"
    whole = path.read_bytes()
    spoilt = {"no database": b"x" * 5000, "cut": whole[:5000], "overwritten": whole[:4096] + b"x" * 9000}
    path.write_bytes(spoilt[damage])
    with pytest.warns(UserWarning, match="begins your progress anew"):
        assert rnnlab.check(last_step).passed
    assert progress_file.entries()["last_step"].passed
    (aside,) = home.glob("progress.damaged-*")
    assert aside.read_bytes() == spoilt[damage]


def test_a_full_disk_is_a_warning_and_the_verdict_still_shows(monkeypatch):
    def full(*arguments, **options):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(progress_file.sqlite3, "connect", full)
    with pytest.warns(UserWarning, match="disk is full"):
        assert rnnlab.check(last_step).passed


def rows(home, *statements):
    home.mkdir()
    with sqlite3.connect(home / "progress.sqlite") as database:
        database.executescript(progress_file.TABLES + ";".join(statements))
    database.close()


@pytest.mark.parametrize("value", ["NULL", "'abc'", "x'00ff'", "-5", "1e300", "cast(x'ff' AS TEXT)"])
def test_odd_numbers_in_the_progress_file_are_shown_as_none_and_mended_by_the_next_verdict(home, value):
    rows(
        home, f"INSERT INTO verdicts VALUES ('last_step', 'u', 'failed', {value}, {value}, {value}, {value})"
    )
    assert holds(str(rnnlab.progress("start_here")), "0 of 3", "0 of 6")
    rnnlab.check(last_step)
    assert holds(str(rnnlab.progress("start_here")), "1 of 3", "1 of 6")


@pytest.mark.parametrize(
    "row", ["NULL, 'u', 'failed'", "'last_step', 'u', 'of the future'", "x'ff', 'u', NULL"]
)
def test_a_row_that_makes_no_sense_is_left_out_and_the_others_are_shown(home, row):
    good = "INSERT INTO verdicts VALUES ('measure_gemm', 'u', 'passed', NULL, 1, 3, 1)"
    rows(home, f"INSERT INTO verdicts VALUES ({row}, NULL, 0, 0, 0)", good)
    assert holds(str(rnnlab.progress("start_here")), "1 of 3", "3 of 6")


def test_an_exercise_that_left_the_course_stays_in_the_file_and_is_not_counted(home):
    cut = "INSERT INTO verdicts VALUES ('choose_schedule', 'parallel_cpu', 'passed', NULL, 1, 3, 2)"
    remaining = "INSERT INTO verdicts VALUES ('amdahl_limit', 'parallel_cpu', 'passed', NULL, 1, 2, 1)"
    rows(home, cut, remaining, "INSERT INTO hints VALUES ('choose_schedule', 2)")
    assert "1 of 3 exercises passed, 2 of " in str(rnnlab.progress("parallel_cpu"))
    assert progress_file.entries()["choose_schedule"].tries == 2
    assert rnnlab.progress()


def test_a_file_that_a_newer_version_wrote_is_left_as_it_is(home):
    rows(home, "PRAGMA user_version = 9")
    before = (home / "progress.sqlite").read_bytes()
    with pytest.warns(UserWarning, match="a newer rnnlab has written"):
        assert rnnlab.check(last_step).passed
    assert (home / "progress.sqlite").read_bytes() == before


def test_without_a_home_progress_is_kept_below_the_temporary_folder(monkeypatch, tmp_path):
    def nobody():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("RNNLAB_HOME")
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setattr(progress_file.Path, "home", nobody)
    monkeypatch.setattr(progress_file.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(progress_file.sys, "platform", "linux")
    assert rnnlab.check(last_step).passed
    assert progress_file.entries()["last_step"].passed
    progress_file.home().rename(tmp_path / "elsewhere")
    progress_file.home().symlink_to(tmp_path / "elsewhere")
    with pytest.warns(UserWarning, match="made by another user"):
        assert progress_file.entries() == {}


def test_a_loop_that_never_ends_is_stopped_in_the_notebook_as_in_a_grade():
    def doubled(x):
        while True:
            x = x + 1

    verdict = judge(
        made(lambda submission, rng: submission(np.ones(2))), InProcess(doubled, "doubled", seconds=0.05), 1
    )
    assert verdict.status is Status.timeout
    assert holds(verdict.message, "0.05")
    assert InProcess(doubled, "doubled").left == np.inf  # the judge limits known mistakes itself


def test_the_table_of_one_lesson_has_no_column_for_it():
    one, every = (rnnlab.progress(lesson)._repr_html_() for lesson in ("bptt", None))
    assert ">lesson<" not in one
    assert ">bptt<" not in one
    assert ">lesson<" in every
    assert ">bptt<" in every
