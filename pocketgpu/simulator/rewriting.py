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
from pocketgpu.simulator.names import Transformer, arguments_in, called, load, names_used, store
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
INDEX_PATHS = {id(threadIdx): "__machine.now.index", id(blockIdx): "__machine.now.block.index"}
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
    read_unset = names_read_unset(definition, arguments_in(definition))
    unset = [name for name in read_unset if name in own]
    begin = [ast.Assign([store(name)], load(f"{name}.unset")) for name in unset]
    result.namespace |= {f"{name}.unset": Unset(name) for name in unset}
    views_of_thread = [view for view in views if not accesses.is_of_launch(view)]
    begin += accesses.unpacked(views_of_thread + accesses.views(unset))
    body = statements_by(accesses, definition.body)
    known = parameters or dict.fromkeys(arrays.given, OF_REGISTER)
    bits = {name: number or NO_INTEGER for name, number in known.items()}
    widths = Widths(definition, rewriter.meaning, rewriter.constant, bits)
    operators = Operators(widths)
    body = statements_by(operators, body)
    result.namespace |= accesses.namespace | operators.namespace
    definition.body = rewriter.body([*begin, *body])
    result.code = _compiled(definition, code)
    for inner in codes_in(result.code):
        WRITTEN[id(inner)] = code
    return result


def _compiled(definition: ast.FunctionDef, code: CodeType) -> CodeType:
    """The definition's code, for the file and with the flags of the code as it was written."""
    module = ast.fix_missing_locations(ast.Module([definition], []))
    flags = code.co_flags & FLAGS
    compiled = compile(module, code.co_filename, "exec", flags, dont_inherit=True)
    return next(constant for constant in compiled.co_consts if isinstance(constant, CodeType))


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
                imported = [alias.asname or alias.name for alias in node.names]
                names |= {path.partition(".")[0] for path in imported}
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
            running = ast.Attribute(load(".machine"), "now", ast.Load())
            result.insert(0, ast.Assign([store(".thread")], running))
        return result

    # ------------------------------------------------------------------ what names stand for

    def path(self, node: ast.expr) -> tuple[str, ...] | None:
        """("cuda", "shared", "array") for a chain of names that begins outside of the function."""
        if isinstance(node, ast.Attribute):
            before = self.path(node.value)
            return (*before, node.attr) if before else None
        if not isinstance(node, ast.Name):
            return None
        is_inside = is_added(node) or self._is_own(node.id)
        return None if is_inside else (node.id,)

    def _is_own(self, name: str) -> bool:
        """Does the function, or one around the node, bind that name?"""
        return any(name in scope for scope in self.scopes)

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
                left = self.constant(node.left)
                right = self.constant(node.right)
                if isinstance(left, int) and isinstance(right, int):
                    return OPERATORS[type(op)](left, right)
        return None

    def site(self, node: ast.AST) -> int:
        return site_at(self.code, position_of(node))

    def word(self, name: str, function: Callable) -> ast.Name:
        """A name for a function of the simulator."""
        self.result.namespace[name] = function
        return load(name)

    # ------------------------------------------------------------------ calls

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        call = node.value
        is_barrier = isinstance(call, ast.Call) and self.meaning(call.func) is syncthreads
        if not is_barrier or call.args or call.keywords or len(self.scopes) > 1:
            return self.generic_visit(node)
        self.needs_thread = True
        site = self.site(call)
        mark = EVENT + KINDS * site + BARRIER
        lines = [f"yield {site}", "__machine.now = __thread"]
        if self.watched:
            lines = [f"__append({mark})", *lines, "__append(__thread.mark)"]
        return self._at_place(lines, node)

    def _at_place(self, lines: list[str], place: ast.AST) -> list[ast.stmt]:
        """Statements at the place of another; a name that begins with two underscores gets a dot."""
        module = ast.parse("\n".join(lines))
        for node in ast.walk(module):
            if isinstance(node, ast.Name) and node.id.startswith("__"):
                node.id = f".{node.id.removeprefix('__')}"
            if "lineno" in node._attributes:
                ast.copy_location(node, place)
        return module.body

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if is_added(node.func):
            return self.generic_visit(node)
        function = node.func
        value = self.meaning(function)
        site = self.site(node)
        path = self.path(function)
        name = ".".join(path) if path else ast.unparse(function)
        self.generic_visit(node)
        inside = INSIDE.get(id(value))
        if inside is not None:
            node.func = self.word(f".{name}", inside)
            node.args = self._with(site, node)
            may_wait = inside.__code__.co_flags & GENERATOR
            return self._waiting(node, name) if may_wait else node
        if value is UNKNOWN:
            is_method_of_array = isinstance(function, ast.Attribute) and function.attr in OF_ARRAYS
            if is_method_of_array or self.comprehensions:
                return node
            node.args = self._with(site, node, node.func)
            node.func = self.word(".call", call)
            return self._waiting(node, name)
        if isinstance(value, FunctionType):
            may_wait = self.may_wait(value)
            if len(path) > 1:
                self.result.functions[f".{name}"] = path
                node.func = load(f".{name}")
            return self._waiting(node, name) if may_wait else node
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
        if not is_lane:
            return node
        (statement,) = self._at_place(["__machine.now.lane"], node)
        return statement.value

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """cuda.threadIdx.x and the like, without a look-up of the running thread by name."""
        is_read = isinstance(node.ctx, ast.Load)
        if is_read and node.attr in ("x", "y", "z"):
            path = INDEX_PATHS.get(id(self.meaning(node.value)))
            if path:
                (statement,) = self._at_place([f"{path}.{node.attr}"], node)
                return statement.value
        is_of_number = node.attr in OF_NUMBERS and isinstance(node.value, ast.Name)
        is_name_of_field = node.attr in OF_RECORDS and not is_of_number
        may_be_field = is_read and is_name_of_field and self.meaning(node) is UNKNOWN
        self.generic_visit(node)
        if not may_be_field:
            return node
        self.result.namespace[".attribute"] = attribute
        name = ast.Constant(node.attr)
        site = ast.Constant(self.site(node))
        return called(".attribute", node.value, name, site)

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
        names = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
        self.scopes.append({name.id for name in names if isinstance(name.ctx, ast.Store)})
        self.comprehensions += 1
        self.generic_visit(node)
        self.comprehensions -= 1
        self.scopes.pop()
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _visit_comprehension

    def visit_Nonlocal(self, node: ast.Nonlocal) -> ast.AST:
        """What lies outside of the kernel is global here."""
        is_own = any(map(self._is_own, node.names))
        return node if is_own else ast.Global(node.names)

    # ------------------------------------------------------------------ loops

    def visit_While(self, node: ast.While) -> ast.AST | list[ast.stmt]:
        """A condition that waits is one place before the loop, and another at its end: of polls, two."""
        outer = self.again
        name = f".again{self.loops}"
        self.again = name
        self.loops += 1
        node.test = self.visit(node.test)
        self.again = outer
        node.body = statements_by(self, node.body)
        node.orelse = statements_by(self, node.orelse)
        self._counted(node)
        if name not in names_used(node.test):
            return node
        before = ast.Assign([store(name)], ast.Constant(False))
        after = ast.Assign([store(name)], ast.Constant(True))
        node.body.insert(0, after)
        return [before, node]

    def visit_For(self, node: ast.For) -> ast.AST:
        is_range = isinstance(node.iter, ast.Call) and self.meaning(node.iter.func) is range
        repeats = any(map(_may_repeat, ast.walk(ast.Module(node.body, []))))
        self.generic_visit(node)
        if is_range and not repeats:
            node.iter.func = load(".range")
            return node
        # a name for its round, as endless.py takes a thread whose names stay the same for stuck
        round_name = store(f".round {node.lineno} {node.col_offset}")
        node.target = ast.Tuple([round_name, node.target], ast.Store())
        node.iter = called(".enumerate", node.iter)
        return self._counted(node)

    def _counted(self, node: LOOPS) -> LOOPS:
        count = self._at_place(["__machine.ticks -= 1", "if __machine.ticks < 0: __look()"], node)
        node.body = [*count, *node.body]
        return node


def _may_repeat(node: ast.AST) -> bool:
    """Is it a loop, or a call of a function that may have one?"""
    if isinstance(node, ast.Call):
        return not is_added(node.func)
    return isinstance(node, LOOPS)
