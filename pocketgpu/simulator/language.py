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

from pocketgpu.simulator.names import names_used
from pocketgpu.simulator.source import definition_of
from pocketgpu.simulator.threads import Finding
from pocketgpu.simulator.translation import is_library

MUTABLE = (list, dict, set, bytearray)
FIXED_SIZE = "use a tuple, or cuda.local.array with a fixed size"  # remedy for a list and its like
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
    first_line = function.__code__.co_firstlineno
    for value in function.__defaults__ or ():
        if isinstance(value, MUTABLE):
            what = f"a {type(value).__name__} as a default"
            yield _finding(first_line, what, "use a tuple")
    for node in ast.walk(tree):
        for what, remedy in (*_faults(node, outside), *_sizes(node, tree.args)):
            handlers = getattr(node, "handlers", None)
            line = handlers[0].lineno if handlers else node.lineno
            yield _finding(line, what, remedy)
    if is_kernel:
        for line in _returned(tree):
            yield _finding(line, "a kernel that returns a value", "store it in an array")
    for name in names_used(tree) & outside.keys():
        called = getattr(outside[name], "py_func", outside[name])
        if not isinstance(called, FunctionType) or is_library(called):
            continue
        if id(called.__code__) not in visited:
            yield from _refused(called, visited, is_kernel=False)


def _faults(node: ast.AST, outside: dict) -> Iterator[tuple[str, str]]:
    """(what a GPU's compiler does not take, what to do) for one node of the kernel's tree."""
    kind = type(node).__name__
    displays = TABLES["displays"]
    statements = TABLES["statements"]
    use = getattr(node, "ctx", ast.Load())
    if kind in displays and isinstance(use, ast.Load):
        yield displays[kind], FIXED_SIZE
    elif kind in statements:
        yield statements[kind]
    elif isinstance(node, ast.Name):
        value = outside.get(node.id)
        if isinstance(value, MUTABLE):
            what = f"{node.id}, a {type(value).__name__} defined outside the kernel"
            yield what, "use a tuple for constants, and pass an array for the rest"
    elif isinstance(node, ast.Subscript) and isinstance(use, ast.Store):
        name = node.value.id if isinstance(node.value, ast.Name) else ""
        if isinstance(outside.get(name), np.ndarray):
            what = f"a store into {name} from outside"
            yield what, "pass the array: what lies outside is constant"
    elif isinstance(node, ast.Call):
        yield from _wrong_calls(node, outside)


def _wrong_calls(node: ast.Call, outside: dict) -> Iterator[tuple[str, str]]:
    """A launch, and calls of a function that is not for kernels, of a list and of what makes an array."""
    called = _named(node.func, outside)
    if isinstance(node.func, ast.Subscript):
        launched = node.func.value
        if hasattr(_named(launched, outside), "forall"):
            yield (
                f"a launch of {ast.unparse(launched)}",
                "a kernel launches no kernels: call a device function without [ ], or launch twice",
            )
    if isinstance(called, FunctionType) and not hasattr(called, "py_func") and not is_library(called):
        name = ast.unparse(node.func)
        yield f"{name} is a function of Python alone", f"decorate {name} with @cuda.jit(device=True)"
    called = _named(node.func, ChainMap(outside, vars(builtins)))
    makers = [getattr(np, name) for name in TABLES["makers"]]
    if isinstance(called, type) and called in MUTABLE:
        yield f"a {called.__name__}", FIXED_SIZE
    elif any(called is maker for maker in makers):
        yield f"np.{called.__name__}", "a thread has no memory for arrays: use cuda.local.array"


def _named(node: ast.expr, outside: Mapping[str, object]) -> object:
    """The object that a name or module.name stands for; None where that is unknown."""
    if isinstance(node, ast.Name):
        return outside.get(node.id)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        module = outside.get(node.value.id)
        if isinstance(module, ModuleType | type):
            return getattr(module, node.attr, None)
    return None


def _sizes(node: ast.AST, arguments: ast.arguments) -> Iterator[tuple[str, str]]:
    """cuda.shared.array(n), where n comes with the launch, and cuda.local.array."""
    match node:
        case ast.Call(
            ast.Attribute(ast.Attribute(_, "shared" | "local") | ast.Name("shared" | "local"), "array")
        ):
            shapes = node.args[:1]
            shapes += [keyword.value for keyword in node.keywords if keyword.arg == "shape"]
            used = set().union(*map(names_used, shapes))
            sizes = used & {part.arg for part in arguments.args}
            if sizes:
                remedy = "its size must be a number or a constant from outside; or use dynamic shared memory"
                yield f"an array whose size is {min(sizes)}, an argument", remedy


def _outside(function: FunctionType) -> dict[str, object]:
    """Values of the names that the function does not bind itself."""
    code = function.__code__
    scope = function.__globals__
    read = set(code.co_names).difference(code.co_varnames, code.co_cellvars)  # co_names has attributes, too
    names = {name: scope[name] for name in read if name in scope}
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        if cell != CellType():
            names[name] = cell.cell_contents
    return names


def _returned(tree: ast.FunctionDef) -> Iterator[int]:
    """Lines where the function itself, not one within it, returns something."""
    waiting = [*tree.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            continue
        value = node.value if isinstance(node, ast.Return) else None
        if value is not None and ast.unparse(value) != "None":
            yield node.lineno
        waiting += ast.iter_child_nodes(node)


def _finding(line: int, what: str, remedy: str) -> Finding:
    return Finding("does_not_compile", f"line {line} does not compile on a GPU ({what}); {remedy}", line)
