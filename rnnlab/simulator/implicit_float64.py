"""Where a kernel's float64 comes from, followed back from each operation through names and loops.

What is read from a float64 array, or made with np.float64(…), is meant.  What NVVM computes in float32 all
the same is left alone: one operation between a float32 and a number that float32 holds exactly, compared or
stored at once.
"""

from collections.abc import Iterator

import numpy as np
from numba.core import types

from rnnlab.compiling.target import ir
from rnnlab.compiling.typing import Typed

OPERATIONS = ("binop", "inplace_binop", "unary", "call")
WIDE = types.float64
Root = tuple[int, str, str]  # line (0: the first that computes), what is float64 there, what to do


class ImplicitFloat64:
    """Where a kernel's float64 comes from."""

    def __init__(self, program: Typed):
        self.program = program
        self.assigned: dict[str, list[ir.Assign]] = {}
        self.used: dict[str, list[ir.Stmt]] = {}
        for statement in program.statements:
            for variable in statement.list_vars():
                self.used.setdefault(variable.name, []).append(statement)
            if isinstance(statement, ir.Assign):
                self.assigned.setdefault(statement.target.name, []).append(statement)

    def operations(self) -> Iterator[tuple[int, set[Root]]]:
        """(line, roots) of every operation in float64 that the source does not state."""
        for statements in self.assigned.values():
            for assign in statements:
                roots = self._of_operation(assign) if self._computes(assign.value) else set()
                if roots and not self.narrowed(assign) and None not in roots:
                    yield assign.loc.line, roots

    def _type(self, variable: ir.Var) -> types.Type:
        return self.program.types.get(variable.name)

    def _computes(self, value: object) -> bool:
        """Arithmetic or a function of numbers with float64 in it; a conversion is none."""
        if not isinstance(value, ir.Expr) or value.op not in OPERATIONS or self._converts(value):
            return False
        return value in self.program.signatures and WIDE in (
            self.program.signatures[value].return_type,
            *self.program.signatures[value].args,
        )

    def _converts(self, value: ir.Expr) -> bool:
        """np.float32(x), float(x), and device functions, which are looked at by themselves."""
        kind = self._type(value.func) if value.op == "call" else None
        return isinstance(kind, types.NumberClass | types.Dispatcher) or "float" in str(kind).split("'")

    def narrowed(self, assign: ir.Assign) -> bool:
        """x > 0.5, y[i] = 2 * x: a float32 and a number that float32 holds exactly need no float64."""
        if assign.value.op not in ("binop", "inplace_binop"):
            return False
        operands = self._operands(assign.value)
        exact = [self._is_exact(operand) for operand in operands]
        kinds = [self._type(operand) for operand in operands]
        if sum(exact) != 1 or types.float32 not in kinds:
            return False
        users = [user for user in self.used[assign.target.name] if user is not assign]
        return self._type(assign.target) == types.boolean or all(map(self._narrows, users))

    def _is_exact(self, variable: ir.Var) -> bool:
        values = [assign.value for assign in self.assigned.get(variable.name, [])]
        constant = len(values) == 1 and isinstance(values[0], ir.Const | ir.Global | ir.FreeVar)
        return constant and float(np.float32(values[0].value)) == values[0].value

    def _narrows(self, user: ir.Stmt) -> bool:
        """Does it store into float32, or convert to it?"""
        if isinstance(user, ir.SetItem | ir.StaticSetItem):
            return getattr(self._type(user.target), "dtype", None) == types.float32
        if not isinstance(user, ir.Assign):
            return False
        if isinstance(user.value, ir.Var):  # only another name for it
            others = [other for other in self.used[user.target.name] if other is not user]
            return all(map(self._narrows, others))
        return self._type(user.target) == types.float32 and user.value.op == "call"

    def _operands(self, value: ir.Expr) -> list[ir.Var]:
        called = {value.func.name} if value.op == "call" else set()
        return [operand for operand in value.list_vars() if operand.name not in called]

    def _of_operation(self, assign: ir.Assign) -> set[Root | None]:
        """Roots of the operands that are float64, or the operation itself where none is; None is meant so."""
        operands = self._operands(assign.value)
        if any(getattr(self._type(operand), "dtype", None) == WIDE for operand in operands):
            return {None}  # an atomic, or a function of a float64 array
        wide = [operand for operand in operands if self._type(operand) == WIDE]
        if wide:
            return set().union(*(self._roots(operand, set()) for operand in wide))
        kinds = [self._type(operand) for operand in operands]
        line = assign.loc.line
        if types.float32 in kinds:
            numbers = [kind.literal_value for kind in kinds if isinstance(kind, types.IntegerLiteral)]
            if numbers:
                reason = f"the integer {numbers[0]} and a float32 are combined"
                return {(line, reason, f"write np.float32({numbers[0]})")}
            remedy = "convert the integer first: np.float32(i)"
            return {(line, "an integer and a float32 are combined", remedy)}
        if assign.value.op == "call":
            return {(line, "a function of an integer", "convert it first: math.sqrt(np.float32(i))")}
        return {(line, "two integers are divided", "convert them first: np.float32(i) / np.float32(n)")}

    def _roots(self, variable: ir.Var, seen: set[str]) -> set[Root | None]:
        """Everything that made this float64 variable float64."""
        if variable.name in seen:
            return set()
        seen.add(variable.name)
        roots = set()
        for assign in self.assigned.get(variable.name, []):
            roots |= self._of_value(assign, seen)
        return roots

    def _of_value(self, assign: ir.Assign, seen: set[str]) -> set[Root | None]:
        value = assign.value
        if isinstance(value, ir.Var):
            return self._roots(value, seen) if self._type(value) == WIDE else set()
        if isinstance(value, ir.Arg):
            return {(0, f"the argument {value.name} is a Python float", f"pass np.float32({value.name})")}
        if isinstance(value, ir.Const | ir.Global | ir.FreeVar):
            return {_literal(assign)}
        if value.op in ("phi", "cast"):
            inner = value.incoming_values if value.op == "phi" else [value.value]
            named = [
                variable
                for variable in inner
                if isinstance(variable, ir.Var) and self._type(variable) == WIDE
            ]
            return set().union(*(self._roots(operand, seen) for operand in named))
        if self._computes(value):
            operands = [operand for operand in self._operands(value) if self._type(operand) == WIDE]
            inner = set().union(*(self._roots(operand, seen) for operand in operands)) if operands else set()
            return inner or (set() if operands else self._of_operation(assign))
        called = value.op == "call" and isinstance(self._type(value.func), types.Dispatcher)
        return set() if called else {None}


def _literal(assign: ir.Assign) -> Root:
    number = assign.value.value
    name = getattr(assign.value, "name", None) or f"{number}"
    verb = "write" if assign.target.name.startswith("$") else "start with"
    constructor = f"np.float32({name})" if number else "np.float32(0)"
    return assign.loc.line, f"the number {name} is a float64", f"{verb} {constructor}"
