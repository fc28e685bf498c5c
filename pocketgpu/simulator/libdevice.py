"""numba.cuda.libdevice: functions that Python's math or NumPy has under the same name; others are refused."""

import math
from collections.abc import Callable

import numpy as np

from pocketgpu.simulator.arithmetic import GPU_MATH, brev, clz, ffs, fma, popc

OWN = {
    "rsqrt": lambda x: 1 / GPU_MATH["sqrt"](x), "sincos": lambda x: (math.sin(x), math.cos(x)),
    "float2int_rz": np.trunc, "double2int_rz": np.trunc, "fma": fma, "popc": popc, "clz": clz, "ffs": ffs,
    "brev": brev, "max": max, "min": min, "abs": abs, "tgamma": math.gamma,
    "sinpi": lambda x: math.sin(math.pi * x), "cospi": lambda x: math.cos(math.pi * x),
}  # fmt: skip
UFUNCS = {name: function for name, function in vars(np).items() if isinstance(function, np.ufunc)}


def __getattr__(name: str) -> Callable:
    bare = name.removeprefix("fast_")
    for known in (bare, bare.removesuffix("f"))[bare != name :]:  # the fast ones are all of float32
        function = OWN.get(known) or GPU_MATH.get(known) or getattr(math, known, None) or UFUNCS.get(known)
        if callable(function):
            return function if known == name else lambda *values, of=function: of(*map(np.float32, values))
    raise AttributeError(f"the simulator has no libdevice.{name}; write it with functions of math")
