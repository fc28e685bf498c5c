"""What a kernel's source may hold: what Numba compiles for a GPU, and nothing that reaches the simulator.

The counts of a kernel are made in the process that it runs in. They can be believed because its source can do
nothing but compute: names and attributes from short lists, no definition inside another, no import but NumPy,
math and cuda.
"""

import ast
import builtins
import math

from rnnlab.grading.verdict import Status, Stopped
from rnnlab.grading.worker import Answer

IMPORTS = {"numpy", "math", "numba"}
BUILTINS = {"range", "min", "max", "abs", "len", "int", "float", "bool", "round", "True", "False", "None"}
ALLOWED_BUILTINS = BUILTINS | {"NotImplementedError", "tuple"}
NUMBERS = {f"{kind}{bits}" for kind in ("int", "uint", "float") for bits in (8, 16, 32, 64)} | {"bool_", "pi"}
CUDA = {
    "jit", "grid", "gridsize", "threadIdx", "blockIdx", "blockDim", "gridDim", "laneid", "warpsize", "x", "y",
    "z", "shared", "local", "const", "array", "array_like", "syncthreads", "syncthreads_count",
    "syncthreads_and", "syncthreads_or", "syncwarp", "shfl_sync", "shfl_up_sync", "shfl_down_sync",
    "shfl_xor_sync", "all_sync", "any_sync", "eq_sync", "ballot_sync", "match_any_sync", "match_all_sync",
    "activemask", "atomic", "add", "sub", "min", "max", "nanmin", "nanmax", "exch", "cas", "inc", "dec",
    "and_", "or_", "xor", "compare_and_swap", "threadfence", "threadfence_block", "threadfence_system", "cg",
    "this_grid", "sync", "nanosleep", "ldca", "ldcg", "ldcs", "ldcv", "ldlu", "stcg", "stcs", "stwb", "stwt",
    "fma", "popc", "clz", "ffs", "brev", "selp", "cbrt", "types", "fp16",
}  # fmt: skip
OF_ARRAYS = {"shape", "size", "ndim", "dtype", "type"}
ATTRIBUTES = CUDA | NUMBERS | OF_ARRAYS | {name for name in dir(math) if name[0] != "_"}
REFUSED = (
    ast.Lambda, ast.ClassDef, ast.AsyncFunctionDef, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal,
    ast.Try, ast.With, ast.Yield, ast.YieldFrom, ast.Await, ast.ListComp, ast.DictComp, ast.SetComp,
    ast.GeneratorExp, ast.JoinedStr, ast.NamedExpr, ast.Delete, ast.Starred,
)  # fmt: skip


def refuse_what_is_no_kernel(answer: Answer) -> None:
    """Raises Stopped with status forbidden, naming line and reason, if the answer does more than compute."""
    for label, source, chosen in answer.cells:
        body = ast.parse(source).body
        for index in chosen:
            if reason := _why_not(body[index]):
                line = f"{label}, line {getattr(body[index], 'lineno', 0)}"
                said = f"A kernel may only compute: {reason} ({line}). A GPU could not run it either."
                raise Stopped(Status.forbidden, said)


def _why_not(statement: ast.stmt) -> str | None:
    """Why a statement beside or of a kernel is refused; None if it is not."""
    if isinstance(statement, ast.Import):
        strange = [each.name for each in statement.names if each.name.split(".")[0] not in IMPORTS]
        return f"import {strange[0]}" if strange else None
    if isinstance(statement, ast.ImportFrom):
        ours = statement.module == "rnnlab" and not statement.level
        return None if ours or (statement.module or "") in IMPORTS else f"import from {statement.module}"
    if isinstance(statement, ast.FunctionDef):
        return _why_not_inside(statement)
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        return _first_reason(ast.walk(statement)) or (
            "a call" if any(isinstance(node, ast.Call) for node in ast.walk(statement)) else None
        )
    return f"a statement that is neither import, constant nor function ({type(statement).__name__})"


def _why_not_inside(function: ast.FunctionDef) -> str | None:
    if function.args.defaults or function.args.kw_defaults:
        return "a default argument"
    if any(isinstance(node, ast.FunctionDef) for node in ast.walk(function) if node is not function):
        return "a function inside a function"
    return _first_reason(ast.walk(function))


def _first_reason(nodes: object) -> str | None:
    for node in nodes:
        if isinstance(node, REFUSED):
            return f"no {type(node).__name__}"
        if isinstance(node, ast.Attribute) and node.attr not in ATTRIBUTES:
            return f".{node.attr}"
        if isinstance(node, ast.Name) and _is_refused_name(node.id):
            return node.id
    return None


def _is_refused_name(name: str) -> bool:
    return name.startswith("__") or (hasattr(builtins, name) and name not in ALLOWED_BUILTINS)
