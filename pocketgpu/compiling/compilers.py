"""NVIDIA's compilers from their wheels: C++ to PTX (NVRTC), PTX to machine code (nvJitLink).

None of them needs a driver.
"""

import re
from collections.abc import Iterable, Sequence
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from pocketgpu.remedies import pip_install

# pocketgpu is a distribution of its own, or a part of rnnlab
DISTRIBUTION = "pocketgpu" if any(metadata.distributions(name="pocketgpu")) else "rnnlab"
NEEDED = {"cuda.core": "cuda-core", "cuda.bindings": "cuda-bindings", "cuda.pathfinder": "cuda-pathfinder"}
LIBRARIES = {"nvrtc": "nvidia-cuda-nvrtc", "nvJitLink": "nvidia-nvjitlink", "nvvm": "nvidia-nvvm"}
STANDARD = "-std=c++17"
CPP_CALL = re.compile(r"\.extern\s+\.func[^;]*\b_Z")  # numba-cuda's half precision is written in C++
RUNTIME_CALL = re.compile(r"\.extern\s+\.func.*\n?.*cudaCG")  # grid barriers call the device runtime


class CompilerMissing(ImportError):
    """A compiler of NVIDIA's is not installed; the message says which and what to do."""


class DoesNotCompile(ValueError):
    """The compiler's error log, with the line."""


def missing() -> str:
    """What is missing and how to have it; empty where everything is there."""
    packages = [package for module, package in NEEDED.items() if not _is_there(module)]
    if not packages:
        packages = [package for library, package in LIBRARIES.items() if not _is_loaded(library)]
    if not packages:
        return ""
    listed = ", ".join(packages)
    remedy = pip_install(f"{DISTRIBUTION}[compile]")
    return (
        f"compile_report needs {listed}, not installed here: {remedy} installs them on Linux and Windows "
        "(190 MB); no GPU is needed"
    )


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # its parent is not there either
        return False


def _is_loaded(library: str) -> bool:
    from cuda import pathfinder

    try:
        return bool(pathfinder.load_nvidia_dynamic_lib(library).abs_path)
    except pathfinder.DynamicLibNotFoundError:
        return False


def ptx_of_cpp(source: str, name: str, arch: str, options: Sequence[str] = ()) -> str:
    """PTX of CUDA C++.  Raises DoesNotCompile with the compiler's log."""
    from cuda.bindings import nvrtc

    flags = [f"-arch={arch}", STANDARD, *(f"-I{folder}" for folder in _headers()), *options]
    program = _checked(nvrtc.nvrtcCreateProgram(source.encode(), name.encode(), 0, None, None))
    try:
        (failed,) = nvrtc.nvrtcCompileProgram(program, len(flags), [flag.encode() for flag in flags])
        if failed:
            raise DoesNotCompile(
                _text(program, nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog).strip()
            )
        return _text(program, nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX)
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _checked(answer: tuple) -> object:
    failed, value = answer
    if failed:
        raise RuntimeError(f"NVRTC returns the status {failed!r}")
    return value


def _text(program: object, size: object, read: object) -> str:
    buffer = b" " * _checked(size(program))
    read(program, buffer)
    return buffer.rstrip(b"\0").decode()


def _headers() -> Iterable[str]:
    from cuda import pathfinder

    folders = (pathfinder.find_nvidia_header_directory(name) for name in ("cudart", "cccl"))
    return [folder for folder in folders if folder]


def linked(codes: Sequence, arch: str, registers: int | None = None) -> tuple[bytes, str]:
    """Machine code of PTX (text), LTO-IR (bytes), objects of cuda.core; and what the linker logs."""
    from cuda.core import Linker, LinkerOptions, ObjectCode

    readers = {str: lambda text: ObjectCode.from_ptx(text.encode()), bytes: ObjectCode.from_ltoir}
    parts = [readers[type(code)](code) if type(code) in readers else code for code in codes]
    if any(isinstance(code, str) and RUNTIME_CALL.search(code) for code in codes):
        parts.append(ObjectCode.from_library(str(_device_runtime())))
    options = LinkerOptions(
        arch=arch,
        ptxas_options=["-v"],
        verbose=True,
        max_register_count=registers,
        link_time_optimization=not isinstance(codes[0], str),
    )
    linker = Linker(*parts, options=options)
    code = linker.link("cubin")
    return bytes(code.code), linker.get_info_log()


def _device_runtime() -> Path:
    from cuda import pathfinder

    return Path(pathfinder.find_static_lib("cudadevrt"))
