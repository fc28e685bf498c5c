"""Types of numbers under Numba's names, for signatures, dtypes and conversions; vectors of four numbers.

They need no Numba.  A signature says nothing here that the arguments of a launch do not say better.
"""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from pocketgpu.simulator.arithmetic import INTEGERS

NAMES = (
    *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
OF_C = {  # the names of vectors in CUDA C++
    "char": np.byte, "short": np.short, "int": np.intc, "long": np.int_, "longlong": np.longlong,
    "uchar": np.ubyte, "ushort": np.ushort, "uint": np.uintc, "ulong": np.uint, "ulonglong": np.ulonglong,
    "float": np.single, "double": np.double,
}  # fmt: skip


class Type:
    """The type of a number: a dtype, a conversion, float32[:, :] and float32(float32) in signatures."""

    def __init__(self, name: str, dtype: object = None):
        self.name = name
        self.dtype = None if dtype is None else np.dtype(dtype)

    def __call__(self, *values: object) -> object:
        has_types = any(isinstance(value, Type | TypeOfArray) for value in values)
        if self.dtype is None or has_types:
            return TypeOfFunction(self, values)
        if self.dtype.kind == "b":
            return bool(*values)
        kind = self.dtype.type
        convert = INTEGERS.get(id(kind), kind)
        return convert(*values)

    def __getitem__(self, index: object) -> "TypeOfArray":
        return TypeOfArray(self, index)

    def __repr__(self) -> str:
        return self.name


class TypeOfArray:
    """float32[:, :]"""

    def __init__(self, of: Type, index: object):
        self.dtype = of
        self.ndim = len(index) if isinstance(index, tuple) else 1


@dataclass(frozen=True)
class TypeOfFunction:
    """float32(float32, int32[:])"""

    return_type: Type
    args: tuple


types = SimpleNamespace(
    **{name: Type(name, name) for name in NAMES},
    boolean=Type("bool", np.bool_),
    intp=Type("int64", np.int64),
    uintp=Type("uint64", np.uint64),
    void=Type("none"),
)
types.bool_ = types.boolean
types.none = types.void


def type_of_dtype(dtype: object) -> Type:
    """The type of a NumPy dtype."""
    return Type(str(np.dtype(dtype)), dtype)


class Vector:
    """Up to four numbers, x to w, made of numbers and of other vectors."""

    size = 0

    def __init__(self, *parts: object):
        numbers = []
        for part in parts:
            if isinstance(part, Vector):
                numbers += vars(part).values()
            else:
                numbers.append(part)
        if len(numbers) != self.size:
            name = type(self).__name__
            raise TypeError(f"{name} expects {self.size} elements, got {len(numbers)}")
        vars(self).update(zip("xyzw", numbers, strict=False))


def _vectors() -> dict[str, type[Vector]]:
    """float32x4 and float4, and all others, by name."""
    scalars = [name for name in NAMES if not name.startswith("complex") and name != "float16"]
    kinds = {}
    for size in range(1, 5):
        for scalar in scalars:
            name = f"{scalar}x{size}"
            kinds[name] = type(name, (Vector,), {"size": size})
        for alias, dtype in OF_C.items():
            scalar = np.dtype(dtype).name
            kinds[f"{alias}{size}"] = kinds[f"{scalar}x{size}"]
    return kinds


VECTORS = _vectors()
