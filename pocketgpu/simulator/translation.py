"""The functions of a launch: a kernel and its device functions, rewritten, with the simulator's functions.

A function keeps its own names, closures and default values.  What they stand for is looked up when a launch
begins; where a kernel names numba.cuda, math or NumPy, it gets the simulator's (arithmetic.py).  A function
without a text of its own runs as it is: it cannot wait, and its accesses are told apart by frames.
"""

import sys
from collections.abc import Sequence
from types import BuiltinMethodType, CellType, CodeType, FunctionType, MethodType, ModuleType, SimpleNamespace

import numpy as np

from pocketgpu.simulator import arithmetic, libdevice, names
from pocketgpu.simulator.endless import look_at_the_clock, short_range
from pocketgpu.simulator.indexing import Parameters
from pocketgpu.simulator.memory import Watched
from pocketgpu.simulator.operators import NO_INTEGER, OF_INDEX, OF_REGISTER
from pocketgpu.simulator.rewriting import GENERATOR, UNKNOWN, Rewritten, rewritten
from pocketgpu.simulator.rows import bare
from pocketgpu.simulator.source import codes_in, tree_of
from pocketgpu.simulator.threads import LANE, Finding, LaunchStopped, machine
from pocketgpu.simulator.trace import Trace

SIMULATOR = "pocketgpu.simulator"
METHODS = (MethodType, BuiltinMethodType)  # made anew whenever they are looked up
DEEPEST = 20_000  # calls within calls of what rewrites a sum of a thousand terms
MEANINGS = 8  # of a function's names, for which its rewritten code is kept
LIBRARIES = {"numpy", "numba", "pocketgpu"} | sys.stdlib_module_names - {"__main__"}
TEXTS = ("numba.cuda.tests.", "numba.cuda.random")  # of Numba, which run as a learner's
_rewritten: dict[tuple, list[tuple[CodeType, Rewritten]]] = {}  # by id of the code, and how it is launched
_numba: dict[int, object] = {}  # by id of a name of Numba's: the simulator's
_numba_seen: list[ModuleType | None] = []  # numba and numba.cuda, for which these were found


class Translation:
    """The functions of one launch."""

    def __init__(self, trace: Trace | None):
        self.trace = trace
        self.functions: dict[int, tuple[FunctionType, FunctionType]] = {}  # by id: a function, as it runs
        self.begun: list[FunctionType] = []  # whose text is being rewritten
        self.recursive: set[FunctionType] = set()
        self.textless: set[CodeType] = set()  # whose loops count no rounds
        self.own = {
            ".machine": machine, ".look": look_at_the_clock, ".bare": bare,
            ".range": short_range, ".enumerate": enumerate,
        }  # fmt: skip
        if trace is not None:
            self.own |= {".note": trace.note, ".append": trace.append}

    def value(self, value: object) -> object:
        """What a kernel gets for a value that it is given or finds under a name."""
        value = in_simulator(value)
        if isinstance(value, FunctionType) and not is_library(value):
            return self.function(value)
        return value

    def kernel(self, function: FunctionType, values: Sequence) -> FunctionType:
        """The kernel as it runs with these arguments, the same for every thread."""
        arguments = dict(zip(names.parameters(function), values, strict=False))
        bits = {name: _bits_of(value) for name, value in arguments.items()}
        copy, result = self._copy(function, bits)
        for name, number in result.views if result else ():
            data = f"{name}.data{number}", f"{name}.number{number}"
            copy.__globals__.update(zip(data, bare(arguments[name], number), strict=True))
        return copy

    def function(self, function: FunctionType) -> FunctionType:
        """A device function as it runs; a generator function if it may wait."""
        if id(function) in self.functions:
            return self.functions[id(function)][1]
        if any(function is copy for _, copy in self.functions.values()):
            return function
        return self._copy(function)[0]

    def _copy(
        self, function: FunctionType, parameters: Parameters = None
    ) -> tuple[FunctionType, Rewritten | None]:
        """A function with the code of launches and the simulator's functions, and how it was rewritten."""
        result = self._rewritten(function, parameters)
        code = result.code if result else function.__code__
        if result is None:
            self.textless.add(code)
        cells = () if result else function.__closure__ or ()
        scope = {**self.own, "__name__": function.__module__, "__builtins__": function.__builtins__}
        closure = tuple(CellType() for _ in cells)
        copy = FunctionType(code, scope, function.__name__, function.__defaults__, closure)
        copy.__kwdefaults__ = function.__kwdefaults__
        copy.__qualname__ = function.__qualname__
        if parameters is None:
            self.functions[id(function)] = function, copy  # before its names, one of which may be its own
        for own, cell in zip(closure, cells, strict=True):
            if cell != CellType():
                own.cell_contents = self.value(cell.cell_contents)
        paths = {name: (name,) for part in codes_in(code) for name in part.co_names}
        if result:
            scope |= result.namespace
            paths |= result.functions
        for name, path in paths.items():
            if name not in scope and (value := look(function, path)) is not UNKNOWN:
                scope[name] = self.value(value)
        return copy, result

    def may_wait(self, function: FunctionType) -> bool:
        """Does it, or a device function that it calls, call something that waits?"""
        if is_library(function):
            return False
        result = self._rewritten(function)
        return result is not None and bool(result.code.co_flags & GENERATOR)

    def _rewritten(self, function: FunctionType, parameters: Parameters = None) -> Rewritten | None:
        """The function's code for launches; None where its text is not available."""
        watched = self.trace is not None
        of_launch = None if parameters is None else tuple(parameters.items())
        key = id(function.__code__), watched, of_launch
        for _, result in _rewritten.get(key, ()):
            if all(_is_same(look(function, path), value) for path, value in result.known.items()):
                return result
        if function in self.begun:
            self.recursive |= {*self.begun[self.begun.index(function) :]}
            return None
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, DEEPEST))
        self.begun.append(function)
        try:
            tree = None if function.__code__.co_flags & GENERATOR else tree_of(function)
            if tree is None:
                return None
            meaning = lambda path: look(function, path)
            result = rewritten(tree, function.__code__, meaning, self.may_wait, watched, parameters)
        except RecursionError:  # the newest Pythons compile no deeper
            return None
        finally:
            self.begun.pop()
            sys.setrecursionlimit(limit)
        if function in self.recursive and result.code.co_flags & GENERATOR:
            line = function.__code__.co_firstlineno
            message = f"{function.__name__} on line {line} calls itself and waits; write a loop"
            raise LaunchStopped(Finding("does_not_compile", message, line))
        _rewritten[key] = [*_rewritten.get(key, ())[-MEANINGS:], (function.__code__, result)]
        return result


def _bits_of(argument: object) -> int | None:
    """A kernel's argument, see Parameters; few classes, each with its own code."""
    if isinstance(argument, Watched):
        return None
    if not isinstance(argument, int):
        return NO_INTEGER
    return OF_INDEX if -1 << OF_INDEX < argument < 1 << OF_INDEX else OF_REGISTER


def look(function: FunctionType, path: tuple[str, ...]) -> object:
    """What a path of names stands for where the function is launched; UNKNOWN if only its run will tell."""
    name, *attributes = path
    code = function.__code__
    if name in code.co_freevars:
        cell = function.__closure__[code.co_freevars.index(name)]
        value = UNKNOWN if cell == CellType() else cell.cell_contents
    else:
        value = function.__globals__.get(name, function.__builtins__.get(name, UNKNOWN))
    value = in_simulator(value)
    if value is LANE:
        return UNKNOWN
    for name in attributes:
        if not isinstance(value, ModuleType | SimpleNamespace | type) or name == "laneid":
            return UNKNOWN
        value = in_simulator(getattr(value, name, UNKNOWN))
    return value


def _is_same(value: object, other: object) -> bool:
    return value is other or (isinstance(value, METHODS) and value == other)


def in_simulator(value: object) -> object:
    """The simulator's counterpart of a module, a function or a type that a kernel names."""
    replaced = arithmetic.REPLACEMENTS.get(id(value))
    if replaced is not None or isinstance(value, np.ndarray):
        return value if replaced is None else replaced
    if callable(value) or isinstance(value, ModuleType):
        value = _names_of_numba().get(id(value), value)
    inner = None if isinstance(value, ModuleType) else getattr(value, "py_func", None)
    return inner if isinstance(inner, FunctionType) else value  # of a kernel; of what is compiled for the CPU


def _names_of_numba() -> dict[int, object]:
    """{id of a name of Numba's: the simulator's}; empty where Numba is not loaded."""
    numba = sys.modules.get("numba")
    theirs = sys.modules.get("numba.cuda")
    loaded = numba, theirs
    if numba is None or _numba_seen == [*loaded]:
        return _numba
    _numba_seen[:] = loaded
    _numba.clear()
    ours = sys.modules[SIMULATOR]
    stand_in = _numba[id(numba)] = NumbaOfKernels(numba)
    stand_in.cuda = ours
    for conversion in arithmetic.INTEGERS.values():
        _numba[id(getattr(numba.types, conversion.__name__))] = conversion
    if theirs is not None:
        _numba[id(theirs)] = ours
        _numba.update(_same_names(theirs, ours))
        library = sys.modules.get("numba.cuda.libdevice")
        if library not in (None, libdevice):
            _numba[id(library)] = libdevice
            _numba.update(_same_names(library, libdevice))
    return _numba


class NumbaOfKernels(ModuleType):
    """The module numba as kernels see it: with the simulator for numba.cuda."""

    def __init__(self, numba: ModuleType):
        super().__init__("numba")
        self._numba = numba

    def __getattr__(self, name: str):
        return getattr(self._numba, name)


def _same_names(theirs: ModuleType, ours: ModuleType) -> dict[int, object]:
    """{id of a function or class of that module: ours under the same name}."""
    same = {}
    for name, value in vars(theirs).items():
        own = None if name.startswith("_") else getattr(ours, name, None)
        if own is not None and value is not None and own is not value:
            if not isinstance(value, int | ModuleType) and not isinstance(own, int | ModuleType):
                same[id(value)] = own
    return same


def is_library(function: FunctionType) -> bool:
    """Is it a function of a package, and no device function of the learner's?"""
    module = function.__module__ or ""
    return module.partition(".")[0] in LIBRARIES and not module.startswith(TEXTS)
