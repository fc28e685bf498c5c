"""Weights of each thread: a warp has whole units, so that all gates of a unit are in one place.

A warp has U units and all G gates of each; its 32 lanes share the H columns out, lane l has columns l, l +
32, ….  So a thread keeps G·U·⌈H/32⌉ numbers, forward (rows of its units) and backward (columns) alike.
"""

from dataclasses import dataclass

LANES = 32
MOST_WEIGHTS = {7: 64, 8: 64, 9: 128}  # a thread's by architecture, none of them spilled: as compiled
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

    Raises ValueError if a thread would keep more weights than stay in its registers.
    """
    warps = 1 if hidden < NARROW else WARPS
    units, most = max(1, -(-hidden // (warps * multiprocessors))), MOST_WEIGHTS.get(major, 0)
    tiles = Tiles(gates, hidden, units, warps)
    if tiles.weights > most:
        raise ValueError(
            f"{gates} gates of {hidden} units do not stay in the registers of {multiprocessors} "
            f"multiprocessors: a thread would keep {tiles.weights} weights, {most} fit; take fewer "
            "units, or graph_replay, which reads the weights at every step"
        )
    return tiles
