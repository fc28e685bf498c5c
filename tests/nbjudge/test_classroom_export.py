"""Marks in files of Moodle and Canvas, read back by the rules of their importers; CSV with odd names."""

import csv
import html
import io
import re

import pytest
from values_in import holds

from nbjudge.classroom import export_lms, export_tables
from nbjudge.classroom.export_lms import fill_canvas, fill_moodle
from nbjudge.classroom.export_tables import Table, read_table
from nbjudge.classroom.report_summary import Paper
from nbjudge.finding.notebook_file import Unusable
from nbjudge.verdict import Status, Verdict

NAMES = (
    "Ada Lovelace", "O'Brien, \"Bo\"", "=HYPERLINK(\"http://x\")", "Дарья", "李小龍", "محمد", "Zoë\u0301",
    "@sum",
)  # fmt: skip
WORKSHEET = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments"
).split(",")
GRADEBOOK = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "RNN step (4711)", "Final Score"]


def paper(student, *, points=(1, 0), fault=False, message="h[0] is 3, should be 4.", name=""):
    statuses = [Status.passed if p else Status.failed for p in points]
    statuses[-1] = Status.grader_error if fault else statuses[-1]
    verdicts = [
        Verdict(exercise, status, p, 2 * n + 1, "" if p else message)
        for n, (exercise, status, p) in enumerate(
            zip(("last_step", "count_rnn_flops"), statuses, points, strict=True)
        )
    ]
    return Paper(student, name, "start_here", tuple(verdicts))


def written(path, rows, **style):
    path.write_bytes(Table(path, rows, **style).to_bytes())
    return read_table(path)


def worksheet(path, **style):
    rest = ["Submitted", "", "100.00", "Yes", "Monday, 2 November 2026, 5:00 PM", "-", ""]
    line = lambda n, name: [f"Participant {500 + n}", name, f"s{n}@example.org", *rest]
    return written(path, [WORKSHEET, *(line(n, name) for n, name in enumerate(NAMES))], **style)


def imported_by_moodle(data, prefix="Participant "):
    """{participant: (grade, feedback)} by the rules of Moodle's importer, importgradeslib.php."""
    rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))
    place = {title: n for n, title in enumerate(rows[0])}
    assert {"Identifier", "Grade", "Last modified (grade)"} <= {*place}
    return {
        row[place["Identifier"]][len(prefix):]: (row[place["Grade"]], row[place["Feedback comments"]])
        for row in rows[1:]
    }  # fmt: skip


def imported_by_canvas(data):
    """{student's ID: grade} of the assignment 4711 by the rules of Canvas' gradebook_importer.rb."""
    text = data.decode("utf-8-sig")
    delimiter = max(",;", key="".join(text.split("\n")[:3]).count)
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    header = rows[0]
    assert "Student" in header[0]
    assert "ID" in header[1]
    assert len(header) >= 4
    ignored = r"(Current|Final|Override) (Score|Points|Grade|Status)"
    start = header.index("Section") + 1
    assignments = [title for title in header[start:] if not re.search(ignored, title)]
    assert all(re.search(r"\((\d+)\)$", title) for title in assignments), "a new assignment would be created"
    place = header.index(next(title for title in assignments if title.endswith("(4711)")))
    students = [row for row in rows[1:] if "Points Possible" not in row[0] and row[1].strip()]
    return {row[1]: row[place] for row in students}


@pytest.mark.parametrize("style", [{}, {"bom": True}, {"newline": "\n"}])
def test_moodle_reads_marks_and_comments_from_its_own_worksheet(tmp_path, style):
    before = worksheet(tmp_path / "sheet.csv", **style)
    untouched = [list(row) for row in before.rows]
    papers = [paper("500"), paper("s3@example.org", points=(1, 3)), paper("999"), paper("501", fault=True)]
    filling = fill_moodle(before, papers, "Grade", "Feedback comments", None)
    got = imported_by_moodle(filling.table.to_bytes())
    assert {student: grade for student, (grade, _) in got.items() if grade} == {"500": "25", "503": "100"}
    assert filling.filled == 2
    scaled, missing, withheld = filling.remarks
    assert holds(scaled, "4", "100")
    assert holds(missing, "sheet.csv", "999")
    assert holds(withheld, "501")
    filled = {(row, column) for row in (1, 4) for column in (4, 9)}
    for r, row in enumerate(filling.table.rows):
        assert [c for c, cell in enumerate(row) if cell != untouched[r][c]] == sorted(
            c for place, c in filled if place == r
        )


def test_bytes_that_are_no_mark_stay_as_they_were(tmp_path):
    path = tmp_path / "sheet.csv"
    before = worksheet(path, bom=True)
    filling = fill_moodle(before, [paper("500", fault=True)], "Grade", None, None)
    assert filling.table.to_bytes() == path.read_bytes()


def test_a_comment_shows_the_message_and_holds_no_markup_of_a_student(tmp_path):
    message = '<script>alert(1)</script> =1+1 & "x"'
    filling = fill_moodle(
        worksheet(tmp_path / "s.csv"), [paper("500", message=message)], "Grade", "Feedback comments", 4
    )
    _, comment = imported_by_moodle(filling.table.to_bytes())["500"]
    assert "<script>" not in comment
    assert message in html.unescape(comment)
    assert comment.startswith("<p>00 · Start here: 1 of 4 points</p>")


def test_a_worksheet_in_another_language_names_its_columns(tmp_path):
    german = ["Teilnehmernummer", "Vollständiger Name", "Bewertung", "Zuletzt geändert (Bewertung)"]
    sheet = written(tmp_path / "s.csv", [german, ["Teilnehmer/in500", "Ada", "", "-"]])
    with pytest.raises(Unusable, match=r"'Grade'.*--column"):
        fill_moodle(sheet, [paper("500")], "Grade", None, None)
    filling = fill_moodle(sheet, [paper("500")], "Bewertung", None, 10)
    assert filling.table.rows[1] == ["Teilnehmer/in500", "Ada", "2.5", "-"]


def test_marks_that_were_there_and_change_are_counted(tmp_path):
    sheet = worksheet(tmp_path / "s.csv")
    for row, mark in zip(sheet.rows[1:4], ("25.00", "30,5", ""), strict=True):
        row[4] = mark
    filling = fill_moodle(sheet, [paper("500"), paper("501"), paper("502")], "Grade", None, 100)
    assert (filling.filled, filling.replaced) == (3, ["501"])
    assert any(holds(remark, "501") for remark in filling.remarks)


@pytest.mark.parametrize(
    ("most", "out_of", "mark"), [("100,00", None, "25"), ("100,00", 50, "12.5"), ("-", None, "1")]
)
def test_the_points_stand_behind_the_marks_whatever_the_language(tmp_path, most, out_of, mark):
    header = ["Teilnehmernummer", "Bewertung", "Bestmögliche Bewertung", "Zuletzt geändert (Bewertung)"]
    rows = [header, *(["Teilnehmer/in50" + n, "", most, "-"] for n in "01")]
    filling = fill_moodle(written(tmp_path / "s.csv", rows), [paper("500")], "Bewertung", None, out_of)
    assert filling.table.rows[1] == ["Teilnehmer/in500", mark, most, "-"]
    unknown = "Marks are not scaled: 4 points are full marks here, and s.csv does not say how many there."
    assert filling.remarks[0].startswith(unknown) == (mark == "1")
    assert any("--feedback-column" in remark for remark in filling.remarks)


@pytest.mark.parametrize(
    ("header", "cells", "out_of", "why"),
    [
        (WORKSHEET, ("", "0.00"), None, "the assignment has 0 points, to which no mark can be scaled"),
        (WORKSHEET, ("", "-5"), None, "the assignment has -5 points"),
        (WORKSHEET, ("", "10"), 20, "--out-of 20: .* has 10 points, and Moodle ignores larger marks"),
        (WORKSHEET, ("A-", "10"), None, "words such as 'A-', not points"),
        (WORKSHEET, ("-", "Poor, Good"), None, "words such as 'Poor, Good', not points"),
    ],
)
def test_marks_that_moodle_would_pass_over_are_refused(tmp_path, header, cells, out_of, why):
    line = lambda n: [f"Participant {n}", "Ada", "a@b", "", *cells, "Yes", "-", "-", ""]
    sheet = written(tmp_path / "s.csv", [header, line(500), line(501)])
    with pytest.raises(Unusable, match=why):
        fill_moodle(sheet, [paper("500")], "Grade", "Feedback comments", out_of)


def test_locked_rows_and_the_teachers_comments_stay(tmp_path):
    sheet = worksheet(tmp_path / "s.csv", delimiter=";")
    papers = [paper(f"50{n}") for n in range(5)]
    ours = export_lms.feedback_html(papers[0])
    comments = "", "My own words", "Mine<p>00 · Start here: 0 of 4</p>and mine", f"Mine {ours}", ours
    for row, comment in zip(sheet.rows[1:], comments, strict=False):
        row[9] = comment
    sheet.rows[1][6] = "No"
    filling = fill_moodle(sheet, papers, "Grade", "Feedback comments", None)
    assert (filling.table.rows[1][4], filling.filled) == ("", 4)
    assert [row[9] for row in sheet.rows[2:6]] == [f"My own words{ours}", f"Mine{ours}", f"Mine {ours}", ours]
    locked, replaced, separator = filling.remarks[1:]
    assert holds(locked, "500")
    assert (holds(replaced, "502"), holds(replaced, "503")) == (True, False)
    assert "semicolon" in separator


@pytest.mark.parametrize("word", ["No", "Nein", "Non", "否"])
def test_a_locked_row_is_found_by_its_place_in_every_language(tmp_path, word):
    sheet = worksheet(tmp_path / "s.csv")
    sheet.rows[0][4:7] = ["Bewertung", "Bestmögliche Bewertung", "Bewertung kann geändert werden"]
    sheet.rows[1][6], sheet.rows[2][6] = word, "Ja"
    filling = fill_moodle(sheet, [paper("500"), paper("501")], "Bewertung", None, None)
    assert [row[4] for row in filling.table.rows[1:3]] == ["", "25"]


def test_rows_of_which_nothing_was_handed_in_are_named(tmp_path):
    sheet = worksheet(tmp_path / "s.csv")
    papers = [paper("500"), paper("501", fault=True)]
    filling = fill_moodle(sheet, papers, "Grade", None, None, others=["503"])
    assert filling.missing == ["502", "504", "505", "506", "507"]
    assert fill_moodle(sheet, [paper(f"50{n}") for n in range(8)], "Grade", None, None).missing == []


def test_a_row_that_is_not_clear_costs_no_other_student_the_mark(tmp_path):
    sheet = worksheet(tmp_path / "s.csv")
    sheet.rows.append(list(sheet.rows[1]))  # two rows for 500
    papers = [paper("500"), paper("501"), paper("S1@example.org"), paper("502")]  # two students in one row
    filling = fill_moodle(sheet, papers, "Grade", None, None)
    assert [row[4] for row in filling.table.rows[1:5]] == ["", "", "25", ""]
    assert any(holds(remark, "s.csv", "500", "501", "S1@example.org") for remark in filling.remarks)


def test_a_file_of_another_course_is_refused(tmp_path):
    for fill, template, more in (
        (fill_moodle, worksheet(tmp_path / "s.csv"), ("Grade", None)),
        (fill_canvas, gradebook(tmp_path / "g.csv"), (None,)),
    ):
        with pytest.raises(Unusable, match=r"\b2\b.*\b7\b"):
            fill(template, [paper("7"), paper("8")], *more, None)


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([["Identifier", "Grade"], ["Participant 5", ""]], "holds participants or comments, not marks"),
        ([["a", "Grade"], ["x", ""]], "no numbers of participants"),
        ([WORKSHEET], "no numbers of participants"),
        ([["Identifier", "Grade", "Grade"], ["Participant 5", "", ""]], "no single column 'Grade'"),
    ],
)
def test_what_is_no_worksheet_is_refused(tmp_path, rows, why):
    column = "Identifier" if "not marks" in why else "Grade"
    with pytest.raises(Unusable, match=why):
        fill_moodle(written(tmp_path / "s.csv", rows), [paper("500")], column, None, None)


def test_two_lessons_do_not_fit_into_one_column(tmp_path):
    papers = [paper("500"), paper("501")._replace(lesson="bptt")]
    with pytest.raises(Unusable, match=r"bptt.*start_here.*--lesson"):
        fill_moodle(worksheet(tmp_path / "s.csv"), papers, "Grade", None, None)


def gradebook(path, header=GRADEBOOK, possible="10.0", **style):
    rows = [list(header), ["    Points Possible", "", "", "", "", possible, "(read only)"]]
    for n, name in enumerate(NAMES):
        rows.append([name, str(90 + n), f"sis{n}", f"login{n}", "A and B", "", "0"])
    return written(path, rows, **style)


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_canvas_reads_marks_from_its_own_export(tmp_path, delimiter):
    before = gradebook(tmp_path / "g.csv", delimiter=delimiter, bom=True)
    before.rows[6][5] = "EX"
    papers = [paper("90"), paper("sis1", points=(1, 3)), paper("login2"), paper("94"), paper("nobody")]
    filling = fill_canvas(before, papers, None, None)
    got = imported_by_canvas(filling.table.to_bytes())
    assert {student: mark for student, mark in got.items() if mark} == {
        "90": "2.5",
        "91": "10",
        "92": "2.5",
        "94": "EX",
    }
    scaled, missing, excused = filling.remarks
    assert holds(scaled, "4", "10")
    assert holds(missing, "g.csv", "nobody")
    assert holds(excused, "94")


@pytest.mark.parametrize("column", ["RNN step", "RNN step (4711)", "4711"])
def test_an_assignment_of_canvas_is_named_by_its_title_or_its_number(tmp_path, column):
    header = [*GRADEBOOK[:5], "RNN step (4711)", "Other (4712)"]
    filling = fill_canvas(gradebook(tmp_path / "g.csv", header), [paper("90")], column, None)
    assert filling.table.rows[2][5:] == ["2.5", "0"]


@pytest.mark.parametrize(
    ("header", "column", "why"),
    [
        ([*GRADEBOOK[:5], "RNN step", "Other"], "RNN step", "would become a new assignment"),
        (
            [*GRADEBOOK[:5], "A (1)", "B (2)"],
            None,
            r"name one assignment with --column.*'A \(1\)', 'B \(2\)'",
        ),
        ([*GRADEBOOK[:5], "A (1)", "A (2)"], "A", "no single column is 'A'"),
        (["Name", "ID", "x", "y", "Section", "A (1)", "B"], None, "not a gradebook of Canvas"),
    ],
)
def test_a_column_that_canvas_would_invent_is_refused(tmp_path, header, column, why):
    with pytest.raises(Unusable, match=why):
        fill_canvas(gradebook(tmp_path / "g.csv", header), [paper("90")], column, None)


def test_canvas_files_with_two_columns_of_names_and_titles_with_commas_are_read(tmp_path):
    header = ["LastName", "FirstName", *GRADEBOOK[1:5], "RNN, in, one, or, two, or, six, steps (4711)"]
    rows = [header, ["Points Possible", *[""] * 5, "10,0"], ["L", "Ada", "90", "", "", "S", "complete"]]
    filling = fill_canvas(written(tmp_path / "g.csv", rows, delimiter=";"), [paper("90")], None, None)
    assert filling.table.rows[2] == ["L", "Ada", "90", "", "", "S", "2.5"]
    assert filling.replaced == ["90"]
    with pytest.raises(Unusable, match=r"tabs.*commas.*semicolons"):
        fill_canvas(written(tmp_path / "g.csv", rows, delimiter="\t"), [paper("90")], None, None)


@pytest.mark.parametrize("points", ["0", "-1.0"])
def test_an_assignment_without_points_makes_no_marks_zero(tmp_path, points):
    with pytest.raises(Unusable, match="to which no mark can be scaled"):
        fill_canvas(gradebook(tmp_path / "g.csv", possible=points), [paper("90")], None, None)


def test_a_students_long_text_in_a_worksheet_is_read(tmp_path):
    rows = [["Identifier", "Grade"], ["Participant 5", "x" * 200_000]]
    assert written(tmp_path / "s.csv", rows).rows == rows


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1.234,5", 1234.5),
        ("9,5", 9.5),
        ("10.0", 10),
        ("-", None),
        ("nan", None),
        ("1e3", None),
        ("1_0", None),
    ],
)
def test_numbers_in_cells_are_those_of_canvas_and_moodle(text, number):
    assert export_tables.number_in(text) == number


def test_a_read_only_column_is_refused(tmp_path):
    with pytest.raises(Unusable, match=r"'RNN step \(4711\)' is read-only in Canvas"):
        fill_canvas(gradebook(tmp_path / "g.csv", possible="(read only)"), [paper("90")], None, None)


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"", "is empty"), (b"\xff\xfeS\x00", "not UTF-8 text .byte 0"), (b'a,"b\n', "is not a CSV file")],
)
def test_a_file_that_is_no_table_is_named_with_the_remedy(tmp_path, content, why):
    path = tmp_path / "g.csv"
    path.write_bytes(content)
    with pytest.raises(Unusable, match=why):
        read_table(path)
    with pytest.raises(Unusable, match=r"missing\.csv"):
        read_table(tmp_path / "missing.csv")


def test_csv_keeps_every_name_and_defuses_formulas():
    papers = [paper(f"s{n}", name=name) for n, name in enumerate(NAMES)]
    text = export_tables.marks_table(papers, names=True).to_bytes().decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [row["name"] for row in rows] == [f"'{n}" if n[0] in "=@" else n for n in NAMES]
    assert all((row["score"], row["max_score"], row["not_judged"]) == ("1", "4", "0") for row in rows)


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@A1", "\t=1", "\r=1", " =1", "＝1"])
def test_what_a_spreadsheet_would_compute_stands_behind_an_apostrophe(text):
    assert export_tables.plain_cell(text) == f"'{text}"
    assert export_tables.plain_cell(-1) == "-1"
    assert export_tables.plain_cell("a=1") == "a=1"


def test_csv_by_exercise_has_a_row_for_each_verdict():
    text = (
        export_tables.exercises_table([paper("ada", fault=True)], names=False).to_bytes().decode("utf-8-sig")
    )
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [(row["exercise"], row["status"], row["points"]) for row in rows] == [
        ("last_step", "passed", "1"), ("count_rnn_flops", "grader_error", ""),
    ]  # fmt: skip


def test_points_are_scaled_to_two_decimals():
    marks = [export_lms.mark_of(paper("a", points=p), 10) for p in ((1, 0), (0, 3), (1, 3), (0, 0))]
    assert marks == ["2.5", "7.5", "10", "0"]
    assert export_lms.mark_of(paper("a"), 33) == "8.25"
