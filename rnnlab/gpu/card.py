"""The GPU that a plan runs on: CuPy's memory and streams, cuBLAS, the driver; pointwise kernels in CUDA C++.

A pointwise kernel loops over the elements of [rows, columns] regions that lie in larger matrices: it gets
each region's first element and the length of its buffer's rows.  It loads what the operation reads, works
through the body in registers, and stores what it writes.  A bias has rows of length 0: every row is the
first.
"""

import ctypes
import importlib.util
import os
from collections.abc import Callable
from ctypes import c_int, c_void_p
from functools import cache, partial
from typing import NamedTuple
from zlib import crc32

import numpy as np

from pocketgpu.remedies import pip_install
from rnnlab.gpu.cublas import WORKSPACE, Handle, sizes_of
from rnnlab.gpu.cuda_driver import library
from rnnlab.gpu.run_cuda import Command
from rnnlab.schedule.plan import Operation, Region

EXPRESSIONS = {  # rule of graphs/rules.py -> its value, in words that C++ and Python share: tests simulate it
    "times": "{0} * {1}",
    "bias": "{0} + {1}",
    "one_minus": "one - {0}",
    "negative": "-{0}",
    "tanh": "tanh({0})",
    "tanh_slope": "{0} * (one - {1} * {1})",
    "sigmoid": "half * tanh(half * {0}) + half",
    "sigmoid_slope": "{0} * ({1} * (one - {1}))",
    "relu": "max({0}, zero)",
    "relu_slope": "({1} > zero) * {0}",
}
HALF = "float16"
NUMBERS = {"float32": "float", "float64": "double", HALF: "__half"}  # as they lie in memory
THREADS = 128  # a block of a pointwise kernel
TILE = 32  # rows and columns of a block of the transpose
TRANSPOSE = """
extern "C" __global__ void transpose(int rows, int columns, const T *from, int from_row, T *to, int to_row) {
  __shared__ T tile[32][33];
  const int left = blockIdx.x * 32, top = blockIdx.y * 32;
  for (int k = threadIdx.y; k < 32; k += blockDim.y)
    if (top + k < rows && left + threadIdx.x < columns)
      tile[k][threadIdx.x] = from[(top + k) * from_row + left + threadIdx.x];
  __syncthreads();
  for (int k = threadIdx.y; k < 32; k += blockDim.y)
    if (left + k < columns && top + threadIdx.x < rows)
      to[(left + k) * to_row + top + threadIdx.x] = tile[threadIdx.x][k];
}
"""


@cache
def why_not() -> str | None:
    """Why plans cannot run on a GPU here; None if they can.  RNNLAB_CUDA=simulator says no."""
    if os.environ.get("RNNLAB_CUDA") == "simulator":
        return "RNNLAB_CUDA is simulator"
    if not importlib.util.find_spec("cupy"):
        install = pip_install("cupy-cuda13x")
        return f"CuPy is not installed; beside an NVIDIA driver, this brings it: {install}"
    try:
        import cupy
    except Exception as error:  # a library of another version, a NumPy that it does not know
        return f"CuPy cannot be imported: {type(error).__name__}: {error}"
    try:
        cupy.cuda.runtime.getDeviceCount()
        return None
    except Exception as error:  # CUDARuntimeError, or a driver that CuPy cannot load
        return f"CuPy finds no GPU: {error}"


def transpose_source(dtype: str) -> str:
    """The transposing kernel in CUDA C++, by way of a tile in shared memory."""
    return f"{_header(dtype)}\n#define T {NUMBERS[dtype]}\n{TRANSPOSE}"


def _header(dtype: str) -> str:
    return "#include <cuda_fp16.h>" if dtype == HALF else ""


class GpuBuffer:
    """A matrix in the GPU's memory, row by row."""

    def __init__(self, array: object):
        self.array = array  # a CuPy array

    def address(self, region: Region) -> int:
        """Address of the region's first element."""
        (row, _) = region.rows
        (column, _) = region.columns
        elements = row * self.columns + column
        return self.array.data.ptr + self.array.itemsize * elements

    @property
    def columns(self) -> int:
        return self.array.shape[1]

    @property
    def dtype(self) -> str:
        return str(self.array.dtype)

    def host(self) -> np.ndarray:
        """A copy."""
        return self.array.get()


Buffers = dict[str, GpuBuffer]


class Gpu:
    """run_cuda.Card, which says what each method does, on the current device; captured as CUDA graphs.

    tf32 lets float32 products run on tensor cores.
    """

    def __init__(self, tf32: bool = False):
        import cupy

        self.cupy = cupy
        self.tf32 = tf32
        self._streams = {}
        self._kernels = {}
        self._referenced = []
        cupy.cuda.Device().cublas_handle  # noqa: B018  loads cuBLAS as CuPy finds it
        self.driver = library()

    def buffer(self, shape: tuple[int, int], dtype: str, content: np.ndarray | None) -> GpuBuffer:
        if content is None:
            return GpuBuffer(self.cupy.full(shape, np.nan, dtype))
        array = np.ascontiguousarray(content, dtype)
        return GpuBuffer(self.cupy.asarray(array))

    def launch(self, operation: Operation, buffers: Buffers, stream: int) -> Command:
        return getattr(self, f"_{operation.kind}")(operation, buffers, stream)

    def copy(self, source: GpuBuffer, target: GpuBuffer, stream: int) -> Command:
        into = target.array.data.ptr
        out_of = source.array.data.ptr
        pointer = self.stream(stream).ptr
        return partial(self.driver.cuMemcpyDtoDAsync_v2, into, out_of, source.array.nbytes, pointer)

    def event(self) -> object:
        event = self.cupy.cuda.Event(disable_timing=True)
        self._referenced.append(event)
        return event.ptr

    def record(self, event: object, stream: int) -> Command:
        pointer = self.stream(stream).ptr
        return partial(self.driver.cuEventRecord, event, pointer)

    def wait(self, event: object, stream: int) -> Command:
        pointer = self.stream(stream).ptr
        return partial(self.driver.cuStreamWaitEvent, pointer, event, 0)

    def capture(self, commands: list[Command], stream: int) -> Command:
        first = self.stream(stream)
        self.finish()
        first.begin_capture()
        try:
            codes = [command() for command in commands]
        finally:
            graph = first.end_capture()
        failed = [code for code in codes if code]
        if failed:
            raise RuntimeError(f"{len(failed)} of {len(codes)} commands are refused, first with {failed[0]}")
        return lambda: graph.launch(first) or 0

    def finish(self) -> None:
        self.cupy.cuda.Device().synchronize()

    def seconds(self, run: Callable[[], None]) -> float:
        """Between two events on stream 0, where plans begin and end, with what `run` issues between them."""
        cuda = self.cupy.cuda
        start = cuda.Event()
        end = cuda.Event()
        self.finish()
        start.record(self.stream(0))
        run()
        end.record(self.stream(0))
        end.synchronize()
        return 1e-3 * cuda.get_elapsed_time(start, end)

    def used_bytes(self) -> int:
        """Bytes of the GPU's memory that CuPy has allocated in this process."""
        return self.cupy.get_default_memory_pool().used_bytes()

    def stream(self, number: int) -> object:
        """The CuPy stream of that number in a plan."""
        stream, _ = self._on(number)
        return stream

    def _on(self, number: int) -> tuple[object, Handle]:
        if number not in self._streams:
            stream = self.cupy.cuda.Stream(non_blocking=True)
            workspace = self.cupy.cuda.alloc(WORKSPACE)
            self._referenced.append(workspace)
            self._streams[number] = stream, Handle(stream.ptr, workspace.ptr)
        return self._streams[number]

    def _gemm(self, operation: Operation, buffers: Buffers, stream: int) -> Command:
        columns = {name: buffer.columns for name, buffer in buffers.items()}
        sizes = sizes_of(operation, columns)
        regions = operation.reads + operation.writes
        a, b, out = (buffers[region.buffer].address(region) for region in regions)
        (write,) = operation.writes
        dtype = buffers[write.buffer].dtype
        _, handle = self._on(stream)
        return handle.gemm(sizes, b, a, out, dtype, operation.accumulates, self.tf32)

    def _reduce(self, operation: Operation, buffers: Buffers, stream: int) -> Command:
        """A sum over rows is a product with a row of ones."""
        (read,) = operation.reads
        (write,) = operation.writes
        rows, _ = read.shape
        dtype = buffers[read.buffer].dtype
        ones = self.buffer((1, rows), dtype, np.ones((1, rows)))
        self._referenced.append(ones)
        row = Region("~ones", (0, 1), (0, rows))
        product = Operation(
            "gemm", (row, read), (write,), 0, operation.steps, accumulates=operation.accumulates
        )
        return self._gemm(product, buffers | {"~ones": ones}, stream)

    def _transpose(self, operation: Operation, buffers: Buffers, stream: int) -> Command:
        (read,) = operation.reads
        (write,) = operation.writes
        rows, columns = read.shape
        arguments = [rows, columns]
        for region in (read, write):
            buffer = buffers[region.buffer]
            address = c_void_p(buffer.address(region))
            arguments += [address, buffer.columns]
        kernel = self._kernel("transpose", transpose_source(buffer.dtype))
        grid = -(-columns // TILE), -(-rows // TILE)
        return self._call(kernel, grid, (TILE, 8), arguments, stream)

    def _pointwise(self, operation: Operation, buffers: Buffers, stream: int) -> Command:
        work, regions = launch_of(operation)
        rows, columns = operation.writes[0].shape
        count = rows * columns
        arguments = [count, columns]
        for region in regions:
            buffer = buffers[region.buffer]
            address = c_void_p(buffer.address(region))
            arguments += [address, row_length(region, rows, buffer.columns)]
        kernel = self._kernel(work.name, cuda_source(work, buffer.dtype))
        blocks = -(-count // THREADS)
        return self._call(kernel, (blocks, 1), (THREADS, 1), arguments, stream)

    def _kernel(self, name: str, source: str) -> int:
        """The kernel's handle in the driver, compiled at its first use."""
        if source not in self._kernels:
            raw_kernel = self.cupy.RawKernel(source, name, options=("--std=c++17",))
            self._kernels[source] = raw_kernel.kernel
        return self._kernels[source].ptr

    def _call(self, kernel: int, grid: tuple, block: tuple, arguments: list, stream: int) -> Command:
        """The launch, prepared; whole numbers are passed as C's int."""
        values = [argument if isinstance(argument, c_void_p) else c_int(argument) for argument in arguments]
        Pointers = c_void_p * len(values)
        pointers = Pointers(*map(ctypes.addressof, values))
        self._referenced += [values, pointers]
        sizes = *grid, 1, *block, 1, 0  # the last are shared bytes
        where = self.stream(stream).ptr, ctypes.addressof(pointers), None
        return partial(self.driver.cuLaunchKernel, kernel, *sizes, *where)


Rule = tuple[str, tuple[int, ...]]  # a rule's name, registers it reads


class KernelWork(NamedTuple):
    """The computation of a kernel, apart from the buffers it is launched on."""

    loads: int  # regions 0 … loads are read
    body: tuple[Rule, ...]  # they make registers loads, loads + 1, …
    stores: tuple[int, ...]  # registers that regions loads, loads + 1, … get

    @property
    def name(self) -> str:
        """The same for the same work."""
        rules = [rule for rule, _ in self.body]
        title = rules[0] if len(rules) == 1 else len(rules)
        checksum = crc32(repr(self).encode())
        return f"pointwise_{title}_{checksum:08x}"


class PointwiseLaunch(NamedTuple):
    """A kernel's work and the regions it is launched on, read ones first."""

    work: KernelWork
    regions: tuple[Region, ...]


def launch_of(operation: Operation) -> PointwiseLaunch:
    """The kernel of a pointwise operation."""
    reads = tuple(dict.fromkeys(operation.reads))
    loads = len(reads)
    register = {region: k for k, region in enumerate(reads)}
    body = []
    for k, equation in enumerate(operation.body, loads):
        operands = tuple(register[region] for region in equation.reads)
        body.append((equation.rule, operands))
        register[equation.write] = k
    stores = tuple(register[region] for region in operation.writes)
    work = KernelWork(loads, tuple(body), stores)
    return PointwiseLaunch(work, reads + operation.writes)


def row_length(region: Region, rows: int, columns: int) -> int:
    """Elements from a row to the next, in a buffer of that many columns; 0 where one row serves all."""
    return 0 if region.shape[0] == 1 != rows else columns


@cache
def cuda_source(work: KernelWork, dtype: str) -> str:
    """The kernel in CUDA C++; arithmetic of float16 is float's."""
    memory = NUMBERS[dtype]
    register = NUMBERS["float32" if dtype == HALF else dtype]
    regions = range(work.loads + len(work.stores))
    parameters = "".join(f", {memory} *p{k}, int s{k}" for k in regions)
    lines = [f"const {register} {name} = {expression};" for name, expression in registers(work)]
    for k, number in enumerate(work.stores, work.loads):
        lines.append(f"p{k}[row * s{k} + column] = ({memory})r{number};")
    body = "\n".join(f"    {line}" for line in lines)
    return f"""{_header(dtype)}
extern "C" __global__ void {work.name}(int count, int columns{parameters}) {{
  const {register} one = 1, half = 0.5, zero = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x) {{
    const int row = i / columns, column = i % columns;
{body}
  }}
}}
"""


def registers(work: KernelWork) -> list[tuple[str, str]]:
    """(register, expression) of each load and each rule, in order."""
    expressions = [f"p{k}[row * s{k} + column]" for k in range(work.loads)]
    for rule, read in work.body:
        operands = [f"r{k}" for k in read]
        if rule == "sum":  # of any number of terms
            expressions.append(" + ".join(operands))
        else:
            expressions.append(EXPRESSIONS[rule].format(*operands))
    return [(f"r{k}", expression) for k, expression in enumerate(expressions)]
