"""A class in processes of its own: any `map` grades it, and a kill at any moment loses nothing.

They grade the course's shortest lesson.
"""

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import psutil
import pytest
from pretended_class import FIRST, LESSON, POINTS, STUDENTS, bare, book, class_of, ignore

from nbjudge.classroom import processes, results, run
from nbjudge.finding.notebook_file import Unusable
from nbjudge.grading.grade import grade
from nbjudge.running.sandbox import CHECKOUT, choose
from nbjudge.verdict import Status

NAMES_ITS_JUDGE = f"""
import os, time
def {FIRST}(*inputs):
    print(os.getppid(), file=open("PIDS", "a"), flush=True)
    time.sleep(500)
"""


def kill_judges(pids, is_over):
    """Kill each process that a line of the file names, as a machine does that has no memory left."""
    killed = set()
    while not is_over.wait(0.05):
        for judge in pids.read_text().split() if pids.exists() else ():
            if judge not in killed:
                killed.add(judge)
                os.kill(int(judge), signal.SIGKILL)


@pytest.fixture
def folder(tmp_path):
    """A class folder of five students."""
    return class_of(tmp_path, {student: book(student) for student in STUDENTS})


def test_a_result_is_what_grade_writes_and_whose_it_is(folder):
    (job, *_) = run.jobs_of(folder, plain=True)
    result = run.grade_file(job)
    report = grade(folder / "files" / f"{job.submission}.ipynb", seed=job.seed, plain=True, lesson=LESSON)
    assert report.all_passed
    assert [replace(verdict, seconds=0) for verdict in result.verdicts] == [
        replace(verdict, seconds=0) for verdict in report.verdicts
    ]
    assert (result.score, result.seed, result.sandbox) == (report.score, report.seed, report.box.name)
    assert results.read(results.path_of(folder / "results", *job.place)) == result


def test_any_map_grades_a_class_the_same(folder, tmp_path):
    graded = []
    with ThreadPoolExecutor(2) as threads:
        for number, mapped in enumerate((map, threads.map)):
            place = tmp_path / str(number)
            shutil.copytree(folder, place)
            run.grade_class(place, mapped, ignore, plain=True)
            graded.append(bare(place))
    assert graded[0] == graded[1]
    assert [result["score"] for result in graded[0]] == [6] * len(STUDENTS)


def test_no_process_or_thread_outlives_the_map_that_began_it():
    """One that is still ending when Python does may write into a closed pipe, and leave a traceback."""
    before = {*threading.enumerate(), *multiprocessing.active_children()}
    with processes.here(2) as mapped:
        assert [*mapped(partial(processes.apart, abs), [-1, -2, -3])] == [1, 2, 3]
    assert {*threading.enumerate(), *multiprocessing.active_children()} <= before


def test_a_class_is_graded_where_standard_output_and_error_are_closed(tmp_path):
    folder = class_of(tmp_path, {"ada": book("ada"), "bob": book("bob")})
    command = [
        sys.executable,
        "-P",
        "-m",
        "rnncourse.cli",
        "class",
        "grade",
        "--plain",
        "--jobs",
        "2",
        folder,
    ]
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
    closed = ["sh", "-c", 'exec "$@" >&- 2>&-', "sh", *command]
    assert subprocess.run(closed, env=environment, timeout=600).returncode == 0
    assert [result.score for result in results.load(folder)] == [6, 6]


def test_a_call_that_ends_its_process_twice_is_lost_and_the_next_is_not():
    with pytest.raises(processes.Lost):
        processes.apart(os._exit, 1)
    assert processes.apart(abs, -3) == 3


def test_an_error_in_a_process_is_that_of_its_call():
    with pytest.raises(ZeroDivisionError):
        processes.apart(_divided, 0)


def _divided(number):
    return 1 / number


def test_a_file_whose_judge_is_killed_twice_is_not_judged_and_costs_nobody_else_a_mark(tmp_path):
    pids, is_over = tmp_path / "pids", threading.Event()
    code = NAMES_ITS_JUDGE.replace("PIDS", str(pids))
    folder = class_of(tmp_path, {"mallory": book("mallory", code), "zoë": book("zoë")})
    killer = threading.Thread(target=kill_judges, args=(pids, is_over))
    killer.start()
    mallory, zoe = run.grade_class(folder, map, ignore, plain=True)
    is_over.set()
    killer.join()
    assert len(pids.read_text().split()) == processes.TRIES
    assert mallory.faults == [*POINTS]
    assert (mallory.score, zoe.score) == (0, 6)
    assert any("not judged: mallory" in line for line in run.describe([mallory, zoe]))


@pytest.mark.slow
def test_a_class_killed_while_it_is_graded_ends_as_one_that_was_not(folder, tmp_path):
    quiet = tmp_path / "quiet"
    shutil.copytree(folder, quiet)
    command = [sys.executable, "-P", "-m", "rnncourse.cli", "class", "grade", "--jobs", "2", "--resume"]
    command += [] if choose().name == "bubblewrap" else ["--plain"]
    environment = os.environ | {"PYTHONPATH": str(CHECKOUT)}
    process = subprocess.Popen([*command, folder], env=environment, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 600
    while not list(folder.glob("results/*/*.json")) and time.monotonic() < until:
        time.sleep(0.01)
    judges = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    assert not psutil.wait_procs(judges, 60)[1], "no process outlives the run"
    before = {path: path.read_bytes() for path in folder.glob("results/*/*.json")}
    for place in (folder, quiet):
        done = subprocess.run([*command, place], env=environment, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
    assert bare(folder) == bare(quiet)
    assert {path: path.read_bytes() for path in before} == before, "nothing is graded twice"
    assert [result.score for result in results.load(folder)] == [6] * 5


def test_a_notebook_that_cannot_be_graded_has_a_problem_and_no_points(tmp_path):
    folder = class_of(tmp_path, {"ada": "{broken"})
    (result,) = run.grade_class(folder, map, ignore, plain=True)
    assert (result.score, result.max_score, result.exercises) == (0, 6, ())
    assert "00_start_here.ipynb is not a notebook" in result.problem


def test_a_machine_with_other_code_grades_nothing(folder):
    (job, *_) = run.jobs_of(folder, plain=True)
    with pytest.raises(Unusable, match="is another one than where the run was planned"):
        run.grade_file(job._replace(grader="another"))


@pytest.mark.slow
def test_dask_grades_as_this_machine_does(folder, tmp_path):
    distributed = pytest.importorskip("distributed", reason="install the extra cluster")
    quiet = tmp_path / "quiet"
    shutil.copytree(folder, quiet)
    run.grade_class(quiet, map, ignore, plain=True)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        processes.on_cluster(cluster.scheduler_address) as mapped,
    ):
        run.grade_class(folder, mapped, ignore, plain=True)
    assert bare(folder) == bare(quiet)


def test_a_cluster_that_does_not_answer_is_a_sentence():
    pytest.importorskip("distributed", reason="install the extra cluster")
    with pytest.raises(Unusable, match=r"tcp://127\.0\.0\.1:9"), processes.on_cluster("tcp://127.0.0.1:9"):
        pass


@pytest.mark.parametrize(
    ("statuses", "stopped", "expected"),
    [
        ("grader_error passed", False, "passed"),
        ("timeout passed", True, "passed"),
        ("timeout passed", False, "timeout"),
    ],
)
def test_what_was_not_judged_or_stopped_meanwhile_is_graded_again(
    statuses, stopped, expected, folder, monkeypatch
):
    graded = run.grade
    statuses = statuses.split()

    def grade(*arguments, **options):
        report = graded(*arguments, only=FIRST, **options)
        (verdict,) = report.verdicts
        processes.stops.extend([1] * (stopped and len(statuses) == 2))
        return replace(report, verdicts=(replace(verdict, status=Status(statuses.pop(0))),))

    monkeypatch.setattr(run, "grade", grade)
    (job, *_) = run.jobs_of(folder, plain=True)
    assert [verdict.status for verdict in run.grade_file(job).verdicts] == [expected]
