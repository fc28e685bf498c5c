"""cuda.jit and what it makes of a function: a kernel, to be launched on a grid, that tells what it saw."""

import functools
import gc
import inspect
import random
import re
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module

import numpy as np
from numba.core.sigutils import is_signature
from numba.cuda.errors import normalize_kernel_dimensions

from rnnlab.simulator import clock
from rnnlab.simulator.arguments import Arguments
from rnnlab.simulator.device import limits
from rnnlab.simulator.events import Trace
from rnnlab.simulator.faults import name_of, spinning
from rnnlab.simulator.findings import Finding, Findings
from rnnlab.simulator.mathematics import math_of_gpu
from rnnlab.simulator.places import line_of
from rnnlab.simulator.scheduler import Launch
from rnnlab.simulator.settings import Settings, current
from rnnlab.simulator.threads import Stopped, machine
from rnnlab.simulator.watchdog import Spinning, Watchdog

NUMPY_OUT_OF_BOUNDS = re.compile("out of bounds for axis|too many indices")
THREADS_PER_BLOCK = 128  # of forall, where nobody says


@dataclass(frozen=True)
class Watch:
    """Everything a watched launch wrote down; report.py makes sense of it."""

    kernel: Callable
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    trace: Trace | None  # None without checks
    stopped: tuple[Finding, ...] = ()  # faults that ended the launch
    arguments: tuple = ()  # as they were passed


def jit(function_or_signature: object = None, device: bool = False, **options):
    """numba.cuda.jit: a kernel, or with device=True a function for kernels.  Options only matter to a GPU."""
    if options.get("link"):
        raise NotImplementedError("link: the simulator runs Python only; compile_report can look at CUDA C++")
    make = _device_function if device else functools.partial(Kernel, options=Options.among(options))
    if function_or_signature is None or isinstance(function_or_signature, list | tuple | str):
        return make
    if not inspect.isfunction(function_or_signature) and is_signature(function_or_signature):
        return make
    return make(function_or_signature)


def _device_function(function: Callable) -> Callable:
    function.py_func = function
    return function


@dataclass(frozen=True)
class Options:
    """Those options of cuda.jit that matter here."""

    debug: bool = False  # a division by zero is an error
    extensions: list = field(default_factory=list)  # they prepare arguments

    @classmethod
    def among(cls, options: dict) -> "Options":
        """Those that were given."""
        return cls(bool(options.get("debug")), [*(options.get("extensions") or ())])


class Kernel:
    """A function that runs for every thread of a grid: kernel[grid, block, stream, shared](*arguments)."""

    def __init__(self, function: Callable, grid=None, block=None, shared: int = 0, origin=None, options=None):
        self.py_func, self.grid, self.block, self.shared = function, grid, block, shared
        self.options = options or Options()
        self.extensions = self.options.extensions
        self.watch: Watch | None = None
        self._origin = origin or self
        functools.update_wrapper(self, function)

    def __getitem__(self, configuration: tuple) -> "Kernel":
        if not isinstance(configuration, tuple) or len(configuration) not in (2, 3, 4):
            raise ValueError("must specify at least the griddim and blockdim")
        grid, block = normalize_kernel_dimensions(*configuration[:2])
        shared = configuration[3] if len(configuration) == 4 else 0
        return Kernel(self.py_func, grid, block, shared, self._origin, self.options)

    def __call__(self, *arguments) -> None:
        if machine.launch is not None:
            return self.py_func(*arguments)  # from inside a kernel it is a device function
        now = current()
        if now.strict:
            import_module("rnnlab.simulator.strict").insist(self, *arguments)
        watch = self.run(arguments, now)
        found, moved = watch.stopped, 0
        if now.checks:
            self._origin.watch = watch
            told = import_module("rnnlab.simulator.report").report(watch, with_flops=False)
            found, moved = told.findings, told.counts.sectors
        clock.advance(now.sheet, moved)
        if found and (now.raise_findings or not now.checks):
            raise Findings(self.__name__, found)

    def run(self, arguments: tuple, now: Settings) -> Watch:
        """Launch once; faults that end the launch are in the watch's `stopped`."""
        grid, block = normalize_kernel_dimensions(self.grid, self.block)
        trace = Trace() if now.checks else None
        bounds = limits(now.sheet, block[0] * block[1] * block[2], self.shared)
        passed = Arguments(arguments, trace, self.extensions)
        shuffle = random.Random(now.seed) if now.shuffle else None
        launch = Launch(self.py_func, passed.given, grid, block, bounds, shuffle, trace)
        stopped = _run(launch, "raise" if self.options.debug else "ignore")
        passed.write_back()
        return Watch(self.py_func, grid, block, trace, stopped, arguments)

    def report(self):
        """What the last watched launch did: counts, counts by line, findings.  See report.Report."""
        from rnnlab.simulator.report import report

        if self._origin.watch is None:
            raise RuntimeError(f"{self.__name__} has not been launched with checks on: launch it first")
        return report(self._origin.watch)

    def forall(self, ntasks: int, tpb: int = 0, stream: object = 0, sharedmem: int = 0) -> Callable:
        """Configured for at least `ntasks` threads in one dimension."""
        if ntasks < 0:
            raise ValueError(f"Can't create ForAll with negative task count: {ntasks}")
        threads = tpb or THREADS_PER_BLOCK
        return self[-(-ntasks // threads), threads, stream, sharedmem] if ntasks else _no_launch

    def specialize(self, *arguments) -> "Kernel":
        """There is one version for all arguments."""
        return self

    def max_cooperative_grid_blocks(self, blockdim: int | tuple[int, ...], dynsmemsize: int = 0) -> int:
        """How many blocks of that size the device holds at once."""
        _, block = normalize_kernel_dimensions(1, blockdim)
        return limits(current().sheet, block[0] * block[1] * block[2], dynsmemsize).resident

    @property
    def overloads(self) -> dict:
        """By signature; there is one version for all."""
        return _AnySignature(self)


class _AnySignature(dict):
    def __init__(self, kernel: Kernel):
        self.kernel = kernel

    def __getitem__(self, signature) -> Kernel:
        return self.kernel


def _no_launch(*arguments) -> None:
    """What forall(0) is: nothing runs."""


def _run(launch: Launch, division_by_zero: str) -> tuple[Finding, ...]:
    """Faults that ended the launch, if any did."""
    collecting = gc.isenabled()
    gc.disable()  # a trace is a million small tuples, and none of them is garbage
    try:
        with np.errstate(all="ignore", divide=division_by_zero), math_of_gpu(launch.function):
            with Watchdog(launch.trace):
                launch.run()
    except Spinning:
        *_, instruction, code = launch.trace.events
        return (spinning(launch.fault, line_of(code, instruction)),)
    except Stopped as stop:
        return (stop.finding,)
    except IndexError as error:
        if not NUMPY_OUT_OF_BOUNDS.search(str(error)):
            raise
        return (_beyond(error, launch),)
    except Exception as error:
        if thread := launch.fault:  # in the words of numba.cuda
            where = f"tid={[*thread.index]} ctaid={[*thread.block.index]}"
            error.args = (f"{where}: {error.args[0]}" if error.args else where, *error.args[1:])
        raise
    finally:
        if collecting:
            gc.enable()
    return ()


def _beyond(error: IndexError, launch: Launch) -> Finding:
    """Without checks NumPy notices some accesses beyond the end; the rest goes unseen, as on a GPU."""
    thread, frame = launch.fault, traceback.extract_tb(error.__traceback__)[-1]
    message = f"{name_of(thread)} on line {frame.lineno}: {error}"
    return Finding("out_of_bounds", message, frame.lineno, tuple(thread.block.index), tuple(thread.index))
