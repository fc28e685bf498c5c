"""The processor that Numba compiles for: its vectors, its tile.

Numba's own answer counts, NUMBA_CPU_NAME and NUMBA_CPU_FEATURES included.  A processor whose features nobody
knows gets vectors of 16 bytes and no fused multiply-add: slow, and right.
"""

from numba.core.registry import cpu_target

from rnnlab.kernels.packed.tiles import CORES, choose_tile

ARM = ("aarch64", "arm64")


def instruction_set(triple: str, features: str) -> str:
    """A key of CORES, from LLVM's name of the target and its features, "+avx2,-fma,…"."""
    enabled = {feature[1:] for feature in features.split(",") if feature.startswith("+")}
    if triple.startswith(ARM):
        return "neon"
    if {"avx512f", "fma"} <= enabled:
        return "avx512"
    return "avx2" if {"avx2", "fma"} <= enabled else "other"


TRIPLE, _, FEATURES = cpu_target.target_context.codegen().magic_tuple()
INSTRUCTION_SET = instruction_set(TRIPLE, FEATURES)
CORE = CORES[INSTRUCTION_SET]
VECTOR_BYTES = CORE.vector_bytes
FUSED = INSTRUCTION_SET != "other"  # without the instruction llvm.fma is a function call for every number
TILE = choose_tile(CORE)
ROWS, VECTORS = TILE
