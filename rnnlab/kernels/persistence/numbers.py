"""Numbers as tensor cores take them: two of 16 bits in a word, or float32 of which they see TF32.

bfloat16 has no type in NumPy: it lies in uint16, the upper half of the float32 that it stands for.
"""

import numpy as np

PRECISIONS = {"bfloat16": 0, "float16": 1, "tf32": 2}  # as the kernels' NUMBER
ITEMSIZE = {"bfloat16": 2, "float16": 2, "tf32": 4}
STORED = {"bfloat16": np.uint16, "float16": np.float16, "tf32": np.float32}


def stored(array: np.ndarray, precision: str) -> np.ndarray:
    """The array rounded to nearest, ties to even, as it lies in memory; float32 stays as it is for tf32."""
    array = np.ascontiguousarray(array, "float32")
    if precision != "bfloat16":
        return array.astype(STORED[precision])
    bits = array.view("uint32")
    rounded = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("uint16")
    return np.where(np.isnan(array), np.uint16(0x7FFF), rounded)  # rounding could carry a NaN over to 0


def loaded(array: np.ndarray, precision: str) -> np.ndarray:
    """What was stored, in float32."""
    if precision != "bfloat16":
        return array.astype("float32")
    return (array.astype("uint32") << 16).view("float32")


def factors(array: np.ndarray, precision: str) -> np.ndarray:
    """[…,K] numbers as words […,K·itemsize/4] of a product's factor; float32 rounded to TF32."""
    if precision != "tf32":
        return stored(array, precision).view("uint32")
    bits = np.ascontiguousarray(array, "float32").view("uint32")
    return (bits + 0x1000) & np.uint32(0xFFFFE000)
