"""What the names of a notebook stand for, and what each of its statements may change.

A function changes what its body changes, for whoever names it: a statement that mentions `fill` may do all
that `fill` does, and whatever that names in turn.
"""

import ast
import builtins
from collections import defaultdict
from collections.abc import Callable, Iterable, Set
from functools import cached_property

from nbjudge.course import current
from nbjudge.finding.effects import (
    ANYTHING,
    REFLECTION,
    Binding,
    Call,
    Effect,
    Scope,
    arguments_of,
    expanded,
    is_constant,
    roots,
    shares_of,
)

SHOWING = {  # packages that draw and print, beside the course's own
    *("matplotlib", "pylab", "seaborn", "plotly", "bokeh"),
    *("altair", "IPython", "pprint", "ipywidgets"),
}
CHANGING = {"next", "map", "filter", "exec", "eval"}
BUILTINS = {*dir(builtins), "display"}
Changes = tuple[set[str], set[str]]  # names that are bound, names whose objects may be changed


class Names:
    """All names of a notebook, from the scopes of its statements."""

    def __init__(self, scopes: list[Scope]):
        self.sites: dict[str, list[Binding]] = defaultdict(list)
        self.effects: dict[str, list[Effect]] = defaultdict(list)
        for scope in scopes:
            for site in scope.sites:
                self.sites[site.name].append(site)
            for name, effect in scope.effects:
                self.effects[name].append(effect)
        self.shares = shares_of(site for sites in self.sites.values() for site in sites)

    def _of_all_sites(self, belongs: Callable[[Binding, set[str]], bool]) -> set[str]:
        """The names of which each site belongs, given those that are known to."""
        known = set()
        before = -1
        while len(known) > before:
            before = len(known)
            for name, sites in self.sites.items():
                if name not in known and all(belongs(site, known) for site in sites):
                    known.add(name)
        return known

    @cached_property
    def constants(self) -> set[str]:
        """Names of numbers and texts: nothing that is done with them changes them."""

        def is_unchanging(site, known):
            return site.kind == "value" and is_constant(site.source, known)

        return self._of_all_sites(is_unchanging)

    def _all_of(self, kind: str) -> set[str]:
        """The names of all imports or definitions, and other names of the same."""
        plain = ast.Name, ast.Attribute, ast.IfExp

        def belongs(site, known):
            if site.kind == "value" and isinstance(site.source, plain):
                return set() < roots(site.source) <= known
            return site.kind == kind

        return self._of_all_sites(belongs)

    @cached_property
    def modules(self) -> set[str]:
        """Names that are imported."""
        return self._all_of("import")

    @cached_property
    def showing(self) -> set[str]:
        """Names of what only shows: modules that draw and print, and what comes from them."""

        def shows(site, known):
            if site.kind not in ("value", "part") or site.source is None:
                return site.source in SHOWING or site.source in current().packages
            reached = roots(site.source)
            return bool(reached & known) and reached <= known | self.constants

        return self._of_all_sites(shows)

    @cached_property
    def definitions(self) -> set[str]:
        """Names of functions and classes."""
        defined = self._all_of("definition")
        for name, sites in self.sites.items():
            if any(site.kind == "definition" for site in sites):
                defined.add(name)
        named = {name for name in self.effects if name[:1] not in ("", ".")}
        return defined | named

    @cached_property
    def fixed(self) -> set[str]:
        """Names whose objects no call changes."""
        return self.constants | self.modules | self.definitions | self.showing

    @cached_property
    def sharing(self) -> dict[str, list[str]]:
        """A name: those through which its object may be changed at once; `shares` turned round."""
        sharing = defaultdict(list)
        for name, partners in self.shares.items():
            for partner in partners - self.modules - self.constants:
                sharing[partner].append(name)
        return sharing

    @cached_property
    def functions(self) -> dict[str, set[str]]:
        """A name: the functions that it may stand for."""
        functions = defaultdict(set)
        for function in self.effects.keys() - {""}:
            for name in expanded([function], self.sharing):
                functions[name].add(function)
        return functions

    @cached_property
    def does(self) -> dict[str, Changes]:
        """A function: (names that a call binds, names whose objects it may change), by what it calls, too."""
        calls = {}
        own = {}
        for name, effects in self.effects.items():
            reads = set().union(*(effect.reads for effect in effects))
            calls[name] = self._called(reads)
            own[name] = self._done_by(effects)
        return {name: _united(own[called] for called in expanded([name], calls)) for name in own}

    def runs_later(self, value: object) -> bool:
        """Is a value made of a function that it may run later, as a thread or a task is?"""
        if not isinstance(value, ast.Call):
            return False
        for argument in arguments_of(value):
            function = getattr(argument, "func", argument)
            is_definition = getattr(function, "id", None) in self.definitions
            if is_definition or isinstance(argument, ast.Lambda):
                return True
        return False

    def uses(self, scope: Scope) -> set[str]:
        """The names that a statement needs when it runs, and those that its functions need when called."""
        effects = [*scope.unnamed]
        for name in {name for name, _ in scope.effects if name}:
            effects += self.effects[name]
        reads = scope.reads_at_most.union(*(effect.reads for effect in effects))
        return {name for name in reads if name[0] != "."}

    def changed(self, scope: Scope) -> tuple[set[str], set[str], set[str]]:
        """(names that a statement binds, that it writes into, whose objects its calls may change)."""
        own = Effect(scope.reads, scope.binds, scope.stores, scope.calls)
        unnamed = scope.unnamed
        handed = [call.passed for call in scope.calls if not self._only_shows(call)]
        reads = [effect.reads for effect in unnamed]
        names = scope.mentions.union(*handed, *reads)
        pairs = [self._done_by([own, *unnamed])]
        pairs += [self.does[name] for name in self._called(names)]
        binds, changes = _united(pairs)
        return binds, scope.stores, changes

    def _called(self, mentioned: Iterable[str]) -> set[str]:
        """The functions that may run where these names are mentioned."""
        known = self.functions.keys() & mentioned
        return set().union(*(self.functions[name] for name in known))

    def _done_by(self, effects: Iterable[Effect]) -> Changes:
        """(names that are bound, names whose objects may be changed), but for what is called."""
        calls = [call for effect in effects for call in effect.calls]
        written = set().union(*(effect.stores for effect in effects))
        binds = set().union(*(effect.binds for effect in effects))
        if REFLECTION & written or any(map(self._gives_any_name, calls)):
            binds.add(ANYTHING)
        changes = written - self.modules - self.constants
        return binds, changes.union(*map(self._changed_by, calls))

    def _only_shows(self, call: Call) -> bool:
        """Does it draw, print or check what goes with it: check(f), axis.plot(x)?"""
        return call.function in self.showing or bool(call.through & self.showing)

    def _changed_by(self, call: Call) -> Set[str]:
        """The names whose objects a call may change."""
        if self._only_shows(call):
            return set()
        if call.function in BUILTINS - CHANGING and call.function not in self.sites:
            return set()
        names = call.passed - self.fixed
        names |= {call.function} - {None} - self.fixed
        names = names | call.through - self.modules - self.constants
        return {name for name in names if name in self.sites or name not in BUILTINS}

    def _gives_any_name(self, call: Call) -> bool:
        """May it give a value to names that stand nowhere: exec(text), globals().update(a=1)?"""
        if call.function != "exec":
            return bool(REFLECTION & call.through)
        has_no_names = call.passed <= REFLECTION
        return has_no_names or bool(REFLECTION & expanded(call.passed, self.shares))


def _united(pairs: Iterable[Changes]) -> Changes:
    binds, changes = zip(*pairs, strict=True)
    return set().union(*binds), set().union(*changes)
