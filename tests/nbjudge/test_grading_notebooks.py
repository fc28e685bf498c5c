"""Whatever state a notebook is in, each exercise gets what its answer deserves, or a sentence that helps."""

import contextlib
import json
import os

import fuzz_notebooks
import pytest
from values_in import holds

from nbjudge.authoring.course import ROOT
from nbjudge.finding.notebook import Notebook
from nbjudge.finding.reading import Unusable, cells
from nbjudge.grading import grade as grading
from nbjudge.grading.grade import grade
from rnncourse import cli

RIGHT = "import numpy as np\n\ndef last_step(y):\n    return y[-1].copy()"
COUNT = (
    "def count_rnn_flops(T, B, I, H, L):\n"
    "    return 2 * T * B * H * (I + H + (L - 1) * 2 * H)"
)  # fmt: skip
STUB = "def last_step(y):\n    raise NotImplementedError('last_step')"


def code(source, **changes):
    return {
        "cell_type": "code",
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": source,
    } | changes


def book(*cells, **changes):
    listed = [cell if isinstance(cell, dict) else code(cell) for cell in cells]
    return {"cells": listed, "metadata": {}, "nbformat": 4, "nbformat_minor": 5} | changes


@pytest.fixture
def written(tmp_path):
    def write(*cells, name="00_start_here.ipynb", **changes):
        path = tmp_path / name
        path.write_text(json.dumps(book(*cells, **changes)))
        return path

    return write


def verdicts(path, **options):
    return {verdict.name: verdict for verdict in grade(path, seed=1, **options).verdicts}


def solved():
    return [cell for cell in json.loads((ROOT / "solutions/00_start_here.ipynb").read_text())["cells"]]


@pytest.mark.corpus
@pytest.mark.parametrize(
    "change",
    [
        lambda cells: cells[::-1],
        lambda cells: cells + cells,
        lambda cells: [cell | {"metadata": {}, "id": "x"} for cell in cells],
        lambda cells: [{k: v for k, v in cell.items() if k in ("cell_type", "source")} for cell in cells],
        lambda cells: [cell | {"source": "".join(cell["source"])} for cell in cells],
        lambda cells: [cell for cell in cells if cell["cell_type"] == "code"],
        lambda cells: [code("%matplotlib inline\n!ls\nx = !pwd"), *cells, code("%%bash\nrm -rf here")],
        lambda cells: [*cells, code(STUB)],
        lambda cells: [code("1 / 0"), *cells, code("undefined"), code("def broken(:\n    pass")],
    ],
    ids=["reversed", "copied", "no metadata", "bare cells", "one string a cell", "no text", "magics",
         "untouched stub at the end", "other cells fail"],
)  # fmt: skip
def test_what_happens_to_a_notebook_costs_no_marks(written, change):
    result = verdicts(written(*change(solved())))
    assert [verdict.status for verdict in result.values()] == ["passed"] * 3


@pytest.mark.parametrize(
    ("start", "piece", "times", "end"),
    [
        ('[{"output_type": "stream", "name": "stdout", "text": "', "x", 10**8, '"}]'),
        ("[", "[],", 4 << 20, "[]]"),
    ],
    ids=["text", "lists"],
)
@pytest.mark.slow
def test_a_hundred_megabytes_of_outputs_take_no_memory(written, start, piece, times, end):
    path = written(code(RIGHT, outputs="OUTPUTS"))
    path.write_text(path.read_text().replace('"OUTPUTS"', start + piece * times + end))
    assert verdicts(path, only="last_step")["last_step"].passed


def test_a_number_of_five_thousand_digits_in_an_output_is_no_matter(written):
    path = written(code(RIGHT, outputs=["NUMBER"]))
    path.write_text(path.read_text().replace('"NUMBER"', "9" * 5000))
    assert verdicts(path, only="last_step")["last_step"].passed


def test_warnings_on_stderr_and_prints_cost_nothing(written):
    noise = "import sys, warnings; warnings.warn('w'); print('x' * 9999); print('e', file=sys.stderr)"
    noisy = RIGHT.replace("    return", f"    {noise}\n    return")
    assert verdicts(written(noisy), only="last_step")["last_step"].passed


def test_an_answer_may_use_what_other_cells_define_and_one_lost_answer_takes_no_other_with_it(written):
    result = verdicts(
        written(
            "LAST = -1",
            "def part(y, k):\n    return y[k].copy()",
            "def last_step(y):\n    return part(y, LAST)",
            "def count_rnn_flops(T, B, I, H, L)\n    return 0",
            "def measure_gemm(*a, **k):\n    import os; os._exit(0)",
        )
    )
    assert {name: str(verdict.status) for name, verdict in result.items()} == {
        "last_step": "passed",
        "count_rnn_flops": "crashed",
        "measure_gemm": "crashed",
    }


@pytest.mark.parametrize(
    ("cell", "status", "message"),
    [
        ("def last_step(y)\n    return y[-1]", "crashed", "cell 1"),
        ("def lost_step(y):\n    return y[-1]", "not_attempted", "lost_step"),
        (STUB, "not_attempted", "still raises NotImplementedError"),
        ("last_step = 3", "crashed", "is not a function"),
        ("def last_step(y):\n    return yy[-1]", "crashed", "NameError"),
        ("def last_step(y):\n    return None", "failed", "nothing (None)"),
        ("def last_step(y):\n    return y[-1].astype('float16')", "failed", "float16"),
        ("def last_step(y):\n    return y[-1] * float('nan')", "failed", "nan"),
    ],
    ids=["syntax error", "renamed", "stub", "no function", "raises", "returns nothing", "dtype", "nan"],
)
def test_what_is_wrong_with_an_answer_is_said(written, cell, status, message):
    verdict = verdicts(written(cell), only="last_step")["last_step"]
    assert verdict.status == status
    assert message in verdict.message
    assert "Traceback" not in str(verdict)
    assert "rnnlab/" not in str(verdict)


def test_an_exception_is_told_by_the_learners_own_line(written):
    verdict = verdicts(
        written("def last_step(y):\n    z = y[-1]\n    return z / undefined"), only="last_step"
    )
    assert "line 3" in verdict["last_step"].message
    assert "return z / undefined" in verdict["last_step"].message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"not json", "is not a notebook"),
        (b"", "is not a notebook"),
        (b"[1, 2]", "it has no list of cells"),
        (b'{"cells": 3}', "it has no list of cells"),
        (b"\xff\xfe\x00\x01", "00_start_here.ipynb"),
    ],
    ids=["text", "empty", "a list", "no cells", "no UTF-8"],
)
def test_a_file_that_is_no_notebook_is_told_and_the_exit_status_is_2(tmp_path, capsys, content, message):
    path = tmp_path / "00_start_here.ipynb"
    path.write_bytes(content)
    assert cli.main(["grade", str(path)]) == 2
    text = capsys.readouterr().err
    assert message in text
    assert "Traceback" not in text


def test_a_missing_file_a_folder_and_another_units_notebook_are_told(tmp_path, written, capsys):
    for path in (tmp_path / "none.ipynb", tmp_path):
        with pytest.raises(Unusable, match=str(path)):
            Notebook.read(path)
    path = written("def bptt_linear():\n    pass", "def gradient_check():\n    pass")
    assert cli.main(["grade", str(path)]) == 2
    assert holds(capsys.readouterr().err, "bptt")


def test_a_notebook_is_known_by_its_functions_where_its_name_says_nothing(written):
    assert grade(written(RIGHT, name="my answers.ipynb"), seed=1, only="last_step").lesson == "start_here"


def test_an_unknown_exercise_is_told_with_the_near_ones(written, capsys):
    assert cli.main(["grade", str(written(RIGHT)), "--only", "last_stop"]) == 2
    assert "last_step" in capsys.readouterr().err


def test_the_same_seed_draws_the_same_numbers(written):
    path = written("def last_step(y):\n    return y[-1] * 1.5")
    one, again, other = (grade(path, seed=seed, only="last_step").verdicts[0].message for seed in (7, 7, 8))
    assert one == again != other


def test_the_report_has_the_promised_fields_and_says_which_sandbox(written, tmp_path, capsys):
    out = tmp_path / "report.json"
    cli.main(["grade", str(written(RIGHT)), "--json", str(out), "--seed", "5", "--plain"])
    report = json.loads(out.read_text())
    assert list(report) == ["lesson", "score", "max_score", "sandbox", "limits_by", "seed", "exercises"]
    assert (report["lesson"], report["score"], report["seed"], report["sandbox"]) == (
        "start_here",
        1,
        5,
        "plain",
    )
    fields = ["name", "points", "max_points", "status", "message", "misconception", "next_step"]
    fields += ["seconds", "looks"]
    assert all(list(row) == fields for row in report["exercises"])
    assert "sandbox: plain (chosen)" in capsys.readouterr().out


def test_a_report_that_cannot_be_written_is_told_and_leaves_the_old_one(
    written, tmp_path, monkeypatch, capsys
):
    path = written(RIGHT)
    assert (
        cli.main(["grade", str(path), "--only", "last_step", "--json", str(tmp_path / "no/where.json")]) == 2
    )
    assert "the report could not be written to" in capsys.readouterr().err

    out = tmp_path / "report.json"
    out.write_text("old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(grading.os, "fsync", full)
    assert cli.main(["grade", str(path), "--only", "last_step", "--json", str(out)]) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert out.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["00_start_here.ipynb", "report.json"]


SMALL = "def last_step(y):\n    return y[-1] * T[0]"


@pytest.mark.parametrize(
    "cell",
    [
        f"PICTURE = {'A' * 3_000_000!r}\nT = [len(PICTURE) / 3_000_000]\n{SMALL}",
        f"# half an emoji: \ud83d\n{RIGHT}",
        f"\ufeff{RIGHT}",
        pytest.param(f"T = [1, {'1234567, ' * 600_000}]\n{SMALL}", marks=pytest.mark.slow),
        pytest.param("T = [1]\n" + "x = 1\n" * 12_000 + SMALL, marks=pytest.mark.slow),
        pytest.param("T = []\n" + "T.append(1)\n" * 12_000 + SMALL, marks=pytest.mark.slow),
    ],
    ids=["3 MB of text", "half an emoji", "byte order mark", "a table of 600,000 numbers",
         "12,000 statements", "12,000 needed statements"],
)  # fmt: skip
def test_a_long_or_odd_cell_costs_no_marks(written, cell):
    result = verdicts(written("x = 2", cell, COUNT))
    assert result["last_step"].passed, result["last_step"]
    assert result["count_rnn_flops"].passed


def test_a_needed_statement_that_fails_is_named_with_its_line_and_reason(written):
    path = written("T = [2]", "print('table')\nT[0] = 1 / 0\n", SMALL)
    message = verdicts(path, only="last_step")["last_step"].message
    assert holds(message, "2", "2", "0", "1", "0", "ZeroDivisionError")


def test_a_magic_that_would_give_a_name_is_named_where_a_name_is_missing(written):
    message = verdicts(written("%run tables.py", SMALL), only="last_step")["last_step"].message
    assert holds(message, "1", "1", "tables.py")


@pytest.mark.parametrize("value", [None, 3, "x", True, [], {}, [None], [3], ["x"], [[]], [{}]])
@pytest.mark.parametrize("field", ["cells", "worksheets"])
def test_any_value_in_the_place_of_cells_is_read_or_refused_in_a_sentence(field, value):
    code_cell = {"cell_type": "code", "source": value, field: value}
    for notebook in ({field: value}, {"worksheets": [{field: value}]}, {"cells": [code_cell]}):
        with contextlib.suppress(Unusable):
            assert isinstance(cells(json.dumps(notebook), "a.ipynb"), list)


def test_damaged_notebooks_leave_no_traceback():
    tally, faults = fuzz_notebooks.fuzz(60, seed=1, every=60)
    assert not faults, faults[0]
    assert tally["read"] > 20
    assert tally["answers graded"] >= 1
    assert fuzz_notebooks.fuzz(20, seed=3) == fuzz_notebooks.fuzz(20, seed=3)
