"""A barrier between threads inside compiled code: all members reach it before any continues.

`counter` is an array of one int64, zero at the start, that all members share.  It counts arrivals and never
falls, so that it serves for any number of barriers.  A member that waits reads the counter in a loop; after
SPINS reads it offers its core to other threads between two reads, for there may be fewer cores than members.
"""

import sys

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from rnnlab.kernels.packed.host import TRIPLE

I64 = ir.IntType(64)
SPINS = 4000  # reads, about 50 µs with a pause between two
YIELD = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
PAUSE = {  # LLVM's name of the instruction, and its number where one name stands for several
    "x86_64": ("llvm.x86.sse2.pause", None),
    "aarch64": ("llvm.aarch64.hint", 1),
    "arm64": ("llvm.aarch64.hint", 1),
}


@intrinsic
def _arrive(context, counter):
    """Count an arrival; the number of arrivals before it."""

    def codegen(context, builder, signature, values):
        place = context.make_array(counter)(context, builder, values[0]).data
        return builder.atomic_rmw("add", place, I64(1), "acq_rel")

    return types.int64(counter), codegen


@intrinsic
def _arrivals(context, counter):
    """Arrivals so far, as other threads have written them."""

    def codegen(context, builder, signature, values):
        place = context.make_array(counter)(context, builder, values[0]).data
        return builder.load_atomic(place, "acquire", 8)

    return types.int64(counter), codegen


@intrinsic
def _pause(context):
    """Tell the core that this is a loop that waits."""

    def codegen(context, builder, signature, values):
        name, number = PAUSE.get(TRIPLE.split("-")[0], (None, None))
        if name:
            arguments = [] if number is None else [ir.Constant(ir.IntType(32), number)]
            kind = ir.FunctionType(ir.VoidType(), [argument.type for argument in arguments])
            builder.call(cgutils.get_or_insert_function(builder.module, kind, name), arguments)
        return context.get_dummy_value()

    return types.void(), codegen


@intrinsic
def _offer_core(context):
    """Let the system run another thread on this core."""

    def codegen(context, builder, signature, values):
        kind = ir.FunctionType(ir.IntType(32), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, YIELD), [])
        return context.get_dummy_value()

    return types.void(), codegen


@njit(nogil=True, cache=True)
def wait(counter, members):
    """Return when all members have called this as often as this one has."""
    if members < 2:
        return
    goal = (_arrive(counter) // members + 1) * members
    spins = 0
    while _arrivals(counter) < goal:
        spins += 1
        if spins < SPINS:
            _pause()
        else:
            _offer_core()
