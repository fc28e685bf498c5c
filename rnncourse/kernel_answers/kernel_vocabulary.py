"""The vocabulary of kernels: names of modules, attributes of values, nodes of Python's syntax tree.

It stands in kernel_vocabulary.toml; kernel_source.py refuses whatever is not there. BUILTINS stand with the
process that launches.
"""

import ast
import math

from rnncourse.tables import read_table

WORDS = read_table(__file__)
SIZED_NUMBERS = {f"{kind}{bits}" for kind in WORDS["kinds"] for bits in WORDS["bits"]}
NUMBERS = SIZED_NUMBERS.union(WORDS["numbers"])
OF_MATH = {name for name in dir(math) if name[0] != "_"}
OF_NUMPY = NUMBERS.union(WORDS["numpy"], OF_MATH.difference(WORDS["of_math_alone"]))
TABLES = {*WORDS["tables"]}
OF_CUDA = NUMBERS.union(WORDS["cuda"])
OF_MODULES = {
    "numpy": OF_NUMPY,
    "math": OF_MATH,
    "numba": NUMBERS | {"types"},
    "numba.types": NUMBERS,
    "rnnlab": {*WORDS["rnnlab"]},
    "__future__": {"annotations"},
}
OF_VALUES = {*WORDS["values"]}
OF_THE_CPU = {*WORDS["of_the_cpu"]}
OPTIONS = {*WORDS["options"]}
NO_LIST = "a GPU has no {what}; constants fit into a tuple, numbers of a thread into cuda.local.array"
SIGNS = (ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.expr_context)  # nodes without fields


def _by_node(table: str) -> dict[type[ast.AST], str | list[str]]:
    return {getattr(ast, name): value for name, value in WORDS[table].items()}


NO_GPU = _by_node("no_gpu")
FIELDS = _by_node("fields")


def word_of(kind: type[ast.AST]) -> str:
    """What the text of a program holds for a node of Python's syntax tree: try for ast.Try."""
    return WORDS["words"].get(kind.__name__, kind.__name__.lower())
