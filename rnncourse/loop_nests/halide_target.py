"""The processor that Halide may compile for: what it reports, less what the system's flags lack.

Halide asks the processor itself.  A hypervisor can mask instruction sets that the processor's model number
promises; code that uses one is ended by SIGILL.  Linux lists what is really there.
"""

from rnnlab import resources

SKYLAKE = ("avx512f", "avx512cd", "avx512vl", "avx512dq", "avx512bw")
CANNONLAKE = (*SKYLAKE, "avx512ifma", "avx512vbmi")
ZEN4 = (*CANNONLAKE, "avx512_bf16", "avx512_vnni", "avx512_vbmi2", "avx512_bitalg", "avx512_vpopcntdq")
NEEDED_FLAGS = {  # Halide's feature -> every flag of /proc/cpuinfo that its code relies on
    "SSE41": ("sse4_1",),
    "AVX": ("avx",),
    "F16C": ("f16c",),
    "FMA": ("fma",),
    "FMA4": ("fma4",),
    "AVX2": ("avx2",),
    "AVXVNNI": ("avx_vnni",),
    "AVX512": ("avx512f", "avx512cd"),
    "AVX512_KNL": ("avx512f", "avx512cd", "avx512pf", "avx512er"),
    "AVX512_Skylake": SKYLAKE,
    "AVX512_Cannonlake": CANNONLAKE,
    "AVX512_Zen4": ZEN4,
    "AVX512_Zen5": (*ZEN4, "avx_vnni"),
    "AVX512_SapphireRapids": (*CANNONLAKE, "avx512_bf16", "avx512_vnni", "avx_vnni", "amx_tile"),
    "AVX10_1": (*CANNONLAKE, "avx10_1"),
    "X86APX": ("apx",),
}


def host_target() -> object:
    """Halide's Target of this machine, without a feature that the processor's flags lack."""
    import halide as hl

    target = hl.get_host_target()
    flags = resources.processor_flags()
    if not flags:  # no Linux, or no x86: nothing says otherwise
        return target
    for name, needed in NEEDED_FLAGS.items():
        feature = getattr(hl.TargetFeature, name, None)  # the oldest Halide knows fewer
        if feature is not None and not flags.issuperset(needed):
            target = target.without_feature(feature)
    return target
