"""A kernel as Numba's CUDA target understands it: its statements, and the type of every name in them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from numba import typeof
from numba.core import types
from numba.core.target_extension import target_override
from numba.cuda.compiler import CUDAFlags
from numba.cuda.descriptor import cuda_target

from rnnlab.compiling.target import (
    AnalysisPass,
    CompilerBase,
    DefaultPassBuilder,
    NopythonTypeInference,
    StateDict,
    compile_extra,
    ir,
    register_pass,
)
from rnnlab.compiling.without_gpu import without_gpu
from rnnlab.compiling.words import for_gpu

CAPABILITY = (9, 0)  # types do not depend on it
SHIFT = 2  # Numba counts the bytes of a function's code from here


@dataclass(frozen=True)
class Typed:
    """One kernel for one choice of argument types."""

    function: Callable
    blocks: dict[int, ir.Block]  # straight pieces of it, by the offset of their first instruction
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


def typed(kernel: Callable, argument_types: Sequence[types.Type]) -> Typed:
    """Every statement of the kernel with its types.  Raises numba's errors where it has none."""
    function, flags = for_gpu(kernel), CUDAFlags()
    flags.no_compile, flags.error_model, flags.compute_capability = True, "numpy", CAPABILITY
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
    return Typed(function, starts, known, signatures)


def _place(error: Exception, function: Callable) -> ir.Loc | None:
    """The statement of the function at which the compiler was, where its error does not say so itself.

    numba-cuda adds places to errors of its own classes only, and the types raise those of Numba.
    """
    frame, place = error.__traceback__, None
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


class TypesOnly(CompilerBase):
    """Numba's compiler up to the types of a function."""

    def define_pipelines(self) -> list:
        """The passes."""
        passes = DefaultPassBuilder.define_untyped_pipeline(self.state)
        passes.add_pass(NopythonTypeInference, "types")
        passes.add_pass(KeepTypes, "keep them")
        passes._finalized = False  # it was, and there is no other way to add to it
        passes.finalize()
        return [passes]
