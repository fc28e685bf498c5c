"""Five packages in one order, all folders and files without circles, and a measure of what a line holds.

`import rnnlab` brings nothing that makes a learner wait.
"""

import ast
import functools
import json
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter

import pytest

from nbjudge.authoring.course import ROOT
from rnnlab.emit import files

MAY_IMPORT = {  # package: those of ours that it may import, anywhere in its text
    "pocketgpu": (),
    "ranks": (),
    "nbjudge": (),
    "rnnlab": ("pocketgpu", "ranks"),
    "rnncourse": ("pocketgpu", "ranks", "nbjudge", "rnnlab"),
}
STATEMENTS = 40_500  # of the five packages; a small change never meets it
NODES_A_STATEMENT = 12.5  # equinox has 10.1, nbgrader 10.3, optax 13.3
FOR_ANYTHING = ("pocketgpu", "ranks")  # they know of no network
NETWORKS = re.compile(r"\b(rnn|lstm|gru)s?\b|recurrent", re.I)
BESIDE = {"bench", "drawings", "pages", "tests"}  # programs that no package imports
SLOW = {"cupy", "greenlet", "IPython", "jupyterlab", "matplotlib", "numba", "numpy", "psutil", "scipy"}
SLOW |= {"PIL", "tqdm"}
DOCUMENTED = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
FILES = {name: sorted(ROOT.glob(f"{name}/**/*.py")) for name in MAY_IMPORT}
PROGRAMS = [path for name in BESIDE - {"tests"} for path in ROOT.glob(f"{name}/**/*.py")]


def dotted(path):
    """Dotted name of the module in a file."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {dotted(path): path for paths in (*FILES.values(), PROGRAMS) for path in paths}


@functools.cache
def imported(module):
    """Modules that a module of ours imports, within functions and for type checkers as well."""
    path, names = MODULES[module], set()
    package = module if path.stem == "__init__" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            home = ".".join([*above, *([node.module] if node.module else [])])
            names |= {f"{home}.{alias.name}" if f"{home}.{alias.name}" in MODULES else home
                      for alias in node.names}  # fmt: skip
    return names - {module}


def part(module):
    """The folder or the loose file of a package that a module belongs to."""
    return ".".join(module.split(".")[:2])


def circle(graph):
    """A circle in {node: nodes that it needs}; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def loaded_by(statement):
    """Top-level modules loaded after a statement, in a fresh process."""
    code = (
        f"{statement}\nimport json, sys; print(json.dumps(sorted({{m.split('.')[0] for m in sys.modules}})))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_a_package_imports_those_above_it_alone(package):
    allowed = {package, *MAY_IMPORT[package]}
    forbidden = ({*MAY_IMPORT} | BESIDE) - allowed
    crossing = {
        (dotted(path), name)
        for path in FILES[package]
        for name in imported(dotted(path))
        if name.partition(".")[0] in forbidden
    }
    assert not crossing


def test_no_circle_of_files():
    assert not circle({module: imported(module) & MODULES.keys() for module in MODULES})


def test_no_circle_of_folders():
    folders = {}
    for module in MODULES:
        parts = {part(name) for name in imported(module) & MODULES.keys()}
        folders.setdefault(part(module), set()).update(parts - {part(module), *MAY_IMPORT, *BESIDE})
    assert not circle(folders)


@functools.cache
def size(package):
    """Statements and syntax nodes of a package, without docstrings and without loops that nobody writes."""
    statements = 0
    nodes = 0
    for path in set(FILES[package]) - files.derived().keys():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            nodes += 1
            statements += isinstance(node, ast.stmt)
            if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
                statements -= 1
                nodes -= 2  # the statement and its text
    return statements, nodes


def test_the_packages_stay_within_their_statements():
    statements = {package: size(package)[0] for package in FILES}
    assert sum(statements.values()) <= STATEMENTS, f"{statements}: what grows says what it replaces"


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_a_statement_can_be_read(package):
    statements, nodes = size(package)
    density = nodes / statements
    remedy = "one assignment a line, `if` for a condition, a function for a long lambda"
    assert density <= NODES_A_STATEMENT, f"{density:.2f} syntax nodes a statement: {remedy}"


@pytest.mark.parametrize("package", FOR_ANYTHING)
def test_a_package_for_anything_speaks_of_no_recurrent_network(package):
    texts = [*FILES[package], ROOT / package / "README.md"]
    networks = {path.name: NETWORKS.findall(path.read_text(encoding="utf-8")) for path in texts}
    assert not {name: words for name, words in networks.items() if words}


def test_nbjudge_names_no_course():
    names = re.compile(r"rnnlab|rnncourse|pocketgpu|\branks\b", re.I)
    modules = {dotted(path): names.findall(path.read_text(encoding="utf-8")) for path in FILES["nbjudge"]}
    assert not {module for module, named in modules.items() if named}


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

    with pytest.raises(AttributeError, match=r"'chekc'.*compile_report"):
        _ = rnnlab.chekc
