"""The processor that Numba compiles for: its vectors, its tile.

Numba's own answer counts, NUMBA_CPU_NAME and NUMBA_CPU_FEATURES included.  A processor whose features nobody
knows gets vectors of 16 bytes and no fused multiply-add: slow, and right.
"""

from collections.abc import Mapping

from llvmlite import binding
from numba.core.registry import cpu_target

from rnnlab.kernels.packed.tiles import CORES, choose_tile

ARM = ("aarch64", "arm64")
PAIR_FEATURES = {"avx512f", "avx512bf16"}  # of VDPBF16PS on 64 bytes
BYTE_FEATURES = {512: {"avx512f", "avx512vnni"}, 256: {"avx2", "avxvnni"}}  # of VPDPBUSD on so many bits


def enabled(features: str) -> set[str]:
    """Names of the features that LLVM may use, from "+avx2,-fma,…"."""
    return {feature[1:] for feature in features.split(",") if feature.startswith("+")}


def instruction_set(triple: str, features: str) -> str:
    """A key of CORES, from LLVM's name of the target and its features, "+avx2,-fma,…"."""
    names = enabled(features)
    if triple.startswith(ARM):
        return "neon"
    if {"avx512f", "fma"} <= names:
        return "avx512"
    return "avx2" if {"avx2", "fma"} <= names else "other"


def has_instruction(wanted: set[str], features: str, flags: Mapping[str, bool]) -> bool:
    """Whether code for a target with these features may use an instruction that wants some of them.

    flags: the processor's own, as CPUID gives them here, under a hypervisor too.  What NUMBA_CPU_FEATURES
    promises is not enough: an instruction that the processor does not have would end the program.
    """
    return wanted <= enabled(features) and all(map(flags.get, wanted))


TRIPLE, _, FEATURES = cpu_target.target_context.codegen().magic_tuple()
INSTRUCTION_SET = instruction_set(TRIPLE, FEATURES)
CORE = CORES[INSTRUCTION_SET]
VECTOR_BYTES = CORE.vector_bytes
_FLAGS = binding.get_host_cpu_features()
HAS_PAIR_PRODUCTS = has_instruction(PAIR_FEATURES, FEATURES, _FLAGS)
BYTE_PRODUCTS = max(
    bits * has_instruction(wanted, FEATURES, _FLAGS) for bits, wanted in BYTE_FEATURES.items()
)
FUSED = INSTRUCTION_SET != "other"  # without the instruction llvm.fma is a function call for every number
TILE = choose_tile(CORE)
ROWS, VECTORS = TILE
