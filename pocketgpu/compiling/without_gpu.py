"""Stand-ins for the driver and for NVVM, with which Numba's CUDA compiler runs where there is no GPU.

NVVM itself, which turns Numba's output into PTX, is taken from NVIDIA's wheels where they are installed.
"""

import ctypes
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

from numba.cuda import codegen, compiler, dispatcher
from numba.cuda.cudadrv import libs, nvvm

from pocketgpu.compiling.cache_hints import missing_functions
from pocketgpu.compiling.target import IS_NUMBA_CUDA, NumbaWarning

IR_VERSION = (2, 0, 3, 2)  # NVVM IR and its debug information, as libNVVM 12 and 13 say
DEVICE = "get_current_device"  # the function by which compiler and dispatcher get a device


class Layout:
    """The part of NVVM that Numba needs before it compiles: types only."""

    data_layout = getattr(nvvm, "_datalayout", None) or getattr(nvvm, "_datalayout_i128", "")

    get_ir_version = staticmethod(lambda: IR_VERSION)


@contextmanager
def without_gpu(capability: tuple[int, int]) -> Iterator[None]:
    """Inside, numba.cuda compiles for a device of that compute capability; no driver is used."""
    device = SimpleNamespace(compute_capability=capability)
    devices = SimpleNamespace(get_context=lambda: SimpleNamespace(device=device))
    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        stack.enter_context(missing_functions())
        stack.enter_context(_nvvm())
        stack.enter_context(patch.object(codegen, "devices", devices))
        for module in (compiler, dispatcher):
            if hasattr(module, DEVICE):
                stack.enter_context(patch.object(module, DEVICE, lambda: device))
        warnings.simplefilter("ignore", NumbaWarning)
        yield


@contextmanager
def _nvvm() -> Iterator[None]:
    """NVVM as Numba finds it, or from the wheels, or its stand-in."""
    with ExitStack() as stack:
        stack.enter_context(patch.object(nvvm, "get_libdevice", libdevice))
        stack.enter_context(patch.object(nvvm, "open_libdevice", lambda: Path(libdevice()).read_bytes()))
        if not IS_NUMBA_CUDA:  # which loads NVVM through cuda.bindings
            stack.enter_context(patch.object(nvvm, "open_cudalib", _open))
        if not _has_nvvm():
            stack.enter_context(patch.object(nvvm, "NVVM", Layout))
        yield


def _has_nvvm() -> bool:
    """Can NVVM be loaded?  numba-cuda's own answer is an error of cuda.pathfinder where it cannot."""
    try:
        return nvvm.is_available()
    except RuntimeError:  # pathfinder's errors are of this kind
        return False


def _open(name: str) -> ctypes.CDLL:
    try:
        from cuda import pathfinder
    except ImportError:
        return libs.open_cudalib(name)
    try:
        return ctypes.CDLL(pathfinder.load_nvidia_dynamic_lib(name).abs_path)
    except pathfinder.DynamicLibNotFoundError:
        return libs.open_cudalib(name)


def libdevice() -> str | None:
    """Path of NVIDIA's library of mathematical functions, None where there is none."""
    try:
        from cuda import pathfinder
    except ImportError:
        return libs.get_libdevice()
    try:
        return pathfinder.find_bitcode_lib("device")
    except pathfinder.BitcodeLibNotFoundError:
        return libs.get_libdevice()
