"""What a statement binds, reads and may change, as far as its text shows it: no code runs.

One `Scope` is what runs together: a statement at the top of a cell, or the body of a function. What Python
decides when it compiles (which name is local) is decided here in the same way; what it decides when it runs
is taken widely: an object that is passed to an unknown function may be changed by it.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
CONSTANTS = (
    ast.Constant, ast.UnaryOp, ast.BinOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Tuple, ast.Name,
    ast.JoinedStr, ast.FormattedValue, ast.operator, ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context,
)  # fmt: skip
REFLECTION = {
    "globals",
    "locals",
    "vars",
    "exec",
    "eval",
    "get_ipython",
}  # names that no text shows
ANYTHING = "*"  # stands for those names
USE = "use"  # the course's own: it gives a function that passed its check, and nobody writes into that


class Site(NamedTuple):
    """A place where a name gets a value."""

    name: str
    kind: str  # "definition", "import", "value" (the name alone, from an expression), "part" or "deletion"
    source: object  # the package of an import, the expression of a value, else None


class Call(NamedTuple):
    """A call as it is written."""

    function: str | None  # the name that is called, where it is a name
    method: str | None  # the attribute that is called, where it is one
    roots: frozenset[str]  # the names through which a method is reached
    passed: tuple[tuple[object, frozenset[str]], ...]  # (position or keyword, names that go with it)
    discarded: bool  # nobody takes its value: it is there for its effect

    @property
    def namespace(self) -> frozenset[str]:
        """The names that hold the second thing passed: of exec(text, names), what it fills in their place."""
        return self.passed[1][1] - REFLECTION if len(self.passed) > 1 else frozenset()


class Scope:
    """What a list of nodes does when they run; `named` are the functions that they define, `inner` those
    without a name."""

    def __init__(self, nodes: Iterable[ast.AST]):
        self.sites: list[Site] = []
        self.reads: set[str] = set()
        self.stores: set[str] = set()  # objects that are written into: x[0] = 1, x.a = 1, x += 1, del x[0]
        self.calls: list[Call] = []
        self.shares: dict[str, set[str]] = defaultdict(set)  # a name: those whose objects it may share
        self.declared: set[str] = set()  # global or nonlocal
        self.named: dict[str, list[ast.AST]] = defaultdict(list)  # functions by the name that calls them
        self.inner: list[ast.AST] = []
        self.texts: list[str] = []
        self._discarded: set[int] = set()
        self._visit(list(nodes))

    @property
    def binds(self) -> set[str]:
        """The names that get a value here."""
        return {site.name for site in self.sites}

    @property
    def gives_any_name(self) -> bool:
        """May it give a value to names that stand nowhere: exec(text), globals()["a"] = 1?"""
        called = any(call.function == "exec" and not call.namespace for call in self.calls)
        return bool(called or REFLECTION & self.stores.union(*(call.roots for call in self.calls)))

    @property
    def is_reflective(self) -> bool:
        """Does it read or write names that stand in no text?"""
        return bool(REFLECTION & self.reads)

    def _visit(self, waiting: list[ast.AST]) -> None:
        """All nodes, without recursion: an expression may be nested thousands deep."""
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.Constant) and not isinstance(node.value, str):
                continue  # a table may hold a million
            look = getattr(self, f"_visit_{type(node).__name__}", None)
            children = look(node) if look else None
            waiting += ast.iter_child_nodes(node) if children is None else children

    def _visit_Constant(self, node: ast.Constant) -> list:
        if isinstance(node.value, str) and len(node.value) < 10_000:
            self.texts.append(node.value)
        return []

    def _visit_Name(self, node: ast.Name) -> list:
        if isinstance(node.ctx, ast.Load):
            self.reads.add(node.id)
        else:
            kind = "deletion" if isinstance(node.ctx, ast.Del) else "part"
            self.sites.append(Site(node.id, kind, None))
        return []

    def _visit_Attribute(self, node: ast.Attribute) -> None:
        if not isinstance(node.ctx, ast.Load):
            self.stores |= roots(node)

    _visit_Subscript = _visit_Attribute

    def _visit_Global(self, node: ast.Global) -> None:
        self.declared.update(node.names)

    _visit_Nonlocal = _visit_Global

    def _visit_Expr(self, node: ast.Expr) -> None:
        value = node.value.value if isinstance(node.value, ast.Await) else node.value
        self._discarded.add(id(value))
        if isinstance(value, COMPREHENSIONS):
            self._discarded.add(id(getattr(value, "elt", None)))

    def _visit_Assign(self, node: ast.Assign) -> list:
        targets = [part for target in node.targets for part in self._bind(target, node.value)]
        return [*targets, node.value]

    def _visit_AnnAssign(self, node: ast.AnnAssign) -> list:
        if node.value is None:
            return [node.annotation]
        return [node.annotation, node.value, *self._bind(node.target, node.value)]

    def _visit_NamedExpr(self, node: ast.NamedExpr) -> list:
        return [node.value, *self._bind(node.target, node.value)]

    def _visit_AugAssign(self, node: ast.AugAssign) -> list:
        if isinstance(node.target, ast.Name):
            self.reads.add(node.target.id)
            self.stores.add(node.target.id)
        return [node.target, node.value]

    def _visit_For(self, node: ast.For) -> list:
        return [*self._bind(node.target, node.iter, "part"), node.iter, *node.body, *node.orelse]

    _visit_AsyncFor = _visit_For

    def _visit_withitem(self, node: ast.withitem) -> list:
        target = node.optional_vars
        return [node.context_expr, *(self._bind(target, node.context_expr, "part") if target else ())]

    def _visit_Match(self, node: ast.Match) -> None:
        for below in ast.walk(node):
            name = getattr(below, "rest", None) if isinstance(below, ast.MatchMapping) else None
            name = below.name if isinstance(below, ast.MatchAs | ast.MatchStar) else name
            if name:
                self.sites.append(Site(name, "part", None))
                self.shares[name] |= roots(node.subject)

    def _visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.sites.append(Site(node.name, "part", None))

    def _visit_Import(self, node: ast.Import | ast.ImportFrom) -> list:
        for alias in node.names:
            package = getattr(node, "module", None) or alias.name
            name = alias.asname or alias.name.partition(".")[0]
            name = ANYTHING if package == "__future__" else name  # it changes how all is compiled
            self.sites.append(Site(name, "import", package.partition(".")[0]))
        return []

    _visit_ImportFrom = _visit_Import

    def _visit_FunctionDef(self, node: ast.FunctionDef) -> list:
        self.sites.append(Site(node.name, "definition", None))
        self.named[node.name].append(node)
        arguments = node.args
        parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        annotations = [node.returns, *(parameter.annotation for parameter in parameters)]
        return [
            *self._decorate(node),
            *filter(None, [*arguments.defaults, *arguments.kw_defaults, *annotations]),
        ]

    _visit_AsyncFunctionDef = _visit_FunctionDef

    def _visit_Lambda(self, node: ast.Lambda) -> list:
        if all(node is not function for functions in self.named.values() for function in functions):
            self.inner.append(node)
        return [*filter(None, [*node.args.defaults, *node.args.kw_defaults])]

    def _visit_ClassDef(self, node: ast.ClassDef) -> list:
        """A class: its body runs at once, its methods are called by its name or by their own."""
        self.sites.append(Site(node.name, "definition", None))
        body = Scope(node.body)
        own = body.binds
        self._take(body, own)
        for method, functions in body.named.items():
            self.named["." + method] += functions
            self.named[node.name] += functions
        above = [*node.bases, *(keyword.value for keyword in node.keywords)]
        for part in above:
            self._called(part, ((None, roots(part)),), discarded=True)
            self.shares[node.name] |= roots(part)
        return [*self._decorate(node), *above]

    def _visit_ListComp(self, node: ast.ListComp) -> list:
        """A comprehension: its targets are names of its own."""
        first = node.generators[0]
        body = [getattr(node, name) for name in ("elt", "key", "value") if hasattr(node, name)]
        if id(node) in self._discarded or id(getattr(node, "elt", None)) in self._discarded:
            body = [ast.Expr(part) for part in body]
        below = Scope([*body, *first.ifs, *(part for rest in node.generators[1:] for part in _parts(rest))])
        own: set[str] = set()
        for generator in node.generators:
            names = {part.id for part in ast.walk(generator.target) if isinstance(part, ast.Name)}
            own |= names
            for name in names:
                below.shares[name] |= roots(generator.iter)
        self._take(below, own)
        self.sites += [site for site in below.sites if site.name not in own]
        return [first.iter]

    _visit_SetComp = _visit_DictComp = _visit_GeneratorExp = _visit_ListComp

    def _visit_Call(self, node: ast.Call) -> None:
        passed = [(n, roots(part)) for n, part in enumerate(node.args)]
        passed += [(part.arg, roots(part.value)) for part in node.keywords]
        self._called(node.func, tuple(passed), id(node) in self._discarded)

    def _called(self, function: ast.expr, passed: tuple, discarded: bool) -> None:
        name = function.id if isinstance(function, ast.Name) else None
        method = function.attr if isinstance(function, ast.Attribute) else None
        reached = roots(function.value if method else function) if name is None else frozenset()
        self.calls.append(Call(name, method, reached, passed, discarded))

    def _decorate(self, node: ast.AST) -> list:
        for decorator in node.decorator_list:
            self._discarded.add(id(decorator))
            self._called(decorator, ((0, frozenset([node.name])),), discarded=True)
        return node.decorator_list

    def _bind(self, target: ast.expr, value: ast.expr, kind: str = "value") -> list:
        """A target and its value; the nodes of the target that are still to be visited."""
        if isinstance(target, ast.Starred):
            target = target.value
        if not isinstance(target, ast.Name):
            names = [part for part in ast.walk(target) if isinstance(part, ast.Name)]
            for part in names:
                if isinstance(part.ctx, ast.Store):
                    self.shares[part.id] |= _roots_of_parts(value)
            return [target]
        self.sites.append(Site(target.id, kind, value if kind == "value" else None))
        self.shares[target.id] |= roots(value)
        if isinstance(value, ast.Lambda):
            self.named[target.id].append(value)
        return []

    def _take(self, below: "Scope", own: set[str]) -> None:
        """What a class body or a comprehension does when it runs, without the names that are its own."""
        self.reads |= below.reads - own
        self.stores |= _expanded(below.stores, below.shares) - own
        for call in below.calls:
            passed = tuple((key, _expanded(names, below.shares) - own) for key, names in call.passed)
            reached = frozenset(_expanded(call.roots, below.shares) - own)
            self.calls.append(call._replace(roots=reached, passed=passed))
        self.inner += below.inner
        self.texts += below.texts


def _roots_of_parts(value: ast.expr) -> frozenset[str]:
    """Names whose objects the parts of a value may share; a function shares nothing with its results."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name | ast.Call):
        passed = [*value.args, *(keyword.value for keyword in value.keywords)]
        return frozenset().union(*map(roots, passed))
    return roots(value)


def roots(expression: ast.expr) -> frozenset[str]:
    """The names whose objects an expression may hand on: `a` of `a[0].b`, `a` and `b` of `f(a, [b])`."""
    reached, waiting = set(), [expression]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Name):
            reached.add(node.id)
        elif isinstance(node, ast.Attribute | ast.Subscript | ast.Starred | ast.Await | ast.NamedExpr):
            waiting.append(node.value)
        elif isinstance(node, ast.Call) and not _is_use(node):
            waiting += [*node.args, *(keyword.value for keyword in node.keywords)]
            if not isinstance(node.func, ast.Name) or node.func.id in REFLECTION:
                waiting.append(node.func)
        elif isinstance(node, ast.Tuple | ast.List | ast.Set):
            waiting += [part for part in node.elts if not isinstance(part, ast.Constant)]
        elif isinstance(node, ast.Dict | ast.BoolOp):
            waiting += node.values
        elif isinstance(node, ast.IfExp):
            waiting += [node.body, node.orelse]
    return frozenset(reached)


def _is_use(call: ast.Call) -> bool:
    """Is it `use(f)`, or `rnnlab.use(f)`?"""
    return USE in (getattr(call.func, "id", None), getattr(call.func, "attr", None))


def is_constant(expression: ast.expr, constants: set[str]) -> bool:
    """Is the value a number, a text or a tuple of those, which nothing can change?"""
    nodes = list(islice(ast.walk(expression), 1000))
    return len(nodes) < 1000 and all(
        isinstance(node, CONSTANTS) and (not isinstance(node, ast.Name) or node.id in constants)
        for node in nodes
    )


def words(texts: Iterable[str]) -> set[str]:
    """What could be names in texts that `eval`, `exec` or `globals()` may read."""
    return {word for text in texts for word in re.findall(r"[^\W\d]\w*", text)}


def _expanded(names: Iterable[str], shares: dict[str, set[str]]) -> set[str]:
    """The names, and all whose objects they may share."""
    reached, waiting = set(), list(names)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += shares.get(name, ())
    return reached


def _parts(generator: ast.comprehension) -> list[ast.expr]:
    return [generator.iter, *generator.ifs]
