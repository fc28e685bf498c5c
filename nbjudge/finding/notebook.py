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
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from nbjudge.course import exercise_names
from nbjudge.exercise import Numbers
from nbjudge.finding import history, reading
from nbjudge.finding.check_calls import Checks
from nbjudge.finding.effects import ANYTHING, identifiers
from nbjudge.finding.needs import Names
from nbjudge.finding.notebook_file import notebook_text
from nbjudge.finding.reading import CodeCell
from nbjudge.finding.statements import DEFINITIONS, CellStatement, ordered, program_piece, statements_of
from nbjudge.running.learner_answer import LearnerAnswer
from nbjudge.verdict import Status, Stopped

GIVEN = re.compile(  # names to which a cell that cannot be parsed would give a meaning
    r"^(?:(?:async )?def |class |type )?(\w+)(?=\s*(?:\(|\[|:|=(?!=)))", re.MULTILINE
)
SHOWN = re.compile(r"\buse\(")
SETTINGS = {"sys"}  # modules whose state decides how every answer runs: sys.setrecursionlimit


Index = dict[str, list[int]]  # {name: [number of a statement, ...]}


class Places(NamedTuple):
    """The statements behind names, by their numbers."""

    binding: Index
    storing: Index  # into an object, through this name of it
    calling: Index  # what may change it


class Notebook:
    """The cells of a notebook in their order, and what an answer in it depends on.

    Each question is answered from the statements at the top of the cells: their names are followed once, when
    the first question is asked.
    """

    def __init__(self, cells: Iterable[CodeCell]):
        self.cells = [*cells]

    @classmethod
    def read(cls, path: Path) -> "Notebook":
        """The notebook in a file. Raises Unusable."""
        return cls(reading.cells(notebook_text(path), path))

    def with_text(self, cell: CodeCell, text: str) -> "Notebook":
        """The same notebook with another text in one of its cells."""
        edited = reading.parse(cell.number, text)
        return Notebook(edited if other is cell else other for other in self.cells)

    @cached_property
    def written(self) -> list[CellStatement]:
        """All statements at the top of the cells."""
        written = [statement for cell in self.cells for statement in statements_of(cell)]
        if any(history.KEPT.search(cell.text) for cell in self.cells):
            self._follow_history(written)
        return written

    @cached_property
    def statements(self) -> list[CellStatement]:
        """The statements that may count: what no kernel ran gives nothing, but answers are judged."""
        known = exercise_names()
        counting = []
        for statement in self.written:
            may_have_run = not statement.is_unrun or not statement.cell.in_turn
            if may_have_run or statement.gives & known:
                counting.append(statement)
        return counting

    def _follow_history(self, statements: list[CellStatement]) -> None:
        own = set().union(*(statement.gives for statement in statements))
        sources = [cell.text for cell in self.cells if cell.kind == "code"]
        for statement in statements:
            if statement.is_shown:
                count = self.counts.get(statement.cell.number)
                history.follow_result(statement.scope, statement.tree.value, count)
            if (history.SOURCES - own) & statement.scope.reads:
                history.follow_sources(statement.scope, sources)

    @cached_property
    def counts(self) -> dict[int, int]:
        """{number of a cell: the count by which `In` and `Out` name it}."""
        return history.counts(self.cells)

    @cached_property
    def names(self) -> set[str]:
        """All names that the cells give at their top level, or would if they were code without errors."""
        names = set()
        for statement in self.statements:
            names |= statement.gives
        return names.union(*(cell.named for cell in self.cells))

    @cached_property
    def checks(self) -> Checks:
        """The calls of `check`."""
        return Checks({statement.tree: statement.scope for statement in self.written})

    @cached_property
    def meanings(self) -> Names:
        """What the names stand for, and what each statement may change."""
        return Names([statement.scope for statement in self.statements])

    @cached_property
    def places(self) -> Places:
        """The statements behind each name."""
        places = Places(defaultdict(list), defaultdict(list), defaultdict(list))
        for index, statement in enumerate(self.statements):
            changed = self.meanings.changed(statement.scope)
            for place, names in zip(places, changed, strict=True):
                for name in names:
                    place[name].append(index)
        return places

    @cached_property
    def secondary(self) -> set[int]:
        """Statements that count only for names that nothing else gives."""
        showing = {cell.number for cell in self.cells if SHOWN.search(cell.text)}
        secondary = set()
        for index, statement in enumerate(self.statements):
            is_shown_result = statement.cell.number in showing and statement.is_result
            if statement.is_unrun or is_shown_result:
                secondary.add(index)
        return secondary

    def attempts(self, name: str) -> bool:
        """Does the notebook give the name a meaning that is not the stub's?"""
        if self._attempting(name):
            return True
        texts = [self.statements[index].scope.texts for index in self.places.binding[ANYTHING]]
        return any(name in identifiers(part) for part in texts)

    def cell_of(self, name: str) -> CodeCell:
        """The last cell that gives the name a meaning of its own."""
        last = self._attempting(name)[-1]
        return self.statements[last].cell

    def numbers(self, name: str) -> Numbers:
        """The numbers of a variant in the last `check(name, ...)`; empty without such a call."""
        return self.checks.numbers(name)

    def answer(self, name: str, is_kernel: bool = False) -> LearnerAnswer:
        """What has to run for `name`; Stopped if there is nothing to judge.

        A kernel takes no calls beside it.
        """
        if not self.attempts(name):
            raise self._nothing_to_judge(name)
        chosen, names = self.needed(name, is_kernel, self.checked_at(name))
        statements = [self.statements[index] for index in sorted(chosen)]
        by_cell = groupby(ordered(statements), key=lambda statement: statement.cell.number)
        others = []
        for statement in statements:
            written = statement.gives | statement.scope.stores
            if not written & names:
                others.append((statement.cell.label, statement.tree.lineno))
        magics = [line for cell in self.cells for line in cell.magics]
        newer = [cell.newer for cell in self.cells if cell.newer]
        return LearnerAnswer(
            name,
            [program_piece([*group]) for _, group in by_cell],
            sorted(names),
            others,
            self._history(names),
            magics=magics,
            repeated=self._repeated(chosen, names),
            unread=self._unread(names),
            newer=newer[0] if newer else "",
        )

    def checked_at(self, name: str) -> int | None:
        """The last statement that checks `name`; None if there is none, or if `name` is defined below it."""
        last_check = None
        for index, statement in enumerate(self.statements):
            may_check = statement.is_result and not statement.is_unrun
            if may_check and name in self.checks.names[statement.tree]:
                last_check = index
        if last_check is None or any(index > last_check for index in self._attempting(name)):
            return None
        return last_check

    def needed(self, name: str, is_kernel: bool, limit: int | None = None) -> tuple[set[int], set[str]]:
        """(statements to run for `name`, names they are for), followed until no new one turns up.

        limit: the statement from which on nothing gives another meaning to a name that has one before, and
        nothing gives one at all if the cells ran once, in order.
        """
        end = last = len(self.statements) if limit is None else limit
        if limit is not None and not self.statements[limit].cell.in_turn:
            last = len(self.statements)
        chosen = set()
        followed = set()
        seen = set()  # names through which objects in use may be changed
        anything = {index for index in self.places.binding[ANYTHING] if index < end}
        if is_kernel:  # which no variable of the environment concerns
            reads = {index: self.statements[index].scope.reads for index in anything}
            anything = {index for index in anything if "get_ipython" not in reads[index]}
        waiting = {name} | self._choose(chosen, anything)
        while waiting:
            following = waiting.pop()
            followed.add(following)
            giving = self._of(following, is_kernel, seen, end, last)
            waiting |= self._choose(chosen, giving) - followed
            if not waiting and not is_kernel:
                settings = {index for index in self._settings(followed) if index < end}
                waiting = self._choose(chosen, settings) - followed
        return chosen, followed

    def _attempting(self, name: str) -> list[int]:
        """The statements that give the name a meaning that is not the stub's."""
        return [index for index in self.places.binding[name] if self.statements[index].attempts(name)]

    def _repeated(self, chosen: set[int], names: set[str]) -> list[str]:
        """ "eps (cells 2 and 4)" for each name that several cells give a meaning of its own."""
        repeated = []
        for name in sorted(names):
            giving = chosen.intersection(self._attempting(name))
            numbers = sorted({self.statements[index].cell.number for index in giving})
            if len(numbers) > 1:
                *first, last = numbers
                listed = ", ".join(map(str, first))
                repeated.append(f"{name} (cells {listed} and {last})")
        return repeated

    def _history(self, names: set[str]) -> dict[str, list]:
        """What IPython keeps of the cells, for inside.notebook.History; empty if no name reads it."""
        if not any(map(history.KEPT.fullmatch, names)):
            return {}
        shown = {}
        for statement in self.statements:
            if statement.is_shown:
                shown[statement.cell.label] = [statement.tree.lineno, statement.tree.col_offset]
        kept_cells = {}
        for cell in self.cells:
            if count := self.counts.get(cell.number):
                kept_cells[cell.label] = [count, shown.get(cell.label), cell.text]
        return kept_cells

    def _unread(self, names: set[str]) -> list[str]:
        """The errors of cells that cannot be parsed and would give one of the names."""
        errors = []
        for cell in self.cells:
            if cell.error and names.intersection(GIVEN.findall(cell.text)):
                errors.append(syntax_error(cell))
        return errors

    def _choose(self, chosen: set[int], more: set[int]) -> set[str]:
        """Add statements to the chosen ones; the names that they use."""
        new = more - chosen
        chosen |= new
        names = set()
        for index in new:
            scope = self.statements[index].scope
            names |= self.meanings.uses(scope)
            names |= {site.name for site in scope.sites if self.meanings.runs_later(site.source)}
        return names

    def _of(
        self, name: str, is_kernel: bool, seen: set[tuple[str, bool, int]], end: int, last: int
    ) -> set[int]:
        """The statements behind a name, without its stubs if there is another; no calls for a kernel.

        Those from `end` to `last` count only for a name that has no meaning before.

        Names in `seen` were needed before; those that this one adds are put there.
        """
        attempting = self._attempting(name)
        if not any(index < end for index in attempting):
            end = last
        binding = {index for index in self.places.binding[name] if index < end}
        if binding.intersection(attempting):
            binding = {index for index in binding if not self.statements[index].is_stub}
        giving = (binding - self.secondary) or binding
        if is_kernel:
            return giving | {index for index in self.places.storing[name] if index < end}
        is_function = name in self.meanings.definitions  # calling it by another name changes nothing in it
        waiting = [name] if name not in self.meanings.constants else []
        while waiting:
            following = waiting.pop()
            is_called = following == name or not is_function
            need = following, is_called, end
            if need not in seen:
                seen.add(need)
                changing = [*self.places.storing[following]]
                if is_called:
                    changing += self.places.calling[following]
                giving.update(index for index in changing if index < end)
                waiting += self.meanings.sharing.get(following, ())
        return giving

    def _settings(self, names: set[str]) -> set[int]:
        """Statements that set something in a needed module, from constants: np.seterr(all="raise")."""
        constants = self.meanings.constants
        modules = (names & self.meanings.modules) - self.meanings.showing
        modules |= SETTINGS & self.meanings.modules

        def is_setting(statement):
            if not isinstance(statement.tree, ast.Expr):
                return False
            reads = {name for name in statement.scope.reads if name[0] != "."}
            calls = [call for call in statement.scope.calls if call.through]
            return reads <= modules | constants and any(call.through <= modules for call in calls)

        return {index for index, statement in enumerate(self.statements) if is_setting(statement)}

    def _nothing_to_judge(self, name: str) -> Stopped:
        for cell in sorted(self.cells, key=lambda cell: not cell.error):
            if name in cell.named and cell.error:
                return _unreadable(cell, name)
            if name in cell.named:
                kind = f"it is a cell of {cell.kind}, which does not run."
                remedy = f"make {cell.label} a code cell, run it, and save the notebook"
                sentence = f"{cell.label.capitalize()} defines {name}, but {kind}"
                return Stopped(Status.not_attempted, sentence, remedy)
        if any(statement.is_stub and name in statement.gives for statement in self.statements):
            return Stopped(Status.not_attempted, f"{name} still raises NotImplementedError.")
        definitions = set()
        for statement in self.statements:
            if isinstance(statement.tree, DEFINITIONS):
                definitions |= statement.gives
        near = get_close_matches(name, sorted(definitions - exercise_names()), 1, 0.6)
        remedy = "Its cell is missing."
        if near:
            remedy = f"The notebook defines {near[0]}; was that meant?"
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
