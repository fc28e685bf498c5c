"""Strict mode finds what would not compile on a GPU and what creeps into float64, and nothing else."""

import inspect
import math
import subprocess
import sys
from types import FunctionType

import numba
import numpy as np
import pytest
import strict_kernels
from launches import line_of
from values_in import holds

from nbjudge.authoring.course import ROOT
from pocketgpu import simulator
from pocketgpu.simulator.strict import check

VECTOR, MATRIX = np.ones(64, np.float32), np.ones((32, 32), np.float32)
TWINS = [name for name in vars(strict_kernels) if hasattr(strict_kernels, f"{name}_repaired")]
CREEPING = [name for name in TWINS if name != "halved"]
REFUSED = [
    name
    for name, kernel in vars(strict_kernels).items()
    if hasattr(kernel, "py_func") and "no GPU compiles this" in inspect.getsource(kernel.py_func)
]


@pytest.mark.parametrize("name", CREEPING)
def test_a_kernel_that_creeps_into_float64_is_told_its_line_and_a_remedy(name):
    (result,) = {entry.line: entry for entry in check(getattr(strict_kernels, name), VECTOR, VECTOR)}.values()
    guilty = strict_kernels.halved if name == "device_function" else getattr(strict_kernels, name)
    assert (result.kind, result.line) == ("float64", line_of(guilty, "# creeps"))
    assert "np.float32(" in result.message


@pytest.mark.parametrize("name", CREEPING)
def test_its_repaired_twin_is_left_alone(name):
    assert check(getattr(strict_kernels, f"{name}_repaired"), VECTOR, VECTOR) == ()


@pytest.mark.parametrize("name", REFUSED)
def test_a_kernel_that_no_gpu_compiles_is_told_its_line(name):
    kernel = getattr(strict_kernels, name)
    (result,) = check(kernel, VECTOR, VECTOR)
    assert (result.kind, result.line) == ("does_not_compile", line_of(kernel, "no GPU compiles this"))
    assert result.message.rsplit("; ", 1)[1] != "say it in simpler words"


def test_it_is_told_its_line_after_compiled_code_has_used_the_same_function():
    dot = numba.njit(lambda a, b: np.dot(a, b))
    assert dot(np.ones(3), np.ones(3)) == 3
    kernel = strict_kernels.whole_arrays
    unknown_yet = FunctionType(kernel.py_func.__code__, kernel.py_func.__globals__)
    (result,) = check(unknown_yet, VECTOR, VECTOR)
    assert result.line == line_of(kernel, "no GPU compiles this")
    assert "numpy.dot" in result.message


def test_a_product_by_at_sign_is_named_after_compiled_code_has_used_one():
    assert numba.njit(lambda a, b: a @ b)(VECTOR, VECTOR) == VECTOR @ VECTOR

    def product(x, y):
        y[0] = x @ x

    (result,) = check(product, VECTOR, VECTOR)
    assert "Invalid use of @" in result.message
    assert "single elements" in result.message


def test_an_argument_is_not_taken_for_a_variable_of_the_notebook_that_an_attribute_names(monkeypatch):
    """threadIdx.x is in the code's names, and lessons have an array x of their own."""
    monkeypatch.setattr(strict_kernels, "x", VECTOR.copy(), raising=False)
    assert check(strict_kernels.doubled, VECTOR) == ()


def test_a_python_float_as_argument_is_named():
    (result,) = check(strict_kernels.scaled, 0.5, VECTOR, VECTOR)
    assert holds(result.message, "a", "float")
    assert check(strict_kernels.scaled, np.float32(0.5), VECTOR, VECTOR) == ()


def test_an_argument_without_a_type_on_a_gpu_is_refused():
    (result,) = check(strict_kernels.mean, {}, VECTOR)
    assert result.kind == "does_not_compile"
    assert "a GPU takes arrays, numbers" in result.message


def test_float64_that_is_meant_is_left_alone():
    wide = VECTOR.astype(np.float64)
    assert check(strict_kernels.number_from_outside, wide, wide) == ()
    assert check(strict_kernels.sigmoid, wide, wide) == ()


def test_numbers_that_float32_holds_exactly_are_left_alone_where_the_compiler_narrows_them():
    assert check(strict_kernels.exact_numbers, VECTOR, VECTOR) == ()


def test_words_that_numba_cuda_alone_has_are_not_refused():
    @simulator.jit
    def in_vectors(x, out):
        tile = simulator.shared.array((16, 4), numba.float32, alignment=16)
        mine = simulator.local.array(shape=4, dtype=numba.float32, alignment=8)
        i = simulator.threadIdx.x
        mine[0] = math.exp2(x[i])
        tile[i, 3] = mine[0]
        out[i] = tile[i, 3]

    assert check(in_vectors, VECTOR, VECTOR) == ()


def test_cache_hints_and_grid_barriers_have_types_without_numba_cuda():
    assert check(strict_kernels.flag, VECTOR, VECTOR) == ()


def test_a_strict_launch_refuses_and_leaves_the_arrays_as_they_were():
    out = np.zeros(4, np.float32)
    with simulator.settings(strict=True), pytest.raises(simulator.Findings, match="start with"):
        strict_kernels.start_value[1, 1](VECTOR, out)
    assert not out.any()
    with simulator.settings(strict=True):
        strict_kernels.start_value_repaired[1, 1](VECTOR, out)
    assert out[0] == 4


def test_types_are_found_where_nvidias_compilers_are_missing():
    code = """
import numpy as np
from pocketgpu.compiling import without_gpu
def missing(name): raise OSError(name)
without_gpu._open = missing
without_gpu._has_nvvm = lambda: False
from pocketgpu.simulator.strict import check
import strict_kernels
x = np.ones(8, np.float32)
print(len(check(strict_kernels.device_function, x, x)), len(check(strict_kernels.flag, x, x)))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT / "tests/kernels"
    )
    assert done.stdout.split() == ["1", "0"]
