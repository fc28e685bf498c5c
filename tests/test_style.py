"""The house style that a machine can judge. A limit changed here is a decision: its commit says why."""

import ast
import collections
import functools
import itertools
import re
import statistics

import pytest

from nbjudge.authoring.course import ROOT
from rnncourse.course import PACKAGES
from rnnlab.emit.files import COPIES

FILE_STATEMENTS = 330  # statements and not lines: nothing is gained by joining two of them
FUNCTION_STATEMENTS = 35
KERNEL_STATEMENTS = 45  # of rnnlab/kernels
FUNCTION_MEDIAN = 8  # over the package, docstrings not counted
NESTING = 3  # statements that hold one another inside a function; two is the rule, three the limit
LESSON_FUNCTION_LINES = 15  # what is longer stands in rnnlab and is shown from there
PLAIN_LINES = 2  # a body this short may say by itself what it does
COPY_LINES = 6  # a body this long that stands twice is a copy
JUNK_DRAWERS = {"utils", "util", "helpers", "helper", "common", "misc", "tools", "manager"}
PRONOUNS = set(  # and participles: a name is the noun that the field's manuals print
    "each found told asked kept said given made sent held there here nothing some".split()
)
NO_OPENINGS = {"Of", "As", "Who", "By"}  # a docstring begins with a noun or a verb
NO_NAMES = re.compile(r"^(get|do)_|_v\d+$|^(helper|utils?|tmp|ret)$")

BESIDE = ("bench/**/*.py", "drawings/*.py", "pages/**/*.py", "docs/*.py")  # programs beside the package
PROGRAMS = [path for pattern in BESIDE for path in ROOT.glob(pattern)]
PACKAGE = sorted([*(path for name in PACKAGES for path in ROOT.glob(f"{name}/**/*.py")), *PROGRAMS])
ANSWERS = sorted(ROOT.glob("tests/answers/*/*.py"))  # cells of programs as learners write them
TESTS = sorted({*ROOT.glob("tests/**/*.py")} - {*ANSWERS})
COLLECTIONS = {  # one kernel after another, in the styles of others
    *("faulty_kernels.py", "sound_kernels.py"),
    *("right_kernels_of_learners.py", "wrong_kernels_of_learners.py"),
}
LESSONS = sorted(ROOT.glob("notebooks/source/*.py"))
SOURCES = [*LESSONS, *sorted(ROOT.glob("solutions/source/*.py"))]
WORKER = ROOT / "nbjudge/running/inside"  # also runs where there is no package rnnlab
# one contract for all: a rung's, that of the exercise judged
CONTRACTED = {"ladder", "kernels", "checks", "halide", "look_back.py"}
HOLDS = (ast.If, ast.For, ast.While, ast.Try, ast.Match)
name = lambda path: path.relative_to(ROOT).as_posix()


@pytest.fixture(autouse=True, scope="module")
def forgotten_trees():
    """None is kept for the tests that follow: Python would look through a million nodes for garbage."""
    yield
    tree.cache_clear()
    nodes.cache_clear()


@functools.cache
def tree(path):
    """The syntax tree of a file, one for all rules."""
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def nodes(path):
    """All nodes of that tree: to walk through the trees takes longer than what the rules do."""
    return [*ast.walk(tree(path))]


def functions(path):
    return [n for n in nodes(path) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]


def body(function):
    """The statements below the docstring: a new docstring does not hide a copy."""
    return function.body[ast.get_docstring(function) is not None :]


def lines(statements):
    return statements[-1].end_lineno - statements[0].lineno + 1 if statements else 0


def depth(node):
    """How many statements hold one another below this one; `elif` stands beside its `if`, not below."""
    deepest = 0
    for child in ast.iter_child_nodes(node):
        beside = isinstance(node, ast.If) and [child] == node.orelse and isinstance(child, ast.If)
        deepest = max(deepest, depth(child) + (isinstance(child, HOLDS) and not beside))
    return deepest


def statements(node):
    """Number of statements in a tree, its own included."""
    return sum(isinstance(child, ast.stmt) for child in ast.walk(node))


def test_a_file_says_what_it_is_for_and_fits_on_a_few_screens():
    files = [*PACKAGE, *TESTS]
    silent = [name(path) for path in files if not ast.get_docstring(tree(path))]
    others = [path for path in files if path.name not in COLLECTIONS]
    long = [name(path) for path in others if statements(tree(path)) > FILE_STATEMENTS]
    drawers = [name(path) for path in files if path.stem in JUNK_DRAWERS]
    assert not silent, "the first line of a module says what it is for"
    assert not long, f"more than {FILE_STATEMENTS} statements"
    assert not drawers, "put each piece beside the noun it serves"


def test_a_function_fits_on_a_screen_and_nests_little():
    sites = [(f"{name(path)}:{f.name}", path, f) for path in [*PACKAGE, *TESTS] for f in functions(path)]
    limit = lambda path: KERNEL_STATEMENTS if "kernels" in path.parts else FUNCTION_STATEMENTS
    long = [site for site, path, f in sites if statements(f) > limit(path)]
    others = lambda path: path.name in COLLECTIONS or path.parent.name == "attacks"
    deep = [site for site, path, f in sites if not others(path) and depth(f) > NESTING]
    vague = [site for site, _, f in sites if NO_NAMES.search(f.name)]
    assert not long, f"more than {FUNCTION_STATEMENTS} statements"
    assert not deep, f"more than {NESTING} statements that hold one another"
    assert not vague, "a function is named by what it returns or does"


def assigned(path):
    """Names of variables, parameters and fields that a file introduces, with their lines."""
    for child in nodes(path):
        if isinstance(child, ast.arg):
            yield child.arg, child.lineno
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id, child.lineno


def test_a_name_is_a_noun_and_a_docstring_begins_with_a_noun_or_a_verb():
    pronouns, openings = [], []
    for path in [*PACKAGE, *TESTS]:
        pronouns += [f"{name(path)}:{line}: {word}" for word, line in assigned(path) if word in PRONOUNS]
        classes = [n for n in nodes(path) if isinstance(n, ast.ClassDef)]
        for node in [tree(path), *functions(path), *classes]:
            first = (ast.get_docstring(node) or " ").split(" ")[0]
            if first in NO_OPENINGS:
                openings.append(f"{name(path)}:{getattr(node, 'name', 'module')}: {first} …")
    assert not pronouns, "name the thing, with the noun that the field's manuals print"
    assert not openings, "a docstring begins with a noun or a verb"


def bare_counts(path):
    """Lines of f-strings whose number stands before a plural, be it 1 or more."""
    nouns = re.compile(r" (launches|sectors|barriers|atomics|bank conflicts)\b")
    for node in nodes(path):
        parts = node.values if isinstance(node, ast.JoinedStr) else []
        for count, text in itertools.pairwise(parts):
            is_number = isinstance(count, ast.FormattedValue) and isinstance(text, ast.Constant)
            if is_number and nouns.match(text.value):
                yield f"{name(path)}:{node.lineno}"


def test_what_a_launch_counts_agrees_with_its_noun():
    sites = [site for path in PACKAGE for site in bare_counts(path)]
    assert not sites, "write quantity(count, 'launch'): 1 launch, 2 launches"


def import_faults(path):
    """Relative and star imports of a file, and errors that it swallows."""
    text = path.read_text(encoding="utf-8").split("\n")
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom):
            if node.level and path.parent != WORKER:
                yield f"{name(path)}:{node.lineno}: imports are absolute"
            if node.names[0].name == "*":
                yield f"{name(path)}:{node.lineno}: a star hides where names come from"
        if isinstance(node, ast.ExceptHandler):
            if not node.type:
                yield f"{name(path)}:{node.lineno}: name the error; a bare except also stops Ctrl-C"
            if all(isinstance(s, ast.Pass) and "#" not in text[s.lineno - 1] for s in node.body):
                yield f"{name(path)}:{node.lineno}: an error is swallowed and nothing says why"


def test_imports_name_what_they_bring_and_no_error_is_swallowed():
    assert not [fault for path in [*PACKAGE, *TESTS, *SOURCES] for fault in import_faults(path)]


def public(path):
    """Functions and classes of a module that others may use."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    return [n for n in tree(path).body if isinstance(n, kinds) and n.name[0] != "_"]


def untold(node):
    """What a public function or class leaves unsaid: its docstring, types of arguments."""
    plain = isinstance(node, ast.FunctionDef) and lines(body(node)) <= PLAIN_LINES
    if not plain and not ast.get_docstring(node):
        yield f"{node.name} has no docstring"
    methods = (n for n in node.body if isinstance(n, ast.FunctionDef))
    for f in [node] if isinstance(node, ast.FunctionDef) else methods:
        arguments = [*f.args.posonlyargs, *f.args.args, *f.args.kwonlyargs]
        untyped = [a.arg for a in arguments if not a.annotation and a.arg not in ("self", "cls")]
        if f.name[0] != "_" and untyped:
            yield f"{f.name}: {untyped} have no type"


def test_what_is_public_says_what_it_is_and_takes():
    paths = [path for path in PACKAGE if not CONTRACTED & {*path.parts}]
    assert not [f"{name(p)}: {fault}" for p in paths for node in public(p) for fault in untold(node)]


SHAPE = re.compile(r"\[[\w·+,-]+\]|\bany shape\b")  # [T,B,I], [n], [G·H,H]
ARRAY = re.compile(r"\b(ndarray|Array|State)\b")
SHAPED = 0.8  # of the public functions that take or return arrays


def test_public_functions_state_the_shapes_of_their_arrays():
    """In their own docstring, or in that of the module or class that has the contract of several."""
    stated, silent = 0, []
    for site, f, contract in array_functions():
        own = ast.get_docstring(f) or ""
        if any(map(SHAPE.search, [own, *contract])):
            stated += 1
        else:
            silent.append(site)
    assert stated >= SHAPED * (stated + len(silent)), silent


def array_functions():
    """(site, function, docstrings around it) of each public function whose signature has arrays."""
    for path, node in [(module, node) for module in PACKAGE for node in public(module)]:
        is_class = isinstance(node, ast.ClassDef)
        contract = [ast.get_docstring(place) or "" for place in [tree(path), *[node] * is_class]]
        for f in node.body if is_class else [node]:
            if isinstance(f, ast.FunctionDef) and f.name[0] != "_" and takes_arrays(f):
                yield f"{name(path)}:{f.name}", f, contract


def takes_arrays(function):
    """Whether a function's signature has arrays."""
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    types = [argument.annotation for argument in arguments] + [function.returns]
    return any(ARRAY.search(ast.unparse(kind)) for kind in types if kind)


def test_functions_of_the_package_are_short():
    sizes = [lines(body(f)) for path in PACKAGE for f in functions(path)]
    assert statistics.median(sizes) <= FUNCTION_MEDIAN


def copies(paths):
    """Where function bodies of COPY_LINES and more stand twice."""
    bodies = collections.defaultdict(list)
    for path in paths:
        for f in functions(path):
            if lines(body(f)) >= COPY_LINES:
                bodies[ast.dump(ast.Module(body(f), []))].append(f"{name(path)}:{f.name}")
    return [twice for twice in bodies.values() if len(twice) > 1]


def test_nothing_is_written_twice():
    copied = {ROOT / path for path in COPIES}
    assert not copies([path for path in [*PACKAGE, *TESTS, *LESSONS] if path not in copied])


def test_no_solution_repeats_a_lesson_or_another_solution():
    # a check may repeat the solution it judges: a notebook handed to a learner stands alone
    assert not copies(SOURCES)


def test_a_lesson_defines_only_the_small_thing_it_is_about():
    defined = [(name(path), f) for path in LESSONS for f in functions(path)]
    long = [(path, f.name) for path, f in defined if f.end_lineno - f.lineno >= LESSON_FUNCTION_LINES]
    assert not long, "a long function belongs into rnnlab"
    assert not [n.name for path in LESSONS for n in nodes(path) if isinstance(n, ast.ClassDef)]


def can_fail(test):
    """Whether a test asserts something, or calls what does."""
    calls = " ".join(ast.unparse(c.func) for c in ast.walk(test) if isinstance(c, ast.Call))
    asserts = any(isinstance(n, ast.Assert) for n in ast.walk(test))
    return asserts or re.search(r"raises|warns|assert|fail", calls)


def test_a_test_is_named_by_a_sentence_and_asserts_something():
    tests = [(name(p), f) for p in TESTS for f in functions(p) if f.name.startswith("test_")]
    assert not [(path, f.name) for path, f in tests if f.name.count("_") < 3], "a test's name is a sentence"
    assert not [(path, f.name) for path, f in tests if not can_fail(f)], "a test that cannot fail"


def test_no_comment_promises_work_without_an_issue():
    promise = re.compile(r"#.*\b(TODO|FIXME|XXX)\b(?!.*#\d)")
    texts = {
        name(p): p.read_text(encoding="utf-8")
        for p in [*PACKAGE, *TESTS, *SOURCES]
        if p.name != "test_style.py"
    }
    assert not [file for file, text in texts.items() if promise.search(text)]
