"""Kernels become machine code without a GPU, and the report says what NVIDIA's compilers said."""

import math
import re
import subprocess
import sys

import numpy as np
import pytest
import simulated_kernels
import strict_kernels
from course_kernels import CPP, LESSONS, ROOT, SOLUTIONS, kernels
from numba import float32, int64

import rnnlab
from pocketgpu import cuda
from pocketgpu.compiling import compilers
from pocketgpu.compiling.report import ARCHITECTURES, compile_report
from pocketgpu.compiling.target import IS_NUMBA_CUDA
from pocketgpu.devices import find
from pocketgpu.simulator.strict import check
from rnnlab.kernels.persistence.shapes import cluster_shape, grid_shape, with_includes

VECTOR, MATRIX = np.ones(64, np.float32), np.ones((32, 32), np.float32)
COURSE, SOLVED = kernels([*LESSONS, *SOLUTIONS]), kernels(SOLUTIONS)
needs_compilers = pytest.mark.skipif(bool(compilers.missing()), reason=compilers.missing())
CONSTANTS = {  # of one shape; test_persistent_shapes.py compiles many
    "persistent_grid.cu": grid_shape("lstm", 256, "float16", 8, find("H200")).options,
    "persistent_cluster.cu": cluster_shape("lstm", 256, "float16", find("H200")).options,
    "latencies.cu": ("-DDTYPE=0", "-DCLUSTER=8"),
}
CPP_SOURCE = """
template <int N> __global__ void turn(float *a) {
  __shared__ float part[32];
  part[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  a[threadIdx.x] = part[N - threadIdx.x];
}
template __global__ void turn<31>(float *);
extern "C" __global__ void __launch_bounds__(1024) crowded(float *a, int n) {
  float kept[96];
  for (int i = 0; i < 96; i++) kept[i] = a[i * n];
  for (int k = 0; k < n; k++) {
    #pragma unroll
    for (int i = 0; i < 96; i++) kept[i] = kept[i] * kept[(i + 7) % 96] + a[k];
  }
  for (int i = 0; i < 96; i++) a[i * n] = kept[i];
}
"""


@needs_compilers
def test_cpp_tells_its_registers_spills_and_shared_memory_on_three_architectures():
    report = compile_report(CPP_SOURCE)
    assert [(entry.kernel, entry.arch) for entry in report] == [
        (name, arch) for arch in ARCHITECTURES for name in ("crowded", "turn<31>")
    ]
    for arch in ARCHITECTURES:
        turn, crowded = report["turn<31>", arch], report["crowded", arch]
        assert turn.shared == 32 * 4
        assert (turn.spill_stores, turn.spill_loads, turn.stack) == (0, 0, 0)
        assert 4 <= turn.registers <= 32
        assert crowded.registers <= 65536 // 1024
        assert min(crowded.spill_stores, crowded.spill_loads) > 0
        assert crowded.stack >= 4 * (96 - 64)
        assert crowded.cubin[:4] == b"\x7fELF"
        assert f".target {arch}" in crowded.ptx


@needs_compilers
def test_a_numba_kernel_written_for_the_simulator_becomes_machine_code():
    report = compile_report(simulated_kernels.tiled_matmul, (MATRIX, MATRIX, MATRIX))
    assert [(entry.kernel, entry.arch) for entry in report] == [("tiled_matmul", a) for a in ARCHITECTURES]
    for entry in report:
        assert entry.shared == 2 * 8 * 8 * 4
        assert 16 <= entry.registers <= 64
        assert (entry.spill_stores, entry.spill_loads, entry.stack) == (0, 0, 0)
        assert "fma.rn.f32" in entry.ptx
        assert ".f64" not in entry.ptx


@needs_compilers
def test_fewer_registers_mean_spills():
    unbounded = CPP_SOURCE.replace("__launch_bounds__(1024)", "")
    free, tight = (
        compile_report(unbounded, arch="sm_80", registers=most)["crowded", "sm_80"] for most in (None, 32)
    )
    assert tight.registers <= 32 < free.registers
    assert tight.spill_stores > free.spill_stores


@needs_compilers
def test_grid_barriers_and_cache_hints_compile():
    (result,) = compile_report(strict_kernels.flag, (VECTOR, VECTOR), "sm_90")
    # numba-cuda's words say ld.global.cg.b32
    patterns = r"ld\.(global\.)?cg", r"st\.(global\.)?cg", r"ld\.(global\.)?cv", "cudaCGSynchronize"
    assert all(re.search(word, result.ptx) for word in patterns)


@needs_compilers
@pytest.mark.parametrize(
    "name", [n for n in vars(strict_kernels) if hasattr(strict_kernels, f"{n}_repaired") and n != "halved"]
)
def test_the_machine_has_float64_exactly_where_strict_mode_says_so(name):
    for kernel in (getattr(strict_kernels, name), getattr(strict_kernels, f"{name}_repaired")):
        (result,) = compile_report(kernel, (VECTOR, VECTOR), "sm_80")
        assert (".f64" in result.ptx) == bool(check(kernel, VECTOR, VECTOR))


@needs_compilers
def test_the_machine_has_no_float64_for_numbers_that_float32_holds_exactly():
    (result,) = compile_report(strict_kernels.exact_numbers, (VECTOR, VECTOR), "sm_80")
    assert ".f64" not in result.ptx


@needs_compilers
def test_a_file_is_compiled_and_an_error_names_its_line(tmp_path):
    path = tmp_path / "one.cu"
    path.write_text('extern "C" __global__ void one(float *a) { a[0] = SIZE; }')
    (result,) = compile_report(path, arch="sm_90", options=["-DSIZE=3"])
    assert result.kernel == "one"
    with pytest.raises(compilers.DoesNotCompile, match=r'one\.cu\(1\): error: identifier "SIZE"'):
        compile_report(path, arch="sm_90")


@needs_compilers
def test_the_report_is_a_table_in_a_terminal_and_in_a_notebook():
    report = rnnlab.compile_report(simulated_kernels.saxpy, (float32, float32[::1], float32[::1]), "sm_80")
    head, row = str(report).splitlines()
    assert head.split() == "kernel arch registers spill stores spill loads stack shared constant".split()
    assert row.split()[:3] == ["saxpy", "sm_80", str(report["sm_80"].registers)]
    assert "<td" in report._repr_html_()
    with pytest.raises(KeyError, match="names 0 of: saxpy sm_80"):
        _ = report["sm_90"]


@needs_compilers
def test_a_python_kernel_without_a_signature_is_refused():
    with pytest.raises(ValueError, match="saxpy needs a signature"):
        compile_report(simulated_kernels.saxpy)


def test_without_the_wheels_it_says_what_to_install():
    code = """
import sys
sys.modules["cuda"] = None
import rnnlab
from pocketgpu import cuda
try:
    rnnlab.compile_report("int a;")
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "needs cuda-core" in done.stdout
    assert "pip install 'rnnlab[compile]'" in done.stdout


@pytest.mark.corpus
@needs_compilers
@pytest.mark.parametrize(
    "arch",
    ["sm_75", pytest.param("sm_80", marks=pytest.mark.slow), pytest.param("sm_90", marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("name", COURSE)
def test_every_kernel_of_the_course_compiles_for_three_architectures(name, arch):
    kernel, signature = COURSE[name]
    for entry in compile_report(kernel, signature, arch):
        assert (entry.spill_stores, entry.spill_loads) == (0, 0)


@needs_compilers
@pytest.mark.parametrize("path", CPP, ids=lambda path: path.relative_to(ROOT).as_posix())
@pytest.mark.parametrize("arch", ["sm_90", "sm_100", "sm_120"])
def test_every_cuda_file_of_the_course_compiles_from_hopper_on(path, arch):
    text = with_includes(path.read_text(encoding="utf-8"))
    report = compile_report(text, arch=arch, options=CONSTANTS[path.name])
    assert report.kernels
    assert not [entry for entry in report if entry.spill_stores or entry.spill_loads]


@pytest.mark.parametrize("name", COURSE)
def test_every_kernel_of_the_course_has_types(name):
    kernel, signature = COURSE[name]
    assert not [entry for entry in check(kernel, *signature) if entry.kind == "does_not_compile"]


@pytest.mark.parametrize("name", SOLVED)
def test_no_solution_creeps_into_float64(name):
    kernel, signature = SOLVED[name]
    assert check(kernel, *signature) == ()


def of_many_values(**options):
    """A kernel that keeps 72 float32 through a loop: as many registers and more, if it may have them."""

    @cuda.jit(**options)
    def kernel(x, steps):
        state = cuda.local.array(72, float32)
        i = cuda.grid(1)
        for k in range(72):
            state[k] = x[k, i]
        for _ in range(steps):
            for k in range(72):
                state[k] = state[k] * state[k] + state[0]
        for k in range(72):
            x[k, i] = state[k] / state[1]

    return kernel


@needs_compilers
@pytest.mark.parametrize(
    ("options", "most"),
    [
        ({}, 255),
        ({"launch_bounds": (1024, 1)}, 64),
        ({"launch_bounds": 512}, 128),
        ({"max_registers": 40}, 40),
    ],
)
def test_the_registers_of_a_kernel_are_those_that_its_own_options_leave(options, most):
    entry = compile_report(of_many_values(**options), (float32[:, ::1], int64), "sm_90")["sm_90"]
    assert entry.registers <= most
    assert entry.spill_stores > 0 or most > 72
    same = compile_report(of_many_values(), (float32[:, ::1], int64), "sm_90", registers=most)["sm_90"]
    assert abs(entry.registers - same.registers) <= 8


@needs_compilers
def test_a_kernel_with_fastmath_is_reported_with_it_unless_the_call_says_otherwise():
    kernel, kinds = of_many_values(fastmath=True), (float32[:, ::1], int64)
    assert "div.rn" not in compile_report(kernel, kinds, "sm_90")["sm_90"].ptx
    assert "div.rn" in compile_report(kernel, kinds, "sm_90", fastmath=False)["sm_90"].ptx


def of_halves(kind):
    """A kernel that multiplies, adds or exponentiates numbers of half precision."""

    @cuda.jit
    def kernel(a, b, out):
        i = cuda.grid(1)
        if kind == "product":
            out[i] = a[i] * b[i] - a[i]
        elif kind == "word":
            out[i] = cuda.fp16.hsub(a[i], b[i])
        else:
            out[i] = math.exp(a[i])

    return kernel


@needs_compilers
@pytest.mark.parametrize("kind", ["product", "word", "function"])
def test_half_precision_compiles_with_the_functions_that_it_calls(kind):
    if kind == "function" and not IS_NUMBA_CUDA:
        pytest.skip("Numba's own target has no exp of half precision that links")
    report = compile_report(of_halves(kind), [np.ones(4, np.float16)] * 3, ("sm_80", "sm_90"))
    assert [entry.arch for entry in report if 4 <= entry.registers <= 32] == ["sm_80", "sm_90"]
