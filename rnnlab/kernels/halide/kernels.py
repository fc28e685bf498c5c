"""Kernels, scheduled and compiled just in time: products of recurrent networks as functions of arrays."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from rnnlab.kernels.halide import registers
from rnnlab.kernels.halide.equations import Functions, Kernel
from rnnlab.kernels.halide.target import host_target

FEW_ROWS = "_few_rows"  # of a kernel's name: with tiles of one row, for less than a whole tile


class Pipeline(NamedTuple):
    """A scheduled Func and its ImageParams in the order they are passed."""

    func: object
    arguments: list


class Kernels:
    """Some kernels for one dtype, compiled into this process."""

    def __init__(self, kernels: Mapping[str, Kernel], dtype: str):
        import halide as hl

        build, self.products = _Builder(hl, dtype), 0
        self.gates = {name: kernel.gates for name, kernel in kernels.items()}
        self.tiles = {gates: registers.tile(hl, dtype, gates) for gates in self.gates.values()}
        pipelines = build.all(kernels, self.tiles)
        self.run = {
            name: p.func.compile_to_callable(p.arguments, host_target()) for name, p in pipelines.items()
        }

    def operand(self, b: np.ndarray, gates: int = 1) -> np.ndarray:
        """b [K,gates·N] as panels [N/width,K,gates,width]."""
        K, columns = b.shape
        b = np.lib.stride_tricks.as_strided(  # a reshape would copy a transposed view
            b,
            (K, gates, columns // gates),
            (b.strides[0], b.strides[1] * (columns // gates), b.strides[1]),
            writeable=False,
        )
        tile = self.tiles[gates]
        packed = np.empty((tile.panels(b.shape[2]), K, gates, tile.width), b.dtype)
        self.run[f"pack_{gates}"](b, packed)
        return packed

    def rows(self, a: np.ndarray) -> np.ndarray:
        """a [M,K] with the numbers of a row side by side."""
        if a.strides[1] == a.itemsize:
            return a
        side_by_side = np.empty(a.shape, a.dtype)
        self.run["rows"](a, side_by_side)
        return side_by_side

    def multiply(self, name: str, a: np.ndarray, b: np.ndarray, *arrays: np.ndarray) -> None:
        """Kernel `name` of a [M,K] and the operand b; arrays are its extras, then what it writes [M,N]."""
        self.products += 1
        few = len(a) < self.tiles[self.gates[name]].rows
        self.run[name + FEW_ROWS * few](a, b, *arrays)


class _Builder:
    """Pipelines of one dtype."""

    def __init__(self, hl, dtype: str):
        self.hl = hl
        self.type = hl.Float(8 * np.dtype(dtype).itemsize)
        self.functions = Functions(hl, dtype)

    def all(self, kernels: Mapping[str, Kernel], tiles: Mapping[int, registers.Tile]) -> dict[str, Pipeline]:
        """Every kernel, and what prepares its operands."""
        pipelines = {"rows": self._rows()}
        for gates, tile in tiles.items():
            pipelines[f"pack_{gates}"] = self._pack(tile)
        for name, kernel in kernels.items():
            tile = tiles[kernel.gates]
            pipelines[name] = self._scheduled(kernel, tile)
            pipelines[name + FEW_ROWS] = self._scheduled(kernel, tile.of_one_row())
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

    def _scheduled(self, kernel: Kernel, tile: registers.Tile) -> Pipeline:
        n, m = self.hl.Var("n"), self.hl.Var("m")
        arrays, extras = self._operands(kernel, n, m)
        a, packed = self._array("a", 2), self._array("packed", 4)
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
