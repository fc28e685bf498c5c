"""`rnnlab start` and `rnnlab update`: the course in a folder of one's own; nothing is lost."""

import shlex

import pytest
from test_copies import notebook as notebook_text

from rnncourse.lab import work


def notebook(text, **fields):
    """The bytes of a notebook of one code cell."""
    return notebook_text(text, **fields).encode()


@pytest.fixture
def release(tmp_path, monkeypatch):
    """A function that makes these the notebooks that are shipped: {name: content}."""

    def ship(number, notebooks):
        files = {name: tmp_path / f"release{number}" / name for name in notebooks}
        for name, content in notebooks.items():
            files[name].parent.mkdir(parents=True, exist_ok=True)
            files[name].write_bytes(content)
        monkeypatch.setattr(work, "shipped", lambda: files)
        monkeypatch.setattr(work.rnnlab, "__version__", f"0.{number}.0")

    return ship


@pytest.fixture
def course(release, tmp_path):
    """A started folder with one lesson and its exercise."""
    release(1, {"notebooks/00_a.ipynb": notebook("old"), "exercises/00_a.ipynb": notebook("do")})
    work.start(tmp_path / "course")
    return tmp_path / "course"


def test_the_lessons_of_this_version_are_laid_out(tmp_path):
    sentences = work.start(tmp_path / "new" / "course")
    lessons = sorted(path.name for path in work.ROOT.glob("notebooks/*.ipynb"))
    assert sorted(path.name for path in tmp_path.glob("new/course/notebooks/*")) == lessons
    assert f"holds {len(lessons)} lessons" in sentences[0]
    assert not list(tmp_path.glob("new/course/solutions*"))


def test_a_folder_in_use_is_refused_and_nothing_in_it_changes(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(work.NoCourse, match="is not empty"):
        work.start(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_file_in_the_place_of_the_folder_is_named_as_one(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(work.NoCourse, match=r"thesis\.txt is a file"):
        work.start(tmp_path / "thesis.txt")


def test_an_update_continues_a_start_that_was_interrupted(release, tmp_path, monkeypatch):
    notebooks = {f"notebooks/0{n}_a.ipynb": notebook(f"lesson {n}") for n in range(3)}
    release(1, notebooks)
    write = work.write_whole

    def stop_at_the_second(path, content):
        if path.name == "01_a.ipynb":
            raise KeyboardInterrupt
        write(path, content)

    monkeypatch.setattr(work, "write_whole", stop_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        work.start(tmp_path / "course")
    monkeypatch.setattr(work, "write_whole", write)
    work.update_started(tmp_path / "course")
    contents = {name: (tmp_path / "course" / name).read_bytes() for name in notebooks}
    assert contents == notebooks
    assert not (tmp_path / "course/work").exists()


def test_the_command_that_opens_the_course_can_be_pasted(release, tmp_path):
    release(1, {"notebooks/00_a.ipynb": notebook("old")})
    *_, line = work.start(tmp_path / "my course (new)")
    words = shlex.split(line.partition(": ")[2])
    assert words == ["cd", str(tmp_path / "my course (new)"), "&&", "rnnlab", "lab"]


def test_a_second_start_names_the_update(course):
    with pytest.raises(work.NoCourse, match="`rnnlab update` there"):
        work.start(course)


def test_an_update_brings_what_is_new_and_changed_and_removes_what_is_gone(course, release):
    release(2, {"notebooks/00_a.ipynb": notebook("new"), "notebooks/01_b.ipynb": notebook("b")})
    sentences = work.update_started(course)
    assert sentences[0] == "From rnnlab 0.1.0 to 0.2.0:"
    assert {*sentences[1:4]} == {
        "changed: notebooks/00_a.ipynb", "new: notebooks/01_b.ipynb", "gone: exercises/00_a.ipynb",
    }  # fmt: skip
    assert (course / "notebooks/00_a.ipynb").read_bytes() == notebook("new")
    assert not (course / "exercises/00_a.ipynb").exists()


def test_saved_outputs_alone_are_no_writing(course, release):
    (course / "notebooks/00_a.ipynb").write_bytes(notebook("old", outputs=["1"]))
    release(2, {"notebooks/00_a.ipynb": notebook("new"), "exercises/00_a.ipynb": notebook("do")})
    work.update_started(course)
    assert not (course / "work").exists()


@pytest.mark.parametrize(
    "shipped", [{"notebooks/00_a.ipynb": notebook("new")}, {"notebooks/01_b.ipynb": notebook("b")}]
)
def test_what_was_written_in_a_lesson_is_moved_aside_before_it_is_replaced_or_removed(
    course, release, shipped
):
    (course / "notebooks/00_a.ipynb").write_bytes(notebook("mine"))
    release(2, shipped)
    aside = "You had written in notebooks/00_a.ipynb: yours is now work/before_update/notebooks/00_a.ipynb"
    assert aside in work.update_started(course)
    assert (course / "work/before_update/notebooks/00_a.ipynb").read_bytes() == notebook("mine")


def test_two_writings_are_both_kept(course, release):
    for number in (2, 3):
        (course / "notebooks/00_a.ipynb").write_bytes(notebook(f"mine {number}"))
        release(number, {"notebooks/00_a.ipynb": notebook(f"new {number}")})
        work.update_started(course)
    aside = {path.read_bytes() for path in (course / "work/before_update").rglob("*.ipynb")}
    assert aside == {notebook("mine 2"), notebook("mine 3")}


def test_answers_in_work_are_not_read_written_or_removed(course, release):
    (course / "work").mkdir()
    (course / "work/00_a.ipynb").write_bytes(b"no notebook at all")
    release(2, {"notebooks/00_a.ipynb": notebook("new"), "exercises/00_a.ipynb": notebook("do more")})
    work.update_started(course)
    assert (course / "work/00_a.ipynb").read_bytes() == b"no notebook at all"


def test_an_update_without_news_says_how_to_get_some(course):
    (sentence,) = work.update_started(course)
    assert work.FROM_REPOSITORY in sentence


def test_a_removed_lesson_comes_back(course):
    (course / "notebooks/00_a.ipynb").unlink()
    assert work.update_started(course)[0] == "restored: notebooks/00_a.ipynb"


@pytest.mark.parametrize("damage", ["{", "[]", '{"files": {}}', '{"version": "1", "files": []}'])
def test_a_damaged_note_is_named_with_the_remedy(course, damage):
    (course / work.NOTE).write_text(damage)
    with pytest.raises(work.NoCourse, match=r"rnnlab\.json"):
        work.update_started(course)


def test_outside_a_course_the_update_says_how_to_get_one(tmp_path):
    with pytest.raises(work.NoCourse, match="`rnnlab start FOLDER`"):
        work.update_started(tmp_path)


def test_the_course_around_the_working_directory_is_found(course, monkeypatch):
    monkeypatch.chdir(course / "notebooks")
    assert work.course_folder() == course.resolve()
    monkeypatch.chdir(course.parent)
    assert work.course_folder() == work.ROOT


def test_packages_that_are_not_the_tested_ones_are_named_with_the_command_that_brings_these(monkeypatch):
    pins = work.tested_versions()
    assert pins["numpy"].count(".") >= 1
    monkeypatch.setattr(work.metadata, "version", lambda name: "99.9" if name == "numpy" else pins[name])
    (sentence,) = work.untested()
    assert f"numpy=={pins['numpy']}" in sentence
    assert "99.9" in sentence
    assert "matplotlib" not in sentence
    monkeypatch.setattr(work.metadata, "version", pins.__getitem__)
    assert work.untested() == []
