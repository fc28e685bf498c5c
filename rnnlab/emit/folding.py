"""Calls and signatures in lines of derived files, folded where they are too long for one."""

import textwrap

WIDTH = 110  # columns of a line


def signature(name: str, arguments: list[str]) -> str:
    """The first lines of a function."""
    return folded(f"def {name}", arguments, end=":")


def folded(name: str, arguments: list[str], indent: int = 0, end: str = "") -> str:
    """A name and its arguments in brackets, folded as the formatter does, or kept from it."""
    text = ", ".join(arguments)
    columns = WIDTH - indent
    inner = "    "
    result = f"{name}({text}){end}"
    if len(result) > columns:
        result = f"{name}(\n{inner}{text}\n){end}"
        if len(inner) + len(text) > columns:
            body = textwrap.fill(f"{text},", columns, initial_indent=inner, subsequent_indent=inner)
            result = f"{name}(\n{body}\n){end}  # fmt: skip"
    return textwrap.indent(result, " " * indent)
