"""Notebook sources as text: cells of py:percent, and the exercise that a solution's cell holds.

`# %% [markdown]` opens a cell of prose, every line of it behind `# `; `# %%` opens a cell of code, and
`# %% [folded]` one of code that JupyterLab shows folded: of its text the first line alone, a comment that
says what the cell does. Each of these lines may continue with a title, for the author. Cells of the kinds
in HIDDEN are in no notebook: the text of an exercise (nbjudge/authoring/exercise_text.py) says with them what
its check needs. A mistake in a source is a SourceError that names file and line.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

BEGIN = "### BEGIN SOLUTION"
END = "### END SOLUTION"
NEARLY = re.compile(r"#\s*(?:begin|end)\s*solution", re.I)  # a marker with a typing error
OPENING = re.compile(r"^# %%(?: \[(?P<kind>\w+)\])?(?: (?P<title>.*))?$")
# kinds of cells that no notebook shows
HIDDEN = ("properties", "hint", "mistake", "right", "wrong", "reference", "variant")
CODE = ("code", "right", "wrong", "reference")  # kinds whose text is a program; all others are prose
FOLDED = "folded"  # kind of a cell of code that only prints, draws or imports
INCLUDE = "exercise"  # kind of an empty cell that stands for the exercise named in its title
DEFINITION = re.compile(r"^(?:def|class) (\w+)", re.M)


class SourceError(ValueError):
    """A source text that cannot be built: names the file, the line, and what to mend."""


@dataclass(frozen=True)
class SourceCell:
    """One cell of a source text."""

    kind: str  # "markdown", "code", or one of HIDDEN
    text: str
    where: str = ""  # file of the source, for messages
    line: int = 1  # of the source, where the text begins
    title: str = ""  # the rest of the opening line
    opening: int = 0  # line of the source that opens the cell
    is_folded: bool = False  # its notebook shows the first line alone

    def error(self, offset: int, message: str) -> SourceError:
        """The error that stands `offset` lines into the text of this cell; -1 is the opening line."""
        line = self.opening if offset < 0 else self.line + offset
        return SourceError(f"{self.where}:{line}: {message}")


def parse(text: str, where: str) -> list[SourceCell]:
    """The cells of a py:percent text; comments before the first belong to the file, not to the notebook."""
    lines = text.split("\n")
    openings = [n for n, line in enumerate(lines) if OPENING.match(line)]
    if not openings:
        raise SourceError(f"{where}:1: no cell; open one with '# %%' or '# %% [markdown]'")
    for n, line in enumerate(lines[: openings[0]]):
        if line.strip() and not line.startswith("#"):
            raise SourceError(f"{where}:{n + 1}: this line stands before the first '# %%' and would be lost")
    spans = zip(openings, [*openings[1:], len(lines)], strict=True)
    return [_cell(lines[start], lines[start + 1 : end], where, start + 2) for start, end in spans]


def _cell(opening: str, lines: list[str], where: str, first: int) -> SourceCell:
    match = OPENING.match(opening)
    is_folded = match["kind"] == FOLDED
    kind = "code" if is_folded else match["kind"] or "code"
    title = (match["title"] or "").strip()
    if kind not in ("code", "markdown", INCLUDE, *HIDDEN):
        message = (
            f"no cell is [{kind}]; there are [markdown], [{INCLUDE}], [{'], ['.join((*HIDDEN, FOLDED))}]"
        )
        raise SourceError(f"{where}:{first - 1}: {message}")
    prose = kind not in CODE
    blank = ("", "#") if prose else ("",)
    filled = [n for n, line in enumerate(lines) if line.strip() not in blank]
    begin = min(filled, default=0)
    lines = lines[begin : max(filled, default=-1) + 1]
    cell = SourceCell(kind, "\n".join(lines), where, first + begin, title, first - 1, is_folded)
    if kind == INCLUDE and (lines or not title.isidentifier()):
        raise cell.error(-1, "[exercise] is followed by the exercise's name and by no text")
    if not lines and kind != INCLUDE:
        raise cell.error(-1, "an empty cell")
    if is_folded and not lines[0].startswith("# "):
        raise cell.error(0, f"a [{FOLDED}] cell begins with a comment that says what the cell does")
    return replace(cell, text="\n".join(_uncommented(cell))) if prose else cell


def _uncommented(cell: SourceCell) -> list[str]:
    lines = cell.text.split("\n")
    for n, line in enumerate(lines):
        if line.strip() not in ("", "#") and not line.startswith("# "):
            raise cell.error(n, f"prose stands behind '# ', but this line is {line!r}")
    return [line[2:] for line in lines]


def defines(cell: SourceCell) -> str | None:
    """Name of the function or class that holds the cell's first solution region, None where there is none."""
    before, marker, _ = cell.text.partition(BEGIN)
    names = DEFINITION.findall(before) if cell.kind == "code" and marker else []
    return names[-1] if names else None


def cut(cell: SourceCell, size: Callable[[str], str] = lambda name: "") -> SourceCell:
    """The exercise in a solution's cell: what stands between the markers becomes one line that raises.

    size(name) says how long the answer is, for that line: "about 2 lines".
    """
    shown = []
    begun = None
    name = None
    for n, line in enumerate(cell.text.split("\n")):
        mark = line.strip()
        if mark == BEGIN:
            _may_begin(cell, n, begun, inside=name is not None and line != mark)
            begun = n
        elif mark == END:
            if begun is None:
                raise cell.error(n, f"{END} without its {BEGIN}")
            shown.append(_raise(line, name, size(name)))
            begun = None
        elif NEARLY.search(line):
            raise cell.error(n, f"{mark!r} is not a marker; write {BEGIN!r} or {END!r} alone on a line")
        elif begun is None:
            name = definition[1] if (definition := DEFINITION.match(line)) else name
            shown.append(line)
    if begun is not None:
        raise cell.error(begun, f"{BEGIN} without its {END} in the same cell")
    return replace(cell, text="\n".join(shown))


def _may_begin(cell: SourceCell, n: int, begun: int | None, inside: bool) -> None:
    if begun is not None:
        raise cell.error(n, f"{BEGIN} inside the region that begins on line {cell.line + begun}")
    if not inside:
        raise cell.error(n, f"{BEGIN} outside a function: the untouched exercise would stop at this cell")


def _raise(marker: str, name: str | None, size: str) -> str:
    indent = marker[: len(marker) - len(marker.lstrip())]
    return f"{indent}raise NotImplementedError" + (f'("{name}: {size}")' if size else "")
