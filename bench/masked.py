"""An AVX2 machine emulated: every contestant is told, in its own variable, to use no AVX-512.

What differs from such a machine: caches, clock, memory, units.  A library without a variable is left out.
On an EPYC with AVX-512, OpenBLAS, Numba, PyTorch and oneDNN reported AVX2; JAX and PyTensor report nothing.
"""

_FEATURES = "sse4.2 ssse3 cx16 popcnt avx f16c fma avx2 bmi bmi2 lzcnt movbe fsgsbase xsave xsaveopt"
_NUMPY = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR X86_V4"
MASKS = {
    "avx2": {
        "NUMBA_CPU_NAME": "haswell",
        "NUMBA_CPU_FEATURES": ",".join(f"+{feature}" for feature in _FEATURES.split()),
        "OPENBLAS_CORETYPE": "Haswell",
        "NPY_DISABLE_CPU_FEATURES": _NUMPY,
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "FBGEMM_ENABLE_INSTRUCTIONS": "AVX2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "XLA_FLAGS": "--xla_cpu_max_isa=AVX2",
        "PYTENSOR_FLAGS": "gcc__cxxflags=-march=haswell",
    }
}
OUT = {
    "halide": "Halide asks the processor itself, and no variable masks what it finds",
    "onnxruntime_int8": "ONNX Runtime asks the processor itself, and no variable masks what it finds",
}
