"""Kernels made from their text alone, in a process that has run no statement of the submission.

The judge has chosen the functions and sent their text, the meaning of each name that they use, and constants
as plain data. Here each text is compiled without decorators, annotations and default values, and the code of
the function is taken out of what was compiled. Nothing is executed before a launch; in a launch, the body of
a kernel finds those names, and of Python's builtins the few that a GPU knows.
"""

import ast
import builtins
import json
import linecache
import math
from collections.abc import Callable
from types import CodeType, FunctionType, ModuleType

import numpy as np

BUILTINS = {
    "range", "min", "max", "abs", "len", "int", "float", "bool", "round", "pow", "tuple", "enumerate", "zip",
    "print", "True", "False", "None", "NotImplementedError", "AssertionError", "ValueError", "IndexError",
}  # fmt: skip


class _Bare(ast.NodeTransformer):
    """A function's tree without what Python would run, or keep, where the function is defined."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.decorator_list = []
        node.returns = None
        return node

    def visit_arguments(self, node: ast.arguments) -> ast.AST:
        self.generic_visit(node)
        node.defaults = []
        node.kw_defaults = [None] * len(node.kwonlyargs)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        plain: ast.stmt = ast.Pass()
        if node.value is not None:
            plain = ast.Assign([node.target], node.value)
        return ast.copy_location(plain, node)


def bare(statement: ast.stmt) -> ast.stmt:
    """The statement without decorators, annotations and default values; the tree itself is changed."""
    return ast.fix_missing_locations(_Bare().visit(statement))


def code_of(function: ast.FunctionDef, label: str) -> CodeType:
    """The code of a function, which was compiled and not run."""
    module = compile(ast.Module([bare(function)], []), label, "exec")
    return next(part for part in module.co_consts if isinstance(part, CodeType))


def build(text: bytes, constants: tuple, cuda: ModuleType) -> Callable:
    """The kernel that a kernel_selection.KernelLaunch describes."""
    described = json.loads(text.decode(errors="surrogatepass"))
    frozen = dict(zip(described["constants"], map(_read_only, constants), strict=True))
    allowed = {name: getattr(builtins, name) for name in BUILTINS}
    namespace = {"__name__": "__main__", "__builtins__": allowed}
    for name, path in described["names"].items():
        namespace[name] = _meaning(path, cuda)
    for name, value in frozen.items():
        if name.isidentifier():
            namespace[name] = value
    compilers = {"kernel": cuda.jit, "device": cuda.jit(device=True)}
    for name, label, source, place, kind, defaults in described["functions"]:
        lines = [line + "\n" for line in source.split("\n")]
        linecache.cache[label] = (len(source), None, lines, label)
        definition = ast.parse(source).body[place]
        function = FunctionType(code_of(definition, label), namespace)
        function.__defaults__ = tuple(frozen[default] for default in defaults) or None
        if kind in compilers:
            function = compilers[kind](function)
        namespace[name] = function
    return namespace[described["name"]]


def _meaning(path: str, cuda: ModuleType) -> object:
    """What a path of the judge's stands for: "cuda.shared", "numpy", "math.tanh"."""
    top, *names = path.split(".")
    if top in ("numba", "rnnlab"):
        value = ModuleType(top)
        if top == "numba":
            value.__dict__.update(vars(__import__("numba")))
        value.cuda = cuda
    else:
        value = {"cuda": cuda, "numpy": np, "math": math}[top]
    for name in names:
        value = getattr(value, name)
    return value


def _read_only(value: object) -> object:
    """The value, whose arrays can only be read: as constants of a GPU."""
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    if isinstance(value, tuple):
        for part in value:
            _read_only(part)
    return value
