"""A function's text rewritten once, so that its threads can wait and end, with every node in its old place.

    cuda.syncthreads()          yield <site>                    a thread of the block waits for all others
    cuda.shfl_sync(m, v, 0)     (yield from shfl_sync(<site>, m, v, 0))
    scaled(x, i)                (yield from scaled(x, i))       if the device function may wait
    function(x)                 (yield from call(<site>, function, x))    if it is not known before the launch
    cuda.threadIdx.x            machine.now.index.x
    while …:                    a counter in each round, for loops that never end (endless.py)
    a[i, j]                     see accesses.py
    a / b                       see operators.py
    record.sum                  .attribute(record, "sum", <site>)    names of NumPy's that may be a field's
    a name set in some threads  see unset.py

Names that are added hold a dot, which no name in a program can.
"""

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from types import CodeType, FunctionType

import numpy as np

from pocketgpu.simulator.accesses import Accesses, is_added, position_of
from pocketgpu.simulator.arithmetic import Unset
from pocketgpu.simulator.indexing import Arrays, Parameters
from pocketgpu.simulator.memory import Watched, attribute
from pocketgpu.simulator.names import Transformer, arguments_in, called, load, store
from pocketgpu.simulator.operators import NO_INTEGER, OF_REGISTER, Operators, Widths
from pocketgpu.simulator.source import FLAGS, Definition, bare_definition, codes_in
from pocketgpu.simulator.synchronisation import call, syncthreads
from pocketgpu.simulator.threads import INSIDE, Finding, LaunchStopped, blockIdx, threadIdx
from pocketgpu.simulator.trace import BARRIER, EVENT, KINDS, SITES, WRITTEN, site_at
from pocketgpu.simulator.unset import names_read_unset

GENERATOR = 0x20  # of a code's flags
OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.Pow: operator.pow, ast.LShift: operator.lshift,
}  # fmt: skip
UNKNOWN = object()  # what a name stands for that only the launch will tell
LOOPS = ast.For | ast.While
OF_ARRAYS = {name for name in dir(np.ndarray) if not name.startswith("_")} | {"astype", "item"}
OF_RECORDS = {name for name in dir(Watched) if not name.startswith("_")}  # a field may have such a name
OF_NUMBERS = ("shape", "size", "ndim", "dtype", "real", "imag")  # too often read to look for a field first

Look = Callable[[tuple[str, ...]], object]  # what a path of names, ("cuda", "shared", "array"), stands for


@dataclass
class Rewritten:
    """The code of a function for launches, and what it needs beside the names of its text."""

    code: CodeType
    namespace: dict[str, Callable] = field(default_factory=dict)  # name -> function of the simulator
    functions: dict[str, tuple[str, ...]] = field(default_factory=dict)  # name -> path of a device function
    views: list[tuple[str, int]] = field(default_factory=list)  # parameters, with how many indices
    known: dict[tuple[str, ...], object] = field(default_factory=dict)  # path -> what it stands for


def rewritten(
    tree: Definition,
    code: CodeType,
    look: Look,
    may_wait: Callable,
    watched: bool,
    parameters: Parameters,
) -> Rewritten:
    """The function of that text, as it runs in launches.

    may_wait: tells of a device function whether it can wait; each of its integers may need all bits.
    """
    definition = bare_definition(tree)
    own = bound_in(definition)
    rewriter = Rewriter(code, look, may_wait, watched, [own])
    arrays = Arrays(definition, rewriter.constant, watched, parameters)
    accesses = Accesses(arrays, code, watched)
    result = rewriter.result
    views = accesses.views(sorted(arrays.given))
    result.views = [view for view in views if accesses.is_of_launch(view)]
    unset = [name for name in names_read_unset(definition, arguments_in(definition)) if name in own]
    begin = [ast.Assign([store(name)], load(f"{name}.unset")) for name in unset]
    result.namespace |= {f"{name}.unset": Unset(name) for name in unset}
    views = [view for view in views if not accesses.is_of_launch(view)] + accesses.views(unset)
    begin += accesses.unpacked(views)
    body = statements_by(accesses, definition.body)
    known = parameters or dict.fromkeys(arrays.given, OF_REGISTER)
    bits = {name: number or NO_INTEGER for name, number in known.items()}
    operators = Operators(Widths(definition, rewriter.meaning, rewriter.constant, bits))
    definition.body = [*begin, *statements_by(operators, body)]
    result.namespace |= accesses.namespace | operators.namespace
    definition.body = rewriter.body(definition.body)
    module = ast.fix_missing_locations(ast.Module([definition], []))
    compiled = compile(module, code.co_filename, "exec", code.co_flags & FLAGS, dont_inherit=True)
    result.code = next(part for part in compiled.co_consts if isinstance(part, CodeType))
    for inner in codes_in(result.code):
        WRITTEN[id(inner)] = code
    return result


def statements_by(transformer: ast.NodeTransformer, body: list[ast.stmt]) -> list[ast.stmt]:
    """What a transformer makes of statements, of which one may become several."""
    result = []
    for statement in body:
        new = transformer.visit(statement)
        result += new if isinstance(new, list) else [new]
    return result


def bound_in(definition: Definition) -> set[str]:
    """Names that a function binds itself."""
    names = arguments_in(definition)
    waiting = [*definition.body] if isinstance(definition.body, list) else [definition.body]
    outer = set()
    for node in waiting:
        match node:
            case ast.Name(ctx=ast.Store() | ast.Del()):
                names.add(node.id)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names.add(node.name)
                continue
            case ast.Lambda():
                continue
            case ast.Global() | ast.Nonlocal():
                outer |= {*node.names}
            case ast.Import() | ast.ImportFrom():
                names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
            case ast.ExceptHandler(name=str()) | ast.MatchAs(name=str()) | ast.MatchStar(name=str()):
                names.add(node.name)
        waiting += ast.iter_child_nodes(node)
    return names - outer


@dataclass
class Rewriter(Transformer):
    """Rewrites one function."""

    code: CodeType
    look: Look
    may_wait: Callable
    watched: bool
    scopes: list[set[str]]  # names of the functions around a node
    comprehensions: int = 0
    needs_thread: bool = False
    again: str | None = None  # in a while's condition: the name that says if a round is over
    loops: int = 0

    def __post_init__(self):
        self.result = Rewritten(self.code)

    def body(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements of the whole function."""
        result = statements_by(self, body)
        if self.needs_thread:
            first = ast.Assign([store(".thread")], ast.Attribute(load(".machine"), "now", ast.Load()))
            result.insert(0, first)
        return result

    # ------------------------------------------------------------------ what names stand for

    def path(self, node: ast.expr) -> tuple[str, ...] | None:
        """("cuda", "shared", "array") for a chain of names that begins outside of the function."""
        if isinstance(node, ast.Name):
            return None if is_added(node) or any(node.id in scope for scope in self.scopes) else (node.id,)
        if isinstance(node, ast.Attribute) and (before := self.path(node.value)):
            return (*before, node.attr)
        return None

    def meaning(self, node: ast.expr) -> object:
        """What an expression stands for, if the launch cannot change it; else UNKNOWN."""
        path = self.path(node)
        if path is None:
            return UNKNOWN
        value = self.result.known[path] = self.look(path)
        return value

    def constant(self, node: ast.expr) -> object:
        """The value of an expression that no launch can change; None for any other."""
        match node:
            case ast.Constant():
                return node.value
            case ast.Name() | ast.Attribute():
                value = self.meaning(node)
                return None if value is UNKNOWN else value
            case ast.Tuple():
                return tuple(map(self.constant, node.elts))
            case ast.BinOp(op=op) if type(op) in OPERATORS:
                parts = self.constant(node.left), self.constant(node.right)
                return OPERATORS[type(op)](*parts) if all(isinstance(n, int) for n in parts) else None
        return None

    def site(self, node: ast.AST) -> int:
        return site_at(self.code, position_of(node))

    def word(self, name: str, function: Callable) -> ast.Name:
        """A name for a function of the simulator."""
        self.result.namespace[name] = function
        return load(name)

    # ------------------------------------------------------------------ calls

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        is_barrier = isinstance(node.value, ast.Call) and self.meaning(node.value.func) is syncthreads
        if not is_barrier or node.value.args or node.value.keywords or len(self.scopes) > 1:
            return self.generic_visit(node)
        self.needs_thread, site = True, self.site(node.value)
        lines = [f"yield {site}", "__machine.now = __thread"]
        if self.watched:
            lines.insert(0, f"__append({EVENT + KINDS * site + BARRIER})")
            lines.append("__append(__thread.mark)")
        return self._at_place(lines, node)

    def _at_place(self, lines: list[str], place: ast.AST) -> list[ast.stmt]:
        """Statements at the place of another; a name that begins with two underscores gets a dot."""
        statements = ast.parse("\n".join(lines)).body
        for node in (node for statement in statements for node in ast.walk(statement)):
            if isinstance(node, ast.Name) and node.id.startswith("__"):
                node.id = "." + node.id[2:]
            if "lineno" in node._attributes:
                ast.copy_location(node, place)
        return statements

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if is_added(node.func):
            return self.generic_visit(node)
        value = self.meaning(node.func)
        site = self.site(node)
        function = node.func
        path = self.path(node.func)
        self.generic_visit(node)
        inside = INSIDE.get(id(value))
        if inside is not None:
            name = f".{'.'.join(path)}"
            node.func = self.word(name, inside)
            node.args = self._with(site, node)
            return self._waiting(node, ".".join(path)) if inside.__code__.co_flags & GENERATOR else node
        if value is UNKNOWN:
            harmless = isinstance(function, ast.Attribute) and function.attr in OF_ARRAYS
            if harmless or self.comprehensions:
                return node
            node.args = self._with(site, node, node.func)
            node.func = self.word(".call", call)
            return self._waiting(node, ast.unparse(function))
        if isinstance(value, FunctionType):
            waits = self.may_wait(value)
            if len(path) > 1:
                self.result.functions[f".{'.'.join(path)}"] = path
                node.func = load(f".{'.'.join(path)}")
            return self._waiting(node, ".".join(path)) if waits else node
        return node

    def _with(self, site: int, node: ast.Call, *more: ast.expr) -> list[ast.expr]:
        number = ast.Constant(site)
        if self.again:
            second = site_at(*SITES[site][:2], copy=1)
            number = ast.IfExp(load(self.again), ast.Constant(second), number)
        return [number, *more, *node.args]

    def _waiting(self, node: ast.Call, what: str) -> ast.AST:
        if self.comprehensions:
            line = node.lineno
            message = f"line {line} calls {what}, which waits, in a comprehension; write a loop"
            raise LaunchStopped(Finding("does_not_compile", message, line))
        return ast.YieldFrom(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """laneid, where a program has imported that name."""
        is_lane = node.id == "laneid" and self.path(node) is not None and self.meaning(node) is UNKNOWN
        return self._at_place(["__machine.now.lane"], node)[0].value if is_lane else node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """cuda.threadIdx.x and the like, without a look-up of the running thread by name."""
        if isinstance(node.ctx, ast.Load) and node.attr in ("x", "y", "z"):
            chain = {id(threadIdx): "__machine.now.index", id(blockIdx): "__machine.now.block.index"}
            text = chain.get(id(self.meaning(node.value)))
            if text:
                (statement,) = self._at_place([f"{text}.{node.attr}"], node)
                return statement.value
        is_of_number = node.attr in OF_NUMBERS and isinstance(node.value, ast.Name)
        is_read = node.attr in OF_RECORDS and not is_of_number and isinstance(node.ctx, ast.Load)
        may_be_field = is_read and self.meaning(node) is UNKNOWN
        self.generic_visit(node)
        if not may_be_field:
            return node
        self.result.namespace[".attribute"] = attribute
        return called(".attribute", node.value, ast.Constant(node.attr), ast.Constant(self.site(node)))

    # ------------------------------------------------------------------ functions and comprehensions within

    def _visit_function(self, node: ast.AST) -> ast.AST:
        self.scopes.append(bound_in(node))
        comprehensions = self.comprehensions
        self.comprehensions = 0
        if isinstance(node, ast.Lambda):
            node.body = self.visit(node.body)
        else:
            node.body = statements_by(self, node.body)
        self.comprehensions = comprehensions
        self.scopes.pop()
        return node

    visit_FunctionDef = visit_Lambda = _visit_function

    def _visit_comprehension(self, node: ast.AST) -> ast.AST:
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        self.scopes.append(names)
        self.comprehensions += 1
        self.generic_visit(node)
        self.comprehensions -= 1
        self.scopes.pop()
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _visit_comprehension

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.AST:
        """What lies outside of the kernel is global here."""
        own = [name for name in node.names if any(name in scope for scope in self.scopes)]
        return node if own else ast.Global(node.names)

    # ------------------------------------------------------------------ loops

    def visit_While(self, node: ast.While) -> ast.AST | list[ast.stmt]:
        """A condition that waits is one place before the loop, and another at its end: of polls, two."""
        outer = self.again
        self.again = f".again{self.loops}"
        self.loops += 1
        name = self.again
        node.test = self.visit(node.test)
        self.again = outer
        node.body, node.orelse = statements_by(self, node.body), statements_by(self, node.orelse)
        self._counted(node)
        if not any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node.test)):
            return node
        before, after = (ast.Assign([store(name)], ast.Constant(value)) for value in (False, True))
        node.body.insert(0, after)
        return [before, node]

    def visit_For(self, node: ast.For) -> ast.AST:
        is_range = isinstance(node.iter, ast.Call) and self.meaning(node.iter.func) is range
        within = ast.walk(ast.Module(node.body, []))
        repeats = any(
            isinstance(part, LOOPS) or (isinstance(part, ast.Call) and not is_added(part.func))
            for part in within
        )
        self.generic_visit(node)
        if repeats or not is_range:
            # a name for its round, as endless.py takes a thread whose names stay the same for stuck
            node.target = ast.Tuple(
                [store(f".round {node.lineno} {node.col_offset}"), node.target], ast.Store()
            )
            node.iter = called(".enumerate", node.iter)
            return self._counted(node)
        node.iter.func = load(".range")
        return node

    def _counted(self, node: LOOPS) -> LOOPS:
        count = self._at_place(["__machine.ticks -= 1", "if __machine.ticks < 0: __look()"], node)
        node.body = [*count, *node.body]
        return node
