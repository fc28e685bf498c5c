"""What the device that the simulator plays gives a launch: blocks at once, and shared memory."""

from typing import NamedTuple

from rnnlab.devices import Device


class Limits(NamedTuple):
    """What the device gives a launch."""

    resident: int  # blocks at once
    shared: int  # bytes of shared memory a block
    dynamic_shared: int  # of these, asked for at the launch


def limits(device: Device, threads: int, dynamic_shared: int) -> Limits:
    """What a launch of blocks of that many threads gets.  Raises ValueError for a block that does not fit."""
    if threads > device.threads_per_block:
        raise ValueError(f"a block of {threads} threads: a block has at most {device.threads_per_block}")
    if dynamic_shared > device.shared_per_block:
        raise ValueError(
            f"{dynamic_shared} bytes of shared memory a block: {device.name} has {device.shared_per_block}"
        )
    resident = device.resident_blocks(threads, dynamic_shared)
    return Limits(resident, device.shared_per_block, dynamic_shared)
