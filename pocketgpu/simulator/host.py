"""The host's side: streams, events, the device and its context.

Launches run here at once, one after another.  A GPU keeps that order only within a stream.  Launches on two
streams are ordered by an event, by a synchronisation with the host, or by a launch on the default stream,
which waits for all others and which all others wait for.  Two launches on two streams that touch the same
memory, of which one writes, need one of the three: without it they are a finding.
"""

import functools
from collections import deque, namedtuple
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from weakref import ref

import numpy as np

from pocketgpu.devices import Device
from pocketgpu.simulator.host_memory import allocation
from pocketgpu.simulator.mapped import forget_launches, is_mapped, note_launch
from pocketgpu.simulator.settings import LARGEST_BLOCK, LARGEST_GRID, clock_now, current
from pocketgpu.simulator.threads import Finding
from pocketgpu.simulator.trace import GLOBAL, LOADS, WARP, Watch

MOST_ISSUED = 256  # launches on streams since the last synchronisation
_numbers = count(1)
_issued: list["IssuedLaunch"] = []

Extents = dict[tuple[int, int], tuple[str, Callable]]  # (first address, end) -> array's name, is it there?


@dataclass(frozen=True)
class IssuedLaunch:
    """A launch on a stream: its place in the stream's order, and the memory that it read and wrote."""

    kernel: str
    stream: int
    turn: int
    reads: Extents
    writes: Extents


class stream:
    """A queue of launches; the default one, number 0, is ordered with all others."""

    def __init__(self, number: int | None = None):
        self.number = next(_numbers) if number is None else number
        self.clock: dict[int, int] = {}  # stream -> how many of its launches are certainly over

    def synchronize(self) -> None:
        """Wait for everything issued here."""
        _wait(self.clock if self.number else None)

    @contextmanager
    def auto_synchronize(self) -> Iterator["stream"]:
        """At the block's end, wait for everything issued here."""
        yield self
        self.synchronize()

    def add_callback(self, callback: Callable, arg: object = None) -> None:
        """Call it now: what was issued before has run already."""
        callback(self, 0, arg)


def default_stream() -> stream:
    return stream(0)


class event:
    """A moment on the simulated GPU's clock; the time between two is a model's prediction (settings.py)."""

    def __init__(self, timing: bool = True):
        self.microseconds = None
        self.clock = {}

    def record(self, stream: object = 0) -> None:
        """Mark what was issued on the stream so far."""
        self.microseconds = clock_now()
        self.clock = dict(getattr(stream, "clock", {}))

    def query(self) -> bool:
        self.synchronize()
        return True

    def wait(self, stream: object = 0) -> None:
        """Let later launches on the stream begin after this moment."""
        if hasattr(stream, "clock"):
            _advance(stream.clock, self.clock)

    def synchronize(self) -> None:
        """Wait for everything before the event."""
        _wait(self.clock)

    def elapsed_time(self, end: "event") -> float:
        """Milliseconds from this event to the other."""
        return 1e-3 * (end.microseconds - self.microseconds)


def synchronize() -> None:
    """Wait for everything issued on any stream."""
    _wait(None)


def _wait(clock: dict[int, int] | None) -> None:
    """Let the host wait for these launches, and, to be on the safe side, for all that wrote mapped memory."""
    forget_launches()
    _drop_completed(clock)


def unordered(watch: Watch, kernel: str, on: object) -> tuple[Finding, ...]:
    """Note a launch on a stream; findings if it shares memory with an unordered launch on another one."""
    if any(type(argument) is np.ndarray for argument in watch.arguments):
        forget_launches()  # the host waits, because it copies these arguments back
    elif any(is_mapped(argument) for argument in watch.arguments):
        note_launch(watch.kernel, _touched(watch)[1], watch.arguments)
    if not getattr(on, "number", 0):
        _drop_completed(None)  # the default stream waits for all others
        return ()
    on.clock[on.number] = turn = on.clock.get(on.number, 0) + 1
    launch = IssuedLaunch(kernel, on.number, turn, *_touched(watch))
    unfinished = (earlier for earlier in _issued if earlier.turn > on.clock.get(earlier.stream, 0))
    conflicts = ((earlier.kernel, _conflict(earlier, launch)) for earlier in unfinished)
    first = next((conflict for conflict in conflicts if conflict[1] is not None), None)
    _issued.append(launch)
    del _issued[:-MOST_ISSUED]
    if first is None:
        return ()
    message = (
        f"{kernel} and {first[0]}, launched before it on another stream, both touch {first[1]}, and one of "
        "them writes: a GPU may run them at once; record an event after the first and let the second stream "
        "wait for it, or use one stream"
    )
    return (Finding("race", message),)


def _touched(watch: Watch) -> tuple[Extents, Extents]:
    """Extents of global memory that were read, and that were written."""
    columns = watch.trace.columns()
    reads = {}
    writes = {}
    reading = np.isin(columns.kind, LOADS)
    for mask, extents in ((reading, reads), (~reading, writes)):
        for number in np.unique(columns.array[mask & (columns.array > 0)]).tolist():
            root = columns.arrays[number].root
            if root.space == GLOBAL:
                name = str(root.label) or "the same memory"
                owner = allocation(root.data)
                # of memory that is not NumPy's nobody knows when it is freed
                is_there = ref(owner) if owner.base is None else bool
                extents[np.lib.array_utils.byte_bounds(root.data)] = name, is_there
    return reads, writes


def _conflict(first: IssuedLaunch, second: IssuedLaunch) -> str | None:
    """Name of an array that both touch and one writes."""
    if first.stream == second.stream:
        return None
    pairs = (first.writes, second.writes | second.reads), (first.reads, second.writes)
    common = (
        name
        for one, other in pairs
        for (low, high), (_, is_there) in one.items()
        for (start, end), (name, _) in other.items()
        if start < high and low < end and is_there() is not None
    )
    return next(common, None)


def _advance(clock: dict[int, int], other: dict[int, int]) -> None:
    for number, turn in other.items():
        clock[number] = max(turn, clock.get(number, 0))


def _drop_completed(clock: dict[int, int] | None) -> None:
    """Drop launches that the host has waited for (all if None): every later launch comes after them."""
    _issued[:] = [
        launch for launch in _issued if clock is not None and launch.turn > clock.get(launch.stream, 0)
    ]


OF_DEVICES = {  # limits that need no conversion, by Numba's names
    "MULTIPROCESSOR_COUNT": "multiprocessors",
    "MAX_THREADS_PER_BLOCK": "threads_per_block",
    "MAX_THREADS_PER_MULTI_PROCESSOR": "threads_per_multiprocessor",
    "MAX_SHARED_MEMORY_PER_BLOCK": "shared_per_block",
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": "shared_per_block_most",
}


class CurrentDevice:
    """The device of the settings, with the names that numba.cuda.get_current_device() has for its limits."""

    id = 0
    WARP_SIZE = WARP
    supports_float16 = True

    def __init__(self, sheet: Device):
        self.name = sheet.name
        self.compute_capability = sheet.compute_capability
        vars(self).update({name: getattr(sheet, of_sheet) for name, of_sheet in OF_DEVICES.items()})
        self.CLOCK_RATE = round(1e6 * sheet.clock)  # kHz
        for largest, name in ((LARGEST_BLOCK, "MAX_BLOCK_DIM"), (LARGEST_GRID, "MAX_GRID_DIM")):
            vars(self).update({f"{name}_{axis}": most for axis, most in zip("XYZ", largest, strict=True)})

    def __getattr__(self, name: str):
        raise AttributeError(f"the simulator's data sheet of {self.name} says nothing of {name}")


def current_device() -> CurrentDevice:
    return CurrentDevice(current().sheet)


get_current_device = current_device


class Context:
    """The one context of the one device."""

    id = 0
    deallocations = deque()  # noqa: RUF012  memory that waits to be freed: none

    @property
    def device(self) -> CurrentDevice:
        return current_device()

    @property
    def compute_capability(self) -> tuple[int, int]:
        return current().sheet.compute_capability

    def memory_info(self) -> "MemoryInfo":
        """Bytes that are free, and all: a number that hosts have, by which programs choose their sizes."""
        return MemoryInfo(MEMORY, MEMORY)

    get_memory_info = memory_info

    synchronize = staticmethod(synchronize)

    def reset(self) -> None:
        """Memory of the host needs no reset."""

    def __enter__(self):
        return self

    def __exit__(self, *raised: object) -> None:
        """The context stays: there is no other one."""

    def __str__(self) -> str:
        return f"<Managed Device {self.id}>"


class Gpus(list):
    """All devices: one."""

    current = property(lambda self: self[0])
    lst = property(lambda self: self)


MEMORY = 4 << 30
MemoryInfo = namedtuple("MemoryInfo", "free, total")
gpus = Gpus([Context()])


def current_context(devnum: int = 0) -> Context:
    return gpus[devnum]


def select_device(device_id: int = 0) -> Context:
    """The context of the device.  Raises ValueError for another than the one there is."""
    if device_id != 0:
        raise ValueError(f"select_device({device_id}): the simulator has one device, 0")
    return gpus[0]


def list_devices() -> Gpus:
    return gpus


def detect() -> bool:
    """Say which devices there are."""
    sheet = current().sheet
    capability = ".".join(map(str, sheet.compute_capability))
    print(f"Found 1 CUDA devices\nid 0    {sheet.name:>20} {'[SUPPORTED]':>40}")
    print(f"{'compute capability':>40}: {capability} (simulated)")
    return True


def require_context(function: Callable) -> Callable:
    """There always is one."""
    return function


@contextmanager
def defer_cleanup() -> Iterator[None]:
    """There is nothing to clean up."""
    yield


def close() -> None:
    """The one context stays."""


def declare_device(name: str, signature: object = None, link: object = None) -> Callable:
    """A device function of CUDA C++, which cannot be called here."""

    def function(*arguments: object):
        raise NotImplementedError(f"{name} is CUDA C++, and the simulator runs Python only")

    return function


def is_supported_version() -> bool:
    """Is the CUDA version one that Numba supports?"""
    return True


is_float16_supported = is_supported_version


class Runtime:
    """The CUDA runtime, of which the simulator has no version."""

    supported_versions = (-1, -1)

    def version(self) -> tuple[int, int]:
        return self.supported_versions

    get_version = version
    is_supported_version = staticmethod(is_supported_version)


runtime = Runtime()


class Reduce:
    """A function of two numbers as a reduction: reduce(array), with `init` before the first element."""

    def __init__(self, functor: Callable):
        self.function = functor

    def __call__(
        self, arr: Sequence, size: int | None = None, res: object = None, init: object = 0, stream: object = 0
    ):
        result = functools.reduce(self.function, arr[:size], init)
        if res is None:
            return result
        res[0] = result
        return None


reduce = Reduce
legacy_default_stream = per_thread_default_stream = default_stream


def event_elapsed_time(start: event, end: event) -> float:
    return start.elapsed_time(end)


def profile_start() -> None:
    """No profiler listens."""


profile_stop = profile_start
