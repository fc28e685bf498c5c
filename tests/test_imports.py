"""Dependencies point downward only, and `import rnnlab` brings nothing that makes a learner wait."""

import ast
import json
import subprocess
import sys

import pytest

from rnnlab.course import ROOT

# From the ground up: a part imports those of its own line and of the lines above it here.
LAYERS = (
    {"cells", "network", "exchange", "printable", "reference"},
    {"compare", "devices", "percent", "picture"},
    {"compiling", "cuda", "graphs", "ladder", "records", "schedule", "simulator"},
    {"tasks", "training"},
    {"checks", "course", "grading"},
    {"machine", "bench", "widgets"},
    {"notebook"},
    {"cli"},
)
FOUNDATIONS = {  # modules that stand lower than the part they lie in
    "widgets.picture": "picture",  # palette and text alternative of every picture, wherever it is drawn
    "machine.cache_model": "devices",  # counts for a check as well as for a picture
    "machine.devices": "devices",  # data sheets: models and the simulator need them
}
RANK = {part: rank for rank, parts in enumerate(LAYERS) for part in parts}
SLOW = {"cupy", "greenlet", "IPython", "jupyterlab", "matplotlib", "numba", "numpy", "psutil", "scipy"}
SLOW |= {"sklearn", "tqdm"}
MODULES = [path for path in sorted(ROOT.glob("rnnlab/**/*.py")) if path != ROOT / "rnnlab/__init__.py"]
name = lambda path: path.relative_to(ROOT / "rnnlab").as_posix()


def part(module):
    """The part of the package that a dotted name below `rnnlab.` belongs to."""
    lower = (own for start, own in FOUNDATIONS.items() if module.startswith(start))
    return next(lower, module.split(".")[0])


def imported(path):
    """Names of our parts that a module imports anywhere in its text."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (part(each.removeprefix("rnnlab.")) for each in names if each.startswith("rnnlab."))


def loaded_by(statement):
    """Top-level modules loaded after a statement, in a fresh process."""
    code = (
        f"{statement}\nimport json, sys; print(json.dumps(sorted({{m.split('.')[0] for m in sys.modules}})))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_imports_point_downward_only(path):
    own = part(name(path).removesuffix(".py").replace("/", "."))
    assert own in RANK, f"say in LAYERS where {own} stands"
    upward = {other for other in imported(path) if RANK.get(other, -1) > RANK[own]}
    assert not upward, f"{own} lies below {upward}"


def test_importing_rnnlab_loads_nothing_slow():
    assert not loaded_by("import rnnlab") & SLOW


def test_the_package_offers_what_it_lists():
    import rnnlab

    assert all(callable(getattr(rnnlab, each)) for each in rnnlab.__all__)
    assert {*rnnlab.__all__} <= {*dir(rnnlab)}


def test_a_name_that_is_not_there_says_what_is():
    import rnnlab

    with pytest.raises(
        AttributeError, match="no attribute 'chekc'; it offers banner, check, compile_report, hint"
    ):
        _ = rnnlab.chekc
