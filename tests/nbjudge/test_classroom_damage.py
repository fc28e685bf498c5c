"""What is damaged, foreign or gone in a class folder is refused or repaired, and no mark is lost to it."""

import json

import pytest
from pretended_class import STUDENTS, book, class_of, ignore, pretended

from nbjudge.classroom import keys, results, run, submissions
from nbjudge.classroom.collect import Assignment, collect
from nbjudge.finding.notebook_file import Unusable


@pytest.fixture
def folder(tmp_path):
    """A class folder of five students."""
    return class_of(tmp_path, {student: book(student) for student in STUDENTS})


def graded(folder):
    return run.grade_class(folder, pretended(), ignore, resume=True, plain=True)


@pytest.mark.parametrize(
    "change",
    [{"student": 5}, {"student": "eva"}, {"lesson": "bptt"}, {"exercises": [5]}, {"score": 5}, {"extra": 1}],
)
def test_a_file_that_is_not_its_students_result_is_refused(change, folder):
    path = results.path_of(folder / "results", *graded(folder)[0].place)
    text = json.dumps(json.loads(path.read_text()) | change)
    for damaged in (text, "[]", text[:50]):
        path.write_text(damaged)
        with pytest.raises(Unusable, match=r"start_here\.json.*--resume"):
            results.load(folder)


def test_copies_and_hidden_files_beside_a_result_are_not_read(folder):
    first = results.path_of(folder / "results", *graded(folder)[0].place)
    first.with_name("._start_here.json").write_text("of a file system that keeps its own")
    first.with_name("start_here (copy).json").write_bytes(first.read_bytes())
    assert len(results.load(folder)) == 5


@pytest.mark.parametrize("harm", ["missing", "another one"])
def test_a_notebook_that_was_lost_or_changed_after_collect_costs_no_marks(harm, folder, tmp_path):
    entry = submissions.graded(submissions.load(folder))[0]
    path = folder / entry.file
    (job, *_) = run.jobs_of(folder, plain=True)
    path.unlink()
    if harm == "another one":
        path.write_text(book("somebody else"), encoding="utf-8")
    sentence = f"notebook of ada for start_here, is {harm}"
    with pytest.raises(Unusable, match=sentence):
        graded(folder)
    with pytest.raises(Unusable, match=sentence):
        run.grade_file(job)  # also where it changes while a class is graded
    collect(folder, [tmp_path / "in"], Assignment())
    assert len(graded(folder)) == 5


@pytest.mark.parametrize(
    "change", [{"lesson": "foo"}, {"lesson": None}, {"student": 5}, {"sha256": None}, None]
)
def test_a_submission_without_what_grading_needs_is_named_with_its_line(change, folder):
    path = folder / "submissions.jsonl"
    first, *rest = path.read_text(encoding="utf-8").splitlines()
    last = json.dumps(json.loads(first) | change) if change else "{oops"
    path.write_text("\n".join([*rest, last]), encoding="utf-8")
    with pytest.raises(Unusable, match=r"submissions\.jsonl.*\b5\b"):
        graded(folder)


def test_a_damaged_key_is_refused_with_the_remedy_and_an_editor_s_mark_is_not(folder):
    path = folder / "class.json"
    path.write_text(path.read_text(), encoding="utf-8-sig")
    assert len(keys.class_key(folder)) == 32
    for key in ("", "ab" * 20, "hello", "\xff" * 64, 5, None):
        keys.save_settings(folder, {"key": key})
        with pytest.raises(Unusable, match="64 hexadecimal"):
            keys.class_key(folder, create=True)


def test_a_key_that_others_can_read_is_reported(folder):
    printed = []
    for mode in (0o600, 0o644):
        folder.chmod(0o755)
        (folder / "class.json").chmod(mode)
        run.grade_class(folder, pretended(), printed.append, resume=True, plain=True)
    assert [line.startswith("other accounts") for line in printed] == [False, True, False, False]


def test_class_json_with_unknown_variants_is_refused(folder):
    keys.save_settings(folder, keys.settings(folder) | {"variants": "start_here"})
    with pytest.raises(Unusable, match=r"class\.json.*start_here"):
        keys.settings(folder)
