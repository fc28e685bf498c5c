"""Would a GPU compile this kernel, and does it compute in the precision it stores?

Python runs every statement; a GPU runs what a compiler could give a type.  Two kinds of finding:

    does_not_compile  Numba's CUDA target finds no type for something
    float64           a number that is float64 by accident drags arithmetic on float32 data along with it:
                      a literal, a start value, a Python float as argument, an integer combined with a float32

No GPU is needed, and none of NVIDIA's compilers.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator

import numpy as np
from numba.core import types
from numba.core.errors import NumbaError

from rnnlab.compiling.target import UnsupportedBytecodeError, UnsupportedError, ir
from rnnlab.compiling.typing import Typed, type_of, typed
from rnnlab.simulator.arguments import taken
from rnnlab.simulator.findings import Finding, Findings
from rnnlab.simulator.implicit_float64 import ImplicitFloat64
from rnnlab.simulator.language import refused

REMEDIES = {  # what Numba's message contains -> what to do
    "exception_match": "a GPU has no exceptions: look before the access with if",
    "shared.array": "its size must be a number, or a constant from outside",
    "local.array": "its size must be a number, or a constant from outside",
    "Untyped global name": "from outside come numbers, tuples, dtypes and device functions; pass the rest",
    "Cannot unify": "a name keeps one type: give the second value a name of its own",
    "unify": "a name keeps one type: give the second value a name of its own",
    "intrinsic syncthreads_": "its argument is an integer: 1 if the condition holds else 0",
    "stubs.atomic": "atomics take int32, uint32, int64, uint64, float32 and float64",
    "Invalid use of": "use indices, arithmetic, math.… and cuda.… on single elements",
    "No implementation of function": "use indices, arithmetic, math.… and cuda.… on single elements",
    "Unknown attribute": "this word does not exist on a GPU: use math.… or cuda.… instead",
    "has no attribute": "this word does not exist: look at its spelling",
    "Use of unsupported NumPy function": "NumPy works on whole arrays, a thread on elements: write a loop",
    "is not defined": "define it above the kernel, or pass it",
    "missing a required argument": "count the arguments of the call",
    "Cannot bind": "count the arguments of the call",
    "Signature mismatch": "count the arguments of the call",
    "cache hint": "use a plain index",
    "reflected list": "use a tuple, or cuda.local.array with a constant size",
    "not supported": "say it with plain assignments, if, while and for",
}
# the last is how Numba says that a call has too many arguments or a cache hint cannot be had
REFUSALS = (NumbaError, UnsupportedBytecodeError, UnsupportedError, TypeError, AttributeError)
_known: dict = {}  # findings of a kernel for its argument types: typing takes some 20 ms


def check(kernel: Callable, *arguments: object) -> tuple[Finding, ...]:
    """Findings for a kernel with these arguments, or numba types in their place; empty where all is well."""
    function = getattr(kernel, "py_func", kernel)
    try:
        kinds = tuple(map(type_of, map(taken, arguments)))
    except (ValueError, TypeError, NumbaError) as error:
        return (Finding("does_not_compile", f"{error}: a GPU takes arrays, numbers and tuples of them"),)
    if (function, kinds) not in _known:
        _known[function, kinds] = refused(function) or tuple(_check(function, kinds, is_kernel=True))
    return _known[function, kinds]


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
    if is_kernel and (line := _returns_value(program)):
        what = "a kernel that returns a value"
        yield Finding(
            "does_not_compile", f"line {line} does not compile on a GPU ({what}); store it in an array", line
        )
    yield from _implicit_float64(program)
    for inner, inner_kinds in _device_functions(program):
        if (inner, inner_kinds) not in _known:
            _known[inner, inner_kinds] = tuple(_check(inner, inner_kinds, is_kernel=False))
        yield from _known[inner, inner_kinds]


def _implicit_float64(program: Typed) -> Iterator[Finding]:
    """Findings where float32 takes part; without it float64 is what the kernel is about."""
    if not any(_is_float32(kind) for kind in program.types.values()):
        return
    roots: dict = {}
    for line, reasons in ImplicitFloat64(program).operations():
        for root in reasons:
            roots.setdefault(root, set()).add(line)
    for (line, what, remedy), lines in sorted(roots.items()):
        line = line or min(lines)
        yield Finding("float64", f"line {line}: {what}, so {_computes(lines)} in float64; {remedy}", line)


def _is_float32(kind: types.Type) -> bool:
    return types.float32 in (kind, getattr(kind, "dtype", None))


def _returns_value(program: Typed) -> int | None:
    """Line of the return of a kernel that gives something back."""
    for statement in program.statements:
        if isinstance(statement, ir.Return):
            kind = program.types[statement.value.name]
            if kind != types.none and not isinstance(kind, types.Omitted):
                return statement.loc.line
    return None


def _computes(lines: set[int]) -> str:
    *most, last = sorted(lines)
    if not most:
        return f"line {last} computes"
    return f"lines {', '.join(map(str, most))} and {last} compute"


def _device_functions(program: Typed) -> Iterator[tuple[Callable, tuple[types.Type, ...]]]:
    for operation, signature in program.signatures.items():
        kind = program.types.get(operation.func.name) if getattr(operation, "op", "") == "call" else None
        if isinstance(kind, types.Dispatcher):
            yield kind.dispatcher.py_func, signature.args


def _refused(function: Callable, error: NumbaError) -> Finding:
    """Numba's error, shortened to what a learner can use."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    places = re.findall(rf'File "[^"]*{re.escape(_file(function))}", line (\d+)', text)
    line = int(places[0]) if places else getattr(getattr(error, "loc", None), "line", None)
    if (called := _call_of_numpy(function)) and line in (None, called[0]):
        line, text = called
    line = line or function.__code__.co_firstlineno
    lines = [line.strip() for line in text.splitlines()]
    telling = [line for line in lines if any(words in line for words in REMEDIES)]
    text = (telling or [line for line in lines if line and not line.startswith("Failed in")])[0].rstrip(".: ")
    remedy = next((what for words, what in REMEDIES.items() if words in text), "say it in simpler words")
    return Finding("does_not_compile", f"line {line} does not compile on a GPU ({text}); {remedy}", line)


def _call_of_numpy(function: Callable) -> tuple[int, str] | None:
    """Line of the first call of a NumPy function, and what Numba says of it.

    Once compiled CPU code has used the function, the CUDA target fails further on, without a place.
    """
    source, first = inspect.getsourcelines(function)
    for node in ast.walk(ast.parse(textwrap.dedent("".join(source)))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            module = function.__globals__.get(getattr(node.func.value, "id", ""))
            called = getattr(module, node.func.attr, None) if module is np else None
            if called is not None and not isinstance(called, (type, np.ufunc)):
                text = f"Use of unsupported NumPy function 'numpy.{node.func.attr}'"
                return first + node.lineno - 1, text
    return None


def _file(function: Callable) -> str:
    return re.split(r"[/\\]", function.__code__.co_filename)[-1]
