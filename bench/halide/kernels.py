"""Kernels × schedule, compiled just in time: products of recurrent networks as functions of arrays."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from bench.halide import published, registers
from bench.halide.equations import Functions, Kernel
from rnncourse.loop_nests.halide_target import host_target

OURS = "ours"
SCHEDULES = (*published.NAMES, OURS)
FEW_ROWS = "_few_rows"  # of a kernel's name: with tiles of one row, for less than a whole tile


class Pipeline(NamedTuple):
    """A scheduled Func and its ImageParams in the order they are passed."""

    func: object
    arguments: list


class Kernels:
    """Some kernels under one schedule, for one dtype, compiled into this process."""

    def __init__(self, kernels: Mapping[str, Kernel], schedule: str, dtype: str):
        if schedule not in SCHEDULES:
            raise ValueError(f"no schedule is called {schedule!r}; there are {', '.join(SCHEDULES)}")
        import halide as hl

        build = _Builder(hl, dtype, schedule)
        self.is_ours = schedule == OURS
        self.products = 0
        self.gates = {name: kernel.gates for name, kernel in kernels.items()}
        self.tiles = {gates: registers.tile(hl, dtype, gates) for gates in self.gates.values()}
        pipelines = build.all(kernels, self.tiles)
        self.run = {
            name: p.func.compile_to_callable(p.arguments, host_target()) for name, p in pipelines.items()
        }

    def operand(self, b: np.ndarray, gates: int = 1) -> np.ndarray:
        """b [K,gates·N] as this schedule reads it: [N/width,K,gates,width] or contiguous [K,gates,N]."""
        K, columns = b.shape
        b = np.lib.stride_tricks.as_strided(  # a reshape would copy a transposed view
            b,
            (K, gates, columns // gates),
            (b.strides[0], b.strides[1] * (columns // gates), b.strides[1]),
            writeable=False,
        )
        if not self.is_ours:
            return np.ascontiguousarray(b)
        tile = self.tiles[gates]
        packed = np.empty((tile.panels(b.shape[2]), K, gates, tile.width), b.dtype)
        self.run[f"pack_{gates}"](b, packed)
        return packed

    def rows(self, a: np.ndarray) -> np.ndarray:
        """a [M,K] as this schedule reads it: with the numbers of a row side by side."""
        if not self.is_ours or a.strides[1] == a.itemsize:
            return a
        side_by_side = np.empty(a.shape, a.dtype)
        self.run["rows"](a, side_by_side)
        return side_by_side

    def multiply(self, name: str, a: np.ndarray, b: np.ndarray, *arrays: np.ndarray) -> None:
        """Kernel `name` of a [M,K] and the operand b; arrays are its extras, then what it writes [M,N]."""
        self.products += 1
        few = self.is_ours and len(a) < self.tiles[self.gates[name]].rows
        self.run[name + FEW_ROWS * few](a, b, *arrays)


class _Builder:
    """Pipelines of one dtype under one schedule."""

    def __init__(self, hl, dtype: str, schedule: str):
        self.hl = hl
        self.dtype = dtype
        self.schedule = schedule
        self.type = hl.Float(8 * np.dtype(dtype).itemsize)
        self.functions = Functions(hl, dtype, in_vectors=schedule == OURS)

    def all(self, kernels: Mapping[str, Kernel], tiles: Mapping[int, registers.Tile]) -> dict[str, Pipeline]:
        """Every kernel, and what prepares its operands."""
        if self.schedule != OURS:
            return {name: self._published(kernel) for name, kernel in kernels.items()}
        pipelines = {"rows": self._rows()}
        for gates, tile in tiles.items():
            pipelines[f"pack_{gates}"] = self._pack(tile)
        for name, kernel in kernels.items():
            tile = tiles[kernel.gates]
            pipelines[name] = self._ours(kernel, tile)
            pipelines[name + FEW_ROWS] = self._ours(kernel, tile.of_one_row())
        return pipelines

    def _array(self, name: str, dimensions: int, any_stride: bool = False):
        array = self.hl.ImageParam(self.type, dimensions, name)
        for dimension in range(dimensions):
            array.dim(dimension).set_min(0)
        if any_stride:
            array.dim(0).set_stride(self.hl.Expr())
        return array

    def _finished(self, func, arguments: list) -> Pipeline:
        for dimension in range(func.dimensions()):
            func.output_buffers()[0].dim(dimension).set_min(0)  # the others have the same
        return Pipeline(func, arguments)

    def _operands(self, kernel: Kernel, n, m):
        """ImageParams of the extras, and their expressions at (n, m)."""
        arrays = {x: self._array(x, 1 if x.startswith("bias") else 2) for x in kernel.extras}
        return arrays, {x: array[n] if x.startswith("bias") else array[n, m] for x, array in arrays.items()}

    def _published(self, kernel: Kernel) -> Pipeline:
        n = self.hl.Var("n")
        m = self.hl.Var("m")
        arrays, extras = self._operands(kernel, n, m)
        a = self._array("a", 2, any_stride=True)
        b = self._array("b", 3)
        out = published.define(self.hl, kernel, self.functions, a, b, extras, n, m)
        published.schedule(self.hl, out, n, m, self.schedule)
        return self._finished(out, [a, b, *arrays.values()])

    def _ours(self, kernel: Kernel, tile: registers.Tile) -> Pipeline:
        n = self.hl.Var("n")
        m = self.hl.Var("m")
        arrays, extras = self._operands(kernel, n, m)
        a = self._array("a", 2)
        packed = self._array("packed", 4)
        packed.dim(0).set_extent(tile.width)
        packed.dim(1).set_extent(kernel.gates).set_stride(tile.width)
        packed.dim(2).set_stride(tile.width * kernel.gates)
        out = registers.define(self.hl, kernel, self.functions, a, packed, extras, n, m, tile)
        return self._finished(out, [a, packed, *arrays.values()])

    def _pack(self, tile: registers.Tile) -> Pipeline:
        b = self._array("b", 3, any_stride=True)
        return self._finished(registers.pack(self.hl, b, tile), [b])

    def _rows(self) -> Pipeline:
        a = self._array("a", 2, any_stride=True)
        return self._finished(registers.rows(self.hl, a), [a])
