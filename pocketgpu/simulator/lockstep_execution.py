"""A kernel's text run once for all threads of a chunk: a value is one for all of them, or numbers [n].

Behind `if` those threads run whose condition holds, then the others; in a loop those that have not left it.
A branch has names of its own, which are joined behind it.  What is not understood raises Fallback.
"""

import ast
from collections.abc import Callable
from types import FunctionType, ModuleType, SimpleNamespace

import numpy as np

from pocketgpu.simulator import operations
from pocketgpu.simulator.accesses import position_of
from pocketgpu.simulator.arithmetic import as_register
from pocketgpu.simulator.lockstep_functions import ATOMICS, FUNCTIONS_OF_CUDA, INDICES, index_of
from pocketgpu.simulator.lockstep_memory import Chunk, Event, Memory
from pocketgpu.simulator.lockstep_text import defined, folded, joined, stored_in
from pocketgpu.simulator.lockstep_threads import Loop, Part, Threads
from pocketgpu.simulator.lockstep_values import (
    AS_INDEX,
    FUNCTIONS,
    OPERATORS,
    PARTS,
    Fallback,
    Mixed,
    Varying,
    apply,
    as_test,
    cut,
    merged,
)
from pocketgpu.simulator.operations import FLOATS
from pocketgpu.simulator.rewriting import UNKNOWN
from pocketgpu.simulator.threads import INSIDE
from pocketgpu.simulator.trace import LOAD, STORE, site_at
from pocketgpu.simulator.translation import in_simulator, is_library

ROUNDS = 64  # of a loop between two looks at what it changes
OF_ARRAYS = ("shape", "size", "ndim", "dtype")
COMPUTING = (
    *(ast.Assign, ast.AugAssign, ast.Expr, ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Compare),
    *(ast.BoolOp, ast.Call, ast.Tuple, ast.Attribute, ast.operator, ast.unaryop, ast.cmpop, ast.boolop),
    *(ast.expr_context,),
)


class Execution(Threads):
    """One call of a function by some threads: what its names stand for, and its statements."""

    def __init__(self, run: object, chunk: Chunk, function: FunctionType, places: np.ndarray, loops: list):
        super().__init__(chunk, places)
        self.run = run
        self.function = function
        self.own: set[str] = set()
        self.loops: list[Loop] = loops  # that run now, one within another, those of its callers first
        self.results: list[tuple[np.ndarray, object]] = []

    def call(self, arguments: list) -> object:
        """What the function returns to each thread."""
        entered = self.places
        tree, self.own = defined(self.function)
        if tree.args.vararg or tree.args.kwonlyargs:
            raise Fallback("arguments by name")
        for name, value in zip([*tree.args.posonlyargs, *tree.args.args], arguments, strict=True):
            self.set(name.arg, value)
        self.block(tree.body)
        self.settle()
        if not self.results:
            return None
        if len(self.places):
            raise Fallback("a function that returns a value to some threads")
        if len(self.results) == 1:
            return self.results[0][1]
        return merged(
            len(entered), [(self.chunk.within(places, entered), value) for places, value in self.results]
        )

    def visit(self, node: ast.AST) -> object:
        """The value of an expression; the effect of a statement."""
        return VISITORS.get(type(node), Execution.generic_visit)(self, node)

    def generic_visit(self, node: ast.AST) -> None:
        """Refuse what has no method here."""
        if not isinstance(node, ast.Pass):
            raise Fallback(f"{type(node).__name__} on line {getattr(node, 'lineno', '?')}")

    # ------------------------------------------------------------------ names

    def index(self, base: object, name: str) -> object:
        """threadIdx.x and the like."""
        key = id(base), name
        if key not in self.chunk.indices:
            self.chunk.indices[key] = index_of(self.chunk, base, name)
        value = self.chunk.indices[key]
        return value if len(self.places) == len(self.chunk.place) else cut(value, self.places)

    # ------------------------------------------------------------------ threads

    def prepare(self, node: ast.AST) -> None:
        """Leave out the threads that no longer run, unless the node only computes."""
        if self.running is not None and not self.only_computes(node.test if is_exit(node) else node):
            self.settle()

    def only_computes(self, node: ast.AST) -> bool:
        """Has this node no effect but on names, so that it may be computed for threads that have left?"""
        if node not in self.run.computing:
            parts = [*ast.walk(node)]
            calls = [part.func for part in parts if isinstance(part, ast.Call)]
            is_simple = all(isinstance(part, COMPUTING) or is_of_shape(part) for part in parts)
            self.run.computing[node] = is_simple and all(is_of_numpy(self.visit(call)) for call in calls)
        return self.run.computing[node]

    def release(self, mask: np.ndarray) -> None:
        """Let the threads of the mask leave the loop."""
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

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self.visit_Call(node.value, is_statement=True)
        else:
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        value = self.visit(node.value)
        for target in node.targets:
            self._bind(target, value)

    def _bind(self, target: ast.expr, value: object) -> None:
        match target:
            case ast.Name():
                self.set(target.id, value)
            case ast.Tuple() | ast.List():
                for part, member in zip(target.elts, value, strict=True):
                    self._bind(part, member)
            case ast.Subscript():
                self._store(target, *self._place(target), value)
            case _:
                self.generic_visit(target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        operation = OPERATORS[type(node.op)]
        target = node.target
        if isinstance(target, ast.Name):
            before = self.visit_Name(target)
            self.set(target.id, operation(before, self.visit(node.value)))
            return
        memory, cells = self._place(target)
        before = self._load(target, memory, cells)
        self._store(target, memory, cells, operation(before, self.visit(node.value)))

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
        self._repeat(node, lambda number: as_test(self.visit(node.test)))

    def visit_For(self, node: ast.For) -> None:
        call = node.iter
        is_range = isinstance(call, ast.Call) and self.visit(call.func) is range
        members = () if is_range else self.visit(call)
        limits = [AS_INDEX(self.visit(part)) for part in call.args] if is_range else [len(members)]
        first, stop, step = (0, *limits, 1) if len(limits) == 1 else (*limits, 1)[:3]
        steps = OPERATORS[ast.FloorDiv](OPERATORS[ast.Sub](first, stop), step)  # below zero
        if type(step) is Varying or not step:
            raise Fallback("a range whose step differs between threads")
        self.set(node, steps)
        self.set(node.iter, first)

        def has_more(number: int) -> bool | np.ndarray:
            return as_test(OPERATORS[ast.Lt](self.get(node), -number))

        def begin(number: int) -> None:
            value = OPERATORS[ast.Add](self.get(node.iter), step * number)
            self._bind(node.target, value if is_range else members[number])

        self._repeat(node, has_more, begin)

    def _repeat(self, node: ast.For | ast.While, has_more: Callable, begin: Callable | None = None) -> None:
        """Run rounds of a loop for the threads of which has_more(number of the round) holds."""
        if node.orelse:
            raise Fallback("else behind a loop")
        self.settle()
        outer = self.places, dict(self.names)
        loop = Loop(node, self.run)
        self.loops.append(loop)
        number = 0
        state: list = []
        while len(self.places):
            loop.begin_round(len(self.places))
            self.prepare(node.test if begin is None else node.target)
            more = has_more(number)
            if more is not True:
                self.release(~more if type(more) is np.ndarray else np.ones(len(self.places), bool))
            if not len(self.places):
                break
            if begin is not None:
                begin(number)
            before = self.places, dict(self.names)
            self.block(node.body)
            if loop.waiting:
                self.leave(loop.waiting)
                self.places, self.names = before
                self.join(loop.waiting, node)
                loop.waiting.clear()
            number += 1
            if begin is None and number % ROUNDS < 2:
                state = self._check_change(loop, state, number)
        self.loops.pop()
        self.places, self.names = outer
        self.join(loop.left, node)

    def _check_change(self, loop: Loop, before: list, number: int) -> list:
        """What a round may change; raise Fallback if it has changed nothing."""
        self.settle()
        values = [self.get(name) for name in stored_in(loop.node) if name in self.names]
        state = [len(self.places), self.run.stores, *(getattr(value, "data", value) for value in values)]
        if number % ROUNDS and before and all(map(np.array_equal, before, state)):
            raise Fallback("a loop that waits")
        return state

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
        if id(base) in INDICES or node.attr == "laneid":
            return self.index(base, node.attr)
        if isinstance(base, ModuleType | SimpleNamespace | type):
            return in_simulator(getattr(base, node.attr))
        if node.attr in PARTS and not isinstance(base, Memory):
            return PARTS[node.attr](base)
        if node.attr not in (OF_ARRAYS if isinstance(base, Memory) else getattr(base, "_fields", ())):
            raise Fallback(f".{node.attr}")
        return getattr(base, node.attr)

    def visit_Subscript(self, node: ast.Subscript) -> object:
        base = self.visit(node.value)
        if isinstance(base, tuple):
            return base[self.visit(node.slice)]
        return self._load(node, *self._place(node))

    def _place(self, node: ast.Subscript) -> tuple[Memory, np.ndarray]:
        """The array, and the cells that the threads access."""
        memory = self.visit(node.value)
        if not isinstance(memory, Memory):
            raise Fallback("an element of something else than an array")
        return memory, memory.locate(self.visit(node.slice), self.places)

    def _load(self, node: ast.Subscript, memory: Memory, cells: np.ndarray) -> object:
        self.note(LOAD, node, memory, cells)
        return memory.load(cells)

    def _store(self, node: ast.Subscript, memory: Memory, cells: np.ndarray, value: object) -> None:
        self.note(STORE, node, memory, cells)
        memory.store(cells, value)

    def note(self, kind: int, node: ast.AST, *memory_and_cells: object, detail: tuple = ()) -> None:
        """Write down what the running threads do."""
        self.run.stores += kind != LOAD
        event = Event(kind, self.site(node), self.places, *memory_and_cells, detail=detail)
        self.chunk.events.append(event)
        self.chunk.since_barrier.append(event)

    def site(self, node: ast.AST) -> int:
        """The number of a place in the program."""
        return site_at(self.function.__code__, position_of(node))

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
        if len(node.ops) > 1:
            if not all(isinstance(part, ast.Name | ast.Constant) for part in node.comparators[:-1]):
                self.generic_visit(node)
            return self.visit_BoolOp(joined(node))
        operation = OPERATORS[type(node.ops[0])]
        return operations.truth(operation(self.visit(node.left), self.visit(node.comparators[0])))

    def visit_BoolOp(self, node: ast.BoolOp) -> object:
        """a and b, a or b: b only in the threads in which a leaves it open, or in all if it has no effect."""
        value = self.visit(node.values[0])
        for part in node.values[1:]:
            if getattr(value, "kind", type(value)) is not bool:
                raise Fallback("numbers joined by and, or")
            is_and = isinstance(node.op, ast.And)
            other = None
            if type(value) is Varying and self.only_computes(part):
                other = self.visit(part)
            if type(other) is bool:
                value = value if other is is_and else other
            elif getattr(other, "kind", None) is bool:
                value = OPERATORS[ast.BitAnd if is_and else ast.BitOr](value, other)
            elif is_and:
                value = self._choose(value, part, ast.Constant(False))
            else:
                value = self._choose(value, ast.Constant(True), part)
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
        return tuple(self.visit(part) for part in node.elts)

    def visit_Call(self, node: ast.Call, is_statement: bool = False) -> object:
        function = self.visit(node.func)
        arguments = [self.visit(part) for part in node.args]
        options = {part.arg: self.visit(part.value) for part in node.keywords}
        known = FUNCTIONS_OF_CUDA.get(id(function))
        if known is None and is_statement:
            known = ATOMICS.get(id(function))
        if known is not None:
            return known(self, node, *arguments, **options)
        if options or not callable(function) or id(function) in INSIDE or function is range:
            raise Fallback(f"calls {ast.unparse(node.func)}")
        if isinstance(function, FunctionType) and not is_library(function):
            return Execution(self.run, self.chunk, function, self.places, self.loops).call(arguments)
        return apply(function, arguments)


def is_exit(node: ast.AST) -> bool:
    """Is it a condition whose threads all leave the loop, its round or the function?"""
    exits = ast.Break | ast.Continue | ast.Return
    return isinstance(node, ast.If) and isinstance(node.body[-1], exits) and not node.orelse


def is_of_shape(node: ast.AST) -> bool:
    """Is it a size of an array?"""
    return isinstance(node, ast.Subscript) and getattr(node.value, "attr", "") == "shape"


def is_of_numpy(function: object) -> bool:
    """Does NumPy compute this function, for any number?"""
    return function in FLOATS or function in FUNCTIONS


VISITORS = {  # by kind of node
    getattr(ast, name.removeprefix("visit_")): method
    for name, method in vars(Execution).items()
    if name.startswith("visit_")
}
