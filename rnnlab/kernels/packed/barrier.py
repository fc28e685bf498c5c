"""A barrier between threads inside compiled code: all members reach it before any continues.

`counter` is an array of one int64, zero at the start, that all members share.  It counts arrivals and never
falls, so that it serves for any number of barriers.  A member that waits reads the counter in a loop; after
SPINS reads it offers its core to other threads between two reads, for there may be fewer cores than members.
"""

import sys

from numba import njit, types
from numba.extending import intrinsic

from rnnlab.kernels.packed.host import TRIPLE
from rnnlab.kernels.packed.vectors import I32, emit_call, integer, number_pointer

SPINS = 4000  # reads, about 50 µs with a pause between two
YIELD = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
PAUSE = {  # LLVM's name of the instruction, and its number where one name stands for several
    "x86_64": ("llvm.x86.sse2.pause",),
    "aarch64": ("llvm.aarch64.hint", 1),
    "arm64": ("llvm.aarch64.hint", 1),
}


@intrinsic
def add(context, counters, at, more):
    """Add to counters[at], after all that was written before; its value before."""

    def codegen(context, builder, signature, values):
        more = integer(context, builder, signature, values, 2)
        place = number_pointer(context, builder, signature, values)
        return builder.atomic_rmw("add", place, more, "acq_rel")

    return types.int64(counters, at, more), codegen


@intrinsic
def read(context, counters, at):
    """counters[at], as other threads have written it."""

    def codegen(context, builder, signature, values):
        return builder.load_atomic(number_pointer(context, builder, signature, values), "acquire", 8)

    return types.int64(counters, at), codegen


@intrinsic
def replace(context, counters, at, old, new):
    """Write `new` to counters[at] if it holds `old`; whether it did."""

    def codegen(context, builder, signature, values):
        place = number_pointer(context, builder, signature, values)
        numbers = (integer(context, builder, signature, values, i) for i in (2, 3))
        return builder.extract_value(builder.cmpxchg(place, *numbers, "acq_rel", "acquire"), 1)

    return types.boolean(counters, at, old, new), codegen


@intrinsic
def pause(context):
    """Tell the core that this is a loop that waits."""

    def codegen(context, builder, signature, values):
        name, *numbers = PAUSE.get(TRIPLE.split("-")[0], ("",))
        if name:
            emit_call(builder, name, [*map(I32, numbers)])
        return context.get_dummy_value()

    return types.void(), codegen


@intrinsic
def offer_core(context):
    """Let the system run another thread on this core."""

    def codegen(context, builder, signature, values):
        emit_call(builder, YIELD, [], I32)
        return context.get_dummy_value()

    return types.void(), codegen


@njit(nogil=True, cache=True)
def wait(counter, members):
    """Return when all members have called this as often as this one has."""
    if members < 2:
        return
    wait_for(counter, 0, (add(counter, 0, 1) // members + 1) * members)


@njit(nogil=True, cache=True)
def wait_for(counters, at, goal):
    """Return when counters[at] has reached the goal."""
    spins = 0
    while read(counters, at) < goal:
        spins += 1
        if spins < SPINS:
            pause()
        else:
            offer_core()
