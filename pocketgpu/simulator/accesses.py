"""Accesses to arrays in a rewritten function, where nothing but indexing happens to the array.

    x[i, j]        x.data2[None if .note((<mark>, x.number2, i, j)) else (i, j)]
    tile[i, j]     tile.rows[i][j]     of cuda.shared.array and cuda.local.array with a size known before

The first form is for watched launches: `x.data2` is the bare array behind x, if x has two dimensions, and
`note` writes the access down (trace.py); the first of x[i] * y[j] writes both down.  All other accesses are
those of memory.Watched.
"""

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import CodeType
from typing import NamedTuple

import numpy as np

from pocketgpu.simulator.memory import numpy_dtype
from pocketgpu.simulator.names import SCOPES, Slices, Transformer, arguments_in, called, load, store
from pocketgpu.simulator.rows import ALLOCATIONS, LARGEST, Rows
from pocketgpu.simulator.trace import EVENT, KINDS, LOAD, STORE, Position, site_at

COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
PLAIN = ast.Name | ast.Constant | ast.BinOp | ast.UnaryOp | ast.operator | ast.unaryop | ast.expr_context
WITHIN = SCOPES | COMPREHENSIONS
NUMERIC = ast.BinOp | ast.UnaryOp | ast.Compare  # whose operands are numbers
Value = Callable[[ast.expr], object]  # of an expression that no launch can change; None for any other
# of a kernel {name: bits that it may need as an integer, or None for a watched array}; of others None
Parameters = dict[str, int | None] | None


class Place(NamedTuple):
    """An access to an array in lists: its shape, and where its indices stand in the running function."""

    shape: tuple[int, ...]
    indices: tuple[str | int, ...]  # names of variables, and numbers


PLACES: dict[tuple[int, Position], Place] = {}  # by id of the code as it was written, and position


def is_added(node: ast.AST) -> bool:
    """Is it a name that is not in the program's text?"""
    return isinstance(node, ast.Name) and "." in node.id


def position_of(node: ast.AST) -> Position:
    return node.lineno, node.end_lineno, node.col_offset, node.end_col_offset


def _own_nodes(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """The nodes of a function, without what stands in functions and comprehensions within it."""
    waiting = [*body]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, WITHIN):
            waiting += ast.iter_child_nodes(node)


def _indexed(node: ast.AST) -> str:
    """The name that an index follows, such as x of x[i]; empty for all else."""
    is_indexed = isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
    return node.value.id if is_indexed else ""


def _indices(node: ast.Subscript) -> list[ast.expr]:
    """The indices, if they may name a single element; else an empty list."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return [] if any(map(_is_no_index, parts)) else parts


def _is_no_index(part: ast.expr) -> bool:
    several = isinstance(part, ast.Slice | ast.Starred | ast.Tuple | ast.List)
    return several or (isinstance(part, ast.Constant) and type(part.value) is not int)


def _number(part: ast.expr) -> int | None:
    """The value of 3 or -1; None for what is not a number."""
    minus = isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub)
    constant = part.operand if minus else part
    if not isinstance(constant, ast.Constant) or type(constant.value) is not int:
        return None
    return -constant.value if minus else constant.value


def _targets(statement: ast.AST) -> list[ast.expr]:
    """What a plain assignment or a loop binds."""
    if isinstance(statement, ast.Assign):
        return statement.targets
    return [statement.target] if isinstance(statement, ast.AnnAssign | ast.AugAssign | ast.For) else []


def _names(targets: list[ast.expr]) -> Iterator[str]:
    """Names that these targets bind, also within tuples."""
    for target in targets:
        if isinstance(target, ast.Name):
            yield target.id
        elif isinstance(target, ast.Tuple | ast.List):
            yield from _names(target.elts)


def _pairs(statement: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """(target, value) of `a = x` and of `a, b = x, y`; empty for all other statements."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return []
    target = statement.targets[0]
    value = statement.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return [*zip(target.elts, value.elts, strict=True)] if len(target.elts) == len(value.elts) else []
    return [(target, value)]


class Arrays:
    """Names that a function indexes: `rows` are kept in lists, `views` indexed behind a watched array."""

    def __init__(self, tree: ast.AST, value: Value, watched: bool, parameters: Parameters):
        self.value = value
        self.parameters = parameters
        self.given = arguments_in(tree)
        self.rows: dict[str, Rows] = {}
        self.views: dict[str, set[int]] = {}  # name -> numbers of indices with which it is indexed
        self.nodes = nodes = [*_own_nodes(tree.body)]
        self.names = [node for node in nodes if isinstance(node, ast.Name)]
        self.within = [part for node in nodes if isinstance(node, WITHIN) for part in ast.walk(node)]
        self.bound = Counter(name for node in nodes for name in _names(_targets(node)))
        self.slices = Slices(tree, value)
        self.single = {
            id(part) for node in nodes if isinstance(node, NUMERIC) for part in ast.iter_child_nodes(node)
        }
        if any(isinstance(node, ast.Try | ast.TryStar) for node in nodes):
            return  # it may catch what an access raises
        indexed = {}
        for node in nodes:
            if name := _indexed(node):
                indexed.setdefault(name, []).append(node)
        steady = self._steady()
        self._find_rows(indexed, steady)
        for name in (steady & indexed.keys()) - self.rows.keys() if watched else ():
            if parameters is None or name not in self.given or self.is_array(load(name)):
                self.views[name] = {len(self.indices(node)) for node in indexed[name]} - {0}

    def indices(self, node: ast.Subscript) -> list[ast.expr]:
        """The indices, if they name a single element; else, and where one may be a slice, an empty list."""
        parts = _indices(node)
        is_single = id(node) in self.single or isinstance(node.ctx, ast.Store)
        unsure = set() if is_single or self.parameters is not None else self.given - self.bound.keys()
        return [] if any(self.slices.may_be(part, unsure) for part in parts) else parts

    def _steady(self) -> set[str]:
        """Names that only parameters, plain assignments and loops bind."""
        stored = Counter(node.id for node in self.names if not isinstance(node.ctx, ast.Load))
        everything = (*self.nodes, *self.within)
        declared = [node.names for node in everything if isinstance(node, ast.Global | ast.Nonlocal)]
        odd = set().union(*declared)
        return {name for name in {*self.bound, *self.given} if stored[name] == self.bound[name]} - odd

    def _find_rows(self, indexed: dict[str, list], steady: set[str]) -> None:
        """Find the arrays of a known size of which nothing but single elements is used."""
        pairs = [pair for node in self.nodes for pair in _pairs(node)]
        plain = {id(target) for target, _ in pairs}
        plain |= {id(node.target) for node in self.nodes if isinstance(node, ast.AugAssign)}
        inner = {node.id for node in self.within if isinstance(node, ast.Name)}
        used = Counter(node.id for node in self.names)
        for target, call in pairs:
            if not isinstance(target, ast.Name) or not isinstance(call, ast.Call):
                continue
            name = target.id
            uses = indexed.get(name, [])
            once = self.bound[name] == 1 and name in steady and name not in self.given | inner
            plainly = all(isinstance(node.ctx, ast.Load) or id(node) in plain for node in uses)
            if once and plainly and used[name] == 1 + len(uses):
                rows = self._rows(call, {len(self.indices(node)) for node in uses})
                self.rows |= {name: rows} if rows else {}

    def _rows(self, call: ast.Call, numbers: set[int]) -> Rows | None:
        """The array that a call makes, if it is one that can be kept in lists."""
        allocate = ALLOCATIONS.get(id(self.value(call.func)))
        arguments = dict(zip(("shape", "dtype", "alignment"), call.args, strict=False))
        arguments |= {keyword.arg: keyword.value for keyword in call.keywords}
        if allocate is None or not {"shape", "dtype"} <= arguments.keys() <= {"shape", "dtype", "alignment"}:
            return None
        shape, dtype = (self.value(arguments[word]) for word in ("shape", "dtype"))
        shape = shape if isinstance(shape, tuple) else (shape,)
        known = dtype is not None and all(isinstance(size, int | np.integer) and size > 0 for size in shape)
        if not known or numbers != {len(shape)} or np.prod(shape) > LARGEST:
            return None
        dtype = numpy_dtype(dtype)
        return Rows(allocate, tuple(map(int, shape)), dtype) if dtype.kind in "fiub" else None

    def is_array(self, index: ast.expr) -> bool:
        """Is the index certainly an array of the launch?"""
        return isinstance(index, ast.Name) and (self.parameters or {}).get(index.id, 0) is None


@dataclass
class Accesses(Transformer):
    """Rewrites the accesses of one function; `namespace` has the names that it adds, but for the launch's."""

    arrays: Arrays
    code: CodeType
    watched: bool
    temporaries: int = 0

    def __post_init__(self):
        self.namespace = {}
        self.numbers = {}
        for number, (name, rows) in enumerate(self.arrays.rows.items()):
            self.numbers[name] = number
            self.namespace |= {f".make{number}": rows.make, f".kind{number}": rows.kind}
            self.namespace |= {f".convert{number}": rows.converted, ".type": type}

    def views(self, names: Iterable[str]) -> list[tuple[str, int]]:
        """(name, number of indices) for each bare array behind these names."""
        return [(name, number) for name in names for number in sorted(self.arrays.views.get(name, ()))]

    def is_of_launch(self, view: tuple[str, int]) -> bool:
        """Is that array the same for all threads, as a parameter of a kernel is?"""
        return self.arrays.parameters is not None and not self.arrays.bound[view[0]]

    def unpacked(self, views: list[tuple[str, int]]) -> list[ast.stmt]:
        """x.data2, x.number2 = .bare(x, 2) for each."""
        result = []
        for name, number in views:
            targets = [store(f"{name}.{part}{number}") for part in ("data", "number")]
            call = called(".bare", load(name), ast.Constant(number))
            result.append(ast.Assign([ast.Tuple(targets, ast.Store())], call))
        return result

    def _skip(self, node: ast.AST) -> ast.AST:
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _skip
    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _skip

    # ------------------------------------------------------------------ expressions

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        name = self._array(node)
        self.generic_visit(node)
        if not name:
            return node
        return self._access(name, *self._named(_indices(node)), node, node.ctx)

    def _array(self, node: ast.AST) -> str:
        """The name of the array of which an element is accessed; empty where that is left to the array."""
        name = _indexed(node)
        if name in self.arrays.rows:
            return name
        parts = self.arrays.indices(node) if name in self.arrays.views else []
        fits = len(parts) in self.arrays.views.get(name, ()) and not any(map(self.arrays.is_array, parts))
        return name if fits else ""

    def _named(self, parts: list[ast.expr]) -> tuple[list[ast.expr], list[ast.expr]]:
        """Indices as they are computed, and as they are repeated."""
        first = []
        again = []
        for part in parts:
            if not isinstance(part, ast.Name) and _number(part) is None:
                self.temporaries += 1
                name = f".index{self.temporaries}"
                part = ast.NamedExpr(store(name), part)
            first.append(part)
            again.append(load(part.target.id) if isinstance(part, ast.NamedExpr) else part)
        return first, again

    def _access(
        self, name: str, first: list[ast.expr], again: list[ast.expr], place: ast.expr, use: ast.expr_context
    ) -> ast.expr:
        """The access, which is written down before it happens."""
        rows = self.arrays.rows.get(name)
        position = position_of(place)
        indices = first
        if rows:
            where = [part.id if isinstance(part, ast.Name) else _number(part) for part in again]
            PLACES[id(self.code), position] = Place(rows.shape, tuple(where))
        whole = again[0] if rows or len(again) == 1 else ast.Tuple(again, ast.Load())
        if self.watched:
            mark = EVENT + KINDS * site_at(self.code, position)
            mark += STORE if isinstance(use, ast.Store) else LOAD
            number = f"{name}.number" if rows else f"{name}.number{len(first)}"
            entry = ast.Tuple([ast.Constant(mark), load(number), *first], ast.Load())
            whole = ast.IfExp(called(".note", entry), ast.Constant(None), whole)
            indices = [whole, *again[1:]]
        value = load(f"{name}.rows" if rows else f"{name}.data{len(first)}")
        for index in indices[:-1] if rows else ():
            value = ast.Subscript(value, index, ast.Load())
        access = ast.copy_location(ast.Subscript(value, indices[-1] if rows else whole, use), place)
        access.notes = [whole] if self.watched else []
        return access

    def _visit_operation(self, node: ast.BinOp | ast.Compare) -> ast.expr:
        """Nothing happens between accesses that only operators join: the first note writes all down."""
        self.generic_visit(node)
        return _noted_at_once(node) if self.watched else node

    visit_BinOp = visit_Compare = _visit_operation

    def _converted(self, name: str, value: ast.expr) -> ast.expr:
        """The value as an element of that array in lists keeps it."""
        self.temporaries += 1
        number = self.numbers[name]
        temporary = f".value{self.temporaries}"
        kind = called(".type", ast.NamedExpr(store(temporary), value))
        fits = ast.Compare(kind, [ast.Is()], [load(f".kind{number}")])
        convert = called(f".convert{number}", load(temporary))
        return ast.copy_location(ast.IfExp(fits, load(temporary), convert), value)

    # ------------------------------------------------------------------ statements

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        pairs = [self._pair(*pair) for pair in _pairs(node)]
        bound = [*_names(node.targets)]
        if pairs and isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
            node.targets[0].elts, node.value.elts = ([*part] for part in zip(*pairs, strict=True))
        elif pairs:
            node.targets[0], node.value = pairs[0]
        self.generic_visit(node)
        return self._bound(node, bound)

    def _bound(self, node: ast.stmt, names: Iterable[str]) -> list[ast.stmt]:
        """The statement, and behind it the bare arrays behind the names that it binds."""
        return [node, *self.unpacked(self.views(names))]

    def _pair(self, target: ast.expr, value: ast.expr) -> tuple[ast.expr, ast.expr]:
        """Target and value where the one is an array in lists or an element of one."""
        name = target.id if isinstance(target, ast.Name) else ""
        if name in self.arrays.rows:
            site = ast.Constant(site_at(self.code, position_of(value)))
            pair = ast.Tuple([store(f"{name}.rows"), store(f"{name}.number")], ast.Store())
            return pair, called(f".make{self.numbers[name]}", site)
        if (base := _indexed(target)) in self.arrays.rows:
            return target, self._converted(base, value)
        return target, value

    def visit_AnnAssign(self, node: ast.AnnAssign) -> list[ast.stmt]:
        bound = [*_names([node.target])] if node.value else []
        self.generic_visit(node)
        return self._bound(node, bound)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        """a[i] += v loads, adds and stores: two accesses."""
        target = node.target
        name = self._array(node.target)
        bound = [*_names([target])]
        if not name:
            self.generic_visit(node)
            return self._bound(node, bound)
        node.value = self.visit(node.value)
        target.slice = self.visit(target.slice)
        first, again = self._named(_indices(target))
        value = ast.BinOp(self._access(name, first, again, target, ast.Load()), node.op, node.value)
        value = _noted_at_once(value)
        if name in self.arrays.rows:
            value = self._converted(name, value)
        return ast.Assign([self._access(name, again, again, target, ast.Store())], value)

    def visit_For(self, node: ast.For) -> ast.For:
        bound = [*_names([node.target])]
        self.generic_visit(node)
        node.body = [*self.unpacked(self.views(bound)), *node.body]
        return node


def _noted_at_once(node: ast.BinOp | ast.Compare) -> ast.expr:
    """The operation; the note of its second operand becomes part of the first one's."""
    if isinstance(node, ast.Compare) and len(node.comparators) > 1:
        return node  # it may end early
    first = _notes(node.left)
    second = _notes(node.comparators[0] if isinstance(node, ast.Compare) else node.right)
    if first is None or second is None:
        return node
    if first and second:
        entry, more = (notes[0].test.args[0] for notes in (first, second))
        if not all(map(_is_plain, more.elts)):
            return node
        entry.elts += more.elts
        second[0].test = ast.Constant(False)
    node.notes = first or second
    return node


def _notes(node: ast.expr) -> list[ast.IfExp] | None:
    """What an expression of accesses and operators writes down; None for all others."""
    return [] if isinstance(node, ast.Name | ast.Constant) else getattr(node, "notes", None)


def _is_plain(index: ast.expr) -> bool:
    """Does an index only compute with names and numbers?"""
    return all(
        isinstance(part, PLAIN) or (isinstance(part, ast.NamedExpr) and is_added(part.target))
        for part in ast.walk(index)
    )
