"""Every notebook runs top to bottom as it lies there, and every lesson keeps the grammar of lessons."""

import ast
import json
import re
import statistics
import time

import nbformat
import pytest
from nbclient import NotebookClient
from notebook_cells import run_cells, time_left

from nbjudge.authoring.course import ROOT, exercises_of
from nbjudge.authoring.percent import parse
from nbjudge.clock import PATIENCE
from rnncourse import checks, guesses

SECONDS = 90  # for one notebook on two cores that do nothing else
CELLS = 25, 45  # folded ones do not count among the most
WORDS = 200  # in a cell of prose
WORDS_MEDIAN = 30, 120
CODE_LINES = 30
CODE_LINES_MEDIAN = 16
CODE_COLUMNS = 80  # a wider line is folded on the site and in a narrow window
CELLS_WITHOUT_ACTION = 6
PARTS = (
    "**claim to test:",
    "**time:**",
    "predict",
    "<!-- exercise: ",
    "break it",
    "## recap",
    "## recall",
    "## sources",
)
ASKS = (
    r"\?|\b(predict|guess|change|mend|write|move|try|press|play|open|count|look (at|for)|break it|exercise)\b"
)
DOES = r"\b(explore_\w+|check|hint|progress)\(|guess"
VERDICT = re.compile(r"^(?:✔|✘|○|!|⚠) ([a-z ]+?) · (\w+) · (\d+) of (\d+) points", re.M)
FOLDED = 66  # letters of the line that a folded cell shows: a window of 1,000 pixels has room for them
NEVER_FOLDED = {"rnnlab.check", "rnnlab.hint", "take_turns", "cuda.observe", "cuda.replay"}  # is the lesson
FOLD = re.compile(r'^<details class="outcome">.*|^</details>$', re.M)  # its lines, which hold no prose
IMAGE = re.compile(r"<img\b[^>]*>")
COLUMNS = re.compile(r"\S {3,}\S|\S  +\S(.*\S)?  +\S")  # a row of a table; a sentence may continue below
PAGE = 78  # letters
# exceptions: a launch's source, 70 letters, and its counts; what the doctor found on this machine
REPORT = re.compile(
    r" {76}| *\d+ .{70} |  (Python|BLAS|GPU|sandbox|packages|processor|your answers|your progress) "
)
ALT_LETTERS = 20  # a finding is a sentence

LESSONS = sorted(ROOT.glob("notebooks/*.ipynb"))
SOLUTIONS, EXERCISES = sorted(ROOT.glob("solutions/*.ipynb")), sorted(ROOT.glob("exercises/*.ipynb"))
stem = lambda path: path.stem


@pytest.fixture(autouse=True)
def nobodys_home(tmp_path, monkeypatch):
    """Progress, Jupyter's and IPython's own files go to an empty folder, and come from there."""
    for variable in (
        "RNNLAB_HOME",
        "JUPYTER_CONFIG_DIR",
        "JUPYTER_DATA_DIR",
        "JUPYTER_RUNTIME_DIR",
        "IPYTHONDIR",
    ):
        monkeypatch.setenv(variable, str(tmp_path / variable.lower()))


def by_kernel(path, folder):
    """All outputs of a notebook, as {media type: data}, run by a Jupyter kernel as a learner's are."""
    book = nbformat.read(path, as_version=4)
    begin, left = time.monotonic(), []
    look = lambda **cell: left.append(time_left(client.km.provisioner.pid, begin, SECONDS))
    client = NotebookClient(
        book,
        timeout=SECONDS * (1 + PATIENCE),  # for one cell, should other programs have the cores
        kernel_name="python3",
        resources={"metadata": {"path": folder}},
        on_cell_executed=look,
    )
    client.execute()
    assert left[-1] > 0, f"{path.name} ran for {SECONDS - left[-1]:.0f} s"
    outputs = [output for cell in book.cells for output in cell.get("outputs", [])]
    return [output.get("data") or {output.get("name"): output.get("text")} for output in outputs]


def by_fork(path, folder):
    """All outputs, run by a process that is forked, without a kernel."""
    return run_cells(path, folder, SECONDS)


IN_A_KERNEL = "13_fused_layer"  # the lesson that a Jupyter kernel runs in the quick leg: the shortest one


def runs(paths, quick):
    """Each notebook in the quick leg, by `quick(path)`; every third one in the slow leg by the other way."""
    other = {by_fork: by_kernel, by_kernel: by_fork}
    case = lambda path, run, **more: pytest.param(path, run, id=f"{path.stem}-{run.__name__}", **more)
    return [case(path, quick(path)) for path in paths] + [
        case(path, other[quick(path)], marks=pytest.mark.slow) for path in paths[::3]
    ]


def verdicts(outputs):
    """{exercise: (status, points)} of the verdicts that a notebook shows."""
    texts = "\n".join(data.get("text/plain", "") for data in outputs)
    return {name: (status, int(points)) for status, name, points, _ in VERDICT.findall(texts)}


def too_wide(outputs):
    """Lines of printed tables that are wider than a page."""
    lines = "\n".join(data.get("stdout", "") for data in outputs).splitlines()
    return [line for line in lines if width(line) > PAGE and COLUMNS.search(line) and not REPORT.match(line)]


def width(line):
    """Letters of a line. What machines differ in counts alike: numbers as four, paths as none."""
    return len(re.sub(r"\d[\d.]{4,}", "0000", re.sub(r"\S*/\S+/\S*", "", line)).rstrip())


def test_a_table_that_is_too_wide_is_found_and_a_sentence_is_not():
    wide, page = "a  b  " + 73 * "c", "a  b  " + 72 * "c"
    assert too_wide([{"stdout": f"{wide}\n{page}  \n"}, {"text/plain": wide}]) == [wide]
    assert not too_wide([{"stdout": 30 * "word "}])
    assert width("a  1234.567") == width("a  1.23") == width("a  1234  /home/somebody/a")


def source_cells(path):
    """The cells of the text that a lesson is built from."""
    text = (ROOT / f"notebooks/source/{path.stem}.py").read_text(encoding="utf-8")
    return parse(text, path.stem)


def cells(path, kind):
    book = json.loads(path.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == kind]


@pytest.mark.parametrize(
    ("path", "run"), runs(LESSONS, lambda path: by_kernel if path.stem == IN_A_KERNEL else by_fork)
)
def test_a_lesson_runs_every_picture_says_its_finding_and_no_table_is_too_wide(path, run, tmp_path):
    outputs = run(path, tmp_path)
    assert not too_wide(outputs)
    for data in outputs:
        assert "image/png" not in data, "show a picture through rnncourse.figures.picture"
        for image in IMAGE.findall(data.get("text/html", "")):
            assert len(re.search(r'alt="([^"]*)"', image)[1]) >= ALT_LETTERS


IN_FORKS = (
    "00_start_here",
    "10_cuda_shared_memory",
)  # without and with kernels; a Jupyter kernel runs each in the slow leg; test_exercises.py has all answers


@pytest.mark.parametrize(
    ("path", "run"),
    [(path, by_fork) for path in SOLUTIONS if path.stem in IN_FORKS]
    + [pytest.param(path, by_kernel, marks=pytest.mark.slow) for path in SOLUTIONS],
)
def test_a_solved_notebook_runs_top_to_bottom_with_full_marks(path, run, tmp_path):
    full = {name: ("passed", points) for name, points in checks.catalogue(path.stem[3:]).items()}
    assert verdicts(run(path, tmp_path)) == full


@pytest.mark.parametrize(("path", "run"), runs(EXERCISES, lambda path: by_fork))
def test_an_untouched_exercise_runs_top_to_bottom_and_nothing_is_attempted(path, run, tmp_path):
    untouched = {name: ("not attempted", 0) for name in checks.catalogue(path.stem[3:])}
    assert verdicts(run(path, tmp_path)) == untouched


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("def (", "SyntaxError"),
        ("import os; os._exit(0)", "ended its process"),
        ("while True: pass", "did not come to an end"),
    ],
)
def test_a_cell_that_fails_fails_the_notebook_that_runs_in_a_fork(tmp_path, cell, says):
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)])
    nbformat.write(book, tmp_path / "book.ipynb")
    with pytest.raises(pytest.fail.Exception, match=says):
        run_cells(tmp_path / "book.ipynb", tmp_path, 2 if "while" in cell else SECONDS)


@pytest.mark.parametrize("path", LESSONS, ids=stem)
def test_a_lesson_opens_with_its_number_and_the_same_two_lines(path):
    assert cells(path, "markdown")[0].startswith(f"# {path.stem[:2]} · ")
    assert [line for line in cells(path, "code")[0].split("\n") if line] == [
        "import rnnlab",
        "rnnlab.banner()",
    ]


@pytest.mark.parametrize("path", LESSONS, ids=stem)
def test_a_lesson_has_all_parts_of_the_grammar(path):
    source = (ROOT / f"notebooks/source/{path.name}").with_suffix(".py").read_text(encoding="utf-8").lower()
    assert not [part for part in PARTS if part not in source]


@pytest.mark.parametrize("path", LESSONS, ids=stem)
def test_exercises_come_in_the_order_in_which_their_lesson_reaches_them(path):
    lesson = (ROOT / f"notebooks/source/{path.stem}.py").read_text(encoding="utf-8")
    assert re.findall(r"<!-- exercise: (\w+) -->", lesson) == [*exercises_of(ROOT, path.stem)]


@pytest.mark.parametrize("path", LESSONS, ids=stem)
def test_a_lesson_keeps_its_budget(path):
    prose, code = cells(path, "markdown"), cells(path, "code")
    folded = [cell.text for cell in source_cells(path) if cell.is_folded]
    assert CELLS[0] <= len(prose) + len(code) <= CELLS[1] + len(folded)
    words = [len(FOLD.sub("", text).split()) for text in prose]
    assert max(words) <= WORDS, prose[words.index(max(words))]
    assert WORDS_MEDIAN[0] <= statistics.median(words) <= WORDS_MEDIAN[1]
    lines = [1 if text in folded else len(text.split("\n")) for text in code]
    assert max(lines) <= CODE_LINES, code[lines.index(max(lines))]
    assert statistics.median(lines) <= CODE_LINES_MEDIAN
    assert not [line for text in code for line in text.split("\n") if len(line) > CODE_COLUMNS]


@pytest.mark.parametrize("path", LESSONS, ids=stem)
def test_a_folded_cell_prints_or_draws_and_holds_nothing_to_edit_or_to_learn(path):
    book = json.loads(path.read_text(encoding="utf-8"))
    hidden = ["".join(cell["source"]) for cell in book["cells"] if cell["metadata"]]
    assert hidden == [cell.text for cell in source_cells(path) if cell.is_folded]
    for text in hidden:
        assert len(text.partition("\n")[0]) <= FOLDED
        program = ast.parse(text)
        calls = {ast.unparse(node.func) for node in ast.walk(program) if isinstance(node, ast.Call)}
        assert not calls & NEVER_FOLDED
        assert calls & {"print", "show"}
        assert not guesses.assigned_guesses(program)
        assert not [node for node in ast.walk(program) if isinstance(node, ast.FunctionDef)]


@pytest.mark.parametrize("path", LESSONS, ids=stem)
def test_a_lesson_lets_the_learner_act_often(path):
    book, idle = json.loads(path.read_text(encoding="utf-8")), 0
    unfolded = [cell for cell in book["cells"] if not cell["metadata"]]
    for number, cell in enumerate(unfolded):
        acts = re.search(ASKS if cell["cell_type"] == "markdown" else DOES, "".join(cell["source"]), re.I)
        idle = 0 if acts else idle + 1
        assert idle <= CELLS_WITHOUT_ACTION, f"cell {number}: {idle} cells without anything to do"


@pytest.mark.parametrize(
    "path", [*LESSONS, *SOLUTIONS, *EXERCISES], ids=lambda p: f"{p.parent.name}-{p.stem}"
)
def test_a_notebook_is_stored_without_outputs_and_links_to_files_that_exist(path):
    book = json.loads(path.read_text(encoding="utf-8"))
    assert not [cell for cell in book["cells"] if cell.get("outputs") or cell.get("execution_count")]
    links = re.findall(r"\]\((?!https?:|#|attachment:)([^)#]+)", "\n".join(cells(path, "markdown")))
    targets = [(path.parent / link).resolve() for link in links]
    made_later = {ROOT / "work" / exercise.name for exercise in EXERCISES}
    assert not [target.name for target in targets if not target.exists() and target not in made_later]
