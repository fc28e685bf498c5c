"""A class is graded once, whatever interrupts it: kills, half lines, a full disk, a second grader, dying
judges.

Most tests grade with a made-up engine; those of the real one use the course's shortest lesson.
"""

import errno
import json
import os
import subprocess
import sys
import textwrap
import threading
import time
from dataclasses import replace

import psutil
import pytest

from rnnlab import checks, cli
from rnnlab.grading.classroom import engines, keys, lock, regrade, results, run, submissions, versions
from rnnlab.grading.classroom.collect import Assignment, collect
from rnnlab.grading.classroom.judge import Judge
from rnnlab.grading.grade import grade
from rnnlab.grading.notebook_file import Unusable
from rnnlab.grading.sandbox import CHECKOUT, choose
from rnnlab.grading.self_check import notebook
from rnnlab.grading.verdict import Status, Verdict

LESSON = "start_here"
POINTS = checks.catalogue(LESSON)
FIRST, SECOND, THIRD = POINTS
STUDENTS = "ada", "bob", "eve", "kim", "zoë"
IGNORE = lambda line: None
HONEST = json.loads(notebook("solutions", LESSON).read_text(encoding="utf-8"))
KILLS_ITS_JUDGE = f"""
import ctypes, os, signal
def {FIRST}(*inputs):
    ctypes.CDLL(None).kill(os.getppid(), signal.SIGKILL)
"""


def book(student, code=""):
    """The solved notebook with a cell of the student's own at its end."""
    own = {"cell_type": "code", "source": f"# {student}\n{code}"}
    return json.dumps({"cells": [*HONEST["cells"], own]})


@pytest.fixture
def folder(tmp_path):
    """A class folder of five students."""
    return class_of(tmp_path, {student: book(student) for student in STUDENTS})


def class_of(place, books):
    for student, content in books.items():
        (place / "in" / student).mkdir(parents=True)
        (place / "in" / student / "00_start_here.ipynb").write_text(content, encoding="utf-8")
    collect(place / "class", [place / "in"], Assignment())
    return place / "class"


def outcome(job, failing=()):
    """What a judge would answer who finds every exercise right but some."""
    status = lambda name: Status.failed if name in failing else Status.passed
    names = job["names"] or POINTS
    verdicts = [Verdict(n, status(n), 0 if n in failing else POINTS[n], POINTS[n], "…") for n in names]
    entries = [results.exercise_entry(verdict, job["grader"]) for verdict in verdicts]
    facts = {"problem": None, "sandbox": "bubblewrap", "variant": {}, "cpu": {}, "max_score": 6}
    return facts | {"exercises": entries}


def pretended(failing=(), stop_after=None):
    """An engine without processes, which may break off after some jobs."""

    def engine(jobs):
        for number, job in enumerate(jobs):
            if number == stop_after:
                raise KeyboardInterrupt
            yield job, outcome(job, failing)

    return engine


def graded(folder, **options):
    return run.grade_class(folder, pretended(), IGNORE, resume=True, plain=True, **options)


def bare(folder):
    return [result.without_times() for result in results.load(folder)]


def test_each_submission_has_a_file_a_line_and_a_seed_of_the_class_key(folder):
    listed = graded(folder)
    assert [result.student for result in listed] == sorted(STUDENTS)
    lines = (folder / "results.jsonl").read_text(encoding="utf-8").splitlines()
    assert [results.parsed(line) for line in lines] == listed
    seeds = [keys.seed(keys.class_key(folder), LESSON, attempt) for attempt in (1, 2)]
    assert {result.seed for result in listed} == {seeds[0]} != {seeds[1]}
    assert [verdict.status for verdict in listed[0].verdicts] == ["passed"] * 3


def test_a_second_run_does_only_what_is_missing(folder):
    with pytest.raises(KeyboardInterrupt):
        run.grade_class(folder, pretended(stop_after=2), IGNORE, plain=True)
    assert len(results.load(folder)) == 2
    with pytest.raises(Unusable, match="2 of 5 submissions are graded: --resume"):
        run.grade_class(folder, pretended(), IGNORE, plain=True)
    before = {path: path.stat().st_mtime_ns for path in folder.glob("results/*/*.json")}
    words = []
    run.grade_class(folder, pretended(), words.append, resume=True, plain=True)
    assert words == ["2 are graded already", "3 to grade"]
    assert all(path.stat().st_mtime_ns == moment for path, moment in before.items())
    assert len(results.load(folder)) == 5


def test_a_new_attempt_is_graded_and_the_others_are_not(folder, tmp_path):
    graded(folder)
    later = tmp_path / "in" / "ada" / "00_start_here (1).ipynb"
    later.write_text(book("ada again"), encoding="utf-8")
    os.utime(later, (2e9, 2e9))
    collect(folder, [tmp_path / "in"], Assignment())
    assert [job["student"] for job in run.plan(folder, plain=True).jobs] == ["ada"]
    assert len(results.load(folder)) == 4, "the old attempt's result counts no more"
    assert len(graded(folder)) == 5


@pytest.mark.parametrize("harm", ["no line", "half a line", "no list", "no file", "left over"])
def test_what_a_kill_leaves_between_file_and_line_is_repaired(harm, folder):
    listed = graded(folder)
    path = folder / "results.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    first = results.path_of(folder / "results", *listed[0].place)
    if harm == "no line":
        path.write_text("".join(lines[1:]), encoding="utf-8")
    elif harm == "half a line":
        path.write_text("".join(lines[:-1]) + lines[-1][:40], encoding="utf-8")
    elif harm == "no list":
        path.unlink()
    elif harm == "no file":
        first.unlink()
    else:
        first.with_name(f".{first.name}.1.part").write_text("{", encoding="utf-8")
    assert results.repair(folder) == listed
    assert path.read_text(encoding="utf-8") == "".join(lines)
    assert [file.name for file in first.parent.iterdir()] == [first.name]


def test_shares_are_the_class_and_their_lists_merge_by_concatenation(folder, tmp_path):
    jobs = run.plan(folder, plain=True).jobs
    shares = [engines.of_share(jobs, number, 3) for number in (1, 2, 3)]
    assert sorted(job["student"] for share in shares for job in share) == sorted(STUDENTS)
    lines = []
    for number in (1, 2, 3):
        copy = tmp_path / f"node {number}"
        subprocess.run(["cp", "-a", folder, copy], check=True)
        run.grade_class(copy, pretended(), IGNORE, plain=True, share=(number, 3))
        lines.append((copy / "results.jsonl").read_text(encoding="utf-8"))
    (folder / "results.jsonl").write_text("".join(lines), encoding="utf-8")
    words = []
    merged = run.grade_class(folder, pretended(FIRST), words.append, resume=True, plain=True)
    assert words == ["5 are graded already", "0 to grade"]
    assert [result.score for result in merged] == [6] * 5


@pytest.mark.parametrize("text", ["0/3", "4/3", "1", "a/b", "1/0", "-1/3", "1/3/5"])
def test_a_share_that_is_none_is_refused(text):
    with pytest.raises(Unusable, match="is no share: write 1/40"):
        engines.share(text)


def test_a_full_disk_ends_the_run_and_keeps_what_was_graded(folder, monkeypatch):
    write, count = results.write_whole, []

    def full(path, content):
        count.append(path)
        if len(count) > 3:  # the first writes the list of nothing
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, content)

    monkeypatch.setattr(results, "write_whole", full)
    with pytest.raises(Unusable, match=r"No space left on device\. The 2 graded before it are kept"):
        graded(folder)
    monkeypatch.setattr(results, "write_whole", write)
    assert len(results.load(folder)) == 2
    assert len(graded(folder)) == 5


def test_two_graders_in_one_folder_do_not_mix(folder, capsys):
    with lock.lock(folder):
        assert cli.main(["class", "grade", str(folder), "--plain"]) == 2
        assert f"is being graded by process {os.getpid()}" in capsys.readouterr().err
        with pytest.raises(Unusable), lock.lock(folder, "1-of-2"):
            pass
    with lock.lock(folder, "1-of-2"), lock.lock(folder, "2-of-2"), pytest.raises(Unusable), lock.lock(folder):
        pass
    with lock.lock(folder, "1-of-2"), pytest.raises(Unusable), lock.lock(folder, "1-of-2"):
        pass


def test_a_grader_that_waits_goes_on_when_the_other_has_ended(folder):
    entered = threading.Event()

    def wait():
        with lock.lock(folder, wait=True):
            entered.set()

    with lock.lock(folder):
        thread = threading.Thread(target=wait)
        thread.start()
        assert not entered.wait(0.05)
    thread.join(10)
    assert entered.is_set()


def test_a_lost_key_stops_grading_and_says_what_another_one_would_change(folder, capsys):
    graded(folder)
    (folder / "class.key").unlink()
    assert cli.main(["class", "grade", str(folder), "--plain", "--resume"]) == 2
    assert "changes the seeds of 5 results" in capsys.readouterr().err
    keys.accept_key(folder)
    assert len(run.plan(folder, plain=True).jobs) == 5


def test_results_of_other_checks_stay_until_a_regrade_is_written(folder, monkeypatch):
    graded(folder)
    before = bare(folder)
    monkeypatch.setattr(versions, "grader_digest", lambda lesson: "another grader")
    words = []
    run.grade_class(folder, pretended(), words.append, resume=True, plain=True)
    assert "5 of them by another version of the checks" in words[1]
    assert bare(folder) == before
    selection = regrade.Selection(student="ada")
    pairs = regrade.regrade(folder, pretended([SECOND]), selection, plain=True)
    shown = list(regrade.describe(pairs))
    assert shown == [f"ada, {SECOND}: passed 2 → failed 0", "1 graded again, 1 change, -2 points in all"]
    assert bare(folder) == before, "nothing is written before --write"
    regrade.take_over(folder, pairs)
    after = {result.student: result for result in results.load(folder)}
    assert (after["ada"].score, after["bob"].score) == (4, 6)
    assert after["ada"].grader == "another grader"


def test_one_exercise_is_regraded_and_the_others_keep_their_verdicts(folder, monkeypatch):
    graded(folder)
    old = versions.grader_digest(LESSON)
    monkeypatch.setattr(versions, "grader_digest", lambda lesson: "another grader")
    pairs = regrade.regrade(
        folder, pretended([FIRST, SECOND]), regrade.Selection(exercise=SECOND), plain=True
    )
    assert [(old.score, new.score, new.grader) for old, new in pairs] == [(6, 4, None)] * 5
    regrade.take_over(folder, pairs)
    graders = {entry["name"]: entry["grader"] for entry in results.load(folder)[0].exercises}
    assert graders == {FIRST: old, SECOND: "another grader", THIRD: old}
    assert not list(folder.glob("regraded/*/*.json"))


def test_a_regrade_that_was_killed_goes_on_where_it_was(folder):
    graded(folder)
    with pytest.raises(KeyboardInterrupt):
        regrade.regrade(folder, pretended(stop_after=3), regrade.Selection(), plain=True)
    jobs = []

    def engine(missing):
        jobs.extend(missing)
        return pretended()(missing)

    assert len(regrade.regrade(folder, engine, regrade.Selection(), plain=True)) == 5
    assert len(jobs) == 2


def test_a_selection_without_a_result_is_refused(folder):
    graded(folder)
    with pytest.raises(Unusable, match="nothing to grade again"):
        regrade.regrade(folder, pretended(), regrade.Selection(student="nobody"), plain=True)


def test_a_class_without_submissions_is_refused(tmp_path, capsys):
    assert cli.main(["class", "grade", str(tmp_path / "none")]) == 2
    (tmp_path / "empty").mkdir()
    assert cli.main(["class", "grade", str(tmp_path / "empty"), "--plain"]) == 2
    submissions.save(tmp_path / "empty", [])
    assert cli.main(["class", "grade", str(tmp_path / "empty"), "--plain"]) == 2
    error = capsys.readouterr().err
    assert all(
        part in error for part in ("no class folder", "no submissions.jsonl", "no submission to grade")
    )


def test_without_a_sandbox_a_class_is_refused_unless_that_is_accepted(folder, monkeypatch, capsys):
    monkeypatch.setattr("rnnlab.grading.sandbox._why_not_bubblewrap", lambda: "it is not installed")
    assert cli.main(["class", "grade", str(folder)]) == 2
    assert "because it is not installed" in capsys.readouterr().err


def test_the_digest_of_a_lesson_is_of_its_own_code_alone():
    digests = {lesson: versions.grader_digest(lesson) for lesson in ("start_here", "bptt")}
    assert len({*digests.values()}) == 2
    names = {path.name for path in versions._files("start_here")}
    assert {"start_here.py", "start_here.answers", "judge.py", "guard.py", "sandbox.py"} <= names
    assert not {"bptt.py", "collect.py", "report.py", "views.py"} & names


def play(*words):
    """A judge's program that tells words: {exercise} is what it still has to judge."""
    script = """
        import json, os, signal, sys, time
        def tell(**word): print(json.dumps(word), flush=True)
        def entry(name): return {"name": name, "points": 1, "fault": False, "grader": "g"}
        for line in sys.stdin:
            job = json.loads(line)
            for name in ("last_step", "count_rnn_flops", "measure_gemm"):
                if name in job["passed_over"]: continue
                tell(begins=name, limit=0.5)
                if name == "count_rnn_flops": WORDS
                tell(exercise=entry(name), cpu={}, variant=None)
            tell(ends=None, sandbox="plain", max_score=6)
    """
    return [sys.executable, "-c", textwrap.dedent(script).replace("WORDS", *words)]


@pytest.mark.parametrize("deed", ["os.kill(os.getpid(), signal.SIGKILL)", "time.sleep(100)", "sys.exit()"])
def test_a_judge_that_dies_or_hangs_twice_is_a_fault_and_the_rest_is_judged(deed):
    job = {"lesson": LESSON, "passed_over": [], "names": None, "grader": "g"}
    with Judge(play(deed)) as judge:
        found = {entry["name"]: entry for entry in judge.grade(job)["exercises"]}
    assert [*found] == [FIRST, SECOND, THIRD]
    assert found[SECOND]["fault"]
    assert found[SECOND]["points"] == 0
    assert "killed or hung 2 times" in found[SECOND]["message"]
    assert not found[FIRST]["fault"]
    assert not found[THIRD]["fault"]


def test_an_engine_that_is_left_early_leaves_no_judge(folder):
    job = {"lesson": LESSON, "passed_over": [], "names": None, "grader": "g"}
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    judges = []
    generator = engines._locally([job] * 3, 2, lambda: judges.append(Judge(play("pass"))) or judges[-1])
    next(generator)
    generator.close()
    assert {child.pid for child in psutil.Process().children(recursive=True)} <= before
    assert len(judges) == 2


def test_a_class_killed_while_it_is_graded_ends_as_one_that_was_not(folder, tmp_path):
    quiet = tmp_path / "quiet"
    subprocess.run(["cp", "-a", folder, quiet], check=True)
    command = [sys.executable, "-P", "-m", "rnnlab.cli", "class", "grade", "--jobs", "2", "--resume"]
    command += [] if choose().name == "bubblewrap" else ["--plain"]
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
    process = subprocess.Popen([*command, folder], env=environment, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while not list(folder.glob("results/*/*.json")) and time.monotonic() < until:
        time.sleep(0.01)
    judges = psutil.Process(process.pid).children()
    process.kill()
    process.wait()
    assert not psutil.wait_procs(judges, 20)[1], "no judge outlives the run"
    for place in (folder, quiet):
        done = subprocess.run([*command, place], env=environment, capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done.stderr
    assert bare(folder) == bare(quiet)
    assert [result.score for result in results.load(folder)] == [6] * 5
    report = grade(folder / submissions.load(folder)[0].file, seed=1, lesson=LESSON)
    assert report.score == 6


def test_an_answer_that_kills_its_judge_in_plain_mode_costs_nobody_else_a_mark(tmp_path):
    folder = class_of(tmp_path, {"mallory": book("mallory", KILLS_ITS_JUDGE), "zoë": book("zoë")})
    listed = run.grade_class(folder, engines.local(1), IGNORE, plain=True)
    mallory, zoe = sorted(listed, key=lambda result: result.student)
    assert [exercise["status"] for exercise in mallory.exercises] == ["grader_error", "passed", "passed"]
    assert mallory.faults == [FIRST]
    assert (mallory.score, zoe.score) == (6 - POINTS[FIRST], 6)
    assert any("not judged: mallory" in line for line in run.describe(listed))


def test_a_notebook_that_cannot_be_graded_has_a_problem_and_no_points(tmp_path):
    folder = class_of(tmp_path, {"ada": "{broken"})
    (result,) = run.grade_class(folder, engines.local(1), IGNORE, plain=True)
    assert (result.score, result.max_score, result.exercises) == (0, 6, ())
    assert "is not a notebook" in result.problem


def test_the_judge_refuses_a_job_that_another_grader_has_planned(folder):
    (job, *_) = run.plan(folder, plain=True).jobs
    with Judge() as judge, pytest.raises(Unusable, match="is another one than where the run was planned"):
        judge.grade(job | {"grader": "another"})


def test_progress_says_how_far_and_how_long(folder):
    from io import StringIO

    from rnnlab.grading.classroom.progress import Progress, left

    screen = StringIO()
    screen.isatty = lambda: True
    progress = Progress(100, screen)
    (result, *_) = graded(folder)
    for second in (10.0, 20.0):
        progress.count(result, second)
    progress.count(replace(result, exercises=(result.exercises[0] | {"fault": True},)), 30.0)
    assert screen.getvalue().endswith("3 of 100 graded · 1 with a fault of the grader · about 16 min left")
    assert left([0.0, 7200.0], 10) == "about 20.0 h left"
    assert left([0.0, 50.0], 0) == "50 s in all"


@pytest.mark.slow
def test_dask_grades_as_this_machine_does(folder, tmp_path):
    distributed = pytest.importorskip("distributed", reason="install the extra cluster")
    quiet = tmp_path / "quiet"
    subprocess.run(["cp", "-a", folder, quiet], check=True)
    run.grade_class(quiet, engines.local(1), IGNORE, plain=True)
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        run.grade_class(folder, engines.dask(cluster.scheduler_address), IGNORE, plain=True)
    assert bare(folder) == bare(quiet)


def test_an_engine_that_is_not_there_is_refused(folder, capsys):
    assert cli.main(["class", "grade", str(folder), "--plain", "--engine", "dask"]) == 2
    assert "--scheduler ADDRESS belong together" in capsys.readouterr().err
