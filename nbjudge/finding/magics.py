"""What IPython changes in a cell before Python reads it: prompts and a common indentation go, its own lines
become empty or `pass`, `%time x = 1` becomes `x = 1`. Every line keeps its number.

The rules are those of IPython's input transformers; that both give the same names is tested.
"""

import re

LINE_MAGIC = re.compile(r"^\s*([%!,;/]|\?\w|\?\?)|^\s*%?[\w.*]+\?{1,2}\s*$")
ASSIGNED_MAGIC = re.compile(r"^(\s*[\w., ]+(?:\[[\"']?\w+[\"']?\]\s*)*=\s*)[%!].*$")
RUNS_ITS_LINE = re.compile(r"^(\s*)%(?:time|prun)\s+((?:-\w+\s+)*)(?=\S)(?!-)")
RUNS_ITS_CELL = re.compile(r"^%%(time|capture|prun|memit|mprun|debug)\b")
PROMPT = re.compile(r"^(>>>|\.\.\.|\s*In \[\d+\]:|\s*\.{3,}:)( |$)")
MAY_GIVE_NAMES = re.compile(r"^\s*%{1,2}(run|load|store|writefile|pylab|cython|timeit|\w+_ext|reload\w*)\b")
TOKEN = re.compile(  # what decides where a statement ends: texts, comments, brackets, line ends
    r"(?P<text>[bBrRuUfF]{0,2}(?:'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\"|"
    r"'(?:[^\\'\n]|\\.)*'|\"(?:[^\\\"\n]|\\.)*\"))"
    r"|(?P<comment>\#[^\n]*)|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<joined>\\\n)|(?P<end>\n)",
    re.DOTALL,
)


def tidied(text: str) -> str:
    """The cell without a byte order mark, prompts, and the indentation of its first line."""
    lines = text.removeprefix("\ufeff").split("\n")
    if any(PROMPT.match(line) for line in lines[:2]):
        lines = [PROMPT.sub("", line) for line in lines]
    first = next((line for line in lines if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip(" \t"))]
    return "\n".join(line.removeprefix(indent) for line in lines) if indent else "\n".join(lines)


def blanked(text: str) -> str:
    """The text with an empty line where IPython has its own."""
    lines = text.split("\n")
    first = next((n for n, line in enumerate(lines) if line.strip()), 0)
    if lines[first].startswith("%%"):
        if not RUNS_ITS_CELL.match(lines[first]):
            return "\n" * (len(lines) - 1)
        lines[first] = ""
    return _without_magics("\n".join(lines))


def may_give_names(text: str) -> list[tuple[int, str]]:
    """[(line, magic), ...] of those that run code or load names, which no grading does."""
    return [(n, line.strip()) for n, line in enumerate(text.split("\n"), 1) if MAY_GIVE_NAMES.match(line)]


def _without_magics(text: str) -> str:
    """Magics are only where a statement may begin: not in a text or between brackets."""
    lines = text.split("\n")
    number = 0
    at = 0
    while number < len(lines):
        line = lines[number]
        end = number + 1
        if _is_ipython(line):
            while lines[end - 1].endswith("\\") and end < len(lines):
                end += 1  # a backslash joins the next line to it
        else:
            end = max(end, number + text.count("\n", at, _statement_end(text, at)))
        at += sum(len(part) + 1 for part in lines[number:end])
        if _is_ipython(line):
            lines[number:end] = [_plain(line), *[""] * (end - number - 1)]
        number = end
    return "\n".join(lines)


def _is_ipython(line: str) -> bool:
    patterns = LINE_MAGIC.search(line) or ASSIGNED_MAGIC.match(line)
    return bool(patterns) and not line.lstrip().startswith("#")


def _plain(line: str) -> str:
    """What is left of a line of IPython's as Python; a block may have no other line."""
    line = RUNS_ITS_LINE.sub(r"\1", line)
    if ASSIGNED_MAGIC.match(line):
        return ASSIGNED_MAGIC.sub(r"\1None", line)
    indent = line[: len(line) - len(line.lstrip())]
    return f"{indent}{('pass' if indent else '')}" if LINE_MAGIC.search(line) else line


def _statement_end(text: str, begin: int) -> int:
    """Where the line ends with which the statement at `begin` ends."""
    depth = 0
    for token in TOKEN.finditer(text, begin):
        kind = token.lastgroup
        depth += (kind == "open") - (kind == "close")
        if kind == "end" and depth <= 0:
            return token.end()
    return len(text)
