"""Fingerprints of programs: hashes of a normalised syntax tree, chosen by winnowing.

Names of variables, numbers, texts, comments and layout do not count; the order of operations, the attributes
and the functions that are called do. Winnowing (Schleimer, Wilkerson and Aiken, 2003) keeps the smallest hash
of every WINDOW neighbouring ones, so that any passage of WINDOW + LENGTH - 1 tokens that two programs share
gives them at least one common fingerprint, wherever it stands. Whole statements have hashes beside these.
"""

import ast
import builtins
import zlib
from collections.abc import Iterator
from typing import NamedTuple

LENGTH = 12  # tokens under one hash
WINDOW = 6  # hashes of which one is kept
LONG = 8  # words of a statement that is compared as a whole
COMMUTING = ast.Add, ast.Mult, ast.And, ast.Or, ast.Eq
HINTS = "annotation", "returns", "type_comment", "decorator_list"
BODIES = "body", "orelse", "finalbody", "handlers"
SKIPPED = (
    ast.expr_context,
    ast.operator,
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
    ast.Load,
    ast.Import,
    ast.ImportFrom,
)


class Token(NamedTuple):
    """One word of a normalised program."""

    word: str
    line: int  # in the text that the program was read from


class Fingerprint(NamedTuple):
    """Hash of LENGTH tokens, and the lines that they stand on."""

    digest: int
    first: int
    last: int


def tokens(program: str) -> list[Token]:
    """The normalised program; empty where Python cannot read it."""
    try:
        tree = ast.parse(program)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    try:
        return [token for statement in tree.body for token in _tokens(statement, 1)]
    except RecursionError:
        return []


def _tokens(node: ast.AST, line: int) -> Iterator[Token]:
    """A node's words before those of its parts, in the order of the text."""
    line = getattr(node, "lineno", line)
    if isinstance(node, SKIPPED) or _is_docstring(node):
        return
    yield from (Token(word, line) for word in _words(node))
    for field, value in ast.iter_fields(node):
        if field in HINTS:
            continue
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.AST):
                yield from _tokens(part, line)


def _words(node: ast.AST) -> Iterator[str]:
    """What stands for a node: its kind, its operators, and names that come from outside the program."""
    if isinstance(node, ast.Name):
        yield node.id if hasattr(builtins, node.id) or node.id in ("np", "cuda", "math") else "name"
        return
    yield type(node).__name__
    if isinstance(node, ast.Attribute):
        yield node.attr
    operators = [getattr(node, "op", None), *getattr(node, "ops", ())]
    yield from (type(operator).__name__ for operator in operators if operator is not None)


def _is_docstring(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def winnow(words: list[Token]) -> list[Fingerprint]:
    """The fingerprints of a program; a program of fewer than LENGTH tokens has none."""
    grams = [words[start : start + LENGTH] for start in range(len(words) - LENGTH + 1)]
    prints = [Fingerprint(_digest(gram), *_lines(gram)) for gram in grams]
    if len(prints) <= WINDOW:
        return [min(prints)] if prints else []
    chosen: dict[int, Fingerprint] = {}
    for start in range(len(prints) - WINDOW + 1):
        window = range(start, start + WINDOW)
        place = min(window, key=lambda n: (prints[n].digest, -n))  # of equal hashes the rightmost
        chosen[place] = prints[place]
    return list(chosen.values())


def all_digests(program: str) -> set[int]:
    """The hashes of all passages of LENGTH tokens of a program, whichever of them winnowing would choose, and
    of its statements."""
    words = tokens(program)
    grams = {_digest(words[start : start + LENGTH]) for start in range(len(words) - LENGTH + 1)}
    return grams | {mark.digest for mark in statement_prints(program)}


def statement_prints(program: str) -> list[Fingerprint]:
    """A hash of each statement that is long enough, in which the order of what is added, multiplied or
    compared for equality does not count: a copy whose statements stand in another order has the same ones."""
    try:
        nodes = [*ast.walk(ast.parse(program))]
        forms = [(_form(node), node) for node in nodes if isinstance(node, ast.stmt)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    digest = lambda form: zlib.crc32(f"statement {form}".encode())
    return [
        Fingerprint(digest(form), node.lineno, _last(node))
        for form, node in forms
        if len(form.split()) >= LONG
    ]


def _form(node: ast.AST) -> str:
    """A statement, or the head of a compound one, as words; empty for what fingerprints leave out."""
    if isinstance(node, SKIPPED) or _is_docstring(node) or isinstance(node, ast.FunctionDef | ast.ClassDef):
        return ""
    parts = [
        _form(part)
        for field, value in ast.iter_fields(node)
        if field not in HINTS + BODIES
        for part in (value if isinstance(value, list) else [value])
        if isinstance(part, ast.AST)
    ]
    operators = [getattr(node, "op", None), *getattr(node, "ops", ())]
    if any(isinstance(operator, COMMUTING) for operator in operators):
        parts.sort()
    return " ".join([*_words(node), *filter(None, parts)])


def _last(statement: ast.stmt) -> int:
    """The last line of a statement, or of the head of a compound one."""
    body = getattr(statement, "body", None)
    return max(statement.lineno, body[0].lineno - 1) if body else statement.end_lineno


def _digest(gram: list[Token]) -> int:
    return zlib.crc32(" ".join(token.word for token in gram).encode())


def _lines(gram: list[Token]) -> tuple[int, int]:
    lines = [token.line for token in gram]
    return min(lines), max(lines)


def shape(program: str) -> str:
    """A text that two programs share only if they differ in names, comments and layout alone."""
    try:
        tree = ast.parse(program)
        names: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name):
                node.id = names.setdefault(node.id, f"n{len(names)}")
            elif isinstance(node, ast.arg):
                node.arg = names.setdefault(node.arg, f"n{len(names)}")
                node.annotation = None
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                node.name = names.setdefault(node.name, f"n{len(names)}")
                node.body = [part for part in node.body if not _is_docstring(part)] or node.body
                node.returns = None
        return ast.dump(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
