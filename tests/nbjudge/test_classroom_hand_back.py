"""`rnnlab class report | similar | export` on a class folder: what they write, and words for bad input."""

import csv
import errno
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pretended_class import class_command, graded_entry, result_of
from values_in import holds

from nbjudge.classroom import exported, keys, papers, report, results, submissions
from nbjudge.classroom.run import describe
from nbjudge.classroom.submissions import Submission
from nbjudge.files import ROOT
from nbjudge.finding.notebook_file import Unusable

GRADED = {  # verdicts other than passed, and the numbers of a variant
    "ada": ({}, {"measure_gemm": {"warm": 3}}),
    "=bo": ({"last_step": "failed"}, None),
    "cy": ({"count_rnn_flops": "grader_error"}, None),
}


@pytest.fixture
def folder(tmp_path):
    """A graded class: three students with verdicts, one whose file is not a notebook, one file of nobody."""
    folder = tmp_path / "class"
    entries = [
        graded_entry(folder, result_of(student, other, variants=variant or {}))
        for student, (other, variant) in GRADED.items()
    ]
    broken = {"exercises": (), "problem": "di.ipynb is not a notebook.", "score": 0}
    entries.append(graded_entry(folder, result_of("di", **broken), name=None))
    entries.append(Submission("in/x.txt", "plain", reason="no notebook"))
    submissions.save(folder, entries)
    keys.save_settings(folder, {"key": "lost"})
    return folder


@pytest.fixture
def run(capfd):
    return class_command(capfd)


def test_the_report_has_a_page_for_each_student_and_what_was_not_graded(folder, run):
    code, printed = run("report", folder)
    assert (code, "4 pages to give back.\n" in printed, "also holds" in printed) == (0, True, False)
    page = (folder / "report/class.html").read_text(encoding="utf-8")
    for text in ("in/x.txt", "no notebook", "di.ipynb is not a notebook.", "sandbox bubblewrap"):
        assert text in page
    assert "Name ada" not in page
    assert "warm = 3" in (folder / "report/students/ada.html").read_text(encoding="utf-8")
    assert run("report", folder, "--names")[0] == 0
    assert "Name ada" in (folder / "report/class.html").read_text(encoding="utf-8")
    assert "di.ipynb is not a notebook." in (folder / "report/students/di.html").read_text(encoding="utf-8")


def test_the_end_of_a_run_states_the_median_of_the_report(folder):
    first = next(describe(results.load(folder)))
    assert holds(first, "start_here", "3", "5.5", "6"), "without the mark that is withheld"
    page = report.class_page(papers.papers_of(folder), [])
    assert holds(page[page.index("The median is") :][:80], "5.5", "6", "5", "6")


def test_a_class_of_broken_notebooks_has_a_report_and_no_marks(folder, run, tmp_path):
    run("report", folder)
    entries = submissions.load(folder)
    submissions.save(folder, [entry for entry in entries if entry.student == "di"])
    code, printed = run("report", folder)
    assert (code, "1 page to give back." in printed) == (0, True)
    assert holds(printed, "3 pages")
    page = (folder / "report/class.html").read_text(encoding="utf-8")
    assert "no submission could be graded" in page
    assert "di.ipynb is not a notebook." in page
    code, printed = run("export", folder, "--to", "csv", "--out", tmp_path / "x.csv")
    assert (code, "none of the 1 notebooks that count could be graded" in printed) == (2, True)


def test_tables_have_all_who_were_graded_and_the_rest_is_named(folder, run, tmp_path):
    code, printed = run("export", folder, "--to", "csv", "--out", tmp_path / "marks.csv")
    assert code == 0
    assert {*papers.unmarked(folder)} == {"di"}
    assert "  di: di.ipynb: di.ipynb is not a notebook." in printed.splitlines()
    text = (tmp_path / "marks.csv").read_text(encoding="utf-8-sig")
    rows = {row["student"]: (row["score"], row["not_judged"]) for row in csv.DictReader(io.StringIO(text))}
    assert rows == {"ada": ("6", "0"), "'=bo": ("5", "0"), "cy": ("", "1")}
    assert run("export", folder, "--to", "exercises", "--out", tmp_path / "all.csv")[0] == 0
    assert len((tmp_path / "all.csv").read_text(encoding="utf-8-sig").splitlines()) == 1 + 9


@pytest.mark.parametrize(
    "change", [{"status": "great"}, {"points": "1"}, {"points": 7}, {"points": 0}, {"status": ["passed"]}]
)
def test_a_mark_that_was_changed_by_hand_is_refused(folder, run, tmp_path, change):
    path = results.path_of(folder / "results", "ada", "start_here")
    entry = json.loads(path.read_text())
    entry["exercises"][0] |= change
    path.write_text(json.dumps(entry))
    code, printed = run("export", folder, "--to", "csv", "--out", tmp_path / "marks.csv")
    assert (code, holds(printed, "--resume")) == (
        2,
        True,
    )


def test_a_worksheet_is_filled_beside_the_teachers_own(folder, run, tmp_path):
    sheet = tmp_path / "sheet.csv"
    sheet.write_text(
        "Identifier,ID number,Grade,Last modified (grade),Feedback comments\nParticipant 1,ada,,-,\n"
    )
    before = sheet.read_bytes()
    code, printed = run(
        "export", folder, "--to", "moodle", "--template", sheet, "--out", tmp_path / "out.csv"
    )
    assert code == 0
    assert "marks of 1 student." in printed
    assert any(line.startswith("Withheld") and holds(line, "cy") for line in printed.splitlines())
    row = next(csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text(encoding="utf-8"))))
    assert row["Grade"] == "6"
    assert row["Feedback comments"].startswith("<p>00 · Start here: 6 of 6 points</p>")
    assert sheet.read_bytes() == before


WRITING = {  # a command, and a file that it writes
    "export FOLDER --to csv --out PLACE/marks.csv": "marks.csv",
    "export FOLDER --to exercises --names --out PLACE/all.csv": "all.csv",
    "export FOLDER --to moodle --template PLACE/sheet.csv --out PLACE/filled.csv": "filled.csv",
    "export --to nbgrader --lesson 0 --out PLACE/c": "c/source/00_start_here/00_start_here.ipynb",
    "report FOLDER --out PLACE/report": "report/students/ada.html",
    "report FOLDER": "class/report/class.html",
    "similar FOLDER --programs PLACE/programs": "programs/handed_out/last_step/0.py",
    "similar FOLDER --out PLACE/s.html": "s.html",
    "variants PLACE/new --lesson 0 --students PLACE/list.txt --out PLACE/v": "v/eve-*/00_start_here.ipynb",
}


@pytest.mark.parametrize("command", WRITING)
def test_what_a_teacher_changed_is_replaced_only_where_that_is_asked(folder, run, tmp_path, command):
    (tmp_path / "sheet.csv").write_text("Identifier,ID number,Grade\nParticipant 1,ada,\n")
    (tmp_path / "list.txt").write_text("eve\n")
    words = command.replace("FOLDER", str(folder)).replace("PLACE", str(tmp_path)).split()
    for _ in range(3):
        assert run(*words)[0] == 0
    (file,) = tmp_path.glob(WRITING[command])
    own = file.read_bytes()
    file.write_bytes(own + b"mine")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    code, printed = run(*words)
    assert (code, str(file) in printed, "--overwrite" in printed) == (2, True, True)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert run(*words, "--overwrite")[0] == 0
    assert b"mine" not in file.read_bytes()
    assert run(*words)[0] == 0


def test_a_report_that_was_killed_and_a_class_that_was_moved_are_no_change_by_hand(
    folder, run, tmp_path, monkeypatch
):
    assert run("report", folder)[0] == 0
    writes = iter(range(3))

    def write(path, content):
        next(writes)
        path.write_bytes(content)

    with monkeypatch.context() as patched:
        patched.setattr(exported, "_write", write)
        patched.setattr("nbjudge.classroom.report.time.strftime", lambda form: "another day")
        assert run("report", folder)[0] == 3
    assert run("report", folder)[0] == 0
    folder.rename(tmp_path / "moved")
    assert run("report", tmp_path / "moved")[0] == 0


def test_a_file_that_could_not_be_written_twice_is_no_change_by_hand(tmp_path, monkeypatch):
    files = {tmp_path / "page.html": b"new"}
    exported.write_files(tmp_path, dict.fromkeys(files, b"old"))

    def refuse(path, content):
        raise PermissionError(errno.EACCES, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(exported, "_write", refuse)
        for _ in range(2):
            with pytest.raises(Unusable, match=r"page\.html"):
                exported.write_files(tmp_path, files)
    exported.write_files(tmp_path, files)
    assert (tmp_path / "page.html").read_bytes() == b"new"


@pytest.mark.parametrize("record", ["[", "[1]", "null", '{"page.html": null}', '{"page.html": {"a": 1}}'])
def test_a_damaged_record_counts_what_is_there_as_changed(tmp_path, record):
    page = tmp_path / "page.html"
    page.write_bytes(b"mine")
    (tmp_path / exported.RECORD).write_text(record)
    with pytest.raises(Unusable, match=r"page\.html"):
        exported.write_files(tmp_path, {page: b"new"})
    exported.write_files(tmp_path, {page: b"new"}, overwrite=True)
    exported.write_files(tmp_path, {page: b"newer"})


def test_commands_at_the_same_time_forget_none_of_their_files(tmp_path):
    places = [tmp_path / f"{number}.csv" for number in range(24)]
    with ThreadPoolExecutor(4) as threads:
        assert [*threads.map(lambda path: exported.write_files(tmp_path, {path: b"a"}), places)]
    exported.write_files(tmp_path, dict.fromkeys(places, b"b"))
    assert {path.read_bytes() for path in places} == {b"b"}


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS refuses names that are not UTF-8")
def test_a_table_may_have_a_name_that_is_not_utf_8(folder, run, tmp_path):
    out = tmp_path / os.fsdecode(b"\xff.csv")
    for arguments in ((), ("--names",)):
        assert run("export", folder, "--to", "csv", "--out", out, *arguments)[0] == 0
    assert out.exists()


def test_an_export_replaces_an_earlier_one_and_nothing_else(folder, run, tmp_path):
    out = tmp_path / "marks.csv"
    out.touch()
    for arguments in ((), ("--names",), ()):
        assert run("export", folder, "--to", "csv", "--out", out, *arguments)[0] == 0
    before = out.read_bytes()
    assert run("export", folder, "--to", "csv", "--out", out)[0] == 0
    assert out.read_bytes() == before, "two runs write the same bytes"
    for content in (b"student,remark\r\nada,my own list\r\n", b"PK\x03\x04\xff"):
        out.write_bytes(content)
        code, printed = run("export", folder, "--to", "csv", "--out", out)
        assert (code, str(out) in printed) == (2, True)
        assert out.read_bytes() == content


def saved_again(content, encoding="utf-8", decimal=".", **style):
    """A table as a spreadsheet saves it that nobody has edited."""
    rows = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""))
    number = re.compile(r"\d+(\.\d+)?")
    decimals = lambda cell: f"{float(cell):.2f}".replace(".", decimal)
    shown = [[decimals(cell) if number.fullmatch(cell) else cell for cell in row] for row in rows]
    text = io.StringIO()
    csv.writer(text, **style).writerows([*([*row, "", ""] for row in shown), ["", ""]])
    return text.getvalue().encode(encoding)


@pytest.mark.parametrize("target", ["csv", "exercises", "moodle"])
@pytest.mark.parametrize(
    "style",
    [
        {"quoting": csv.QUOTE_ALL},
        {"delimiter": ";", "decimal": ",", "lineterminator": "\n"},
        {"delimiter": "\t", "encoding": "utf-8-sig"},
    ],
    ids=str,
)
def test_a_table_that_a_spreadsheet_saved_again_is_not_changed_by_hand(folder, run, tmp_path, target, style):
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("Identifier,ID number,Grade,x,Feedback comments\nParticipant 1,ada,,-,\n")
    out = tmp_path / "out.csv"
    template = ["--template", sheet] if target == "moodle" else []
    command = ["export", folder, "--to", target, *template, "--out", out]
    assert run(*command)[0] == 0
    out.write_bytes(saved_again(out.read_bytes(), **style))
    (folder / "by_hand.csv").write_text("student,lesson,exercise,points\nada,0,last_step,0.5\n")
    assert run(*command)[0] == 0
    assert b"0.5" in out.read_bytes() or b"5.5" in out.read_bytes()
    changed = saved_again(out.read_bytes().replace(b"ada", b"eve", 1), **style)
    out.write_bytes(changed)
    (folder / "by_hand.csv").unlink()
    assert run(*command)[0] == 2
    assert out.read_bytes() == changed


@pytest.fixture
def readable(folder):
    """A class folder that nobody but its owner may write, and a place beside it for everybody."""
    with tempfile.TemporaryDirectory() as place:
        copy = shutil.copytree(folder, Path(place, "class"))
        Path(place, "elsewhere").mkdir()
        for path in (Path(place), *Path(place).rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        Path(place, "elsewhere").chmod(0o777)
        copy.chmod(0o555)
        yield copy
        copy.chmod(0o755)


@pytest.mark.skipif(not shutil.which("setpriv"), reason="root may write everywhere: install setpriv")
def test_a_class_that_may_only_be_read_is_exported_elsewhere(readable):
    before = {path: path.read_bytes() for path in readable.rglob("*") if path.is_file()}
    elsewhere = readable.parent / "elsewhere"
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []
    program = "import sys; from rnncourse.cli import main; sys.exit(main(sys.argv[1:]))"

    def run_apart(*words):
        command = [*nobody, sys.executable, "-c", program, "class", *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=120)

    if run_apart("collect", "--help").returncode:
        pytest.skip("another user cannot read the course: install it where others may read it")
    done = run_apart("export", readable, "--to", "csv", "--out", elsewhere / "marks.csv")
    assert (done.returncode, holds(done.stdout, str(readable))) == (0, True), done.stderr
    assert "--overwrite" in done.stdout
    assert len((elsewhere / "marks.csv").read_text(encoding="utf-8-sig").splitlines()) == 4
    for words, place in (("report",), "report/students"), (("grade", "--resume"), "lock"):
        done = run_apart(words[0], readable, *words[1:])
        assert (done.returncode, place in done.stderr, "Traceback" in done.stderr) == (2, True, False), done
    assert {path: path.read_bytes() for path in readable.rglob("*") if path.is_file()} == before


def test_the_same_solved_notebook_of_all_is_one_group_and_no_wrong_answer(folder, run):
    code, printed = run("similar", folder)
    assert (code, holds(printed, "1", "0", "0")) == (0, True)
    assert (folder / "similar.html").exists()


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("export --to csv --out x.csv", "--to csv needs the class folder whose marks are exported."),
        ("export FOLDER --to csv", "--to csv needs --out, the file or folder to write."),
        ("export FOLDER --to moodle --out x.csv", "--to moodle needs --template, the file that you d"),
        ("export FOLDER --to canvas --template no.csv --out x.csv", "no.csv cannot be read: No such file"),
        ("export FOLDER --to csv --lesson nope --out x.csv", "there is no lesson 'nope'; there are 00_"),
        ("export FOLDER --to csv --lesson bptt --out x.csv", "holds no graded submission of bptt: run "),
        ("export --to gradescope --out x.zip", "--to gradescope needs --lesson, one of 00_start_here"),
        ("export --to nbgrader --lesson start_here", "--to nbgrader needs --out, the file or folder"),
        ("export FOLDER --to csv --out x.csv --out-of 9", "--out-of belongs to --to moodle and canvas, "),
        ("export FOLDER --to moodle --gradebook g.db", "--gradebook belongs to --to nbgrader, not to moodle"),
        ("export FOLDER --to nbgrader --gradebook g --out x", "name one of them"),
        ("export FOLDER --to csv --out FOLDER/class.json", "is a part of the class itself: name another"),
        ("similar FOLDER --out FOLDER/results/x.html", "is a part of the class itself: name another place"),
        ("similar FOLDER --programs FOLDER/files", "--programs"),
        ("export FOLDER --to csv --out FOLDER/lock", "is a part of the class itself: name another"),
        ("export FOLDER --to moodle --template mine --out mine", "--out"),
        ("export FOLDER --to csv --template mine --out mine", "--out"),
        ("export --to gradescope --lesson start_here --out mine", "mine"),
        ("report NOWHERE", "is not a class folder (it has no submissions"),
        ("variants FOLDER --lesson nope --students no.txt", "there is no lesson 'nope'"),
        ("variants FOLDER --lesson start_here --students no.txt", "no.txt cannot be read: No such file"),
    ],
)
def test_bad_input_gets_one_sentence_and_changes_nothing(folder, run, monkeypatch, tmp_path, command, why):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").write_text("Identifier,Grade\nParticipant 1,\n")
    content = lambda: {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}
    before = content()
    arguments = [
        word.replace("FOLDER", str(folder)).replace("NOWHERE", str(tmp_path)) for word in command.split()
    ]
    code, sentence = run(*arguments)
    assert code == 2
    assert why in sentence
    assert "Traceback" not in sentence
    assert content() == before


def test_a_class_with_variants_hands_out_no_notebook_for_all(folder, run, tmp_path):
    (folder / "class.json").write_text('{"format": 2, "variants": ["start_here"]}')
    arguments = "export --to nbgrader --lesson start_here --out".split()
    code, sentence = run(*arguments[:1], folder, *arguments[1:], tmp_path / "course")
    assert (code, holds(sentence, "start_here")) == (2, True)
    assert not (tmp_path / "course").exists()


def test_papers_are_those_that_count_now(folder):
    assert [paper.student for paper in papers.papers_of(folder)] == ["=bo", "ada", "cy"]
    assert papers.papers_of(folder)[1].numbers == {"measure_gemm": {"warm": 3}}
    newer = json.loads((folder / "submissions.jsonl").read_text().splitlines()[0]) | {"sha256": "newer"}
    submissions.save(folder, [Submission(**newer)])
    withheld = papers.withheld_of(folder)
    assert ["--resume" in entry.reason for entry in withheld] == [True]


def test_every_student_without_a_mark_is_named_with_the_reason(folder):
    entry = lambda student, lesson=None, reason="why", **more: Submission(
        f"all.zip: {student}", "moodle", student=student, lesson=lesson, reason=reason, **more
    )
    added = [
        entry("pdf"),
        entry("two", "start_here", "first or second"),
        entry("two", "start_here", "second or first"),
        entry("other", "bptt", None, file="files/x.ipynb", sha256="x", graded=True),
        entry("wrong", "bptt", "not requested"),
        entry("ada", None, "a picture beside it"),
        entry("ada", "start_here", "an older one"),
    ]
    submissions.save(folder, [*submissions.load(folder), *added])
    of_lesson, of_all = papers.unmarked(folder, "start_here"), papers.unmarked(folder)
    assert [*of_lesson] == [*of_all] == ["di", "pdf", "two", "other", "wrong"]
    assert of_lesson["two"].count("first") == 2
    assert not of_lesson["other"], "the file counts in a lesson of its own"
    assert "bptt" in of_lesson["wrong"]
