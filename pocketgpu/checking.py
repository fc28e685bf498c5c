"""A program that imports numba.cuda, unchanged, in the simulator; what its launches did wrong is collected.

`python -m pocketgpu` and the plugin of pytest stand on this.  Four tools have the names of those of NVIDIA's
compute-sanitizer: https://docs.nvidia.com/compute-sanitizer
"""

import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType

from pocketgpu import imports
from pocketgpu.quantities import quantity

COUNTS = "counts"  # a further tool, which finds no faults: sectors, bank conflicts and barriers of each line
TOOLS = {  # name -> kinds of findings (simulator/threads.py)
    "race": ("race", "missing_fence", "weak_poll"),
    "init": ("uninitialised",),
    "mem": ("out_of_bounds", "misaligned", "limit"),
    "sync": ("barrier_divergence", "deadlock", "undefined_lane", "endless"),
    "code": ("does_not_compile", "whole_array", "float64"),
}


@dataclass
class Fault:
    """A finding that one or more launches of a kernel had at that line."""

    file: str
    kernel: str
    line: int
    finding: object  # simulator.threads.Finding of the first of them
    launches: int = 1

    def __str__(self) -> str:
        times = f" ({quantity(self.launches, 'launch')})" if self.launches > 1 else ""
        return f"{self.file}:{self.line}: {self.kernel}: {self.finding}{times}"

    def to_json(self) -> dict:
        """The fields as JSON has them."""
        finding = self.finding
        tool = next(name for name, kinds in TOOLS.items() if finding.kind in kinds)
        where = {name: getattr(finding, name) for name in ("block", "thread", "other_block", "other_thread")}
        return {
            "file": self.file, "line": self.line, "kernel": self.kernel, "tool": tool, "kind": finding.kind,
            "message": finding.message, **where, "other_line": finding.other_line, "launches": self.launches,
        }  # fmt: skip


class Collector:
    """Counts launches, and keeps what these tools find, once for each kernel, kind and line."""

    def __init__(self, tools: Iterable[str] = TOOLS, with_reports: bool = False):
        self.kinds = {kind for tool in tools for kind in TOOLS.get(tool, ())}
        self.launches = 0
        self.kernels = set()
        self.reports = {} if with_reports else None  # {code of a kernel: report of its first launch}
        self._faults = {}

    def __call__(self, kernel: Callable, findings: tuple, launches: int = 1) -> None:
        code = kernel.__code__
        self.launches += launches
        self.kernels.add(code)
        for finding in findings:
            line = finding.line or code.co_firstlineno
            key = code, finding.kind, line, finding.other_line
            if key in self._faults:
                self._faults[key].launches += 1
            elif finding.kind in self.kinds:
                self._faults[key] = Fault(_file_of(line, code.co_filename), kernel.__name__, line, finding)

    def look(self, watch: object) -> None:
        """Keep the report of a kernel's first launch, where reports are wanted."""
        code = watch.kernel.__code__
        if self.reports is not None and code not in self.reports and watch.trace is not None:
            self.reports[code] = import_module("pocketgpu.simulator.report").report(watch, with_flops=False)

    @property
    def faults(self) -> list[Fault]:
        """In the order in which they were found."""
        return [*self._faults.values()]

    def take(self) -> list[Fault]:
        """What has been found since the last call."""
        faults = self.faults
        self._faults.clear()
        return faults

    def launched(self) -> str:
        """How much ran: 3 launches of 1 kernel."""
        return f"{quantity(self.launches, 'launch')} of {quantity(len(self.kernels), 'kernel')}"

    def summary(self) -> str:
        """How much ran, and how many faults there are."""
        return f"{self.launched()} simulated, {quantity(len(self._faults), 'finding')}"


def _file_of(line: int, file: str) -> str:
    """The line's file, or else that one, as a person names it: from the working folder, where it is below."""
    path = Path(file := getattr(line, "file", "") or file)
    return path.relative_to(Path.cwd()).as_posix() if path.is_relative_to(Path.cwd()) else file


def stand_in(collector: Collector, **changes: object) -> None:
    """Let `numba.cuda` be the simulator from now on, in this process; launches report to the collector.

    changes: of simulator.settings.Settings, such as the device.  Without Numba a stand-in has its number
    types, and decorators that leave functions on the host as they are.
    Raises RuntimeError where a GPU's numba.cuda is in use already.
    """
    if holder := _first_holder():
        raise RuntimeError(
            f"{holder} imported numba.cuda before pocketgpu could take its place, so its kernels would run "
            "unchecked: start pocketgpu first, as in `python -m pocketgpu -m pytest`"
        )
    os.environ["RNNLAB_CUDA"] = "simulator"
    ours = import_module("pocketgpu.cuda")
    if not ours.is_simulated:
        raise RuntimeError("numba.cuda with its GPU is imported already: let pocketgpu come before it")
    settings = import_module("pocketgpu.simulator.settings")
    settings.set_for_process(
        collect=collector, **{name: value for name, value in changes.items() if value is not None}
    )
    imports.take_over(ours)
    sys.addaudithook(_keep_text)


def _keep_text(event: str, details: tuple) -> None:
    """Keep the text of a program's exec, where kernels made by it have their lines (simulator/source.py)."""
    text, file = details if event == "compile" else (None, None)
    if isinstance(text, bytes):
        text = text.decode(errors="replace")
    if isinstance(text, str) and "def " in text and not os.path.isfile(file or ""):
        import_module("pocketgpu.simulator.source").remember_text(text)


def _first_holder() -> str:
    """Name of a program's module that holds Numba's own numba.cuda or a part of it; empty without one."""
    theirs = sys.modules.get("numba.cuda")
    if theirs is None or theirs is sys.modules.get("pocketgpu.cuda"):
        return ""
    for name, module in [*sys.modules.items()]:
        is_ours = name.partition(".")[0] in ("numba", "numba_cuda", "pocketgpu")
        if not is_ours and isinstance(module, ModuleType):
            if any(value is theirs or _is_of_numba_cuda(value) for value in [*vars(module).values()]):
                return name
    return ""


def _is_of_numba_cuda(value: object) -> bool:
    """Does numba.cuda define the value, or its type?"""
    origins = type(value).__module__, getattr(value, "__module__", "")
    return any(isinstance(origin, str) and origin.startswith("numba.cuda") for origin in origins)
