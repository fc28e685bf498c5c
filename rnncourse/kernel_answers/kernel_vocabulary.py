"""The vocabulary of kernels: names of modules, attributes of values, nodes of Python's syntax tree.

kernel_source.py refuses whatever is not here. BUILTINS stand with the process that launches.
"""

import ast
import math

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
OF_THE_CPU = {"numba.jit", "numba.njit"}  # make a function that a kernel may call, as a device function
OPTIONS = {
    "device", "inline", "forceinline", "debug", "opt", "fastmath", "lineinfo", "max_registers", "cache",
    "nopython", "nogil", "parallel", "error_model", "boundscheck",
}  # fmt: skip
NO_LIST = "a GPU has no {what}; constants fit into a tuple, numbers of a thread into cuda.local.array"
NO_GPU = {  # nodes that Numba has no code for, and that would hide memory from the counts
    ast.List: "list", ast.Dict: "dict", ast.Set: "set", ast.ListComp: "list", ast.DictComp: "dict",
    ast.SetComp: "set", ast.GeneratorExp: "generator",
}  # fmt: skip
FIELDS: dict[type[ast.AST], tuple[str, ...]] = {  # of each node that a kernel may hold, what it may have
    ast.FunctionDef: ("name", "args", "body"),
    ast.arguments: ("posonlyargs", "args", "vararg"),
    ast.arg: ("arg",),
    **dict.fromkeys((ast.Pass, ast.Break, ast.Continue), ()),
    **dict.fromkeys((ast.Expr, ast.Return), ("value",)),
    ast.Assign: ("targets", "value"),
    ast.AugAssign: ("target", "op", "value"),
    ast.For: ("target", "iter", "body", "orelse"),
    **dict.fromkeys((ast.If, ast.While), ("test", "body", "orelse")),
    ast.Match: ("subject", "cases"),  # of numbers: Numba compiles them as comparisons
    ast.match_case: ("pattern", "body"),
    **dict.fromkeys((ast.MatchValue, ast.MatchSingleton), ("value",)),
    ast.MatchOr: ("patterns",),
    ast.MatchAs: (),  # case _: alone; a pattern that binds, unpacks or looks into its subject is refused
    ast.Assert: ("test", "msg"),
    ast.Raise: ("exc", "cause"),
    ast.BoolOp: ("op", "values"),
    ast.BinOp: ("left", "op", "right"),
    ast.UnaryOp: ("op", "operand"),
    ast.IfExp: ("test", "body", "orelse"),
    ast.Compare: ("left", "ops", "comparators"),
    ast.Call: ("func", "args", "keywords"),
    ast.keyword: ("arg", "value"),
    ast.Attribute: ("value", "attr", "ctx"),
    ast.Subscript: ("value", "slice", "ctx"),
    ast.Slice: ("lower", "upper", "step"),
    ast.Name: ("id", "ctx"),
    **dict.fromkeys((ast.Tuple, ast.List), ("elts", "ctx")),
    ast.NamedExpr: ("target", "value"),
    ast.Constant: ("value", "kind"),
}
SIGNS = (ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.expr_context)  # nodes without fields
WORDS = {  # nodes that are not called as in Python's grammar: what stands in the text for them
    ast.JoinedStr: "an f-string",
    ast.Starred: "*",
    ast.NamedExpr: ":=",
    ast.Delete: "del",
    ast.ClassDef: "class",
    ast.ImportFrom: "import",
    ast.YieldFrom: "yield from",
    ast.match_case: "case",
    **dict.fromkeys(
        (ast.MatchAs, ast.MatchClass, ast.MatchMapping, ast.MatchSequence, ast.MatchStar),
        "a case of anything but numbers and _",
    ),
}


def word_of(kind: type[ast.AST]) -> str:
    """What the text of a program holds for a node of Python's syntax tree: try for ast.Try."""
    return WORDS.get(kind, kind.__name__.lower())
