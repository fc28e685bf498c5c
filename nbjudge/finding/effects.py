"""What a statement binds, reads and may change, as far as its text shows it: no code runs.

One `Scope` is what runs together: a statement at the top of a cell, or the body of a function. What Python
decides when it compiles (which name is local) is decided here in the same way; what it decides when it runs
is taken widely: whatever is passed to an unknown function may be changed by it.
"""

import ast
import re
from collections.abc import Iterable, Mapping, Set
from functools import cached_property
from itertools import islice
from typing import NamedTuple

CONSTANTS = (
    ast.Constant, ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Tuple, ast.Name,
    ast.JoinedStr, ast.FormattedValue, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context,
)  # fmt: skip
REFLECTION = {"globals", "locals", "vars", "exec", "eval", "get_ipython"}  # of names that no text shows
STORING = {"setattr", "delattr"}
ANYTHING = "*"  # stands for those names
USE = "use"  # the course's own: it gives a function that passed its check, and nobody writes into that


class Binding(NamedTuple):
    """A place where a name gets a value."""

    name: str
    kind: str  # "definition", "import", "value" (the name alone, from an expression), "part" or "deletion"
    source: object = None  # the package of an import, the expression of a value or a part
    beside: frozenset[str] = frozenset()  # names from the same call: functions that may share a closure

    @property
    def is_definition(self) -> bool:
        """Does it name a function or a class, by def, class, lambda or another name?"""
        if self.kind == "value":
            return isinstance(self.source, ast.Lambda | ast.Name | ast.Attribute)
        return self.kind == "definition"


class Call(NamedTuple):
    """A call as it is written."""

    function: str | None  # the name that is called, where it is a name
    through: frozenset[str]  # the names through which a method is reached
    passed: frozenset[str]  # the names that go with it


class Effect(NamedTuple):
    """What a function does beyond its own names when it is called."""

    reads: set[str]
    binds: set[str]
    stores: set[str]
    calls: set[Call]


class Scope:
    """What a list of nodes does when they run."""

    def __init__(self, nodes: Iterable[ast.AST]):
        self.sites: list[Binding] = []
        self.reads: set[str] = set()  # names, and ".attribute" of attributes
        self.mentions: set[str] = set()  # those that are not just an argument: f, not x, of f(x)
        self.stores: set[str] = set()  # objects that are written into: x[0] = 1, x.a = 1, x += 1, del x[0]
        self.calls: set[Call] = set()
        self.declared: set[str] = set()  # global or nonlocal
        self.functions: list[tuple[str, ast.AST]] = []  # (name, or empty, definition)
        self.texts: list[str] = []
        self._visit(list(nodes))

    @property
    def binds(self) -> set[str]:
        """The names that get a value here."""
        return {site.name for site in self.sites}

    @property
    def reads_at_most(self) -> set[str]:
        """What it reads, and what its texts name where `eval` or `globals` may read them."""
        if REFLECTION & self.reads:
            return self.reads | identifiers(self.texts)
        return self.reads

    @cached_property
    def effects(self) -> list[tuple[str, Effect]]:
        """(name, or empty, effect) of its functions."""
        return [(name, effect_of(node)) for name, node in self.functions]

    @property
    def unnamed(self) -> list[Effect]:
        """The effects of functions without a name, which run with the statement."""
        return [effect for name, effect in self.effects if not name]

    def beyond(self, own: Set[str]) -> Effect:
        """What it does to other names than its own ones, which stand for those whose objects they share."""
        shares = shares_of(self.sites)

        def outside(names):
            return frozenset(expanded(names, shares) - own)

        calls = set()
        for call in self.calls:
            calls.add(Call(call.function, outside(call.through), outside(call.passed)))
        return Effect(self.reads - own, set(), {*outside(self.stores)}, calls)

    def _visit(self, waiting: list[ast.AST]) -> None:
        """All nodes, without recursion: an expression may be nested thousands deep."""
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.Constant) and not isinstance(node.value, str):
                continue  # a table may hold a million
            look = getattr(self, f"_visit_{type(node).__name__}", None)
            children = look(node) if look else None
            waiting += ast.iter_child_nodes(node) if children is None else children

    def _visit_Constant(self, node: ast.Constant) -> None:
        if len(node.value) < 10_000:
            self.texts.append(node.value)

    def _visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._mention(node.id)
        elif isinstance(node.ctx, ast.Del):
            self.sites.append(Binding(node.id, "deletion"))

    def _visit_Attribute(self, node: ast.Attribute | ast.Subscript) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.stores |= roots(node)
        self._mention(f".{getattr(node, 'attr', '')}")

    _visit_Subscript = _visit_Attribute

    def _visit_Global(self, node: ast.Global) -> None:
        self.declared.update(node.names)

    _visit_Nonlocal = _visit_Global

    def _visit_Assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            self._bind(target, node.value)

    def _visit_AnnAssign(self, node: ast.AnnAssign | ast.NamedExpr) -> None:
        if node.value is not None:
            self._bind(node.target, node.value)

    _visit_NamedExpr = _visit_AnnAssign

    def _visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self._bind(node.target, node.target, "part")
            self.reads.add(node.target.id)
            self.stores.add(node.target.id)

    def _visit_For(self, node: ast.For) -> None:
        self._bind(node.target, node.iter, "part")

    _visit_AsyncFor = _visit_For

    def _visit_withitem(self, node: ast.withitem) -> None:
        if node.optional_vars:
            self._bind(node.optional_vars, node.context_expr, "part")

    def _visit_Match(self, node: ast.Match) -> None:
        patterns = [below for below in ast.walk(node) if isinstance(below, ast.pattern)]
        for pattern in patterns:
            field = "rest" if isinstance(pattern, ast.MatchMapping) else "name"
            if name := getattr(pattern, field, None):
                self.sites.append(Binding(name, "part", node.subject))

    def _visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.sites.append(Binding(node.name, "part"))

    def _visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            module = getattr(node, "module", None) or alias.name
            package, _, _ = module.partition(".")
            first, _, _ = alias.name.partition(".")
            name = alias.asname or first
            if module == "__future__":
                name = ANYTHING  # it changes how all is compiled
            self.sites.append(Binding(name, "import", package))

    _visit_ImportFrom = _visit_Import

    def _visit_TypeAlias(self, node: ast.AST) -> list:
        """A statement `type X = ...` of Python 3.12."""
        self.sites.append(Binding(node.name.id, "definition"))
        return [node.value]

    def _visit_FunctionDef(self, node: ast.FunctionDef) -> list:
        self.sites.append(Binding(node.name, "definition"))
        self.functions.append((node.name, node))
        parameters = [part for part in ast.walk(node.args) if isinstance(part, ast.arg)]
        annotations = [node.returns, *(parameter.annotation for parameter in parameters)]
        return [*self._decorate(node), *_defaults(node), *filter(None, annotations)]

    _visit_AsyncFunctionDef = _visit_FunctionDef

    def _visit_Lambda(self, node: ast.Lambda) -> list:
        if all(node is not function for _, function in self.functions):
            self.functions.append(("", node))
        return _defaults(node)

    def _visit_ClassDef(self, node: ast.ClassDef) -> list:
        """A class: its body runs at once, its methods are called by its name or by their own."""
        body = Scope(node.body)
        self._take(body, body.binds)
        for method, function in body.functions:
            self.functions += [(node.name, function), (f".{method}", function)]
        above = [*node.bases, *(keyword.value for keyword in node.keywords)]
        self.sites.append(Binding(node.name, "definition", ast.Tuple(above)))
        own_name = frozenset([node.name])
        self.calls |= {Call(None, roots(part), own_name) for part in above}
        return [*self._decorate(node), *above]

    def _visit_ListComp(self, node: ast.ListComp) -> list:
        """A comprehension: its targets are names of its own."""
        own = set()
        parts = [getattr(node, name) for name in ("elt", "key", "value") if hasattr(node, name)]
        for generator in node.generators:
            own |= {part.id for part in ast.walk(generator.target) if isinstance(part, ast.Name)}
            parts += [generator.iter, *generator.ifs]
        below = Scope(parts)
        for generator in node.generators:
            below._bind(generator.target, generator.iter, "part")
        self._take(below, own)
        self.sites += [site for site in below.sites if site.name not in own]
        self.functions += below.functions
        return []

    _visit_SetComp = _visit_DictComp = _visit_GeneratorExp = _visit_ListComp

    def _visit_Call(self, node: ast.Call) -> list:
        function = node.func
        arguments = arguments_of(node)
        passed = [roots(part) for part in arguments]
        below = [function]
        for part in arguments:
            if isinstance(part, ast.Name):
                self.reads.add(part.id)
            else:
                below.append(part)
        name = function.id if isinstance(function, ast.Name) else None
        if name in STORING and passed:
            self.stores |= passed[0]
            return below
        if name == "print":
            files = [keyword.value for keyword in node.keywords if keyword.arg == "file"]
            self.stores = self.stores.union(*map(roots, files))
        through = roots(function.value) if isinstance(function, ast.Attribute) else frozenset()
        if name is None and not through:  # kernel[grid, block](x)
            passed.append(roots(function))
        self.calls.add(Call(name, through, frozenset().union(*passed)))
        return below

    def _mention(self, name: str) -> None:
        self.reads.add(name)
        self.mentions.add(name)

    def _decorate(self, node: ast.AST) -> list:
        passed = frozenset([node.name])
        for decorator in node.decorator_list:
            if isinstance(decorator, ast.Name):
                self.calls.add(Call(decorator.id, frozenset(), passed))
            else:
                self.calls.add(Call(None, roots(decorator), passed))
        return node.decorator_list

    def _bind(self, target: ast.expr, value: ast.expr, kind: str = "value") -> None:
        """Note the names that a target gives a value."""
        if isinstance(target, ast.Name):
            self.sites.append(Binding(target.id, kind, value))
            if isinstance(value, ast.Lambda):
                self.functions.append((target.id, value))
            return
        parts = [part for part in ast.walk(target) if isinstance(part, ast.Name)]
        names = [part.id for part in parts if isinstance(part.ctx, ast.Store)]
        is_call = kind == "value" and isinstance(value, ast.Call)
        beside = frozenset(names if is_call else ())
        self.sites += [Binding(name, "part", value, beside - {name}) for name in names]

    def _take(self, below: "Scope", own: set[str]) -> None:
        """What a class body or a comprehension does when it runs, without the names that are its own."""
        effect = below.beyond(own)
        self.reads |= effect.reads
        self.mentions |= below.mentions - own
        self.stores |= effect.stores
        self.calls |= effect.calls
        self.texts += below.texts


def effect_of(node: ast.AST, enclosing: frozenset[str] = frozenset()) -> Effect:
    """The effect of a function's body, with those of the functions that it defines."""
    scope = Scope([node.body] if isinstance(node, ast.Lambda) else node.body)
    parameters = {part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)}
    own = frozenset((parameters | scope.binds) - scope.declared | enclosing)
    effect = scope.beyond(own)
    effect.reads.update(scope.reads_at_most - own)
    effect.binds.update(scope.binds & scope.declared - enclosing)
    for _, inner in scope.functions:
        for mine, its in zip(effect, effect_of(inner, own), strict=True):
            mine.update(its)
    return effect


def shares_of(sites: Iterable[Binding]) -> dict[str, set[str]]:
    """{name: the names whose objects it may share} from places where names get values."""
    shares = {}
    for site in sites:
        if isinstance(site.source, ast.expr):
            shares.setdefault(site.name, set()).update(roots(site.source), site.beside)
    return shares


def roots(expression: ast.expr) -> frozenset[str]:
    """The names whose objects an expression may hand on: `a` of `a[0].b`, `a` and `b` of `f(a, [b])`."""
    reached = set()
    waiting = [expression]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            reached.add(node.id)
        elif isinstance(node, ast.Attribute | ast.Subscript | ast.Starred | ast.Await | ast.NamedExpr):
            waiting.append(node.value)
        elif isinstance(node, ast.Call) and not is_call_of(USE, node):
            waiting += arguments_of(node)
            is_plain_call = isinstance(node.func, ast.Name) and node.func.id not in REFLECTION
            if not is_plain_call:
                waiting.append(node.func)
        elif isinstance(node, ast.Tuple | ast.List | ast.Set):
            waiting += [part for part in node.elts if not isinstance(part, ast.Constant)]
        elif isinstance(node, ast.Dict | ast.BoolOp):
            waiting += node.values
        elif isinstance(node, ast.IfExp):
            waiting += [node.body, node.orelse]
    return frozenset(reached)


def arguments_of(call: ast.Call) -> list[ast.expr]:
    """What goes with a call, under a name or without one."""
    return [*call.args, *(keyword.value for keyword in call.keywords)]


def is_call_of(name: str, node: object) -> bool:
    """Is it `name(f)`, or `module.name(f)`?"""
    function = getattr(node, "func", None)
    return name in (getattr(function, "id", None), getattr(function, "attr", None))


def is_constant(expression: ast.expr, constants: set[str]) -> bool:
    """Is the value a number, a text or a tuple of those, which nothing can change?"""
    nodes = list(islice(ast.walk(expression), 1000))
    if len(nodes) == 1000:
        return False
    for node in nodes:
        is_other_name = isinstance(node, ast.Name) and node.id not in constants
        if is_other_name or not isinstance(node, CONSTANTS):
            return False
    return True


def identifiers(texts: Iterable[str]) -> set[str]:
    """What could be names in texts that `eval`, `exec` or `globals()` may read."""
    names = set()
    for text in texts:
        names.update(re.findall(r"[^\W\d]\w*", text))
    return names


def expanded(names: Iterable[str], shares: Mapping[str, Iterable[str]]) -> set[str]:
    """The names, and all whose objects they may share."""
    reached = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += shares.get(name, ())
    return reached


def _defaults(node: ast.FunctionDef | ast.Lambda) -> list[ast.expr]:
    defaults = [*node.args.defaults, *node.args.kw_defaults]
    return [*filter(None, defaults)]
