"""What fits where: recurrent weights in the registers and the shared memory of a multiprocessor, a cluster, a
chip.

Not all of either is free for weights.  Half of the registers is: the other half are sums, addresses and what
is on its way.  Of Hopper's 228 KiB of shared memory 200 are; of other devices the same part.
"""

from math import isqrt
from typing import NamedTuple

from rnnlab.cells import GATES
from rnnlab.devices import Device

OF_REGISTERS = 0.5
OF_SHARED = 200 / 228
CLUSTER = 16  # multiprocessors that see each other's shared memory, from sm_90 on


class Place(NamedTuple):
    """Somewhere on the chip where weights can stay for a whole sequence."""

    name: str
    bytes: int


class Fit(NamedTuple):
    """One layer in one place."""

    place: Place
    needed: int  # bytes
    most_hidden: int  # units of the largest layer that fits

    @property
    def fits(self) -> bool:
        return self.needed <= self.place.bytes


def places(device: Device) -> list[Place]:
    """From the closest to the widest."""
    registers = int(OF_REGISTERS * device.registers_per_multiprocessor)
    both = registers + int(OF_SHARED * device.shared_per_multiprocessor)
    clusters = [Place(f"a cluster of {CLUSTER} multiprocessors", CLUSTER * both)]
    return [
        Place("one multiprocessor", both),
        *(clusters if device.compute_capability >= (9, 0) else []),
        Place("all registers", device.multiprocessors * registers),
        Place("all registers and shared memory", device.multiprocessors * both),
    ]


def fits(cell: str, hidden: int, itemsize: int, device: Device) -> list[Fit]:
    """Where the [G·H,H] recurrent weights of a layer fit; itemsize is the bytes of a number."""
    gates = len(GATES[cell])
    a_square = gates * itemsize
    return [
        Fit(place, a_square * hidden * hidden, isqrt(place.bytes // a_square)) for place in places(device)
    ]


def weights_of_thread(rows: int, columns: int, blocks: int, threads: int) -> int:
    """What each thread keeps of a matrix.  Raises ValueError if the threads cannot share it out evenly."""
    share, rest = divmod(rows * columns, blocks * threads)
    if rest:
        raise ValueError(
            f"{rows} × {columns} weights do not share out evenly over {blocks} × {threads} threads: "
            f"{rest} are left"
        )
    return share
