"""Conversions to integers in a kernel wrap, and what follows is as wide, as in Numba's compiled code."""

import ast

import numpy as np
import pytest
from launches import BOTH
from numba import int32, njit, uint32

from pocketgpu import cuda
from pocketgpu.simulator.operators import number_of

NAMES = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
NUMBERS = np.array(
    [0, 1, -1, 127, 128, 255, 256, -129, 2**31 - 1, 2**31, 2**32 + 5, -(2**31) - 1, 2**62 + 3, -(2**63)]
)
BINARY = ("a + b", "a - b", "a * b", "a ^ b", "a & b", "a | b", "a << 3", "a >> 3", "a // 7", "a % 7")
BINARY += ("a * 3 + 1", "a / 2")
CASES = [(name, operation) for name in NAMES if name != "uint64" for operation in BINARY]
CASES += [("uint64", operation) for operation in ("a * 3 + 1", "a / 2", "5 / (a | 1)")]
CASES += [(name, operation) for name in NAMES if name != "uint64" for operation in ("-a", "~a", "abs(a)")]
CASES += [(name, "divmod(a, 1000)[1] + a * np.float32(0.1)") for name in ("int8", "int16", "uint16", "int32")]


def simulated(function, values, dtype, checks=False):
    """function of each value [n], by a kernel with a thread for each."""

    inner = cuda.jit(device=True)(function)

    @cuda.jit
    def kernel(x, y):
        i = cuda.grid(1)
        y[i] = inner(x[i])

    y = np.zeros(len(values), dtype)
    with cuda.settings(checks=checks):
        kernel[1, len(values)](values, y)
    return y


def compiled(function, values, dtype):
    """function of each value [n], by Numba's compiler for the CPU."""
    inner = njit(function)

    @njit
    def loop(x, y):
        for i in range(len(x)):
            y[i] = inner(x[i])

    y = np.zeros(len(values), dtype)
    loop(values, y)
    return y


def conversion(name):
    """A function that converts by np.<name>."""
    scope = {"np": np}
    exec(f"def convert(value):\n    return np.{name}(value)\n", scope)
    return scope["convert"]


@pytest.mark.parametrize("name", NAMES)
def test_an_integer_that_does_not_fit_wraps_as_in_compiled_code(name):
    function = conversion(name)
    expected = compiled(function, NUMBERS, name)
    np.testing.assert_array_equal(simulated(function, NUMBERS, name), expected)
    # products of Python numbers are longer than any register
    many = simulated(lambda value: function(int(value) * 2654435761 * 2654435761), NUMBERS, name)
    wrapped = np.array([int(value) * 2654435761**2 % 2**64 for value in NUMBERS], np.uint64).astype(name)
    np.testing.assert_array_equal(many, wrapped)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_float_loses_its_fraction_as_in_compiled_code(name, dtype):
    values = np.array([0.0, 0.9, 1.5, 99.99, 126.99], dtype)
    if not name.startswith("u"):
        values = np.r_[values, -values]
    function = conversion(name)
    np.testing.assert_array_equal(simulated(function, values, name), compiled(function, values, name))


def test_a_float_beyond_the_type_becomes_the_nearest_integer_as_on_a_gpu():
    values = np.array([3e9, -3e9, 1e30, -1e30, np.inf, -np.inf, np.nan])
    low = -(2**31)
    high = 2**31 - 1
    got = simulated(conversion("int32"), values, np.int64)
    np.testing.assert_array_equal(got, [high, low, high, low, high, low, low])
    got = simulated(conversion("uint32"), values, np.int64)
    np.testing.assert_array_equal(got, [3 * 10**9, 0, 2**32 - 1, 0, 2**32 - 1, 0, 2**31])


@pytest.mark.corpus
@pytest.mark.parametrize(("name", "operation"), CASES)
def test_arithmetic_behind_a_conversion_is_as_wide_as_in_compiled_code(name, operation):
    scope = {"np": np}
    text = f"a, b = np.{name}(value), np.{name}(value >> 1)"
    exec(f"def function(value):\n    {text}\n    return {operation}\n", scope)
    dtype = np.float64 if "/ 2" in operation or "float" in operation else np.int64
    values = NUMBERS >> 1  # their sums fit into 64 bits
    expected = compiled(scope["function"], values, dtype)
    for checks in (False, True):
        got = simulated(scope["function"], values, dtype, checks)
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    ("name", "m", "n"), [("int8", -100, 200), ("uint16", -5, 70_000), ("int32", 2**31, -7)]
)
@pytest.mark.parametrize("operation", ["a * 3", "a // b", "a - b", "-7 // a", "a * a"])
def test_what_a_conversion_of_an_argument_wraps_is_computed_in_64_bits(name, m, n, operation):
    kind = getattr(np, name)
    scope = {"kind": kind, "cuda": cuda}
    text = f"def kernel(m, n, out):\n    a = kind(m)\n    b = kind(n)\n    out[0] = {operation}\n"
    exec(text, scope)
    out = np.zeros(1, np.int64)
    cuda.jit(scope["kernel"])[1, 1](m, n, out)
    exact = {part: int(np.array(number).astype(kind)) for part, number in (("a", m), ("b", n))}
    assert out[0] == eval(operation, exact)


def test_an_index_that_overflows_32_bits_is_out_of_bounds():
    @cuda.jit
    def far(x):
        row = cuda.grid(1)
        x[np.int32(row * 1103515245 + 12345) % 2**30 + np.int32(3 * 2**30)] = 1

    report = cuda.observe(far, 1, 4, np.zeros(2**10, np.float32))
    assert [finding.kind for finding in report.findings] == ["out_of_bounds"]
    assert report.findings[0].thread == (0, 0, 0)


@BOTH
def test_an_unsigned_index_below_zero_is_out_of_bounds_however_it_is_used(checks):
    @cuda.jit
    def reads(x, row):
        row[0] = x[np.uint64(0) - np.uint64(1)]

    @cuda.jit
    def writes(x, row):
        x[np.uint32(cuda.grid(1)) - np.uint32(1)] = 7

    for kernel in (reads, writes):
        with cuda.settings(checks=checks), pytest.raises(cuda.Findings) as raised:
            kernel[1, 1](np.zeros(4, np.float32), np.zeros(1, np.float32))
        assert [finding.kind for finding in raised.value.findings] == ["out_of_bounds"]


# docs of numba.cuda.jit: a signature compiles the kernel at once, for these types; scalars become them
@pytest.mark.parametrize(
    ("signature", "value", "zeros"),
    [
        ("void(int32[:], int32)", 1, 31),
        ("void(int32[:], uint32)", 0x0010_0000, 11),
        (["(int32[:], int64)"], 1, 63),
        ((int32[:], uint32), 3, 30),
        ("void(int32[:, :], int32)", 0, 32),
    ],
)
def test_a_scalar_argument_is_as_wide_as_its_signature_declares(signature, value, zeros):
    @cuda.jit(signature)
    def leading_zeros(result, number):
        result[(0,) * result.ndim] = cuda.clz(number)

    result = np.zeros((1, 1) if ", :" in str(signature) else 1, np.int32)
    leading_zeros[1, 1](result, value)
    assert result.item() == zeros


@pytest.mark.parametrize("name", ["equal", "less", "greater_equal", "bitwise_xor", "maximum"])
def test_functions_of_numpy_take_numbers_of_64_bits_without_a_sign(name):
    function = getattr(np, name)
    a = np.array([1, 2**63 + 5, 7, 2**64 - 1], np.uint64)
    b = np.array([1, 3, 2**63, 2**64 - 2], np.uint64)

    @cuda.jit
    def compute(a, b, result):
        i = cuda.grid(1)
        result[i] = function(a[i], b[i])

    want = function(a, b)
    result = np.zeros_like(want)
    compute[1, 4](a, b, result)
    assert (result == want).all()


@pytest.mark.parametrize(
    ("text", "number"), [("-(2**2) ** -1", -0.25), ("1 << (1 << 43)", None), ("9**9**9", None)]
)
def test_a_number_that_pythons_compiler_would_not_work_out_is_not_worked_out(text, number):
    assert number_of(ast.parse(text, mode="eval").body) == number


@pytest.mark.parametrize(
    "expression", ["(int(n) << 30) ^ int(a)", "~abs(a)", "-abs(a) * 2", "int(n) * int(n)"]
)
def test_conversions_and_widths_of_their_arguments_are_kept(expression):
    """Against numba.njit, whose integers are those of its CUDA target."""
    scope = {}
    exec(f"def function(a, n):\n    return {expression}", scope)
    function = scope["function"]
    inner = cuda.jit(device=True)(function)

    @cuda.jit
    def kernel(x, n, y):
        i = cuda.grid(1)
        y[i] = inner(x[i], n)

    x = np.array([0, 2, 100, 255], np.uint8)
    n = 12_345_678_901_234
    y = np.zeros(4, np.int64)
    kernel[1, 4](x, n, y)
    compiled = njit(function)
    assert y.tolist() == [np.int64(compiled(value, n)) for value in x]
