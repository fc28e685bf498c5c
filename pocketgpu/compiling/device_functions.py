"""The functions of pocketgpu.device_functions as Numba compiles them for a GPU."""

from llvmlite import ir
from numba.core import types
from numba.cuda.extending import intrinsic

from pocketgpu.compiling.cache_hints import load_function


@intrinsic
def nanoseconds(typing_context: object) -> tuple:
    """The clock of the whole GPU."""

    def code(context, builder, signature, arguments):
        kind = ir.FunctionType(ir.IntType(64), [])
        timer = ir.InlineAsm(kind, "mov.u64 $0, %globaltimer;", "=l,~{memory}", side_effect=True)
        return builder.call(timer, [])

    return types.int64(), code


load_acquire = load_function("ld.acquire.gpu")
load_relaxed = load_function("ld.relaxed.gpu")
