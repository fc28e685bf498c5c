"""From a notebook to one answer: the statements that the exercise's function needs.

The rule, for teachers: *An answer is graded with every statement of its notebook that it can depend on, in
the notebook's order, as after "Restart and run all"; nothing else runs.* A statement is needed if it gives a
value to a name that the answer uses, directly or through what else is needed, or if it may change the object
behind such a name: it writes into it (`T[0] = 0`, `T += x`), calls a method of it (`T.append(0)`), or passes
it to a function. What a needed statement uses is needed too. Whatever only prints, draws, checks or trains
with the answer stays out. Numbers and texts cannot be changed, so using them makes no statement needed. A
needed statement that fails is left out, and the verdict names its line and the reason, unless the answer
passes without it. Magics and shell lines do not run, but for the Python after `%time`, `%%time`, `%%capture`
and `%prun`.

An answer is judged with what stood above its own last `check`, as the learner saw it: a helper or a constant
that gets another meaning further down, for the next exercise, keeps the first one here. What has a meaning
below that check alone counts all the same, because cells may run in another order; and if the answer itself
is defined again below, the whole notebook counts.

Below a line at which its cell stopped with an error, as the error stored in the notebook says, nothing gives
a second meaning to a name. If the counts of the cells say that each ran once, in order, nothing counts there
but answers themselves: no kernel ran it.

Of several definitions of one name the last of these counts; untouched stubs are left out if there is
another, so that a copied cell never hides an answer. A result in a cell that shows an answer by `use(…)` does
not count as a second meaning of a name: its check stands above that cell. A statement that misses a
name waits for it, so that cells may stand in another order if each name gets one value only.
"""

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from difflib import get_close_matches
from itertools import groupby
from typing import NamedTuple

from nbjudge.course import exercise_names
from nbjudge.finding.check_calls import checked_names, checkers
from nbjudge.finding.effects import ANYTHING, Scope, words
from nbjudge.finding.needs import Names
from nbjudge.finding.reading import CodeCell
from nbjudge.running.worker import LearnerAnswer
from nbjudge.verdict import Status, Stopped

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
IMPORTS = (ast.Import, ast.ImportFrom)
NO_CALLS = (*DEFINITIONS, *IMPORTS)
GIVEN = re.compile(  # names to which a cell that cannot be parsed would give a meaning
    r"^(?:(?:async )?def |class |type )?(\w+)(?=\s*(?:\(|\[|:|=(?!=)))", re.MULTILINE
)
SHOWN = re.compile(r"\buse\(")
SETTINGS = {"sys"}  # modules whose state decides how every answer runs: sys.setrecursionlimit
# what a line has that looks into the process it runs in: see lines_that_look
ATTRIBUTES = {
    "__closure__", "__globals__", "__code__", "__dict__", "__subclasses__", "__builtins__", "cell_contents",
    "_getframe", "f_back", "f_locals", "f_globals", "tb_frame", "tape", "services", "handle", "get_objects",
    "get_referrers", "get_referents", "currentframe", "getsource",
}  # fmt: skip
MODULES = {"gc", "inspect", "ctypes", "sys", "builtins", "types", "importlib", "traceback", "dis"}
CALLS = {"globals", "locals", "vars", "eval", "exec", "compile", "__import__"}
LOOKING = ATTRIBUTES | MODULES | CALLS


class Part(NamedTuple):
    """A statement at the top of a cell, and what it does."""

    cell: CodeCell
    index: int  # among the statements of its cell
    statement: ast.stmt
    scope: Scope

    @property
    def gives(self) -> set[str]:
        """The names that get a value in its own text."""
        return {site.name for site in self.scope.sites if site.kind != "deletion"}

    @property
    def is_unrun(self) -> bool:
        """Does it stand below the line at which its cell stopped with an error?"""
        return self.cell.ran_to is not None and _first_line(self.statement) > self.cell.ran_to

    @property
    def is_stub(self) -> bool:
        return is_stub(self.statement)

    def attempts(self, name: str) -> bool:
        """Does it give the name a meaning of its own: no stub, and not made from the name itself?"""
        sites = [site for site in self.scope.sites if site.name == name and site.kind != "deletion"]
        return not self.is_stub and any(
            site.kind != "value" or not _uses(site.source, name) for site in sites
        )


def answer_in(cells: list[CodeCell], name: str, is_kernel: bool = False) -> LearnerAnswer:
    """What has to run for `name`; Stopped if there is nothing to judge. A kernel takes no calls beside it."""
    choice = _choice(cells)
    parts = choice.parts
    if not choice.attempts(name):
        raise _nothing_to_judge(cells, parts, name)
    limit = choice.checked_at(name)
    chosen, names = choice.needed(name, is_kernel, limit)
    ordered = _ordered([parts[index] for index in sorted(chosen)])
    pieces = [[*group] for _, group in groupby(ordered, key=lambda part: part.cell.number)]
    optional = [
        (parts[index].cell.label, parts[index].statement.lineno)
        for index in sorted(chosen)
        if not (parts[index].gives | parts[index].scope.stores) & names
    ]
    lost = [line for cell in cells for line in cell.magics]
    repeated = choice.repeated(chosen, names)
    unread = [syntax_error(cell) for cell in cells if cell.error and names & {*GIVEN.findall(cell.text)}]
    newer = next((cell.newer for cell in cells if cell.newer), "")
    texts = [_piece(piece[0].cell, [part.index for part in piece]) for piece in pieces]
    return LearnerAnswer(name, texts, sorted(names), optional, lost, repeated, unread, newer)


def defined(cells: list[CodeCell]) -> set[str]:
    """All names that the cells give at their top level, or would if they were code without errors."""
    parsed = {name for part in _choice(cells).parts for name in part.gives}
    parsed.update(name for cell in cells for name in cell.named)
    return parsed | {
        name for cell in cells if cell.error for name in re.findall(r"^def (\w+)", cell.text, re.M)
    }


def attempted(cells: list[CodeCell], names: Iterable[str]) -> int:
    """How many of these names the cells give a meaning that is not a stub's."""
    choice = _choice(cells)
    return sum(choice.attempts(name) for name in names)


def _choice(cells: list[CodeCell]) -> "_Choice":
    """What the statements of a notebook do; remembered while its other exercises are looked at."""
    if _latest.get("cells") is not cells:
        parts = [part for cell in cells for part in _parts(cell)]
        # what no kernel ran gives nothing, but an answer is judged all the same
        choice = _Choice(
            [p for p in parts if not p.is_unrun or not p.cell.in_turn or p.gives & exercise_names()]
        )
        _latest.update(cells=cells, choice=choice)
    return _latest["choice"]


_latest: dict = {}


class _Choice:
    """Which statements of a notebook a name needs."""

    def __init__(self, parts: list[Part]):
        self.parts = parts
        self.names = Names([part.scope for part in parts])
        known = checkers(part.statement for part in parts)
        self.checked = [
            set()
            if part.is_unrun or isinstance(part.statement, NO_CALLS)
            else checked_names(part.statement, known)
            for part in parts
        ]
        self.binding: dict[str, list[int]] = defaultdict(list)
        self.storing: dict[str, list[int]] = defaultdict(list)  # into an object, through this name of it
        self.calling: dict[str, list[int]] = defaultdict(list)  # what may change it
        texts = {part.cell.number: part.cell.text for part in parts}  # searched once a cell, not a statement
        shown = {number for number, text in texts.items() if SHOWN.search(text)}
        self.secondary = {  # these count only for names that nothing else gives
            n
            for n, part in enumerate(parts)
            if part.is_unrun or (part.cell.number in shown and _is_result(part))
        }
        for index in range(len(parts)):
            places = self.binding, self.storing, self.calling
            for place, names in zip(places, self.names.changed(index), strict=True):
                for name in names:
                    place[name].append(index)

    def attempts(self, name: str) -> bool:
        """Does the notebook give the name a meaning that is not the stub's?"""
        if any(self._attempts(index, name) for index in self.binding[name]):
            return True
        return any(name in words(self.parts[index].scope.texts) for index in self.binding[ANYTHING])

    def checked_at(self, name: str) -> int | None:
        """The last statement that checks `name`; None if there is none, or if `name` is defined below it."""
        checks = [n for n, names in enumerate(self.checked) if name in names]
        if not checks or any(
            index > checks[-1] and self._attempts(index, name) for index in self.binding[name]
        ):
            return None
        return checks[-1]

    def repeated(self, chosen: set[int], names: set[str]) -> list[str]:
        """ "eps (cells 2 and 4)" for each name that several cells give a meaning of its own."""
        definitions = {
            name: {
                self.parts[i].cell.number
                for i in self.binding[name]
                if i in chosen and self._attempts(i, name)
            }
            for name in sorted(names)
        }
        cells = {
            name: [*map(str, sorted(numbers))] for name, numbers in definitions.items() if len(numbers) > 1
        }
        return [f"{name} (cells {', '.join(first)} and {last})" for name, (*first, last) in cells.items()]

    def needed(self, name: str, is_kernel: bool, limit: int | None = None) -> tuple[set[int], set[str]]:
        """(statements to run for `name`, names they are for), followed until no new one turns up.

        limit: the statement from which on nothing gives another meaning to a name that has one before.
        """
        end = len(self.parts) if limit is None else limit
        chosen: set[int] = set()
        followed: set[str] = set()
        seen: set[tuple[str, bool]] = set()  # names through which objects in use may be changed
        waiting = {name} | self._choose(chosen, {index for index in self.binding[ANYTHING] if index < end})
        while waiting:
            following = waiting.pop()
            followed.add(following)
            waiting |= self._choose(chosen, self._of(following, is_kernel, seen, end)) - followed
            if not waiting and not is_kernel:
                settings = {index for index in self._settings(followed) if index < end}
                waiting = self._choose(chosen, settings) - followed
        return chosen, followed

    def _choose(self, chosen: set[int], more: set[int]) -> set[str]:
        """Add statements to the chosen ones; the names that they use."""
        new = more - chosen
        chosen |= new
        return set().union(*map(self.names.uses, new))

    def _attempts(self, index: int, name: str) -> bool:
        return self.parts[index].attempts(name) or name not in self.parts[index].gives

    def _of(self, name: str, is_kernel: bool, seen: set[tuple[str, bool]], end: int) -> set[int]:
        """The statements behind a name, without its stubs if there is another; no calls for a kernel.

        Those from `end` on count only for a name that has no meaning before.

        Names in `seen` were needed before; those that this one adds are put there.
        """
        if not any(index < end and self._attempts(index, name) for index in self.binding[name]):
            end = len(self.parts)
        binding = {index for index in self.binding[name] if index < end}
        stubs = {index for index in binding if self.parts[index].is_stub}
        attempted = any(self._attempts(index, name) for index in binding)
        giving = binding - (stubs if attempted else set())
        giving = (giving - self.secondary) or giving
        if is_kernel:
            return giving | {index for index in self.storing[name] if index < end}
        is_function = name in self.names.definitions  # calling it by another name changes nothing in it
        waiting = [name] if name not in self.names.constants else []
        while waiting:
            following = waiting.pop()
            is_called = following == name or not is_function
            if (following, is_called) not in seen:
                seen.add((following, is_called))
                changing = [*self.storing[following], *(self.calling[following] if is_called else ())]
                giving.update(index for index in changing if index < end)
                waiting += self.names.sharing.get(following, ())
        return giving

    def _settings(self, names: set[str]) -> set[int]:
        """Statements that set something in a needed module, from constants: np.seterr(all="raise")."""
        modules = (names & self.names.modules) - self.names.showing
        modules |= {name for name in SETTINGS if name in self.names.modules}
        return {
            index
            for index, part in enumerate(self.parts)
            if isinstance(part.statement, ast.Expr)
            and any(call.through and call.through <= modules for call in part.scope.calls)
            and {name for name in part.scope.reads if name[0] != "."} <= modules | self.names.constants
        }


def _ordered(parts: list[Part]) -> list[Part]:
    """In the notebook's order, but imports first whose names nothing else gives."""
    others = {name for part in parts if not isinstance(part.statement, IMPORTS) for name in part.gives}

    def late(part):
        return not isinstance(part.statement, IMPORTS) or bool(part.gives & (others | {ANYTHING}))

    def future(part):
        return getattr(part.statement, "module", "") == "__future__"

    return sorted(parts, key=lambda part: (not future(part), late(part)))


def _piece(cell: CodeCell, chosen: list[int]) -> tuple[str, str, list[int]]:
    """(label, source, indices) of some statements of a cell. All other lines are empty, so that a line keeps
    its number and a picture in a text is not sent along."""
    spans = [(_first_line(statement), statement.end_lineno) for statement in cell.statements]
    wanted = {line for index in chosen for line in range(spans[index][0], spans[index][1] + 1)}
    size = 0
    while len(wanted) > size:  # statements that share a line stay together
        size = len(wanted)
        wanted.update(*(range(first, last + 1) for first, last in spans if {first, last} & wanted))
    lines = cell.text.split("\n")
    text = "\n".join(line if number in wanted else "" for number, line in enumerate(lines, 1))
    remaining = [index for index, (first, _) in enumerate(spans) if first in wanted]
    places = {index: place for place, index in enumerate(remaining)}
    return cell.label, text.rstrip("\n"), [places[index] for index in chosen]


def is_stub(statement: ast.stmt) -> bool:
    """A definition whose whole body is `raise NotImplementedError`, below its docstring."""
    if not isinstance(statement, DEFINITIONS):
        return False
    body = statement.body[ast.get_docstring(statement) is not None :]
    return len(body) == 1 and isinstance(body[0], ast.Raise) and "NotImplementedError" in ast.dump(body[0])


def _first_line(statement: ast.stmt) -> int:
    """The line that a statement begins on, with its decorators."""
    return min([statement.lineno, *(part.lineno for part in getattr(statement, "decorator_list", ()))])


def _parts(cell: CodeCell) -> Iterator[Part]:
    for index, statement in enumerate(cell.statements):
        with suppress(RecursionError):  # nested too deeply for anybody to have written it
            yield Part(cell, index, statement, Scope([statement]))


def _is_result(part: Part) -> bool:
    """Does it compute, where a definition or an import gives a name?"""
    return not isinstance(part.statement, NO_CALLS)


def _uses(expression: ast.expr, name: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id == name for node in ast.walk(expression))


def _nothing_to_judge(cells: list[CodeCell], parts: list[Part], name: str) -> Stopped:
    for cell in cells:
        if cell.error and re.search(rf"^\s*(def\s+{name}\b|{name}\s*=)", cell.text, re.M):
            return _unreadable(cell, name)
    if any(part.is_stub and name in part.gives for part in parts):
        return Stopped(Status.not_attempted, f"{name} still raises NotImplementedError.")
    for cell in cells:
        if name in cell.named:
            sentence = f"{cell.label} defines {name}, but it is a cell of {cell.kind}, which does not run."
            remedy = f"make {cell.label} a code cell, run it, and save the notebook"
            return Stopped(Status.not_attempted, sentence[0].upper() + sentence[1:], remedy)
    definitions = {n for part in parts if isinstance(part.statement, DEFINITIONS) for n in part.gives}
    near = get_close_matches(name, sorted(definitions - exercise_names()), 1, 0.6)
    remedy = f"The notebook defines {near[0]}; was that meant?" if near else "Its cell is missing."
    return Stopped(Status.not_attempted, f"No function is called {name}. {remedy}")


def _unreadable(cell: CodeCell, name: str) -> Stopped:
    """Why the cell of an answer cannot be parsed: its author's slip, or a newer Python than this one."""
    if cell.newer:
        return written_by_newer_python(cell.newer, name, syntax_error(cell))
    return Stopped(Status.crashed, syntax_error(cell))


def syntax_error(cell: CodeCell) -> str:
    """What Python says of a cell that it cannot parse, and where."""
    line = (cell.error.text or "").strip()
    reason = f"SyntaxError: {cell.error.msg}\nin {cell.label}, line {cell.error.lineno}"
    return f"{reason}: {line}" if line else reason


def written_by_newer_python(version: str, name: str, reason: str) -> Stopped:
    """An answer that may be right where it was written; `reason` is why it does not run here."""
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    sentence = f"The notebook was written with Python {version}, and this is Python {own}: not judged."
    remedy = f"grade it with Python {version} or newer"
    return Stopped(Status.grader_error, f"{sentence} {name} may use what is new there.\n{reason}", remedy)


def lines_that_look(answer: LearnerAnswer) -> tuple[str, ...]:
    """ "cell 3, line 2: f = step.__globals__" for each line of the answer that looks where nothing sends it.

    A note for the teacher, never a verdict: what an answer finds there is its own process.
    """
    lines = {}
    # for speed: most answers name nothing of it
    cells = [c for c in answer.cells if not c[1].isascii() or any(word in c[1] for word in LOOKING)]
    for label, source, chosen in cells:
        text = source.splitlines()
        statements = ast.parse(source).body
        for node in (node for index in chosen for node in ast.walk(statements[index]) if _looks(node)):
            lines[label, node.lineno] = f"{label}, line {node.lineno}: {text[node.lineno - 1].strip()[:120]}"
    return tuple(lines.values())


def _looks(node: ast.AST) -> bool:
    """Does it look into the process that it runs in?"""
    if isinstance(node, ast.Attribute):
        return node.attr in ATTRIBUTES
    if isinstance(node, ast.Call):
        return getattr(node.func, "id", None) in CALLS
    modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    modules += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    return any(module.partition(".")[0] in MODULES for module in modules)
