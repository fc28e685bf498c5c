"""Which tile: how many rows and vectors of a product's result a core should hold in its registers.

A tile of R rows and V vectors keeps R·V sums in vector registers.  Each step loads V vectors of the panel and
R numbers of the rows, and does R·V fused multiply-adds (FMAs) with them.  Three limits decide:

    registers   R·V sums, V vectors of the panel and one number in all lanes must fit, or sums spill
    latency     an FMA waits for the one before it in its sum: latency·units sums are needed in flight
    loads       R + V loads for R·V FMAs: a core with as many loads as FMAs a cycle needs R·V ≥ R + V

Nothing here needs Numba or a processor of that kind: these are the counts of the lesson packed_products.
"""

from typing import NamedTuple


class Core(NamedTuple):
    """What a core's data sheet says about its vector unit."""

    registers: int = 32  # vector registers
    vector_bytes: int = 64
    fmas_per_cycle: int = 2  # vector FMAs
    fma_latency: int = 4  # cycles
    loads_per_cycle: int = 2
    row_addresses: int = 11  # general registers left for the addresses of rows: x86 has 16 in all
    unroll: tuple[int, int] = (3, 6)  # steps that share the addresses of rows, in float32 and float64


class Tile(NamedTuple):
    """Rows of the result, and vectors of columns, that one call of the kernel computes."""

    rows: int
    vectors: int

    @property
    def sums(self) -> int:
        return self.rows * self.vectors

    @property
    def registers(self) -> int:
        """Vector registers in use: the sums, a row of the panel, one number of the rows in all lanes."""
        return self.sums + self.vectors + 1

    @property
    def loads_per_fma(self) -> float:
        return (self.rows + self.vectors) / self.sums

    def spills(self, core: Core) -> int:
        """Sums that find no register, and are stored and loaded in every step."""
        return max(0, self.registers - core.registers)


# By instruction set: the values of common processors, not of the slowest.  LLVM finds registers for all sums
# at these row_addresses and unroll, and not at others: test_packed_machine_code.py reads the assembly.
CORES = {
    "avx512": Core(),
    "avx2": Core(registers=16, vector_bytes=32),
    "neon": Core(vector_bytes=16, fmas_per_cycle=4, loads_per_cycle=3, row_addresses=12, unroll=(2, 2)),
    "other": Core(registers=16, vector_bytes=16),
}


def predicted_rate(tile: Tile, core: Core) -> float:
    """Part of the core's FMA rate that the tile can reach, from 0 to 1, everything in the first cache."""
    loads = tile.rows + tile.vectors + 2 * tile.spills(core)  # a spilt sum is loaded and stored
    fma_cycles = tile.sums / core.fmas_per_cycle
    load_cycles = loads / core.loads_per_cycle
    return fma_cycles / max(fma_cycles, load_cycles, core.fma_latency)


def choose_tile(core: Core) -> Tile:
    """The tile with the best predicted rate; of those equally good, the narrowest panel, then the most rows.

    A narrow panel wastes less if the width of the matrix is not a multiple of it.  Many rows read the panel
    less often from the second cache: one vector of it serves as many FMAs as there are rows.
    """
    tiles = []
    for rows in range(1, core.row_addresses + 1):
        for vectors in range(1, core.registers):
            tile = Tile(rows, vectors)
            if not tile.spills(core):
                tiles.append(tile)
    return max(tiles, key=lambda tile: (predicted_rate(tile, core), -tile.vectors, tile.rows))
