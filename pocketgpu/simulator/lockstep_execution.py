"""Statements of a kernel's text, each of which runs once for all threads that come to it.

Behind `if` that are those whose condition holds, then the others; in a loop those that still run.  What is
not understood raises Fallback.
"""

import ast
import time
from collections.abc import Callable

import numpy as np

from pocketgpu.simulator.lockstep_expressions import Expressions, Loop, as_test, refuse
from pocketgpu.simulator.lockstep_lanes import Local
from pocketgpu.simulator.lockstep_values import BINARY, COMPARE, Fallback, compute
from pocketgpu.simulator.lockstep_words import VaryingRange

ROUNDS = 64  # of a loop between two looks at the clock, and at what it changes


class Execution(Expressions):
    """One call of a function: its statements."""

    def call(self, arguments: list) -> object:
        """What the function returns to each thread."""
        tree = self.tree.args
        names = [part.arg for part in (*tree.posonlyargs, *tree.args)]
        if tree.vararg or tree.kwarg or tree.kwonlyargs or len(names) != len(arguments):
            raise Fallback("arguments by name, or with a default")
        for name, value in zip(names, arguments, strict=True):
            self.names[name] = Local(self.now, value)
        self.block(self.tree.body)
        if self.result is None:
            return None
        if self.now.count:
            raise Fallback("a function that returns a value to some threads")
        return self.result.read(self.entered, self.chunk.width)

    # ------------------------------------------------------------------ statements

    def block(self, body: list[ast.stmt]) -> None:
        """Run these statements as long as a thread is left."""
        for statement in body:
            if not self.now.count:
                return
            STATEMENTS.get(type(statement), refuse)(self, statement)

    def _expression(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self._call(node.value, is_statement=True)
        elif not isinstance(node.value, ast.Constant):
            self.value(node.value)

    def _assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        for target in node.targets:
            self._bind(target, value)

    def _assign_with_type(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._bind(node.target, self.value(node.value))

    def _bind(self, target: ast.expr, value: object) -> None:
        match target:
            case ast.Name():
                self.set(target.id, value)
            case ast.Tuple() | ast.List():
                if not isinstance(value, tuple) or len(value) != len(target.elts):
                    raise Fallback("a tuple of unknown size")
                for part, member in zip(target.elts, value, strict=True):
                    self._bind(part, member)
            case ast.Subscript():
                memory, cells = self._place(target)
                self._store(target, memory, cells, value)
            case _:
                refuse(self, target)

    def _assign_operation(self, node: ast.AugAssign) -> None:
        operation = self._operator(node)
        target = node.target
        if isinstance(target, ast.Name):
            before = self._name(target)
            self.set(target.id, compute(operation, before, self.value(node.value)))
            return
        if not isinstance(target, ast.Subscript):
            refuse(self, target)
        memory, cells = self._place(target)
        before = self._load(target, memory, cells)
        self._store(target, memory, cells, compute(operation, before, self.value(node.value)))

    def _if(self, node: ast.If) -> None:
        test = self.test(node.test)
        if isinstance(test, bool):
            self.block(node.body if test else node.orelse)
            return
        outer = self.now
        ends = []
        for part, body in zip(outer.split(test), (node.body, node.orelse), strict=True):
            self.now = part
            self.block(body)
            ends.append(self.now)
        self.now = outer.joined(ends)

    def _return(self, node: ast.Return) -> None:
        if node.value is not None:
            self.result = self._written(self.result, self.value(node.value), self.entered.count)
        self.alive -= self.now.count
        self._nobody()

    def _nobody(self) -> None:
        self.now = self.now.none()

    def _break(self, node: ast.Break) -> None:
        self.loops[-1].left.append(self.now)
        self._nobody()

    def _continue(self, node: ast.Continue) -> None:
        self.loops[-1].waiting.append(self.now)
        self._nobody()

    # ------------------------------------------------------------------ loops

    def _while(self, node: ast.While) -> None:
        self._repeat(node, lambda number: self.test(node.test))

    def _for(self, node: ast.For) -> None:
        members = self.value(node.iter)
        if isinstance(members, VaryingRange):
            self._for_varying(node, members)
            return
        if not isinstance(members, range | tuple):
            raise Fallback("a loop over something else than a range or a tuple")
        self._repeat(
            node,
            lambda number: number < len(members),
            lambda number: self._bind(node.target, members[number]),
        )

    def _for_varying(self, node: ast.For, members: VaryingRange) -> None:
        """Each thread has a range of its own."""
        for name, value in zip(VaryingRange._fields, members, strict=True):
            self.set(f"{id(node)}.{name}", value)

        def part(name: str) -> object:
            return self.names[f"{id(node)}.{name}"].read(self.now, self.chunk.width)

        def has_more(number: int) -> object:
            return compute(COMPARE[ast.Gt], part("rounds"), number)

        def begin(number: int) -> None:
            distance = compute(BINARY[ast.Mult], part("step"), number)
            self._bind(node.target, compute(BINARY[ast.Add], part("first"), distance))

        self._repeat(node, lambda number: as_test(has_more(number)), begin)

    def _repeat(self, node: ast.For | ast.While, has_more: Callable, begin: Callable | None = None) -> None:
        """Run rounds of a loop for the threads of which has_more(number of the round) holds."""
        if node.orelse:
            raise Fallback("else behind a loop")
        entry = self.now
        loop = Loop()
        self.loops.append(loop)
        number = 0
        while self.now.count:
            runs = has_more(number)
            if isinstance(runs, bool):
                runs = np.full(self.now.count, runs)
            self.now, ended = self.now.split(runs)
            loop.left.append(ended)
            if not self.now.count:
                break
            if begin is not None:
                begin(number)
            self.block(node.body)
            if loop.waiting:
                self.now = entry.joined([self.now, *loop.waiting])
                loop.waiting = []
            number += 1
            if isinstance(node, ast.While) and number % ROUNDS < 2:
                self._look(node, number % ROUNDS == 0)
        self.loops.pop()
        self.now = entry.joined(loop.left)

    def _look(self, loop: ast.While, is_first: bool) -> None:
        """Raise Fallback in a loop that runs for long, or of which a round changes nothing."""
        if time.process_time() > self.run.latest:
            raise Fallback("a loop that runs for long")
        names = {node.id for node in ast.walk(loop) if isinstance(node, ast.Name)} & self.names.keys()
        values = [self.names[name].of_all() for name in sorted(names)]
        before = self.before
        self.before = self.now, self.run.stores, values
        if is_first and before and before[0] is not self.now:
            self.run.extend_time()
        if not is_first and before[:2] == self.before[:2] and all(map(_is_same, before[2], values)):
            raise Fallback("a loop that waits")


def _is_same(value: object, other: object) -> bool:
    """Has a name the same value as in the round before?"""
    if isinstance(value, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(value, other, equal_nan=value.dtype.kind == "f")
    return value is other or (type(value) is type(other) and value == other)


STATEMENTS = {
    ast.Expr: Execution._expression, ast.Assign: Execution._assign,
    ast.AnnAssign: Execution._assign_with_type, ast.AugAssign: Execution._assign_operation,
    ast.If: Execution._if, ast.While: Execution._while,
    ast.For: Execution._for, ast.Return: Execution._return, ast.Break: Execution._break,
    ast.Continue: Execution._continue, ast.Pass: lambda execution, node: None,
}  # fmt: skip
