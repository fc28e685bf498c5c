"""What Python runs and a GPU's compiler refuses, seen in a kernel's text.

A thread on a GPU has registers and arrays of fixed size.  Lists, dictionaries and sets would need memory from
a heap, exceptions a stack to unwind, a module's variables a place that all threads share: in Python they
would serve as memory that nobody counts or checks.  Strict mode (strict.py) asks Numba itself for
everything else.
"""

import ast
import builtins
import tomllib
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import CellType, FunctionType, ModuleType

import numpy as np

from pocketgpu.simulator.source import definition_of
from pocketgpu.simulator.threads import Finding
from pocketgpu.simulator.translation import is_library

MUTABLE = (list, dict, set, bytearray)
TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_known: dict[int, tuple[FunctionType, tuple[Finding, ...]]] = {}  # by id: the function and its findings


def refused(function: Callable) -> tuple[Finding, ...]:
    """Findings for a kernel and the functions that it calls; empty where its text is not available."""
    if id(function) not in _known:
        _known[id(function)] = function, tuple(_refused(function, set(), is_kernel=True))
    return _known[id(function)][1]


def _refused(function: FunctionType, visited: set[int], is_kernel: bool) -> Iterator[Finding]:
    visited.add(id(function.__code__))
    tree = definition_of(function)
    if tree is None:
        return
    outside = _outside(function)
    for value in function.__defaults__ or ():
        if isinstance(value, MUTABLE):
            yield _finding(
                function.__code__.co_firstlineno, f"a {type(value).__name__} as a default", "use a tuple"
            )
    for node in ast.walk(tree):
        for what, remedy in (*_faults(node, outside), *_sizes(node, tree.args)):
            line = node.handlers[0].lineno if getattr(node, "handlers", None) else node.lineno
            yield _finding(line, what, remedy)
    if is_kernel:
        for line in _returned(tree):
            yield _finding(line, "a kernel that returns a value", "store it in an array")
    for name in {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} & outside.keys():
        called = getattr(outside[name], "py_func", outside[name])
        if isinstance(called, FunctionType) and id(called.__code__) not in visited and not is_library(called):
            yield from _refused(called, visited, is_kernel=False)


def _faults(node: ast.AST, outside: dict) -> Iterator[tuple[str, str]]:
    """(what a GPU's compiler does not take, what to do) for one node of the kernel's tree."""
    kind = type(node).__name__
    if kind in TABLES["displays"] and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        yield TABLES["displays"][kind], "use a tuple, or cuda.local.array with a fixed size"
    elif kind in TABLES["statements"]:
        yield TABLES["statements"][kind]
    elif isinstance(node, ast.Name) and isinstance(outside.get(node.id), MUTABLE):
        what = f"{node.id}, a {type(outside[node.id]).__name__} defined outside the kernel"
        yield what, "use a tuple for constants, and pass an array for the rest"
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        if isinstance(node.value, ast.Name) and isinstance(outside.get(node.value.id), np.ndarray):
            yield (
                f"a store into {node.value.id} from outside",
                "pass the array: what lies outside is constant",
            )
    elif isinstance(node, ast.Call):
        yield from _wrong_calls(node, outside)
        called = _named(node.func, ChainMap(outside, vars(builtins)))
        if isinstance(called, type) and called in MUTABLE:
            yield f"a {called.__name__}", "use a tuple, or cuda.local.array with a fixed size"
        elif called is not None and any(called is getattr(np, name) for name in TABLES["makers"]):
            yield f"np.{called.__name__}", "a thread has no memory for arrays: use cuda.local.array"


def _wrong_calls(node: ast.Call, outside: dict) -> Iterator[tuple[str, str]]:
    """A launch, and a call of a function that is not for kernels."""
    if isinstance(node.func, ast.Subscript) and hasattr(_named(node.func.value, outside), "forall"):
        yield (
            f"a launch of {ast.unparse(node.func.value)}",
            "a kernel launches no kernels: call a device function without [ ], or launch twice",
        )
    called = _named(node.func, outside)
    if isinstance(called, FunctionType) and not hasattr(called, "py_func") and not is_library(called):
        name = ast.unparse(node.func)
        yield f"{name} is a function of Python alone", f"decorate {name} with @cuda.jit(device=True)"


def _named(node: ast.expr, outside: Mapping[str, object]) -> object:
    """The object that a name or module.name stands for; None where that is unknown."""
    if isinstance(node, ast.Name):
        return outside.get(node.id)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        module = outside.get(node.value.id)
        return getattr(module, node.attr, None) if isinstance(module, ModuleType | type) else None
    return None


def _sizes(node: ast.AST, arguments: ast.arguments) -> Iterator[tuple[str, str]]:
    """cuda.shared.array(n), where n comes with the launch, and cuda.local.array."""
    match node:
        case ast.Call(
            ast.Attribute(ast.Attribute(_, "shared" | "local") | ast.Name("shared" | "local"), "array")
        ):
            shapes = [*node.args[:1], *(word.value for word in node.keywords if word.arg == "shape")]
            used = {name.id for shape in shapes for name in ast.walk(shape) if isinstance(name, ast.Name)}
            if name := used & {part.arg for part in arguments.args}:
                remedy = "its size must be a number or a constant from outside; or use dynamic shared memory"
                yield f"an array whose size is {min(name)}, an argument", remedy


def _outside(function: FunctionType) -> dict[str, object]:
    """Values of the names that the function does not bind itself."""
    code = function.__code__
    read = set(code.co_names).difference(code.co_varnames, code.co_cellvars)  # co_names has attributes, too
    names = {name: function.__globals__[name] for name in read if name in function.__globals__}
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        if cell != CellType():
            names[name] = cell.cell_contents
    return names


def _returned(tree: ast.FunctionDef) -> Iterator[int]:
    """Lines where the function itself, not one within it, returns something."""
    todo = [*tree.body]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.Return) and node.value is not None and ast.unparse(node.value) != "None":
            yield node.lineno
        todo += ast.iter_child_nodes(node)


def _finding(line: int, what: str, remedy: str) -> Finding:
    return Finding("does_not_compile", f"line {line} does not compile on a GPU ({what}); {remedy}", line)
