"""Downloads as platforms, packers and unlucky people make them: whose a file is, when it came, what it is."""

import json
import os
import struct
import zipfile
from datetime import UTC, datetime

import pytest
from test_classroom_collect import BPTT, FORWARD, book, collected, fields_of, packed, reason
from values_in import holds

from nbjudge.authoring.course import ROOT
from nbjudge.classroom import archives, layouts, papers, submissions
from rnncourse import cli
from rnncourse.checks import LESSONS


def tree(folder, files):
    """A folder with files by path."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content)
    return folder


def students(listed):
    return [entry.student for entry in submissions.graded(listed)]


@pytest.mark.parametrize(
    ("layout", "path", "student"),
    [
        ("moodle", "Eve_66_assignsubmission_file_Ada_7_assignsubmission_file_02_bptt.ipynb", "66"),
        ("moodle", "Group 1-Ada_7_assignsubmission_noto/02_bptt.ipynb", "7"),
        ("nbgrader", "inbound/eve+ps1+2026-11-20 10:00:00 UTC/submitted/ada/x/02_bptt.ipynb", "eve"),
        ("nbgrader", "inbound/eve+ps1+of another form/02_bptt.ipynb", "eve"),
        ("canvas", "lovelaceada_LATE_4711_98765_02_bptt-1.ipynb", "4711"),
        ("canvas", "lovelaceada_4711_98765_02_bptt-2026-11-20.ipynb", "4711"),
        ("canvas", "lovelaceada_4711_text.html", "4711"),
        ("canvas", "LATE_anon_q8Xk2_12345_02_bptt.ipynb", "anon_q8Xk2"),
        ("canvas", "x_4711_98765_a.zip/anon_ab12_77_00_start_here.ipynb", "4711"),
        ("blackboard", "HW_1_eve_attempt_2026-11-19-09-00-00_a.ipynb", "eve"),
        ("plain", "ada.zip/02_bptt.ipynb", "ada"),
        ("plain", "02_bptt_ada.zip/02_bptt.ipynb", "ada"),
    ],
)
def test_a_path_names_the_student_that_the_platform_wrote_first(layout, path, student):
    assert layouts.owner(path, layout).student == student


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("Nov 20, 2026 1159 PM", "2026-11-20T23:59:00"),
        ("Nov 20, 2026 115 PM", "2026-11-20T13:15:00"),
        ("December 1, 2026 12:05 am", "2026-12-01T00:05:00"),
        ("19 November, 2026 23:59", "2026-11-19T23:59:00"),
        ("Sept. 9, 2026 900 AM", "2026-09-09T09:00:00"),
        ("31 February, 2026 23:59", None),
        ("19 marraskuu, 2026 23:59", None),
    ],
)
def test_the_times_of_brightspace_are_read(text, when):
    person = layouts.owner(f"88-77 - Eve, E. - {text} - b.ipynb", "brightspace")
    assert (person.student, person.name, person.when) == ("88", "Eve, E.", when)


@pytest.mark.parametrize(
    "path",
    [
        " /02_bptt.ipynb",
        "Copy of 02_bptt.ipynb",
        "02_bptt copy 2.ipynb",
        "02_bptt.zip/x.ipynb",
        pytest.param("-1" * 30_000 + "x.ipynb", id="a name that takes minutes to match"),
    ],
)
def test_a_path_without_a_student_gives_none(path):
    assert layouts.owner(path, "plain") is None


def test_dates_in_names_are_no_users_of_canvas_and_a_folder_of_nbgrader_is_known_in_its_course():
    assert layouts.find_layout(["ada_2026_11_bptt.ipynb", "bob_2026_11_bptt.ipynb"]) == "plain"
    assert layouts.find_layout(["Ada_1_assignsubmission_file_/x.ipynb", "y.ipynb"]) == "plain"
    steps = ["source/ps1/x.ipynb", "release/ps1/x.ipynb", "autograded/ada/ps1/x.ipynb"]
    assert layouts.find_layout([*steps, "submitted/ada/ps1/x.ipynb"]) == "nbgrader"


@pytest.mark.parametrize(
    ("paths", "top"),
    [
        (["week 3/ada/x.ipynb", "week 3/bob/x.ipynb"], "week 3/"),
        (["ada/x.ipynb", "bob/x.ipynb"], ""),
        (["ada/x.ipynb", "ada/y.ipynb"], ""),
        (["ada/hw.zip/x.ipynb"], ""),
        (["week 3/ada/x.ipynb"], None),
        (["week 3/ada/x.ipynb", "week 3/bob/x.ipynb", "week 3/template.ipynb"], None),
        (["week 3/ada_02_bptt.ipynb", "week 3/bob_02_bptt.ipynb"], None),
    ],
)
def test_one_folder_above_all_is_a_students_or_the_classs_or_not_clear(paths, top):
    assert layouts.top_folder(paths) == top


def test_a_folder_that_may_be_a_student_is_listed_with_what_to_do(tmp_path):
    _, listed = collected(
        tmp_path / "class", packed(tmp_path / "d.zip", {"week 3/ada/02_bptt.ipynb": book()})
    )
    assert "collect a folder in which each student has a folder" in reason(listed, "ada")


def test_nbgraders_own_folder_is_read_as_such_and_a_hand_in_without_a_notebook_is_listed(tmp_path):
    files = {"ada/ps1/02_bptt.ipynb": book(), "ada/ps1/timestamp.txt": "2026-11-20 10:00:00 UTC"}
    source = tree(tmp_path / "submitted", files | {"bob/ps1/timestamp.txt": "2026-11-20 10:00:00 UTC"})
    _, listed = collected(tmp_path / "class", source)
    assert fields_of(submissions.graded(listed), "student", "when") == [("ada", "2026-11-20T10:00:00+00:00")]
    assert ".ipynb" in reason(listed, "bob")
    assert len(listed) == 2


@pytest.mark.parametrize("text", ["2026-99-99 10:00:00 UTC", "now", ""])
def test_a_time_that_is_none_leaves_that_of_the_file(text, tmp_path):
    assert layouts.timestamp(text) is None
    files = {"submitted/ada/ps1/02_bptt.ipynb": book(), "submitted/ada/ps1/timestamp.txt": text}
    source = tree(tmp_path / "in", files)
    os.utime(source / "submitted/ada/ps1/02_bptt.ipynb", (1e9, 1e9))
    (entry,) = submissions.graded(collected(tmp_path / "class", source)[1])
    assert entry.when == "2001-09-09T01:46:40+00:00"


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("2026-07-02 20:30:00.25 Asia/Kolkata", 15),
        ("2026-07-02 20:30:00 America/Halifax", 23),
        ("2026-07-02 20:30:00 +0900", 11),
        ("2026-07-02 20:30:00 MSK", 20),  # unknown to the tz database: UTC, as nbgrader 0.9.6 has it
        ("2026-07-02 20:30:00", 20),
    ],
)
def test_a_time_of_nbgrader_is_of_its_zone(text, hour):
    assert datetime.fromisoformat(layouts.timestamp(text)).astimezone(UTC).hour == hour


def test_of_two_hand_ins_in_other_zones_the_newer_counts(tmp_path):
    files = {
        f"inbound/ada+ps1+2026-11-20 {when}+r{n}/02_bptt.ipynb": book(remark=n)
        for n, when in enumerate(["09:00:00 UTC", "10:00:00 +0200", "09:30:00 CET"])
    }
    (path,) = chosen(tmp_path, files).values()
    assert "09:00:00 UTC" in path


def test_a_file_of_no_year_has_no_time(tmp_path, monkeypatch):
    tree(tmp_path / "in", {"ada/02_bptt.ipynb": book()})
    lstat = os.stat_result((0o100644, 1, 1, 1, 0, 0, 9, 0, 10**12, 0))
    monkeypatch.setattr(archives.Path, "lstat", lambda path: lstat)
    assert next(archives.entries(tmp_path / "in")).when is None


def test_a_download_of_moodle_knows_no_times_of_hand_ins_and_a_later_one_is_newer(tmp_path):
    first, second = book(remark="1"), book(remark="2")
    for name, day, contents in (("a.zip", 21, (first,)), ("b.zip", 23, (second, first))):
        files = [
            (zipfile.ZipInfo(f"Ada_7_assignsubmission_file/{n}.ipynb", (2026, 11, day, 9, 0, 2 * n)), text)
            for n, text in enumerate(contents)
        ]
        listed = collected(tmp_path / "class", packed(tmp_path / name, files))[1]
        assert len(submissions.graded(listed)) == (name == "a.zip")
    assert sum("--take" in (entry.reason or "") for entry in listed) == 2, "which of b.zip's is newer?"


def test_what_browsers_append_to_a_notebooks_name_is_no_matter_and_other_archives_are_named(tmp_path):
    names = (
        "ada/02_bptt.ipynb.txt",
        "bob/02_bptt.ipynb.json",
        "eve/.ipynb",
        "kim/02_bptt.IPYNB",
        "zoe/x.ipynb ",
    )
    files = {name: book(remark=name) for name in names} | {"max/02_bptt.tar.gz": "x"}
    _, listed = collected(tmp_path / "class", tree(tmp_path / "in", files))
    assert students(listed) == ["ada", "bob", "eve", "kim", "zoe"]
    assert "an archive that is not opened" in reason(listed, "max/")


def test_a_notebook_of_two_lessons_says_which_is_graded_and_counts_for_the_one_that_was_requested(tmp_path):
    both = {"cells": [json.loads(book(name))["cells"][0] for name in (BPTT, "gradient_check", FORWARD)]}
    source = packed(tmp_path / "d.zip", {"ada/homework.ipynb": json.dumps(both)})
    (entry,) = collected(tmp_path / "class", source)[1]
    assert (entry.lesson, entry.graded) == ("bptt", True)
    assert holds(entry.reason, "rnn_forward", "bptt", "bptt")
    (entry,) = collected(tmp_path / "class", source, "--lesson", "rnn_forward")[1]
    assert (entry.lesson, entry.reason) == ("rnn_forward", None)


def test_a_notebook_under_another_lessons_name_counts_for_the_lesson_that_was_requested(tmp_path):
    source = packed(tmp_path / "d.zip", {"ada/03_training.ipynb": book()})
    assert not collected(tmp_path / "class", source)[1][0].graded
    (entry,) = collected(tmp_path / "class", source, "--lesson", "bptt")[1]
    assert (entry.lesson, entry.graded) == ("bptt", True)
    assert "another lesson" in entry.reason


def test_a_method_that_expands_without_bound_is_not_read(tmp_path):
    with zipfile.ZipFile(tmp_path / "d.zip", "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("ada/02_bptt.ipynb", "0" * (9 << 20))
    sizes = struct.pack("<I", 9 << 20), struct.pack("<I", 1000)  # the archive lies about it
    (tmp_path / "d.zip").write_bytes((tmp_path / "d.zip").read_bytes().replace(*sizes))
    assert "unusual method" in reason(collected(tmp_path / "class", tmp_path / "d.zip")[1], "ada")


def test_limits_of_a_students_zip_count_what_is_read(tmp_path, monkeypatch):
    objects = {f"x/.git/{n}": "" for n in range(archives.MOST_INSIDE)}
    inner = packed(tmp_path / "i.zip", objects | {"02_bptt.ipynb": book()}).read_bytes()
    empty = packed(tmp_path / "e.zip", {}).read_bytes()
    source = packed(tmp_path / "d.zip", {"ada/hw.zip": inner, "bob/hw.zip": empty})
    _, listed = collected(tmp_path / "class", source)
    assert students(listed) == ["ada"]
    assert "zip without files" in reason(listed, "bob/")
    monkeypatch.setattr(archives, "LARGEST", len(inner))
    twice = packed(
        tmp_path / "i.zip", {f"{n}.ipynb": book() + " " * len(inner) for n in range(2)}
    ).read_bytes()
    _, listed = collected(tmp_path / "other", packed(tmp_path / "d.zip", {"eve/hw.zip": twice}))
    assert "hand in one notebook" in reason(listed, "eve/")


def test_a_folder_that_cannot_be_opened_costs_nobody_else_anything(tmp_path, monkeypatch):
    source = tree(tmp_path / "in", {"ada/02_bptt.ipynb": book(), "bob/02_bptt.ipynb": book(remark="b")})
    scandir = os.scandir

    def refuse(path):
        if path.name == "bob":
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(archives.os, "scandir", refuse)
    _, listed = collected(tmp_path / "class", source)
    assert students(listed) == ["ada"]
    assert holds(reason(listed, "bob"), "Permission denied")


def test_a_name_of_unknown_encoding_is_to_be_checked(tmp_path, capsys):
    source = packed(tmp_path / "d.zip", {"XXXX/02_bptt.ipynb": book(), "ada/02_bptt.ipynb": book(remark="a")})
    source.write_bytes(source.read_bytes().replace(b"XXXX", "Jörg".encode("cp850")))
    _, listed = collected(tmp_path / "class", source)
    assert {entry.student for entry in listed if entry.reason} == {"Jörg"}
    assert "check the student's name" in capsys.readouterr().out


def test_a_download_whose_name_is_no_unicode_is_listed(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/d\xff.zip")
    os.rename(packed(tmp_path / "d.zip", {"ada/02_bptt.ipynb": book()}), path)
    assert collected(tmp_path / "class", path)[1][0].source == "d\udcff.zip: ada/02_bptt.ipynb"


def test_a_class_folder_within_its_download_is_refused(tmp_path, capsys):
    source = tree(tmp_path / "in", {"ada/02_bptt.ipynb": book()})
    for folder in (source, source / "autumn"):
        assert cli.main(["class", "collect", str(folder), str(source)]) == 2
        assert "name a class folder elsewhere" in capsys.readouterr().err
    assert [path.name for path in source.iterdir()] == ["ada"]


def test_places_that_are_confused_are_named_and_what_a_kill_has_left_goes(tmp_path, capsys):
    source, folder = packed(tmp_path / "d.zip", {"ada/02_bptt.ipynb": book()}), tmp_path / "class"
    assert cli.main(["class", "collect", str(source), str(folder)]) == 2
    assert "name the class folder first" in capsys.readouterr().err
    collected(folder, source)
    (folder / "files" / ".x.ipynb.1.part").write_text("half")
    assert cli.main(["class", "collect", str(tmp_path / "new"), str(folder)]) == 2
    assert "is a class folder" in capsys.readouterr().err
    assert collected(folder, source)[0] == 0
    assert [path.name for path in folder.glob("files/.*")] == []


def test_downloads_of_one_name_are_told_apart_and_one_named_twice_is_read_once(tmp_path):
    for day in ("mon", "fri"):
        (tmp_path / day).mkdir()
        packed(tmp_path / day / "d.zip", {"ada/02_bptt.ipynb": book()})
    sources = [tmp_path / day / "d.zip" for day in ("mon", "fri", "mon")]
    _, listed = collected(tmp_path / "class", *sources)
    assert fields_of(listed, "section", "graded") == [("mon/d", False), ("fri/d", True)]


def test_one_identifier_of_two_people_and_two_of_perhaps_one_are_noted(tmp_path):
    folder = tmp_path / "class"
    collected(folder, packed(tmp_path / "m.zip", {"Ada_7_assignsubmission_file/02_bptt.ipynb": book()}))
    source = packed(tmp_path / "c.zip", {"smithbob_7_99_01_rnn_forward.ipynb": book(FORWARD)})
    reasons = [entry.reason for entry in collected(folder, source)[1]]
    assert all(holds(reason, "7", "Ada", "smithbob") for reason in reasons)
    files = {f"{name}/02_bptt.ipynb": book(remark=name) for name in ("Kim", "kim")}
    _, listed = collected(tmp_path / "other", packed(tmp_path / "p.zip", files))
    assert {entry.reason for entry in listed} == {"note: Kim and kim count as different students"}


def test_the_students_that_were_found_are_printed_and_an_older_file_of_one_name_says_so(tmp_path, capsys):
    for year in (2026, 2025):
        file = zipfile.ZipInfo("ada/02_bptt.ipynb", (year, 1, 1, 0, 0, 0))
        collected(tmp_path / "class", packed(tmp_path / "d.zip", [(file, book(remark=str(year)))]))
    printed = capsys.readouterr().out
    assert holds(printed, "1", "1", "ada")
    assert holds(printed, "ada/02_bptt.ipynb", "2026-01-01T00:00:00")


def test_a_file_in_a_students_zip_has_the_time_of_what_nbgrader_wrote_around_it(tmp_path):
    place = tmp_path / "submitted/ada/ps1"
    place.mkdir(parents=True)
    (place / "timestamp.txt").write_text("2026-11-22 10:00:00 UTC")
    own = "2026-11-01 10:00:00 UTC"
    packed(
        place / "abgabe.zip", {"a/b/02_bptt.ipynb": book(), "a/b/timestamp.txt": own, "timestamp.txt": own}
    )
    _, listed = collected(tmp_path / "class", tmp_path / "submitted")
    assert fields_of(submissions.graded(listed), "student", "when") == [("ada", "2026-11-22T10:00:00+00:00")]
    assert not any(file.source.endswith("ada/ps1/timestamp.txt") for file in listed)


def test_a_file_in_a_students_zip_has_the_time_of_the_platforms_archive(tmp_path):
    inner = packed(tmp_path / "x.zip", {"02_bptt.ipynb": book()})
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        member = zipfile.ZipInfo("ada/x.zip", (2026, 11, 22, 10, 0, 0))
        archive.writestr(member, inner.read_bytes())
    _, listed = collected(tmp_path / "class", tmp_path / "all.zip")
    assert fields_of(submissions.graded(listed), "when") == [("2026-11-22T10:00:00",)]


def test_a_zip_that_holds_a_zip_alone_is_opened_and_a_third_stays_closed(tmp_path):
    wrapped, contents = [], {"02_bptt.ipynb": book(), "__MACOSX/._02_bptt.ipynb": "x"}
    for depth in range(3):
        wrapped.append(packed(tmp_path / f"{depth}.zip", contents).read_bytes())
        contents = {f"Übung {depth}.zip": wrapped[-1]}
    files = [(f"{name}/abgabe.zip", content) for name, content in zip("abc", wrapped, strict=True)]
    _, listed = collected(tmp_path / "class", packed(tmp_path / "d.zip", files), "--layout", "plain")
    assert [entry.student for entry in submissions.graded(listed)] == ["a", "b"]
    assert len({entry.when for entry in listed}) == 1, (
        "the download's own time, whatever a student's clock says"
    )
    assert "a zip within a zip" in reason(listed, "c/abgabe.zip")


def test_notebooks_of_other_lessons_in_one_zip_are_one_line_and_one_row(tmp_path, capsys):
    every = {
        f"work/{stem}.ipynb": (ROOT / f"exercises/{stem}.ipynb").read_text() for stem in LESSONS.values()
    }
    every |= {"work/.origins.json": "{}", "work/.jupyter/workspaces/default": "{}"}  # the course's own
    work = packed(tmp_path / "work.zip", every).read_bytes()
    files = {"ada/work.zip": work, "bob/01_rnn_forward.ipynb": every["work/01_rnn_forward.ipynb"]}
    source = packed(tmp_path / "d.zip", files)
    _, listed = collected(tmp_path / "class", source, "--layout", "plain", "--lesson", "02")
    lines = [line for line in capsys.readouterr().out.splitlines() if "was requested" in line]
    assert len(listed) == len(LESSONS) + 1
    assert [line.partition(":")[0] for line in lines] == ["✘ ada/work.zip/work", "✘ bob/01_rnn_forward.ipynb"]
    assert f"{len(LESSONS) - 1} notebooks" in lines[0]
    assert len(papers.withheld_of(tmp_path / "class")) == 2 + 1, (
        "those two, and the one that is not graded yet"
    )


def chosen(tmp_path, files, *arguments):
    """{student: the path of the file that counts} of a download."""
    _, listed = collected(tmp_path / "class", packed(tmp_path / "d.zip", files), *arguments)
    return {entry.student: entry.source.partition(": ")[2] for entry in submissions.graded(listed)}


def test_a_number_in_a_students_own_name_is_no_attempt_in_canvas(tmp_path):
    files = {
        "wu_31_702_rnn-10.ipynb": book(remark="old"),
        "wu_31_703_rnn-2.ipynb": book(remark="new"),
        "ray_32_810_hw-2-1.ipynb": book(remark="new"),
        "ray_32_809_hw-2.ipynb": book(remark="old"),
    }
    assert chosen(tmp_path, files) == {"31": "wu_31_703_rnn-2.ipynb", "32": "ray_32_810_hw-2-1.ipynb"}


@pytest.mark.parametrize(
    "names",
    [
        ("19-4711", "19-4712", "20-1"),
        ("group-1", "group-2", "group-12"),
        ("pair (1)", "pair (2)"),
        ("2021_12345", "2021_67890", "2022_11111"),
    ],
)
def test_a_number_behind_a_hyphen_belongs_to_the_student(names, tmp_path):
    files = {f"02_bptt_{name}.ipynb": book(remark=name) for name in names}
    assert {*chosen(tmp_path, files)} == {*names}
    files = {f"{name}_02_bptt.ipynb": book(remark=name) for name in names}
    (tmp_path / "again").mkdir()
    assert {*chosen(tmp_path / "again", files)} == {*names}


def test_a_browsers_number_is_known_by_the_name_without_it():
    among = layouts.Paths(["02_bptt_ada.ipynb", "02_bptt_ada-1.ipynb"])
    assert layouts.owner("02_bptt_ada-1.ipynb", "plain", among=among).student == "ada"
    assert layouts.owner("02_bptt_eve (1).ipynb", "plain").student == "eve"


def test_attempts_of_blackboard_and_brightspace_are_of_one_student(tmp_path):
    board = {
        "Home_work_1_eve_x_attempt_2026-11-19-09-00-00_a.ipynb": book(remark="1"),
        "Home_work_1_eve_x_attempt_2026-11-19-21-00-00_a.ipynb": book(remark="2"),
        "Home_work_1_bob_x_attempt_2026-11-18-21-00-00_a.ipynb": book(remark="3"),
        "Home_work_1_bob_x_attempt_2026-11-18-21-00-00.txt": "Name: Bob (bob_x)",
    }
    names = ["19 November, 2026 915 PM", "Nov 20, 2026 1201 AM", "Nov 19, 2026 1159 PM"]
    space = {f"88{n % 2}-77 - Eve, E. - {when} - b.ipynb": book(remark=n) for n, when in enumerate(names)}
    paths = chosen(tmp_path, board)
    assert {student: "-21-00-00_" in path for student, path in paths.items()} == {
        "eve_x": True,
        "bob_x": True,
    }
    (tmp_path / "space").mkdir()
    paths = chosen(tmp_path / "space", space)
    assert {student: names[2] in path for student, path in paths.items()} == {"880": True, "881": False}


def test_blackboards_own_texts_state_where_an_identifier_begins(tmp_path):
    files = {}
    for student in ("u_li", "u_ray", "ext_u_li"):
        attempt = f"Lab_4_{student}_attempt_2026-11-20-10-00-00"
        files[f"{attempt}_a.ipynb"] = book(remark=student)
        files[f"{attempt}.txt"] = f"Name: Kim (K.) Li ({student})\r\nAssignment: Lab_4\r\nName: x (y)"
    assert {*chosen(tmp_path, files)} == {"u_li", "u_ray", "ext_u_li"}


@pytest.mark.parametrize(
    ("names", "students"),
    [
        (("lab3_02_bptt_li.ipynb", "lab3_02_bptt_ray.ipynb"), {"li", "ray"}),
        (("lab3_02_bptt_2-1.ipynb", "lab3_02_bptt_2-2.ipynb"), {"2-1", "2-2"}),
        (("li_02_bptt_v1.ipynb", "li_02_bptt_final.ipynb"), set()),  # nothing says which is newer
        (("li_02_bptt_lab3.ipynb", "ray_02_bptt_lab3.ipynb"), {"li", "ray"}),
    ],
)
def test_a_title_before_all_names_is_no_student(names, students, tmp_path):
    assert {*chosen(tmp_path, {name: book(remark=name) for name in names})} == students


def test_a_date_in_a_plain_name_stops_with_a_reason(tmp_path):
    (tmp_path / "in").mkdir()
    files = {f"ada 2026-11-{day} 10:00/02_bptt.ipynb": book(remark=day) for day in (18, 19)}
    assert chosen(tmp_path, files) == {}


@pytest.mark.parametrize(("seconds", "count"), [(1, 0), (50, 0), (3600, 1)])
def test_files_that_were_copied_together_are_of_one_time(seconds, count, tmp_path):
    files = {"ada/02_bptt.ipynb": book(remark=1), "ada/other.ipynb": book(remark=2)}
    source = tree(tmp_path / "in", files)
    for n, path in enumerate(files):
        os.utime(source / path, (1e9 + n * seconds,) * 2)
    _, listed = collected(tmp_path / "class", source)
    assert len(students(listed)) == count


def test_the_files_of_a_clone_have_no_times_of_hand_ins(tmp_path):
    files = {"ada/02_bptt.ipynb": book(remark=1), "ada/other.ipynb": book(remark=2), "ada/.git/HEAD": "ref"}
    source = tree(tmp_path / "in", files)
    os.utime(source / "ada/02_bptt.ipynb", (1e9, 1e9))
    _, listed = collected(tmp_path / "class", source)
    assert fields_of(listed, "when", "graded") == [(None, False)] * 2
