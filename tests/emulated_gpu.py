"""The CUDA C++ kernels on a CPU: compiled for it with emulated_gpu.h in place of their instructions."""

import ctypes
import hashlib
import re
import shutil
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from rnnlab.kernels.persistence.fragments import loaded, stored
from rnnlab.kernels.persistence.shapes import SOURCES

HEADER = Path(__file__).with_name("emulated_gpu.h")
INSTRUCTIONS = (SOURCES / "instructions.cuh").read_text(encoding="utf-8").replace("#pragma once\n", "")
KERNEL = re.compile(r"__global__ void [^;{]*?(\w+)\(([^)]*)\)\s*\{")
FLAGS = "-O1", "-std=c++17", "-shared", "-fPIC", "-w", "-fno-sanitize=undefined"
ENTRY = """
extern "C" int run_{name}(void **a, int first, int second, unsigned blocks, unsigned threads,
                          unsigned cluster, size_t shared, unsigned seed) {{
  static void **arguments; static int whole[2];
  arguments = a, whole[0] = first, whole[1] = second;
  return run(blocks, threads, cluster, shared, seed, [] {{ {name}({inputs}); }});
}}
"""


def compiler():
    """The C++ compiler of this machine, or the one that a wheel brings; None without either."""
    if not sys.platform.startswith("linux"):  # coroutines are made by what Linux's C library has
        return None
    if shutil.which("g++"):
        return ["g++"]
    return [sys.executable, "-m", "ziglang", "c++"] if find_spec("ziglang") else None


@cache
def library(source, options, folder):
    """The kernels of that source, compiled with those constants; folder: where to."""
    assert INSTRUCTIONS in source
    text = source.replace(INSTRUCTIONS, f'#include "{HEADER}"\n')
    for name, parameters in KERNEL.findall(text):
        inputs, numbers = [], 0
        for entry in filter(None, (part.strip() for part in parameters.split(","))):
            kind = re.sub(r"\w+$", "", entry)
            inputs.append(f"({kind})arguments[{len(inputs)}]" if "*" in kind else f"whole[{numbers}]")
            numbers += "*" not in kind
        text += ENTRY.format(name=name, inputs=", ".join(inputs))
    name = hashlib.sha256((text + " ".join(options)).encode()).hexdigest()[:16]
    path = Path(folder) / f"{name}.cpp"
    path.write_text(text, encoding="utf-8")
    done = subprocess.run([*compiler(), *FLAGS, *options, str(path), "-o", str(path.with_suffix(".so"))])
    assert done.returncode == 0
    return ctypes.CDLL(str(path.with_suffix(".so")))


class EmulatedChip:
    """layers.Chip in this computer's memory; `seed` draws whose turn it is, `change` rewrites the kernels."""

    def __init__(self, dtype, folder, seed=0, change=lambda text: text):
        self.dtype, self.folder, self.seed, self.change = dtype, folder, seed, change
        self.stuck = 0  # threads that never ended

    def put(self, array):
        return np.array(array)

    def get(self, array):
        return array.copy()

    def product(self, a, b, out, transposed, adds):
        a, b = (
            loaded(entry, self.dtype).T if t else loaded(entry, self.dtype)
            for entry, t in zip((a, b), transposed, strict=True)
        )
        result = a.astype("float64") @ b + (loaded(out, self.dtype) if adds else 0)
        out[:] = stored(result, self.dtype)

    def launch(self, shape, direction, inputs, T, B):
        where = shape.launch(direction, B)
        kernels = library(self.change(shape.source), shape.options, self.folder)
        pointers = (ctypes.c_void_p * len(inputs))(*(entry.ctypes.data for entry in inputs))
        self.seed += 1
        sizes = where.blocks, where.threads, where.cluster, ctypes.c_size_t(where.shared), self.seed
        self.stuck += getattr(kernels, f"run_persistent_{direction}")(pointers, T, B, *sizes)
