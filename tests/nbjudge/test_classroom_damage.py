"""What is damaged, foreign or gone in a class folder is refused or repaired, and no mark is lost to it."""

import errno
import json
import os
import signal
from io import StringIO
from types import SimpleNamespace

import pytest
from pretended_class import STUDENTS, book, class_of, ignore, outcome, pretended
from values_in import holds

from nbjudge.classroom import judge_process, keys, results, run, submissions
from nbjudge.classroom.collect import Assignment, collect
from nbjudge.finding.notebook_file import Unusable
from rnncourse import cli


@pytest.fixture
def folder(tmp_path):
    """A class folder of five students."""
    return class_of(tmp_path, {student: book(student) for student in STUDENTS})


def graded(folder):
    return run.grade_class(folder, pretended(), ignore, resume=True, plain=True)


@pytest.mark.parametrize(
    "change",
    [{"student": 5}, {"lesson": "../../../evil"}, {"exercises": [5]}, {"format": 2}, {"student": "eva"}],
)
def test_a_line_that_is_no_result_of_this_class_is_removed(change, folder, tmp_path):
    listed = graded(folder)
    path = folder / "results.jsonl"
    before, files = path.read_bytes(), {*folder.rglob("*.json")}
    foreign = json.dumps(json.loads(listed[0].line()) | change)
    path.write_bytes(before.replace(b"\n", b"\r\n") + f"{foreign}\nnull\n[]\n".encode())
    assert results.repair(folder) == listed
    assert path.read_bytes() == before
    assert {*tmp_path.rglob("*.json")} == files


def test_a_copy_of_a_result_is_refused_and_a_hidden_file_is_not(folder):
    first = results.path_of(folder / "results", *graded(folder)[0].place)
    first.with_name("._start_here.json").write_text("of a file system that keeps its own")
    assert len(results.load(folder)) == 5
    first.with_name("start_here (copy).json").write_bytes(first.read_bytes())
    with pytest.raises(Unusable, match=r"ada.*start_here"):
        results.load(folder)


@pytest.mark.parametrize("harm", ["missing", "another one"])
def test_a_notebook_that_was_lost_or_changed_after_collect_costs_no_marks(harm, folder, tmp_path):
    entry = submissions.graded(submissions.load(folder))[0]
    path = folder / entry.file
    (job, *_) = run.plan(folder, plain=True).jobs
    path.unlink()
    if harm == "another one":
        path.write_text(book("somebody else"), encoding="utf-8")
    sentence = f"notebook of ada for start_here, is {harm}"
    with pytest.raises(Unusable, match=sentence):
        graded(folder)
    words = []
    judge_process.grade_submission(job, SimpleNamespace(why=""), words.append)
    assert sentence in words[0]["refuses"], "also where it changes while a class is graded"
    collect(folder, [tmp_path / "in"], Assignment())
    assert len(graded(folder)) == 5


@pytest.mark.parametrize("change", [{"lesson": "foo"}, {"lesson": None}, {"student": 5}, {"sha256": None}])
def test_a_submission_without_what_grading_needs_is_named_with_its_line(change, folder):
    path = folder / "submissions.jsonl"
    first, *rest = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join([*rest, json.dumps(json.loads(first) | change)]), encoding="utf-8")
    with pytest.raises(Unusable, match=r"submissions\.jsonl.*\b5\b"):
        graded(folder)


def test_a_list_that_the_disk_refuses_is_named_and_all_results_are_kept(folder, monkeypatch):
    write = results.write_whole

    def full(path, content):
        if path.name == "results.jsonl" and content:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, content)

    monkeypatch.setattr(results, "write_whole", full)
    with pytest.raises(Unusable, match=r"results\.jsonl"):
        graded(folder)
    assert len(results.load(folder)) == 5


def test_without_class_json_no_other_key_is_accepted(folder, capsys):
    graded(folder)
    (folder / "class.json").unlink()
    (folder / "class.key").write_text(f"{bytes(32).hex()}\n")
    assert cli.main(["class", "grade", str(folder), "--plain", "--resume"]) == 2
    assert holds(capsys.readouterr().err, "class.json")
    assert len(results.load(folder)) == 5
    keys.accept_key(folder)
    assert keys.class_key(folder) == bytes(32)


def test_a_damaged_key_is_refused_with_the_remedy_and_an_editor_s_mark_is_not(folder):
    path = folder / "class.key"
    path.write_text(path.read_text(), encoding="utf-8-sig")
    assert len(keys.class_key(folder)) == 32
    for text in ("", "ab" * 20, "hello", "\xff" * 64):
        path.write_text(text, encoding="latin-1")
        for read in (keys.class_key, keys.accept_key):
            with pytest.raises(Unusable, match="64 hexadecimal"):
                read(folder)


def test_a_key_that_others_can_read_is_reported(folder):
    words = []
    for mode in (0o600, 0o644):
        folder.chmod(0o755)
        (folder / "class.key").chmod(mode)
        run.grade_class(folder, pretended(), words.append, resume=True, plain=True)
    assert [line.startswith("other accounts") for line in words] == [False, True, False, False]


def test_class_json_with_unknown_variants_is_refused(folder):
    keys.save_settings(folder, keys.settings(folder) | {"variants": "start_here"})
    with pytest.raises(Unusable, match=r"class\.json.*start_here"):
        keys.settings(folder)


def test_a_closed_terminal_stops_no_progress(monkeypatch):
    closed = StringIO()
    closed.write = lambda text: os.write(-1, text.encode())
    for stream in (None, closed):
        monkeypatch.setattr("sys.stderr", stream)
        with run.progress_bar(1) as bar:
            bar.update()
        assert bar.n == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_of_a_batch_job_or_a_terminal_stops_a_run_unless_it_is_ignored(number, folder, capsys):
    def engine(jobs):
        yield jobs[0], outcome(jobs[0])
        os.kill(os.getpid(), number)
        yield jobs[1], outcome(jobs[1])

    previous = signal.signal(number, signal.SIG_DFL)  # nohup lets the tests start with SIGHUP ignored
    try:
        with pytest.raises(KeyboardInterrupt):
            run.grade_class(folder, engine, ignore, resume=True, plain=True)
        assert holds(capsys.readouterr().err, "1 of 5")
        signal.signal(number, signal.SIG_IGN)
        assert len(run.grade_class(folder, engine, ignore, resume=True, plain=True)) == 3
    finally:
        signal.signal(number, previous)
