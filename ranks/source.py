# Written by `make course`: a copy of pocketgpu/simulator/source.py
"""The text of a function as a tree, in which every node has the position that it has in its file.

A file's name may have served for another text before: a cell that ran twice, an answer under the label of the
last one, a module that was edited after it was imported.  So a text counts only if it compiles to the very
code that the function has.  `remember` keeps the lines from which a kernel was made when cuda.jit meets it.
"""

import __future__

import ast
import copy
import inspect
import linecache
import sys
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from operator import attrgetter
from types import CodeType, FunctionType
from weakref import WeakKeyDictionary

Definition = ast.FunctionDef | ast.Lambda
FLAGS = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
BY_PYTEST = "@py"  # begins names that pytest adds where it rewrites assert
SAME = attrgetter(  # beside constants and places
    *("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_argcount"),
    *("co_posonlyargcount", "co_kwonlyargcount", "co_flags"),
)
_lines: WeakKeyDictionary[FunctionType, list[str]] = WeakKeyDictionary()
_of_exec: deque[list[str]] = deque(maxlen=64)  # the last texts that were run by exec
_parsed: dict[str, tuple[list[str], ast.Module]] = {}  # by file: its lines and their tree
_compiled: dict[tuple[int, int], tuple[ast.Module, list[CodeType]]] = {}  # the last module that was compiled
_trees: dict[int, tuple[CodeType, Definition | None]] = {}  # by id of the code
_sources: dict[int, tuple[CodeType, tuple[str, ...], int]] = {}  # the same: lines, which take 5 ms to find


def remember(function: Callable) -> None:
    """Keep the lines of the file, or of the cell under a magic command, in which the function stands now."""
    if not isinstance(function, FunctionType):
        return
    file = function.__code__.co_filename
    lines = linecache.getlines(file, function.__globals__) or _lines_of_magic()
    if lines:
        _lines[function] = lines


def remember_text(text: str) -> None:
    """Keep a text that a program runs by exec, for kernels that are made by it."""
    lines = text.splitlines(keepends=True)
    if lines not in _of_exec:
        _of_exec.append(lines)


def _lines_of_magic() -> list[str]:
    """Lines of the cell that %%time or the like runs now: IPython tells them to nobody."""
    frame = sys._getframe()
    while frame := frame.f_back:
        module = frame.f_globals.get("__name__", "")
        if module.startswith("IPython.core.magics"):
            cell = frame.f_locals.get("cell")
            if isinstance(cell, str):
                return cell.splitlines(keepends=True)
    return []


def tree_of(function: Callable | CodeType) -> Definition | None:
    """The function's def or lambda; None where there is no text that is certainly its own."""
    code = getattr(function, "__code__", function)
    if not isinstance(code, CodeType):
        return None
    if id(code) not in _trees:
        trees = (_find(code, lines) for lines in _texts(function, code))
        _trees[id(code)] = code, next(filter(None, trees), None)
    _, tree = _trees[id(code)]
    return tree


def definition_of(function: Callable | CodeType) -> ast.FunctionDef | None:
    """The function's def without what Python evaluates outside of it; None for a lambda or without a text."""
    tree = tree_of(function)
    if not isinstance(tree, ast.FunctionDef):
        return None
    parameters = tree.args
    arguments = [ast.arg(part.arg, None) for part in parameters.args]
    bare = ast.arguments(
        parameters.posonlyargs, arguments, parameters.vararg, parameters.kwonlyargs, [], None, []
    )
    definition = ast.FunctionDef(tree.name, bare, tree.body, [], None)
    return ast.copy_location(definition, tree)


def bare_definition(tree: Definition) -> ast.FunctionDef:
    """A copy of the function without what Python evaluates outside of it."""
    body = tree.body
    if isinstance(tree, ast.Lambda):
        body = [ast.copy_location(ast.Return(tree.body), tree.body)]
    arguments = _without_defaults(copy.deepcopy(tree.args))
    for part in ast.walk(arguments):
        if isinstance(part, ast.arg):
            part.annotation = None
    name = getattr(tree, "name", "<lambda>")
    function = ast.FunctionDef(name, arguments, copy.deepcopy(body), [], None, type_params=[])
    return ast.copy_location(function, tree)


def codes_in(code: CodeType) -> list[CodeType]:
    """The code and those within it."""
    codes = [code]
    for outer in codes:
        codes += (constant for constant in outer.co_consts if isinstance(constant, CodeType))
    return codes


def _texts(function: Callable | CodeType, code: CodeType) -> Iterator[list[str]]:
    """Lines of the file as they were when the function was made, and as they are now."""
    if isinstance(function, FunctionType) and function in _lines:
        yield _lines[function]
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, getattr(function, "__globals__", None))
    if lines:
        yield lines
    else:
        yield from reversed([*_of_exec])


def _find(code: CodeType, lines: list[str]) -> Definition | None:
    """The definition in these lines that compiles to the code."""
    module = _module(code.co_filename, lines)
    for statement in module.body:
        for node in ast.walk(statement):
            is_definition = isinstance(node, Definition) and code.co_firstlineno in _first_lines(node)
            # a file is compiled whole, a cell statement by statement, a kernel's answer without decorators
            if is_definition and (
                _compiles_to(code, module, node)
                or _compiles_to(code, ast.Module([statement], []), node)
                or _compiles_to(code, _alone(node), node)
            ):
                return node
    return None


def _compiles_to(code: CodeType, module: ast.Module | None, definition: Definition) -> bool:
    """Does the definition, in that module, compile to the code?"""
    if module is None:
        return False
    return any(_is_same(code, own) for own in _codes(module, definition, code.co_flags))


def _module(file: str, lines: list[str]) -> ast.Module:
    """The tree of a file; an empty one where it is not a Python program."""
    known, module = _parsed.get(file, (None, None))
    if known is not lines:
        flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        try:
            module = _quietly("".join(lines), file, flags)
        except (SyntaxError, ValueError):
            module = ast.Module([], [])
        _parsed[file] = lines, module
    return module


def _quietly(source: object, file: str, flags: int):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is odd in the text was said when it was run
        return compile(source, file, "exec", flags, dont_inherit=True)


def _alone(definition: Definition) -> ast.Module | None:
    """A module with the def alone, without decorators, default values and annotations."""
    if isinstance(definition, ast.Lambda):
        return None
    function = _Bare().visit(copy.deepcopy(definition))
    _without_defaults(function.args)
    function.decorator_list = []
    return ast.Module([function], [])


def _without_defaults(arguments: ast.arguments) -> ast.arguments:
    """The same arguments, after their default values were taken from them."""
    arguments.defaults = []
    arguments.kw_defaults = [None] * len(arguments.kwonlyargs)
    return arguments


class _Bare(ast.NodeTransformer):
    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        return node if node.value else ast.copy_location(ast.Pass(), node)


def _first_lines(definition: Definition) -> set[int]:
    decorators = getattr(definition, "decorator_list", [])
    return {node.lineno for node in (definition, *decorators[:1])}


def _codes(module: ast.Module, definition: Definition, flags: int) -> list[CodeType]:
    """Codes in the module that may be the definition's."""
    own_flags = flags & FLAGS
    key = id(module), own_flags
    if key not in _compiled:
        whole = _quietly(module, "<text>", own_flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        _compiled.clear()
        _compiled[key] = module, codes_in(whole)
    name = getattr(definition, "name", "<lambda>")
    _, codes = _compiled[key]
    return [code for code in codes if code.co_name == name and _stands_in(code, definition)]


def _stands_in(code: CodeType, definition: Definition) -> bool:
    """Do the instructions stand within the definition?  Several lambdas may begin on one line."""
    start = (definition.lineno, definition.col_offset)
    end = (definition.end_lineno, definition.end_col_offset)
    places = ((line, column) for line, _, column, stop in code.co_positions() if stop)
    return all(start <= place < end for place in places if None not in place)


def _is_same(code: CodeType, other: CodeType) -> bool:
    """Do the two compute the same at the same places?"""
    is_by_pytest = any(name.startswith(BY_PYTEST) for name in code.co_varnames)
    if is_by_pytest and code.co_names:
        has_variables = {*other.co_varnames} <= {*code.co_varnames}
        return has_variables and {*other.co_names} <= {*code.co_names}
    return _properties(code) == _properties(other)


def _properties(code: CodeType) -> tuple:
    """What two codes have in common that compute the same at the same places."""
    constants = []
    for value in code.co_consts:
        is_code = isinstance(value, CodeType)
        constants.append(_properties(value) if is_code else (type(value), repr(value)))
    places = [place for place in code.co_positions() if place[0] != code.co_firstlineno]
    return (*SAME(code), constants, places)


def source_of(function: Callable | CodeType) -> tuple[tuple[str, ...], int]:
    """Lines of a function, and the number of the first."""
    code = getattr(inspect.unwrap(function), "__code__", function)
    if id(code) not in _sources:
        text = ()
        first = 0
        with suppress(OSError, TypeError):  # made by exec without a file: counts by line remain
            text, first = inspect.getsourcelines(function)
        _sources[id(code)] = code, tuple(text), first
    _, lines, first_line = _sources[id(code)]
    return lines, first_line
