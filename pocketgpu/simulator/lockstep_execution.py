"""A kernel's text run once for all threads of a chunk: a value is one for all of them, or numbers [n].

Behind `if` those threads run whose condition holds, then the others; in a loop those that have not left it.
A branch has names of its own, which are joined behind it.  What is not understood raises Fallback.
"""

import ast
import functools
from collections.abc import Callable
from itertools import pairwise
from types import FunctionType, ModuleType, SimpleNamespace

import numpy as np

from pocketgpu.simulator.arithmetic import as_register
from pocketgpu.simulator.lockstep_events import Chunk
from pocketgpu.simulator.lockstep_functions import METHODS, Functions
from pocketgpu.simulator.lockstep_memory import Memory
from pocketgpu.simulator.lockstep_threads import MOST_NODES, Loop, Part, stored_in
from pocketgpu.simulator.lockstep_values import (
    AS_INDEX,
    OPERATORS,
    PARTS,
    Fallback,
    Mixed,
    Varying,
    apply,
    as_test,
    data_of,
    kind_in,
    merged,
)
from pocketgpu.simulator.operators import number_of
from pocketgpu.simulator.rewriting import UNKNOWN, bound_in
from pocketgpu.simulator.source import definition_of
from pocketgpu.simulator.threads import INSIDE, threadIdx
from pocketgpu.simulator.trace import LOAD, STORE
from pocketgpu.simulator.translation import in_simulator, is_library

ROUNDS = 64  # of a loop between two looks at what it changes
INDEX = type(threadIdx)
OF_ARRAYS = ("shape", "size", "ndim", "dtype")
EXITS = ast.Break | ast.Continue | ast.Return
EFFECTS = EXITS | ast.Call | ast.Subscript | ast.IfExp | ast.If | ast.For | ast.While


@functools.lru_cache(MOST_NODES)
def defined(function: FunctionType) -> tuple[ast.FunctionDef, set[str]]:
    """A function's text, and the names that it binds."""
    tree = definition_of(function)
    return tree, bound_in(tree)


@functools.lru_cache(MOST_NODES)
def only_computes(node: ast.AST) -> bool:
    """Has this node no effect but on names, so that it may be computed for threads that have left?"""
    return not any(isinstance(part, EFFECTS) and not is_of_shape(part) for part in ast.walk(node))


def is_of_shape(node: ast.AST) -> bool:
    """Is it a size of an array?"""
    return isinstance(node, ast.Subscript) and getattr(node.value, "attr", "") == "shape"


def is_exit(node: ast.AST) -> bool:
    """Is it a condition whose threads all leave the loop, its round or the function?"""
    return isinstance(node, ast.If) and isinstance(node.body[-1], EXITS) and not node.orelse


@functools.lru_cache(MOST_NODES)
def folded(node: ast.BinOp) -> object:
    """The number that Python's compiler makes of numbers alone; None for all else."""
    return as_register(number_of(node))


@functools.cache
def visitor_of(kind: type[ast.AST]) -> Callable:
    """The method that visits nodes of a kind."""
    return getattr(Execution, f"visit_{kind.__name__}", Execution.generic_visit)


class Execution(Functions, ast.NodeVisitor):
    """One call of a function by some threads: what its names stand for, and its statements.

    A visit returns the value of an expression, and has the effect of a statement.
    """

    def visit(self, node: ast.AST) -> object:
        return visitor_of(type(node))(self, node)

    def __init__(self, run: object, chunk: Chunk, function: FunctionType, places: np.ndarray, loops: list):
        super().__init__(chunk, places)
        self.run = run
        self.function = function
        self.own: set[str] = set()
        self.loops: list[Loop] = loops  # that run now, one within another, those of its callers first
        self.node: ast.expr | None = None  # that has an effect now
        self.statement: ast.expr | None = None  # the latest expression whose value nobody uses
        self.results: list[tuple[np.ndarray, object]] = []

    def call(self, arguments: list) -> object:
        """What the function returns to each thread."""
        entered = self.places
        tree, self.own = defined(self.function)
        for name, value in zip([*tree.args.posonlyargs, *tree.args.args], arguments, strict=True):
            self.set(name.arg, value)
        self.block(tree.body)
        self.settle()
        if not self.results:
            return None
        if len(self.places):
            raise Fallback("a function that returns a value to some threads")
        within = self.chunk.within
        return merged(len(entered), [(within(places, entered), value) for places, value in self.results])

    def generic_visit(self, node: ast.AST) -> None:
        """Refuse what has no method here."""
        raise Fallback(f"{type(node).__name__} on line {getattr(node, 'lineno', '?')}")

    def prepare(self, node: ast.AST) -> None:
        """Leave out the threads that no longer run, unless the node only computes."""
        if self.running is not None and not only_computes(node.test if is_exit(node) else node):
            self.settle()

    def release(self, mask: np.ndarray) -> None:
        """Let the threads of the mask [n] leave the loop."""
        loop = self.loops[-1]
        with self.only(mask):
            for name in self.names.keys() & stored_in(loop.node):
                self.get(name)  # the round's numbers of all threads are not kept
            self.leave(loop.left)
        self.drop(mask)

    # ------------------------------------------------------------------ statements

    def block(self, body: list[ast.stmt]) -> None:
        """Run these statements as long as a thread is left."""
        for statement in body:
            if len(self.places):
                self.prepare(statement)
                self.visit(statement)

    def visit_Pass(self, node: ast.Pass) -> None:
        pass

    def visit_Expr(self, node: ast.Expr) -> None:
        self.statement = node.value
        self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        value = self.visit(node.value)
        for target in node.targets:
            self._bind(target, value)

    def _bind(self, target: ast.expr, value: object) -> None:
        match target:
            case ast.Name():
                self.set(target.id, value)
            case ast.Tuple() if type(value) is tuple:
                for part, member in zip(target.elts, value, strict=True):
                    self._bind(part, member)
            case ast.Subscript():
                self._store(*self._place(target), value)
            case _:
                self.generic_visit(target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        target = node.target
        is_name = isinstance(target, ast.Name)
        place = () if is_name else self._place(target)
        before = self.visit_Name(target) if is_name else self._load(*place)
        value = OPERATORS[type(node.op)](before, self.visit(node.value))
        if is_name:
            self.set(target.id, value)
        else:
            self._store(*place, value)

    def visit_If(self, node: ast.If) -> None:
        test = as_test(self.visit(node.test))
        if isinstance(test, bool):
            self.block(node.body if test else node.orelse)
            return
        parts: list[Part] = []
        with self.only(test):
            self.block(node.body)
            self.leave(parts)
        if is_exit(node):
            self.drop(test)
            return
        with self.only(~test):
            self.block(node.orelse)
            self.leave(parts)
        self.join(parts, node)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None:
            self.results.append((self.places, self.visit(node.value)))
        self.places = self.places[:0]

    def visit_Break(self, node: ast.Break) -> None:
        self.release(np.ones(len(self.places), bool))

    def visit_Continue(self, node: ast.Continue) -> None:
        self.leave(self.loops[-1].waiting)

    # ------------------------------------------------------------------ loops

    def visit_While(self, node: ast.While) -> None:
        self._repeat(node, node.test, lambda: self.visit(node.test), lambda: None)

    def visit_For(self, node: ast.For) -> None:
        call = node.iter
        is_range = isinstance(call, ast.Call) and self.visit(call.func) is range
        members = () if is_range else self.visit(call)
        limits = slice(*[AS_INDEX(self.visit(part)) for part in call.args] if is_range else [len(members)])
        step = 1 if limits.step is None else limits.step
        if type(step) is not int or not step:
            raise Fallback("a range whose step differs between threads")
        is_before = OPERATORS[ast.Lt if step > 0 else ast.Gt]
        self.set(node, limits.start or 0)  # the next number
        self.set(call, limits.stop)

        def begin() -> None:
            number = self.get(node)
            self._bind(node.target, number if is_range else members[number])
            self.set(node, OPERATORS[ast.Add](number, step))

        self._repeat(node, node.target, lambda: is_before(self.get(node), self.get(call)), begin)

    def _repeat(self, node: ast.For | ast.While, head: ast.expr, has_more: Callable, begin: Callable) -> None:
        """Run rounds of a loop, each of which begins so, for the threads in which it has more."""
        if node.orelse:
            raise Fallback("else behind a loop")
        self.settle()
        outer = self.places, dict(self.names)
        loop = Loop(node, self.run.now.seconds)
        self.loops.append(loop)
        number = 0
        while len(self.places):
            loop.begin_round(len(self.places))
            self.prepare(head)
            more = as_test(has_more())
            if more is not True:
                self.release(np.broadcast_to(np.logical_not(more), len(self.places)))
            if not len(self.places):
                break
            begin()
            before = self.places, dict(self.names)
            self.block(node.body)
            if loop.waiting:
                self.leave(loop.waiting)
                self.places, self.names = before
                self.join(loop.waiting, node)
                loop.waiting.clear()
            number += 1
            if isinstance(node, ast.While) and number % ROUNDS < 2:
                self._check_change(loop, is_second=number % ROUNDS == 1)
        self.loops.pop()
        self.places, self.names = outer
        self.join(loop.left, node)

    def _check_change(self, loop: Loop, is_second: bool) -> None:
        self.settle()
        values = [self.get(name) for name in stored_in(loop.node) if name in self.names]
        state = [len(self.places), self.run.stores, *map(data_of, values)]
        loop.check_change(state, is_second)

    # ------------------------------------------------------------------ expressions

    def visit_Constant(self, node: ast.Constant) -> object:
        return as_register(node.value)

    def visit_Name(self, node: ast.Name) -> object:
        value = self.get(node.id) if node.id in self.own else self.run.look(self.function, (node.id,))
        if value is UNKNOWN or (type(value) is Mixed and not value.is_whole()):
            raise Fallback(f"{node.id}, to which not all threads have given a value")
        return value

    def visit_Attribute(self, node: ast.Attribute) -> object:
        base = self.visit(node.value)
        if type(base) is INDEX or node.attr == "laneid":
            return self.index(getattr, base, node.attr)
        if isinstance(base, ModuleType | SimpleNamespace | type):
            return in_simulator(getattr(base, node.attr))
        if isinstance(base, Memory) and node.attr in OF_ARRAYS:
            return getattr(base.one, node.attr)
        if isinstance(base, Memory) or node.attr not in PARTS:
            raise Fallback(f".{node.attr}")
        return PARTS[node.attr](base)

    def visit_Subscript(self, node: ast.Subscript) -> object:
        base = self.visit(node.value)
        if isinstance(base, tuple):
            return base[self.visit(node.slice)]
        return self._load(*self._place(node))

    def _place(self, node: ast.Subscript) -> tuple[ast.Subscript, Memory, np.ndarray]:
        """The access, the array, and the cells that the threads access."""
        memory = self.visit(node.value)
        if not isinstance(memory, Memory):
            raise Fallback("an element of something else than an array")
        return node, memory, memory.locate(self.visit(node.slice), self.places)

    def _load(self, node: ast.Subscript, memory: Memory, cells: np.ndarray) -> object:
        self.node = node
        self.note(LOAD, memory, cells)
        return memory.load(cells)

    def _store(self, node: ast.Subscript, memory: Memory, cells: np.ndarray, value: object) -> None:
        self.node = node
        self.note(STORE, memory, cells)
        memory.store(cells, value)

    def visit_BinOp(self, node: ast.BinOp) -> object:
        number = folded(node)
        if number is not None:
            return number
        left = self.visit(node.left)
        is_fresh = type(node.left) is ast.BinOp  # and no name's
        return OPERATORS[type(node.op)](left, self.visit(node.right), reuse=is_fresh)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> object:
        return OPERATORS[type(node.op)](self.visit(node.operand))

    def visit_Compare(self, node: ast.Compare) -> object:
        """A comparison; of a < b < c all, because the later ones have no effect."""
        if not all(map(only_computes, node.comparators[1:])):
            self.generic_visit(node)
        values = [self.visit(part) for part in (node.left, *node.comparators)]
        tests = [OPERATORS[type(op)](*pair) for op, pair in zip(node.ops, pairwise(values), strict=True)]
        return functools.reduce(OPERATORS[ast.BitAnd], tests)

    def visit_BoolOp(self, node: ast.BoolOp) -> object:
        """a and b, a or b: b only in the threads in which a leaves it open, or in all if it has no effect."""
        is_and = isinstance(node.op, ast.And)
        value = self.visit(node.values[0])
        for part in node.values[1:]:
            if kind_in(value) is not bool:
                raise Fallback("numbers joined by and, or")
            other = self.visit(part) if type(value) is Varying and only_computes(part) else None
            if type(other) is bool:
                value = value if other is is_and else other
            elif kind_in(other) is bool:
                value = OPERATORS[ast.BitAnd if is_and else ast.BitOr](value, other)
            else:
                rest = (part, ast.Constant(False)) if is_and else (ast.Constant(True), part)
                value = self._choose(value, *rest)
        return value

    def visit_IfExp(self, node: ast.IfExp) -> object:
        return self._choose(self.visit(node.test), node.body, node.orelse)

    def _choose(self, condition: object, body: ast.expr, orelse: ast.expr) -> object:
        test = as_test(condition)
        if isinstance(test, bool):
            return self.visit(body if test else orelse)
        parts = []
        for mask, part in ((test, body), (~test, orelse)):
            if mask.any():
                with self.only(mask):
                    parts.append((np.flatnonzero(mask), self.visit(part)))
        return merged(len(self.places), parts)

    def visit_Tuple(self, node: ast.Tuple) -> tuple:
        return tuple([self.visit(part) for part in node.elts])

    def visit_Call(self, node: ast.Call) -> object:
        function = self.visit(node.func)
        arguments = [self.visit(part) for part in node.args]
        options = {part.arg: self.visit(part.value) for part in node.keywords}
        if function in METHODS:
            self.node = node
            method, *first = METHODS[function]
            return method(self, *first, *arguments, **options)
        if options or not callable(function) or id(function) in INSIDE or function is range:
            raise Fallback(f"calls {ast.unparse(node.func)}")
        if isinstance(function, FunctionType) and not is_library(function):
            return Execution(self.run, self.chunk, function, self.places, self.loops).call(arguments)
        return apply(function, arguments)
