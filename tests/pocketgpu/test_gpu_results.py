"""Arithmetic in kernels has the results of the table, and compiles to the instructions that it names."""

import math
import re

import gpu_results
import numpy as np
import pytest
from launches import BOTH, names_of

from nbjudge.files import ROOT
from pocketgpu import cuda
from pocketgpu.compiling import compilers

ROWS = gpu_results.read_rows()


def kernel_from(text):
    """The kernel of that text, as if it stood in a file."""
    scope = {"cuda": cuda, "libdevice": cuda.libdevice, "math": math, "np": np}
    return cuda.jit(names_of(text, f"<kernel {hash(text)}>", **scope)["kernel"])


@BOTH
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.expression} {row.types}")
def test_an_expression_has_the_result_of_a_gpu(row, checks):
    arrays = {name: np.array(column, row.types) for name, column in row.arguments.items() if name in "ab"}
    kernel = kernel_from(row.kernel_text())
    for place, expected in enumerate(row.results):
        values = {name: arrays[name][place : place + 1] if name in arrays else column[place]
                  for name, column in row.arguments.items()}  # fmt: skip
        out = np.zeros(1, row.out)
        with cuda.settings(checks=checks):
            kernel[1, 1](*values.values(), out)
        np.testing.assert_array_equal(out[0], np.array(expected).astype(row.out))
        assert np.signbit(float(out[0])) == np.signbit(float(expected)) or math.isnan(expected)


@pytest.mark.skipif(bool(compilers.missing()), reason=compilers.missing())
@pytest.mark.parametrize("row", [row for row in ROWS if row.instruction], ids=lambda row: row.expression)
def test_the_compiler_makes_the_instruction_whose_result_it_is(row):
    from pocketgpu.compiling.report import compile_report

    arguments = [
        np.array(column, row.types) if name in "ab" else column[0] for name, column in row.arguments.items()
    ]
    kernel = kernel_from(row.kernel_text())
    (entry,) = compile_report(kernel, [*arguments, np.zeros(1, row.out)], "sm_90")
    assert re.search(row.instruction, entry.ptx)


def test_the_page_has_the_table():
    page = (ROOT / "docs/simulator.md").read_text(encoding="utf-8")
    assert gpu_results.markdown() in page


@pytest.mark.parametrize(
    ("expression", "values", "expected"),
    [
        ("libdevice.float2int_rz(x[0]) + 0", [-2.75], -2),
        ("libdevice.double2uint_ru(x[0])", [2.25], 3),
        ("libdevice.float_as_int(x[0])", [1.0], 0x3F800000),
        ("libdevice.fast_fdividef(x[0], 4.0)", [3.0], 0.75),
        ("libdevice.fadd_rz(x[0], 1e-9)", [1.0], 1.0),
        ("libdevice.fadd_ru(x[0], 1e-9)", [1.0], float(np.nextafter(np.float32(1), np.float32(2)))),
        ("libdevice.dmul_rd(x[0], x[0])", [-0.1], 0.01),
        ("libdevice.dmul_rz(x[0], x[0])", [1e200], np.finfo(float).max),
        ("libdevice.fsqrt_ru(x[0])", [2.0], float(np.nextafter(np.float32(2**0.5), np.float32(2)))),
        ("libdevice.popc(int(x[0])) + libdevice.clz(int(x[0]))", [-1.0], 32),
        ("cuda.clz(libdevice.popcll(int(x[0])))", [-1.0], 25),
        ("cuda.clz(libdevice.clzll(int(x[0])))", [1.0], 26),
        ("cuda.clz(libdevice.ffsll(int(x[0])))", [2.0**40], 26),
        ("cuda.clz(libdevice.brevll(int(x[0])))", [2.0], 1),
        ("cuda.clz(libdevice.isnand(x[0])) + cuda.clz(libdevice.signbitf(x[0]))", [-2.0], 32 + 31),
        ("cuda.clz(libdevice.ilogb(x[0])) + cuda.clz(libdevice.isfinited(x[0]))", [8.0], 30 + 31),
        ("libdevice.umulhi(int(x[0]), 3)", [2.0**31], 1),
        ("libdevice.byte_perm(0x33221100, 0x77665544, int(x[0]))", [0x7520], 0x77552200),
        ("libdevice.saturatef(x[0])", [math.nan], 0),
    ],
)
def test_functions_of_libdevice_have_the_results_of_its_manual(expression, values, expected):
    kernel = kernel_from(f"def kernel(x, out):\n    out[0] = {expression}\n")
    out = np.zeros(1)
    assert cuda.observe(kernel, 1, 1, np.array(values), out).findings == ()
    assert out[0] == pytest.approx(expected, rel=1e-15)


def test_a_fused_product_is_rounded_once_in_every_precision():
    assert cuda.fma(1 + 2.0**-29, 1 + 2.0**-29, -1.0) == 2.0**-28 + 2.0**-58
    small = np.float32(1 + 2**-12)
    tie_broken = cuda.fma(small, small, np.float32(2.0**-70))
    assert tie_broken == np.nextafter(np.float32(1 + 2**-11), np.float32(2))
    assert cuda.fp16.hfma(np.float16(1 + 2**-10), np.float16(1 + 2**-10), np.float16(-1)) == 2**-9


def test_debug_raises_what_python_raises_for_every_division_by_zero():
    @cuda.jit(debug=True, opt=False)
    def quotient(x, n):
        x[0] = 1 / n if n == 0 else x[1] / x[2]

    for n in (0, 1):
        with pytest.raises(ZeroDivisionError):
            quotient[1, 1](np.array([0, 1.0, 0]), n)
