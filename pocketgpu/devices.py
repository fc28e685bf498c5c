"""Data sheets of the GPUs this course talks about: what each can hold, multiply, move and launch.

The sheets stand in devices.toml.

Sizes, clocks and bandwidths are NVIDIA's data sheets and its table of compute capabilities (CUDA C++
Programming Guide).  launch and node are microseconds: the host's time to issue a kernel, and what a kernel
costs beside its work.  On an H200 gpu-benches measured them (te42kyfo/gpu-benches, gpu-small-kernels: tiny
kernels in a stream, and in a CUDA graph); Maxwell's launch is the 5 µs of SVAIL's and Appleyard's time, its
node is fitted to their ladder (schedule/timeline.py); `assumed` says where both come from a neighbour.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

KB = 1024
WARP = 32
Version = TypeVar("Version")
Entry = TypeVar("Entry")


@dataclass(frozen=True)
class Device:
    """One GPU; sizes in bytes, clock in GHz, bandwidth in GB/s, times in microseconds."""

    name: str
    compute_capability: tuple[int, int]
    multiprocessors: int
    lanes: int  # fp32 multiply-adds a multiprocessor starts in a cycle
    clock: float
    bandwidth: float
    l2: int
    launch: float  # the host's, for each kernel
    node: float  # the device's, for each kernel
    assumed: bool = True  # are launch and node carried over from another device?
    registers_per_multiprocessor: int = 256 * KB
    shared_per_multiprocessor: int = 96 * KB
    shared_per_block: int = 48 * KB  # without opting in to more
    shared_per_block_most: int = 48 * KB  # with
    threads_per_multiprocessor: int = 2048
    blocks_per_multiprocessor: int = 32
    threads_per_block: int = 1024
    tensor_peak: float | None = None  # dense TFLOP/s of 16 bits, of a device that was asked itself

    @property
    def peak(self) -> float:
        """fp32 TFLOP/s; a multiply-add is two."""
        return 2e-3 * self.multiprocessors * self.lanes * self.clock

    @property
    def registers(self) -> int:
        """Bytes of registers on the whole chip."""
        return self.multiprocessors * self.registers_per_multiprocessor

    @property
    def shared(self) -> int:
        """Bytes of shared memory on the whole chip."""
        return self.multiprocessors * self.shared_per_multiprocessor

    def resident_blocks(self, threads: int, shared: int = 0) -> int:
        """How many blocks of that many threads and bytes of shared memory the chip holds at once.

        Registers are left out; a kernel that needs many fits fewer.
        """
        rounded = -(-threads // WARP) * WARP
        a_piece = min(self.threads_per_multiprocessor // rounded, self.blocks_per_multiprocessor)
        if shared:
            a_piece = min(a_piece, self.shared_per_multiprocessor // shared)
        return a_piece * self.multiprocessors


def _device(name: str, sheet: dict) -> Device:
    """A device from its table in devices.toml."""
    sizes = {field: KB * size for field, size in sheet.pop("kib").items()}
    capability = tuple(sheet.pop("compute_capability"))
    return Device(name, capability, **sheet, **sizes)


SHEETS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
DEVICES = {name: _device(name, sheet) for name, sheet in SHEETS.items()}


def nearest_older(table: Mapping[Version, Entry], version: Version) -> Entry:
    """The entry of the newest version in the table that is not newer than `version`.

    Versions are architectures (9) or compute capabilities ((9, 0)).  Raises ValueError where all are newer.
    """
    older = [key for key in table if key <= version]
    if not older:
        raise ValueError(f"compute capability {version}: the oldest that is known here is {min(table)}")
    return table[max(older)]


def find(name: str) -> Device:
    """The device of that name.  Raises ValueError, listing all, if there is none."""
    if name not in DEVICES:
        raise ValueError(f"no data sheet of {name!r}; there are {', '.join(DEVICES)}")
    return DEVICES[name]
