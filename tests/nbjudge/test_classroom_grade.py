"""A class is graded once, whatever interrupts it: kills, half lines, full disks, two graders, lost keys.

The engine is made up here; tests/nbjudge/test_classroom_engines.py has the real ones.
"""

import errno
import os
import threading
from dataclasses import replace

import pytest
from pretended_class import (
    FIRST,
    LESSON,
    SECOND,
    STUDENTS,
    THIRD,
    bare,
    book,
    class_of,
    ignore,
    outcome,
    pretended,
)
from values_in import holds

from nbjudge.classroom import keys, lock, regrade, results, run, submissions, versions
from nbjudge.classroom.collect import Assignment, collect
from nbjudge.classroom.judge import given_up
from nbjudge.finding.notebook_file import Unusable
from rnncourse import cli


@pytest.fixture
def folder(tmp_path):
    """A class folder of five students."""
    return class_of(tmp_path, {student: book(student) for student in STUDENTS})


def graded(folder, **options):
    return run.grade_class(folder, pretended(), ignore, resume=True, plain=True, **options)


def test_each_submission_has_a_file_a_line_and_a_seed_of_the_class_key(folder):
    listed = graded(folder)
    assert [result.student for result in listed] == sorted(STUDENTS)
    lines = (folder / "results.jsonl").read_text(encoding="utf-8").splitlines()
    assert [results.parsed(line) for line in lines] == listed
    key = keys.class_key(folder)
    seeds = [keys.seed(key, LESSON, result.student, result.submission) for result in listed]
    assert [result.seed for result in listed] == seeds
    assert len({*seeds}) == len(STUDENTS)
    assert [verdict.status for verdict in listed[0].verdicts] == ["passed"] * 3


def test_a_second_run_does_only_what_is_missing(folder):
    with pytest.raises(KeyboardInterrupt):
        run.grade_class(folder, pretended(stop_after=2), ignore, plain=True)
    assert len(results.load(folder)) == 2
    with pytest.raises(Unusable, match=r"\b2\b.*\b5\b.*--resume"):
        run.grade_class(folder, pretended(), ignore, plain=True)
    before = {path: path.stat().st_mtime_ns for path in folder.glob("results/*/*.json")}
    words = []
    run.grade_class(folder, pretended(), words.append, resume=True, plain=True)
    assert words == ["2 are graded already", "3 to grade"]
    assert all(path.stat().st_mtime_ns == moment for path, moment in before.items())
    assert len(results.load(folder)) == 5


def test_a_new_attempt_is_graded_with_other_inputs_and_the_others_are_not(folder, tmp_path):
    (first,) = [result.submission for result in graded(folder) if result.student == "ada"]
    later = tmp_path / "in" / "ada" / "00_start_here (1).ipynb"
    later.write_text(book("ada again"), encoding="utf-8")
    os.utime(later, (2e9, 2e9))
    collect(folder, [tmp_path / "in"], Assignment())
    assert [job["student"] for job in run.plan(folder, plain=True).jobs] == ["ada"]
    before = {result.student: result.seed for result in results.load(folder)}
    assert len(before) == 4, "the old attempt's result counts no more"
    after = {result.student: result.seed for result in graded(folder)}
    assert len(after) == 5
    assert {student: after[student] for student in before} == before
    assert after["ada"] != keys.seed(keys.class_key(folder), LESSON, "ada", first)


@pytest.mark.parametrize("harm", ["no line", "half a line", "no list", "left over"])
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
    else:
        left_over = first.with_name(f".{first.name}.1.part")
        left_over.write_text("{", encoding="utf-8")
    assert results.repair(folder) == listed
    assert path.read_text(encoding="utf-8") == "".join(lines)
    assert [file.name for file in first.parent.iterdir()] == [first.name]


def test_a_full_disk_ends_the_run_and_keeps_what_was_graded(folder, monkeypatch):
    write, count = results.write_whole, []

    def full(path, content):
        count.append(path)
        if len(count) > 3:  # the first writes the list of nothing
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, content)

    monkeypatch.setattr(results, "write_whole", full)
    with pytest.raises(Unusable, match=r"No space left on device.*2"):
        graded(folder)
    monkeypatch.setattr(results, "write_whole", write)
    assert len(results.load(folder)) == 2
    assert len(graded(folder)) == 5


def test_two_graders_in_one_folder_do_not_mix(folder, capsys):
    with lock.lock(folder):
        assert cli.main(["class", "grade", str(folder), "--plain"]) == 2
        assert holds(capsys.readouterr().err, str(os.getpid()))


def test_a_class_folder_that_cannot_be_written_is_named_with_the_remedy(folder, capsys, monkeypatch):
    def refuse(path, *rest, **options):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    monkeypatch.setattr(lock.os, "open", refuse)
    for command in (["grade"], ["regrade"], ["collect"]):
        words = [*command, str(folder), *([str(folder.parent / "in")] if command == ["collect"] else [])]
        assert cli.main(["class", *words]) == 2
        sentence = f"{folder} cannot be written (Read-only file system): copy it"
        assert sentence in capsys.readouterr().err


def test_an_export_takes_no_device_s_place(folder, capsys, tmp_path):
    graded(folder)
    pipe = tmp_path / "a pipe"
    os.mkfifo(pipe)
    for words in (["export", "--to", "csv"], ["similar"]):
        assert cli.main(["class", *words, str(folder), "--out", str(pipe)]) == 2
        assert str(pipe) in capsys.readouterr().err
    assert pipe.is_fifo()


def test_a_grader_that_waits_goes_on_when_the_other_has_ended(folder, capsys):
    entered = threading.Event()

    def wait():
        with lock.lock(folder, wait=True):
            entered.set()

    with lock.lock(folder):
        thread = threading.Thread(target=wait)
        thread.start()
        assert not entered.wait(0.05)
    thread.join(60)
    assert entered.is_set()
    assert holds(capsys.readouterr().err, str(os.getpid()))


def test_a_lost_key_stops_grading_and_says_what_another_one_would_change(folder, capsys):
    graded(folder)
    (folder / "class.key").unlink()
    assert cli.main(["class", "grade", str(folder), "--plain", "--resume"]) == 2
    assert holds(capsys.readouterr().err, "5 results")
    keys.accept_key(folder)
    assert len(run.plan(folder, plain=True).jobs) == 5


def test_results_of_other_checks_stay_until_a_regrade_is_written(folder, monkeypatch):
    graded(folder)
    before = bare(folder)
    monkeypatch.setattr(versions, "grader_digest", lambda lesson: "another grader")
    words = []
    run.grade_class(folder, pretended(), words.append, resume=True, plain=True)
    assert holds(words[1], "5")
    assert bare(folder) == before
    selection = regrade.Selection(student="ada")
    pairs = regrade.regrade(folder, pretended([SECOND]), selection, plain=True)
    shown = list(regrade.describe(pairs))
    assert holds(shown[0], "ada", SECOND, "passed 2", "failed 0")
    assert holds(shown[1], "1", "1", "-2 points")
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


def test_one_exercise_is_taken_over_alone_after_a_regrade_of_all_was_shown(folder):
    graded(folder)
    assert len(regrade.regrade(folder, pretended([FIRST, SECOND]), regrade.Selection(), plain=True)) == 5
    selection = regrade.Selection(student="zoe\u0308", exercise=FIRST)  # as a Mac's terminal writes it
    ((old, new),) = regrade.regrade(folder, pretended([FIRST, SECOND]), selection, plain=True)
    assert next(regrade.describe([(old, new)])) == f"zoë, {FIRST}: passed 1 → failed 0"
    assert (old.score, new.score) == (6, 5), "the others keep their verdicts"


def test_exercises_that_the_checks_had_not_or_have_no_more_are_shown(folder):
    graded(folder)
    _, *others = results.load(folder)[0].exercises
    old = replace(results.load(folder)[0], exercises=tuple(others), score=5)
    results.write(folder / "results", old)
    ((old, new),) = regrade.regrade(folder, pretended(), regrade.Selection("ada", exercise=FIRST), plain=True)
    assert next(regrade.describe([(old, new)])) == f"ada, {FIRST}: not there → passed 1"
    assert (new.score, {entry["name"] for entry in new.exercises}) == (6, {FIRST, SECOND, THIRD})
    assert next(regrade.describe([(new, old)])) == f"ada, {FIRST}: passed 1 → not there"


@pytest.mark.parametrize(
    ("selection", "why"),
    [
        (
            {"student": "nobody"},
            r"no result is of a student 'nobody'; --student takes an .*submissions\.jsonl: n",
        ),
        ({"student": "ADA"}, "'ADA'; --student takes an identifier, such as ada: nothing to grade again"),
        ({"student": "kim"}, "'kim', who is not graded yet: run rnnlab class grade"),
        (
            {"exercise": "nope"},
            f"no result has an exercise 'nope'; the exercises are {FIRST}, {SECOND}, {THIRD}",
        ),
        ({"lesson": "bptt"}, f"no result is of lesson 'bptt', but of {LESSON}: nothing to grade again"),
        ({"faults": True}, "no result that was selected has a fault of the grader"),
        ({"exercise": ""}, "no result has an exercise ''"),
    ],
)
def test_a_selection_without_a_result_says_why(folder, selection, why):
    graded(folder)
    results.path_of(folder / "results", "kim", LESSON).unlink()
    with pytest.raises(Unusable, match=why):
        regrade.regrade(folder, pretended(), regrade.Selection(**selection), plain=True)


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
    monkeypatch.setattr("nbjudge.running.sandbox._why_not_bubblewrap", lambda: "it is not installed")
    assert cli.main(["class", "grade", str(folder)]) == 2
    assert "because it is not installed" in capsys.readouterr().err


def test_the_digest_of_a_lesson_is_of_its_own_code_alone():
    digests = {lesson: versions.grader_digest(lesson) for lesson in ("start_here", "bptt")}
    assert len({*digests.values()}) == 2
    names = {path.name for path in versions._files("start_here")}
    assert {"start_here.py", "start_here.answers", "judge.py", "guard.py", "sandbox.py"} <= names
    assert not {"bptt.py", "collect.py", "report.py", "views.py"} & names


def test_progress_says_how_far_and_how_many_faults(folder, capsys):
    jobs = run.plan(folder, plain=True).jobs
    faulty = lambda job: outcome(job) | {"exercises": given_up(job)}
    run.write_outcomes(folder, jobs, lambda jobs: ((job, faulty(job)) for job in jobs))
    last = capsys.readouterr().err.rpartition("\r")[2]
    assert holds(last, str(len(jobs)), str(len(jobs)), str(len(jobs)))
