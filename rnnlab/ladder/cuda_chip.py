"""A network by the CUDA C++ kernels on the GPU at hand, as a rung runs it: from host to host.

CudaChip is the chip behind TensorLayers: CuPy's memory and compiler, cuBLAS, the CUDA driver.
"""

import ctypes
from collections.abc import Callable, Sequence
from ctypes import c_int, c_void_p

import numpy as np

from pocketgpu.devices import Device
from rnnlab.gpu import card
from rnnlab.gpu.cublas import WORKSPACE, Gemm, Handle
from rnnlab.gpu.cuda_driver import LARGE_CLUSTERS, MOST_SHARED, call, check_status, clusters_at_once
from rnnlab.kernels.persistence.layers import Array, TensorLayers
from rnnlab.kernels.persistence.shapes import PORTABLE, PersistentLaunch, Shape
from rnnlab.ladder.chooser import Abilities, abilities
from rnnlab.ladder.properties import only_reset_after
from rnnlab.network import Network, check_gradients, check_input


class CudaChip:
    """The current GPU as layers.Chip; everything runs in its default stream, as CuPy's own work does."""

    def __init__(self, dtype: str):
        import cupy

        self.cupy = cupy
        self.dtype = dtype
        self._ready = {}
        self._products = {}
        cupy.cuda.Device().cublas_handle  # noqa: B018  loads cuBLAS as CuPy finds it
        self.workspace = cupy.cuda.alloc(WORKSPACE)
        self.handle = Handle(cupy.cuda.Stream.null.ptr, self.workspace.ptr)

    def put(self, array: np.ndarray) -> Array:
        return self.cupy.asarray(np.ascontiguousarray(array))

    def get(self, array: Array) -> np.ndarray:
        return array.get()

    def product(self, a: Array, b: Array, out: Array, transposed: tuple[bool, bool], adds: bool) -> None:
        # in cuBLAS's order: the second factor is its first
        addresses = b.data.ptr, a.data.ptr, out.data.ptr
        call = *addresses, transposed, adds
        if call not in self._products:
            (m, n) = out.shape
            (a_transposed, b_transposed) = transposed
            k = a.shape[0] if a_transposed else a.shape[1]
            sizes = Gemm(int(b_transposed), int(a_transposed), n, m, k, b.shape[1], a.shape[1], n)
            tf32 = self.dtype == "tf32"
            dtype = "float32" if tf32 else self.dtype
            self._products[call] = self.handle.gemm(sizes, *addresses, dtype, adds, tf32)
        check_status("cublasGemmEx", self._products[call]())

    def launch(self, shape: Shape, direction: str, arrays: Sequence[Array], T: int, B: int) -> None:
        kernel, launch = self._kernel(shape, direction, B)
        addresses = [c_void_p(array.data.ptr) for array in arrays]
        arguments = [*addresses, c_int(T), c_int(B)]
        self.start(kernel, launch[:3], arguments, shape.cooperative)

    def start(
        self, kernel: int, sizes: tuple, arguments: Sequence, cooperative: bool = False, stream: int = 0
    ) -> None:
        """Launch a kernel: its handle, (blocks, threads, shared bytes), arguments as ctypes has them.

        cooperative: the driver refuses a launch whose blocks cannot all run at once.
        """
        Pointers = c_void_p * len(arguments)
        pointers = Pointers(*map(ctypes.addressof, arguments))
        blocks, threads, shared = sizes
        configuration = kernel, blocks, 1, 1, threads, 1, 1, shared, stream, pointers
        if cooperative:
            call("cuLaunchCooperativeKernel", *configuration)
        else:
            call("cuLaunchKernel", *configuration, None)

    def allow(self, kernel: int, shared: int, cluster: int) -> None:
        """Let the kernel have that many bytes of shared memory, and blocks in a cluster."""
        call("cuFuncSetAttribute", kernel, MOST_SHARED, shared)
        if cluster > PORTABLE:
            call("cuFuncSetAttribute", kernel, LARGE_CLUSTERS, 1)

    def clusters_at_once(self, kernel: int, launch: PersistentLaunch) -> int:
        """How many clusters of that kernel the GPU runs at once."""
        return clusters_at_once(kernel, *launch)

    def _kernel(self, shape: Shape, direction: str, B: int) -> tuple[int, PersistentLaunch]:
        launch = shape.launch(direction, B)
        if (shape, direction) not in self._ready:
            options = "--std=c++17", *shape.options
            module = self.cupy.RawModule(code=shape.source, options=options)
            kernel = module.get_function(f"persistent_{direction}").kernel
            self.allow(kernel.ptr, launch.shared, launch.cluster)
            self._ready[shape, direction] = module, kernel
        _, kernel = self._ready[shape, direction]
        return kernel.ptr, launch


ShapeFor = Callable[[str, int, int, Device], Shape]  # cell, hidden size, sequences, device


def forward(shape_for: ShapeFor, network: Network, x: np.ndarray, state: tuple | None = None):
    """y [T,B,H], final state, saved; see rnnlab.ladder."""
    state = check_input(network, x, state)
    T, B, _ = x.shape
    shape = shape_for(network.cell, network.hidden_size, B, abilities().sheet)
    layers = TensorLayers(network, shape, (T, B), CudaChip(shape.dtype))
    layers.load(x, state)
    layers.forward()
    layers.check()
    return *layers.outputs(), layers


def backward(network: Network, layers: TensorLayers, dy: np.ndarray, dstate: tuple | None = None):
    """dx [T,B,I], dstate, gradients; see rnnlab.ladder."""
    dstate = check_gradients(network, layers.T, layers.B, dy, dstate)
    layers.load_gradients(dy, dstate)
    layers.backward()
    layers.check()
    return layers.gradients()


def why_not(
    shape_for: ShapeFor, network: Network, T: int, B: int, gpu: Abilities | None = None
) -> str | None:
    """Why that network does not run by these kernels on the GPU at hand (or on `gpu`); None if it does."""
    if network.dtype != "float32":
        return f"it takes networks in float32 and rounds them, not in {network.dtype}"
    if reason := only_reset_after(network, T, B):
        return reason
    if gpu is None:
        if reason := card.why_not():
            return reason
        gpu = abilities()
    try:
        shape = shape_for(network.cell, network.hidden_size, B, gpu.sheet)
    except ValueError as error:
        return str(error)
    if shape.cooperative and not gpu.cooperative:
        return f"{gpu.sheet.name} does not promise here that all blocks run at once"
    if getattr(shape, "cluster", 1) > PORTABLE and not gpu.clusters:
        return f"{gpu.sheet.name} has no room for clusters of {shape.cluster} blocks here"
    return None
