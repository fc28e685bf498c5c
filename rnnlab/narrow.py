"""Weights of 16 and of 8 bits: fewer bytes to read, and a nearer cache to read them from.

    bfloat16    the upper half of a float32, rounded to nearest, ties to even: 8 bits of precision
    int8        a scale a row times whole numbers -127 … 127

Sums of whole numbers are exact, so a product of bytes gives the same result on every processor.
"""

from typing import NamedTuple

import numpy as np

LARGEST = 127  # of a signed byte; -128 stays unused, so that a scale serves both signs


class Int8Weights(NamedTuple):
    """A matrix of weights in 8 bits."""

    values: np.ndarray  # [N,K] int8
    scale: np.ndarray  # [N] float32


def to_bfloat16(array: np.ndarray) -> np.ndarray:
    """float32 numbers in uint16, rounded to nearest, ties to even; a NaN stays one."""
    bits = np.ascontiguousarray(array, "float32").view("uint32")
    last_bit = bits >> 16 & 1  # of the upper half
    rounded = (bits + 0x7FFF + last_bit) >> 16
    nan = np.uint16(0x7FFF)  # rounding could carry one over to 0
    return np.where(np.isnan(array), nan, rounded.astype("uint16"))


def from_bfloat16(array: np.ndarray) -> np.ndarray:
    """float32 numbers from those that `to_bfloat16` made."""
    return (array.astype("uint32") << 16).view("float32")


def quantize(weights: np.ndarray) -> Int8Weights:
    """Weights [N,K] of float32 with a scale a row: its largest magnitude becomes 127.

    One outlier therefore makes all other weights of its row coarse.  A row of zeros has scale 0.
    """
    scale = np.abs(weights).max(axis=1, initial=0) / np.float32(LARGEST)
    divisor = np.where(scale > 0, scale, np.float32(1))
    values = np.rint(weights / divisor[:, None])
    values = np.clip(values, -LARGEST, LARGEST)
    return Int8Weights(values.astype("int8"), scale.astype("float32"))


CONVERSIONS = {"bfloat16": to_bfloat16, "int8": quantize}
