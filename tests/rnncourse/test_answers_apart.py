"""Each exercise is graded without the others: an answer that dies or never ends costs its own marks only."""

import ast
import json
from dataclasses import replace

import pytest

from nbjudge.authoring.course import ROOT
from nbjudge.finding.notebook import Notebook
from nbjudge.finding.reading import parse
from nbjudge.grading import grade as grading
from rnncourse.checks import LESSONS, catalogue

DYING = ("__import__('os')._exit(0)", "while True: pass")


def chosen(answer):
    """The statements of an answer, without those of its cells that do not run."""
    return [ast.parse(text).body[index] for _, text, indices in answer.cells for index in indices]


def names_in(statement):
    """Names in a statement's code; what a docstring mentions does not run."""
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)} | {
        node.name for node in ast.walk(statement) if isinstance(node, ast.FunctionDef)
    }


def with_body(lesson, name, body, folder):
    """The solved notebook of a lesson, in which one answer has another body."""
    book = json.loads((ROOT / f"solutions/{LESSONS[lesson]}.ipynb").read_text(encoding="utf-8"))
    for cell in book["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code" and f"def {name}(" in source:
            tree = ast.parse(source)
            (function,) = [part for part in tree.body if getattr(part, "name", "") == name]
            function.body = ast.parse(body).body
            cell["source"] = ast.unparse(tree)
    path = folder / f"{LESSONS[lesson]}.ipynb"
    path.write_text(json.dumps(book), encoding="utf-8")
    return path


@pytest.mark.parametrize("lesson", LESSONS)
def test_no_exercise_needs_a_statement_of_another(lesson):
    notebook = Notebook.read(ROOT / f"solutions/{LESSONS[lesson]}.ipynb")
    exercises = set(catalogue(lesson))
    for name in exercises:
        used = {word for statement in chosen(notebook.answer(name)) for word in names_in(statement)}
        assert used & exercises == {name}


@pytest.mark.parametrize("lesson", LESSONS)
def test_what_only_shows_or_checks_an_answer_does_not_run(lesson):
    notebook = Notebook.read(ROOT / f"solutions/{LESSONS[lesson]}.ipynb")
    for name in catalogue(lesson):
        shown = [ast.unparse(part) for part in chosen(notebook.answer(name)) if isinstance(part, ast.Expr)]
        assert not [text for text in shown if text.startswith(("check(", "print(", "show("))]


@pytest.mark.parametrize("lesson", LESSONS)
def test_an_answer_is_the_same_to_its_judge_whatever_another_one_does(lesson, tmp_path):
    solved = Notebook.read(ROOT / f"solutions/{LESSONS[lesson]}.ipynb")
    for broken in catalogue(lesson):
        notebook = Notebook.read(with_body(lesson, broken, DYING[0], tmp_path))
        for name in set(catalogue(lesson)) - {broken}:
            assert [ast.dump(part) for part in chosen(notebook.answer(name))] == [
                ast.dump(part) for part in chosen(solved.answer(name))
            ]


@pytest.mark.slow
@pytest.mark.parametrize("body", DYING, ids=["dies", "never ends"])
@pytest.mark.parametrize("lesson", ["bptt", "cuda_first_kernels"])  # without and with kernels; above are all
def test_an_answer_that_dies_or_never_ends_costs_its_own_marks_only(lesson, body, tmp_path, monkeypatch):
    def in_a_second(exercise, notebook):
        return replace(exercise, seconds=1.0) if exercise.name == broken else exercise, {}

    monkeypatch.setattr(grading, "as_variant", in_a_second)
    for broken in catalogue(lesson):
        verdicts = grading.grade(with_body(lesson, broken, body, tmp_path), seed=1).verdicts
        lost = {verdict.name for verdict in verdicts if verdict.points < verdict.max_points}
        assert lost == {broken}


OWN_COMPARISONS = (
    "for f in (first, second):\n    f(state)",
    "both = {'a': first, 'b': second}\nfor name, f in both.items():\n    result = f(state)\n    f(result)",
    "both = [first, second]\nprint([f(state) for f in both], both[0](state))",
    "a, b = first, second\na(state)\nb(state)",
    "both = dict(a=first, b=second)\ndef run(fs):\n    for f in fs.values():\n        f(1)\nrun(both)",
    "result = use(first)(second(state))[0]\nresult += 1",
    "names = {'first': first, 'second': second}\nexec('x = first(state)', names)",
)


@pytest.mark.parametrize("cell", OWN_COMPARISONS)
def test_a_learners_own_comparison_of_two_answers_belongs_to_neither(cell):
    cells = [
        parse(1, "from rnnlab import use\nstate = 1"),
        parse(2, "def first(x):\n    return x"),
        parse(3, "def second(x):\n    return x + 1"),
        parse(4, cell),
    ]
    for name in ("first", "second"):
        assert [label for label, _, _ in Notebook(cells).answer(name).cells] == [
            f"cell {2 + (name == 'second')}"
        ]


@pytest.mark.parametrize(
    "cell",
    [
        "for f in (first, second):\n    f.factor = 3",
        "both = [first, second]\nfor f in both:\n    setattr(f, 'factor', 3)",
        "names = globals()\nexec('first.factor = 3', names)",
        "exec('first.factor = 3', globals())",
    ],
)
def test_what_writes_into_a_function_belongs_to_it(cell):
    cells = [
        parse(1, "def first(x):\n    return x * first.factor"),
        parse(2, "def second(x):\n    return x"),
        parse(3, cell),
    ]
    assert [label for label, _, _ in Notebook(cells).answer("first").cells][-1] == "cell 3"
