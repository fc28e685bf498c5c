"""A kernel as Numba's CUDA target understands it: its statements, and the type of every name in them.

`for_gpu` makes a copy in the names of numba.cuda: where the kernel names the simulator, it names Numba.
The copy has the kernel's own code, so that every error and every type keeps its source line.
"""

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import CellType, CodeType, FunctionType, ModuleType

from numba import cuda as numba_cuda
from numba import typeof
from numba.core import types
from numba.core.target_extension import target_override
from numba.cuda.compiler import CUDAFlags
from numba.cuda.cudamath import Math_unary, registry
from numba.cuda.descriptor import cuda_target

from pocketgpu.compiling.target import (
    IS_NUMBA_CUDA,
    AnalysisPass,
    CompilerBase,
    DefaultPassBuilder,
    NopythonTypeInference,
    StateDict,
    compile_extra,
    ir,
    register_pass,
)
from pocketgpu.compiling.without_gpu import without_gpu

OURS = ("pocketgpu.cuda", "pocketgpu.simulator")  # modules that stand in for numba.cuda


def for_gpu(kernel: Callable, known: dict | None = None) -> FunctionType:
    """The function behind a kernel or device function, with numba.cuda wherever it says cuda."""
    function = getattr(kernel, "py_func", kernel)
    known = {} if known is None else known
    scope = dict(function.__globals__)
    copy = FunctionType(function.__code__, scope, function.__name__, function.__defaults__, _cells(function))
    copy.__module__ = function.__module__
    copy.__qualname__ = function.__qualname__
    known[function] = numba_cuda.jit(device=True)(copy)
    for name in names_in(function.__code__) & scope.keys():
        scope[name] = _numba_value(scope[name], known)
    for cell, own in zip(copy.__closure__ or (), function.__closure__ or (), strict=True):
        if own != CellType():
            cell.cell_contents = _numba_value(own.cell_contents, known)
    return copy


def names_in(code: CodeType) -> set[str]:
    """Every name that the code or a function within it looks up."""
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return set(code.co_names).union(*map(names_in, inner))


def _cells(function: FunctionType) -> tuple[CellType, ...] | None:
    return function.__closure__ and tuple(CellType() for _ in function.__closure__)


def _numba_value(value: object, known: dict) -> object:
    """Numba's counterpart of a value that the kernel uses by name."""
    if hasattr(value, "on_gpu"):  # of pocketgpu.device_functions
        module, name = value.on_gpu
        return getattr(import_module(module), name)
    if isinstance(value, ModuleType):
        return numba_cuda if value.__name__ in OURS else value
    function = getattr(value, "py_func", None)
    if isinstance(function, FunctionType) and not hasattr(value, "targetoptions"):
        if function not in known:
            for_gpu(function, known)
        return known[function]
    simulator = sys.modules.get("pocketgpu.simulator")
    names = vars(simulator).items() if simulator else ()
    same = [name for name, word in names if word is value and hasattr(numba_cuda, name)]
    return getattr(numba_cuda, same[0]) if same and callable(value) else value


CAPABILITY = (9, 0)  # types do not depend on it
SHIFT = 2  # Numba counts the bytes of a function's code from here


@dataclass(frozen=True)
class TypedKernel:
    """One kernel for one choice of argument types."""

    function: Callable
    blocks: dict[int, ir.Block]  # basic blocks, by the offset of their first instruction
    types: dict[str, types.Type]  # of every variable by name
    signatures: dict  # of every operation and call

    @property
    def statements(self) -> tuple[ir.Stmt, ...]:
        """All of them, block after block."""
        return tuple(statement for block in self.blocks.values() for statement in block.body)


def type_of(argument: object) -> types.Type:
    """The type with which a kernel on a GPU gets this argument; a numba type stands for itself."""
    if isinstance(argument, types.Type):
        return argument
    value = getattr(argument, "value", argument)  # cuda.In, Out, InOut
    return typeof(getattr(value, "_ary", value))  # a simulated device array keeps its own there


def typed(kernel: Callable, argument_types: Sequence[types.Type]) -> TypedKernel:
    """Every statement of the kernel with its types.  Raises numba's errors where it has none."""
    function = for_gpu(kernel)
    flags = CUDAFlags()
    flags.no_compile = True
    flags.error_model = "numpy"
    flags.compute_capability = CAPABILITY
    with without_gpu(CAPABILITY), target_override("cuda"):
        contexts = cuda_target.typing_context, cuda_target.target_context
        try:
            result = compile_extra(
                *contexts, function, tuple(argument_types), None, flags, {}, pipeline_class=TypesOnly
            )
        except Exception as error:
            if getattr(error, "loc", None) is None:
                error.loc = _place(error, function)
            raise
    blocks, known, signatures = result
    starts = {max(0, label - SHIFT): block for label, block in sorted(blocks.items())}
    return TypedKernel(function, starts, known, signatures)


def _place(error: Exception, function: Callable) -> ir.Loc | None:
    """The statement of the function at which the compiler was, where its error does not say so itself.

    numba-cuda adds places to errors of its own classes only, and the types raise those of Numba.
    """
    frame = error.__traceback__
    place = None
    while frame:
        for name in ("self", "inst", "constraint"):
            loc = getattr(frame.tb_frame.f_locals.get(name), "loc", None)
            if isinstance(loc, ir.Loc) and loc.filename == function.__code__.co_filename:
                place = loc
        frame = frame.tb_next
    return place


@register_pass(mutates_CFG=False, analysis_only=True)
class KeepTypes(AnalysisPass):
    """Ends the compilation with what is known."""

    _name = "keep_types"

    def __init__(self):
        AnalysisPass.__init__(self)

    def run_pass(self, state: StateDict) -> bool:
        """Hand over statements, types of names, signatures of operations."""
        state.cr = state.func_ir.blocks, state.typemap, state.calltypes
        return False


@register_pass(mutates_CFG=False, analysis_only=False)
class DropAlignment(AnalysisPass):
    """Takes `alignment` out of calls: a word of numba-cuda for shared and local arrays."""

    _name = "drop_alignment"

    def __init__(self):
        AnalysisPass.__init__(self)

    def run_pass(self, state: StateDict) -> bool:
        """Change the calls of arrays, whose type does not depend on it."""
        values = (
            statement.value
            for block in state.func_ir.blocks.values()
            for statement in block.find_insts(ir.Assign)
        )
        for value in values:
            if isinstance(value, ir.Expr) and value.op == "call":
                value.kws = [(name, word) for name, word in value.kws if name != "alignment"]
        return True


if not IS_NUMBA_CUDA:
    registry.register_global(math.exp2)(Math_unary)


class TypesOnly(CompilerBase):
    """Numba's compiler up to the types of a function."""

    def define_pipelines(self) -> list:
        """The passes."""
        passes = DefaultPassBuilder.define_untyped_pipeline(self.state)
        if not IS_NUMBA_CUDA:
            passes.add_pass(DropAlignment, "drop alignment")
        passes.add_pass(NopythonTypeInference, "types")
        passes.add_pass(KeepTypes, "keep them")
        passes._finalized = False  # it was, and there is no other way to add to it
        passes.finalize()
        return [passes]
