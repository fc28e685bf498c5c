"""Arrays that a function only indexes: which can be kept in lists, which indexed behind a watched one.

accesses.py rewrites the accesses to them.
"""

import ast
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np

from pocketgpu.simulator.memory import numpy_dtype
from pocketgpu.simulator.names import SCOPES, Slices, arguments_in, load
from pocketgpu.simulator.rows import ALLOCATIONS, LARGEST, Rows

COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
WITHIN = SCOPES | COMPREHENSIONS
SEVERAL = ast.Slice | ast.Starred | ast.Tuple | ast.List  # indices of several elements
NUMERIC = ast.BinOp | ast.UnaryOp | ast.Compare  # whose operands are numbers
ARGUMENTS = ("shape", "dtype", "alignment")  # of cuda.shared.array and cuda.local.array
Value = Callable[[ast.expr], object]  # of an expression that no launch can change; None for any other
# of a kernel {name: bits that it may need as an integer, or None for a watched array}; of others None
Parameters = dict[str, int | None] | None


def _own_nodes(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """The nodes of a function, without what stands in functions and comprehensions within it."""
    waiting = [*body]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, WITHIN):
            waiting += ast.iter_child_nodes(node)


def indexed_name(node: ast.AST) -> str:
    """The name that an index follows, such as x of x[i]; empty for all else."""
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        return node.value.id
    return ""


def element_indices(node: ast.Subscript) -> list[ast.expr]:
    """The indices, if they may name a single element; else an empty list."""
    index = node.slice
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return [] if any(map(_is_no_index, parts)) else parts


def _is_no_index(part: ast.expr) -> bool:
    if isinstance(part, ast.Constant):
        return type(part.value) is not int
    return isinstance(part, SEVERAL)


def number_of_index(part: ast.expr) -> int | None:
    """The value of 3 or -1; None for what is not a number."""
    is_negative = isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub)
    constant = part.operand if is_negative else part
    is_number = isinstance(constant, ast.Constant) and type(constant.value) is int
    if not is_number:
        return None
    return -constant.value if is_negative else constant.value


def _targets(statement: ast.AST) -> list[ast.expr]:
    """What a plain assignment or a loop binds."""
    if isinstance(statement, ast.Assign):
        return statement.targets
    if isinstance(statement, ast.AnnAssign | ast.AugAssign | ast.For):
        return [statement.target]
    return []


def names_in(targets: list[ast.expr]) -> Iterator[str]:
    """Names that these targets bind, also within tuples."""
    for target in targets:
        if isinstance(target, ast.Name):
            yield target.id
        elif isinstance(target, ast.Tuple | ast.List):
            yield from names_in(target.elts)


def assigned_pairs(statement: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """(target, value) of `a = x` and of `a, b = x, y`; empty for all other statements."""
    has_one_target = isinstance(statement, ast.Assign) and len(statement.targets) == 1
    if not has_one_target:
        return []
    target = statement.targets[0]
    value = statement.value
    if not (isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)):
        return [(target, value)]
    if len(target.elts) != len(value.elts):
        return []
    return [*zip(target.elts, value.elts, strict=True)]


class Arrays:
    """Names that a function indexes: `rows` are kept in lists, `views` indexed behind a watched array."""

    def __init__(self, tree: ast.AST, value: Value, watched: bool, parameters: Parameters):
        self.value = value
        self.parameters = parameters
        self.given = arguments_in(tree)
        self.rows: dict[str, Rows] = {}
        self.views: dict[str, set[int]] = {}  # name -> numbers of indices with which it is indexed
        self.nodes = [*_own_nodes(tree.body)]
        self.names = [node for node in self.nodes if isinstance(node, ast.Name)]
        self.within = []
        self.bound = Counter()
        self.single = set()  # ids of operands: an index that is one names a single element
        indexed = {}
        for node in self.nodes:
            self.bound.update(names_in(_targets(node)))
            if isinstance(node, WITHIN):
                self.within += ast.walk(node)
            if isinstance(node, NUMERIC):
                self.single |= {id(operand) for operand in ast.iter_child_nodes(node)}
            if name := indexed_name(node):
                indexed.setdefault(name, []).append(node)
        self.slices = Slices(tree, value)
        may_catch = any(isinstance(node, ast.Try | ast.TryStar) for node in self.nodes)
        if may_catch:
            return  # what an access raises
        steady = self._steady()
        self._find_rows(indexed, steady)
        if watched:
            self._find_views(indexed, steady)

    def indices(self, node: ast.Subscript) -> list[ast.expr]:
        """The indices, if they name a single element; else, and where one may be a slice, an empty list."""
        parts = element_indices(node)
        unsure = set()
        is_single = id(node) in self.single or isinstance(node.ctx, ast.Store)
        if not is_single and self.parameters is None:
            unsure = self.given - self.bound.keys()
        has_slice = any(self.slices.may_be(part, unsure) for part in parts)
        return [] if has_slice else parts

    def _steady(self) -> set[str]:
        """Names that only parameters, plain assignments and loops bind."""
        stored = Counter(node.id for node in self.names if not isinstance(node.ctx, ast.Load))
        declared = set()
        for node in (*self.nodes, *self.within):
            if isinstance(node, ast.Global | ast.Nonlocal):
                declared.update(node.names)
        names = {*self.bound, *self.given} - declared
        return {name for name in names if stored[name] == self.bound[name]}

    def _find_views(self, indexed: dict[str, list], steady: set[str]) -> None:
        """Find the arrays that are indexed behind a watched one."""
        is_kernel = self.parameters is not None
        for name in (steady & indexed.keys()) - self.rows.keys():
            is_number = is_kernel and name in self.given and not self.is_array(load(name))
            if not is_number:
                counts = {len(self.indices(node)) for node in indexed[name]}
                self.views[name] = counts - {0}

    def _find_rows(self, indexed: dict[str, list], steady: set[str]) -> None:
        """Find the arrays of a known size of which nothing but single elements is used."""
        pairs = []
        plain = set()  # ids of targets of plain and augmented assignments
        for node in self.nodes:
            pairs += assigned_pairs(node)
            if isinstance(node, ast.AugAssign):
                plain.add(id(node.target))
        plain.update(id(target) for target, _ in pairs)
        inner = {node.id for node in self.within if isinstance(node, ast.Name)}
        own = steady - self.given - inner
        used = Counter(node.id for node in self.names)
        for target, call in pairs:
            is_made = isinstance(target, ast.Name) and isinstance(call, ast.Call)
            if not is_made:
                continue
            name = target.id
            uses = indexed.get(name, [])
            is_bound_once = self.bound[name] == 1 and name in own
            is_plain = all(isinstance(node.ctx, ast.Load) or id(node) in plain for node in uses)
            is_only_indexed = used[name] == 1 + len(uses)
            if is_bound_once and is_plain and is_only_indexed:
                counts = {len(self.indices(node)) for node in uses}
                rows = self._rows(call, counts)
                if rows:
                    self.rows[name] = rows

    def _rows(self, call: ast.Call, counts: set[int]) -> Rows | None:
        """The array that a call makes, if it is one that can be kept in lists; counts: of its indices."""
        allocate = ALLOCATIONS.get(id(self.value(call.func)))
        arguments = dict(zip(ARGUMENTS, call.args, strict=False))
        arguments |= {keyword.arg: keyword.value for keyword in call.keywords}
        is_complete = {"shape", "dtype"} <= arguments.keys() <= {*ARGUMENTS}
        if allocate is None or not is_complete:
            return None
        shape = self.value(arguments["shape"])
        dtype = self.value(arguments["dtype"])
        if not isinstance(shape, tuple):
            shape = (shape,)
        has_size = all(isinstance(size, int | np.integer) and size > 0 for size in shape)
        if dtype is None or not has_size:
            return None
        if counts != {len(shape)} or np.prod(shape) > LARGEST:
            return None
        dtype = numpy_dtype(dtype)
        if dtype.kind not in "fiub":
            return None
        return Rows(allocate, tuple(map(int, shape)), dtype)

    def is_array(self, index: ast.expr) -> bool:
        """Is the index certainly an array of the launch?"""
        if not isinstance(index, ast.Name) or not self.parameters:
            return False
        return self.parameters.get(index.id, 0) is None
