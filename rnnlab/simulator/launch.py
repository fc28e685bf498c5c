"""cuda.jit and what it makes of a function: a kernel, to be launched on a grid, that tells what it saw."""

import functools
import gc
import inspect
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

import numpy as np
from numba.core.sigutils import is_signature
from numba.cuda.errors import normalize_kernel_dimensions
from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray, sentry_contiguous

from rnnlab.simulator.device import SHEETS, Sheet, limits
from rnnlab.simulator.events import GLOBAL, Trace
from rnnlab.simulator.findings import Finding, Findings
from rnnlab.simulator.host import In, InOut, Out
from rnnlab.simulator.memory import Watched, as_record_array, is_written, poisoned
from rnnlab.simulator.threads import Launch, Stopped, machine


@dataclass(frozen=True)
class Settings:
    """How launches run from here on."""

    checks: bool = True  # write every access down, and look for faults in it
    raise_findings: bool = True  # a launch with findings raises Findings when it has ended
    shuffle: bool = False  # threads start, and go on after barriers, in random order
    seed: int = 0  # of that order
    device: str = "H200"  # a key of device.SHEETS


DEFAULTS = Settings()
_settings: ContextVar[Settings] = ContextVar("settings", default=DEFAULTS)


@contextmanager
def settings(**changes) -> Iterator[Settings]:
    """Launches inside the block run with these changes; see Settings."""
    if (device := changes.get("device")) is not None and device not in SHEETS:
        raise ValueError(f"device is {device!r}, expected one of {', '.join(SHEETS)}")
    changed = replace(_settings.get(), **changes)
    token = _settings.set(changed)
    try:
        yield changed
    finally:
        _settings.reset(token)


@dataclass(frozen=True)
class Watch:
    """Everything a watched launch wrote down; report.py makes sense of it."""

    kernel: Callable
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    trace: Trace | None  # events.py; None without checks
    stopped: tuple[Finding, ...] = ()  # faults that ended the launch


def jit(function_or_signature=None, device: bool = False, **options):
    """numba.cuda.jit: a kernel, or with device=True a function for kernels.  Options only matter to a GPU."""
    if options.get("link"):
        raise NotImplementedError("link: the simulator runs Python only; compile_report can look at CUDA C++")
    if function_or_signature is None or isinstance(function_or_signature, list | tuple | str):
        return functools.partial(_jit, device=device)
    if not inspect.isfunction(function_or_signature) and is_signature(function_or_signature):
        return functools.partial(_jit, device=device)
    return _jit(function_or_signature, device)


def _jit(function: Callable, device: bool):
    if device:
        function.py_func = function
        return function
    return Kernel(function)


class Kernel:
    """A function that runs for every thread of a grid: kernel[grid, block, stream, shared](*arguments)."""

    def __init__(self, function: Callable, grid=None, block=None, shared: int = 0):
        self.py_func, self.grid, self.block, self.shared = function, grid, block, shared
        self.watch: Watch | None = None
        self._origin = self
        functools.update_wrapper(self, function)

    def __getitem__(self, configuration) -> "Kernel":
        if not isinstance(configuration, tuple) or len(configuration) not in (2, 3, 4):
            raise ValueError("must specify at least the griddim and blockdim")
        grid, block = normalize_kernel_dimensions(*configuration[:2])
        configured = Kernel(self.py_func, grid, block, *configuration[3:])
        configured._origin = self._origin
        return configured

    def __call__(self, *arguments) -> None:
        if machine.launch is not None:
            return self.py_func(*arguments)  # from inside a kernel it is a device function
        now = _settings.get()
        watch = self.run(arguments, now)
        if now.checks:
            self._origin.watch = watch
            found = self.report().findings
        else:
            found = watch.stopped
        if found and (now.raise_findings or not now.checks):
            raise Findings(self.__name__, found)

    def run(self, arguments: tuple, now: Settings) -> Watch:
        """Launch once; faults that end the launch are in the watch's `stopped`."""
        grid, block = normalize_kernel_dimensions(self.grid, self.block)
        trace, sheet = (Trace() if now.checks else None), SHEETS[now.device]
        bounds = limits(sheet, block[0] * block[1] * block[2], self.shared)
        write_back = []
        given = [_given(argument, trace, write_back) for argument in arguments]
        launch = Launch(self.py_func, given, grid, block, bounds, now.seed if now.shuffle else None, trace)
        stopped = _run(launch)
        for target, source in write_back:
            target[...] = source
        return Watch(self.py_func, grid, block, trace, stopped)

    def report(self):
        """What the last watched launch did: counts, counts by line, findings.  See report.Report."""
        from rnnlab.simulator.report import report

        if self._origin.watch is None:
            raise RuntimeError(f"{self.__name__} has not been launched with checks on: launch it first")
        return report(self._origin.watch)

    def forall(self, ntasks: int, tpb: int = 0, stream=0, sharedmem: int = 0) -> "Kernel":
        """Configured for at least `ntasks` threads in one dimension."""
        if ntasks < 0:
            raise ValueError(f"Can't create ForAll with negative task count: {ntasks}")
        threads = tpb or 128
        return self[max(1, -(-ntasks // threads)), threads, stream, sharedmem] if ntasks else _nothing

    def specialize(self, *arguments) -> "Kernel":
        return self

    def max_cooperative_grid_blocks(self, blockdim, dynsmemsize: int = 0) -> int:
        """How many blocks of that size the device holds at once."""
        _, block = normalize_kernel_dimensions(1, blockdim)
        return limits(_sheet(), block[0] * block[1] * block[2], dynsmemsize).resident

    @property
    def overloads(self) -> dict:
        return _AnySignature(self)


class _AnySignature(dict):
    """kernel.overloads[signature]: there is one version for all."""

    def __init__(self, kernel: Kernel):
        self.kernel = kernel

    def __getitem__(self, signature) -> Kernel:
        return self.kernel


def _nothing(*arguments) -> None:
    """A launch of no threads."""


def _sheet() -> Sheet:
    return SHEETS[_settings.get().device]


def _run(launch: Launch) -> tuple[Finding, ...]:
    collecting = gc.isenabled()
    gc.disable()  # a trace is a million small tuples, and none of them is garbage
    try:
        with np.errstate(all="ignore"):
            launch.run()
    except Stopped as stop:
        return stop.findings
    except IndexError as error:
        return (_beyond(error, launch),)
    except Exception as error:
        thread = launch.fault
        where = f"thread {tuple(thread.index)} of block {tuple(thread.block.index)}" if thread else "launch"
        error.add_note(f"raised in {where}")
        raise
    finally:
        if collecting:
            gc.enable()
    return ()


def _beyond(error: IndexError, launch: Launch) -> Finding:
    """Without checks NumPy notices some accesses beyond the end; the rest goes unseen, as on a GPU."""
    thread, frame = launch.fault, traceback.extract_tb(error.__traceback__)[-1]
    where = tuple(thread.block.index), tuple(thread.index)
    message = f"thread {where[1]} of block {where[0]} on line {frame.lineno}: {error}"
    return Finding("out_of_bounds", message, frame.lineno, *where)


def _given(argument: object, trace: Trace | None, write_back: list) -> object:
    """An argument as the kernel gets it; where that is a copy, `write_back` learns [(original, copy)]."""
    if isinstance(argument, tuple):
        whole = tuple(_given(each, trace, write_back) for each in argument)
        return type(argument)(*whole) if hasattr(argument, "_fields") else whole
    if isinstance(argument, In | Out | InOut):
        return _hinted(argument, trace, write_back)
    written = True
    if isinstance(argument, FakeCUDAArray):
        if getattr(argument, "unwritten", False):
            written = is_written(argument._ary)
        argument = argument._ary
    elif isinstance(argument, np.ndarray) and argument.ndim:
        sentry_contiguous(argument)
    elif isinstance(argument, np.void):
        argument = np.asarray(argument)
    if not isinstance(argument, np.ndarray):
        return argument
    argument = as_record_array(argument)
    return argument if trace is None else Watched(argument, GLOBAL, trace, written=written)


def _hinted(hint, trace: Trace | None, write_back: list) -> object:
    """In is not copied back, Out is not copied there."""
    data = np.array(hint.value)
    written = not isinstance(hint, Out)
    if not written:
        data = poisoned(data.shape, data.dtype)
    if not isinstance(hint, In):
        write_back.append((hint.value, data))
    return data if trace is None else Watched(as_record_array(data), GLOBAL, trace, written=is_written(data))
