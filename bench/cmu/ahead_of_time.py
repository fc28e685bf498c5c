"""Halide pipelines compiled ahead of time into a library, and called with NumPy arrays, outputs last.

Halide writes object files, the machine's linker makes one library of them, and ctypes calls it; `load` opens
a library that is there, without compiling and without Halide.
"""

import ctypes
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from bench.halide.kernels import Pipeline
from rnncourse.loop_nests.halide_target import host_target

LINKERS = ("cc", "gcc", "clang")  # asked in this order; any of them finds the system's libraries
Run = Callable[..., object]
ERROR_HANDLER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)
CODES = {"i": 0, "u": 1, "f": 2}  # of halide_type_t


def ahead_of_time(pipelines: Mapping[str, Pipeline], library: Path) -> dict[str, Run]:
    """Every pipeline as a function of the library, which is made.  Raises OSError where nothing can link."""
    import halide as hl

    linker = next(filter(None, map(shutil.which, LINKERS)), None)
    if linker is None:
        raise OSError(
            f"no linker ({', '.join(LINKERS)}) is installed: Halide compiles ahead of time into object files,"
            " and only a linker makes a library of them; compile just in time instead"
        )
    library.parent.mkdir(parents=True, exist_ok=True)
    target = host_target().with_feature(hl.TargetFeature.NoRuntime)
    objects = [library.with_name(f"{library.stem}_{name}.o") for name in pipelines]
    for (name, pipeline), path in zip(pipelines.items(), objects, strict=True):
        pipeline.func.compile_to_object(str(path), pipeline.arguments, name, target)
    runtime = library.with_name(f"{library.stem}_runtime.o")  # threads and errors, once for all
    hl.compile_standalone_runtime(str(runtime), host_target())
    _link(linker, [*objects, runtime], library)
    return load(library, pipelines)


def load(library: Path, names: Mapping[str, object]) -> dict[str, Run]:
    """Functions of a library that is there."""
    opened = ctypes.CDLL(str(library))
    messages = []
    handler = ERROR_HANDLER(lambda context, message: messages.append(message.decode()))
    opened.halide_set_error_handler(handler)  # the one in place ends the process
    return {name: _callable(getattr(opened, name), messages, handler) for name in names}


def _link(linker: str, objects: list[Path], library: Path) -> None:
    command = [linker, "-shared", "-o", str(library), *map(str, objects), "-lpthread", "-lm"]
    command += ["-ldl"] if sys.platform == "linux" else []
    done = subprocess.run(command, capture_output=True, text=True)
    for path in objects:
        path.unlink()
    if done.returncode:
        raise OSError(f"{linker} could not make {library.name}: {done.stderr.strip()}")


class _Dimension(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int32) for name in ("min", "extent", "stride", "flags")]


class _Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Buffer(ctypes.Structure):
    """halide_buffer_t of HalideRuntime.h."""

    _fields_ = [
        ("device", ctypes.c_uint64),
        ("device_interface", ctypes.c_void_p),
        ("host", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("type", _Type),
        ("dimensions", ctypes.c_int32),
        ("dim", ctypes.POINTER(_Dimension)),
        ("padding", ctypes.c_void_p),
    ]


def _callable(function, messages: list[str], handler) -> Run:
    def run(*arrays: np.ndarray) -> None:
        buffers = [_buffer(array) for array in arrays]
        if function(*(ctypes.byref(buffer) for buffer in buffers)):
            raise ValueError(f"{function.__name__}: {messages.pop().strip()}")

    run.handler = handler  # lives as long as the library may call it
    return run


def _buffer(array: np.ndarray) -> _Buffer:
    """A view of the array: Halide counts dimensions from the fastest, NumPy from the slowest."""
    order = range(array.ndim)[::-1]
    size = array.itemsize
    dimensions = [_Dimension(0, array.shape[d], array.strides[d] // size, 0) for d in order]
    if not array.size:
        dimensions[0].stride = 1  # an empty array's strides are 0, and mean nothing
    kind = _Type(CODES[array.dtype.kind], 8 * size, 1)
    shape = (_Dimension * array.ndim)(*dimensions)
    return _Buffer(0, None, array.ctypes.data, 0, kind, array.ndim, shape, None)
