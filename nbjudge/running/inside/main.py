"""The loop of the learner's process: load the answer, then one call after another until the judge hangs up.

It holds the learner's code and the inputs of one exercise. Wanted values, seed, score and clock never come
here.
"""

import __future__

import ast
import codeop
import ctypes
import dis
import gc
import inspect
import json
import linecache
import os
import signal
import sys
from collections.abc import Coroutine
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from threading import Lock
from types import CodeType, ModuleType

import numpy as np

from . import calls, guard, notebook, stand_ins, system_calls, wire

IMPORTS = (ast.Import, ast.ImportFrom)
DIE_WITH_PARENT = 1  # prctl's PR_SET_PDEATHSIG
OF_GRADER = (OSError, ImportError, EOFError, MemoryError, calls.Forbidden)  # errors that no notebook had
libc = ctypes.CDLL(None)


def main(settings: str) -> None:
    """Serve the judge. `settings` is JSON: two file descriptors, limits {name: value}, and the hidden
    folders."""
    chosen = json.loads(settings)
    ask = chosen["ask"]
    answer = chosen["answer"]
    limit(chosen["limits"])
    wire.write(answer, wire.pack(None, kind="ready"))
    handed_over, header = wire.unpack(wire.read(ask))
    silence()
    kind = load_kind(chosen["kind"]["file"])
    prepare = _launched if "is_launch" in header else _answered
    function, failure, state, is_over = prepare(handed_over, chosen, kind)
    wire.write(answer, wire.pack(state, **(failure if is_over else {"kind": "returned"})))

    turns = Lock()  # an answer may call from several threads

    def exchange(frame):
        with turns:
            wire.write(answer, frame)
            return wire.read(ask)

    earlier = calls.Earlier()
    try:
        while True:
            wire.write(
                answer,
                calls.call(
                    function, wire.read(ask), exchange, failure, launched=kind.launched, earlier=earlier
                ),
            )
    except EOFError:
        return


def load_kind(file: str) -> ModuleType:
    """A module of a kind of answers (course.Kind), loaded from its file."""
    spec = spec_from_file_location(f"inside.kind_{Path(file).stem}", file)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _answered(packed: np.ndarray, chosen: dict, kind: ModuleType) -> tuple:
    """The function of an answer, after its statements have run: (function, why a statement failed, state for
    the judge, is that the end?)."""
    name, cells, names, optional, history = json.loads(packed.tobytes().decode(errors="surrogatepass"))
    is_of_kind = any(chosen["kind"]["word"] in source for _, source, _ in cells)
    module, missing = _prepared(kind, chosen["course"]) if is_of_kind else (None, None)
    _install_guard(chosen, module, missing)
    stand_ins.install()
    sys.modules["__main__"] = ModuleType("__main__")
    notebook.install(sys.modules["__main__"].__dict__)
    namespace, failures = load(cells, names, history)
    function = namespace.get(name)
    failure = next((loss for place, loss in failures if place not in optional), None)
    is_over = failure is not None and (function is None or failure["kind"] == "forbidden")
    reasons = [f"{loss['where']} ({loss['type']}: {loss['text']})"[:300] for _, loss in failures[:5]]
    return function, failure, [callable(function), *reasons], is_over


def _launched(handed_over: tuple, chosen: dict, kind: ModuleType) -> tuple:
    """The same for an answer that is built from its text: no statement runs here."""
    text, constants = handed_over
    module, missing = _prepared(kind, chosen["course"])
    builder = load_kind(chosen["kind"]["builder"])
    _install_guard(chosen, module, missing)
    try:
        if module is None:
            raise ModuleNotFoundError(f"No module named {missing!r}", name=missing)
        return builder.build(text.tobytes(), constants, module), None, [True], False
    except Exception as error:
        return None, calls.outcome(error), [False], True


def _install_guard(chosen: dict, module: ModuleType | None, missing: str | None) -> None:
    own = guard.Own(chosen["name"], chosen["packages"], chosen["kind"]["word"], module, missing)
    guard.install(chosen["hidden"], own)


def _prepared(kind: ModuleType, course: str) -> tuple[ModuleType | None, str | None]:
    """(what the kind prepares, None), or (None, a package that it needs) where that is not installed.

    Only answers of the kind pay the second that it takes.
    """
    gc.disable()  # a sixth of the time would go into looking for garbage in what is being loaded
    try:
        return kind.prepare(course), None
    except ImportError as error:
        return None, getattr(error.__cause__ or error, "name", None) or "numba"
    finally:
        gc.enable()


def limit(limits: dict[str, int]) -> None:
    """Set what the operating system can limit; what it cannot, the judge watches."""
    import resource

    if sys.platform == "linux":
        libc.prctl(DIE_WITH_PARENT, signal.SIGKILL)
    for name, value in limits.items():
        try:
            hard = value + (name == "CPU")  # SIGXCPU first, so that the judge can tell why
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, hard))
        except (AttributeError, ValueError, OSError):
            continue
    system_calls.refuse_calls()


def silence() -> None:
    """What an answer prints goes nowhere: a gigabyte of output then costs nobody anything."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    os.close(nowhere)


def load(cells: list, names: list[str], history: dict) -> tuple[dict, list]:
    """(namespace, [([label, line], outcome), ...] of what failed) after the chosen statements of
    [(label, source, [index, ...]), ...] have run.  history: see notebook.History.

    Each runs by itself: one that fails may have nothing to do with the answer. What misses a name runs again
    once another statement has given it, so that cells may stand in any order. Below an error that a notebook
    had as well, only what gives a name its first meaning runs, as no cell goes past its error.
    """
    namespace = sys.modules["__main__"].__dict__
    waiting = [part for label, source, chosen in cells for part in _statements(label, source, chosen, names)]
    compiled = codeop.Compile()  # remembers `from __future__ import ...` from one statement to the next
    # Python 3.14 evaluates no annotation unless it is asked for; a notebook may come from there
    compiled.flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | __future__.annotations.compiler_flag
    history = notebook.History(history, namespace) if history else None
    failures = []
    while waiting:
        late = []
        stopped = set()
        for label, statement in waiting:
            is_below = label in stopped and _names_given(label, statement) <= namespace.keys()
            error = None if is_below else _run(compiled, label, statement, namespace, history)
            if error is not None:
                late.append(((label, statement), error))
            if error is not None and not isinstance(error, OF_GRADER):
                stopped.add(label)
        failures += [(part, error) for part, error in late if _missing(error) not in namespace]
        waiting = [part for part, error in late if _missing(error) in namespace]
    return namespace, [([label, line.lineno], calls.outcome(error)) for (label, line), error in failures]


def _names_given(label: str, statement: ast.stmt) -> set[str]:
    """The names that a statement gives a meaning at the top of the notebook."""
    steps = dis.get_instructions(
        compile(ast.Module([statement], []), label, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    )
    return {step.argval for step in steps if step.opname in ("STORE_NAME", "STORE_GLOBAL")}


def _missing(error: BaseException) -> str | None:
    """The name that was missing; None where something else failed."""
    return error.name if isinstance(error, NameError) else None


def _statements(label: str, source: str, chosen: list[int], names: list[str]) -> list[tuple[str, ast.stmt]]:
    """[(label, statement), ...] of a cell, with those names of its imports that are needed."""
    linecache.cache[label] = (len(source), None, [line + "\n" for line in source.split("\n")], label)
    body = compile(source, label, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT).body
    statements = [body[index] for index in chosen]
    for statement in statements:
        if (
            isinstance(statement, IMPORTS)
            and names != ["*"]
            and getattr(statement, "module", "") != "__future__"
        ):
            bound = lambda alias: alias.asname or alias.name.partition(".")[0]
            statement.names = [alias for alias in statement.names if bound(alias) in (*names, "*")]
    return [(label, statement) for statement in statements]


def _run(
    compiled: codeop.Compile,
    label: str,
    statement: ast.stmt,
    namespace: dict,
    history: notebook.History | None,
) -> BaseException | None:
    try:
        is_shown = history and history.is_shown(label, statement)
        if is_shown:
            target = ast.copy_location(ast.Name(notebook.SHOWN, ast.Store()), statement)
            statement = ast.copy_location(ast.Assign([target], statement.value), statement)
        _run_plain(compiled, label, statement, namespace)
        if is_shown:
            history.keep(label)
    except BaseException as failure:
        return failure
    return None


def _run_plain(compiled: codeop.Compile, label: str, statement: ast.stmt, namespace: dict) -> None:
    code = compiled(ast.Module([statement], []), label, "exec")
    if code.co_flags & inspect.CO_COROUTINE:  # `await` at the top of a cell
        _run_in_loop(eval(code, namespace))
    elif "asyncio" in sys.modules:  # in a notebook, every cell runs inside of a loop
        _run_in_loop(_awaited(code, namespace))
    else:
        exec(code, namespace)


async def _awaited(code: CodeType, namespace: dict) -> None:
    exec(code, namespace)


def _run_in_loop(coroutine: Coroutine) -> None:
    """Run the coroutine in the one loop that all cells share, as in a notebook."""
    import asyncio  # which few answers need

    if not _loops:
        _loops.append(asyncio.new_event_loop())
    _loops[0].run_until_complete(coroutine)


_loops: list = []
