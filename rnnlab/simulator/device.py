"""The device that the simulator plays: what a block may use, and how many blocks it can hold at once."""

from dataclasses import dataclass
from typing import NamedTuple

from rnnlab.simulator.threads import WARP


class Limits(NamedTuple):
    """What the device gives a launch."""

    resident: int  # blocks at once
    shared: int  # bytes of shared memory a block
    dynamic_shared: int  # of these, asked for at the launch


@dataclass(frozen=True)
class Sheet:
    """Limits of one GPU, from NVIDIA's CUDA C++ Programming Guide, table of compute capabilities."""

    name: str
    compute_capability: tuple[int, int]
    multiprocessors: int
    threads_per_multiprocessor: int
    blocks_per_multiprocessor: int
    shared_per_block: int  # bytes, without opting in to more
    shared_per_multiprocessor: int  # bytes
    threads_per_block: int = 1024


SHEETS = {
    sheet.name: sheet
    for sheet in (
        Sheet("TitanX", (5, 2), 24, 2048, 32, 48 * 1024, 96 * 1024),
        Sheet("M40", (5, 2), 24, 2048, 32, 48 * 1024, 96 * 1024),
        Sheet("P100", (6, 0), 56, 2048, 32, 48 * 1024, 64 * 1024),
        Sheet("V100", (7, 0), 80, 2048, 32, 48 * 1024, 96 * 1024),
        Sheet("T4", (7, 5), 40, 1024, 16, 48 * 1024, 64 * 1024),
        Sheet("A100", (8, 0), 108, 2048, 32, 48 * 1024, 164 * 1024),
        Sheet("H100", (9, 0), 132, 2048, 32, 48 * 1024, 228 * 1024),
        Sheet("H200", (9, 0), 132, 2048, 32, 48 * 1024, 228 * 1024),
    )
}


def limits(sheet: Sheet, threads: int, dynamic_shared: int, static_shared: int = 0) -> Limits:
    """What a launch of blocks of that many threads gets.  Raises ValueError for a block that does not fit.

    Registers are not known here; a kernel that needs many of them fits fewer blocks than this says.
    """
    if threads > sheet.threads_per_block:
        raise ValueError(f"a block of {threads} threads: a block has at most {sheet.threads_per_block}")
    shared = dynamic_shared + static_shared
    if shared > sheet.shared_per_block:
        raise ValueError(
            f"{shared} bytes of shared memory a block: the {sheet.name} gives {sheet.shared_per_block}"
        )
    rounded = -(-threads // WARP) * WARP
    by_threads = min(sheet.threads_per_multiprocessor // rounded, sheet.blocks_per_multiprocessor)
    by_shared = sheet.shared_per_multiprocessor // shared if shared else by_threads
    return Limits(min(by_threads, by_shared) * sheet.multiprocessors, sheet.shared_per_block, dynamic_shared)
