"""How the CUDA C++ kernels share a layer out: blocks, warps, weights in registers and in shared memory.

GridShape is persistent_grid.cu's, over the whole chip; ClusterShape is persistent_cluster.cu's, 8 sequences
in each cluster of blocks.  Both are found for a device, or refused with the reason.
"""

import math
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pocketgpu.devices import Device, nearest_older
from rnnlab.cells import find_cell
from rnnlab.kernels.cells import KERNEL_PROPERTIES
from rnnlab.kernels.persistence import fragments
from rnnlab.kernels.persistence.fragments import DTYPES, ITEMSIZE

SOURCES = Path(__file__).parent  # the kernels and their headers
MOST_GATES = 4  # rows of a unit in a tile
SEQUENCES = 8  # of a tile
WARP = 32
TILE_BYTES = 512  # of weights: 32 lanes, 16 bytes each
LANE_BYTES = 16
NEAR = {8: 48, 9: 128}  # words of weights in a thread's registers, by architecture; docs/registers.md
BUFFERS = 2  # in turn, for partial sums and for what other blocks push
MOST_TILES = 8  # of sequences, whose partial sums wait in shared memory together
MOST_CLUSTER = 16  # blocks
PORTABLE = 8  # more than 8 need a GPU that says it has room for them
MOST_GROUPS = 4  # of a cluster's blocks
BULK_UNITS = 32  # of a block, whose part of h is one piece of shared memory
DIRECTIONS = "forward", "backward"


def with_includes(text: str) -> str:
    """CUDA C++ with our own headers in the place of their names, since NVRTC reads no folders."""
    for name in ("instructions", "cells", "items", "exchange"):
        header = (SOURCES / f"{name}.cuh").read_text(encoding="utf-8")
        part = header.replace("#pragma once\n", "")
        text = re.sub(rf'#include "[./a-z]*/{name}\.cuh"', lambda include, part=part: part, text)
    return text


def supported_cells() -> tuple[str, ...]:
    """Cells that the kernels compute: those whose gates have a row each in a tile."""
    return tuple(cell for cell, properties in KERNEL_PROPERTIES.items() if properties.gates <= MOST_GATES)


class PersistentLaunch(NamedTuple):
    """How a kernel is launched."""

    blocks: int
    threads: int
    shared: int  # bytes
    cluster: int = 1  # blocks


@dataclass(frozen=True)
class Shape:
    """Cell, sizes and dtype of a layer, and the kernel's source and constants that follow from them."""

    cell: str
    hidden: int
    dtype: str

    @property
    def gates(self) -> int:
        return len(find_cell(self.cell).gates)

    @property
    def tile_units(self) -> int:
        """Units of a forward tile of 16 rows."""
        return 16 if self.gates == 1 else 4

    @property
    def name(self) -> str:
        """Name of the kernel's file."""
        return self.file.removesuffix(".cu")

    @cached_property
    def source(self) -> str:
        """The kernels' text, with what it includes in its place."""
        return with_includes((SOURCES / self.file).read_text(encoding="utf-8"))

    @property
    def _constants(self) -> dict[str, int]:
        return {
            "DTYPE": DTYPES[self.dtype],
            "CELL": KERNEL_PROPERTIES[self.cell].number,
            "HIDDEN": self.hidden,
        }

    def pack(self, direction: str, weights: np.ndarray) -> np.ndarray:
        """weight_hh [G·H,H] as the kernel takes it."""
        if direction == "forward":
            return fragments.forward_fragments(weights, self.gates, self.dtype)
        return self._pack_backward(weights)

    @property
    def options(self) -> tuple[str, ...]:
        """The constants, as the compiler takes them."""
        return tuple(f"-D{name}={value}" for name, value in self._constants.items())


@dataclass(frozen=True)
class GridShape(Shape):
    """Over the whole chip; per direction the units of a block, and pairs of tiles in shared memory."""

    warps: int
    units: tuple[int, int]
    away: tuple[int, int]
    chunk: int  # tiles of sequences at once

    file = "persistent_grid.cu"
    cooperative = True  # all blocks must run at once, since each polls what the others publish

    @property
    def _constants(self) -> dict[str, int]:
        constants = super()._constants | {"WARPS": self.warps, "CHUNK": self.chunk}
        for way, units, away in zip(DIRECTIONS, self.units, self.away, strict=True):
            constants |= {f"{way.upper()}_UNITS": units, f"{way.upper()}_AWAY": away}
        return constants

    def launch(self, direction: str, B: int) -> PersistentLaunch:
        """B: sequences, a multiple of 8."""
        way = DIRECTIONS.index(direction)
        units = self.units[way]
        tile_units = self.tile_units if direction == "forward" else 16
        rows = units // tile_units
        parts = BUFFERS * self.chunk * WARP * LANE_BYTES
        weights = 2 * self.away[way] * TILE_BYTES
        shared = rows * self.warps * (parts + weights)
        return PersistentLaunch(self.hidden // units, WARP * self.warps, shared)

    def _pack_backward(self, weights: np.ndarray) -> np.ndarray:
        return fragments.backward_fragments(weights, self.dtype)


@dataclass(frozen=True)
class ClusterShape(Shape):
    """8 sequences in each cluster, all weights in its registers."""

    cluster: int  # blocks
    bulk: bool = False  # does the copy engine push h, a block's part in one packet?

    file = "persistent_cluster.cu"
    cooperative = False  # the hardware starts the blocks of a cluster together

    @property
    def _constants(self) -> dict[str, int]:
        return super()._constants | {"CLUSTER": self.cluster, "GROUPS": self.groups, "BULK": int(self.bulk)}

    @property
    def name(self) -> str:
        """Name of the kernel, with what distinguishes it from the rung's."""
        return super().name + "_bulk" * self.bulk

    @property
    def units(self) -> int:
        """Units of a block."""
        return self.hidden // self.cluster

    @property
    def warps(self) -> int:
        """Warps of a block."""
        return self.units // self.tile_units

    @property
    def groups(self) -> int:
        """Groups of source blocks, whose parts of h are whole pairs of tiles and have a barrier each."""
        return math.gcd(MOST_GROUPS, self.cluster, self.hidden // 32)

    def launch(self, direction: str, B: int) -> PersistentLaunch:
        """B: sequences, a multiple of 8."""
        if direction == "forward":
            numbers = self.hidden + self.units
            shared = BUFFERS * SEQUENCES * 2 * numbers
            barriers = BUFFERS * 8 * self.groups
        else:
            pairs = -(-self.gates * self.units // WARP)
            numbers = self.hidden + 16 * (pairs | 1)
            shared = BUFFERS * SEQUENCES * 4 * numbers
            barriers = BUFFERS * 8
        blocks = B // SEQUENCES * self.cluster
        return PersistentLaunch(blocks, WARP * self.warps, shared + barriers, self.cluster)

    def _pack_backward(self, weights: np.ndarray) -> np.ndarray:
        return fragments.scattered_fragments(weights, self.gates, self.cluster, self.dtype)


def grid_shape(cell: str, hidden: int, dtype: str, B: int, device: Device) -> GridShape:
    """The shape for at least B sequences.  Raises ValueError with the reason where there is none."""
    _check(cell, dtype, device, (8, 0))
    shape = Shape(cell, hidden, dtype)
    itemsize = ITEMSIZE[dtype]
    pairs, rest = divmod(hidden * itemsize, 64)
    if rest or hidden % 16:
        raise ValueError(f"{hidden} units do not fill pairs of tiles: take a multiple of {64 // itemsize}")
    warps = next(count for count in (8, 4, 2, 1) if pairs % count == 0)
    units = []
    away = []
    least = -(-hidden // device.multiprocessors)
    words = nearest_older(NEAR, device.compute_capability[0])
    for step, count in ((shape.tile_units, pairs), (16, shape.gates * pairs)):
        fewest = next(u for u in range(step, hidden + 1, step) if hidden % u == 0 and u >= least)
        units.append(fewest)
        tiles = fewest // step
        near = max(1, words // (8 * tiles))
        away.append(max(0, count // warps - near))
    most = min(MOST_TILES, -(-B // SEQUENCES))
    for chunk in range(most, 0, -1):
        shape = GridShape(cell, hidden, dtype, warps, tuple(units), tuple(away), chunk)
        if all(shape.launch(way, 8).shared <= device.shared_per_block_most for way in DIRECTIONS):
            return shape
    raise ValueError(
        f"{hidden} units of {cell} in {dtype} do not stay on the {device.multiprocessors} "
        f"multiprocessors of {device.name}: take fewer units, or graph_replay"
    )


def cluster_shape(cell: str, hidden: int, dtype: str, device: Device, bulk: bool = False) -> ClusterShape:
    """The smallest cluster that keeps the weights.  Raises ValueError with the reason where there is none."""
    _check(cell, dtype, device, (9, 0))
    if dtype == "tf32":
        raise ValueError("the cluster kernel multiplies 16-bit numbers; for float32 take the grid kernel")
    step = Shape(cell, hidden, dtype).tile_units
    room = min(MOST_CLUSTER, device.multiprocessors)  # a slice of a GPU may have fewer
    for cluster in (size for size in (1, 2, 4, 8, 16) if size <= room):
        shape = ClusterShape(cell, hidden, dtype, cluster, bulk)
        whole = hidden % 32 == 0 and hidden % (cluster * step) == 0
        if whole and shape.warps <= 8 and hidden // 4 <= NEAR[9]:
            if bulk and shape.units != BULK_UNITS:
                raise ValueError(
                    f"{hidden} units of {cell} are {shape.units} a block: bulk copies need {BULK_UNITS}; "
                    "take persistent_cluster"
                )
            return shape
    raise ValueError(
        f"{hidden} units of {cell} do not stay in the registers of {room} blocks of 8 warps with "
        f"whole tiles of {step} units: take up to 512, in multiples of 32, or the grid kernel"
    )


def _check(cell: str, dtype: str, device: Device, least: tuple[int, int]) -> None:
    if dtype not in DTYPES:
        raise ValueError(f"dtype is {dtype!r}: {', '.join(DTYPES)}")
    cells = supported_cells()
    if cell not in cells:
        raise ValueError(f"the kernels support {', '.join(cells)}, not {cell}")
    if device.compute_capability < least:
        have, need = (".".join(map(str, version)) for version in (device.compute_capability, least))
        raise ValueError(f"{device.name} has compute capability {have}; the kernel needs {need}")
