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
HEADINGS = [name.replace("_", " ") for name in COLUMNS]


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

    @property
    def numbers(self) -> list[int]:
        """The sizes, in the order of COLUMNS."""
        return [getattr(self, name) for name in COLUMNS]


@dataclass(frozen=True)
class CompileReport:
    """Kernels in the order of architecture, then name."""

    kernels: tuple[Compiled, ...]

    def __getitem__(self, key: str | tuple[str, str]) -> Compiled:
        """Row of an architecture, or of a kernel and an architecture."""
        *name, arch = (key,) if isinstance(key, str) else key
        of_arch = [entry for entry in self.kernels if entry.arch == arch]
        matches = [entry for entry in of_arch if name in ([], [entry.kernel])]
        if len(matches) != 1:
            known = ", ".join(f"{entry.kernel} {entry.arch}" for entry in self.kernels)
            raise KeyError(f"{key!r} names {len(matches)} of: {known}")
        return matches[0]

    def __iter__(self) -> Iterator[Compiled]:
        return iter(self.kernels)

    def __str__(self) -> str:
        width = max(len(entry.kernel) for entry in self.kernels)
        headings = "".join(f"{heading:>14}" for heading in HEADINGS)
        lines = [f"{'kernel':<{width}} {'arch':>7}{headings}"]
        for entry in self.kernels:
            numbers = "".join(f"{number:>14}" for number in entry.numbers)
            lines.append(f"{entry.kernel:<{width}} {entry.arch:>7}{numbers}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        cell = '<td style="text-align:right">{}</td>'.format
        headings = "".join(f'<th scope="col">{heading}</th>' for heading in ("kernel", "arch", *HEADINGS))
        rows = []
        for entry in self.kernels:
            kernel = f'<td style="text-align:left">{html.escape(entry.kernel)}</td>'
            cells = "".join(map(cell, (entry.arch, *entry.numbers)))
            rows.append(f"<tr>{kernel}{cells}</tr>")
        body = "".join(rows)
        note = "registers a thread; spills, stack, shared and constant memory in bytes"
        return (
            f"<table><caption>{note}</caption><thead><tr>{headings}</tr></thead><tbody>{body}</tbody></table>"
        )


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
    name = getattr(kernel, "__name__", None)
    if fastmath is None:
        fastmath = bool(of_kernel.get("fastmath"))
    if registers is None:
        registers = of_kernel.get("max_registers")
    if fastmath:
        options = (*options, "-use_fast_math")
    architectures = (arch,) if isinstance(arch, str) else arch
    kernels = []
    for architecture in architectures:
        if callable(kernel):
            ptx, codes = _codes_of_kernel(kernel, signature, architecture, fastmath, of_kernel)
        else:
            text, file = _text_and_name(kernel)
            ptx = compilers.ptx_of_cpp(text, file, architecture, options)
            codes = [ptx]
        cubin, log = compilers.linked(codes, architecture, registers)
        kernels += _read(cubin, log, ptx, architecture, name)
    return CompileReport(tuple(kernels))


def _text_and_name(source: str | Path) -> tuple[str, str]:
    is_text = isinstance(source, str) and re.search(r"\s", source)
    if is_text:
        return source, "text.cu"
    path = Path(source)
    return path.read_text(encoding="utf-8"), path.name


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
    capability = divmod(_number_of(arch), 10)
    choices = {"cc": capability, "fastmath": fastmath, "opt": bool(options.get("opt", True))}
    bounds = options.get("launch_bounds")
    with without_gpu(capability):
        kinds = tuple(map(type_of, signature))
        function = for_gpu(kernel)
        ptx, _ = numba_cuda.compile_ptx(function, kinds, **choices)
        ptx = _with_launch_bounds(ptx, bounds)
        calls_cpp = IS_NUMBA_CUDA and compilers.CPP_CALL.search(ptx)
        if not calls_cpp:
            return ptx, [ptx]
        more = {"abi": "numba", "device": False, "launch_bounds": bounds}
        codes, _ = numba_cuda.compile_all(function, kinds, **choices, **more, output="ltoir")
    return ptx, codes


def _number_of(arch: str) -> int:
    """90 of sm_90."""
    return int(re.sub(r"\D", "", arch))


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
    rows = []
    for symbol, text in compiled.items():
        linked = link.get(symbol, text)  # of LTO-IR the linker says no more than ptxas
        kernel = name or _readable(symbol)
        rows.append(Compiled(kernel, arch, **_sizes(linked, text, arch), ptx=ptx, cubin=cubin))
    return sorted(rows, key=lambda row: row.kernel)


def _sizes(linked: str, compiled: str, arch: str) -> dict[str, int]:
    """The numbers of a row, from what the linker and what ptxas says of the function."""

    def number(pattern: str, text: str) -> int:
        match = re.search(rf"(\d+) {pattern}", text)
        return int(match[1]) if match else 0

    shared = number("bytes smem", linked)
    if shared and _number_of(arch) >= 90:
        shared -= RESERVED_SHARED
    constant_banks = re.findall(r"(\d+) bytes cmem", linked)
    return {
        "registers": int(re.search(r"[Uu]sed (\d+) registers", linked)[1]),
        "spill_stores": number("bytes spill stores", compiled),
        "spill_loads": number("bytes spill loads", compiled),
        "stack": number("bytes stack frame", compiled),
        "shared": shared,
        "constant": sum(map(int, constant_banks)),
    }


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
    if not written:
        return mangled
    return re.sub(r"^void |\(.*\)$", "", written.decode())
