#!/usr/bin/env bash
# Versions:  numba 0.65.1, llvmlite 0.47.0
# Expected:  fastmath of a compiled function is about the arithmetic that Numba emits for it; an @intrinsic that builds its own
#            instruction without flags gets that instruction.
# Guess:     the product of an intrinsic has no flag, whatever fastmath says.
# Seen:      every floating-point instruction of the function gets the flags, those of intrinsics too: `fmul reassoc contract`, and
#            `fmul fast` for fastmath=True. An intrinsic cannot keep the order of its products.
# Why here:  the scales of 8-bit weights were multiplied in another order on AVX-512 than elsewhere, so results depended on the
#            processor (12 of 99 numbers); such code is compiled without `reassoc` now.
set -euo pipefail
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check numba==0.65.1 llvmlite==0.47.0 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PROGRAM'
import re
import sys

from numba import njit, types
from numba.extending import intrinsic


@intrinsic
def product(context, a, b):
    """a·b by one instruction, emitted without a flag."""

    def codegen(context, builder, signature, values):
        return builder.fmul(*values)

    return types.float32(types.float32, types.float32), codegen


def flags_of_products(**options):
    """The flags of all products in the LLVM text of a function that multiplies by the intrinsic alone."""

    @njit("float32(float32, float32, float32)", **options)
    def cube(a, b, c):
        return product(product(a, b), c)

    (text,) = cube.inspect_llvm().values()
    return {flags.strip() for flags in re.findall(r"= fmul ([a-z ]*)float", text)}


plain = flags_of_products()
some = flags_of_products(fastmath={"reassoc", "contract"})
every = flags_of_products(fastmath=True)
print("no fastmath:", plain, "two flags:", some, "all:", every)
sys.exit(0 if (plain, some, every) == ({""}, {"reassoc contract"}, {"fast"}) else 1)
PROGRAM
