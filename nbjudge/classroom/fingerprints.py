"""The shape of a program: a text that two programs share only if names, comments and layout alone differ."""

import ast


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


def _is_docstring(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
