"""cuda.jit and what it makes of a function: a kernel, to be launched on a grid, that reports what it did.

What the host passes reaches the kernel as arrays that are watched or bare; copies are written back.

A watchdog ends launches that would run for ever.  A thread that waits by plain loads never yields, and a
GPU's compiler may keep the value in a register and load it only once:

    while flag[0] == 0: pass

Nothing in such a loop calls the scheduler.  So another thread of Python reads the trace every SECONDS.
"""

import ctypes
import functools
import gc
import inspect
import random
import re
import threading
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

import numpy as np
from numba.core.sigutils import is_signature
from numba.cuda.errors import normalize_kernel_dimensions
from numba.cuda.simulator.api import In, InOut, Out
from numba.cuda.simulator.cudadrv.devicearray import FakeCUDAArray, sentry_contiguous

from rnnlab.simulator.arithmetic import as_bare, as_register, words_of_gpu
from rnnlab.simulator.diagnosis import waiting_sites
from rnnlab.simulator.host import unordered
from rnnlab.simulator.memory import is_written, poisoned, watched
from rnnlab.simulator.report import report
from rnnlab.simulator.scheduler import Launch
from rnnlab.simulator.settings import (
    Settings,
    advance_clock,
    check_dimensions,
    check_launch_bounds,
    current,
    limits,
)
from rnnlab.simulator.threads import Finding, Findings, LaunchStopped, finding, machine, name_of, spinning
from rnnlab.simulator.trace import FIELDS, GLOBAL, KINDS, LOAD, Trace, Watch, line_of

SECONDS = 1.5  # between two readings of the trace
EVENTS = 20_000  # of one thread in a row, all loads: then it spins
PLACES = 64  # most elements that a spinning thread loads in turn


class SpinningThread(Exception):
    """Raised in a thread that polls by plain loads, and so would never stop."""


class EndlessLaunch(Exception):
    """Raised in a launch that runs for too long, or whose trace grows too long."""


class Watchdog:
    """Context manager around a launch: raises SpinningThread or EndlessLaunch in it if it would never end."""

    def __init__(self, trace: Trace | None, now: Settings):
        self.trace, self.now, self.thread, self.over = trace, now, threading.get_ident(), threading.Event()
        self.watcher = threading.Thread(target=self._watch, daemon=True)
        self.turn, self.began = None, time.monotonic()  # whose turn it is, and since when

    def __enter__(self) -> None:
        self.watcher.start()

    def __exit__(self, *raised: object) -> None:
        self.over.set()
        self.watcher.join()

    def _watch(self) -> None:
        while not self.over.wait(min(SECONDS, self.now.seconds / 4)):
            error = self._fault()
            if error is not None:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(self.thread), ctypes.py_object(error)
                )
                return

    def _fault(self) -> type[Exception] | None:
        turn = machine.now, len(self.trace.turns) if self.trace is not None else 0
        if turn != self.turn:
            self.turn, self.began = turn, time.monotonic()
        if self.trace is not None:
            if spins(self.trace):
                return SpinningThread
            if len(self.trace) > self.now.events:
                return EndlessLaunch
        return EndlessLaunch if time.monotonic() - self.began > self.now.seconds else None


def spins(trace: Trace) -> bool:
    """Does the running thread do nothing but load the same few elements?"""
    events = trace.events
    last = events[-EVENTS * FIELDS :]
    begun = trace.turns[-2] if trace.turns else 0
    if len(last) < EVENTS * FIELDS or len(events) - len(last) < begun:
        return False
    loads = all(tag % KINDS == LOAD for tag in last[::FIELDS])
    return loads and len({*zip(last[::FIELDS], map(str, last[1::FIELDS]), strict=True)}) <= PLACES


NUMPY_OUT_OF_BOUNDS = re.compile("out of bounds for axis|too many indices|too large to convert to C")
THREADS_PER_BLOCK = 128  # default of forall


def jit(function_or_signature: object = None, device: bool = False, **options):
    """numba.cuda.jit: a kernel, or with device=True a function for kernels.  Options only matter to a GPU."""
    if options.get("link"):
        raise NotImplementedError("link: the simulator runs Python only; compile_report can look at CUDA C++")
    make = _device_function if device else functools.partial(Kernel, options=options)
    if function_or_signature is None or isinstance(function_or_signature, list | tuple | str):
        return make
    if not inspect.isfunction(function_or_signature) and is_signature(function_or_signature):
        return make
    return make(function_or_signature)


def _device_function(function: Callable) -> Callable:
    function.py_func = function
    return function


class Kernel:
    """A function that runs for every thread of a grid: kernel[grid, block, stream, shared](*arguments)."""

    def __init__(
        self, function: Callable, options: dict, configuration: tuple = (None, None, 0, 0), origin=None
    ):
        self.py_func, self.options = function, options
        self.grid, self.block, self.stream, self.shared = configuration
        # they prepare arguments; those that are added to the kernel later hold for its launches, too
        self.extensions = origin.extensions if origin else [*(options.get("extensions") or ())]
        self.watch: Watch | None = None
        self._origin = origin or self
        functools.update_wrapper(self, function)

    def __getitem__(self, configuration: tuple) -> "Kernel":
        if not isinstance(configuration, tuple) or len(configuration) not in (2, 3, 4):
            raise ValueError("must specify at least the griddim and blockdim")
        stream_and_shared = (*configuration[2:], 0, 0)[:2]
        grid_and_block = normalize_kernel_dimensions(*configuration[:2])
        return Kernel(self.py_func, self.options, (*grid_and_block, *stream_and_shared), self._origin)

    def __call__(self, *arguments) -> None:
        if machine.launch is not None:
            return self.py_func(*arguments)  # from inside a kernel it is a device function
        now = current()
        if now.strict:
            import_module("rnnlab.simulator.strict").insist(self, *arguments)
        watch = self.run(arguments, now)
        findings, sectors = watch.stopped, 0
        if now.checks:
            self._origin.watch = watch
            result = report(watch, with_flops=False)
            findings = result.findings + unordered(watch, self.__name__, self.stream)
            sectors = result.counts.sectors
        advance_clock(now.sheet, sectors)
        if findings and (now.raise_findings or not now.checks):
            raise Findings(self.__name__, findings)

    def run(self, arguments: tuple, now: Settings) -> Watch:
        """Launch once; faults that end the launch are in the watch's `stopped`."""
        grid, block = normalize_kernel_dimensions(self.grid, self.block)
        trace = Trace() if now.checks else None
        check_dimensions(grid, block)
        check_launch_bounds(self.options.get("launch_bounds"), block)
        bounds = limits(now.sheet, block[0] * block[1] * block[2], self.shared)
        passed = Arguments(arguments, trace, self.extensions, _parameters(self.py_func))
        shuffle = random.Random(now.seed) if now.shuffle else None
        launch = Launch(self.py_func, passed.values, grid, block, bounds, shuffle, trace)
        stopped = _run(launch, "raise" if self.options.get("debug") else "ignore", now)
        passed.write_back()
        if trace is not None and any(finding.kind == "endless" for finding in stopped):
            trace = Trace()  # an analysis of ten million accesses would take minutes
        return Watch(self.py_func, grid, block, trace, stopped, arguments)

    def report(self):
        """What the last watched launch did: counts, counts by line, findings.  See report.Report."""
        if self._origin.watch is None:
            raise RuntimeError(f"{self.__name__} has not been launched with checks on: launch it first")
        return report(self._origin.watch)

    def forall(self, ntasks: int, tpb: int = 0, stream: object = 0, sharedmem: int = 0) -> Callable:
        """The kernel, configured for at least `ntasks` threads in one dimension."""
        if ntasks < 0:
            raise ValueError(f"Can't create ForAll with negative task count: {ntasks}")
        threads = tpb or THREADS_PER_BLOCK
        return self[-(-ntasks // threads), threads, stream, sharedmem] if ntasks else _no_launch

    def specialize(self, *arguments) -> "Kernel":
        """There is one version for all arguments."""
        return self

    def max_cooperative_grid_blocks(self, blockdim: int | tuple[int, ...], dynsmemsize: int = 0) -> int:
        """Number of blocks of that size that the device holds at once."""
        _, block = normalize_kernel_dimensions(1, blockdim)
        return limits(current().sheet, block[0] * block[1] * block[2], dynsmemsize).resident

    @property
    def overloads(self) -> dict:
        """Versions by signature; there is one for all."""
        return defaultdict(lambda: self)


def _no_launch(*arguments) -> None:
    """The launch of forall(0): nothing runs."""


def _run(launch: Launch, division_by_zero: str, now: Settings) -> tuple[Finding, ...]:
    """Faults that ended the launch, if any did."""
    collecting = gc.isenabled()
    gc.disable()  # a trace is a million small tuples, and none of them is garbage
    try:
        with np.errstate(all="ignore", divide=division_by_zero), words_of_gpu(launch.function):
            with Watchdog(launch.trace, now):
                launch.run()
    except SpinningThread:
        *_, instruction, code = launch.trace.events
        line = line_of(code, instruction)
        return (spinning(launch.fault, line, bool(waiting_sites([(code, instruction)]).polls[0])),)
    except EndlessLaunch as error:
        return (_endless(error, launch, now),)
    except LaunchStopped as stop:
        return (stop.finding,)
    except (IndexError, OverflowError) as error:
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


def _endless(error: EndlessLaunch, launch: Launch, now: Settings) -> Finding:
    """A launch that was stopped because it would not end."""
    thread, line = launch.fault, _line_in_kernel(error)
    if launch.trace is not None and len(launch.trace) > now.events:
        why = f"the launch has made more than {now.events:,} accesses"
    else:
        why = f"the launch did not come to an end: one thread has run for {now.seconds:g} s without a pause"
    message = f"{why}; {name_of(thread)} was on line {line}. Is there a loop that never stops?"
    return finding("endless", message, thread, line)


def _beyond(error: Exception, launch: Launch) -> Finding:
    """Without checks NumPy notices some accesses beyond the end; the rest goes unseen, as on a GPU."""
    thread, line = launch.fault, _line_in_kernel(error)
    return finding("out_of_bounds", f"{name_of(thread)} on line {line}: {error}", thread, line)


def _line_in_kernel(error: Exception) -> int | None:
    """Line outside the simulator where the error was raised."""
    own, frames = str(Path(__file__).parent), traceback.extract_tb(error.__traceback__)
    return next((frame.lineno for frame in reversed(frames) if not frame.filename.startswith(own)), None)


def _parameters(function: Callable) -> tuple[str, ...]:
    return function.__code__.co_varnames[: function.__code__.co_argcount]


class Arguments:
    """The arguments of one launch, `values` for its threads; afterwards write_back() updates the host's."""

    def __init__(
        self, arguments: tuple, trace: Trace | None, extensions: Sequence = (), names: Sequence[str] = ()
    ):
        self.trace, self.copies, self.after = trace, [], []
        names = [*names, *[""] * len(arguments)]
        self.values = [
            self._value(self._prepared(argument, extensions), name)
            for argument, name in zip(arguments, names, strict=False)
        ]

    def write_back(self) -> None:
        """Copy what the kernel wrote to where the host expects it."""
        for target, source in self.copies:
            target[...] = source
        for finish in self.after:
            finish()

    def _prepared(self, argument: object, extensions: Sequence) -> object:
        """What numba's argument extensions, such as those of cuda.jit(extensions=…), make of it."""
        kind = None
        for extension in extensions:
            kind, argument = extension.prepare_args(kind, argument, stream=0, retr=self.after)
        return argument

    def _value(self, argument: object, name: str) -> object:
        if isinstance(argument, tuple):
            whole = tuple(self._value(member, name) for member in argument)
            return type(argument)(*whole) if hasattr(argument, "_fields") else whole
        if isinstance(argument, In | Out | InOut):
            return self._hinted(argument, name)
        if isinstance(argument, FakeCUDAArray):
            data = argument._ary
            written = is_written(data) if getattr(argument, "unwritten", False) else True
            return self._array(data, name, written, _allocation(data))
        if isinstance(argument, np.void):
            return self._array(np.asarray(argument), name)
        if isinstance(argument, np.ndarray) and argument.ndim:
            sentry_contiguous(argument)
            return self._array(argument, name, owner=_aligned(argument))
        return as_register(check_argument(argument))

    def _hinted(self, hint: In | Out | InOut, name: str) -> object:
        """In is not copied back, Out is not copied to the device."""
        if isinstance(hint.value, FakeCUDAArray):
            return self._value(hint.value, name)
        data, written = np.array(hint.value), True
        if isinstance(hint, Out):
            data, written = poisoned(data.shape, data.dtype), False
        if not isinstance(hint, In):
            self.copies.append((hint.value, data))
        return self._array(data, name, written)

    def _array(
        self, data: np.ndarray, name: str, written: bool | np.ndarray = True, owner: int | None = None
    ) -> object:
        if self.trace is None:
            return as_bare(data)
        return watched(data, GLOBAL, self.trace, written, name, owner)


def check_argument(argument: object) -> object:
    """The argument.  Raises TypeError for one that no kernel takes."""
    if isinstance(argument, list | dict | set | str):
        raise TypeError(f"a {type(argument).__name__} as argument; pass an array")
    return argument


def _allocation(array: np.ndarray) -> int:
    """Address where the memory begins that a device array is a view of."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array.__array_interface__["data"][0]


def _aligned(array: np.ndarray) -> int:
    """Address from which a host array counts: its own, or a multiple of its elements' size before that."""
    address = array.__array_interface__["data"][0]
    return address if array.flags.aligned else address - address % array.itemsize
