"""Weights of 16 and of 8 bits: fewer bytes to read, and a nearer cache to read them from.

    bfloat16    the upper half of a float32, rounded to nearest, ties to even: 8 bits of precision
    int8        a scale a row times whole numbers -127 … 127

Sums of whole numbers are exact, so a product of bytes gives the same result on every processor.
"""

from typing import NamedTuple

import numpy as np

LARGEST = 127  # of a signed byte; -128 stays unused, so that a scale serves both signs
BLOCK = 64  # bytes of a vector of AVX-512: rows of weights and inputs are padded to a multiple


class Bfloat16Weights(NamedTuple):
    """A matrix of weights in 16 bits."""

    values: np.ndarray  # [N, (K+1)//2] uint32: an even column below the odd one that follows it


class Int8Weights(NamedTuple):
    """A matrix of weights in 8 bits."""

    values: np.ndarray  # [N, K rounded up to a multiple of BLOCK] int8, with zeros
    scale: np.ndarray  # [N] float32
    total: np.ndarray  # [N] int32, the sum of a row's values


def to_bfloat16(array: np.ndarray) -> np.ndarray:
    """float32 numbers in uint16, rounded to nearest, ties to even; a NaN stays one."""
    bits = np.ascontiguousarray(array, "float32").view("uint32")
    rounded = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("uint16")
    return np.where(np.isnan(array), np.uint16(0x7FFF), rounded)  # rounding could carry a NaN over to 0


def from_bfloat16(array: np.ndarray) -> np.ndarray:
    """float32 numbers from those that `to_bfloat16` made."""
    return (array.astype("uint32") << 16).view("float32")


def halve(weights: np.ndarray) -> Bfloat16Weights:
    """Weights [N,K] of float32, rounded to bfloat16."""
    N, K = weights.shape
    columns = np.zeros((N, K + K % 2), np.uint16)
    columns[:, :K] = to_bfloat16(weights)
    return Bfloat16Weights(columns[:, 0::2] | columns[:, 1::2].astype(np.uint32) << 16)


def quantize(weights: np.ndarray) -> Int8Weights:
    """Weights [N,K] of float32 with a scale a row: its largest magnitude becomes 127.

    One outlier therefore makes all other weights of its row coarse.  A row of zeros has scale 0.
    """
    N, K = weights.shape
    scale = np.abs(weights).max(axis=1, initial=0) / np.float32(LARGEST)
    divisor = np.where(scale > 0, scale, np.float32(1))
    values = np.zeros((N, padded(K)), np.int8)
    values[:, :K] = np.clip(np.rint(weights / divisor[:, None]), -LARGEST, LARGEST)
    return Int8Weights(values, scale.astype(np.float32), values.sum(axis=1, dtype=np.int32))


def padded(K: int) -> int:
    """Bytes of a row of K weights, a multiple of BLOCK."""
    return -(-K // BLOCK) * BLOCK


def widen(weights: Bfloat16Weights | Int8Weights, columns: int) -> np.ndarray:
    """The float32 numbers [N,K] that the narrow weights stand for."""
    if isinstance(weights, Bfloat16Weights):
        pairs = np.stack([weights.values & 0xFFFF, weights.values >> 16], axis=-1)
        return from_bfloat16(pairs.reshape(len(pairs), -1)[:, :columns])
    return weights.values[:, :columns] * weights.scale[:, None]


CONVERSIONS = {"bfloat16": halve, "int8": quantize}
