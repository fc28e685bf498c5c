"""Words that compute: atomics, loads and stores with hints, bits, half precision."""

import math

import numpy as np
import pytest
from launches import BOTH, run
from numba import uint64

from pocketgpu import simulator as cuda


def atomically(name, start, values, dtype=np.int32, checks=True):
    """What cuda.atomic.<name> leaves of `start`, a thread for each value, and the old values [threads]."""
    operation = getattr(cuda.atomic, name)

    @cuda.jit
    def kernel(target, values, old):
        i = cuda.grid(1)
        old[i] = operation(target, 0, values[i])

    target, values = np.array([start], dtype), np.array(values, dtype)
    old = np.zeros(values.size, dtype)
    assert not run(kernel, 1, values.size, target, values, old, checks=checks)
    return target[0], old


@BOTH
@pytest.mark.parametrize(
    ("name", "start", "values", "left", "old"),
    [
        ("add", 5, [1, 2, 3], 11, [5, 6, 8]),
        ("sub", 5, [1, 2, 3], -1, [5, 4, 2]),
        ("max", 5, [1, 9, 7], 9, [5, 5, 9]),
        ("min", 5, [7, 2, 3], 2, [5, 5, 2]),
        ("and_", 0b1111, [0b1110, 0b0111, -1], 0b0110, [15, 14, 6]),
        ("or_", 0, [1, 4, 1], 5, [0, 1, 5]),
        ("xor", 1, [1, 4, 1], 5, [1, 0, 4]),
        ("exch", 1, [2, 3, 4], 4, [1, 2, 3]),
        ("inc", 1, [2, 2, 2], 1, [1, 2, 0]),
        ("dec", 1, [5, 5, 5], 4, [1, 0, 5]),
    ],
)
def test_an_atomic_changes_and_returns_what_was_there(checks, name, start, values, left, old):
    got_left, got_old = atomically(
        name, start, values, np.uint32 if name in ("inc", "dec") else np.int32, checks
    )
    assert got_left == left
    assert got_old.tolist() == old


def test_atomics_wrap_like_registers():
    assert atomically("add", 2**31 - 1, [1])[0] == -(2**31)
    assert atomically("sub", 0, [1], np.uint32)[0] == 2**32 - 1


def test_atomics_on_floats_add_and_compare():
    assert atomically("add", 0.5, [1.5, 2.5], np.float32)[0] == 4.5
    assert atomically("nanmax", np.nan, [1, 3], np.float64)[0] == 3
    assert atomically("nanmin", 2, [np.nan, 1], np.float64)[0] == 1


def test_compare_and_swap_stores_only_over_what_was_expected():
    @cuda.jit
    def kernel(a, old):
        old[0] = cuda.atomic.cas(a, 1, 5, 9)
        old[1] = cuda.atomic.cas(a, (1,), 5, 7)
        old[2] = cuda.atomic.compare_and_swap(a, 3, 4)

    a, old = np.array([3, 5], np.int32), np.zeros(3, np.int32)
    run(kernel, 1, 1, a, old)
    assert a.tolist() == [4, 9]
    assert old.tolist() == [5, 9, 3]


@pytest.mark.parametrize(
    ("word", "argument", "expected"),
    [
        (cuda.popc, np.uint32(0xF00F), 8),
        (cuda.popc, np.int64(-1), 64),
        (cuda.clz, np.uint32(1), 31),
        (cuda.clz, np.int64(1), 63),
        (cuda.clz, 0, 64),
        (cuda.ffs, np.uint32(0), 0),
        (cuda.ffs, np.uint32(0x8000), 16),
        (cuda.ffs, uint64(2**40), 41),
        (cuda.brev, np.uint32(1), 2**31),
        (cuda.brev, np.uint64(1), 2**63),
        (cuda.cbrt, np.float64(27), 3),
    ],
)
def test_bits_are_counted_in_the_width_of_their_type(word, argument, expected):
    assert word(argument) == pytest.approx(expected)


def test_selection_and_fused_multiply_add_are_exact():
    assert cuda.selp(True, 1, 2) == 1
    assert cuda.selp(False, 1, 2) == 2
    a = np.float32(1 + 2**-12)
    assert cuda.fma(a, a, np.float32(-1)) == np.float32(2**-11 + 2**-24)
    assert a * a - np.float32(1) == np.float32(2**-11)


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint16"])
def test_an_exponent_may_be_an_element_of_any_type_of_integers(dtype):
    @cuda.jit
    def kernel(x, exponents, out):
        i = cuda.grid(1)
        out[i] = math.ldexp(x[i], exponents[i])

    x, exponents, out = np.array([0.75, -3], np.float32), np.array([5, 100], dtype), np.zeros(2, np.float32)
    assert not run(kernel, 1, 2, x, exponents, out)
    np.testing.assert_array_equal(out, np.ldexp(x, exponents.astype(int)))


def test_half_precision_has_its_own_words():
    x, y, z = np.float16(1.5), np.float16(-2.25), np.float16(3)
    h = cuda.fp16
    got = [h.hadd(x, y), h.hsub(x, y), h.hmul(x, y), h.hdiv(x, z), h.hfma(x, y, z), h.hneg(x), h.habs(y)]
    assert got == [-0.75, 3.75, -3.375, 0.5, -0.375, -1.5, 2.25]
    assert [h.hfloor(y), h.hceil(y), h.hmax(x, y), h.hmin(x, y)] == [-3, -2, 1.5, -2.25]
    assert h.hgt(x, y)
    assert h.hsqrt(np.float16(4)) == 2
    assert all(value.dtype == np.float16 for value in got)
