"""The engines that grade a class: judges that die, hang or are left, a kill of the run, and Dask.

They grade the course's shortest lesson, in processes of their own.
"""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from types import SimpleNamespace

import psutil
import pytest
from pretended_class import FIRST, LESSON, POINTS, SECOND, STUDENTS, THIRD, bare, book, class_of, ignore
from values_in import holds

from nbjudge.classroom import engines, judge_process, results, run, submissions
from nbjudge.classroom.judge import Judge
from nbjudge.finding.notebook_file import Unusable
from nbjudge.grading.grade import grade
from nbjudge.running.sandbox import CHECKOUT, choose
from nbjudge.verdict import Status, Verdict
from rnncourse import checks, cli

LOSES_ITS_JUDGE = f"""
import ctypes, os, time
def {FIRST}(*inputs):
    judge = os.getppid()
    if ctypes.CDLL(None).fork() == 0:
        ctypes.CDLL(None).setsid()
        print(os.getpid(), judge, file=open("FORKS", "a"), flush=True)
    time.sleep(500)
"""


def kill_judges(forks, is_over):
    """Kill each judge that a line of the file names, as whoever runs out of memory does."""
    killed = set()
    while not is_over.wait(0.05):
        for line in forks.read_text().splitlines() if forks.exists() else ():
            if (judge := int(line.split()[1])) not in killed:
                killed.add(judge)
                os.kill(judge, signal.SIGKILL)


def test_a_judge_that_never_begins_is_a_fault_and_not_started_for_ever(folder):
    (job, *_) = run.plan(folder, plain=True).jobs
    with Judge([sys.executable, "-c", "raise SystemExit(1)"]) as judge:
        outcome = judge.grade(job)
    assert [(entry["name"], entry["fault"]) for entry in outcome["exercises"]] == [(n, True) for n in POINTS]


@pytest.fixture
def folder(tmp_path):
    """A class folder of five students."""
    return class_of(tmp_path, {student: book(student) for student in STUDENTS})


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
                tell(exercise=entry(name), variant=None)
            tell(ends=None, sandbox="plain", max_score=6)
    """
    return [sys.executable, "-c", textwrap.dedent(script).replace("WORDS", *words)]


@pytest.mark.parametrize(
    "deed",
    [
        "os.kill(os.getpid(), signal.SIGKILL)",
        "time.sleep(100)",
        "sys.exit()",
        "print('no word', flush=True)",
        "tell(exercise=entry('last_step'))",
    ],
)
def test_a_judge_that_dies_or_hangs_twice_is_a_fault_and_the_rest_is_judged(deed):
    job = {"lesson": LESSON, "passed_over": [], "names": None, "grader": "g"}
    with Judge(play(deed)) as judge:
        outcomes = {entry["name"]: entry for entry in judge.grade(job)["exercises"]}
    assert [*outcomes] == [FIRST, SECOND, THIRD]
    assert outcomes[SECOND]["fault"]
    assert outcomes[SECOND]["points"] == 0
    assert "killed or hung 2 times" in outcomes[SECOND]["message"]
    assert not outcomes[FIRST]["fault"]
    assert not outcomes[THIRD]["fault"]


def test_an_engine_that_is_left_early_leaves_no_judge(folder):
    job = {"lesson": LESSON, "passed_over": [], "names": None, "grader": "g"}
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    judges = []
    generator = engines._locally([job] * 3, 2, lambda: judges.append(Judge(play("pass"))) or judges[-1])
    next(generator)
    generator.close()
    assert {child.pid for child in psutil.Process().children(recursive=True)} <= before
    assert len(judges) == 2


@pytest.mark.slow
def test_a_class_killed_while_it_is_graded_ends_as_one_that_was_not(folder, tmp_path):
    quiet = tmp_path / "quiet"
    subprocess.run(["cp", "-a", folder, quiet], check=True)
    command = [sys.executable, "-P", "-m", "rnncourse.cli", "class", "grade", "--jobs", "2", "--resume"]
    command += [] if choose().name == "bubblewrap" else ["--plain"]
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
    process = subprocess.Popen([*command, folder], env=environment, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 600
    while not list(folder.glob("results/*/*.json")) and time.monotonic() < until:
        time.sleep(0.01)
    judges = psutil.Process(process.pid).children()
    process.kill()
    process.wait()
    assert not psutil.wait_procs(judges, 60)[1], "no judge outlives the run"
    for place in (folder, quiet):
        done = subprocess.run([*command, place], env=environment, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
    assert bare(folder) == bare(quiet)
    assert [result.score for result in results.load(folder)] == [6] * 5
    report = grade(folder / submissions.load(folder)[0].file, seed=1, lesson=LESSON)
    assert report.score == 6


def test_a_judge_that_dies_in_plain_mode_costs_nobody_else_a_mark(tmp_path):
    forks, is_over = tmp_path / "forks", threading.Event()
    code = LOSES_ITS_JUDGE.replace("FORKS", str(forks))
    folder = class_of(tmp_path, {"mallory": book("mallory", code), "zoë": book("zoë")})
    killer = threading.Thread(target=kill_judges, args=(forks, is_over))
    killer.start()
    listed = run.grade_class(folder, engines.local(1), ignore, plain=True)
    is_over.set()
    killer.join()
    left = [int(line.split()[0]) for line in forks.read_text().splitlines()]
    assert len(left) == 2, "one for each judge"
    assert not psutil.wait_procs([psutil.Process(pid) for pid in left if psutil.pid_exists(pid)], 60)[1]
    mallory, zoe = sorted(listed, key=lambda result: result.student)
    assert [exercise["status"] for exercise in mallory.exercises] == ["grader_error", "passed", "passed"]
    assert mallory.faults == [FIRST]
    assert (mallory.score, zoe.score) == (6 - POINTS[FIRST], 6)
    assert any("not judged: mallory" in line for line in run.describe(listed))


def test_a_notebook_that_cannot_be_graded_has_a_problem_and_no_points(tmp_path):
    folder = class_of(tmp_path, {"ada": "{broken"})
    (result,) = run.grade_class(folder, engines.local(1), ignore, plain=True)
    assert (result.score, result.max_score, result.exercises) == (0, 6, ())
    assert "is not a notebook" in result.problem


def test_the_judge_refuses_a_job_that_another_grader_has_planned(folder):
    (job, *_) = run.plan(folder, plain=True).jobs
    with Judge() as judge, pytest.raises(Unusable, match="is another one than where the run was planned"):
        judge.grade(job | {"grader": "another"})


@pytest.mark.slow
def test_dask_grades_as_this_machine_does(folder, tmp_path):
    distributed = pytest.importorskip("distributed", reason="install the extra cluster")
    quiet = tmp_path / "quiet"
    subprocess.run(["cp", "-a", folder, quiet], check=True)
    run.grade_class(quiet, engines.local(1), ignore, plain=True)
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        engine = engines.dask(cluster.scheduler_address)
        cluster.scale(0)  # as where all workers are started anew
        while cluster.scheduler.workers:
            time.sleep(0.01)
        threading.Timer(0.5, cluster.scale, (1,)).start()
        run.grade_class(folder, engine, ignore, plain=True)
    assert bare(folder) == bare(quiet)


def test_what_fails_on_a_cluster_is_a_fault_or_a_sentence():
    distributed = pytest.importorskip("distributed", reason="install the extra cluster")
    job = {"lesson": LESSON, "student": "ada", "passed_over": [], "names": None, "grader": "g"}

    def outcome(error):
        def result():
            raise error

        return engines._outcome(SimpleNamespace(result=result), job)

    killed = outcome(distributed.KilledWorker("task", None, 3))
    assert [exercise["fault"] for exercise in killed["exercises"]] == [True] * 3
    for error in (OSError("no route"), distributed.client.FutureCancelledError("key", "lost")):
        assert holds(str(outcome(error)), "ada")
    assert str(outcome(Unusable("as it is"))) == "as it is"


def test_an_engine_that_is_not_there_is_refused(folder, capsys):
    assert cli.main(["class", "grade", str(folder), "--plain", "--engine", "dask"]) == 2
    assert holds(capsys.readouterr().err, "--scheduler", "ADDRESS")


def test_what_the_grader_could_not_judge_is_tried_again(monkeypatch):
    exercise, words = checks.exercises(LESSON)[0], []
    statuses = [Status.grader_error, Status.passed]
    verdict = lambda *arguments: Verdict(exercise.name, statuses.pop(0), 1, 1, "")
    monkeypatch.setattr(judge_process.grade, "grade_one", verdict)
    job = {"token": None, "seed": 1, "grader": ""}
    judge_process._grade_exercise(exercise, [], job, None, words.append)
    assert (words[1]["exercise"]["status"], statuses) == (Status.passed, [])


@pytest.mark.parametrize(
    ("statuses", "expected"), [("timeout passed", "passed"), ("timeout timeout", "grader_error")]
)
def test_an_answer_that_was_stopped_with_its_judge_is_judged_again(statuses, expected, monkeypatch):
    exercise, words, statuses = checks.exercises(LESSON)[0], [], statuses.split()

    def stopped(*arguments):
        judge_process._Stops.add()
        return Verdict(exercise.name, Status(statuses.pop(0)), 0, 1, "")

    monkeypatch.setattr(judge_process.grade, "grade_one", stopped)
    job = {"token": None, "seed": 1, "grader": ""}
    judge_process._grade_exercise(exercise, [], job, None, words.append)
    assert words[1]["exercise"]["status"] == expected
