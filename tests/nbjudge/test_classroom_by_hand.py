"""What a teacher decides in by_hand.csv and prose.csv: marks, pages, exports, bad cells."""

import csv
import io
import re
from dataclasses import replace

import pytest
from pretended_class import POINTS, class_command, graded_entry, result_of
from values_in import holds

from nbjudge.authoring.course import ROOT
from nbjudge.classroom import by_hand, export_nbgrader, keys, papers, regrade, results, submissions
from nbjudge.classroom.papers import papers_of, unmarked
from nbjudge.classroom.submissions import Submission
from nbjudge.finding.notebook_file import Unusable

PAGE = (ROOT / "docs/teachers.md").read_text(encoding="utf-8")
PLANTED = {"1234": {"count_rnn_flops": "failed"}, "1235": {}, "1237": {"measure_gemm": "crashed"}}


def tables_of_the_page():
    """{file name: its text} of the examples on the page."""
    section = PAGE.partition("### Marks of your own")[2].partition("\n### ")[0]
    blocks = re.findall(r"^`(\w+\.csv)`[^`]*?(?:`[^`]*`[^`]*?)*?\n\n((?:    .*\n)+)", section, re.M)
    return {name: re.sub(r"^    ", "", text, flags=re.M) for name, text in blocks}


@pytest.fixture
def folder(tmp_path):
    """A class of which three handed in a notebook, one a PDF, and no table is there yet."""
    folder = tmp_path / "class"
    entries = [graded_entry(folder, result_of(student, other)) for student, other in PLANTED.items()]
    entries.append(Submission("in/1238.pdf", "moodle", "1238", reason="no notebook"))
    submissions.save(folder, entries)
    keys.save_settings(folder, {"key": "lost"})
    return folder


@pytest.fixture
def run(capfd):
    return class_command(capfd)


def write(folder, **tables):
    for name, text in tables.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")


def rewrite(folder, result):
    results.write(results.path_of(folder / "results", *result.place), result)


def marks(folder):
    return {paper.student: paper.score for paper in papers_of(folder)}


def table(path):
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"))))


def test_the_example_of_the_page_gives_the_marks_that_the_page_states(folder, run, tmp_path):
    tables = tables_of_the_page()
    assert {*tables} == {*by_hand.COLUMNS}
    for name, text in tables.items():
        (folder / name).write_text(text)
    rows = re.findall(r"^\| (\d{4}) \| (\w+) \| (\S+) \|", PAGE, re.M)
    scores = {result.student: str(result.score) for result in results.load(folder)}
    assert {student: points for student, points, _ in rows if points != "none"} == scores
    assert run("export", folder, "--to", "csv", "--out", tmp_path / "marks.csv")[0] == 0
    exported = table(tmp_path / "marks.csv")
    assert {row["student"]: row["score"] for row in exported} == {row[0]: row[2] for row in rows}
    assert {row["max_score"] for row in exported} == {"10"}


def test_comments_reach_the_students_page_and_every_export(folder, run, tmp_path):
    write(folder, by_hand="student,lesson,exercise,comment\n1234,0,last_step,<b>=1+1</b>\n")
    page, sheet = folder / "report/students/1234.html", tmp_path / "sheet.csv"
    sheet.write_text("Identifier,Grade,Maximum Grade,Feedback comments\nParticipant 1234,,6,mine\n")
    assert run("report", folder)[0] == 0
    assert "<pre>&lt;b&gt;=1+1&lt;/b&gt;</pre>" in page.read_text(encoding="utf-8")
    export = "export", folder, "--to", "moodle", "--template", sheet, "--out", tmp_path / "after.csv"
    assert run(*export)[0] == 0
    (row,) = table(tmp_path / "after.csv")
    assert row["Grade"] == "4"
    assert "<p>&lt;b&gt;=1+1&lt;/b&gt;</p>" in row["Feedback comments"]
    assert run("export", folder, "--to", "exercises", "--out", tmp_path / "all.csv")[0] == 0
    assert {row["comment"] for row in table(tmp_path / "all.csv")} == {"", "<b>=1+1</b>"}


def test_a_formula_in_a_comment_or_an_identifier_is_text_in_a_table_and_is_read_back(folder, run, tmp_path):
    entries = submissions.load(folder)
    submissions.save(folder, [*entries, Submission("in/=x.pdf", "plain", "=x()", reason="no notebook")])
    write(folder, by_hand="student,lesson,exercise,points,comment\n'=x(),0,last_step,1,=HYPERLINK(1)\n")
    assert marks(folder)["=x()"] == 1
    run("export", folder, "--to", "exercises", "--out", tmp_path / "all.csv")
    rows = [row for row in table(tmp_path / "all.csv") if row["comment"]]
    assert [(row["student"], row["comment"]) for row in rows] == [("'=x()", "'=HYPERLINK(1)")]
    (folder / "by_hand.csv").write_bytes((tmp_path / "all.csv").read_bytes())  # edited, and given back
    assert marks(folder)["=x()"] == 1


def test_empty_columns_and_rows_that_a_spreadsheet_has_added_say_nothing(folder):
    write(folder, by_hand="student;lesson;exercise;points;;\n1235;0;last_step;0,5;;\n;;;;;\n")
    assert marks(folder)["1235"] == 5.5


def test_who_handed_in_no_notebook_is_marked_by_hand_and_no_longer_without_a_mark(folder, run, tmp_path):
    assert {*unmarked(folder)} == {"1238"}
    write(
        folder,
        by_hand="student;lesson;exercise;points\r\n1238;00;last_step;0,5\r\n1238;00;measure_gemm;3\r\n",
    )
    assert (marks(folder)["1238"], {*unmarked(folder)}) == (3.5, set())
    assert run("report", folder)[0] == 0
    page = (folder / "report/students/1238.html").read_text(encoding="utf-8")
    assert re.findall(r"<h3>(.) .* · (\w+) · (\S+) of", page) == [
        ("✎", "last_step", "0.5"), ("○", "count_rnn_flops", "0"), ("✎", "measure_gemm", "3"),
    ]  # fmt: skip


def test_prose_without_a_mark_withholds_the_mark_of_that_student_alone(folder, run, tmp_path):
    write(folder, prose="lesson,exercise,points\n00,essay,4\n",
          by_hand="student,lesson,exercise,points\n1235,00,essay,0\n1237,00,essay,\n")  # fmt: skip
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("Identifier,Grade,Maximum Grade\n" + "".join(f"P {s},,10\n" for s in PLANTED))
    code, text = run("export", folder, "--to", "moodle", "--template", sheet, "--out", tmp_path / "out.csv")
    assert code == 0
    assert [row["Grade"] for row in table(tmp_path / "out.csv")] == ["", "6", ""]
    (line,) = (line for line in text.splitlines() if line.startswith("start_here: essay"))
    assert re.findall(r"\d{4}", line) == ["1234", "1237"]


def test_a_mark_by_hand_closes_what_the_grader_could_not_judge(folder):
    rewrite(folder, result_of("1235", {"measure_gemm": "grader_error"}))
    open_points = lambda: {paper.student: paper.open_points for paper in papers_of(folder)}["1235"]
    assert open_points() == 3
    write(folder, by_hand="student,lesson,exercise,points\n1235,00,measure_gemm,2\n")
    assert (open_points(), marks(folder)["1235"]) == (0, 5)


def test_a_comment_alone_is_no_mark_of_a_student_without_one(folder):
    write(folder, by_hand="student,lesson,exercise,points,comment\n1238,00,last_step,,Hand in a notebook.\n")
    assert "1238" not in marks(folder)
    assert "1238" in unmarked(folder)


@pytest.mark.parametrize("name", ["last_step", "essay"])
def test_a_comment_on_a_notebook_that_cannot_be_read_stands_on_the_students_page(folder, run, name):
    rewrite(folder, result_of("1235", exercises=(), problem="It is not a notebook.", score=0))
    essay = "lesson,exercise,points\n00,essay,4\n"
    comment = f"student,lesson,exercise,comment\n1235,00,{name},Hand it in again.\n"
    write(folder, prose=essay, by_hand=comment)
    assert run("report", folder)[0] == 0
    page = (folder / "report/students/1235.html").read_text(encoding="utf-8")
    assert page.count("Hand it in again.") == 1
    assert page.count("essay") == (name == "essay")


def test_marks_of_a_notebook_that_is_to_be_graded_again_wait_for_the_rest(folder):
    write(folder, by_hand="student,lesson,exercise,points\n1234,00,count_rnn_flops,1.5\n")
    assert marks(folder)["1234"] == 5.5
    entries = submissions.load(folder)
    newer = [replace(entry, sha256="newer") if entry.student == "1234" else entry for entry in entries]
    submissions.save(folder, newer)
    assert "1234" not in marks(folder)
    assert holds(unmarked(folder)["1234"], "--resume")


@pytest.mark.parametrize("why", ["grader_error", "prose"])
def test_no_table_or_page_shows_a_sum_of_which_a_part_is_missing(folder, run, tmp_path, why):
    rewrite(folder, result_of("1235", {"measure_gemm": "grader_error"} if why == "grader_error" else {}))
    essay = "student,lesson,exercise,points\n1234,00,essay,2\n1237,00,essay,2\n"
    if why == "prose":
        write(folder, prose="lesson,exercise,points\n00,essay,4\n", by_hand=essay)
    out = tmp_path / "out.csv"
    assert run("export", folder, "--to", "csv", "--out", out)[0] == 0
    assert [(row["score"] == "", row["not_judged"]) for row in table(out)] == [
        (False, "0"), (True, "1"), (False, "0"),
    ]  # fmt: skip
    assert run("export", folder, "--to", "exercises", "--out", tmp_path / "all.csv")[0] == 0
    openly = [row["exercise"] for row in table(tmp_path / "all.csv") if row["points"] == ""]
    assert openly == (["measure_gemm"] if why == "grader_error" else ["essay"])
    assert run("report", folder)[0] == 0
    for page in "class.html", "students/1235.html":
        text = (folder / "report" / page).read_text(encoding="utf-8")
        assert len(re.findall(r"\b\d+ so far, of \d+", text)) == 1


MEANINGLESS = [  # table, its text, and the line, column and value that mean nothing
    ("by_hand", "student,lesson,exercise,points\n1243,00,last_step,1\n", 2, "student", "1243"),
    ("by_hand", "student,lesson,exercise,points\n\n1234,0O,last_step,1\n", 3, "lesson", "0O"),
    ("by_hand", "student,lesson,exercise,points\n1234,,last_step,1\n", 2, "lesson", ""),
    ("by_hand", "student,lesson,exercise,points\n1234,00,last_stop,1\n", 2, "exercise", "last_stop"),
    ("by_hand", "student,lesson,exercise,points\n1234,00,last_step,2\n", 2, "points", "2"),
    ("by_hand", "student,lesson,exercise,points\n1234,00,last_step,-1\n", 2, "points", "-1"),
    ("by_hand", "student,lesson,exercise,points\n1234,00,last_step,nan\n", 2, "points", "nan"),
    ("by_hand", "student,lesson,exercise,points\n1234,00,last_step,=1\n", 2, "points", "=1"),
    ("by_hand", "student,lesson,exercise,comment\n1234,00,last_step,a, b\n", 2, "comment", "a"),
    ("by_hand", 'student,lesson,exercise,comment\n1234,00,last_step,"a\nb"\n99,0,last_step,c\n', 4,
     "student", "99"),
    ("by_hand", "student,lesson,exercise,points\n1234,00,last_step,1\n1234,0,last_step,\n", 3, "student",
     "1234"),
    ("by_hand", "student,lesson,exercise,points\n1234,00\n", 2, "exercise", ""),
    ("by_hand", "student,lesson,exercise,points\n1234\n", 2, "lesson", ""),
    ("prose", "lesson,exercise,points\n00,essay\n", 2, "points", ""),
    ("prose", "lesson,exercise,points\n00,essay,\n", 2, "points", ""),
    ("prose", "lesson,exercise,points\n00,essay,0\n", 2, "points", "0"),
    ("prose", "lesson,exercise,points\n00,essay,4 points\n", 2, "points", "4 points"),
    ("prose", "lesson,exercise,points\n00,last_step,3\n", 2, "exercise", "last_step"),
    ("prose", "lesson,exercise,points\n,essay,3\n", 2, "lesson", ""),
    ("prose", "lesson,exercise,points\n0,essay,3\n00,essay,4\n", 3, "lesson", "00"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("command", "name", "text", "line", "column", "value"),
    [
        *(("report", *cell) for cell in MEANINGLESS),
        *(
            (command, *cell)
            for command in ("export", "regrade")
            for cell in (MEANINGLESS[0], MEANINGLESS[-1])
        ),
    ],
)
def test_a_cell_that_means_nothing_is_named_before_anything_is_written(
    folder, run, tmp_path, command, name, text, line, column, value
):
    write(folder, **{name: text})
    export = "--to", "csv", "--out", tmp_path / "marks.csv"
    arguments = export if command == "export" else ()
    code, message = run(command, folder, *arguments)
    assert code == 2
    assert f"{name}.csv, line {line}, {column} {value!r}: " in message
    assert not (folder / "report").exists()
    assert not (tmp_path / "marks.csv").exists()
    assert (folder / f"{name}.csv").read_text() == text


@pytest.mark.parametrize("header", ["student,lesson,exercise,pionts", "lesson,exercise", "student,student"])
def test_columns_that_nobody_knows_are_named(folder, header):
    write(folder, by_hand=f"{header}\n")
    with pytest.raises(Unusable, match=r"by_hand\.csv, line 1: "):
        papers_of(folder)


def test_no_export_takes_the_place_of_a_teachers_table(folder, run):
    for name in by_hand.COLUMNS:
        assert run("export", folder, "--to", "csv", "--out", folder / name)[0] == 2
        assert not (folder / name).exists()


def test_a_regrade_keeps_marks_by_hand_and_names_what_changes_below_them(folder):
    write(folder, by_hand="student,lesson,exercise,points\n1234,00,count_rnn_flops,1.5\n")
    assert marks(folder)["1234"] == 5.5
    rewrite(folder, result_of("1234", {"last_step": "failed"}))  # what --write takes over
    assert marks(folder)["1234"] == 4.5
    hand = by_hand.read(folder, submissions.load(folder))
    passed, failed = result_of("1234"), result_of("1234", {name: "failed" for name in POINTS})
    lines = [*regrade.describe([(passed, failed)], hand.marks)]
    assert len(lines) == 4
    assert sum(holds(line, "count_rnn_flops", "1.5") for line in lines) == 1
    assert holds(lines[-1], "1", "1", "-4 points"), "two of the six points are a mark by hand"


@pytest.mark.slow
def test_marks_by_hand_are_nbgraders_manual_scores(folder, tmp_path):
    pytest.importorskip("nbgrader", reason="install the extra teach: nbgrader")
    from nbgrader.api import Gradebook

    for name, text in tables_of_the_page().items():
        (folder / name).write_text(text)
    path, stem = tmp_path / "gradebook.db", "00_start_here"
    with export_nbgrader.own_programs(), Gradebook(f"sqlite:///{path}") as book:
        book.add_assignment(stem)
        book.add_notebook(stem, stem)
        for name, points in POINTS.items():
            book.add_solution_cell(name, stem, stem)
            book.add_grade_cell(f"{name}_check", stem, stem, max_score=points, cell_type="code")
        for student in PLANTED:
            book.add_student(student)
    pushed = export_nbgrader.push_marks(papers_of(folder), path)
    assert (pushed.students, pushed.prose) == (3, ["discussion"])
    with export_nbgrader.own_programs(), Gradebook(f"sqlite:///{path}") as book:
        grade = book.find_grade("count_rnn_flops_check", stem, stem, "1234")
        assert (grade.auto_score, grade.manual_score, grade.score) == (0.0, 1.5, 1.5)
        comment = book.find_comment("count_rnn_flops", stem, stem, "1234").comment
        assert comment in tables_of_the_page()["by_hand.csv"]
        assert book.find_submission(stem, "1235").score == 6.0


def test_no_table_leaves_a_class_as_it_was(folder):
    assert [paper.marks for paper in papers_of(folder)] == [()] * 3
    assert papers.open_matters(folder) == []
