"""Where weights fit on a chip, and which thread holds which of them.

Half of the registers are free for weights: the other half are sums, addresses and what is on its way.  Of
Hopper's 228 KiB of shared memory 200 are; of other devices the same part.

A warp has U units and all G gates of each, so that all gates of a unit are in one place; its 32 lanes share
the H columns out, lane l has columns l, l + 32, ….  So a thread keeps G·U·⌈H/32⌉ numbers, forward (rows of
its units) and backward (columns) alike.
"""

from dataclasses import dataclass
from math import isqrt
from typing import NamedTuple

from pocketgpu.devices import Device, nearest_older
from rnnlab.cells import find_cell

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
    a_square = len(find_cell(cell).gates) * itemsize
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


LANES = 32
MOST_WEIGHTS = {7: 64, 8: 64, 9: 128, 10: 112, 12: 128}  # a thread's, by architecture: none spilled
WARPS = 8  # a block
NARROW = 64  # units, below which a block of one warp spreads a layer over more blocks


@dataclass(frozen=True)
class Tiles:
    """The weights of one layer, [G·H,H], on a grid of blocks."""

    gates: int
    hidden: int
    units: int  # a warp's
    warps: int = WARPS  # of a block

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """G, U, C and H, as kernels name them: gates, units, columns, hidden."""
        return self.gates, self.units, self.columns, self.hidden

    @property
    def columns(self) -> int:
        """Columns of the weights that a lane holds."""
        return -(-self.hidden // LANES)

    @property
    def weights(self) -> int:
        """Weights that a thread holds."""
        return self.gates * self.units * self.columns

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return LANES * self.warps

    @property
    def blocks(self) -> int:
        return -(-self.hidden // (self.warps * self.units))

    def owner(self, row: int, column: int) -> tuple[int, int, int]:
        """(block, thread, place among its weights) of the weight in that row and column of [G·H,H]."""
        gate, unit = divmod(row, self.hidden)
        warp, unit = divmod(unit, self.units)
        block, warp = divmod(warp, self.warps)
        place = (unit * self.gates + gate) * self.columns + column // LANES
        return block, warp * LANES + column % LANES, place


def tiles_for(gates: int, hidden: int, multiprocessors: int, major: int = 9) -> Tiles:
    """Tiles with the fewest units a warp that one block on each multiprocessor allows.

    `major` is the architecture's number, 9 for sm_90.

    Raises ValueError if a thread would keep more weights than stay in its registers, or if the architecture
    is older than all for which that is known.
    """
    warps = 1 if hidden < NARROW else WARPS
    units = max(1, -(-hidden // (warps * multiprocessors)))
    most = nearest_older(MOST_WEIGHTS, major)
    tiles = Tiles(gates, hidden, units, warps)
    if tiles.weights > most:
        raise ValueError(
            f"{gates} gates of {hidden} units do not stay in the registers of {multiprocessors} "
            f"multiprocessors: a thread would keep {tiles.weights} weights, {most} fit; take fewer "
            "units, or graph_replay, which reads the weights at every step"
        )
    return tiles
