"""Whatever a file, a disk or a screen does: a verdict or one sentence, the other exercises graded, no marks
lost, and an exit status that never confuses the grader's fault with a failing student."""

import json
import os
import stat
import subprocess
import sys
import threading
import time

import pytest
from attacks_table import exercise as demo
from test_grading_notebooks import COUNT, RIGHT, STUB, book, verdicts
from values_in import holds

from nbjudge import clock
from nbjudge.authoring.course import ROOT
from nbjudge.finding import notebook_file
from nbjudge.grading import grade as grading
from nbjudge.grading.grade import grade, judge_apart
from nbjudge.printable import LONGEST, printable
from nbjudge.running import sandbox
from nbjudge.running.learner_answer import of_source
from nbjudge.running.worker import NotStarted
from nbjudge.verdict import Status, Verdict
from rnncourse import checks, cli

SOLVED = ROOT / "solutions/00_start_here.ipynb"


@pytest.fixture
def written(tmp_path):
    def write(*cells, name="00_start_here.ipynb"):
        path = tmp_path / name
        path.write_text(json.dumps(book(*cells)))
        return path

    return write


def command(*arguments, python=("-P", "-m", "rnncourse.cli"), **options):
    return subprocess.run(
        [sys.executable, *python, *map(str, arguments)], capture_output=True, timeout=600, **options
    )


@pytest.mark.parametrize(
    ("source", "status"),
    [
        ("raise ValueError('\\ud800')", "crashed"),
        ("raise type('\\ud800', (Exception,), {})", "crashed"),
        ("return {'\\ud800': 1}", "failed"),
        ("raise ValueError('\\x1b[2A\\x1b[K' + chr(0x202e) + chr(0x9b) + 'x' * 9999)", "crashed"),
    ],
)
def test_what_an_answer_says_never_moves_the_teachers_cursor(written, tmp_path, source, status):
    path = written(f"def last_step(y):\n    {source}", COUNT)
    done = command("grade", path, "--json", tmp_path / "out.json")
    assert done.returncode == 1
    assert not {"\x1b", "\u202e", "\x9b"} & {*done.stdout.decode("utf-8")}
    rows = {row["name"]: row for row in json.loads((tmp_path / "out.json").read_text())["exercises"]}
    assert (rows["last_step"]["status"], rows["count_rnn_flops"]["status"]) == (status, "passed")
    assert len(rows["last_step"]["message"]) <= LONGEST


def test_a_verdict_shows_no_control_format_or_surrogate_character_and_is_cut():
    text = "a\x1b[31m\u202e\u200b\ud800\x85\u2028\tb\nc"
    shown = printable(text)
    assert shown == "a\\x1b[31m\\u202e\\u200b\\ud800\\x85\\u2028\tb\nc"
    verdict = Verdict("f", Status.failed, 0, 1, "x" * 10**6, text, text)
    assert len(verdict.message) == LONGEST
    assert verdict.misconception == verdict.next_step == shown
    assert printable("x\n" * 1000).count("\n") < 50
    assert printable("é ✔ 日本 →") == "é ✔ 日本 →"
    names = "علی\u200cرضا क्\u200dष"  # joiners that these scripts need; between Latin letters they only hide
    assert printable(names) == names
    assert printable("a\u200cb \u200dé") == "a\\u200cb \\u200dé"


@pytest.mark.parametrize("way", [{"PYTHONIOENCODING": "latin-1"}, {"PYTHONIOENCODING": "ascii"}])
def test_a_screen_that_knows_no_check_mark_costs_no_marks(way):
    done = command("grade", SOLVED, env=os.environ | way)
    assert done.returncode == 0
    assert b"\\u2714 passed" in done.stdout


def test_a_full_screen_ends_in_a_sentence_after_the_report_is_kept(tmp_path):
    out = tmp_path / "out.json"
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "rnncourse.cli", "grade", str(SOLVED), "--json", str(out)],
            stdout=full, stderr=subprocess.PIPE, timeout=600,
        )  # fmt: skip
    assert done.returncode == 2
    assert b"No space left on device" in done.stderr.splitlines()[-1]
    assert json.loads(out.read_text())["score"] == 6


def pipe(folder):
    os.mkfifo(folder / "00_start_here.ipynb")


def link_to_zero(folder):
    (folder / "00_start_here.ipynb").symlink_to("/dev/zero")


def loop(folder):
    (folder / "00_start_here.ipynb").symlink_to("00_start_here.ipynb")


def huge(folder):
    with open(folder / "00_start_here.ipynb", "wb") as file:
        file.truncate(1 << 30)


def empty_lists(folder):
    path = folder / "00_start_here.ipynb"
    path.write_text('{"cells": [' + "[]," * (4 << 20) + "[]]}")


def endless_of_the_kernel(folder):
    (folder / "00_start_here.ipynb").symlink_to("/proc/self/environ")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (pipe, "not a regular file"),
        (link_to_zero, "not a regular file"),
        (loop, "cannot be read|does not exist"),
        (huge, "larger than 256 MiB"),
        (empty_lists, "too much memory"),
        (endless_of_the_kernel, "not a notebook"),
    ],
)
def test_what_is_no_notebook_file_is_refused_in_a_sentence(tmp_path, make, message, capsys, monkeypatch):
    monkeypatch.setattr(notebook_file, "MEMORY", 256 << 20)
    make(tmp_path)
    assert cli.main(["grade", str(tmp_path / "00_start_here.ipynb")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert any(word in error for word in message.split("|"))


def test_more_program_text_than_anyone_writes_costs_only_what_stands_behind_it(written):
    path = written(RIGHT, f"x = {'[],' * (3 << 20)}[]\n{COUNT}")
    result = verdicts(path)
    assert result["last_step"].passed
    assert result["count_rnn_flops"].status == "crashed"
    assert "8 MiB" in result["count_rnn_flops"].message


def device(folder):
    return "/dev/null"


def report_pipe(folder):
    os.mkfifo(folder / "report")
    return folder / "report"


def report_link(folder):
    (folder / "target").write_text("kept")
    (folder / "report").symlink_to(folder / "target")
    return folder / "report"


def report_folder(folder):
    (folder / "report").mkdir()
    return folder / "report"


@pytest.mark.parametrize("make", [device, report_pipe, report_link, report_folder, lambda folder: SOLVED])
def test_a_report_replaces_nothing_but_a_report_and_is_refused_before_grading(
    tmp_path, make, monkeypatch, capsys
):
    out = make(tmp_path)
    before = os.lstat(out)
    monkeypatch.setattr(grading, "grade_one", lambda *arguments: pytest.fail("graded"))
    assert cli.main(["grade", str(SOLVED), "--json", str(out)]) == 2
    after = os.lstat(out)
    assert (before.st_ino, before.st_mode) == (after.st_ino, after.st_mode)
    assert capsys.readouterr().err


def test_a_report_has_the_rights_that_the_umask_leaves(written, tmp_path):
    before = os.umask(0o027)
    try:
        grade(written(STUB), seed=1, only="last_step").save(tmp_path / "out.json")
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(tmp_path / "out.json").st_mode) == 0o640


@pytest.mark.parametrize("seed", ["-1", "1.5", "x", str(1 << 53), "1" * 5000, "٣"])
def test_a_seed_outside_its_range_is_refused(seed, capsys):
    with pytest.raises(SystemExit, match="2"):
        cli.main(["grade", str(SOLVED), f"--seed={seed}"])
    assert "not a whole number from 0 to" in capsys.readouterr().err


def test_the_largest_seed_grades(written):
    assert grade(written(RIGHT), seed=(1 << 53) - 1, only="last_step").verdicts[0].passed


def judged(source, check=None, **changes):
    import dataclasses

    changed = dataclasses.replace(demo(), **({"check": check} if check else {}), **changes)
    return judge_apart(changed, of_source("running_sum", source), 1, sandbox.choose())


HONEST = "import numpy as np\ndef running_sum(x):\n    return np.cumsum(x, axis=0)"


def test_a_check_that_breaks_on_the_courses_own_answer_costs_no_marks():
    def broken(submission, rng):
        raise KeyError("a slip of the course")

    verdict = judged(HONEST, broken)
    assert (verdict.status, verdict.points) == ("grader_error", 100)


def test_a_judge_that_hangs_ends_and_says_so(monkeypatch):
    def endless(submission, rng):
        while True:
            try:
                time.sleep(0.01)
            except Exception:
                pytest.fail("the clock can be swallowed")

    monkeypatch.setattr(grading, "OWN_SECONDS", 0.2)
    verdict = judged(HONEST, endless, seconds=0.2)
    assert (verdict.status, verdict.points) == ("grader_error", 100)
    assert "did not come to an end" in verdict.message


def test_a_hang_that_the_courses_own_answer_does_not_share_gives_no_marks(monkeypatch):
    def slow_on_zeros(submission, rng):
        while not submission([[1.0]]).any():
            time.sleep(0.01)

    monkeypatch.setattr(grading, "OWN_SECONDS", 0.3)
    zeros = "import numpy as np\ndef running_sum(x):\n    return np.zeros(1)"
    verdict = judged(zeros, slow_on_zeros, seconds=0.3)
    assert (verdict.status, verdict.points) in [("grader_error", 0), ("timeout", 0)]


def test_the_clock_leaves_other_threads_alone():
    def run():
        with clock.limited(0.01):
            time.sleep(0.05)
            done.append(True)

    done = []
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert done


def test_a_process_that_does_not_start_gives_no_marks_and_the_exit_status_is_3(written, monkeypatch, capsys):
    def refuse(self):
        raise NotStarted(self.name, "no processes left")

    monkeypatch.setattr(grading.Worker, "_await_ready", refuse)
    assert cli.main(["grade", str(written(RIGHT, STUB, COUNT))]) == 3
    shown = capsys.readouterr().out
    assert holds(shown, "last_step", "0", "1")
    assert holds(shown, "last_step", "count_rnn_flops")


@pytest.mark.parametrize("error", [UnicodeError("odd"), OSError(28, "No space left"), MemoryError()])
def test_a_judge_that_fails_on_one_exercise_grades_the_others(written, monkeypatch, error):
    def fail_on_one(notebook, name, is_kernel):
        if name == "last_step":
            raise error
        return answer(notebook, name, is_kernel)

    answer = grading.Notebook.answer
    monkeypatch.setattr(grading.Notebook, "answer", fail_on_one)
    result = verdicts(written(RIGHT, COUNT))
    assert (result["last_step"].status, result["last_step"].points) == ("grader_error", 0)
    assert result["count_rnn_flops"].passed


@pytest.mark.slow
def test_kernels_are_graded_and_progress_is_told_where_numba_is_missing(tmp_path):
    missing = "raise ModuleNotFoundError(\"No module named 'numba'\", name='numba')"
    (tmp_path / "numba.py").write_text(missing)
    env = os.environ | {"PYTHONPATH": str(tmp_path), "RNNLAB_HOME": str(tmp_path / "home")}
    assert command("grade", ROOT / "solutions/09_cuda_first_kernels.ipynb", env=env).returncode == 0
    done = command("progress", env=env)
    assert (done.returncode, done.stderr) == (0, b"")
    points = sum(sum(checks.catalogue(lesson).values()) for lesson in checks.LESSONS)
    assert f"of {points} points".encode() in done.stdout


def test_the_catalogue_has_the_names_and_points_of_the_checks_themselves():
    for lesson in checks.LESSONS:
        own = {exercise.name: exercise.points for exercise in checks.exercises(lesson)}
        assert list(own.items()) == list(checks.catalogue(lesson).items())


def test_a_file_name_with_escapes_is_shown_without_them(tmp_path, capsys):
    for path in (tmp_path / "\x1b[2Aevil.ipynb", tmp_path / "\udcff.ipynb"):
        assert cli.main(["grade", str(path)]) == 2
        with pytest.raises(SystemExit, match="2"):
            cli.main(["grade", str(path), str(path)])
        assert "\x1b" not in capsys.readouterr().err


def test_without_a_working_sandbox_the_report_says_why_and_a_required_one_is_refused(monkeypatch, capsys):
    why = "bubblewrap does not work here: no user namespaces"
    monkeypatch.setattr(sandbox, "_why_not_bubblewrap", lambda: why)
    assert cli.main(["grade", str(SOLVED), "--require-sandbox"]) == 2
    assert "no user namespaces" in capsys.readouterr().err
    assert cli.main(["grade", str(SOLVED), "--only", "last_step"]) == 0
    assert holds(capsys.readouterr().out, "plain", "no user namespaces")


def test_a_kernel_where_the_simulators_package_is_missing_is_not_called_forbidden(monkeypatch):
    """It was, for a right answer, where lessons 00 to 05 alone were installed."""
    from nbjudge.running import conversation
    from nbjudge.running.inside import guard, main
    from rnncourse.kernel_answers import kernels

    def prepare(course):
        raise ImportError("kernels need it") from ModuleNotFoundError("No module named 'numba'", name="numba")

    monkeypatch.setattr(kernels, "prepare", prepare)
    monkeypatch.setattr(conversation, "find_spec", lambda name: None)
    module, missing = main._prepared(kernels, "anywhere")
    assert module is None
    with pytest.raises(ModuleNotFoundError) as caught:
        guard._inert_course(guard.Own("rnnlab", [], "cuda", None, missing)).cuda  # noqa: B018
    outcome = {"type": "ModuleNotFoundError", "text": str(caught.value), "where": ""}
    stopped = conversation._raised("tanh_kernel", outcome)
    assert stopped.status == Status.grader_error
    assert holds(str(stopped.args), "tanh_kernel", "numba")


def test_a_notebook_whose_numbers_take_too_long_to_find_costs_one_exercise_its_verdict(written, monkeypatch):
    def fail_on_one(notebook, name):
        if name == "last_step":
            raise clock.Overtime
        return {}

    monkeypatch.setattr(grading.Notebook, "numbers", fail_on_one)
    result = verdicts(written(RIGHT, COUNT))
    assert (result["last_step"].status, result["last_step"].points) == ("grader_error", 0)
    assert result["count_rnn_flops"].passed


def test_a_notebook_whose_lesson_takes_too_long_to_find_is_refused_by_the_judge(written, monkeypatch):
    monkeypatch.setattr(grading, "lesson_of", lambda *named: time.sleep(60) or "start_here")
    monkeypatch.setattr(grading, "OWN_SECONDS", 0.2)
    with pytest.raises(notebook_file.Unusable):
        grade(written(RIGHT), seed=1)
