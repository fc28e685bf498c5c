"""Single instructions with a name of their own: bits, fused multiply-add, half precision."""

import numpy as np
from numba.cuda.simulator.kernelapi import FakeCUDAFp16


def popc(value: int) -> int:
    """How many bits are set."""
    return _bits(value)[0].bit_count()


def clz(value: int) -> int:
    """How many zeros stand before the first set bit."""
    bits, width = _bits(value)
    return width - bits.bit_length()


def ffs(value: int) -> int:
    """The place of the lowest set bit, counted from 1; 0 if none is set."""
    bits, _ = _bits(value)
    return (bits & -bits).bit_length()


def brev(value: int) -> int:
    """The bits in reverse order."""
    bits, width = _bits(value)
    return int(f"{bits:0{width}b}"[::-1], 2)


def fma(a: float, b: float, c: float) -> float:
    """a·b + c, where the product is not rounded."""
    kind = np.result_type(*(each if isinstance(each, np.generic) else float(each) for each in (a, b, c)))
    if kind == np.float32:  # a product of two float32 is exact in float64
        return np.float32(float(a) * float(b) + float(c))
    return a * b + c


def cbrt(value: float) -> float:
    return np.cbrt(value)


def selp(condition: object, yes: object, no: object) -> object:
    """yes where the condition holds, no elsewhere; both are evaluated."""
    return yes if condition else no


class _Fp16(FakeCUDAFp16):
    """Arithmetic in half precision."""

    def hfma(self, a: np.float16, b: np.float16, c: np.float16) -> np.float16:
        """a·b + c, where the product is not rounded."""
        return np.float16(float(a) * float(b) + float(c))

    def hfloor(self, x: np.float16) -> np.float16:
        """Numba's own rounds up."""
        return np.floor(x, dtype=np.float16)


fp16 = _Fp16()


def _bits(value: int) -> tuple[int, int]:
    """The bits as an unsigned number, and how many the value's type has."""
    width = 8 * value.dtype.itemsize if isinstance(value, np.generic) else 64 if abs(int(value)) >> 32 else 32
    return int(value) & (1 << width) - 1, width
