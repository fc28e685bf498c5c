"""The house style that a machine can judge. A limit changed here is a decision: its commit says why."""

import ast
import collections
import re
import statistics

import pytest

from rnnlab.course import ROOT

FILE_LINES = 400
FUNCTION_LINES = 40  # from `def` to the last line, docstring included
FUNCTION_MEDIAN = 8  # over the package, docstrings not counted
NESTING = 3  # statements that hold one another inside a function; two is the rule, three the limit
LESSON_FUNCTION_LINES = 15  # what is longer stands in rnnlab and is shown from there
PLAIN_LINES = 2  # a body this short may say by itself what it does
COPY_LINES = 6  # a body this long that stands twice is a copy
FILE_BYTES = 300_000  # of a tracked file
JUNK_DRAWERS = {"utils", "util", "helpers", "helper", "common", "misc", "tools", "manager"}
PRONOUNS = set(  # and participles: a name is the noun that the field's manuals print
    "each found told asked kept said given made sent held there here nothing some".split()
)
NO_OPENINGS = {"Of", "As", "Who", "By"}  # a docstring begins with a noun or a verb
NO_NAMES = re.compile(r"^(get|do)_|_v\d+$|^(helper|utils?|tmp|ret)$")

PROGRAMS = [*ROOT.glob("bench/**/*.py"), *ROOT.glob("pages/**/*.py"), *ROOT.glob("docs/*.py")]
PACKAGE = sorted([*ROOT.glob("rnnlab/**/*.py"), *PROGRAMS])
ANSWERS = sorted(ROOT.glob("tests/answers/*/*.py"))  # cells of programs as learners write them
TESTS = sorted({*ROOT.glob("tests/**/*.py")} - {*ANSWERS})
COLLECTIONS = {"faulty_kernels.py", "sound_kernels.py"}  # one kernel after another, in the styles of others
LESSONS = sorted(ROOT.glob("notebooks/source/*.py"))
SOURCES = [*LESSONS, *sorted(ROOT.glob("solutions/source/*.py"))]
WORKER = ROOT / "rnnlab/grading/inside"  # also runs where there is no package rnnlab
CONTRACTED = {"ladder", "kernels", "checks"}  # one contract for all: a rung's, that of the exercise judged
HOLDS = (ast.If, ast.For, ast.While, ast.Try, ast.Match)
name = lambda path: path.relative_to(ROOT).as_posix()


def tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def functions(node):
    return [n for n in ast.walk(node) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]


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


@pytest.mark.parametrize("path", [*PACKAGE, *TESTS], ids=name)
def test_a_file_says_what_it_is_for_and_fits_on_a_few_screens(path):
    assert ast.get_docstring(tree(path)), "the first line of a module says what it is for"
    assert path.name in COLLECTIONS or len(path.read_text(encoding="utf-8").splitlines()) <= FILE_LINES
    assert path.stem not in JUNK_DRAWERS, "put each piece beside the noun it serves"


@pytest.mark.parametrize("path", [*PACKAGE, *TESTS], ids=name)
def test_a_function_fits_on_a_screen_and_nests_little(path):
    for f in functions(tree(path)):
        assert f.end_lineno - f.lineno < FUNCTION_LINES, f"{f.name} is longer than {FUNCTION_LINES} lines"
        assert path.name in COLLECTIONS or depth(f) <= NESTING, f"{f.name} nests {depth(f)} statements"
        assert not NO_NAMES.search(f.name), f"{f.name}: a function is named by what it returns or does"


def assigned(node):
    """Names of variables, parameters and fields that a tree introduces, with their lines."""
    for child in ast.walk(node):
        if isinstance(child, ast.arg):
            yield child.arg, child.lineno
        elif isinstance(child, ast.Name) and isinstance(child.ctx, ast.Store):
            yield child.id, child.lineno


@pytest.mark.parametrize("path", [*PACKAGE, *TESTS], ids=name)
def test_a_name_is_a_noun_and_a_docstring_begins_with_a_noun_or_a_verb(path):
    module = tree(path)
    pronouns = [f"line {line}: {word}" for word, line in assigned(module) if word in PRONOUNS]
    assert not pronouns, "name the thing, with the noun that the field's manuals print"
    for node in [module, *functions(module), *(n for n in ast.walk(module) if isinstance(n, ast.ClassDef))]:
        first = (ast.get_docstring(node) or " ").split(" ")[0]
        assert first not in NO_OPENINGS, f"{getattr(node, 'name', 'module')}: {first} … is no beginning"


@pytest.mark.parametrize("path", [*PACKAGE, *TESTS, *SOURCES], ids=name)
def test_imports_name_what_they_bring_and_no_error_is_swallowed(path):
    text = path.read_text(encoding="utf-8").split("\n")
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0 or path.parent == WORKER, f"line {node.lineno}: imports are absolute"
            assert node.names[0].name != "*", f"line {node.lineno}: a star hides where names come from"
        if isinstance(node, ast.ExceptHandler):
            assert node.type, f"line {node.lineno}: name the error; a bare except also stops Ctrl-C"
            silent = all(isinstance(s, ast.Pass) and "#" not in text[s.lineno - 1] for s in node.body)
            assert not silent, f"line {node.lineno}: an error is swallowed and nothing says why"


def public(path):
    """Functions and classes of a module that others may use."""
    kinds = (ast.FunctionDef, ast.ClassDef)
    return [n for n in tree(path).body if isinstance(n, kinds) and n.name[0] != "_"]


@pytest.mark.parametrize("path", [p for p in PACKAGE if not CONTRACTED & {*p.parts}], ids=name)
def test_what_is_public_says_what_it_is_and_takes(path):
    for node in public(path):
        plain = isinstance(node, ast.FunctionDef) and lines(body(node)) <= PLAIN_LINES
        assert plain or ast.get_docstring(node), f"{node.name} has no docstring"
        methods = (
            [node] if isinstance(node, ast.FunctionDef) else [n for n in node.body if n in functions(node)]
        )
        for f in methods:
            arguments = [*f.args.posonlyargs, *f.args.args, *f.args.kwonlyargs]
            untyped = [a.arg for a in arguments if not a.annotation and a.arg not in ("self", "cls")]
            assert f.name[0] == "_" or not untyped, f"{f.name}: {untyped} have no type"


def test_functions_of_the_package_are_short():
    sizes = [lines(body(f)) for path in PACKAGE for f in functions(tree(path))]
    assert statistics.median(sizes) <= FUNCTION_MEDIAN


def copies(paths):
    """Where function bodies of COPY_LINES and more stand twice."""
    bodies = collections.defaultdict(list)
    for path in paths:
        for f in functions(tree(path)):
            if lines(body(f)) >= COPY_LINES:
                bodies[ast.dump(ast.Module(body(f), []))].append(f"{name(path)}:{f.name}")
    return [twice for twice in bodies.values() if len(twice) > 1]


def test_nothing_is_written_twice():
    assert not copies([*PACKAGE, *TESTS, *LESSONS])


def test_no_solution_repeats_a_lesson_or_another_solution():
    # a check may repeat the solution it judges: a notebook handed to a learner stands alone
    assert not copies(SOURCES)


@pytest.mark.parametrize("path", LESSONS, ids=name)
def test_a_lesson_defines_only_the_small_thing_it_is_about(path):
    for f in functions(tree(path)):
        assert f.end_lineno - f.lineno < LESSON_FUNCTION_LINES, f"{f.name} belongs into rnnlab"
    assert not [n.name for n in ast.walk(tree(path)) if isinstance(n, ast.ClassDef)]


@pytest.mark.parametrize("path", TESTS, ids=name)
def test_a_test_is_named_by_a_sentence_and_asserts_something(path):
    for f in functions(tree(path)):
        if f.name.startswith("test_"):
            assert f.name.count("_") >= 3, f"{f.name} is no sentence"
            calls = " ".join(ast.unparse(c.func) for c in ast.walk(f) if isinstance(c, ast.Call))
            asserts = any(isinstance(n, ast.Assert) for n in ast.walk(f))
            assert asserts or re.search(r"raises|warns|assert|fail", calls), f"{f.name} cannot fail"


def test_no_comment_promises_work_without_an_issue():
    promise = re.compile(r"#.*\b(TODO|FIXME|XXX)\b(?!.*#\d)")
    texts = {
        name(p): p.read_text(encoding="utf-8")
        for p in [*PACKAGE, *TESTS, *SOURCES]
        if p.name != "test_style.py"
    }
    assert not [file for file, text in texts.items() if promise.search(text)]
