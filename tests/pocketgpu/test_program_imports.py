"""What programs import and call beside kernels: stand-ins, refusals in a sentence, texts run by exec."""

import numpy as np
import pytest
from test_program_checks import run
from values_in import holds

from pocketgpu import cuda

HEAD = "import numpy as np\nfrom numba import cuda\n"


def output(folder, program, **options):
    """What the program prints; it ends well."""
    done = run(folder, HEAD + program, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


@pytest.mark.parametrize("numba", [True, False])
def test_usual_modules_and_names_are_there(tmp_path, numba):
    program = """
from numba.cuda.cudadrv.driver import BaseCUDAMemoryManager, CudaAPIError, MemoryInfo, Stream, driver
from numba.cuda.cudadrv.error import CudaSupportError
from numba.cuda.cudadrv.devicearray import DeviceNDArray, DeviceNDArrayBase, MappedNDArray
from numba.cuda.kernels.reduction import Reduce
from numba.cuda.testing import CUDATestCase, skip_on_cudasim
from numba.cuda import compile_ptx, HostOnlyCUDAMemoryManager
from numba.core import types
from numba.core.errors import NumbaPerformanceWarning
import numba
print(isinstance(cuda.device_array(2), DeviceNDArray), cuda.is_supported_version())
print(Reduce(lambda a, b: a + b)(np.arange(5)), numba.from_dtype(np.int16))
"""
    first, second = output(tmp_path, program, numba=numba)
    assert first == "True True"
    assert second == "10 int16"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "from numba.cuda.simulator.kernel import FakeCUDAKernel",
            ["numba.cuda.simulator", "docs/simulator.md"],
        ),
        ("from numba.cuda.cudadrv import nvvm", ["nvvm", "docs/simulator.md"]),
        ("from numba_cuda_mlir.lowering import x", ["numba_cuda_mlir.lowering", "docs/simulator.md"]),
        ("cuda.compile_ptx(print, ())", ["compile_report"]),
        ("cuda.jit(lambda x: None).inspect_sass()", ["inspect_sass", "compile_report"]),
    ],
)
def test_what_the_simulator_lacks_is_said_in_a_sentence(tmp_path, line, message):
    done = run(tmp_path, HEAD + line)
    assert done.returncode == 1
    assert all(word in done.stderr.strip().split("\n")[-2] for word in message)


@pytest.mark.parametrize("numba", [True, False])
def test_programs_find_what_stands_in_for_a_module(tmp_path, numba):
    program = """
from importlib.util import find_spec
names = "numba numba.cuda numba.cuda.args numba.cuda.cudadrv.driver numba_cuda_mlir numba_cuda_mlir.cuda"
print(*(find_spec(name) is not None for name in names.split()))
"""
    assert output(tmp_path, program, numba=numba) == ["True True True True True True"]


@pytest.mark.parametrize(
    "line", ["from numba.cuda.random import xoroshiro128p_next", "from numba import typeof; typeof(3)"]
)
def test_what_needs_numba_names_the_command_that_installs_it(tmp_path, line):
    done = run(tmp_path, HEAD + line, numba=False)
    assert done.returncode == 1
    assert "pip install numba" in done.stderr.strip().split("\n")[-2]


@pytest.mark.parametrize("numba", [True, False])
def test_kernels_name_types_by_numba_and_by_the_second_compiler(tmp_path, numba):
    program = """
import numba
from numba_cuda_mlir import cuda as mlir, types
from numba_cuda_mlir.cuda.cudadrv.devicearray import DeviceNDArray
@mlir.jit
def norms(x, out):
    part = mlir.shared.array(4, numba.float32)
    t = mlir.threadIdx.x
    part[t] = x[t] * types.float32(2)
    mlir.syncthreads()
    out[t] = part[3 - t] + numba.int64(t)
out = np.zeros(4)
norms[1, 4](np.arange(4.0), out)
print(*out)
"""
    assert output(tmp_path, program, numba=numba) == ["6.0 5.0 4.0 3.0"]


@pytest.mark.parametrize("numba", [True, False])
def test_ufuncs_for_cuda_have_the_results_of_numpy(tmp_path, numba):
    program = """
from numba import guvectorize, vectorize
@vectorize(["float64(float64, float64)", "int32(int32, int32)"], target="cuda")
def larger_part(a, b):
    return a if a > b else 2 * b
@guvectorize(["(float32[:,:], float32[:], float32[:])"], "(m,n),(n)->(m)", target="cuda")
def product(w, x, y):
    for i in range(w.shape[0]):
        y[i] = 0
        for j in range(w.shape[1]):
            y[i] += w[i, j] * x[j]
a = np.arange(4, dtype=np.int32)
print(*larger_part(a, a[::-1].copy()), larger_part(a, a).dtype)
w = np.arange(12, dtype=np.float32).reshape(2, 2, 3)
y = product(cuda.to_device(w), np.ones(3, np.float32))
print(type(y).__name__, *y.copy_to_host().ravel())
"""
    first, second = output(tmp_path, program, numba=numba)
    assert first == "6 4 2 3 int32"
    assert second == "DeviceArray 3.0 12.0 21.0 30.0"


def test_kernels_made_by_exec_wait_and_are_checked(tmp_path):
    program = """
for wait in ("cuda.syncthreads()", "pass"):
    scope = {"cuda": cuda, "np": np}
    exec(f"def turn(x):\\n s = cuda.shared.array(8, np.int32)\\n t = cuda.threadIdx.x\\n s[t] = t\\n "
         f"{wait}\\n x[t] = s[(t + 1) % 8]\\n", scope)
    cuda.jit(scope["turn"])[1, 8](np.zeros(8))
"""
    done = run(tmp_path, HEAD + program)
    assert done.returncode == 1
    first, summary = done.stderr.strip().split("\n")
    assert holds(first, "turn: race")
    assert holds(summary, "2 launches", "1 finding")


def test_an_exception_of_a_kernel_shows_its_own_line_thread_and_counts_its_launch(tmp_path):
    program = "@cuda.jit\ndef fails(x):\n    if x[cuda.threadIdx.x] > 2:\n        raise ValueError('large')\n"
    done = run(tmp_path, f"{HEAD}{program}fails[1, 4](np.arange(4))\n")
    assert "ValueError: tid=[3, 0, 0]" in done.stderr
    assert holds(done.stderr, "program.py", "1 launch")
    assert "pocketgpu/simulator" not in done.stderr


class Tensor:
    """An object of another library with memory of the host."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


class OfGpu:
    @property
    def __cuda_array_interface__(self):
        return {"data": (1 << 40, False), "shape": (4,), "typestr": "<f8", "version": 3}


@cuda.jit
def double(x):
    x[cuda.threadIdx.x] *= 2


class OfSimulator:
    """An array of another library, in memory that the simulated GPU handed out."""

    def __init__(self, array, first):
        self.part = array[first:]

    @property
    def __cuda_array_interface__(self):
        return self.part.__cuda_array_interface__


def test_an_object_with_memory_of_the_simulated_gpu_shares_it_with_the_kernel():
    x = cuda.to_device(np.arange(6.0))
    part = OfSimulator(x, 2)
    double[1, 4](part)
    double[1, 4](cuda.as_cuda_array(part))
    double[1, 4](cuda.from_cuda_array_interface(part.__cuda_array_interface__))
    np.testing.assert_array_equal(x.copy_to_host(), [0, 1, 16, 24, 32, 40])


def test_a_program_can_divide_the_memory_that_it_is_told_of():
    free, total = cuda.current_context().get_memory_info()
    assert 0 < free // 8 <= total // 8 < 2**63
    np.zeros(2)[: free % 2]


def test_an_object_with_memory_of_the_host_shares_it_with_the_kernel():
    x = np.arange(4.0)
    double[1, 4](Tensor(x))
    double[1, 4](cuda.as_cuda_array(Tensor(x)))
    np.testing.assert_array_equal(x, 4 * np.arange(4.0))


@pytest.mark.parametrize(
    "argument",
    [
        OfGpu(),
        np.ma.array([1.0, 2.0], mask=[False, True]),
        np.float32,
        len,
        lambda x: x,
        np.array([1, "a"], object),
        2**64,
        -(2**63) - 1,
        slice(3),
        range(3),
    ],
    ids=lambda argument: type(argument).__name__,
)
def test_an_argument_that_no_kernel_takes_is_refused(argument):
    @cuda.jit
    def kernel(x):
        pass

    with pytest.raises(TypeError, match="argument"):
        kernel[1, 1](argument)


def twice(value):
    return 2 * value


@cuda.jit
def calls_python(x):
    x[0] = twice(x[0])


@cuda.jit
def launches(x):
    double[1, 1](x)


@cuda.jit
def too_large(x):
    first = cuda.local.array(40_000, np.float64)
    second = cuda.local.array(60_000, np.float32)
    first[0] = second[0] = x[0]


@pytest.mark.parametrize(
    ("kernel", "kind", "word"),
    [(calls_python, "does_not_compile", "device=True"), (launches, "does_not_compile", "kernel"),
     (too_large, "limit", "560000")],
)  # fmt: skip
def test_what_a_gpu_refuses_is_told_once(kernel, kind, word):
    (finding,) = cuda.observe(kernel, 1, 1, np.ones(4)).findings
    assert finding.kind == kind
    assert word in finding.message


def test_after_a_launch_that_was_ended_its_arrays_are_not_accused():
    @cuda.jit
    def stray(y):
        y[2 * cuda.threadIdx.x] = 1

    @cuda.jit
    def reads(y, z):
        z[cuda.threadIdx.x] = y[cuda.threadIdx.x]

    y, untouched = cuda.device_array(6), cuda.device_array(6)
    assert [finding.kind for finding in cuda.observe(stray, 1, 6, y).findings] == ["out_of_bounds"]
    assert cuda.observe(reads, 1, 6, y[0:], np.zeros(6)).findings == ()
    assert [finding.kind for finding in cuda.observe(reads, 1, 6, untouched, np.zeros(6)).findings] == [
        "uninitialised"
    ]


def test_ufuncs_for_cuda_compute_as_kernels_do(tmp_path):
    program = """
import math
from numba import float64, guvectorize, int64, vectorize
@vectorize(["int32(uint8, uint8)"], target="cuda")
def total(a, b):
    return a + b
@vectorize("f8(f8)", target="cuda")
def relu_of_root(x):
    return max(math.sqrt(x), 0.0)
@guvectorize([(float64[:], int64[:], float64[:])], "(n),()->(n)", target="cuda")
def differences(x, lag, out):
    for i in range(x.shape[0]):
        out[i] = x[i] - x[max(i - lag[0], 0)]
print(*total(np.full(2, 200, np.uint8), np.array([55, 56], np.uint8)))
print(*relu_of_root(np.array([-4.0, 9.0])))
print(*differences(np.array([[1.0, 2, 4], [1, 3, 9]]), 2).ravel())
"""
    sums, roots, lags = output(tmp_path, program)
    assert (sums, roots, lags) == ("255 256", "0.0 3.0", "0.0 1.0 3.0 0.0 2.0 8.0")


def test_a_ufunc_for_cuda_takes_stacks_beside_one_array_and_fills_the_outputs_that_it_is_given(tmp_path):
    program = """
from numba import guvectorize
@guvectorize(["(f8[:,:], f8[:,:], f8[:,:])"], "(m,n),(n,p)->(m,p)", target="cuda")
def product(a, b, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0
            for k in range(a.shape[1]):
                out[i, j] += a[i, k] * b[k, j]
@guvectorize(["(f8[:], f8[:], f8[:])"], "(n)->(),(n)", target="cuda")
def sums(x, total, so_far):
    total[0] = 0
    for i in range(x.shape[0]):
        total[0] += x[i]
        so_far[i] = total[0]
a, b = np.random.default_rng(0).random((5, 2, 3)), np.random.default_rng(1).random((3, 4))
print(np.allclose(product(a, b), a @ b))
total, so_far = np.zeros(2), np.zeros((2, 3))
sums(np.array([[1.0, 2, 4], [8, 16, 32]]), total, so_far)
print(*total, *so_far.ravel())
try:
    product(a, b.T)
except ValueError as error:
    print(error)
"""
    right, sums, message = output(tmp_path, program)
    assert (right, sums) == ("True", "7.0 56.0 1.0 3.0 7.0 8.0 24.0 56.0")
    assert holds(message, "product", "('n', 3)", "('n', 4)")


def test_a_ufunc_for_cuda_that_goes_astray_is_a_finding_at_its_line(tmp_path):
    program = """
from numba import guvectorize
@guvectorize(["(float64[:], float64[:])"], "(n)->()", target="cuda")
def last(x, out):
    out[0] = x[x.shape[0]]
last(np.ones((2, 3)))
"""
    done = run(tmp_path, HEAD + program)
    assert done.returncode == 1
    assert done.stderr.startswith("program.py:7: last: out of bounds")


def test_laneid_and_this_grid_are_imported_by_name(tmp_path):
    program = """
from numba.cuda import laneid, grid
from numba.cuda.cg import this_grid
@cuda.jit(device=True)
def bit():
    return 1 << laneid
@cuda.jit
def lanes(out):
    out[grid(1)] = bit() + laneid
    this_grid().sync()
out = np.zeros(64, np.int64)
lanes[2, 32](out)
print((out == np.tile((1 << np.arange(32)) + np.arange(32), 2)).all())
"""
    assert output(tmp_path, program) == ["True"]


def test_a_text_that_is_compiled_under_a_name_of_its_own_is_found(tmp_path):
    program = """
text = "def swap(x):\\n i = cuda.threadIdx.x\\n v = x[i]\\n cuda.syncthreads()\\n x[1 - i] = v"
scope = {"cuda": cuda}
exec(compile(text, "<template>", "exec"), scope)
x = np.array([3, 4])
cuda.jit(scope["swap"])[1, 2](x)
print(*x)
"""
    assert output(tmp_path, program) == ["4 3"]


def test_a_method_of_a_class_is_a_function_of_python_alone(tmp_path):
    program = """
class Cell:
    @staticmethod
    def relu(v):
        return max(v, 0.0)
@cuda.jit
def step(x):
    x[cuda.grid(1)] = Cell.relu(x[cuda.grid(1)])
step[1, 2](np.ones(2))
"""
    done = run(tmp_path, HEAD + program)
    assert holds(done.stderr, "Cell.relu", "device=True", "1 finding")


def test_kernels_that_follow_an_ended_launch_hand_its_silence_on(tmp_path):
    program = """
@cuda.jit
def forward(x, h):
    i = cuda.grid(1)
    h[i] = x[i + 1]
@cuda.jit
def scaled(h, y):
    y[cuda.grid(1)] = 2 * h[cuda.grid(1)]
@cuda.jit
def loss(y, total):
    cuda.atomic.add(total, 0, y[cuda.grid(1)])
x, h, y = cuda.to_device(np.ones(8)), cuda.device_array(8), cuda.device_array(8)
forward[1, 8](x, h)
scaled[1, 8](h, y)
loss[1, 8](y, cuda.to_device(np.zeros(1)))
"""
    done = run(tmp_path, HEAD + program)
    assert holds(done.stderr, "forward: out of bounds", "3 launches", "1 finding")


def test_numbers_that_no_register_has_are_refused(tmp_path):
    program = """
from fractions import Fraction
@cuda.jit
def store(v, out):
    out[0] = v
try:
    store[1, 1](Fraction(1, 3), np.zeros(1))
except TypeError as error:
    print(error)
"""
    (message,) = output(tmp_path, program)
    assert holds(message, "Fraction")


@pytest.mark.parametrize("numba", [True, False])
def test_a_kernel_may_call_what_is_compiled_for_the_host(tmp_path, numba):
    program = """
from numba import njit
@njit
def half(v):
    return v / 2
@njit(fastmath=True)
def square(v):
    return v * v
@cuda.jit
def step(x):
    x[cuda.grid(1)] = half(x[cuda.grid(1)]) + square(3.0)
x = np.array([2.0, 4])
step[1, 2](x)
print(*x, half(5))
"""
    assert output(tmp_path, program, numba=numba) == ["10.0 11.0 2.5"]
