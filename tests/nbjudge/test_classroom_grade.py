"""A class is graded once, whatever interrupts it: kills, half lines, full disks, two graders, lost keys.

Grading is made up here; tests/nbjudge/test_classroom_processes.py has the real one.
"""

import errno
import os
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock
from pretended_class import (
    FIRST,
    LESSON,
    POINTS,
    SECOND,
    STUDENTS,
    THIRD,
    bare,
    book,
    class_of,
    ignore,
    pretend,
    pretended,
    result_of,
)
from values_in import holds

from nbjudge.classroom import commands, keys, regrade, results, run, submissions
from nbjudge.classroom.collect import Assignment, collect
from nbjudge.classroom.commands import locked
from nbjudge.finding.notebook_file import Unusable
from rnncourse import cli


@pytest.fixture
def folder(tmp_path):
    """A class folder of five students."""
    return class_of(tmp_path, {student: book(student) for student in STUDENTS})


def graded(folder, **options):
    return run.grade_class(folder, pretended(), ignore, resume=True, plain=True, **options)


def test_each_submission_has_a_file_and_a_seed_of_the_class_key(folder):
    listed = graded(folder)
    assert [result.student for result in listed] == sorted(STUDENTS)
    assert [results.read(results.path_of(folder / "results", *result.place)) for result in listed] == listed
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
    printed = []
    run.grade_class(folder, pretended(), printed.append, resume=True, plain=True)
    assert printed == ["2 are graded already", "3 to grade"]
    assert all(path.stat().st_mtime_ns == moment for path, moment in before.items())
    assert len(results.load(folder)) == 5


def test_a_new_attempt_is_graded_with_other_inputs_and_the_others_are_not(folder, tmp_path):
    (first,) = [result.submission for result in graded(folder) if result.student == "ada"]
    later = tmp_path / "in" / "ada" / "00_start_here (1).ipynb"
    later.write_text(book("ada again"), encoding="utf-8")
    os.utime(later, (2e9, 2e9))
    collect(folder, [tmp_path / "in"], Assignment())
    before = {result.student: result.seed for result in results.load(folder)}
    assert len(before) == 4, "the old attempt's result counts no more"
    after = {result.student: result.seed for result in graded(folder)}
    assert len(after) == 5
    assert {student: after[student] for student in before} == before
    assert after["ada"] != keys.seed(keys.class_key(folder), LESSON, "ada", first)


def test_what_a_kill_leaves_of_a_file_that_was_being_written_counts_for_nothing(folder):
    listed = graded(folder)
    first = results.path_of(folder / "results", *listed[0].place)
    first.with_name(f".{first.name}.1.part").write_text("{", encoding="utf-8")
    assert results.load(folder) == listed
    first.unlink()
    assert graded(folder) == listed


def test_a_full_disk_ends_the_run_and_keeps_what_was_graded(folder, monkeypatch):
    write, count = results.write_whole, []

    def full(path, content):
        count.append(path)
        if len(count) > 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, content)

    monkeypatch.setattr(results, "write_whole", full)
    with pytest.raises(Unusable, match="No space left on device"):
        graded(folder)
    monkeypatch.setattr(results, "write_whole", write)
    assert len(results.load(folder)) == 2
    assert len(graded(folder)) == 5


def test_two_graders_in_one_folder_do_not_mix(folder, capsys):
    with locked(folder):
        assert cli.main(["class", "grade", str(folder), "--plain"]) == 2
        assert holds(capsys.readouterr().err, "class", "--wait")


def test_a_class_folder_that_cannot_be_written_is_named(folder, capsys, monkeypatch):
    def refuse(lock, *rest, **options):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(lock.lock_file))

    monkeypatch.setattr(FileLock, "acquire", refuse)
    for command in (["grade"], ["regrade"], ["collect"]):
        arguments = [*command, str(folder), *([str(folder.parent / "in")] if command == ["collect"] else [])]
        assert cli.main(["class", *arguments]) == 2
        assert f"{folder / 'lock'} cannot be used: Read-only file system" in capsys.readouterr().err


def test_an_export_takes_no_device_s_place(folder, capsys, tmp_path):
    graded(folder)
    pipe = tmp_path / "a pipe"
    os.mkfifo(pipe)
    for arguments in (["export", "--to", "csv"], ["similar"]):
        assert cli.main(["class", *arguments, str(folder), "--out", str(pipe)]) == 2
        assert str(pipe) in capsys.readouterr().err
    assert pipe.is_fifo()


def test_a_grader_that_waits_begins_when_the_other_has_ended(folder):
    entered = threading.Event()

    def wait():
        with locked(folder, wait=True):
            entered.set()

    with locked(folder):
        thread = threading.Thread(target=wait)
        thread.start()
        assert not entered.wait(0.05)
    thread.join(60)
    assert entered.is_set()


@pytest.mark.parametrize("change", [{"key": None}, {"key": "00" * keys.KEY_BYTES}])
def test_a_lost_or_another_key_stops_grading_and_counts_the_results(folder, capsys, change):
    graded(folder)
    before = bare(folder)
    keys.save_settings(folder, keys.settings(folder) | change)
    for command in (["grade", str(folder), "--resume"], ["regrade", str(folder), "--write"]):
        assert cli.main(["class", *command, "--plain"]) == 2
        printed = capsys.readouterr().err
        assert holds(printed, "5 results")
        assert "class.json" in printed
        assert bare(folder) == before


def test_results_of_other_checks_stay_until_a_regrade_is_written(folder, monkeypatch):
    graded(folder)
    before = bare(folder)
    monkeypatch.setattr(run, "grader_digest", lambda: "another grader")
    printed = []
    run.grade_class(folder, pretended(), printed.append, resume=True, plain=True)
    assert holds(printed[1], "5")
    assert bare(folder) == before
    selection = regrade.Selection(student="ada")
    pairs = regrade.regrade(folder, pretended([SECOND]), selection, plain=True)
    shown = list(regrade.describe(pairs, {}))
    assert holds(shown[0], "ada", SECOND, "passed 2", "failed 0")
    assert holds(shown[1], "1", "1", "-2 points")
    assert bare(folder) == before, "nothing is written before --write"
    regrade.take_over(folder, pairs)
    after = {result.student: result for result in results.load(folder)}
    assert (after["ada"].score, after["bob"].score) == (4, 6)
    assert after["ada"].grader == "another grader"


@pytest.mark.parametrize("status", ["failed", "crashed", "timeout", "passed"])
def test_a_verdict_with_other_words_or_seconds_is_no_change(status):
    old = result_of("ada", {FIRST: status, SECOND: "grader_error"})
    other = [entry | {"seconds": 9.5, "message": "x = 3", "misconception": "y"} for entry in old.exercises]
    (line,) = regrade.describe([(old, replace(old, exercises=tuple(other)))], {})
    assert holds(line, "1", "0", "+0 points")


def test_a_fault_that_is_proven_gives_the_points_of_a_final_mark():
    other = result_of("ada", {FIRST: "grader_error"})
    first, *rest = other.exercises
    proven = replace(other, exercises=(first | {"points": POINTS[FIRST]}, *rest), score=6)
    assert (proven.faults, proven.open, other.open) == ([FIRST], [], [FIRST])
    assert holds(next(run.describe([proven, replace(other, student="bob")])), LESSON, "2", "6", "6")
    (line, _) = regrade.describe([(proven, other)], {})
    assert holds(line, "ada", FIRST)


def test_a_regrade_takes_no_mark_away_that_it_could_not_judge(folder):
    graded(folder)
    failing = lambda function, jobs: (pretend(job, [FIRST], "grader_error") for job in jobs)
    pairs = regrade.regrade(folder, failing, regrade.Selection("ada"), plain=True)
    line, last = regrade.describe(pairs, {})
    assert (holds(line, "ada", FIRST), holds(last, "1", "0", "+0 points")) == (True, True)
    regrade.take_over(folder, pairs)
    assert results.load(folder)[0].score == 6


def test_a_notebook_that_could_not_be_read_in_time_keeps_its_marks_and_is_tried_again(folder):
    graded(folder)
    before = results.load(folder)[0]

    def unread(function, jobs):
        for job in jobs:
            slow = {"exercises": (), "score": 0, "problem": "It takes too long to read."}
            results.write(Path(job.into), replace(pretend(job), **slow))
            yield results.read(Path(job.into))

    pairs = regrade.regrade(folder, unread, regrade.Selection("ada"), plain=True)
    line, last = regrade.describe(pairs, {})
    assert (holds(line, "ada", "too long"), holds(last, "1", "0", "+0 points")) == (True, True)
    regrade.take_over(folder, pairs)
    assert results.load(folder)[0] == before
    ((old, new),) = regrade.regrade(folder, pretended([FIRST]), regrade.Selection("ada"), plain=True)
    assert (old.score, new.score) == (6, 5)


def test_a_notebook_that_is_read_at_last_is_taken_over_with_what_could_be_judged():
    unread = replace(result_of("ada"), exercises=(), score=0, problem="It takes too long to read.")
    read = result_of("ada", {FIRST: "grader_error"})
    assert "earlier" not in "".join(regrade.describe([(unread, read)], {}))


def test_a_regrade_that_was_killed_continues_where_it_was(folder):
    graded(folder)
    with pytest.raises(KeyboardInterrupt):
        regrade.regrade(folder, pretended(stop_after=3), regrade.Selection(), plain=True)
    jobs = []

    def mapped(function, missing):
        jobs.extend(missing)
        return pretended()(function, missing)

    assert len(regrade.regrade(folder, mapped, regrade.Selection(), plain=True)) == 5
    assert len(jobs) == 2


def test_one_student_is_taken_over_alone_after_a_regrade_of_all_was_shown(folder):
    graded(folder)
    assert len(regrade.regrade(folder, pretended([FIRST, SECOND]), regrade.Selection(), plain=True)) == 5
    selection = regrade.Selection(student="zoe\u0308")  # as a Mac's terminal writes it
    pairs = regrade.regrade(folder, pretended(), selection, plain=True)
    assert next(regrade.describe(pairs, {})) == f"zoë, {FIRST}: passed 1 → failed 0"
    regrade.take_over(folder, pairs)
    assert [result.score for result in results.load(folder)] == [6, 6, 6, 6, 3]
    assert len(results.load(folder, regrade.PENDING)) == 4


def test_a_fault_is_graded_again_until_it_is_gone(folder):
    graded(folder)
    failing = lambda function, jobs: (pretend(job, [FIRST], "grader_error") for job in jobs)
    for job in run.jobs_of(folder)[::2]:
        pretend(job, [FIRST], "grader_error")
    selection = regrade.Selection(faults=True)
    pairs = regrade.regrade(folder, failing, selection, plain=True)
    assert [new.faults for _, new in pairs] == [[FIRST]] * 3
    pairs = regrade.regrade(folder, pretended(), selection, plain=True)
    assert [(old.score, new.score) for old, new in pairs] == [(5, 6)] * 3


def test_exercises_that_the_checks_had_not_or_have_no_more_are_shown(folder):
    graded(folder)
    _, *others = results.load(folder)[0].exercises
    old = replace(results.load(folder)[0], exercises=tuple(others), score=5)
    results.write(results.path_of(folder / "results", *old.place), old)
    ((old, new),) = regrade.regrade(folder, pretended(), regrade.Selection("ada"), plain=True)
    assert next(regrade.describe([(old, new)], {})) == f"ada, {FIRST}: not attempted 0 → passed 1"
    assert (new.score, {entry["name"] for entry in new.exercises}) == (6, {FIRST, SECOND, THIRD})
    assert next(regrade.describe([(new, old)], {})) == f"ada, {FIRST}: passed 1 → not attempted 0"


@pytest.mark.parametrize(
    "selection", [{"student": "nobody"}, {"student": "ADA"}, {"student": "kim"}, {"lesson": "bptt"}]
)
def test_a_selection_without_a_result_is_named(folder, selection):
    graded(folder)
    results.path_of(folder / "results", "kim", LESSON).unlink()
    (word,) = selection.values()
    with pytest.raises(Unusable, match=f"'{word}'"):
        regrade.regrade(folder, pretended(), regrade.Selection(**selection), plain=True)
    with pytest.raises(Unusable, match="faults True"):
        regrade.regrade(folder, pretended(), regrade.Selection(faults=True), plain=True)


def test_a_class_without_submissions_is_refused(tmp_path, capsys):
    assert cli.main(["class", "grade", str(tmp_path / "none")]) == 2
    (tmp_path / "empty").mkdir()
    assert cli.main(["class", "grade", str(tmp_path / "empty"), "--plain"]) == 2
    submissions.save(tmp_path / "empty", [])
    assert cli.main(["class", "grade", str(tmp_path / "empty"), "--plain"]) == 2
    error = capsys.readouterr().err
    assert all(
        part in error for part in ("not a class folder", "no submissions.jsonl", "no submission to grade")
    )


def test_without_a_sandbox_a_class_is_refused_unless_that_is_accepted(folder, monkeypatch, capsys):
    monkeypatch.setattr("nbjudge.running.sandbox._why_not_bubblewrap", lambda: "it is not installed")
    assert cli.main(["class", "grade", str(folder)]) == 2
    assert "because it is not installed" in capsys.readouterr().err


def test_the_digest_of_the_code_changes_with_each_file_of_it(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "CHECKOUT", tmp_path)
    files = [tmp_path / name for name in ("nbjudge/a.py", "rnncourse/checks/packed/b.answers", "ranks/c.md")]
    digests = []
    for path in files:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
        digests.append(run.grader_digest.__wrapped__())
    assert digests[0] != digests[1] == digests[2]


def test_a_class_is_graded_whether_anybody_reads_or_not(folder, monkeypatch):
    """The readers of output and errors are gone, as before `| head -1`."""
    streams = []
    for name in "stdout", "stderr":
        read, write = os.pipe()
        os.close(read)
        streams.append(os.fdopen(write, "w"))
        monkeypatch.setattr(sys, name, streams[-1])
    with commands.lasting_output():
        graded(folder)
        print("done")
        sys.stderr.write("done")
    assert len(results.load(folder)) == 5
    for stream in streams:
        stream.close()


def test_what_cannot_be_done_has_its_exit_status_where_nobody_reads_the_reason(tmp_path, monkeypatch):
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as stream:
        monkeypatch.setattr(sys, "stderr", stream)
        assert cli.main(["class", "report", str(tmp_path / "nowhere")]) == 2


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_output_to_a_full_disk_is_not_a_fault_of_the_class_folder_alone(folder, monkeypatch, capsys):
    graded(folder)
    with open("/dev/full", "w", encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdout", stream)
        assert cli.main(["class", "report", str(folder)]) == 2
    printed = capsys.readouterr().err
    assert ("output" in printed, os.strerror(errno.ENOSPC) in printed) == (True, True)


def test_progress_says_how_far_and_how_many_faults(folder, capsys):
    failing = lambda function, jobs: (pretend(job, [FIRST], "grader_error") for job in jobs)
    run.grade_all(run.jobs_of(folder, plain=True), failing)
    last = capsys.readouterr().err.rpartition("\r")[2]
    assert holds(last, "5", "5", "5")
