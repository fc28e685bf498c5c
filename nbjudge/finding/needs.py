"""What the names of a notebook are, what its functions change when they are called, and so what each of its
statements may change.
"""

import ast
import builtins
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

from nbjudge.finding.effects import ANYTHING, REFLECTION, Call, Scope, is_constant, words

SHOWING = {
    "rnnlab",
    "rnncourse",
    "pocketgpu",
    "ranks",
    "matplotlib",
    "pylab",
    "seaborn",
    "plotly",
    "bokeh",
    "altair",
    "IPython",
    "pprint",
    "ipywidgets",
}
STORING = {"setattr", "delattr"}
CHANGING = {*STORING, "next", "map", "filter", "exec", "eval"}
HARMLESS = {name for name in dir(builtins) if name not in CHANGING} | {"display"}


class Function:
    """A function of the notebook: what a call of it reads and changes beyond its own names."""

    def __init__(self, node: ast.AST, enclosing: frozenset[str] = frozenset(), is_method: bool = False):
        self.scope = Scope([node.body] if isinstance(node, ast.Lambda) else node.body)
        arguments = node.args
        self.parameters = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)][is_method:]
        named = [*arguments.kwonlyargs, *filter(None, (arguments.vararg, arguments.kwarg))]
        own = {*self.parameters, *(argument.arg for argument in named)}
        self.own = (own | self.scope.binds) - self.scope.declared | enclosing
        self.binds = self.scope.binds & self.scope.declared - enclosing
        if self.scope.gives_any_name:
            self.binds.add(ANYTHING)
        functions = [*self.scope.inner, *(part for parts in self.scope.named.values() for part in parts)]
        self.inner = [Function(part, frozenset(self.own)) for part in functions]
        self.changes: set[str] = set()  # parameters, and names of the notebook; grows until nothing is new

    def everything(self) -> list["Function"]:
        """The function, and those that it defines."""
        return [self, *(below for part in self.inner for below in part.everything())]

    def reads(self) -> set[str]:
        """The names of the notebook that a call may need."""
        reads = self.scope.reads - self.own
        if self.scope.is_reflective:
            reads |= words(self.scope.texts)
        return reads.union(*(part.reads() for part in self.inner))


class Names:
    """All names of a notebook, from the scopes of its statements."""

    def __init__(self, scopes: list[Scope]):
        self.scopes = scopes
        self.sites = defaultdict(list)
        self.shares = defaultdict(set)
        self.functions: dict[str, list[Function]] = defaultdict(list)
        self._known_aliases: dict[str | None, set[str]] = {}
        self.of_scope = [self._take(scope) for scope in scopes]
        self._follow_calls()

    def _take(self, scope: Scope) -> list[Function]:
        """Take in one statement; the functions without a name, which run with it for all that is known."""
        for site in scope.sites:
            self.sites[site.name].append(site)
        for name, names in scope.shares.items():
            self.shares[name] |= names
        for name, nodes in scope.named.items():
            is_method = name[0] == "." or any(
                f".{getattr(node, 'name', '')}" in scope.named for node in nodes
            )
            self.functions[name] += [Function(node, is_method=is_method) for node in nodes]
        return [Function(node) for node in scope.inner]

    @cached_property
    def constants(self) -> set[str]:
        """Names of numbers and texts: nothing that is done with them changes them."""
        constants: set[str] = set()
        for _ in range(4):  # a constant may be made from others
            for name, sites in self.sites.items():
                values = [site.source for site in sites if site.kind == "value"]
                if len(values) == len(sites) and all(is_constant(value, constants) for value in values):
                    constants.add(name)
        return constants

    @cached_property
    def showing(self) -> set[str]:
        """Names of what only shows: modules that draw and print, and what comes from them."""
        showing = {name for name, sites in self.sites.items() if {site.source for site in sites} <= SHOWING}
        for _ in range(4):  # an axis comes from a figure, which comes from a module
            for name, names in self.shares.items():
                if names & showing and all(part in showing or part in self.constants for part in names):
                    showing.add(name)
        return showing

    @cached_property
    def modules(self) -> set[str]:
        """Names that are imported, and other names of the same."""
        modules = {n for n, sites in self.sites.items() if all(site.kind == "import" for site in sites)}
        for name, sites in self.sites.items():
            values = [site.source for site in sites if site.kind == "value"]
            plain = all(isinstance(value, ast.Name | ast.Attribute | ast.IfExp) for value in values)
            if len(values) == len(sites) and plain and self.shares[name] and self.shares[name] <= modules:
                modules.add(name)
        return modules

    @cached_property
    def definitions(self) -> set[str]:
        """Names of functions and classes."""
        return {n for n, sites in self.sites.items() if any(site.kind == "definition" for site in sites)} | {
            name for name in self.functions if name[0] != "."
        }

    @cached_property
    def fixed(self) -> set[str]:
        """Names whose objects no call changes."""
        return self.constants | self.modules | self.definitions | self.showing

    def is_data(self, name: str) -> bool:
        """May the object of this name be changed by calls?"""
        return name not in self.fixed

    def shared(self, names: set[str], shares: dict[str, set[str]]) -> set[str]:
        """The names, and all whose objects they may share.

        Nothing is shared with a number or a module, nor with a function whose result has the name.
        """
        reached, waiting = set(), list(names)
        while waiting:
            name = waiting.pop()
            if name not in reached:
                reached.add(name)
                waiting += self._partners(name, shares)
        return reached - self.constants

    def _partners(self, name: str, shares: dict[str, set[str]]) -> Iterator[str]:
        """The names whose objects a name may share at once."""
        apart = self.definitions if name in self.results else ()
        return (other for other in shares.get(name, ()) if other not in self.modules and other not in apart)

    @cached_property
    def sharing(self) -> dict[str, list[str]]:
        """A name: those through which its object may be changed at once; `shares` turned round."""
        sharing = defaultdict(list)
        for name in self.shares:
            for partner in self._partners(name, self.shares):
                if partner not in self.definitions or name in self.written:
                    sharing[partner].append(name)
        return sharing

    @cached_property
    def written(self) -> set[str]:
        """Names that something writes into, and all whose objects they share. A function that a list or a
        loop's name also holds stays as it is unless that is one of them: calling it changes nothing in it."""
        functions = [below for parts in self.functions.values() for f in parts for below in f.everything()]
        functions += [below for parts in self.of_scope for f in parts for below in f.everything()]
        places = [(scope, frozenset()) for scope in self.scopes]
        places += [(function.scope, function.own) for function in functions]
        names = {name for scope, own in places for name in self._written_in(scope) - own}
        return self.shared(names, self.shares)

    def _written_in(self, scope: Scope) -> set[str]:
        """The names that the text of a scope writes into, or hands to a function that does."""
        written = set(scope.stores)
        for call in scope.calls:
            if call.function in STORING and call.passed:
                written |= call.passed[0][1]
            if call.discarded and call.method:
                written |= call.roots
            for function in self.functions.get(call.function, ()):
                written |= _passed_to(call, function)
        return written

    @cached_property
    def results(self) -> set[str]:
        """Names whose every value comes from a call."""
        values = {
            name: [site.source for site in sites if site.kind == "value"]
            for name, sites in self.sites.items()
        }
        return {
            n for n, sources in values.items() if sources and all(isinstance(s, ast.Call) for s in sources)
        }

    def changed(self, index: int) -> tuple[set[str], set[str]]:
        """(names that statement `index` binds, names through which it may change objects), by calls too."""
        scope = self.scopes[index]
        binds, changes = set(scope.binds), set(scope.stores)
        for call in scope.calls:
            changes |= self._changed_by(call, self.is_data)
            for function in self._called(call):
                binds |= function.binds
                changes |= self._outside(function)
        for function in self.of_scope[index]:
            changes |= self._outside(function)
            binds |= function.binds
        if scope.gives_any_name or any(map(self._fills_the_notebook, scope.calls)):
            binds.add(ANYTHING)
        return binds, changes

    def _fills_the_notebook(self, call: Call) -> bool:
        """Is it exec(text, names), and names another name of globals()?"""
        return call.function == "exec" and bool(REFLECTION & self.shared(set(call.namespace), self.shares))

    def _is_harmless(self, function: str | None) -> bool:
        """Does a function change nothing that is passed to it, and call nothing of the notebook's?"""
        return function in self.showing or (function in HARMLESS and function not in self.sites)

    def _outside(self, function: Function) -> set[str]:
        return function.changes - set(function.parameters)

    def _called(self, call: Call) -> list[Function]:
        """The functions of the notebook that may run in a call: called, passed on, or reached by method."""
        if self._is_harmless(call.function):
            return []
        names = {*self._aliases(call.function), f".{call.method}"}
        for _, passed in call.passed:
            names |= passed
        listed = [function for name in names for function in self.functions.get(name, ())]
        return [below for function in listed for below in function.everything()]

    def _aliases(self, function: str | None) -> set[str]:
        """A function's name, and all others that it may be known by."""
        if function not in self._known_aliases:
            self._known_aliases[function] = self.shared({function} - {None}, self.shares)
        return self._known_aliases[function]

    def _changed_by(self, call: Call, is_data: object) -> set[str]:
        """The names whose objects a call may change, but for what its functions do by themselves."""
        passed = {name for _, names in call.passed for name in names}
        if call.function in STORING:
            return set(call.passed[0][1]) if call.passed else set()
        if call.function is None:
            if call.roots & self.showing:
                return set()
            through = {name for name in call.roots if is_data(name)}
            if call.discarded and call.method:
                through |= call.roots & self.definitions
            return through | {name for name in passed if is_data(name)}
        if self._is_harmless(call.function):
            return {name for key, names in call.passed if key == "file" for name in names}  # print
        known = self.functions.get(call.function)
        if known and call.function in self.definitions:
            passed = {name for function in known for name in _passed_to(call, function)}
        elif call.discarded and is_data(call.function):
            passed = passed | {call.function}
        return {name for name in passed if is_data(name)}

    def _follow_calls(self) -> None:
        """Find what every function changes, until a round brings nothing new: they call one another."""
        everything = [below for part in self.functions.values() for f in part for below in f.everything()]
        everything += [below for part in self.of_scope for f in part for below in f.everything()]
        new = True
        while new:
            new = False
            for function in everything:
                before = len(function.changes), len(function.binds)
                self._extend(function)
                new |= before != (len(function.changes), len(function.binds))

    def _extend(self, function: Function) -> None:
        scope = function.scope
        is_data = lambda name: name in function.own or self.is_data(name)
        changes = set(scope.stores)
        for call in scope.calls:
            changes |= self._changed_by(call, is_data)
            for inner in self._called(call):
                if inner is not function:
                    changes |= self._outside(inner)
                    function.binds |= inner.binds
        changes = self.shared(changes, scope.shares)
        for inner in function.inner:
            changes |= self._outside(inner)
            function.binds |= inner.binds
        function.changes |= (changes - function.own) | (changes & set(function.parameters))


def _passed_to(call: Call, function: Function) -> set[str]:
    """The names that are passed to parameters which the function may change."""
    changed = function.changes & set(function.parameters)
    names: set[str] = set()
    for key, passed in call.passed:
        at_place = isinstance(key, int) and key < len(function.parameters) and function.parameters[key]
        if changed and (at_place in changed or key in changed or key is None or not at_place):
            names |= passed
    return names
