"""`make update`: newer lessons, although a reader saved or wrote in older ones; answers stay as they are."""

import subprocess

import pytest
from test_copies import notebook
from values_in import holds

from rnncourse.lab import work
from rnncourse.lab.work import NoCourse

LESSON, EXERCISE = "notebooks/00_start_here.ipynb", "exercises/00_start_here.ipynb"


def git(folder, *arguments):
    names = ["-c", "user.name=author", "-c", "user.email=author@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *names, *arguments], cwd=folder, check=True, capture_output=True)


def publish(author, path, text):
    (author / path).parent.mkdir(exist_ok=True)
    (author / path).write_text(text)
    git(author, "add", "--all")
    git(author, "commit", "--quiet", "-m", f"Change {path}")


@pytest.fixture
def clones(tmp_path):
    """An author's repository and a learner's clone of it."""
    author, learner = tmp_path / "author", tmp_path / "learner"
    author.mkdir()
    git(author, "init", "--quiet", "-b", "main")
    (author / ".gitignore").write_text("work/\n")
    publish(author, LESSON, notebook("lesson"))
    publish(author, EXERCISE, notebook("exercise"))
    git(tmp_path, "clone", "--quiet", "author", "learner")
    (learner / "work").mkdir()
    (learner / "work/00_start_here.ipynb").write_text("my answer")
    return author, learner


def test_a_lesson_that_was_run_and_saved_is_updated_and_the_answers_stay(clones):
    author, learner = clones
    (learner / LESSON).write_text(notebook("lesson", outputs=["42"]))
    publish(author, LESSON, notebook("newer lesson"))
    publish(author, EXERCISE, notebook("newer exercise"))
    lines = work.update_clone(learner)
    assert (learner / LESSON).read_text() == notebook("newer lesson")
    assert (learner / "work/00_start_here.ipynb").read_text() == "my answer"
    assert sorted(path.name for path in (learner / "work").iterdir()) == ["00_start_here.ipynb"]
    assert lines == [
        "Lessons that changed: 00_start_here",
        "Exercises that changed: 00_start_here",
        "2 commits in all; CHANGELOG.md says what they bring.",
        "Now: make lab",
    ]


def test_what_numba_stored_of_the_packages_is_forgotten_and_nothing_else(clones):
    author, learner = clones
    stored = [f"rnnlab/kernels/packed/__pycache__/forward.pass-12.py311.{kind}" for kind in ("nbi", "1.nbc")]
    others = ["rnnlab/kernels/packed/__pycache__/forward.pyc", ".venv/lib/a/__pycache__/theirs.nbi"]
    for name in (*stored, *others):
        (learner / name).parent.mkdir(parents=True, exist_ok=True)
        (learner / name).write_text("older")
    publish(author, LESSON, notebook("newer lesson"))
    work.update_clone(learner)
    assert not [name for name in stored if (learner / name).exists()]
    assert all((learner / name).exists() for name in others)


def test_a_lesson_in_which_the_reader_wrote_is_copied_before_it_is_updated(clones):
    author, learner = clones
    for number, name in ((1, "00_start_here.ipynb"), (2, "00_start_here-2.ipynb")):
        (learner / LESSON).write_text(notebook(f"my note {number}"))
        publish(author, LESSON, notebook(f"newer lesson {number}"))
        first, *_ = work.update_clone(learner)
        assert holds(first, LESSON, f"work/before_update/notebooks/{name}")
        copy = learner / "work/before_update/notebooks" / name
        assert copy.read_text() == notebook(f"my note {number}")
        assert (learner / LESSON).read_text() == notebook(f"newer lesson {number}")


def test_a_deleted_lesson_comes_back(clones):
    author, learner = clones
    (learner / LESSON).unlink()
    publish(author, EXERCISE, notebook("newer exercise"))
    work.update_clone(learner)
    assert (learner / LESSON).exists()


def test_where_nothing_is_new_nothing_is_touched(clones):
    _, learner = clones
    (learner / LESSON).write_text(notebook("lesson", outputs=["42"]))
    assert work.update_clone(learner) == ["Already the newest version."]
    assert (learner / LESSON).read_text() == notebook("lesson", outputs=["42"])


def test_without_a_network_nothing_is_touched_and_one_sentence_says_so(clones, monkeypatch, capsys):
    author, learner = clones
    (learner / LESSON).write_text(notebook("lesson", outputs=["42"]))
    author.rename(author.with_name("away"))
    monkeypatch.setattr(work, "ROOT", learner)
    assert work.main() == 1
    sentence = capsys.readouterr().err
    assert holds(sentence, "no update", "git fetch", "network")
    assert sentence.count("\n") == 1
    assert (learner / LESSON).read_text() == notebook("lesson", outputs=["42"])


def test_own_changes_elsewhere_are_never_overwritten(clones):
    author, learner = clones
    (learner / ".gitignore").write_text("work/\nmine\n")
    publish(author, ".gitignore", "work/\nbuild/\n")
    with pytest.raises(NoCourse, match=r"would be overwritten"):
        work.update_clone(learner)
    assert (learner / ".gitignore").read_text() == "work/\nmine\n"


def test_a_refused_update_says_where_the_readers_notes_are(clones):
    author, learner = clones
    (learner / ".gitignore").write_text("work/\nmine\n")
    (learner / LESSON).write_text(notebook("my note"))
    publish(author, ".gitignore", "work/\nbuild/\n")
    with pytest.raises(NoCourse) as refused:
        work.update_clone(learner)
    copy = f"work/before_update/{LESSON}"
    assert holds(str(refused.value), LESSON, copy)
    assert (learner / copy).read_text() == notebook("my note")


def test_commits_of_the_readers_own_are_told_before_anything_is_put_aside(clones):
    author, learner = clones
    publish(learner, "notes.txt", "mine")
    (learner / LESSON).write_text(notebook("my note"))
    publish(author, LESSON, notebook("newer lesson"))
    with pytest.raises(NoCourse, match="git rebase"):
        work.update_clone(learner)
    assert (learner / LESSON).read_text() == notebook("my note")
    assert not (learner / "work/before_update").exists()


def test_a_folder_without_git_and_a_machine_without_it_are_told(tmp_path, clones, monkeypatch):
    with pytest.raises(NoCourse, match="was not cloned by git"):
        work.update_clone(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoCourse, match="git is not installed"):
        work.update_clone(clones[1])
