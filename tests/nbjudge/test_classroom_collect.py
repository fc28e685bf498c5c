"""Downloads of four systems become one list, and no name in a hostile archive becomes a path on the disk."""

import errno
import json
import os
import stat
import unicodedata
import zipfile

import pytest
from values_in import holds

from nbjudge.authoring.course import ROOT
from nbjudge.classroom import archives, collect, keys, submissions
from nbjudge.finding.notebook_file import Unusable
from rnncourse import cli

BPTT, FORWARD = "bptt_linear", "rnn_step"  # an exercise of the lesson bptt, and one of rnn_forward
STUBS = (ROOT / "exercises/02_bptt.ipynb").read_text(encoding="utf-8")


def book(name=BPTT, remark=""):
    """A notebook that defines one exercise."""
    source = f"def {name}(*arguments):\n    return 0  # {remark}"
    return json.dumps({"cells": [{"cell_type": "code", "source": source}]})


def packed(path, files):
    """A zip with files by name; a name may be a ZipInfo."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items() if isinstance(files, dict) else files:
            archive.writestr(name, content)
    return path


def collected(folder, *arguments):
    """(exit status, the list) of `rnnlab class collect`."""
    status = cli.main(["class", "collect", str(folder), *map(str, arguments)])
    return status, submissions.load(folder)


def fields_of(listed, *fields):
    return [tuple(getattr(entry, field) for field in fields) for entry in listed]


def reason(listed, part):
    """The reason given for the file whose path holds a part."""
    (entry,) = [entry for entry in listed if part in entry.source]
    assert not entry.graded
    return entry.reason


def test_a_download_of_moodle_gives_participants_by_number_and_name(tmp_path):
    source = packed(
        tmp_path / "m.zip",
        {
            "Ada Lovelace_101_assignsubmission_file/02_bptt.ipynb": book(),
            "José_de_la Cruz_102_assignsubmission_file_/answer.ipynb": book(remark="2"),
            "Grace Hopper_103_assignsubmission_file_02_bptt.ipynb": book(remark="3"),
            "Alan Turing_104_assignsubmission_onlinetext_/onlinetext.html": "hello",
        },
    )
    status, listed = collected(tmp_path / "class", source)
    assert status == 1
    assert fields_of(submissions.graded(listed), "student", "name", "lesson", "layout") == [
        ("101", "Ada Lovelace", "bptt", "moodle"),
        ("102", "José_de_la Cruz", "bptt", "moodle"),
        ("103", "Grace Hopper", "bptt", "moodle"),
    ]
    assert "not a notebook" in reason(listed, "Turing")


def test_a_download_of_canvas_gives_users_by_number(tmp_path):
    source = packed(
        tmp_path / "c.zip",
        {
            "lovelaceada_4711_98765_02_bptt.ipynb": book(),
            "nunezjose_LATE_4712_98766_02_bptt-2.ipynb": book(remark="2"),
            "oneil-smithpat_4713_98767_hw.ipynb": book(remark="3"),
        },
    )
    status, listed = collected(tmp_path / "class", source)
    assert status == 0
    assert fields_of(submissions.graded(listed), "student", "name", "number", "lesson") == [
        ("4711", "lovelaceada", 98765, "bptt"),
        ("4712", "nunezjose", 98766, "bptt"),
        ("4713", "oneil-smithpat", 98767, "bptt"),
    ]


def test_nbgrader_folders_have_times_and_earlier_attempts_do_not_count(tmp_path):
    for folder, time, remark in (
        ("submitted/ada/ps1", "2026-11-20 23:59:00.000000 UTC", "1"),
        ("inbound/bob+ps1+2026-11-19 10:00:00.000000 UTC+abc", None, "early"),
        ("inbound/bob+ps1+2026-11-21 10:00:00.000000 UTC+def", None, "late"),
    ):
        place = tmp_path / "course" / folder
        place.mkdir(parents=True)
        (place / "02_bptt.ipynb").write_text(book(remark=remark))
        if time:
            (place / "timestamp.txt").write_text(time)
    _, listed = collected(tmp_path / "class", tmp_path / "course")
    assert fields_of(submissions.graded(listed), "student", "when") == [
        ("ada", "2026-11-20T23:59:00+00:00"),
        ("bob", "2026-11-21T10:00:00+00:00"),
    ]
    assert "is newer" in reason(listed, "2026-11-19")


def test_plain_folders_and_plain_names_give_the_student(tmp_path):
    folder = tmp_path / "handed in"
    for path in ("ada/02_bptt.ipynb", "bob/deep/er/x.ipynb", "eve_02_bptt.ipynb", "bptt mallory (1).ipynb"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(book(remark=path))
    (folder / "02_bptt.ipynb").write_text(book())
    (folder / "ada" / ".ipynb_checkpoints").mkdir()
    (folder / "ada" / ".ipynb_checkpoints" / "02_bptt-checkpoint.ipynb").write_text(book(remark="old"))
    _, listed = collected(tmp_path / "class", folder)
    assert [entry.student for entry in submissions.graded(listed)] == ["ada", "bob", "eve", "mallory"]
    assert "names no student" in reason(listed, ": 02_bptt.ipynb")
    assert len(listed) == 5, "copies that Jupyter keeps are not submissions"


def test_one_top_folder_of_a_plain_download_is_not_a_student(tmp_path):
    files = {f"week 3/{name}/02_bptt.ipynb": book(remark=name) for name in ("ada", "bob")}
    _, listed = collected(tmp_path / "class", packed(tmp_path / "d.zip", files))
    assert [entry.student for entry in listed] == ["ada", "bob"]


def test_a_later_choice_of_a_students_file_replaces_an_earlier_one_and_no_other_students(tmp_path):
    files = {f"{name}/02_bptt ({n}).ipynb": book(remark=f"{name} {n}") for name in "ab" for n in range(3)}
    source = packed(tmp_path / "d.zip", files)
    _, listed = collected(tmp_path / "class", source, "--lesson", "bptt")
    digests = {entry.source.rpartition("/")[0][-1] + entry.source[-8]: entry.sha256 for entry in listed}
    for choices in ["a0"], ["b2"], ["a1"], ["a2", "a0"], ["b1"], []:
        options = [word for choice in choices for word in ("--take", digests[choice][:8])]
        _, listed = collected(tmp_path / "class", source, "--lesson", "bptt", *options)
    chosen = {entry.student: entry.sha256 for entry in submissions.graded(listed)}
    assert chosen == {"a": digests["a0"], "b": digests["b1"]}


def test_a_notebook_of_another_lesson_does_not_count(tmp_path):
    files = {
        "ada/02_bptt.ipynb": book(FORWARD),
        "bob/homework.ipynb": book(FORWARD),
        "eve/x.ipynb": json.dumps({"cells": []}),
        "kim/homework.ipynb": book(),
    }
    _, listed = collected(tmp_path / "class", packed(tmp_path / "d.zip", files), "--lesson", "bptt")
    assert [entry.student for entry in submissions.graded(listed)] == ["kim"]
    assert holds(reason(listed, "ada/"), "rnn_forward")
    assert holds(reason(listed, "bob/"), "rnn_forward", "bptt")
    assert "defines no exercise" in reason(listed, "eve/")


def test_the_same_download_collected_for_one_lesson_after_the_other_counts_for_both(tmp_path):
    files = {f"Student {number}_{number}_assignsubmission_file/{name}.ipynb": book(exercise)
             for number in (201, 202)
             for name, exercise in (("02_bptt", BPTT), ("01_rnn_forward", FORWARD))}  # fmt: skip
    source = packed(tmp_path / "all.zip", files)
    for lesson in ("bptt", "rnn_forward", "bptt"):
        _, listed = collected(tmp_path / "class", source, "--lesson", lesson)
    counting = submissions.graded(listed)
    assert [entry.place for entry in counting] == [
        (student, lesson) for student in ("201", "202") for lesson in ("bptt", "rnn_forward")
    ]


def test_a_broken_notebook_with_the_lessons_name_counts_and_says_why_it_is_broken(tmp_path):
    _, listed = collected(tmp_path / "class", packed(tmp_path / "d.zip", {"ada/02_bptt.ipynb": "{oops"}))
    assert listed[0].graded
    assert listed[0].lesson == "bptt"
    assert "not a notebook" in listed[0].reason


def test_of_two_files_without_times_none_is_chosen_until_the_teacher_does(tmp_path, capsys):
    files = {"ada/02_bptt.ipynb": STUBS, "ada/02_bptt (1).ipynb": book(remark="b")}
    source = packed(tmp_path / "d.zip", files)
    folder = tmp_path / "class"
    options = ["--lesson", "bptt"]
    _, listed = collected(folder, source, *options)
    assert not submissions.graded(listed)
    digest = next(entry.sha256 for entry in listed if "(1)" in entry.source)
    assert "attempts 0 of 4 " in reason(listed, "02_bptt.ipynb")
    assert "attempts 1 of 4 " in reason(listed, "(1)")
    assert reason(listed, "(1)").endswith(f"--take {digest[:8]}")
    assert f"--take {digest[:8]}\n" in capsys.readouterr().out
    assert cli.main(["class", "collect", str(folder), str(source), *options, "--take", digest[:8]]) == 1
    listed = submissions.load(folder)
    assert [entry.sha256 for entry in submissions.graded(listed)] == [digest]
    assert "chosen with --take" in reason(listed, ": ada/02_bptt.ipynb")
    assert "chosen with --take\n" in capsys.readouterr().out, "what was chosen needs no command"
    assert [entry.sha256 for entry in submissions.graded(collected(folder, source)[1])] == [digest]


def test_a_file_that_counts_and_cannot_be_graded_has_the_sign_of_what_is_not_graded(tmp_path, capsys):
    files = {"ada/02_bptt.ipynb": "", "bob/02_bptt.ipynb": book(), "cy/02_bptt.ipynb": book()}
    collected(tmp_path / "class", packed(tmp_path / "d.zip", files))
    lines = capsys.readouterr().out.splitlines()
    assert [line[:3] for line in lines[2:]] == ["✘ a", "! b", "! c"]


def test_the_same_content_twice_is_one_submission_and_is_noted_between_students(tmp_path):
    files = {name: book() for name in ("ada/02_bptt.ipynb", "ada/copy.ipynb", "bob/02_bptt.ipynb")}
    _, listed = collected(tmp_path / "class", packed(tmp_path / "d.zip", files))
    counting = submissions.graded(listed)
    assert [entry.student for entry in counting] == ["ada", "bob"]
    assert all(holds(entry.reason, "note", "1") for entry in counting)
    assert "it is the same as" in reason(listed, "copy")


def test_names_that_differ_by_their_unicode_form_are_one_student(tmp_path):
    forms = [unicodedata.normalize(form, "José Núñez") for form in ("NFC", "NFD")]
    assert forms[0] != forms[1]
    files = {f"{name}/{n}.ipynb": book(remark=str(n)) for n, name in enumerate(forms)}
    _, listed = collected(tmp_path / "class", packed(tmp_path / "d.zip", files))
    assert {entry.student for entry in listed} == {forms[0]}


def test_a_name_in_utf_8_that_its_packer_did_not_mark_is_read_as_utf_8(tmp_path):
    source = packed(tmp_path / "d.zip", {"Łukasz/02_bptt.ipynb": book(), "ada/02_bptt.ipynb": book()})
    marked = source.read_bytes()
    for signature, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        start = marked.index(signature)
        marked = marked[: start + place] + b"\0\0" + marked[start + place + 2 :]
    source.write_bytes(marked)
    assert zipfile.ZipFile(source).namelist()[0] != "Łukasz/02_bptt.ipynb"
    assert {entry.student for entry in collected(tmp_path / "class", source)[1]} == {"Łukasz", "ada"}


def test_a_student_in_two_sections_has_one_submission_and_a_note(tmp_path):
    first = packed(tmp_path / "monday.zip", {"ada/02_bptt.ipynb": book()})
    second = packed(
        tmp_path / "friday.zip", {"ada/02_bptt.ipynb": book(), "bob/02_bptt.ipynb": book("gradient_check")}
    )
    _, listed = collected(tmp_path / "class", first, second)
    counting = submissions.graded(listed)
    assert fields_of(counting, "student", "section")[1] == ("bob", "friday")
    assert holds(counting[0].reason, "friday", "monday")


def test_collecting_again_adds_late_files_and_keeps_the_others(tmp_path):
    folder = tmp_path / "class"
    collected(folder, packed(tmp_path / "one.zip", {"ada/02_bptt.ipynb": book()}))
    again = zipfile.ZipInfo("ada/02_bptt.ipynb", (2030, 1, 1, 0, 0, 0))
    _, listed = collected(
        folder, packed(tmp_path / "two.zip", [(again, book(remark="new")), ("bob/x.ipynb", book())])
    )
    assert [entry.source[:3] for entry in submissions.graded(listed)] == ["two", "two"]
    assert len(listed) == 3


def test_archives_that_would_do_harm_are_listed_with_the_reason(tmp_path):
    link = zipfile.ZipInfo("eve/link.ipynb")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    inner = packed(tmp_path / "inner.zip", {"02_bptt.ipynb": book(), "deeper.zip": "PK"}).read_bytes()
    many = packed(tmp_path / "many.zip", {f"{n}.txt": "" for n in range(10_000)}).read_bytes()
    files = [
        ("ada/02_bptt.ipynb", book(remark="ada")),
        ("../../mallory/02_bptt.ipynb", book()),
        ("/etc/02_bptt.ipynb", book()),
        (link, "/etc/passwd"),
        ("bomb/02_bptt.ipynb", "0" * (16 << 20)),
        ("nested/hw.zip", inner),
        ("many/hw.zip", many),
        ("cut/hw.zip", inner[:100]),
        ("quiet/02_bptt.pdf", "x"),
    ]
    _, listed = collected(tmp_path / "class", packed(tmp_path / "d.zip", files), "--layout", "plain")
    assert [entry.student for entry in submissions.graded(listed)] == ["ada", "nested"]
    assert reason(listed, "../mallory") == reason(listed, ": /etc") == "its path leads out of the archive"
    assert "it is a link" in reason(listed, "eve/link")
    assert "times its size" in reason(listed, "bomb/")
    assert reason(listed, "deeper.zip") == "it is a zip within a zip: hand in the notebook"
    assert holds(reason(listed, "many/hw.zip"), "10,000", "200")
    assert "not a zip that can be read" in reason(listed, "cut/hw.zip")
    assert {path.name for path in tmp_path.iterdir()} == {"class", "d.zip", "inner.zip", "many.zip"}


def test_ten_thousand_files_of_no_use_are_listed_and_twenty_of_them_printed(tmp_path, capsys):
    files = {f"ada/{n}.txt": "" for n in range(10_000)} | {"ada/02_bptt.ipynb": book()}
    _, listed = collected(tmp_path / "class", packed(tmp_path / "d.zip", files))
    lines = capsys.readouterr().out.splitlines()
    assert len(listed) == 10_001
    assert [line[:2] for line in lines[2:]] == ["✘ "] * 21
    assert holds(lines[-1], "9,980", "submissions.jsonl")


def test_a_full_disk_leaves_no_half_of_a_class(tmp_path, monkeypatch, capsys):
    def full(path, content):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(collect, "write_whole", full)
    source = packed(tmp_path / "d.zip", {"ada/02_bptt.ipynb": book()})
    assert cli.main(["class", "collect", str(tmp_path / "class"), str(source)]) == 2
    assert holds(capsys.readouterr().err, "class", "No space left on device")
    assert not (tmp_path / "class").exists()


def test_a_locked_archive_and_a_lying_size_are_listed(tmp_path):
    source = packed(tmp_path / "d.zip", {"ada/02_bptt.ipynb": book()})
    content = bytearray(source.read_bytes())
    for signature, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + place] |= 1
    source.write_bytes(content)
    _, listed = collected(tmp_path / "class", source)
    assert reason(listed, "ada") == "it is locked with a password: hand it in without one"


def test_links_and_pipes_in_a_folder_are_not_opened(tmp_path):
    folder = tmp_path / "in" / "ada"
    folder.mkdir(parents=True)
    (folder / "02_bptt.ipynb").write_text(book())
    (folder / "link.ipynb").symlink_to(folder / "02_bptt.ipynb")
    (folder / "loop").symlink_to(folder.parent)
    os.mkfifo(folder / "pipe.ipynb")
    _, listed = collected(tmp_path / "class", tmp_path / "in")
    assert len(submissions.graded(listed)) == 1
    assert "link" in reason(listed, "link.ipynb")
    assert "not a regular file" in reason(listed, "pipe")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: None, "does not exist"),
        (lambda path: path.write_bytes(b"PK\x03\x04 cut off"), "the download was cut off"),
        (lambda path: packed(path, {"ada/report.pdf": "x"}), "holds no notebook"),
        (lambda path: packed(path, {}), "holds no notebook"),
        (os.mkfifo, "not a regular file"),
    ],
    ids=["missing", "cut off", "no notebook", "empty", "a pipe"],
)
def test_a_download_without_submissions_is_refused_and_leaves_nothing(make, message, tmp_path, capsys):
    make(tmp_path / "d.zip")
    assert cli.main(["class", "collect", str(tmp_path / "class"), str(tmp_path / "d.zip")]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "class").exists()


def test_a_lesson_or_a_digest_that_does_not_exist_is_refused(tmp_path, capsys):
    source = packed(tmp_path / "d.zip", {"ada/02_bptt.ipynb": book()})
    for arguments in (["--lesson", "bttp"], ["--take", "abc"]):
        assert cli.main(["class", "collect", str(tmp_path / "class"), str(source), *arguments]) == 2
    error = capsys.readouterr().err
    assert all(part in error for part in ("no lesson 'bttp'", "--take abc: no file"))


def test_the_key_is_made_once_and_none_stops_a_class_that_has_begun(tmp_path):
    (tmp_path / "results" / "ada").mkdir(parents=True)
    (tmp_path / "results" / "ada" / "bptt.json").write_text("{}")
    key = keys.class_key(tmp_path, create=True)
    assert keys.class_key(tmp_path, create=True) == key
    assert stat.S_IMODE((tmp_path / "class.json").stat().st_mode) == 0o600
    (tmp_path / "submissions.jsonl").write_text("")
    (tmp_path / "class.json").unlink()
    with pytest.raises(Unusable, match="seeds of 1"):
        keys.class_key(tmp_path, create=True)


def test_tokens_depend_on_every_word_and_on_where_one_ends(tmp_path):
    key = bytes(32)
    parts = [
        ("seed", "bptt", "ada"),
        ("variant", "bptt", "ada"),
        ("seed", "bptta", "da"),
        ("seed", "bptt", "bob"),
    ]
    assert len({keys.token(key, *three) for three in parts} | {keys.token(bytes(31) + b"1", *parts[0])}) == 5
    seeds = {
        keys.seed(key, *parts) for parts in (("bptt", "ada", "1"), ("bptt", "ada", "2"), ("bptt", "bob", "1"))
    }
    assert len(seeds) == 3
    assert max(seeds) < 2**53


def test_folders_of_students_are_plain_and_differ_where_the_names_do():
    names = ["a/b", "a-b", "..", "", "陈", "é", "e" * 300]
    slugs = {submissions.slug(name) for name in names}
    assert len(slugs) == len(names)
    assert all(slug.isascii() and "/" not in slug and slug[0] != "." and len(slug) < 60 for slug in slugs)


def test_a_source_that_is_a_notebook_is_refused(tmp_path):
    (tmp_path / "x.ipynb").write_text(book())
    with pytest.raises(Unusable, match="neither a folder nor a zip"):
        list(archives.entries(tmp_path / "x.ipynb"))
