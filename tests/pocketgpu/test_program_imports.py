"""What programs import and call beside kernels: stand-ins, refusals in a sentence, texts run by exec."""

import re

import numpy as np
import pytest
from test_program_checks import run
from values_in import holds

from nbjudge.files import ROOT
from pocketgpu import cuda

HEAD = "import numpy as np\nfrom numba import cuda\n"
FILE = ROOT / "tests/fixtures/programs.txt"  # says what each program has at its head


def programs():
    """A case of each program, or two: (its text, lines that it prints, values in what it says, status)."""
    for block in re.split(r"^=== ", FILE.read_text(encoding="utf-8"), flags=re.M)[1:]:
        title, _, text = block.partition("\n")
        prints = re.findall(r"^> (.*)\n", text, re.M)
        values = [value for line in re.findall(r"^\? (.*)\n", text, re.M) for value in line.split(" | ")]
        program = HEAD + re.sub(r"^[>?] .*\n", "", text, flags=re.M)
        for numba in (True, False) if "(both)" in title else (True,):
            status = int("(fails)" in title)
            yield pytest.param(program, prints, values, status, numba, id=f"{title}-{numba}")


@pytest.mark.parametrize(("program", "prints", "values", "status", "numba"), [*programs()])
def test_a_program_prints_and_says_what_stands_at_its_head(tmp_path, program, prints, values, status, numba):
    done = run(tmp_path, program, numba=numba)
    assert done.returncode == status, done.stderr
    shown = done.stdout.splitlines()
    assert shown[: len(prints)] == prints
    assert values or len(shown) == len(prints)
    assert holds(done.stdout + done.stderr, *values)
    assert "pocketgpu/simulator" not in done.stderr
    places = [number for number, line in enumerate(program.splitlines(), 1) if line.endswith("# here")]
    assert all(f"program.py:{number}: " in done.stderr for number in places)


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


@pytest.mark.parametrize(
    "line", ["from numba.cuda.random import xoroshiro128p_next", "from numba import typeof; typeof(3)"]
)
def test_what_needs_numba_names_the_command_that_installs_it(tmp_path, line):
    done = run(tmp_path, HEAD + line, numba=False)
    assert done.returncode == 1
    assert "pip install numba" in done.stderr.strip().split("\n")[-2]


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
