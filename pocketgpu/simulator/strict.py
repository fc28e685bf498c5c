"""Would a GPU compile this kernel, and does it compute in the precision it stores?

Python runs every statement; a GPU runs what a compiler could give a type.  Two kinds of finding:

    does_not_compile  Numba's CUDA target finds no type for something
    float64           a number that is float64 by accident drags arithmetic on float32 data along with it:
                      a literal, a start value, a Python float as argument, an integer combined with a float32

No GPU is needed, and none of NVIDIA's compilers.

A kernel's float64 is followed back from each operation through names and loops.  What is read from a float64
array, or made with np.float64(…), is meant.  What NVVM computes in float32 all the same is left alone: one
operation between a float32 and a number that float32 holds exactly, compared or stored at once.
"""

import ast
import numbers
import re
from collections.abc import Callable, Iterator

import numpy as np
from numba.core import types
from numba.core.errors import NumbaError

from pocketgpu.compiling.target import UnsupportedBytecodeError, UnsupportedError, ir
from pocketgpu.compiling.typing import TypedKernel, type_of, typed
from pocketgpu.simulator.device_arrays import check_argument
from pocketgpu.simulator.language import TABLES, refused
from pocketgpu.simulator.source import definition_of
from pocketgpu.simulator.threads import Finding, Findings

REMEDIES = TABLES["errors"]
# the last is how Numba says that a call has too many arguments or that it lacks a cache hint
REFUSALS = (NumbaError, UnsupportedBytecodeError, UnsupportedError, TypeError, AttributeError)
_known: dict = {}  # findings of a kernel for its argument types: typing takes some 20 ms


def check(kernel: Callable, *arguments: object) -> tuple[Finding, ...]:
    """Findings for a kernel with these arguments, or numba types in their place; empty where all is well."""
    function = getattr(kernel, "py_func", kernel)
    try:
        for argument in arguments:
            if not isinstance(argument, types.Type):
                check_argument(argument)
        kinds = tuple(map(type_of, arguments))
    except (ValueError, TypeError, NumbaError) as error:
        return (Finding("does_not_compile", f"{error}: a GPU takes arrays, numbers and tuples of them"),)
    return _findings(function, kinds, is_kernel=True)


def _findings(function: Callable, kinds: tuple[types.Type, ...], is_kernel: bool) -> tuple[Finding, ...]:
    """Findings for a kernel or a device function, which are kept for the next time."""
    key = function, kinds
    if key not in _known:
        findings = refused(function) if is_kernel else ()
        _known[key] = findings or tuple(_check(function, kinds, is_kernel))
    return _known[key]


def insist(kernel: Callable, *arguments: object) -> None:
    """Raise Findings where check() has any."""
    if findings := check(kernel, *arguments):
        raise Findings(kernel.__name__, findings)


def _check(function: Callable, kinds: tuple[types.Type, ...], is_kernel: bool) -> Iterator[Finding]:
    try:
        program = typed(function, kinds)
    except REFUSALS as error:
        yield _refused(function, error)
        return
    line = _returns_value(program) if is_kernel else None
    if line:
        message = (
            f"line {line} does not compile on a GPU (a kernel that returns a value); store it in an array"
        )
        yield Finding("does_not_compile", message, line)
    yield from _implicit_float64(program)
    for inner, inner_kinds in _device_functions(program):
        yield from _findings(inner, inner_kinds, is_kernel=False)


def _implicit_float64(program: TypedKernel) -> Iterator[Finding]:
    """Findings where float32 takes part; without it float64 is what the kernel is about."""
    kinds = program.types.values()
    has_float32 = any(types.float32 in (kind, getattr(kind, "dtype", None)) for kind in kinds)
    if not has_float32:
        return
    lines_of_roots = {}
    for line, roots in ImplicitFloat64(program).operations():
        for root in roots:
            lines_of_roots.setdefault(root, set()).add(line)
    for (line, what, remedy), lines in sorted(lines_of_roots.items()):
        line = line or min(lines)
        computing = _computes(lines)
        yield Finding("float64", f"line {line}: {what}, so {computing} in float64; {remedy}", line)


def _returns_value(program: TypedKernel) -> int | None:
    """Line of the return of a kernel that gives something back."""
    for statement in program.statements:
        if not isinstance(statement, ir.Return):
            continue
        kind = program.types[statement.value.name]
        is_nothing = kind == types.none or isinstance(kind, types.Omitted)
        if not is_nothing:
            return statement.loc.line
    return None


def _computes(lines: set[int]) -> str:
    *most, last = sorted(lines)
    if not most:
        return f"line {last} computes"
    listed = ", ".join(map(str, most))
    return f"lines {listed} and {last} compute"


def _device_functions(program: TypedKernel) -> Iterator[tuple[Callable, tuple[types.Type, ...]]]:
    for operation, signature in program.signatures.items():
        is_call = getattr(operation, "op", "") == "call"
        kind = program.types.get(operation.func.name) if is_call else None
        if isinstance(kind, types.Dispatcher):
            yield kind.dispatcher.py_func, signature.args


def _refused(function: Callable, error: NumbaError) -> Finding:
    """Numba's error, shortened to what a learner can use."""
    code = function.__code__
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    line = _line_of_error(error, text, code.co_filename)
    used = _use_of_numpy(function)
    if used and line in (None, used[0]):
        line, text = used
    named = _named_expression(function)
    if named and "cannot be determined" in text:
        line = named
        text = "this version of Numba finds no type for a name that := assigns"
    line = line or code.co_firstlineno
    reason = _reason(text)
    remedies = [remedy for phrase, remedy in REMEDIES.items() if phrase in reason]
    remedy = remedies[0] if remedies else "write it in a simpler way"
    reason = re.sub(r"Function\(<function ([\w.]+) at 0x[0-9a-f]+>\)", r"cuda.\1", reason)
    return Finding("does_not_compile", f"line {line} does not compile on a GPU ({reason}); {remedy}", line)


def _line_of_error(error: NumbaError, text: str, path: str) -> int | None:
    """The first line of that file that an error names, else the place that it keeps."""
    file = re.split(r"[/\\]", path)[-1]
    place = re.search(rf'File "[^"]*{re.escape(file)}", line (\d+)', text)
    if place:
        return int(place[1])
    location = getattr(error, "loc", None)
    return getattr(location, "line", None)


def _reason(text: str) -> str:
    """The first line of an error for which there is a remedy, else the first that says something."""
    lines = [line.strip() for line in text.splitlines()]
    telling = [line for line in lines if any(phrase in line for phrase in REMEDIES)]
    others = [line for line in lines if line and not line.startswith("Failed in")]
    first, *_ = telling or others
    return first.rstrip(".: ")


def _use_of_numpy(function: Callable) -> tuple[int, str] | None:
    """Line of the first @ or call of a NumPy function, and what Numba says of it.

    Once compiled CPU code has used it, the CUDA target fails further on, in other words or without a place.
    """
    tree = definition_of(function)
    for node in ast.walk(tree) if tree else ():
        operator = getattr(node, "op", None)
        if isinstance(operator, ast.MatMult):
            return node.lineno, "Invalid use of @"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            module = function.__globals__.get(getattr(node.func.value, "id", ""))
            called = getattr(module, name, None) if module is np else None
            if called is not None and not isinstance(called, (type, np.ufunc)):
                return node.lineno, f"Use of unsupported NumPy function 'numpy.{name}'"
    return None


def _named_expression(function: Callable) -> int | None:
    """Line of the first `:=`."""
    tree = definition_of(function)
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.NamedExpr):
            return node.lineno
    return None


OPERATIONS = ("binop", "inplace_binop", "unary", "call")
WIDE = types.float64
Root = tuple[int, str, str]  # line (0: the first that computes), what is float64 there, what to do


class ImplicitFloat64:
    """Where a kernel's float64 comes from."""

    def __init__(self, program: TypedKernel):
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
        for assignments in self.assigned.values():
            for assign in assignments:
                if not self._computes(assign.value):
                    continue
                roots = self._of_operation(assign, set())
                if roots and not self.narrowed(assign) and None not in roots:
                    yield assign.loc.line, roots

    def _type(self, variable: ir.Var) -> types.Type:
        return self.program.types.get(variable.name)

    def _dtype(self, variable: ir.Var) -> types.Type | None:
        """The type of an array's elements; None for a number."""
        return getattr(self._type(variable), "dtype", None)

    def _computes(self, value: object) -> bool:
        """Arithmetic or a function of numbers with float64 in it; a conversion is none."""
        is_operation = isinstance(value, ir.Expr) and value.op in OPERATIONS
        if not is_operation or self._converts(value):
            return False
        signature = self.program.signatures.get(value)
        if signature is None:
            return False
        return WIDE in (signature.return_type, *signature.args)

    def _converts(self, value: ir.Expr) -> bool:
        """np.float32(x), float(x), and device functions, which are looked at by themselves."""
        if value.op != "call":
            return False
        kind = self._type(value.func)
        is_python_float = "float" in str(kind).split("'")
        return is_python_float or isinstance(kind, types.NumberClass | types.Dispatcher)

    def narrowed(self, assign: ir.Assign) -> bool:
        """x > 0.5, y[i] = 2 * x: a float32 and a number that float32 holds exactly need no float64."""
        if assign.value.op not in ("binop", "inplace_binop"):
            return False
        operands = self._operands(assign.value)
        exact = [self._is_exact(operand) for operand in operands]
        kinds = [self._type(operand) for operand in operands]
        if sum(exact) != 1 or types.float32 not in kinds:
            return False
        target = assign.target
        if self._type(target) == types.boolean:
            return True
        users = [user for user in self.used[target.name] if user is not assign]
        return all(map(self._narrows, users))

    def _is_exact(self, variable: ir.Var) -> bool:
        values = [assign.value for assign in self.assigned.get(variable.name, [])]
        if len(values) != 1:
            return False
        (constant,) = values
        if not isinstance(constant, ir.Const | ir.Global | ir.FreeVar):
            return False
        number = constant.value
        return isinstance(number, numbers.Real) and float(np.float32(number)) == number

    def _narrows(self, user: ir.Stmt) -> bool:
        """Does it store into float32, or convert to it?"""
        if isinstance(user, ir.SetItem | ir.StaticSetItem):
            return self._dtype(user.target) == types.float32
        if not isinstance(user, ir.Assign):
            return False
        target = user.target
        if isinstance(user.value, ir.Var):  # only another name for it
            others = [other for other in self.used[target.name] if other is not user]
            return all(map(self._narrows, others))
        return self._type(target) == types.float32 and user.value.op == "call"

    def _operands(self, value: ir.Expr) -> list[ir.Var]:
        called = {value.func.name} if value.op == "call" else set()
        return [operand for operand in value.list_vars() if operand.name not in called]

    def _of_operation(self, assign: ir.Assign, seen: set[str]) -> set[Root | None]:
        """Roots of the operands that are float64, or the operation itself where none is; None is meant so."""
        operands = self._operands(assign.value)
        if any(self._dtype(operand) == WIDE for operand in operands):
            return {None}  # an atomic, or a function of a float64 array
        wide = self._wide(operands)
        if wide:
            return self._roots_of_all(wide, seen)
        kinds = [self._type(operand) for operand in operands]
        integers = [kind.literal_value for kind in kinds if isinstance(kind, types.IntegerLiteral)]
        if types.float32 in kinds and integers:
            reason = f"the integer {integers[0]} and a float32 are combined"
            remedy = f"write np.float32({integers[0]})"
        elif types.float32 in kinds:
            reason = "an integer and a float32 are combined"
            remedy = "convert the integer first: np.float32(i)"
        elif assign.value.op == "call":
            reason = "a function of an integer"
            remedy = "convert it first: math.sqrt(np.float32(i))"
        else:
            reason = "two integers are divided"
            remedy = "convert them first: np.float32(i) / np.float32(n)"
        return {(assign.loc.line, reason, remedy)}

    def _wide(self, variables: list[ir.Var]) -> list[ir.Var]:
        """Those that are float64."""
        return [variable for variable in variables if self._type(variable) == WIDE]

    def _roots_of_all(self, variables: list[ir.Var], seen: set[str]) -> set[Root | None]:
        roots = set()
        for variable in variables:
            roots |= self._roots(variable, seen)
        return roots

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
            return self._roots_of_all(self._wide([value]), seen)
        if isinstance(value, ir.Arg):
            reason = f"the argument {value.name} is a Python float"
            return {(0, reason, f"pass np.float32({value.name})")}
        if isinstance(value, ir.Const | ir.Global | ir.FreeVar):
            return {_literal(assign)}
        if value.op in ("phi", "cast"):
            inner = value.incoming_values if value.op == "phi" else [value.value]
            variables = [variable for variable in inner if isinstance(variable, ir.Var)]
            return self._roots_of_all(self._wide(variables), seen)
        if self._computes(value):
            return self._of_operation(assign, seen)
        is_call = value.op == "call"
        is_device_function = is_call and isinstance(self._type(value.func), types.Dispatcher)
        return set() if is_device_function else {None}


def _literal(assign: ir.Assign) -> Root:
    number = assign.value.value
    name = getattr(assign.value, "name", None) or f"{number}"
    verb = "write" if assign.target.name.startswith("$") else "start with"
    constructor = f"np.float32({name})" if number else "np.float32(0)"
    return assign.loc.line, f"the number {name} is a float64", f"{verb} {constructor}"
