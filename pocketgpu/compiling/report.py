"""Result of NVIDIA's compilers for a kernel: PTX, machine code, registers, spills, stack; no GPU is needed.

    print(compile_report(kernel, (float32[::1], float32[::1])))
    print(compile_report("kernels/persistence/persistent_cluster.cu", arch="sm_90"))

A spill is a value that found no register: it goes to local memory, which is global memory, and back.
"""

import ctypes
import html
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pocketgpu.compiling import compilers

ARCHITECTURES = ("sm_75", "sm_80", "sm_90")  # T4, A100, H200
RESERVED_SHARED = 1024  # bytes a block that the system takes from sm_90 on; the linker counts them
COLUMNS = ("registers", "spill_stores", "spill_loads", "stack", "shared", "constant")


@dataclass(frozen=True)
class Compiled:
    """One kernel for one architecture; sizes in bytes, a thread's or a block's."""

    kernel: str
    arch: str
    registers: int  # a thread
    spill_stores: int  # a thread
    spill_loads: int
    stack: int  # a thread
    shared: int  # a block, static
    constant: int  # arguments of the launch among them
    ptx: str = field(repr=False, default="")  # of everything compiled with it
    cubin: bytes = field(repr=False, default=b"")


@dataclass(frozen=True)
class CompileReport:
    """Kernels in the order of architecture, then name."""

    kernels: tuple[Compiled, ...]

    def __getitem__(self, key: str | tuple[str, str]) -> Compiled:
        """Row of an architecture, or of a kernel and an architecture."""
        *name, arch = (key,) if isinstance(key, str) else key
        matches = [entry for entry in self.kernels if entry.arch == arch and name in ([], [entry.kernel])]
        if len(matches) != 1:
            known = ", ".join(f"{entry.kernel} {entry.arch}" for entry in self.kernels)
            raise KeyError(f"{key!r} names {len(matches)} of: {known}")
        return matches[0]

    def __iter__(self) -> Iterator[Compiled]:
        return iter(self.kernels)

    def __str__(self) -> str:
        width = max(len(entry.kernel) for entry in self.kernels)
        head = f"{'kernel':<{width}} {'arch':>7}" + "".join(f"{_heading(name):>14}" for name in COLUMNS)
        rows = (
            f"{entry.kernel:<{width}} {entry.arch:>7}"
            + "".join(f"{getattr(entry, name):>14}" for name in COLUMNS)
            for entry in self.kernels
        )
        return "\n".join([head, *rows])

    def _repr_html_(self) -> str:
        cell = '<td style="text-align:right">{}</td>'.format
        heads = "".join(f'<th scope="col">{_heading(name)}</th>' for name in ("kernel", "arch", *COLUMNS))
        rows = "".join(
            f'<tr><td style="text-align:left">{html.escape(entry.kernel)}</td>{cell(entry.arch)}'
            + "".join(cell(getattr(entry, name)) for name in COLUMNS)
            + "</tr>"
            for entry in self.kernels
        )
        note = "registers a thread; spills, stack, shared and constant memory in bytes"
        return f"<table><caption>{note}</caption><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _heading(name: str) -> str:
    return name.replace("_", " ")


def compile_report(
    kernel: Callable | str | Path,
    signature: Sequence | None = None,
    arch: str | Sequence[str] = ARCHITECTURES,
    *,
    options: Sequence[str] = (),
    fastmath: bool | None = None,
    registers: int | None = None,
) -> CompileReport:
    """Compile a kernel, a .cu file or CUDA C++ text for one or more architectures.

    A kernel in Python needs its signature: numba types or example arguments.  `options` go to NVRTC, such as
    "-DH_=512"; `registers` is the most a thread may have.  Options of a kernel's cuda.jit (fastmath,
    max_registers, launch_bounds, opt) hold where the arguments here say nothing else.  Raises
    CompilerMissing, which names the remedy.
    """
    if problem := compilers.missing():
        raise compilers.CompilerMissing(problem)
    of_kernel = _options_of(kernel)
    fastmath = bool(of_kernel.get("fastmath")) if fastmath is None else fastmath
    registers = of_kernel.get("max_registers") if registers is None else registers
    kernels = []
    for architecture in (arch,) if isinstance(arch, str) else arch:
        if callable(kernel):
            ptx, codes = _codes_of_kernel(kernel, signature, architecture, fastmath, of_kernel)
        else:
            fast = ("-use_fast_math",) if fastmath else ()
            ptx = compilers.ptx_of_cpp(*_text_and_name(kernel), architecture, (*options, *fast))
            codes = [ptx]
        name = getattr(kernel, "__name__", None)
        kernels += _read(*compilers.linked(codes, architecture, registers), ptx, architecture, name)
    return CompileReport(tuple(kernels))


def _text_and_name(source: str | Path) -> tuple[str, str]:
    if isinstance(source, str) and re.search(r"\s", source):
        return source, "text.cu"
    return Path(source).read_text(encoding="utf-8"), Path(source).name


def _options_of(kernel: Callable | str | Path) -> dict:
    """The options of cuda.jit with which the simulator's kernel, or Numba's, was made."""
    options = getattr(kernel, "options", None) or getattr(kernel, "targetoptions", None)
    return options if isinstance(options, dict) else {}


def _codes_of_kernel(
    kernel: Callable, signature: Sequence | None, arch: str, fastmath: bool, options: dict
) -> tuple[str, list]:
    """The kernel's PTX, and what is linked: the PTX, or LTO-IR where it calls functions of CUDA C++."""
    from numba import cuda as numba_cuda

    from pocketgpu.compiling.target import IS_NUMBA_CUDA
    from pocketgpu.compiling.typing import for_gpu, type_of
    from pocketgpu.compiling.without_gpu import without_gpu

    if signature is None:
        raise ValueError(f"{kernel.__name__} needs a signature: numba types, or arguments as for a launch")
    major, minor = divmod(int(re.sub(r"\D", "", arch)), 10)
    choices = {"cc": (major, minor), "fastmath": fastmath, "opt": bool(options.get("opt", True))}
    bounds = options.get("launch_bounds")
    with without_gpu((major, minor)):
        kinds = tuple(map(type_of, signature))
        function = for_gpu(kernel)
        ptx = _with_launch_bounds(numba_cuda.compile_ptx(function, kinds, **choices)[0], bounds)
        if not (IS_NUMBA_CUDA and compilers.CPP_CALL.search(ptx)):
            return ptx, [ptx]
        more = {"abi": "numba", "device": False, "launch_bounds": bounds}
        codes = numba_cuda.compile_all(function, kinds, **choices, **more, output="ltoir")[0]
    return ptx, codes


DIRECTIVES = ("maxntid", "minnctapersm", "maxclusterrank")  # what PTX calls the members of launch_bounds
HEAD_OF_KERNEL = re.compile(r"^\.visible \.entry [\w$]+\(.*?^\)\n", re.MULTILINE | re.DOTALL)


def _with_launch_bounds(ptx: str, bounds: int | tuple[int, ...] | None) -> str:
    """The PTX, in which the kernel promises its largest block, and the blocks of a multiprocessor."""
    numbers = bounds if isinstance(bounds, tuple) else (bounds,)
    pairs = zip(DIRECTIVES, numbers, strict=False)
    promises = "".join(f".{word} {number}\n" for word, number in pairs if number is not None)
    return HEAD_OF_KERNEL.sub(lambda match: match[0] + promises, ptx)


def _read(cubin: bytes, log: str, ptx: str, arch: str, name: str | None) -> list[Compiled]:
    """Rows from the log: ptxas reports each function first, then the linker, with names in quotes."""
    compiled = dict(re.findall(r"Function properties for ([\w$]+)\n(.*\n.*Used.*)", log))
    link = dict(re.findall(r"Function properties for '([\w$]+)':\n(.*)", log))
    if link:
        compiled = {symbol: text for symbol, text in compiled.items() if symbol in link}
    # of LTO-IR the linker says no more than ptxas
    rows = [
        _row(symbol, link.get(symbol, text), text, ptx, cubin, arch, name)
        for symbol, text in compiled.items()
    ]
    return sorted(rows, key=lambda row: row.kernel)


def _row(mangled: str, link: str, text: str, ptx: str, cubin: bytes, arch: str, name: str | None) -> Compiled:
    def number(pattern, where):
        return int((re.search(rf"(\d+) {pattern}", where) or [0, 0])[1])

    shared = number("bytes smem", link)
    if shared and int(re.sub(r"\D", "", arch)) >= 90:
        shared -= RESERVED_SHARED
    return Compiled(
        name or _readable(mangled),
        arch,
        int(re.search(r"[Uu]sed (\d+) registers", link)[1]),
        number("bytes spill stores", text),
        number("bytes spill loads", text),
        number("bytes stack frame", text),
        shared,
        sum(map(int, re.findall(r"(\d+) bytes cmem", link))),
        ptx,
        cubin,
    )


def _readable(mangled: str) -> str:
    """A C++ name as it was written, without its arguments, where the C++ library is there to say."""
    if not mangled.startswith("_Z"):
        return mangled
    try:
        demangle = ctypes.CDLL("libstdc++.so.6").__getattr__("__cxa_demangle")
    except (OSError, AttributeError):
        return mangled
    demangle.restype = ctypes.c_char_p
    written = demangle(mangled.encode(), None, None, None)
    return re.sub(r"^void |\(.*\)$", "", written.decode()) if written else mangled
