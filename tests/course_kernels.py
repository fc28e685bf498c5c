"""Every kernel of the course, found where it is written, with argument types guessed from how it uses them.

Lessons and solutions: each function below @cuda.jit, with the constants and other functions of its text.
Package: each .cu file.
"""

import ast
import functools
import linecache
import math

import numpy as np
from numba import float32, int32, types

from nbjudge.authoring.course import ROOT, solved_cells
from pocketgpu import cuda

LESSONS = sorted(ROOT.glob("notebooks/source/*.py"))
SOLUTIONS = sorted(ROOT.glob("solutions/source/*.py"))
CPP = sorted([*ROOT.glob("rnnlab/**/*.cu"), *ROOT.glob("bench/**/*.cu")])


def kernels(paths):
    """{"08_lesson:kernel": (kernel, argument types)} of all texts."""
    return {name: kernel for path in paths for name, kernel in _kernels_of(path).items()}


@functools.cache
def _kernels_of(path):
    if "cuda.jit" not in (text := program(path)):
        return {}
    label = f"<{path.parents[1].name} {path.stem}>"  # the text may stand in several files
    linecache.cache[label] = (len(text), None, text.splitlines(True), label)
    tree = ast.parse(text)
    functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    written = {n: value for n, value in _scope(tree, label).items() if hasattr(value, "overloads")}
    return {f"{path.stem}:{n}": (k, signature(functions[k.__name__])) for n, k in written.items()}


def program(path):
    """The text of a lesson, or of a lesson's solved exercises with all that they include."""
    if path.parents[1].name != "solutions":
        return path.read_text(encoding="utf-8")
    return "\n\n".join(cell.text for cell in solved_cells(ROOT, path.stem) if cell.kind == "code")


def _scope(tree, label):
    """The module's names after running nothing but its constants and functions for kernels."""
    stored = [entry for entry in tree.body if _is_kept(entry)]
    scope = {"cuda": cuda, "np": np, "math": math, "float32": float32}
    exec(compile(ast.Module(stored, []), label, "exec"), scope)
    return scope


def _is_kept(node):
    if isinstance(node, ast.FunctionDef):
        return any("cuda.jit" in ast.unparse(entry) for entry in node.decorator_list)
    return isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)


def signature(function):
    """Types of a kernel's arguments: an array of as many dimensions as it has indices, int32 or float32."""
    return tuple(_type(arg.arg, function) for arg in function.args.args)


def _type(name, function):
    uses = [node for node in ast.walk(function) if name in (_of(node), f"{_of(node)}")]
    if uses:
        is_flag = any("atomic.exch" in ast.unparse(use) for use in uses)  # which takes whole numbers only
        return types.Array(int32 if is_flag else float32, max(map(_dimensions, uses)), "C")
    counted = (ast.Subscript, ast.Compare)
    counts = [node for node in ast.walk(function) if isinstance(node, counted) or _takes_counts(node)]
    is_count = any(isinstance(n, ast.Name) and n.id == name for node in counts for n in ast.walk(node))
    return int32 if is_count else float32


def _of(node):
    """The name that is indexed, asked for an attribute, or changed atomically."""
    if isinstance(node, ast.Call) and "atomic" in ast.unparse(node.func):
        node = node.args[0]
        return node.id if isinstance(node, ast.Name) else None
    inner = getattr(node, "value", None) if isinstance(node, ast.Subscript | ast.Attribute) else None
    return inner.id if isinstance(inner, ast.Name) else None


def _dimensions(node):
    """How many indices this use needs; 1 where it does not say."""
    index = node.slice if isinstance(node, ast.Subscript) else None
    return len(index.elts) if isinstance(index, ast.Tuple) else 1


def _takes_counts(node):
    return isinstance(node, ast.Call) and ast.unparse(node.func).startswith(("range", "cuda.shfl"))
