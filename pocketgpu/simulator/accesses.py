"""Accesses to arrays in a rewritten function, where nothing but indexing happens to the array.

    x[i, j]        x.data2[None if .note((<mark>, x.number2, i, j)) else (i, j)]
    tile[i, j]     tile.rows[i][j]     of cuda.shared.array and cuda.local.array with a size known before

The first form is for watched launches: `x.data2` is the bare array behind x, if x has two dimensions, and
`note` writes the access down (trace.py); the first of x[i] * y[j] writes both down.  All other accesses are
those of memory.Watched.
"""

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from types import CodeType
from typing import NamedTuple

from pocketgpu.simulator.indexing import (
    Arrays,
    assigned_pairs,
    element_indices,
    indexed_name,
    names_in,
    number_of_index,
)
from pocketgpu.simulator.names import Transformer, called, load, store
from pocketgpu.simulator.rows import Rows
from pocketgpu.simulator.trace import EVENT, KINDS, LOAD, STORE, Position, site_at

PLAIN = ast.Name | ast.Constant | ast.BinOp | ast.UnaryOp | ast.operator | ast.unaryop | ast.expr_context


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
        views = []
        for name in names:
            numbers = self.arrays.views.get(name, ())
            views += [(name, number) for number in sorted(numbers)]
        return views

    def is_of_launch(self, view: tuple[str, int]) -> bool:
        """Is that array the same for all threads, as a parameter of a kernel is?"""
        name, _ = view
        is_kernel = self.arrays.parameters is not None
        return is_kernel and not self.arrays.bound[name]

    def unpacked(self, views: list[tuple[str, int]]) -> list[ast.stmt]:
        """x.data2, x.number2 = .bare(x, 2) for each."""
        result = []
        for name, number in views:
            parts = [store(f"{name}.{part}{number}") for part in ("data", "number")]
            target = ast.Tuple(parts, ast.Store())
            call = called(".bare", load(name), ast.Constant(number))
            result.append(ast.Assign([target], call))
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
        first, again = self._named(element_indices(node))
        return self._access(name, first, again, node, node.ctx)

    def _array(self, node: ast.AST) -> str:
        """The name of the array of which an element is accessed; empty where that is left to the array."""
        arrays = self.arrays
        name = indexed_name(node)
        if name in arrays.rows:
            return name
        if name not in arrays.views:
            return ""
        parts = arrays.indices(node)
        fits = len(parts) in arrays.views[name]
        return name if fits and not any(map(arrays.is_array, parts)) else ""

    def _named(self, parts: list[ast.expr]) -> tuple[list[ast.expr], list[ast.expr]]:
        """Indices as they are computed, and as they are repeated."""
        first = []
        again = []
        for part in parts:
            repeated = part
            is_plain = isinstance(part, ast.Name) or number_of_index(part) is not None
            if not is_plain:
                self.temporaries += 1
                name = f".index{self.temporaries}"
                part = ast.NamedExpr(store(name), part)
                repeated = load(name)
            first.append(part)
            again.append(repeated)
        return first, again

    def _access(
        self, name: str, first: list[ast.expr], again: list[ast.expr], place: ast.expr, use: ast.expr_context
    ) -> ast.expr:
        """The access, which is written down before it happens."""
        rows = self.arrays.rows.get(name)
        index = again[0] if rows or len(again) == 1 else ast.Tuple(again, ast.Load())
        notes = []
        if rows:
            self._keep_place(rows, again, place)
            array = f"{name}.rows"
            number = f"{name}.number"
        else:
            array = f"{name}.data{len(first)}"
            number = f"{name}.number{len(first)}"
        if self.watched:
            index = self._noted(index, number, first, place, use)
            notes = [index]
        value = load(array)
        if rows:
            indices = [index, *again[1:]] if self.watched else first
            *outer, index = indices
            for row in outer:
                value = ast.Subscript(value, row, ast.Load())
        access = ast.copy_location(ast.Subscript(value, index, use), place)
        access.notes = notes
        return access

    def _keep_place(self, rows: Rows, indices: list[ast.expr], place: ast.expr) -> None:
        """Keep where the indices of an access to lists stand, for the message if one is out of bounds."""
        where = tuple(part.id if isinstance(part, ast.Name) else number_of_index(part) for part in indices)
        PLACES[id(self.code), position_of(place)] = Place(rows.shape, where)

    def _noted(
        self, index: ast.expr, number: str, first: list[ast.expr], place: ast.expr, use: ast.expr_context
    ) -> ast.IfExp:
        """The index, before which the access is written down."""
        site = site_at(self.code, position_of(place))
        kind = STORE if isinstance(use, ast.Store) else LOAD
        mark = ast.Constant(EVENT + KINDS * site + kind)
        entry = ast.Tuple([mark, load(number), *first], ast.Load())
        return ast.IfExp(called(".note", entry), ast.Constant(None), index)

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
        own_kind = load(f".kind{number}")
        fits = ast.Compare(kind, [ast.Is()], [own_kind])
        convert = called(f".convert{number}", load(temporary))
        converted = ast.IfExp(fits, load(temporary), convert)
        return ast.copy_location(converted, value)

    # ------------------------------------------------------------------ statements

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        pairs = [self._pair(*pair) for pair in assigned_pairs(node)]
        bound = [*names_in(node.targets)]
        target = node.targets[0]
        if pairs and isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            target.elts = [part for part, _ in pairs]
            node.value.elts = [value for _, value in pairs]
        elif pairs:
            node.targets[0], node.value = pairs[0]
        self.generic_visit(node)
        return self._bound(node, bound)

    def _bound(self, node: ast.stmt, names: Iterable[str]) -> list[ast.stmt]:
        """The statement, and behind it the bare arrays behind the names that it binds."""
        unpacked = self.unpacked(self.views(names))
        return [node, *unpacked]

    def _pair(self, target: ast.expr, value: ast.expr) -> tuple[ast.expr, ast.expr]:
        """Target and value where the one is an array in lists or an element of one."""
        name = target.id if isinstance(target, ast.Name) else ""
        if name in self.arrays.rows:
            site = site_at(self.code, position_of(value))
            make = f".make{self.numbers[name]}"
            parts = [store(f"{name}.rows"), store(f"{name}.number")]
            return ast.Tuple(parts, ast.Store()), called(make, ast.Constant(site))
        base = indexed_name(target)
        if base in self.arrays.rows:
            value = self._converted(base, value)
        return target, value

    def visit_AnnAssign(self, node: ast.AnnAssign) -> list[ast.stmt]:
        bound = [*names_in([node.target])] if node.value else []
        self.generic_visit(node)
        return self._bound(node, bound)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        """a[i] += v loads, adds and stores: two accesses."""
        target = node.target
        name = self._array(target)
        bound = [*names_in([target])]
        if not name:
            self.generic_visit(node)
            return self._bound(node, bound)
        node.value = self.visit(node.value)
        target.slice = self.visit(target.slice)
        first, again = self._named(element_indices(target))
        loaded = self._access(name, first, again, target, ast.Load())
        value = _noted_at_once(ast.BinOp(loaded, node.op, node.value))
        if name in self.arrays.rows:
            value = self._converted(name, value)
        stored = self._access(name, again, again, target, ast.Store())
        return ast.Assign([stored], value)

    def visit_For(self, node: ast.For) -> ast.For:
        bound = [*names_in([node.target])]
        self.generic_visit(node)
        unpacked = self.unpacked(self.views(bound))
        node.body = [*unpacked, *node.body]
        return node


def _noted_at_once(node: ast.BinOp | ast.Compare) -> ast.expr:
    """The operation; the note of its second operand becomes part of the first one's."""
    operands = [node.left, *node.comparators] if isinstance(node, ast.Compare) else [node.left, node.right]
    if len(operands) > 2:
        return node  # it may end early
    first, second = map(_notes, operands)
    if first is None or second is None:
        return node
    if first and second:
        entry = _entry(first)
        more = _entry(second)
        if not all(map(_is_plain, more.elts)):
            return node
        entry.elts += more.elts
        second[0].test = ast.Constant(False)
    node.notes = first or second
    return node


def _notes(node: ast.expr) -> list[ast.IfExp] | None:
    """What an expression of accesses and operators writes down; None for all others."""
    if isinstance(node, ast.Name | ast.Constant):
        return []
    return getattr(node, "notes", None)


def _entry(notes: list[ast.IfExp]) -> ast.Tuple:
    """The entries of the trace that the only note writes."""
    call = notes[0].test
    return call.args[0]


def _is_plain(index: ast.expr) -> bool:
    """Does an index only compute with names and numbers?"""
    for part in ast.walk(index):
        is_own_name = isinstance(part, ast.NamedExpr) and is_added(part.target)
        if not is_own_name and not isinstance(part, PLAIN):
            return False
    return True
