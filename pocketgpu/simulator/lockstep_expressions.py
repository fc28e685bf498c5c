"""Expressions of a kernel's text, evaluated for n threads at once: a value for all, or numbers [n]."""

import ast
from types import FunctionType, ModuleType

import numpy as np

from pocketgpu.simulator import operations
from pocketgpu.simulator.accesses import position_of
from pocketgpu.simulator.arithmetic import as_register
from pocketgpu.simulator.lockstep_lanes import Lanes, Local
from pocketgpu.simulator.lockstep_memory import Event, Memory
from pocketgpu.simulator.lockstep_record import Chunk
from pocketgpu.simulator.lockstep_values import (
    BINARY,
    COMPARE,
    UNARY,
    Fallback,
    Operation,
    Varying,
    apply,
    compute,
)
from pocketgpu.simulator.lockstep_words import ATOMICS, INDICES, WORDS, index_of
from pocketgpu.simulator.rewriting import UNKNOWN, bound_in
from pocketgpu.simulator.source import tree_of
from pocketgpu.simulator.threads import INSIDE
from pocketgpu.simulator.trace import LOAD, STORE, site_at
from pocketgpu.simulator.translation import is_library

DEEPEST = 50  # calls within calls
NUMBERS = ast.Constant | ast.BinOp | ast.UnaryOp | ast.operator | ast.unaryop
OF_ARRAYS = ("shape", "size", "ndim", "dtype")


def is_folded(node: ast.expr) -> bool:
    """Numbers alone, whose result Python's compiler works out: 2 ** -3 is 0.125."""
    return all(isinstance(part, NUMBERS) for part in ast.walk(node))


class Loop:
    """Threads that left a loop by break, and those that wait for its next round."""

    def __init__(self):
        self.left: list[Lanes] = []
        self.waiting: list[Lanes] = []


class Expressions:
    """One call of a function by the threads `now`: what its names stand for, and its expressions."""

    def __init__(
        self,
        run: object,
        chunk: Chunk,
        function: FunctionType,
        now: Lanes,
        caller: "Expressions | None" = None,
    ):
        tree = tree_of(function)
        self.depth = 0 if caller is None else caller.depth + 1
        if not isinstance(tree, ast.FunctionDef) or self.depth > DEEPEST:
            raise Fallback(f"the text of {function.__name__}")
        self.run = run
        self.chunk = chunk
        self.function = function
        self.tree = tree
        self.caller = caller
        self.now = now
        self.entered = now
        self.alive = now.count
        self.names: dict[str, Local] = {}
        self.own = bound_in(tree)
        self.loops: list[Loop] = []
        self.result: Local | None = None
        self.before: tuple = ()  # state of a loop one round ago

    @property
    def is_in_loop(self) -> bool:
        """Does the function, or one that called it, run a loop now?"""
        return bool(self.loops) or (self.caller is not None and self.caller.is_in_loop)

    def set(self, name: str, value: object) -> None:
        """Give a name this value in the running threads."""
        self.names[name] = self._written(self.names.get(name), value, self.alive)

    def _written(self, local: Local | None, value: object, alive: int) -> Local:
        """What a name stands for that has this value in the running threads; alive: how many can read it."""
        if local is None:
            return Local(self.now, value)
        local.write(self.now, value, self.chunk.width, alive)
        return local

    def value(self, node: ast.expr) -> object:
        """What the expression is in the running threads."""
        return EXPRESSIONS.get(type(node), refuse)(self, node)

    def test(self, node: ast.expr) -> bool | np.ndarray:
        """Whether a condition holds: for all threads, or [n] for each."""
        return as_test(self.value(node))

    def _constant(self, node: ast.Constant) -> object:
        return as_register(node.value)

    def _name(self, node: ast.Name) -> object:
        if node.id not in self.own:
            value = self.run.look(self.function, (node.id,))
            if value is UNKNOWN:
                raise Fallback(f"the name {node.id}")
            return value
        if node.id not in self.names:
            raise Fallback(f"{node.id}, to which not all threads have given a value")
        return self.names[node.id].read(self.now, self.chunk.width)

    def _path(self, node: ast.expr) -> tuple[str, ...]:
        """("cuda", "shared", "array") for names that begin outside of the function; empty for all others."""
        if isinstance(node, ast.Name):
            return () if node.id in self.own else (node.id,)
        before = self._path(node.value) if isinstance(node, ast.Attribute) else ()
        return (*before, node.attr) if before else ()

    def _attribute(self, node: ast.Attribute) -> object:
        path = self._path(node)
        value = self.run.look(self.function, path) if path else UNKNOWN
        if value is not UNKNOWN:
            return value
        base = self.value(node.value)
        if id(base) in INDICES or isinstance(base, ModuleType):
            return index_of(self.chunk, base, node.attr).read(self.now, self.chunk.width)
        of_array = isinstance(base, Memory) and node.attr in OF_ARRAYS
        if of_array or (isinstance(base, tuple) and node.attr in getattr(base, "_fields", ())):
            return getattr(base, node.attr)
        raise Fallback(f".{node.attr}")

    def _subscript(self, node: ast.Subscript) -> object:
        base = self.value(node.value)
        if isinstance(base, tuple):
            index = self.value(node.slice)
            if not isinstance(index, int):
                raise Fallback("a member of a tuple that differs between threads")
            return base[index]
        return self._load(node, *self._place(node, base))

    def _place(self, node: ast.Subscript, base: object = None) -> tuple[Memory, np.ndarray | int]:
        """The array, and the cells that the threads access."""
        memory = self.value(node.value) if base is None else base
        if not isinstance(memory, Memory):
            raise Fallback("an element of something else than an array")
        return memory, memory.locate(self.value(node.slice), self.now)

    def _load(self, node: ast.Subscript, memory: Memory, cells: np.ndarray | int) -> object:
        value = memory.load(cells)
        self.note(LOAD, node, memory, cells)
        return value

    def _store(self, node: ast.Subscript, memory: Memory, cells: np.ndarray | int, value: object) -> None:
        self.run.prepare_store(memory)
        memory.store(cells, value)
        self.note(STORE, node, memory, cells)

    def note(self, kind: int, node: ast.AST, memory: Memory, cells: np.ndarray | int) -> None:
        """Write an access of the running threads down."""
        if not isinstance(cells, np.ndarray):
            cells = np.full(self.now.count, cells, np.int64)
        event = Event(kind, self.site(node), self.now, memory, cells)
        self.chunk.note(event)
        if memory.region is not None:
            memory.region.add(kind, self.now, cells + memory.first if memory.first else cells)

    def site(self, node: ast.AST) -> int:
        """The number of a place in the program."""
        sites = self.run.sites
        if id(node) not in sites:
            sites[id(node)] = site_at(self.function.__code__, position_of(node))
        return sites[id(node)]

    def _operator(self, node: ast.BinOp | ast.AugAssign) -> Operation:
        if type(node.op) not in BINARY:
            refuse(self, node)
        return BINARY[type(node.op)]

    def _operation(self, node: ast.BinOp) -> object:
        if is_folded(node):
            return eval(compile(ast.Expression(node), "", "eval"))
        return compute(self._operator(node), self.value(node.left), self.value(node.right))

    def _unary(self, node: ast.UnaryOp) -> object:
        return compute(UNARY[type(node.op)], self.value(node.operand))

    def _compare(self, node: ast.Compare) -> object:
        if len(node.ops) > 1:
            pairs = zip([node.left, *node.comparators], node.ops, node.comparators, strict=False)
            parts = [ast.Compare(left, [operator], [right]) for left, operator, right in pairs]
            if all(isinstance(part, ast.Name | ast.Constant) for part in node.comparators[:-1]):
                return self._all(ast.BoolOp(ast.And(), parts))
        if len(node.ops) > 1 or type(node.ops[0]) not in COMPARE:
            refuse(self, node)
        operation = COMPARE[type(node.ops[0])]
        return operations.truth(compute(operation, self.value(node.left), self.value(node.comparators[0])))

    def _all(self, node: ast.BoolOp) -> object:
        """a and b, a or b: b only in the threads in which a leaves it open."""
        is_and = isinstance(node.op, ast.And)
        outer = self.now
        result = np.full(outer.count, is_and)
        left_open: np.ndarray | slice = slice(None)
        for part in node.values:
            value = self.value(part)
            if not isinstance(value, bool | np.bool_) and getattr(value, "kind", None) is not bool:
                raise Fallback("numbers joined by and, or")
            test = value.data if type(value) is Varying else np.full(self.now.count, bool(value))
            stays = test if is_and else ~test
            if stays.all():
                continue
            result[left_open] = test
            self.now = self.now.split(stays)[0]
            if not self.now.count:
                break
            left_open = np.flatnonzero(result == is_and)
        self.now = outer
        return Varying(result, bool)

    def _choice(self, node: ast.IfExp) -> object:
        test = self.test(node.test)
        if isinstance(test, bool):
            return self.value(node.body if test else node.orelse)
        outer = self.now
        result = None
        for part, of in zip(outer.split(test), (node.body, node.orelse), strict=True):
            self.now = part
            if part.count:
                result = self._written(result, self.value(of), outer.count)
        self.now = outer
        return result.read(outer, self.chunk.width)

    def _tuple(self, node: ast.Tuple) -> tuple:
        return tuple(self.value(part) for part in node.elts)

    def _named(self, node: ast.NamedExpr) -> object:
        value = self.value(node.value)
        self.set(node.target.id, value)
        return value

    def _call(self, node: ast.Call, is_statement: bool = False) -> object:
        function = self.value(node.func)
        if any(isinstance(part, ast.Starred) for part in node.args):
            refuse(self, node)
        arguments = [self.value(part) for part in node.args]
        options = {part.arg: self.value(part.value) for part in node.keywords}
        word = WORDS.get(id(function)) or (ATOMICS.get(id(function)) if is_statement else None)
        if word is not None:
            return word(self, node, *arguments, **options)
        if options or not callable(function) or id(function) in INSIDE:
            raise Fallback(f"calls {ast.unparse(node.func)}")
        if isinstance(function, FunctionType) and not is_library(function):
            return type(self)(self.run, self.chunk, function, self.now, self).call(arguments)
        return apply(function, arguments, self.now.count)


def as_test(value: object) -> bool | np.ndarray:
    """Whether a value counts as true."""
    return value.data.astype(bool, copy=False) if type(value) is Varying else bool(value)


def refuse(execution: Expressions, node: ast.AST) -> None:
    raise Fallback(f"{type(node).__name__} on line {getattr(node, 'lineno', '?')}")


EXPRESSIONS = {
    ast.Constant: Expressions._constant, ast.Name: Expressions._name, ast.Attribute: Expressions._attribute,
    ast.Subscript: Expressions._subscript, ast.BinOp: Expressions._operation, ast.UnaryOp: Expressions._unary,
    ast.Compare: Expressions._compare, ast.BoolOp: Expressions._all, ast.IfExp: Expressions._choice,
    ast.Tuple: Expressions._tuple, ast.NamedExpr: Expressions._named, ast.Call: Expressions._call,
}  # fmt: skip
