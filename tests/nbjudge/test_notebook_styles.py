"""What works at the top of a notebook's cells works when it is graded: every style runs in IPython, where
`check` judges it, and is graded from its cells. Both verdicts are the one that it deserves.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from nbjudge.finding.notebook import Notebook
from nbjudge.finding.reading import parse
from nbjudge.grading.grade import grade_one
from nbjudge.running.sandbox import choose
from nbjudge.verdict import Status
from rnncourse import checks

FILE = Path(__file__).parents[1] / "fixtures" / "notebook_styles.txt"
HEAD = "import numpy as np\nfrom rnnlab import check, hint, progress, use"
ANSWER = r"def last_step(y):\n    return y[-1] * (\1)"
EXERCISE = checks.find("last_step")[1]


def styles():
    """[(name, status, cells), ...] of the file."""
    for block in re.split(r"^=== ", FILE.read_text(encoding="utf-8"), flags=re.M)[1:]:
        title, _, body = block.partition("\n")
        name, _, status = title.partition(": ")
        sources = re.split(r"^---\n", re.sub(r"^ANSWER (.*)$", ANSWER, body, flags=re.M), flags=re.M)
        yield name, status or "passed", [HEAD, *(source.removesuffix("\n") for source in sources)]


pytestmark = pytest.mark.filterwarnings("ignore")
STYLES = [pytest.param(*style, id=style[0]) for style in styles()]


@pytest.fixture(scope="session")
def loaded(request):
    """{name: [status, message]} of the styles that this run tries, loaded as the grading worker does."""
    command = [sys.executable, str(Path(__file__).parents[1] / "style_verdicts.py"), "grade"]
    tried = [item.callspec.params for item in request.session.items if "loaded" in item.fixturenames]
    inputs = json.dumps({style["name"]: [EXERCISE.name, style["sources"]] for style in tried})
    done = subprocess.run(command, input=inputs, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    return {name: outcome["grade"] for name, outcome in json.loads(done.stdout).items()}


def graded(sources):
    """The verdict of `rnnlab grade` on cells."""
    return grade_one(EXERCISE, notebook_of(sources), 1, choose(plain=True))


def notebook_of(sources):
    return Notebook(parse(number, source) for number, source in enumerate(sources, 1))


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """IPython as in a notebook, with an empty namespace."""
    shells = pytest.importorskip("IPython.core.interactiveshell")
    monkeypatch.setenv("RNNLAB_HOME", str(tmp_path))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
    monkeypatch.setattr("sys.displayhook", sys.displayhook)
    monkeypatch.setattr("sys.excepthook", sys.excepthook)
    limit = sys.getrecursionlimit()
    shells.InteractiveShell.clear_instance()
    settings = pytest.importorskip("traitlets.config").Config({"HistoryManager": {"enabled": False}})
    shell = shells.InteractiveShell.instance(config=settings)
    shell.register_magic_function(lambda line: None, magic_name="matplotlib")  # it needs a front end
    yield shell
    shells.InteractiveShell.clear_instance()
    sys.setrecursionlimit(limit)


def checked(shell, sources):
    """The status that `check` gives in a notebook in which all cells have run once."""
    for source in sources:
        shell.run_cell(source, store_history=True)
    if "last_step" not in shell.user_ns:
        return Status.not_attempted
    if not callable(shell.user_ns["last_step"]):
        return Status.crashed
    shell.run_cell("verdict = check(last_step)")
    return shell.user_ns["verdict"].status


@pytest.mark.corpus
@pytest.mark.parametrize(("name", "status", "sources"), STYLES)
def test_a_style_gets_the_same_verdict_in_the_notebook_and_from_grade(shell, loaded, name, status, sources):
    with np.errstate():
        assert checked(shell, sources) == status, "the style is not what its file says"
    assert loaded[name][0] == status, loaded[name][1]


@pytest.mark.corpus
@pytest.mark.parametrize(("name", "status", "sources"), STYLES[::15])
def test_a_style_gets_this_verdict_from_a_process_of_its_own_too(name, status, sources):
    verdict = graded(sources)
    assert verdict.status == status, str(verdict)


def test_there_are_two_hundred_styles_and_no_name_stands_twice():
    names = [name for name, _, _ in styles()]
    assert len(names) == len({*names}) >= 200


LONG = "weights = train(np.ones(3), 10**6)\nfor step in range(10**9):\n    np.tanh(weights)"
LATER = {
    "a cell that trains beside it": "import numpy as np\n"
    "def train(x, steps):\n    return np.cumsum(x)\n---\n"
    "def last_step(y):\n    return np.array(y[-1])\n---\n" + LONG,
    "a cell that trains with the answer": "def train(x, steps):\n    return last_step([x])\n---\n"
    "def last_step(y):\n    return np.array(y[-1])\n---\n" + LONG,
    "a name that the answer has for itself": "def last_step(y):\n    weights = y[-1]\n"
    "    return np.array(weights)\n---\n" + LONG,
    "a table of the lesson passed on": "T = np.ones(3)\n---\n"
    "def last_step(y):\n    return np.copy(y[-1])\n---\n"
    "T[0] = 2\n" + LONG.replace("np.ones(3)", "T"),
}  # fmt: skip


@pytest.mark.parametrize("name", LATER)
def test_a_later_cell_that_trains_for_minutes_does_not_run_with_an_answer_that_does_not_need_it(name):
    sources = [HEAD, *LATER[name].split("\n---\n")]
    answer = notebook_of(sources).answer("last_step")
    running = "\n".join(source for _, source, _ in answer.cells)
    assert "def last_step" in running
    assert "train" not in running
    assert "range" not in running


@pytest.mark.slow
def test_a_chain_of_ten_thousand_statements_is_followed_once_and_whole():
    lines = [f"x{n} = np.add(x{n - 1}, 0)" for n in range(1, 10_000)]
    source = "\n".join(
        [HEAD, "x0 = np.ones(1)", *lines, "x0[0] = 1", "def last_step(y): return y[-1] * x9999"]
    )
    assert len(notebook_of([source]).answer("last_step").cells[0][2]) == 10_000 + 3
