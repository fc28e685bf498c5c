"""What IPython changes in a cell before Python reads it: a common indentation and prompts go, its own lines
become empty or `pass`, `%time x = 1` becomes `x = 1`. `%env` stays a call, and a shell line whose output is
assigned becomes one that fails, because a grade runs no programs. Every line keeps its number.

The rules are those of IPython's input transformers; that both give the same names is tested.
"""

import ast
import re
import warnings
from itertools import groupby
from textwrap import dedent

LINE_MAGIC = re.compile(r"^\s*([%!,;/]|\?\w|\?\?)|^\s*%?[\w.*]+\?{1,2}\s*$")
ASSIGNED_MAGIC = re.compile(r"^(\s*[\w., ]+(?:\[[\"']?\w+[\"']?\]\s*)*=\s*)([%!])\s*(\w*)\s*(.*)$")
ENVIRONMENT = re.compile(r"^(\s*)%(env|set_env)\s+(\S.*)$")
RUNS_ITS_LINE = re.compile(r"^(\s*)%(?:time|prun)\s+((?:--?\w[\w-]*\s+)*)(?=\S)(?!--?[A-Za-z])")
RUNS_ITS_CELL = re.compile(r"^%%(time|capture|prun|memit|mprun|debug)\b")
PROMPT = re.compile(r"^((?:(?:\[nav\]|\[ins\])? )?In \[\d+\]:(?: |$)|\s*\.{3,}: ?)")
FIRST_PROMPT = re.compile(r"^\s*>>>")
DOCTEST_PROMPT = re.compile(r"^\s*(?:>>>|\.\.\.)[ \t]?")
TRIPLE_QUOTES = re.compile(r"(?<!\\)(?:\"\"\"|''')")
TEXT_PREFIX = re.compile(r"^[rubf]*$", re.IGNORECASE)
LEFT_OUT = re.compile(  # what runs code, loads names or writes files, in a notebook alone
    r"^\s*(?:%{1,2}(?:run|load|store|writefile|pylab|cython|timeit|\w+_ext|reload\w*|capture +\w+|macro"
    r"|recall|rerun|cd|bash|sh|script)\b|!.*(?:>|\b(?:cp|curl|gdown|git|mv|tar|tee|touch|unzip|wget)\b))"
)
TELLS = re.compile(r"\.(run_cell|run_cell_magic|run_line_magic|ex)\(")
TOLD = {  # methods of get_ipython(): what they do, as a cell
    "run_cell": "{}",
    "ex": "{}",
    "run_cell_magic": "%%{} {}\n{}",
    "run_line_magic": "%{} {}",
}
TOKEN = re.compile(  # what decides where a statement ends: texts, comments, brackets, line ends
    r"(?P<text>[bBrRuUfF]{0,2}(?:'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\"|"
    r"'(?:[^\\'\n]|\\.)*'|\"(?:[^\\\"\n]|\\.)*\"))"
    r"|(?P<comment>\#[^\n]*)|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<joined>\\\n)|(?P<end>\n)",
    re.DOTALL,
)


def tidied(text: str) -> str:
    """The cell without a byte order mark, its common indentation, and prompts."""
    lines = dedent(text.removeprefix("\ufeff")).split("\n")
    lines = _without_doctest_prompts(lines)
    begin = first_filled(lines)
    if any(PROMPT.match(line) for line in lines[begin : begin + 2]):
        lines = [PROMPT.sub("", line) for line in lines]
    return "\n".join(lines)


def first_filled(lines: list[str]) -> int:
    """The place of the first line that is not empty; 0 if all are."""
    return next((number for number, line in enumerate(lines) if line.strip()), 0)


def _without_doctest_prompts(lines: list[str]) -> list[str]:
    """The lines without `>>>` and `...` if a line outside of docstrings begins with `>>>`."""
    docstrings = _of_docstrings(lines)
    if not any(
        FIRST_PROMPT.match(line) for line, is_kept in zip(lines, docstrings, strict=True) if not is_kept
    ):
        return lines
    stripped = []
    for is_kept, group in groupby(zip(lines, docstrings, strict=True), key=lambda pair: pair[1]):
        part = [line for line, _ in group]
        if not is_kept:
            plain = [DOCTEST_PROMPT.sub("", line, count=1) for line in part]
            part = dedent("\n".join(plain)).split("\n") if plain != part else part
        stripped += part
    return stripped


def _of_docstrings(lines: list[str]) -> list[bool]:
    """Whether a line belongs to a text in triple quotes that begins its line, as a docstring does."""
    docstrings = []
    quotes = None
    is_docstring = False
    has_prompts = False
    for line in lines:
        docstrings.append(quotes is not None and is_docstring)
        for match in TRIPLE_QUOTES.finditer(line):
            if quotes is None:
                quotes = match[0]
                before = line[: match.start()]
                plain = DOCTEST_PROMPT.sub("", before, count=1)
                is_code = has_prompts and plain != before
                is_docstring = not is_code and bool(TEXT_PREFIX.match(plain.strip()))
                docstrings[-1] = is_docstring
            elif quotes == match[0]:
                quotes = None
                is_docstring = False
        has_prompts = has_prompts or bool(FIRST_PROMPT.match(line))
    return docstrings


def blanked(text: str) -> str:
    """The text with an empty line where IPython has its own."""
    lines = text.split("\n")
    first = first_filled(lines)
    if lines[first].startswith("%%"):
        if not RUNS_ITS_CELL.match(lines[first]):
            return "\n" * (len(lines) - 1)
        lines[first] = ""
    return _without_magics("\n".join(lines))


def unfolded(text: str) -> str:
    """The text, in which code that get_ipython() is told to run stands itself, as nbconvert found it."""
    if not TELLS.search(text):
        return text
    try:
        body = statements(text)
    except SyntaxError:
        return text
    lines = text.split("\n")
    for statement in reversed(body):
        code = _told(statement)
        is_alone = sum(other.lineno <= statement.end_lineno <= other.end_lineno for other in body) == 1
        if code is not None and is_alone:
            lines[statement.lineno - 1 : statement.end_lineno] = code.strip("\n").split("\n")
    return "\n".join(lines)


def statements(text: str) -> list[ast.stmt]:
    """The statements of a cell. Raises SyntaxError, also for what is nested too deeply."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an invalid escape in a learner's text is not ours to report
        try:
            return compile(text, "<cell>", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT).body
        except (ValueError, RecursionError, MemoryError) as error:
            raise SyntaxError(str(error) or "this cell is nested too deeply") from None


def _told(statement: ast.stmt) -> str | None:
    """The Python that a statement such as get_ipython().run_cell_magic("time", "", code) runs, else None."""
    call = getattr(statement, "value", None)
    if not (isinstance(statement, ast.Expr) and isinstance(call, ast.Call) and not call.keywords):
        return None
    how = TOLD.get(getattr(call.func, "attr", ""))
    texts = [
        part.value for part in call.args if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]
    if how is None or len(texts) != len(call.args) or len(texts) != how.count("{}"):
        return None
    return blanked(tidied(how.format(*texts)))


def left_out(text: str) -> list[tuple[int, str]]:
    """[(line, magic), ...] of those whose names and files a grade does not have."""
    return [(n, line.strip()) for n, line in enumerate(text.split("\n"), 1) if LEFT_OUT.match(line)]


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
    if assigned := ASSIGNED_MAGIC.match(line):
        target, sign, magic, rest = assigned.groups()
        timed = RUNS_ITS_LINE.sub("", f"%time {rest}") if rest else "None"
        values = {"time": timed, "env": f"__import__('os').environ[{rest!r}]"}
        return target + (values.get(magic, "None") if sign == "%" else f"output_of_program({line.strip()!r})")
    if setting := ENVIRONMENT.match(line):
        indent, magic, rest = setting.groups()
        return f"{indent}get_ipython().run_line_magic({magic!r}, {rest!r})"
    indent = line[: len(line) - len(line.lstrip())]
    if LINE_MAGIC.search(line):
        return f"{indent}{('pass' if indent else '')}"
    return line


def _statement_end(text: str, begin: int) -> int:
    """Where the line ends with which the statement at `begin` ends."""
    depth = 0
    for token in TOKEN.finditer(text, begin):
        kind = token.lastgroup
        depth += (kind == "open") - (kind == "close")
        if kind == "end" and depth <= 0:
            return token.end()
    return len(text)
