"""The CUDA driver's C functions, as plans and persistent kernels call them.

Structures and numbers follow cuda.h; a test holds them against NVIDIA's own bindings, byte by byte.
"""

import ctypes
import os
from ctypes import c_int, c_size_t, c_uint, c_void_p
from functools import cache

MOST_SHARED = 8  # CUfunction_attribute: dynamic shared bytes
LARGE_CLUSTERS = 14  # clusters of over 8 blocks
CLUSTER_DIMENSION = 4  # CUlaunchAttributeID
_SIZES = [c_void_p, *[c_uint] * 7, c_void_p, c_void_p]  # kernel, grid, block, shared bytes, stream, arguments
_ARGUMENTS = {
    "cuLaunchKernel": [*_SIZES, c_void_p],
    "cuLaunchCooperativeKernel": _SIZES,
    "cuFuncSetAttribute": [c_void_p, c_int, c_int],
    "cuMemcpyDtoDAsync_v2": [c_void_p, c_void_p, c_size_t, c_void_p],
    "cuEventRecord": [c_void_p, c_void_p],
    "cuStreamWaitEvent": [c_void_p, c_void_p, c_uint],
}


class LaunchAttribute(ctypes.Structure):
    """CUlaunchAttribute with a cluster's dimensions in its 64 bytes of value."""

    _fields_ = (("id", c_int), ("pad", c_int), ("value", c_uint * 16))


class LaunchConfig(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = (
        ("grid", c_uint * 3),
        ("block", c_uint * 3),
        ("shared", c_uint),
        ("stream", c_void_p),
        ("attributes", ctypes.POINTER(LaunchAttribute)),
        ("count", c_uint),
    )


@cache
def library() -> ctypes.CDLL:
    """The driver's library, with the types of its arguments.  Raises OSError where no driver is installed."""
    driver = ctypes.CDLL("nvcuda.dll" if os.name == "nt" else "libcuda.so.1")
    for name, types in _ARGUMENTS.items():
        getattr(driver, name).argtypes = types
    return driver


def check_status(name: str, status: int) -> None:
    """Raises RuntimeError with the status of the driver or of cuBLAS, where that is not 0."""
    if status:
        raise RuntimeError(f"{name} returns the status {status}")


def call(name: str, *arguments: object) -> None:
    """Call a function of the driver.  Raises RuntimeError, with its status, where that is not 0."""
    check_status(name, getattr(library(), name)(*arguments))


def cluster_launch(
    blocks: int, threads: int, shared: int, cluster: int
) -> tuple[LaunchAttribute, LaunchConfig]:
    """A launch in clusters of blocks, as the driver takes it; shared in bytes a block.

    The attribute comes first: the configuration points to it, and it must outlive the call.
    """
    Dimensions = c_uint * 16
    attribute = LaunchAttribute(CLUSTER_DIMENSION, 0, Dimensions(cluster, 1, 1))
    sizes = (blocks, 1, 1), (threads, 1, 1), shared, 0
    return attribute, LaunchConfig(*sizes, ctypes.pointer(attribute), 1)


def clusters_at_once(kernel: int, blocks: int, threads: int, shared: int, cluster: int) -> int:
    """How many clusters of such a launch the GPU runs at once."""
    _, config = cluster_launch(blocks, threads, shared, cluster)
    count = c_int()
    arguments = ctypes.byref(count), c_void_p(kernel), ctypes.byref(config)
    call("cuOccupancyMaxActiveClusters", *arguments)
    return count.value
