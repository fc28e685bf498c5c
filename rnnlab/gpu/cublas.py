"""cuBLAS by ctypes, because CuPy's own calls cannot be captured into a CUDA graph.

A matrix lies row by row; cuBLAS thinks in columns.  The rows of C = A B are the columns of Cᵀ = Bᵀ Aᵀ, so the
factors change places and nothing is moved.
"""

import ctypes
from ctypes import c_int, c_size_t, c_void_p
from functools import cache, partial
from typing import NamedTuple

from rnnlab.gpu.cuda_driver import check_status
from rnnlab.schedule.plan import Operation

LIBRARIES = ("libcublas.so.13", "libcublas.so.12", "cublas64_13.dll", "cublas64_12.dll")
TYPES = {"float32": 0, "float64": 1, "float16": 2, "bfloat16": 14}  # cudaDataType_t
COMPUTE_FLOAT = 68
COMPUTE_DOUBLE = 70
COMPUTE_TF32 = 77  # cublasComputeType_t
DEFAULT_ALGORITHM = -1
WORKSPACE = 32 << 20  # bytes a stream, as PyTorch allocates on Hopper, so that a capture allocates nothing


class Gemm(NamedTuple):
    """The sizes of a cublasGemmEx call, in cuBLAS's order; the first factor is the plan's second."""

    first_transposed: int
    second_transposed: int
    m: int
    n: int
    k: int
    first_length: int  # elements from one row of the plan's buffer to the next
    second_length: int
    out_length: int


def sizes_of(operation: Operation, columns: dict[str, int]) -> Gemm:
    """Arguments of cuBLAS for a product of the plan; columns [name -> columns of the buffer]."""
    m, n, k = operation.gemm_shape
    (a, b) = operation.reads
    (a_transposed, b_transposed) = operation.transposed
    (out,) = operation.writes
    lengths = (columns[region.buffer] for region in (b, a, out))
    return Gemm(int(b_transposed), int(a_transposed), n, m, k, *lengths)


@cache
def library() -> ctypes.CDLL:
    """cuBLAS.  Raises OSError where none can be loaded."""
    for name in LIBRARIES:
        try:
            blas = ctypes.CDLL(name)
        except OSError:
            continue
        matrix = [c_void_p, c_int, c_int]
        factors = [c_void_p, *matrix, *matrix]
        result = [c_void_p, *matrix, c_int, c_int]
        blas.cublasGemmEx.argtypes = [c_void_p, *[c_int] * 5, *factors, *result]
        blas.cublasSetStream_v2.argtypes = [c_void_p, c_void_p]
        blas.cublasSetWorkspace_v2.argtypes = [c_void_p, c_void_p, c_size_t]
        return blas
    raise OSError(f"cuBLAS cannot be loaded: none of {', '.join(LIBRARIES)} is installed")


class Handle:
    """cuBLAS on one stream, with a workspace of its own."""

    def __init__(self, stream: int, workspace: int):
        """stream and workspace (WORKSPACE bytes) by their addresses."""
        self.pointer = c_void_p()
        blas = library()
        check_status("cublasCreate", blas.cublasCreate_v2(ctypes.byref(self.pointer)))
        check_status("cublasSetStream", blas.cublasSetStream_v2(self.pointer, stream))
        status = blas.cublasSetWorkspace_v2(self.pointer, workspace, WORKSPACE)
        check_status("cublasSetWorkspace", status)
        self._numbers: list = []  # numbers that prepared calls point to

    def gemm(
        self, sizes: Gemm, first: int, second: int, out: int, dtype: str, adds: bool, tf32: bool
    ) -> partial:
        """The call, prepared; first, second and out are addresses."""
        if dtype == "float64":
            number = ctypes.c_double
            compute = COMPUTE_DOUBLE
        else:
            number = ctypes.c_float
            compute = COMPUTE_TF32 if tf32 else COMPUTE_FLOAT
        alpha = number(1)
        beta = number(1 if adds else 0)
        self._numbers += [alpha, beta]
        data_type = TYPES[dtype]
        first_factor = first, data_type, sizes.first_length
        second_factor = second, data_type, sizes.second_length
        result = out, data_type, sizes.out_length
        scaled_product = ctypes.addressof(alpha), *first_factor, *second_factor
        added_to = ctypes.addressof(beta), *result
        call = partial(library().cublasGemmEx, self.pointer, *sizes[:5])
        return partial(call, *scaled_product, *added_to, compute, DEFAULT_ALGORITHM)
