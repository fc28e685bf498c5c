"""Operators of a kernel's text, rewritten where Python's result is not that of compiled code (operations.py).

    a / b                .divide(a, b)          unless b is a number other than zero
    a ** b               .power(a, b)
    a * b                .within(a * b)         if both are integers of Python that may need more than 64 bits
    n = x[i] > 0         n = .truth(x[i] > 0)
    cuda.clz(t)          cuda.clz(.int32(t))    if t is a special register, which has 32 bits

How many bits an integer of Python may need is estimated from the text: indices and sizes need few, so that
indexing stays as it is; what a loop multiplies again and again, literals and large arguments need many.
"""

import ast
import copy
from collections.abc import Callable
from contextlib import suppress

from pocketgpu.simulator import operations
from pocketgpu.simulator.accesses import is_added
from pocketgpu.simulator.arithmetic import Int32, UInt64, brev, clz, ffs, popc, selp
from pocketgpu.simulator.names import Transformer, bindings, called, load
from pocketgpu.simulator.threads import INSIDE, blockDim, blockIdx, grid, gridDim, gridsize, threadIdx

OF_INDEX = 21  # bits of an index or a size: three of them have a product of 63
OF_REGISTER = 63  # bits of any other integer, and a sign
NO_INTEGER = 0  # bits of what is certainly no integer of Python: a float, an element of an array
ROUNDS = 5  # after which a name that still grows needs all bits
REGISTERS = {id(word) for word in (threadIdx, blockIdx, blockDim, gridDim)}
INDEX_WORDS = {id(word) for word in (grid, gridsize, len, range)}
OF_ARRAYS = ("size", "ndim", "shape", "itemsize", "nbytes", "strides")
WORDS = {
    ast.Div: "divide", ast.FloorDiv: "floor_divide", ast.Mod: "modulo", ast.Pow: "power",
    ast.LShift: "shift_left", ast.RShift: "shift_right",
}  # fmt: skip
NUMBERS = ast.Constant | ast.BinOp | ast.UnaryOp | ast.operator | ast.unaryop
STEPS = ast.Constant | ast.Compare  # adding one makes an integer no longer
GROWING = (ast.Add, ast.Sub, ast.Mult)
COUNTS = {id(word) for word in (clz, ffs, popc)}
CHOICES = {id(word) for word in (operations.largest, operations.smallest, abs, selp)}  # of an argument
WORDS_OF_FLOATS = ("math", "numpy", "pocketgpu")  # modules whose functions return numbers of NumPy, or floats
COUNTING_BITS = {id(word) for word in (clz, popc, brev)}  # their result depends on the argument's width


class Widths:
    """Bits that integers of Python need, for the names and the expressions of one function."""

    def __init__(
        self, definition: ast.FunctionDef, meaning: Callable, constant: Callable, arguments: dict[str, int]
    ):
        self.meaning = meaning
        self.constant = constant
        self.bits = dict(arguments)
        self.is_int32: dict[str, bool] = {}
        pairs = [*bindings(definition)]
        for name, value, _ in pairs:
            was_int32 = self.is_int32.get(name, True)
            self.is_int32[name] = self.is_special_register(value) and was_int32
        for _ in range(ROUNDS):
            self._widen(pairs)
        before = dict(self.bits)
        self._widen(pairs)
        grown = [name for name in self.bits if self.bits[name] != before.get(name)]
        self.bits |= dict.fromkeys(grown, OF_REGISTER)

    def _widen(self, pairs: list[tuple[str, ast.expr, int | None]]) -> None:
        """Give each name the bits that the values need which are bound to it."""
        for name, value, place in pairs:
            bits = min(self.of(value, place), OF_REGISTER)
            self.bits[name] = max(self.bits.get(name, 0), bits)

    def is_special_register(self, node: ast.expr) -> bool:
        """Is it threadIdx.x or the like, which has 32 bits?"""
        if isinstance(node, ast.Name):
            return self.is_int32.get(node.id, False)
        if not isinstance(node, ast.Attribute):
            return False
        if node.attr == "laneid":
            return True
        return node.attr in "xyz" and id(self.meaning(node.value)) in REGISTERS

    def of(self, node: ast.expr, place: int | None = None) -> int:
        """Bits of an expression; `place`: of its member there, where a tuple is taken apart."""
        match node:
            case ast.Tuple() if place is not None:
                return self.of(node.elts[place]) if place < len(node.elts) else OF_REGISTER
            case ast.Constant():
                return _bits_of(node.value)
            case ast.Name() if node.id in self.bits:
                return self.bits[node.id]
            case ast.Attribute() if node.attr in OF_ARRAYS or self.is_special_register(node):
                return OF_INDEX
            case ast.Name() | ast.Attribute():
                return _bits_of(self.constant(node))
            case ast.Starred(value=ast.Tuple() | ast.List()):  # the members through which a loop runs
                return max(map(self.of, node.value.elts), default=NO_INTEGER)
            case ast.Starred() | ast.Subscript():
                return self._of_member(node)
            case ast.NamedExpr():
                return self.of(node.value)
            case ast.IfExp():
                return max(self.of(node.body), self.of(node.orelse))
            case ast.BoolOp():
                return max(map(self.of, node.values))
            case ast.Compare() | ast.UnaryOp(op=ast.Not()):
                return 1
            case ast.UnaryOp():
                return self.of(node.operand)
            case ast.BinOp():
                return self._of_operation(node)
            case ast.Call():
                return self._of_call(node)
        return NO_INTEGER

    def _of_member(self, node: ast.Subscript | ast.Starred) -> int:
        if isinstance(node.value, ast.Attribute) and node.value.attr in OF_ARRAYS:
            return OF_INDEX
        members = self.constant(node.value)
        if not isinstance(members, tuple):
            return NO_INTEGER
        bits = [member.bit_length() for member in members if isinstance(member, int)]
        return max(bits, default=NO_INTEGER)

    def _of_operation(self, node: ast.BinOp) -> int:
        left = self.of(node.left)
        right = self.of(node.right)
        longer = max(left, right)
        has_integers = left and right and not isinstance(node.op, ast.Div)
        if not has_integers:
            return NO_INTEGER
        match node.op:
            case ast.Add() | ast.Sub():
                is_step = isinstance(node.left, STEPS) or isinstance(node.right, STEPS)
                grows = not is_step or longer >= OF_REGISTER
                return longer + grows
            case ast.Mult():
                return left + right
            case ast.Pow():
                return left * 2 ** min(right, 10)
            case ast.LShift():
                return left + min(2**right - 1, OF_REGISTER + 1)
            case ast.Mod():
                return right
            case ast.BitAnd() if isinstance(node.right, ast.Constant):
                return min(left, right)
            case ast.FloorDiv() | ast.RShift():
                return left
        return longer

    def _of_call(self, node: ast.Call) -> int:
        function = self.meaning(node.func)
        arguments = [self.of(part) for part in node.args]
        if id(function) in INDEX_WORDS:
            return max([OF_INDEX, *arguments])
        if id(function) in CHOICES:
            return max(arguments, default=OF_REGISTER)
        if isinstance(function, operations.Number) or function is operations.rounded:
            return NO_INTEGER if function.__name__ == "float" else max([32, *arguments])
        name = getattr(INSIDE.get(id(function)), "__name__", "")
        if name.startswith("shfl") and len(arguments) > 1:
            return arguments[1]
        if id(function) in COUNTS or name.startswith("syncthreads_"):
            return OF_INDEX
        module = getattr(function, "__module__", None) or ""
        returns_float = name or module.startswith(WORDS_OF_FLOATS)
        return NO_INTEGER if returns_float else OF_REGISTER


def _bits_of(value: object) -> int:
    if not isinstance(value, int):
        return NO_INTEGER
    return max(1, int(value).bit_length())


class Operators(Transformer):
    """Rewrites the operators of one function; `namespace` has the functions that it names."""

    def __init__(self, widths: Widths):
        self.widths = widths
        self.namespace: dict[str, object] = {}

    def _call(self, name: str, function: object, *arguments: ast.expr) -> ast.expr:
        self.namespace[f".{name}"] = function
        return called(f".{name}", *arguments)

    def _operation(self, name: str, *arguments: ast.expr) -> ast.expr:
        return self._call(name, getattr(operations, name), *arguments)

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        needs_wrap = isinstance(node.op, GROWING) and self.widths.of(node) > OF_REGISTER
        if not needs_wrap and number_of(node) is not None:
            return node
        is_safe = self._is_safe(node)
        self.generic_visit(node)
        if type(node.op) in WORDS and not is_safe:
            name = WORDS[type(node.op)]
            return self._operation(name, node.left, node.right)
        if needs_wrap:
            return self._operation("within_64_bits", node)
        return node

    def _is_safe(self, node: ast.BinOp) -> bool:
        """Does Python's own operator have the result of compiled code?"""
        number = node.right.value if isinstance(node.right, ast.Constant) else None
        is_count = isinstance(number, int) and number >= 0
        match node.op:
            case ast.Div() | ast.FloorDiv() | ast.Mod():
                return bool(number)
            case ast.RShift():
                return is_count and number < 64
            case ast.LShift():
                return is_count and number < 64 and self.widths.of(node) <= OF_REGISTER
            case ast.Pow():
                return is_count and self.widths.of(node.left) * number <= OF_REGISTER
        return True

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        """n *= m becomes n = n * m, where the operator is rewritten; record.n *= m always."""
        target = node.target
        if not isinstance(target, ast.Name | ast.Attribute):
            return self.generic_visit(node)
        now = copy.deepcopy(target)
        now.ctx = ast.Load()
        value = ast.BinOp(now, node.op, node.value)
        new = self.visit(value)
        if new is value and isinstance(target, ast.Name):
            node.value = value.right
            return node
        return ast.Assign([target], new)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.Not):
            return self._visit_test(node)
        self.generic_visit(node)
        if isinstance(node.op, ast.Invert):
            return self._operation("invert", node.operand)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """A comparison whose result is stored or computed with."""
        self.generic_visit(node)
        return self._operation("truth", node)

    def _visit_test(self, node: ast.AST) -> ast.AST:
        """A condition: its comparisons need no number."""
        match node:
            case ast.Compare():
                return self.generic_visit(node)
            case ast.BoolOp():
                node.values = [self._visit_test(part) for part in node.values]
                return node
            case ast.UnaryOp(op=ast.Not()):
                node.operand = self._visit_test(node.operand)
                return node
        return self.visit(node)

    def _visit_conditional(self, node: ast.If | ast.While | ast.IfExp | ast.Assert) -> ast.AST:
        test = self._visit_test(node.test)
        node.test = ast.Constant(None)
        self.generic_visit(node)
        node.test = test
        return node

    visit_If = visit_While = visit_IfExp = visit_Assert = _visit_conditional

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """A literal beyond int64 is a uint64."""
        if type(node.value) is int and node.value >= operations.HALF:
            number = node.value % operations.WHOLE
            name = f".uint{number}"
            self.namespace[name] = UInt64(number)
            return load(name)
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        function = node.func
        counts_bits = not is_added(function) and id(self.widths.meaning(function)) in COUNTING_BITS
        if counts_bits and len(node.args) == 1:
            (argument,) = node.args
            if self.widths.is_special_register(argument):
                node.args = [self._call("int32", Int32, self.visit(argument))]
                return node
        self.generic_visit(node)
        function = node.func
        is_bit_count = isinstance(function, ast.Attribute) and function.attr == "bit_count"
        if is_bit_count and not node.args:
            return self._call("popc", popc, function.value)
        return node


def number_of(node: ast.expr) -> complex | None:
    """What Python's compiler makes of numbers alone: of 2 ** -3 it is 0.125.

    None for all else, and for what the compiler leaves to the kernel, as a division by zero or a shift by
    many bits: its code has two numbers on the stack at once.
    """
    has_numbers_alone = all(isinstance(part, NUMBERS) for part in ast.walk(node))
    if not has_numbers_alone:
        return None
    code = compile(ast.Expression(node), "", "eval")
    if code.co_stacksize < 2:
        with suppress(TypeError):  # of a sign before a text
            number = eval(code)
            return number if isinstance(number, int | float | complex) else None
    return None
