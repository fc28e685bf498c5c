"""How launches run: watched or not, in which order, on which device, and what that device allows.

The simulated GPU has a clock: launches pass one after another, each as long as a model of the device says.
A launch takes the host's time to issue it, the device's to begin it, and the time its sectors take on the
memory bus; the numbers are the data sheet's.  Without checks nothing is counted, and the first two are all.
This is a prediction; what Python takes says nothing about a GPU.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple

from pocketgpu.devices import Device, find


@dataclass(frozen=True)
class SimulatorSettings:
    """What holds for every launch until it is changed."""

    checks: bool = True  # write every access down, and look for faults in it
    raise_findings: bool = True  # a launch with findings raises Findings when it has ended
    strict: bool = False  # refuse to launch what would not compile on a GPU or creeps into float64
    shuffle: bool = False  # blocks and threads start, and continue after barriers, in random order
    seed: int = 0  # of that order
    hold: int = 0  # polls that a thread makes before others continue, each time that it begins to wait
    seconds: float = 20.0  # that one thread may run without waiting, before the launch counts as endless
    events: int = 10_000_000  # that a watched launch may write down, some 100 bytes each
    device: str = "H200"  # a key of devices.DEVICES
    lockstep: bool = True  # many threads at once, where that shows the same (lockstep.py)
    partial: bool = False  # of a launch that raises, or that never ends: a finding, and the steps it made
    collect: Callable | None = None  # gets (kernel, findings) of each launch, in place of an exception

    @property
    def sheet(self) -> Device:
        """That device's data sheet."""
        return find(self.device)


_current: ContextVar[SimulatorSettings | None] = ContextVar("settings", default=None)
_of_process = [SimulatorSettings()]


def current() -> SimulatorSettings:
    """The settings that hold here."""
    return _current.get() or _of_process[0]


def set_for_process(**changes: object) -> None:
    """Let these changes hold in every thread of this process, outside of settings()."""
    changed = replace(_of_process[0], **changes)
    find(changed.device)  # raises ValueError now, not at the first launch
    _of_process[0] = changed


@contextmanager
def settings(**changes: object) -> Iterator[SimulatorSettings]:
    """Launches inside the block run with these changes; see Settings."""
    changed = replace(current(), **changes)
    find(changed.device)  # raises ValueError now, not at the first launch
    token = _current.set(changed)
    try:
        yield changed
    finally:
        _current.reset(token)


class Limits(NamedTuple):
    """What the device gives a launch."""

    resident: int  # blocks at once
    shared: int  # bytes of shared memory a block
    dynamic_shared: int  # of these, requested at the launch


LARGEST_GRID = (2**31 - 1, 65535, 65535)
LARGEST_BLOCK = (1024, 1024, 64)  # of every GPU since 2012


def check_dimensions(grid: tuple[int, int, int], block: tuple[int, int, int]) -> None:
    """Raise ValueError for a grid or a block that no GPU launches."""
    for what, size, largest in (("grid", grid, LARGEST_GRID), ("block", block, LARGEST_BLOCK)):
        for axis, extent, most in zip("xyz", size, largest, strict=True):
            if not 1 <= extent <= most:
                raise ValueError(f"a {what} of size {size}: its {axis} is {extent}, and must be 1 to {most}")


def check_launch_bounds(bounds: int | tuple[int, ...] | None, block: tuple[int, int, int]) -> None:
    """Raise ValueError for a block of more threads than cuda.jit(launch_bounds=…) promised the compiler.

    bounds: the most threads of a block; in a tuple before the least blocks of a multiprocessor.
    """
    most = bounds[0] if isinstance(bounds, tuple) else bounds
    threads = prod(block)
    if most and threads > most:
        raise ValueError(
            f"a block of {threads} threads: the kernel has launch_bounds={bounds}, so a GPU launches at most "
            f"{most} threads a block"
        )


def limits(device: Device, threads: int, dynamic_shared: int) -> Limits:
    """What a launch of blocks of that many threads gets.  Raises ValueError for a block that does not fit."""
    if threads > device.threads_per_block:
        raise ValueError(f"a block of {threads} threads: a block has at most {device.threads_per_block}")
    if dynamic_shared > device.shared_per_block:
        raise ValueError(
            f"{dynamic_shared} bytes of shared memory a block: a launch on {device.name} gets at most "
            f"{device.shared_per_block}; use a smaller tile"
        )
    resident = device.resident_blocks(threads, dynamic_shared)
    return Limits(resident, device.shared_per_block, dynamic_shared)


SECTOR = 32  # bytes
_microseconds = 0.0


def advance_clock(device: Device, sectors: int = 0) -> None:
    """Let a launch that moved so many sectors go by."""
    global _microseconds
    _microseconds += device.launch + device.node + 1e-3 * SECTOR * sectors / device.bandwidth


def clock_now() -> float:
    """Microseconds since the simulator was loaded."""
    return _microseconds
