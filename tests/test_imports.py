"""Dependencies point downward only, and `import rnnlab` brings nothing that makes a learner wait."""

import ast
import functools
import json
import subprocess
import sys

import pytest

from rnnlab.course import ROOT

# From the ground up, every part at a rank of its own: a part imports those before it, and no others.
CORE = (  # what is computed and when: all that a learner has to read
    "cells",
    "network",
    "reference",
    "scan",
    "newton",
    "compare",
    "devices",
    "picture",
    "graphs",
    "schedule",
    "ladder",
    "training",
    "tasks",
)
CORE_LINES = 5650  # a budget: what grows beyond it is a tool, or takes the place of something
GROUND = (
    "files",
    "printable",
    "resources",
    "percent",
    "exercise_text",
    "cache_model",
    "lambert",
    "figure_table",
    "slider_box",
)  # tools below the core
TOOLS = (
    "exchange",
    "compiling",
    "simulator",
    "cuda",
    "gpu",
    "kernels",
    "launching",
    "records",
    "scaling",
    "grading",
    "capstone",
    "checks",
    "front",
    "board",
    "pack_answers",
    "course",
    "lab",
    "drawings",
    "pen",
    "classroom",
    "views",
    "notebook",
    "cli",
)
PARTS = (*GROUND, *CORE, *TOOLS)
RANK = {part: rank for rank, part in enumerate(PARTS)}
INSIDE = {  # what is a part of its own within a folder
    "ladder.launching": "launching",
    "capstone.board": "board",
    "capstone.commands": "board",
    "grading.front": "front",
    "grading.classroom": "classroom",
}
SLOW = {"cupy", "greenlet", "IPython", "jupyterlab", "matplotlib", "numba", "numpy", "psutil", "scipy"}
SLOW |= {"PIL", "tqdm"}
MODULES = [path for path in sorted(ROOT.glob("rnnlab/**/*.py")) if path != ROOT / "rnnlab/__init__.py"]
name = lambda path: path.relative_to(ROOT / "rnnlab").as_posix()


def part(module):
    """The part of the package that a dotted name below `rnnlab.` belongs to."""
    inside = (own for start, own in INSIDE.items() if f"{module}.".startswith(f"{start}."))
    return next(inside, module.split(".")[0])


@functools.cache
def dotted(path):
    """Dotted names, split, that a module imports anywhere in its text."""
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return [name.split(".") for name in names]


def imported(path):
    """Names of our parts that a module imports."""
    return {part(".".join(rest)) for top, *rest in dotted(path) if top == "rnnlab" and rest}


def loaded_by(statement):
    """Top-level modules loaded after a statement, in a fresh process."""
    code = (
        f"{statement}\nimport json, sys; print(json.dumps(sorted({{m.split('.')[0] for m in sys.modules}})))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def part_of(path):
    return part(name(path).removesuffix(".py").removesuffix("/__init__").replace("/", "."))


def test_imports_point_downward_only():
    unranked = {part_of(path) for path in MODULES} - RANK.keys()
    assert not unranked, "say in PARTS at which rank they stand"
    upward = {}
    for path in MODULES:
        above = {other for other in imported(path) if RANK[other] > RANK[part_of(path)]}
        if above:
            upward[name(path)] = above
    assert not upward, "a part imports what lies above it"


def test_the_package_imports_none_of_the_programs_beside_it():
    beside = {"bench", "drawings", "pages"}
    assert not [name(path) for path in MODULES if beside & {top for top, *_ in dotted(path)}]


def test_every_part_is_there_once():
    assert len(set(PARTS)) == len(PARTS)
    assert {*map(part_of, MODULES)} == {*PARTS}


def test_the_core_stays_within_its_budget_of_lines():
    core = [path for path in MODULES if part_of(path) in CORE]
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in core)
    assert lines <= CORE_LINES, f"the core has {lines} lines"


def test_importing_rnnlab_loads_nothing_slow():
    assert not loaded_by("import rnnlab") & SLOW


def test_the_package_offers_what_it_lists():
    import rnnlab

    others = {"RUNGS", "cuda", "reference"}
    assert all(callable(getattr(rnnlab, word)) for word in {*rnnlab.__all__} - others)
    assert callable(rnnlab.reference.forward)
    assert callable(rnnlab.cuda.jit)
    assert rnnlab.RUNGS[0].name == "one_step_at_a_time"
    assert {*rnnlab.__all__} <= {*dir(rnnlab)}


def test_a_name_that_is_not_there_says_what_is():
    import rnnlab

    with pytest.raises(
        AttributeError, match="no attribute 'chekc'; it offers banner, check, compile_report, cuda"
    ):
        _ = rnnlab.chekc
