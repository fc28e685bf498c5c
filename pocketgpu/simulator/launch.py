"""cuda.jit and what it makes of a function: a kernel, to be launched on a grid, that reports what it did.

What the host passes reaches the kernel as arrays that are watched or bare; copies are written back.
"""

import functools
import gc
import inspect
import math
import numbers
import os
import random
import re
import traceback
from _thread import RLock, get_ident  # without threading, which no browser needs
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np

from pocketgpu.simulator.arithmetic import as_bare, as_register
from pocketgpu.simulator.device_arrays import (
    DeviceArray,
    In,
    InOut,
    Out,
    check_argument,
    check_contiguous,
)
from pocketgpu.simulator.endless import EndlessLaunch, SpinningThread
from pocketgpu.simulator.faults import NUMPY_OUT_OF_BOUNDS, stray_access
from pocketgpu.simulator.host import unordered
from pocketgpu.simulator.host_memory import (
    allocation,
    is_partly_written,
    mark_partly_written,
    shared_memory,
)
from pocketgpu.simulator.language import refused
from pocketgpu.simulator.lockstep import Fallback, Run, check_choice
from pocketgpu.simulator.mapped import is_mapped, without_check
from pocketgpu.simulator.memory import is_written, poisoned, watched
from pocketgpu.simulator.names import parameters
from pocketgpu.simulator.report import findings_and_sectors, report
from pocketgpu.simulator.scheduler import RunningGrid
from pocketgpu.simulator.settings import (
    SimulatorSettings,
    advance_clock,
    check_dimensions,
    check_launch_bounds,
    current,
    limits,
)
from pocketgpu.simulator.signatures import as_declared, scalar_types
from pocketgpu.simulator.source import remember
from pocketgpu.simulator.threads import Finding, Findings, LaunchStopped, finding, machine, name_of, spinning
from pocketgpu.simulator.trace import GLOBAL, Line, Trace, Triple, Watch
from pocketgpu.simulator.translation import Translation
from pocketgpu.simulator.waiting import waiting_sites

THREADS_PER_BLOCK = 128  # default of forall
_one_at_a_time = RLock()  # there is one machine in a process
if hasattr(os, "register_at_fork"):  # else a process forked amid a launch would wait for its end forever
    os.register_at_fork(
        before=_one_at_a_time.acquire,
        after_in_parent=_one_at_a_time.release,
        after_in_child=_one_at_a_time.release,
    )


def jit(function_or_signature: object = None, device: bool = False, **options):
    """numba.cuda.jit: a kernel, or with device=True a function for kernels.  Options only matter to a GPU."""
    if options.get("link"):
        raise NotImplementedError("link: the simulator runs Python only; compile_report can look at CUDA C++")
    is_function = inspect.isfunction(function_or_signature)
    types = [] if is_function else scalar_types(function_or_signature)
    make = _device_function if device else functools.partial(Kernel, options=options, types=types)
    if function_or_signature is None or isinstance(function_or_signature, list | tuple | str):
        return make
    return make(function_or_signature) if is_function else make


def _device_function(function: Callable) -> Callable:
    remember(function)
    function.py_func = function
    return function


class Kernel:
    """A function that runs for every thread of a grid: kernel[grid, block, stream, shared](*arguments)."""

    def __init__(
        self,
        function: Callable,
        options: dict,
        configuration: tuple = (None, None, 0, 0),
        origin: "Kernel | None" = None,
        types: Sequence[Callable | None] = (),
    ):
        self.py_func = function
        self.types = origin.types if origin else types  # of the scalar arguments that a signature declares
        self.options = options
        self.grid, self.block, self.stream, self.shared = configuration
        # they prepare arguments; those that are added to the kernel later hold for its launches, too
        self.extensions = origin.extensions if origin else [*(options.get("extensions") or ())]
        self.watch: Watch | None = None
        self._origin = origin or self
        functools.update_wrapper(self, function)
        if origin is None:
            remember(function)

    def __getitem__(self, configuration: tuple) -> "Kernel":
        if not isinstance(configuration, tuple) or len(configuration) not in (2, 3, 4):
            raise ValueError("must specify at least the griddim and blockdim")
        stream_and_shared = (*configuration[2:], 0, 0)[:2]
        grid_and_block = dimensions(*configuration[:2])
        return Kernel(self.py_func, self.options, (*grid_and_block, *stream_and_shared), self._origin)

    def configure(self, *configuration: object) -> "Kernel":
        """Numba's older way to write kernel[griddim, blockdim, stream, sharedmem]."""
        return self[configuration]

    def __call__(self, *arguments) -> None:
        if machine.launch is not None and machine.host == get_ident():
            return self.py_func(*arguments)  # from inside a kernel it is a device function
        now = current()
        if now.strict:
            import_module("pocketgpu.simulator.strict").insist(self, *arguments)
        try:
            # what a launch touched is compared with others' where streams, or the host, run beside it
            is_compared = bool(getattr(self.stream, "number", 0)) or any(map(is_mapped, arguments))
            is_reported = getattr(now.collect, "reports", None) is not None
            watch = self.run(arguments, now, keep=is_compared or is_reported)
        except Exception:
            if now.collect:
                now.collect(self.py_func, ())  # it was a launch, too
            raise
        findings = watch.stopped
        sectors = 0
        if now.checks:
            self._origin.watch = watch
            findings, sectors = findings_and_sectors(watch)
            findings += unordered(watch, self.__name__, self.stream)
        advance_clock(now.sheet, sectors)
        if now.collect:
            now.collect(self.py_func, findings)
            if look := getattr(now.collect, "look", None):
                look(watch)
        elif findings and (now.raise_findings or not now.checks):
            raise Findings(self.__name__, findings)

    def run(self, arguments: tuple, now: SimulatorSettings, keep: bool = True) -> Watch:
        """Launch once; faults that end the launch are in the watch's `stopped`.  keep: every access.

        Threads of the host launch one after another.
        """
        with _one_at_a_time:
            machine.host = get_ident()
            return self._run(arguments, now, keep)

    def _run(self, arguments: tuple, now: SimulatorSettings, keep: bool) -> Watch:
        grid, block = dimensions(self.grid, self.block)
        trace = Trace() if now.checks else None
        check_dimensions(grid, block)
        check_launch_bounds(self.options.get("launch_bounds"), block)
        bounds = limits(now.sheet, math.prod(block), self.shared)
        translation = Translation(trace)
        declared = as_declared(arguments, self.types)
        passed = Arguments(declared, trace, self.extensions, parameters(self.py_func), translation)
        try:
            check_choice(now, math.prod(grid) * math.prod(block), self.options)
            record = Run(grid, block, bounds, trace, now).start(self.py_func, passed.values, keep)
        except Fallback as reason:
            why_not = str(reason)
        else:
            passed.write_back()
            recorded = None if trace is None else record
            return Watch(self.py_func, grid, block, recorded, (), arguments, sectors=record.sectors)
        shuffle = random.Random(now.seed) if now.shuffle else None
        launch = RunningGrid(translation, grid, block, bounds, shuffle, trace)
        division_by_zero = "raise" if self.options.get("debug") else "ignore"
        try:
            stopped = _run(launch, self.py_func, passed.values, division_by_zero, now)
        except Exception as error:
            if not now.partial or launch.fault is None:
                raise
            stopped = (_raised(error, launch),)
        passed.write_back()
        on_device = [argument._ary for argument in arguments if isinstance(argument, DeviceArray)]
        if stopped or any(map(is_partly_written, on_device)):
            for array in on_device:
                mark_partly_written(array)
        is_endless = any(finding.kind == "endless" for finding in stopped)
        if is_endless and trace is not None and not now.partial:
            trace = Trace()  # an analysis of ten million accesses would take minutes
        return Watch(self.py_func, grid, block, trace, stopped, arguments, launch.ignored_poll, None, why_not)

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
        return self[-(-ntasks // threads), threads, stream, sharedmem] if ntasks else lambda *arguments: None

    def specialize(self, *arguments) -> "Kernel":
        """There is one version for all arguments."""
        return self

    def max_cooperative_grid_blocks(self, blockdim: int | tuple[int, ...], dynsmemsize: int = 0) -> int:
        """Number of blocks of that size that the device holds at once."""
        _, block = dimensions(1, blockdim)
        return limits(current().sheet, math.prod(block), dynsmemsize).resident

    def __getattr__(self, name: str):
        if name.startswith(("inspect_", "get_")) or name in ("signatures", "specialized", "ptx", "nopython"):
            raise AttributeError(
                f"the simulator compiles nothing, so a kernel has no {name}; registers, spills and PTX are "
                "in pocketgpu.compile_report(kernel, arguments)"
            )
        raise AttributeError(f"a kernel has no {name}")

    @property
    def overloads(self) -> dict:
        """Versions by signature; there is one for all."""
        return defaultdict(lambda: self)


def _run(
    launch: RunningGrid, kernel: Callable, arguments: list, division_by_zero: str, now: SimulatorSettings
) -> tuple[Finding, ...]:
    """Faults that ended the launch, if any did."""
    collecting = gc.isenabled()
    gc.disable()  # the objects of a launch are many, and none of them is garbage
    try:
        function = launch.translation.kernel(kernel, arguments)
        with np.errstate(all="ignore", divide=division_by_zero):
            launch.run(function, arguments, inspect.isgeneratorfunction(function))
    except SpinningThread:
        site = launch.trace.last_site()
        return (spinning(launch.fault, site.line, bool(waiting_sites([site]).polls[0])),)
    except EndlessLaunch as error:
        return (_endless(error, launch, now),)
    except LaunchStopped as stop:
        return (replace(stop.finding, message=f"{stop.finding.message}; the launch was ended here"),)
    except FloatingPointError as error:  # NumPy's numbers, with debug=True
        raise ZeroDivisionError(f"division by zero: {_of_thread(launch)}") from error
    except Exception as error:
        if (stray := stray_access(error, launch)) is not None:
            return (stray,)
        if isinstance(error, IndexError | OverflowError) and NUMPY_OUT_OF_BOUNDS.search(str(error)):
            # without checks NumPy notices some accesses beyond the end; the rest goes unseen, as on a GPU
            return (_at_line("out_of_bounds", error, launch, "{thread} on line {line}: {text}", text=error),)
        if findings := _of_line(refused(kernel), _line_in_kernel(error)):
            return findings
        if isinstance(error, UnboundLocalError):
            unset = "{thread} uses {name} on line {line}, to which it has given no value; give it one before"
            name = re.search(r"'(\w*)", str(error))[1]  # error.name is empty for a local one
            return (_at_line("uninitialised", error, launch, unset, name=name),)
        if launch.fault:
            where = _of_thread(launch)
            error.args = (f"{where}: {error.args[0]}" if error.args else where, *error.args[1:])
        raise
    finally:
        if collecting:
            gc.enable()
    return ()


def _raised(error: Exception, launch: RunningGrid) -> Finding:
    """An exception of Python in a thread."""
    line = _line_in_kernel(error)
    where = f" on line {line}" if line else ""
    text = str(error).removeprefix(_of_thread(launch)).removeprefix(": ")
    message = f"{name_of(launch.fault)}{where} raises {type(error).__name__}{text and f': {text}'}"
    return finding("raised", message, launch.fault, line)


def _of_thread(launch: RunningGrid) -> str:
    """The thread that failed, as numba.cuda names it."""
    thread = launch.fault
    return f"tid={[*thread.index]} ctaid={[*thread.block.index]}"


def _at_line(kind: str, error: Exception, launch: RunningGrid, message: str, **words: object) -> Finding:
    """A finding of the thread that raised the exception; {thread} and {line} in a message stand for both."""
    line = _line_in_kernel(error)
    text = message.format(thread=name_of(launch.fault), line=line, **words)
    return finding(kind, text, launch.fault, line)


def _endless(error: EndlessLaunch, launch: RunningGrid, now: SimulatorSettings) -> Finding:
    """A launch that was stopped because it would not end."""
    why = f"the launch did not come to an end: one thread has run for {now.seconds:g} s without a pause"
    if launch.trace is not None and launch.trace.events() > now.events:
        why = f"the launch has made more than {now.events:,} accesses"
    message = "{why}; {thread} was on line {line}. Is there a loop that never stops?"
    return _at_line("endless", error, launch, message, why=why)


def _of_line(findings: tuple[Finding, ...], line: int | None) -> tuple[Finding, ...]:
    """The findings of that line: what does not compile may raise anything."""
    return tuple(finding for finding in findings if finding.line == line)


def _line_in_kernel(error: Exception) -> Line | None:
    """Line outside the simulator where the error was raised."""
    own = str(Path(__file__).parent)
    # traceback.extract_tb would read the simulator's own files, which a judge forbids an answer's process
    frames = [*traceback.walk_tb(error.__traceback__)]
    lines = (Line(number, frame.f_code.co_filename) for frame, number in reversed(frames))
    return next((line for line in lines if not line.file.startswith(own)), None)


HELP = """
Kernel launch configuration was not specified. Use the syntax:

kernel_function[blockspergrid, threadsperblock](arg0, arg1, ..., argn)
"""


def dimensions(grid: object, block: object) -> tuple[Triple, Triple]:
    """Both with three dimensions.  Raises ValueError or TypeError for what is not a size."""
    if grid is None or block is None:
        raise ValueError(HELP)
    return _three(grid, "griddim"), _three(block, "blockdim")


def _three(size: object, name: str) -> Triple:
    sizes = [*size] if isinstance(size, tuple | list) else [size]
    if len(sizes) > 3:
        raise ValueError(f"{name} must be a sequence of 1, 2 or 3 integers, got {sizes}")
    for extent in sizes:
        if not isinstance(extent, numbers.Integral):
            raise TypeError(f"{name} must be a sequence of integers, got {sizes}")
    return (*sizes, 1, 1)[:3]


class Arguments:
    """The arguments of one launch, `values` for its threads; afterwards write_back() updates the host's."""

    def __init__(
        self,
        arguments: tuple,
        trace: Trace | None,
        extensions: Sequence = (),
        names: Sequence[str] = (),
        translation: Translation | None = None,
    ):
        self.trace = trace
        self.copies = []
        self.after = []
        self.translation = translation
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
        if isinstance(argument, DeviceArray):
            data = without_check(argument._ary)
            is_unsure = getattr(argument, "unwritten", False) and not is_partly_written(data)
            written = is_written(data) if is_unsure else True
            return self._array(data, name, written, allocation(data).__array_interface__["data"][0])
        if isinstance(argument, np.void):
            return self._array(np.asarray(argument), name)
        argument = without_check(argument)
        if isinstance(argument, np.ndarray) and argument.ndim:
            check_contiguous(check_argument(argument))
            return self._array(argument, name, owner=_aligned(argument))
        if inspect.isfunction(argument) and self.translation and hasattr(argument, "py_func"):
            return self.translation.value(argument)
        shared = shared_memory(argument)
        if shared is not None and shared.ndim:
            return self._value(shared, name)
        return as_register(check_argument(argument))

    def _hinted(self, hint: In | Out | InOut, name: str) -> object:
        """In is not copied back, Out is not copied to the device."""
        if isinstance(hint.value, DeviceArray):
            return self._value(hint.value, name)
        data = np.array(hint.value)
        written = True
        if isinstance(hint, Out):
            data = poisoned(data.shape, data.dtype)
            written = False
        if not isinstance(hint, In):
            self.copies.append((hint.value, data))
        return self._array(data, name, written)

    def _array(
        self, data: np.ndarray, name: str, written: bool | np.ndarray = True, owner: int | None = None
    ) -> object:
        if self.trace is None:
            return as_bare(data)
        return watched(data, GLOBAL, self.trace, written, name, owner)


def _aligned(array: np.ndarray) -> int:
    """Address from which a host array counts: its own, or a multiple of its elements' size before that."""
    address = array.__array_interface__["data"][0]
    return address if array.flags.aligned else address - address % array.itemsize
