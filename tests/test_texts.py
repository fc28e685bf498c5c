"""The translators' catalogue holds what learners see: verdicts that checks give, lessons, hints, messages."""

import ast
import re

import pytest
from babel.messages.pofile import read_po

from nbjudge.authoring.course import ROOT
from nbjudge.grading import learner
from pages import texts
from rnncourse import checks


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """The file that the command writes."""
    path = tmp_path_factory.mktemp("texts") / "new/rnnlab.pot"
    assert texts.main([str(path)]) == 0
    return path


@pytest.fixture(scope="module")
def catalogue(written):
    """The catalogue as a translator's program reads it."""
    with open(written, "rb") as file:
        return read_po(file)


def arguments(call):
    """What a call passes on."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def constants(words):
    """The parts of a text between what is inserted."""
    return [part.strip() for part in re.split(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}", words) if part.strip()]


@pytest.mark.parametrize("lesson", ["start_here", pytest.param("bptt", marks=pytest.mark.slow)])
def test_every_sentence_of_a_verdict_is_in_the_catalogue(catalogue, lesson, tmp_path, monkeypatch):
    monkeypatch.setenv("RNNLAB_HOME", str(tmp_path))
    parts = {part for entry in catalogue for part in constants(entry.id or "") if " " in part}
    wrong = [exercise.make(mutant) for exercise in checks.exercises(lesson) for mutant in exercise.mutants]
    unknown = []
    for verdict in map(learner.check, wrong):
        left = " … ".join(filter(None, (verdict.message, verdict.misconception, verdict.next_step)))
        for part in sorted(parts, key=len, reverse=True):
            left = left.replace(part, " … ")
        unknown += re.findall(r"[A-Za-z']+ [a-z']+ [a-z']+[^…]*", left)
    assert unknown == []


def test_every_message_that_a_check_passes_on_is_in_the_catalogue(catalogue):
    called = re.compile(r"^(?:Wrong|Stopped|refuse|expect\w*|require\w*)$")
    every, seen = "\n".join(entry.id for entry in catalogue), []
    for path in sorted((ROOT / "rnncourse/checks").rglob("*.py")):
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        calls = [call for call in calls if called.match(ast.unparse(call.func).split(".")[-1])]
        parts = [part for call in calls for argument in arguments(call) for part in ast.walk(argument)]
        texts = [part.value for part in parts if isinstance(getattr(part, "value", None), str)]
        seen += [(path.name, text) for text in texts if re.search(r"[A-Za-z]{2} [a-z]{2}", text)]
    assert [(name, text) for name, text in seen if text.strip() not in every] == []
    assert len(seen) > 100


def test_paragraphs_hints_mistakes_and_printed_words_of_sources_are_entries_with_their_lines():
    source = "\n".join(
        [
            "# %% [markdown]", "# ## A title", "#", "# One line", "# and another.", "", "# %%",
            'print(f"rate {rate:.1f} of them")', "", "# %% [hint]", "# Look there first.", "",
            "# %% [mistake] forgets tanh", "# - a", "# + b", "", "# %% [right]", 'print("not for you here")',
        ]
    )  # fmt: skip
    entries = [(text.words, text.line, text.kind) for text in texts.texts_of_source(source, "a.py")]
    assert entries == [
        ("## A title", 2, "markdown"),
        ("One line\nand another.", 4, "markdown"),
        ("rate {rate} of them", 8, "code"),
        ("Look there first.", 11, "hint"),
        ("forgets tanh", 13, "mistake"),
    ]


def test_programs_markup_names_and_docstrings_are_no_texts_of_the_package():
    strings = "def f(x): return x", "weight_hh", '<path d="M one to two">', "Run it again.", "row or column"
    source = f'"""A module of ours."""\na = {strings!r}'
    assert [words for words, _ in texts.sentences(source)] == ["Run it again.", "row or column"]


def test_every_lesson_and_exercise_stands_in_the_file(written):
    words = written.read_text(encoding="utf-8")
    for source in (*ROOT.glob("notebooks/source/*.py"), *ROOT.glob("solutions/source/*/*.py")):
        assert (
            f"#: {source.relative_to(ROOT).as_posix()}:" in words
            or f" {source.relative_to(ROOT).as_posix()}:" in words
        )
