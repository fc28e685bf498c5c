"""What a kernel's source may hold: what Numba compiles for a GPU, and nothing that reaches the simulator.

The counts and findings of a kernel are made in the process that it runs in. They can be believed because no
other code of the submission ever runs there: the worker of a kernel exercise executes only the statements
that passed here, and those can do nothing but compute. Names are followed to the module that they come from,
so that `cuda.shared.array` is one thing and `numpy.array` another. What is refused:

    of a module, every name outside short lists; of a value, every attribute but shape, x, y, z and the like
    imports of anything but NumPy, math, Numba and the course's cuda; builtins that no GPU has
    lists, dicts, sets and comprehensions in a kernel, which would be memory that nobody counts
    decorators other than cuda.jit, and statements beside a kernel that are no import, function or constant

Whether a GPU would compile the rest is the simulator's judgement (simulator/strict.py), part of every launch.
"""

import ast
import builtins
import inspect
import math
import textwrap
from collections.abc import Callable, Iterator

import numpy as np

from nbjudge.running.worker import Answer
from nbjudge.verdict import Status, Stopped

NUMBERS = {f"{kind}{bits}" for kind in ("int", "uint", "float") for bits in (8, 16, 32, 64)}
NUMBERS |= {"bool_", "intp", "uintp", "void", "boolean", "none"}
OF_MATH = {name for name in dir(math) if name[0] != "_"}
OF_NUMPY = NUMBERS | {"pi", "e", "inf", "nan", "ndarray", "dtype", "abs", "absolute", "minimum", "maximum"}
OF_NUMPY |= {"sign", "square", "power", "rint", "negative", "add", "subtract", "multiply", "divide"}
OF_NUMPY |= {name for name in OF_MATH if name not in {"dist", "fsum", "prod", "sumprod", "hypot"}}
TABLES = {
    "array",
    "asarray",
    "zeros",
    "ones",
    "full",
    "arange",
    "linspace",
}  # made beside a kernel, read-only
OF_CUDA = {
    "jit", "grid", "gridsize", "threadIdx", "blockIdx", "blockDim", "gridDim", "laneid", "warpsize", "x", "y",
    "z", "shared", "local", "const", "array", "array_like", "syncthreads", "syncthreads_count",
    "syncthreads_and", "syncthreads_or", "syncwarp", "shfl_sync", "shfl_up_sync", "shfl_down_sync",
    "shfl_xor_sync", "all_sync", "any_sync", "eq_sync", "ballot_sync", "match_any_sync", "match_all_sync",
    "activemask", "lanemask_lt", "atomic", "add", "sub", "min", "max", "nanmin", "nanmax", "exch", "cas",
    "inc", "dec", "and_", "or_", "xor", "compare_and_swap", "threadfence", "threadfence_block",
    "threadfence_system", "cg", "this_grid", "sync", "nanosleep", "ldca", "ldcg", "ldcs", "ldcv", "ldlu",
    "stcg", "stcs", "stwb", "stwt", "fma", "popc", "clz", "ffs", "brev", "selp", "cbrt", "types", "fp16",
} | NUMBERS  # fmt: skip
OF_MODULES = {"numpy": OF_NUMPY, "math": OF_MATH, "numba": NUMBERS | {"types"}, "numba.types": NUMBERS}
OF_MODULES |= {
    "rnnlab": {"check", "hint", "use", "progress", "banner", "show_source"},
    "__future__": {"annotations"},
}
OF_VALUES = {"shape", "size", "ndim", "dtype", "type", "x", "y", "z", "w", "sync", "real", "imag", "itemsize"}
BUILTINS = {
    "range", "min", "max", "abs", "len", "int", "float", "bool", "round", "pow", "tuple", "enumerate", "zip",
    "print", "True", "False", "None", "NotImplementedError", "AssertionError", "ValueError", "IndexError",
}  # fmt: skip
OPTIONS = {
    "device",
    "inline",
    "debug",
    "opt",
    "fastmath",
    "lineinfo",
    "max_registers",
    "cache",
    "forceinline",
}
NO_LIST = "a GPU has no {what}; constants fit into a tuple, numbers of a thread into cuda.local.array"
NO_GPU = {  # nodes that Numba has no code for, and that would hide memory from the counts
    ast.List: "list", ast.Dict: "dict", ast.Set: "set", ast.ListComp: "list", ast.DictComp: "dict",
    ast.SetComp: "set", ast.GeneratorExp: "generator",
}  # fmt: skip
REFUSED = (
    ast.Lambda, ast.ClassDef, ast.AsyncFunctionDef, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal,
    ast.Try, ast.With, ast.Yield, ast.YieldFrom, ast.Await, ast.JoinedStr, ast.NamedExpr, ast.Delete,
    ast.Starred, ast.Match, ast.AsyncFor, ast.AsyncWith, ast.FormattedValue,
)  # fmt: skip


Names = dict[str, str | None]  # what a name beside the kernel stands for: a dotted path, None for a value


class NoKernel(Exception):
    """Something that no kernel holds: a sentence, whether it reaches beyond computing, and the line."""

    def __init__(self, sentence: str, node: ast.AST | None = None, reaches: bool = True):
        super().__init__(sentence)
        self.sentence, self.reaches, self.line = sentence, reaches, getattr(node, "lineno", None)


def refuse_what_is_no_kernel(answer: Answer) -> None:
    """Raises Stopped, naming line and reason, if the answer does more than compute or is no kernel."""
    statements = [
        (label, _trimmed(statement, answer.names))
        for label, source, chosen in answer.cells
        for index, statement in enumerate(ast.parse(source).body)
        if index in chosen
    ]
    names: Names = {}
    for label, statement in statements:  # all of them first: cells may stand in any order
        _refuse(_bind, statement, names, label)
    for label, statement in statements:
        _refuse(_hold, statement, names, label)
    _insist_on_jit(answer.name, [statement for _, statement in statements])


def refuse_a_function(function: Callable) -> None:
    """The same for a notebook's function that is checked where it stands, if its source is known."""
    kernel = getattr(function, "py_func", None)
    if kernel is None:
        raise _plain(getattr(function, "__name__", "It"))
    try:
        source = textwrap.dedent("".join(inspect.getsourcelines(kernel)[0]))
        statement = ast.parse(source).body[0]
    except (OSError, TypeError, SyntaxError, IndexError):
        return
    # what was imported name by name is unknown here, and strict mode judges it
    modules = {name: _home(value) for name, value in kernel.__globals__.items() if inspect.ismodule(value)}
    if isinstance(statement, ast.FunctionDef):
        statement.decorator_list = []
        _refuse(_hold, statement, dict.fromkeys(kernel.__globals__) | modules, "")


def _home(module: object) -> str:
    """The module's name in the tables above."""
    name = getattr(module, "__name__", "")
    return "cuda" if name in ("pocketgpu.cuda", "pocketgpu.simulator", "numba.cuda") else name


def _trimmed(statement: ast.stmt, needed: list[str]) -> ast.stmt:
    """An import with those names only that the worker will import; every other statement as it is."""
    if isinstance(statement, ast.Import | ast.ImportFrom) and needed != ["*"]:
        bound = lambda alias: alias.asname or alias.name.partition(".")[0]
        statement.names = [alias for alias in statement.names if bound(alias) in (*needed, "*")]
    return statement


def _refuse(hold: Callable, statement: ast.stmt, names: Names, label: str) -> None:
    try:
        hold(statement, names)
    except NoKernel as problem:
        line = f"line {problem.line or getattr(statement, 'lineno', 0)}"
        place = f"{label}, {line}" if label else line
        if problem.reaches:
            message = f"A kernel may only compute: {problem.sentence} ({place})."
            raise Stopped(Status.forbidden, message) from None
        message = f"This is no kernel for a GPU: {problem.sentence} ({place})."
        raise Stopped(
            Status.failed, message, "write the loop over single elements, as one thread of many"
        ) from None


def _bind(statement: ast.stmt, names: Names) -> None:
    """Add what a statement binds to `names`. A name for two things would be judged as the wrong one."""
    for name, path in _bindings(statement, names):
        if names.setdefault(name, path) != path:
            raise NoKernel(f"{name} stands for two things", statement)


def _bindings(statement: ast.stmt, names: Names) -> Iterator[tuple[str, str | None]]:
    if isinstance(statement, ast.Import | ast.ImportFrom):
        yield from _imported(statement)
    elif isinstance(statement, ast.FunctionDef):
        yield statement.name, None
    elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            path = _path(statement.value, names) if isinstance(target, ast.Name) and statement.value else None
            yield from ((node.id, path) for node in ast.walk(target) if isinstance(node, ast.Name))


def _hold(statement: ast.stmt, names: Names) -> None:
    """Raises NoKernel for a statement beside or of a kernel."""
    if isinstance(statement, ast.FunctionDef):
        _hold_function(statement, names)
    elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        _hold_constant(statement, names)
    elif not isinstance(statement, ast.Import | ast.ImportFrom):
        kind = type(statement).__name__
        raise NoKernel(
            f"a statement beside it that is neither import, constant nor function ({kind})", statement
        )


def _imported(statement: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """(name, dotted path of what it stands for) of an import."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            path = alias.name.replace("numba.cuda", "cuda").replace("rnnlab.cuda", "cuda")
            if path not in ("cuda", "rnnlab", *OF_MODULES):
                raise NoKernel(f"import {alias.name}", statement)
            top = alias.name.partition(".")[0]
            yield (alias.asname, path) if alias.asname else (top, top)
        return
    module = statement.module or ""
    for alias in statement.names:
        if module in ("rnnlab", "numba") and alias.name == "cuda":
            yield alias.asname or "cuda", "cuda"
        elif module == "numba.cuda" and alias.name in OF_CUDA:
            yield alias.asname or alias.name, f"cuda.{alias.name}"
        elif module == "math" and alias.name == "*":
            yield from ((name, f"math.{name}") for name in OF_MATH)
        elif not statement.level and alias.name in OF_MODULES.get(module, ()):
            yield alias.asname or alias.name, f"{module}.{alias.name}"
        elif module == "numpy" and alias.name != "*":
            raise NoKernel(_whole_arrays(alias.name), statement, reaches=False)
        else:
            raise NoKernel(f"import from {module or '.'} of {alias.name}", statement)


def _whole_arrays(name: str) -> str:
    return f"numpy.{name} works on whole arrays, a thread on single elements"


def _hold_function(function: ast.FunctionDef, names: Names) -> None:
    for decorator in function.decorator_list:
        _hold_decorator(decorator, names)
    parameters = function.args
    for default in filter(None, (*parameters.defaults, *parameters.kw_defaults)):
        _hold_expressions(default, names, set())
        if any(isinstance(node, ast.Call) and _path(node.func, names) is None for node in ast.walk(default)):
            raise NoKernel("a default argument that is made by a call", default)
    if any(isinstance(node, ast.FunctionDef) for node in ast.walk(function) if node is not function):
        raise NoKernel("a function inside a function", function)
    own = {argument.arg for argument in ast.walk(parameters) if isinstance(argument, ast.arg)}
    own |= {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    inside = {name: path for name, path in names.items() if name not in own}
    for statement in function.body:
        _hold_expressions(statement, inside, own)


def _hold_decorator(decorator: ast.expr, names: Names) -> None:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    if _path(called, names) != "cuda.jit":
        word = ast.unparse(called)
        raise NoKernel(f"the decorator {word}: a kernel is made by cuda.jit", decorator, reaches=False)
    if isinstance(decorator, ast.Call):
        _hold_jit(decorator, names)


def _hold_jit(call: ast.Call, names: Names) -> None:
    for keyword in call.keywords:
        if keyword.arg not in OPTIONS:
            raise NoKernel(f"cuda.jit({keyword.arg}=…)", call)
    for part in (*call.args, *(keyword.value for keyword in call.keywords)):
        _hold_expressions(part, names, set(), lists=True)


def _hold_constant(statement: ast.Assign | ast.AnnAssign | ast.AugAssign, names: Names) -> None:
    """A constant beside a kernel: numbers, tuples, dtypes, tables, and what a few functions make of them."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    for node in (node for target in targets for node in ast.walk(target)):
        if not isinstance(node, ast.Name | ast.Tuple | ast.expr_context):
            raise NoKernel("an assignment to a part of something", statement)
    if statement.value is None:
        return
    calls = [node for node in ast.walk(statement.value) if isinstance(node, ast.Call)]
    table = any(_is_table(call.func, names) for call in calls)
    for call in calls:
        path = _path(call.func, names) or ""
        if path == "cuda.jit":
            _hold_jit(call, names)
        elif path.startswith("cuda"):
            raise NoKernel("a call of cuda outside the kernel", statement)
    _hold_expressions(statement.value, names, set(), lists=table, tables=True)


def _is_table(function: ast.expr, names: Names) -> bool:
    path = _path(function, names) or ""
    return path.startswith("numpy.") and path[6:] in TABLES


def _hold_expressions(
    tree: ast.AST, names: Names, own: set[str], lists: bool = False, tables: bool = False
) -> None:
    """Raises NoKernel for the first node that may not stand in a kernel."""
    for node in ast.walk(tree):
        kind = NO_GPU.get(type(node))
        if kind and not (lists and isinstance(node, ast.List)):
            raise NoKernel(NO_LIST.format(what=f"{kind}s"), node, reaches=False)
        if isinstance(node, REFUSED):
            raise NoKernel(f"no {type(node).__name__}", node)
        if isinstance(node, ast.Name) and _is_refused_name(node.id, own | names.keys()):
            raise NoKernel(node.id, node)
        if isinstance(node, ast.Attribute):
            _hold_attribute(node, names, tables)
        if isinstance(node, ast.Call):
            _hold_call(node, names, own)


def _hold_attribute(node: ast.Attribute, names: Names, tables: bool) -> None:
    if not isinstance(node.ctx, ast.Load):
        raise NoKernel(f"it sets .{node.attr}", node)
    path = _path(node, names)
    if path is None:
        if node.attr not in OF_VALUES:
            raise NoKernel(f".{node.attr}", node)
        return
    module, _, name = path.rpartition(".")
    if module == "numpy" and tables and name in TABLES:
        return
    known = OF_CUDA if module.partition(".")[0] == "cuda" else OF_MODULES.get(module, OF_VALUES)
    if path in ("numba.types", "cuda") or name in known:
        return
    if module == "numpy" and name[:1] != "_":
        raise NoKernel(_whole_arrays(name), node, reaches=False)
    raise NoKernel(f".{name}", node)


def _hold_call(call: ast.Call, names: Names, own: set[str]) -> None:
    path = _path(call.func, names)
    if path == "cuda.const.array_like":
        outside = len(call.args) == 1 and isinstance(call.args[0], ast.Name) and call.args[0].id not in own
        if not outside or call.keywords:
            sentence = (
                "cuda.const.array_like takes an array from outside the kernel; read an argument where it lies"
            )
            raise NoKernel(sentence, call, reaches=False)
    inputs = getattr(getattr(np, path[6:], None), "nin", None) if (path or "").startswith("numpy.") else None
    if inputs is not None and (call.keywords or len(call.args) > inputs):
        raise NoKernel(_whole_arrays(path[6:]), call, reaches=False)
    if isinstance(call.func, ast.Name) and call.func.id == "print" and call.keywords:
        raise NoKernel("print with options", call, reaches=False)


def _path(node: ast.expr, names: Names) -> str | None:
    """ "cuda.shared.array" for what a chain of names stands for; None for a value."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute) and (before := _path(node.value, names)) is not None:
        path = f"{before}.{node.attr}"
        return "cuda" if path in ("numba.cuda", "rnnlab.cuda") else path
    return None


def _is_refused_name(name: str, known: set[str]) -> bool:
    return name.startswith("__") or (name not in known and hasattr(builtins, name) and name not in BUILTINS)


def _insist_on_jit(name: str, statements: list[ast.stmt]) -> None:
    """Raises Stopped where the last definition of the answer's name is a function without cuda.jit."""
    binding = [
        statement for statement in statements if name in (bound for bound, _ in _bindings(statement, {}))
    ]
    if binding and isinstance(binding[-1], ast.FunctionDef) and not binding[-1].decorator_list:
        raise _plain(name)


def _plain(name: str) -> Stopped:
    message = f"{name} is a plain function, and a kernel is expected."
    return Stopped(Status.failed, message, "write @cuda.jit above its def")
