"""Modules that programs import beside numba.cuda, while the simulator stands in its place.

Numba's own modules below numba.cuda belong to its compiler and its driver.  Those of which programs use a
name or two have a stand-in here with these names; any other import says in a sentence what the simulator
lacks.  Without Numba the same holds for numba itself: number types, decorators that leave functions as they
are, and its usual names.
"""

import contextlib
import importlib
import sys
import tomllib
import unittest
from collections.abc import Callable
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from operator import attrgetter
from pathlib import Path
from types import FunctionType, ModuleType, SimpleNamespace

from pocketgpu.remedies import pip_install

PAGE = "see docs/simulator.md, Not seen"
NO_COMPILER = (
    "the simulator compiles nothing: pocketgpu.compile_report(kernel, arguments) does, without a GPU"
)
MLIR = "numba_cuda_mlir"
NO_NUMBA = "Numba is not installed, and pocketgpu has no"
NAMES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


class CudaAPIError(RuntimeError):
    """An error of the driver, which the simulator never raises."""

    def __init__(self, code: int, msg: str):
        self.code = code
        self.msg = msg
        super().__init__(code, msg)


class CudaDriverError(Exception):
    """Another error of the driver."""


class CudaSupportError(ImportError):
    """No GPU can be used; the simulated one always can."""


class KernelRuntimeError(RuntimeError):
    """An error in a kernel on a GPU."""


class NvvmError(Exception):
    """An error of the compiler."""


def skip_on_cudasim(reason: str) -> Callable:
    """Numba's decorator for its own simulator; here the test runs."""
    return lambda test: test


def device_memset(dst: object, val: int, size: int, stream: object = 0) -> None:
    """Set bytes of a device array."""
    dst._ary.reshape(-1).view("u1")[:size] = val


def refuse(name: str, reason: str) -> Callable:
    """A function that raises when it is called."""

    def refused(*arguments: object, **options: object) -> None:
        raise NotImplementedError(f"{name}: {reason}")

    refused.__name__ = name.rpartition(".")[2]
    return refused


get_cuda_paths = refuse("get_cuda_paths", "the simulator needs no CUDA toolkit")


def add_names(cuda: ModuleType) -> None:
    """Give the simulator's module the names of numba.cuda that only a GPU or its compiler has."""
    reasons = dict.fromkeys(NAMES["compiling"], NO_COMPILER)
    reasons |= dict.fromkeys(NAMES["driver"], f"the simulator's memory is the host's; {PAGE}")
    vars(cuda).update({name: refuse(f"cuda.{name}", reason) for name, reason in reasons.items()})
    for name in NAMES["managers"]:  # a program derives a class of its own from them
        setattr(cuda, name, type(name, (), {"__init__": refuse(f"cuda.{name}", PAGE)}))
    vars(cuda).update(
        profiling=contextlib.nullcontext,
        CudaSupportError=CudaSupportError,
        KernelRuntimeError=KernelRuntimeError,
        external_stream=lambda pointer: cuda.stream(),
        jitdevice=lambda function, **options: cuda.jit(device=True, **options)(function),
        autojit=cuda.jit,
    )
    cuda.dim3 = cuda.types.dim3 = cuda.simulator.threads.Dim3


def modules_of_cuda(cuda: ModuleType) -> dict[str, dict[str, object]]:
    """{module below numba.cuda: its names}."""
    known = SimpleNamespace(**{**globals(), **vars(cuda), "cuda": cuda, "unittest": unittest})
    modules = {}
    for module, names in NAMES["modules"].items():
        modules[module] = {name: attrgetter(path)(known) for name, path in names.items()}
    vectors = {name: value for name, value in vars(cuda).items() if name in cuda.simulator.VECTORS}
    modules |= dict.fromkeys(("api", "stubs", "intrinsics", "cache_hints", "device_init"), vars(cuda))
    modules["compiler"] = {name: getattr(cuda, name) for name in NAMES["compiling"]}
    modules["vector_types"] = {"vector_types": vectors, **vectors}
    modules["extending"] = {
        name: refuse(f"numba.cuda.extending.{name}", NO_COMPILER) for name in NAMES["extending"]
    }
    return modules


def modules_of_numba(numba: ModuleType) -> dict[str, dict[str, object]]:
    """{module below numba, where Numba is not installed: its names}."""
    types = vars(numba.types)
    errors = {name: type(name, (Exception,), {}) for name in ("NumbaError", "TypingError")}
    for name in ("NumbaWarning", "NumbaPerformanceWarning", "NumbaDeprecationWarning"):
        errors[name] = type(name, (Warning,), {})
    config = {"CUDA_LOW_OCCUPANCY_WARNINGS": 1, "CUDA_WARN_ON_IMPLICIT_COPY": 1, "ENABLE_CUDASIM": False}
    modules = {"types": types, "errors": errors, "config": config}
    core = {f"core.{name}": names for name, names in modules.items()}
    return modules | {"core": {}} | core


@dataclass
class Missing(MetaPathFinder):
    """The last of the import system's finders: it says what a package that is stood for lacks."""

    package: str
    reason: str

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        """Raise ImportError for a module of the package."""
        remedy = f": {pip_install('numba')}" if self.reason.startswith(NO_NUMBA) else ""
        if name.startswith(f"{self.package}."):
            raise ModuleNotFoundError(f"{self.reason} {name}{remedy}", name=name)


def empty_module(name: str) -> ModuleType:
    """A stand-in for the module of that name, which importlib finds among those that are imported."""
    module = ModuleType(name, "A stand-in of pocketgpu.")
    module.__spec__ = ModuleSpec(name, None, is_package=True)
    module.__path__ = []
    module.__file__ = f"a stand-in of pocketgpu, {PAGE}"  # where Python says that it lacks a name
    return module


def register(package: ModuleType, modules: dict[str, dict[str, object]], reason: str) -> None:
    """Let these modules be imported below the package, and any other be refused for that reason."""
    prefix = "numba" if package.__name__ == "numba" else "numba.cuda"
    package.__path__ = []
    for name, names in modules.items():
        full_name = f"{prefix}.{name}"
        module = empty_module(full_name)
        sys.modules[full_name] = module
        vars(module).update(_public(names, "__"))
        above, _, own_name = full_name.rpartition(".")
        holder = package if above == prefix else sys.modules[above]
        if not hasattr(holder, own_name) or holder is not package:
            setattr(holder, own_name, module)
    sys.meta_path.append(Missing(prefix, reason))


def _public(names: dict[str, object], hidden: str = "_") -> dict[str, object]:
    """The names that do not begin so."""
    return {name: value for name, value in names.items() if not name.startswith(hidden)}


class Numba(ModuleType):
    """What programs for numba.cuda use of Numba itself, where it is not installed."""

    __version__ = "0.65.1"  # whose names these are
    prange = range

    def __init__(self):
        super().__init__("numba", "A stand-in of pocketgpu, without a compiler.")
        self.__spec__ = ModuleSpec("numba", None, is_package=True)
        types = importlib.import_module("pocketgpu.simulator.number_types").types
        self.types = types
        for name, other in NAMES["aliases"].items():
            setattr(types, name, getattr(types, other))
        vars(self).update(_public(vars(types)))
        vars(self).update(
            get_num_threads=lambda: 1,
            literal_unroll=lambda container: container,
            set_num_threads=lambda number: None,
        )
        remedy = pip_install("numba")
        for name in NAMES["lacking"]:
            setattr(self, name, refuse(f"numba.{name}", f"{NO_NUMBA} {name}: {remedy}"))

    def __getattr__(self, name: str):
        raise AttributeError(f"{NO_NUMBA} numba.{name}: {pip_install('numba')}")

    @staticmethod
    def jit(function: object = None, *signature: object, **options: object) -> Callable:
        mark = importlib.import_module("pocketgpu.simulator").jit  # kernels may call it, too
        return mark(function if isinstance(function, FunctionType) else None, device=True)

    njit = jit

    @staticmethod
    def from_dtype(dtype: object) -> object:
        return importlib.import_module("pocketgpu.simulator.number_types").type_of_dtype(dtype)


def take_over(cuda: ModuleType) -> None:
    """Let `numba.cuda` be this module, with Numba installed or without; numba_cuda_mlir has them, too."""
    try:
        numba = importlib.import_module("numba")
    except ImportError:
        numba = sys.modules["numba"] = Numba()
    is_installed = not isinstance(numba, Numba)
    numba.cuda = sys.modules["numba.cuda"] = cuda
    cuda.simulator = importlib.import_module("pocketgpu.simulator")
    sys.modules.update({"numba.cuda.types": cuda.types, "numba.cuda.libdevice": cuda.libdevice})
    reason = f"{NO_NUMBA} module"
    if is_installed:
        cuda.__path__ = [str(Path(numba.__file__).parent / "cuda")]
        cuda.random = importlib.import_module("numba.cuda.random")  # Numba's own text
        reason = f"the simulator has nothing of a GPU's compiler and driver ({PAGE}), so no module"
    add_names(cuda)
    register(cuda, modules_of_cuda(cuda), reason)
    if not is_installed:
        register(numba, modules_of_numba(numba), reason)
    ufuncs = importlib.import_module("pocketgpu.simulator.ufuncs")
    for name in ("vectorize", "guvectorize"):
        theirs = vars(numba).get(name)
        setattr(numba, name, ufuncs.for_target(getattr(ufuncs, name), theirs))
    add_second_compiler(cuda, reason)


def add_second_compiler(cuda: ModuleType, reason: str) -> None:
    """Let numba_cuda_mlir, and its modules, be those of numba.cuda."""
    other = empty_module(MLIR)
    sys.modules[MLIR] = other
    vars(other).update(_public(vars(cuda.types)))
    vars(other).update(__version__="0.6.0", cuda=cuda, types=cuda.types)  # whose names these are
    sys.modules[f"{MLIR}.types"] = cuda.types
    for name, module in [*sys.modules.items()]:
        if name.startswith("numba.cuda"):
            alias = name.replace("numba", MLIR, 1)
            sys.modules[alias] = module
    sys.meta_path.append(Missing(MLIR, reason))
