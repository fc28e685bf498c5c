"""Loop over time, scan and Newton's method on each GPU of a data sheet, predicted: nothing here is measured.

python -m bench.parallel_times prints the table that docs/performance.md holds.  One sequence, forward:

    loop      the quickest way that rnnlab.ladder.chooser predicts for a GRU, T times: with persistent kernels
              the lower bound of an exchange, its bytes and its product (kernels.persistence.floor)
    scan      a min_gru: two levels for each doubling of T, an exchange each, and 3 words a state
    Newton    of a GRU, 4 rounds: such levels over matrices, 3·H² words a step, two products of H × H
    diagonal  with the Jacobians' diagonals, 16 rounds: a scan, and the states times all weights, once a round

Bytes move at the memory's bandwidth and products run at the rate of rnnlab.schedule.timeline, in float32.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

from bench.cpu_tables import digits, markdown_table
from pocketgpu.devices import DEVICES, Device
from rnnlab.cells import find_cell
from rnnlab.kernels.persistence.floor import latencies_of
from rnnlab.kernels.persistence.fragments import ITEMSIZE
from rnnlab.ladder.chooser import Abilities, choose
from rnnlab.schedule.timeline import TILE, throughput

ROUNDS = 4
DIAGONAL_ROUNDS = 16  # of Newton's method: lesson 18 says when they are enough
WIDTHS = (64, 256, 512)
LENGTHS = (1_000, 100_000)
COOPERATIVE = (6, 0)
CLUSTERS = (9, 0)
BFLOAT16 = (8, 0)  # compute capabilities that have them


class Times(NamedTuple):
    """Milliseconds, and the way that the loop takes."""

    loop: float
    way: str
    scan: float
    newton: float
    diagonal: float


def predicted(device: Device, H: int, T: int, B: int = 1) -> Times:
    """What T steps of B sequences take with H units."""
    version = device.compute_capability
    dtype = "bfloat16" if version >= BFLOAT16 else "float32"
    gpu = Abilities(device, cooperative=version >= COOPERATIVE, clusters=version >= CLUSTERS)
    choice = choose("gru", H, dtype, (T, B), gpu)
    (step,) = (way.step for way in choice.ways if way.name == choice.name)
    gates = len(find_cell("gru").gates)
    tiles = -(-H // TILE[0])
    levels = 2 * math.ceil(math.log2(T)) * latencies_of(device).grid_exchange

    def moved(words):
        return words * ITEMSIZE.get(dtype, 4) / device.bandwidth * 1e-3

    product = lambda flops, blocks: flops / throughput(device, blocks)
    scan = levels + moved(3 * T * B * H)
    matrices = moved(3 * T * B * H**2) + product(2 * T * B * 2 * H**3, T * B * tiles**2)
    states = product(2 * T * B * gates * H**2, gates * tiles * -(-T * B // TILE[1]))
    times = T * step, scan, ROUNDS * (levels + matrices), DIAGONAL_ROUNDS * (scan + states)
    loop, *others = (1e-3 * time for time in times)
    return Times(loop, choice.name, *others)


def rows() -> Iterator[tuple[Device, int, int, Times]]:
    """Every data sheet at every size."""
    for device in DEVICES.values():
        for H in WIDTHS:
            for T in LENGTHS:
                yield device, H, T, predicted(device, H, T)


def table() -> str:
    """All of them as a table; the quickest for a GRU has a star."""
    head = ["predicted, ms", "H", "T", "GRU, loop", "by", "GRU, Newton", "GRU, diagonals", "min_gru, scan"]
    lines = [head]
    for device, H, T, times in rows():
        ways = times.loop, times.newton, times.diagonal
        loop, newton, diagonal = (f"{('*' if way == min(ways) else '')}{digits(way)}" for way in ways)
        lines.append([device.name, f"{H}", f"{T:,}", loop, times.way, newton, diagonal, digits(times.scan)])
    return markdown_table(lines)


if __name__ == "__main__":
    print(table())
