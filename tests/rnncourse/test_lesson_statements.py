"""Statements of lessons that are held against what they speak of: data, code, or the lesson's own cells."""

import ast
import contextlib
import io
import re
from collections.abc import Iterator

import numpy as np
import pytest

from nbjudge.authoring.course import ROOT
from nbjudge.authoring.percent import parse
from rnncourse.lab import svail_gemm
from rnncourse.lab.roofline import Roofline
from rnncourse.views.gradient_flow import gains
from rnncourse.views.roofline_view import _moved, _roofs
from rnnlab.graphs.cells import step_graph
from rnnlab.graphs.mirror import mirror
from rnnlab.graphs.plan import cheapest
from rnnlab.tasks import rotated_images, text


def code_cells(lesson: str) -> list[str]:
    """The code cells of a lesson."""
    source = (ROOT / "notebooks" / "source" / f"{lesson}.py").read_text(encoding="utf-8")
    return [cell.text for cell in parse(source, lesson) if cell.kind == "code"]


def source_of(number: str) -> str:
    """The text of the lesson with this number."""
    (path,) = (ROOT / "notebooks" / "source").glob(f"{number}_*.py")
    return path.read_text(encoding="utf-8")


def run_step(old: str = "", new: str = "") -> list[list[str]]:
    """The rows that lesson 02 prints about its step backward, with one edit of its cells."""
    cells = code_cells("02_bptt")
    end = next(n for n, cell in enumerate(cells) if "central_differences(loss, array)" in cell)
    printed, namespace = io.StringIO(), {}
    for cell in cells[: end + 1]:
        with contextlib.redirect_stdout(printed):
            exec(cell.replace(old, new) if old else cell, namespace)
    return [
        line.split() for line in printed.getvalue().splitlines() if line.startswith(("dx", "dh_", "dw", "db"))
    ]


def test_a_step_backward_agrees_with_central_differences_in_all_five_results():
    rows = run_step()
    assert [row[0] for row in rows] == ["dx", "dh_before", "dweight_ih", "dweight_hh", "dbias"]
    assert all(float(largest) > 0.5 and float(off) < 1e-8 for _, largest, _, off in rows)


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("da.T @ h_before", "h_before.T @ da", 3),
        ("da.T @ h_before", "1000 * da.T @ h_before", 3),
        ("da @ weight_hh", "da @ weight_hh.T", 1),
        ("1 - h_after**2", "1 - h_after", 0),
    ],
)
def test_a_wrong_expression_of_the_step_backward_shows_in_both_comparisons(old, new, place):
    _, _, own, numeric = run_step(old, new)[place]
    assert min(float(own), float(numeric)) > 0.1


@pytest.mark.parametrize("lesson", ["00", "01", "02", "03", "04"])
def test_the_claim_is_a_question_and_its_answer_stands_in_the_recap(lesson):
    claim, recap = (
        re.search(pattern, source_of(lesson), re.S)[1]
        for pattern in (r"\*\*Claim to test: (.*?)\*\*", r"## Recap\n#\n# [^#]*?\*\*(.*?)\*\*")
    )
    assert "?" in claim
    assert "?" not in recap


@pytest.mark.parametrize(
    ("lesson", "answer"),
    [("00", "shared_weights"), ("02", "arrows_back"), ("04", "graph_and_mirror")],
)
def test_the_drawing_that_answers_a_lesson_stands_behind_a_prediction(lesson, answer):
    before, _ = source_of(lesson).split(f'drawings.show("{answer}")')
    assert re.search(r"my_guess = \{2: \.\.\.|\*\*Predict:\*\*", before)
    assert 'drawings.show("' in before


def test_lesson_02_states_what_the_picture_of_vanishing_gradients_shows():
    size = lambda radius: gains(radius, 100)
    stated = f"{next(k for k in range(101) if size(0.9)[k] < 1e-3)} steps", f"{size(1.15)[-1]:.2f} are left"
    stated += f"At 1.0 it is {size(1.0)[-1]:.4f}", f"at 1.5 it is {float(f'{size(1.5)[-1]:.2g}'):.0f}"
    assert not [sentence for sentence in stated if sentence not in source_of("02")]


def test_lesson_04_states_what_the_search_for_plans_finds():
    graph, wire = step_graph("gru_after", 64, 512, 512), 4 * 64 * 512
    product, alive = "h·U_nᵀ+c_n", ("x·W_nᵀ+b_n",)
    plans = {
        (wires, kept_wires): cheapest(graph, mirror(graph), wires * wire, kept_wires)
        for wires, kept_wires in ((3, alive), (2, alive), (3, ()))
    }
    assert [{*plan.saved} for plan in plans.values()] == [{product, "r", "z"}, {"r", "z"}, {"r", "z", "n"}]
    work = [float(f"{plan.extra_flops / 1e6:.2g}") for plan in plans.values()]
    assert work == [0.13, 34, 34]
    assert all(f"({flop:g} MFLOP)" in source_of("04") for flop in work)


def test_the_shares_and_the_price_of_125_sequences_are_those_that_lesson_05_states():
    """Time of a sequence is one over the rate."""
    at = dict(zip(svail_gemm.MINIBATCHES, svail_gemm.FORWARD[2560], strict=True))
    shares = [f"{rate / svail_gemm.PEAK:.0%}".replace("%", " %") for rate in at[32]]
    prices = [f"{full / odd:.2f}" for full, odd in zip(at[128], svail_gemm.ODD_2560[125], strict=True)]
    source = (ROOT / "notebooks/source/05_gemm_shapes.py").read_text(encoding="utf-8")
    assert f"{shares[0]} and {shares[1]}:" in source
    assert f"{prices[0]} or {prices[1]} times" in source


def test_the_ninth_target_of_the_rotated_digits_is_the_sharp_one():
    size = (rotated_images.task().held_out.target ** 2).mean(axis=(1, 2))
    assert size.argmax() == 8
    assert size[8] > 1.1 * np.delete(size, 8).max()


def test_the_baseline_of_text_is_a_distribution_and_no_single_character():
    assert np.isfinite(text.task(steps=8).baseline.value)
    assert "most often" not in text.task().baseline.what


def test_a_roofline_shows_points_far_above_and_below_its_roof():
    roof = Roofline(peak=4.0, bandwidth=20.0)
    figure = _moved(_roofs(roof, {(2, 1024): 0.001, (32, 1024): 62.5}), roof, 4, 1024)
    low, high = figure.axes[0].get_ylim()
    assert low < 0.001
    assert high > 62.5


OWN_NAMES = ast.FunctionDef | ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
LESSONS = sorted(path.stem for path in (ROOT / "notebooks" / "source").glob("*.py"))


def of_the_cell(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a cell, without what stands inside functions and comprehensions."""
    yield node
    for child in () if isinstance(node, OWN_NAMES) else ast.iter_child_nodes(node):
        yield from of_the_cell(child)


def names(nodes, context: type) -> set[str]:
    """Names that are read (ast.Load) or bound (ast.Store)."""
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, context)}


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_loop_of_a_lesson_binds_no_name_that_a_function_above_reads(lesson):
    read: set[str] = set()
    for tree in map(ast.parse, code_cells(lesson)):
        loops = [node for node in of_the_cell(tree) if isinstance(node, ast.For)]
        bound = {name for loop in loops for name in names(ast.walk(loop.target), ast.Store)}
        assert not bound & read, f"the next call reads what the loop leaves in {bound & read}"
        for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
            own = {argument.arg for argument in ast.walk(function) if isinstance(argument, ast.arg)}
            inside = list(ast.walk(function))
            read |= names(inside, ast.Load) - names(inside, ast.Store) - own


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_verdict_of_a_lesson_reads_names_that_one_cell_binds(lesson):
    trees = [*map(ast.parse, code_cells(lesson))]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    verdicts = [call for call in calls if getattr(call.func, "id", "") == "verdict"]
    for name in {name for call in verdicts for name in names(ast.walk(call), ast.Load)}:
        cells = [tree for tree in trees if name in names(of_the_cell(tree), ast.Store)]
        assert len(cells) <= 1, f"{name} is bound in {len(cells)} cells: which of them does the verdict mean?"
