"""Our schedule: the sums of a tile stay in registers while k runs, and are finished before they leave them.

b is packed once into panels [N/width,K,gates,width], so that a step of k reads neighbours; a step of k then
costs `rows` broadcasts of a and gates·width/vector loads of b for rows times as many multiply-adds.  With
AVX-512, one gate, 9 rows and 3 vectors, that is 27 of 32 registers for sums, 27 multiply-adds for 12 loads.
Tiles are grouped into blocks that fit the second-level cache, and blocks are shared between threads.
"""

from dataclasses import dataclass, replace

import numpy as np

from rnncourse.loop_nests.halide_target import host_target

BLOCK_ROWS = 256
BLOCK_COLUMNS = 96  # of a task: with K = 1000, a's rows are 1 MB and b's panels 0.4 MB
REGISTERS = {"avx512": 32, "other": 16}
LANES = 16  # numbers copied at a time
VECTORS = {1: 3, 3: 1, 4: 1}  # of a tile's width, by gates, where there are 32 registers
NARROW_VECTORS = {1: 2, 3: 1, 4: 1}  # where there are 16


@dataclass(frozen=True)
class Tile:
    """Sums kept in registers: `rows` of the result by `width` columns, for each gate."""

    rows: int
    width: int
    vector: int

    def panels(self, columns: int) -> int:
        return -(-columns // self.width)

    def of_one_row(self) -> "Tile":
        return replace(self, rows=1)


def tile(hl, dtype: str, gates: int) -> Tile:
    """The tile for this processor: all registers but those a step of k needs for b and for one value of a."""
    target = host_target()
    wide = target.has_feature(hl.TargetFeature.AVX512_Skylake)
    vector = target.natural_vector_size(hl.Float(8 * np.dtype(dtype).itemsize))
    across = (VECTORS if wide else NARROW_VECTORS)[gates]
    registers = REGISTERS["avx512" if wide else "other"] - gates * across - 1
    return Tile(registers // (gates * across), across * vector, vector)


def define(hl, kernel, functions, a, packed, extras, n, m, tile: Tile) -> object:
    """Func over (n, m) and the Func of its sums, from a (k, m), packed (width, gate, k, panel) and extras."""
    k = hl.RDom([(0, a.dim(0).extent())], "k").x
    gate = hl.Var("gate")
    sums = hl.Func("sums")
    complete = hl.Func("complete")
    out = hl.Func("out")
    zero = hl.cast(a.type(), 0)
    sums[n, gate, m] = zero
    sums[n, gate, m] += a[k, m] * packed[n % tile.width, gate, k, n // tile.width]
    complete[n, gate, m] = sums[n, gate, m]
    values = kernel.finish(functions, [complete[n, index, m] for index in range(kernel.gates)], extras)
    out[n, m] = values[0] if len(values) == 1 else hl.Tuple(tuple(values))
    _schedule(hl, out, [complete, sums], (n, gate, m, k), kernel.gates, tile)
    return out


def _schedule(hl, out, tiles, loops, gates: int, tile: Tile) -> None:
    n, gate, m, k = loops
    no, ni, mo, mi, nb, mb, task = (hl.Var(v) for v in ("no", "ni", "mo", "mi", "nb", "mb", "task"))
    guard = hl.TailStrategy.GuardWithIf
    out.split(n, no, ni, tile.width, guard)
    out.split(m, mo, mi, tile.rows)  # the last tile of rows overlaps the one before
    out.split(no, nb, no, max(1, BLOCK_COLUMNS // tile.width), guard)
    out.split(mo, mb, mo, max(1, BLOCK_ROWS // tile.rows), guard)
    out.reorder(ni, mi, mo, no, nb, mb).fuse(nb, mb, task).parallel(task)
    out.vectorize(ni, tile.vector).unroll(ni)
    for stage in tiles:
        stage.compute_at(out, mo)
        stage.bound_extent(n, tile.width).bound(gate, 0, gates).bound_extent(m, tile.rows)
        stage.vectorize(n, tile.vector).unroll(n).unroll(gate).unroll(m)
    update = tiles[-1].update()
    update.reorder(n, gate, m, k).vectorize(n, tile.vector).unroll(n).unroll(gate).unroll(m)


def pack(hl, b, tile: Tile):
    """Func (width, gate, k, panel) of b (n, gate, k), whichever of b's dimensions is contiguous."""
    i, gate, k, panel = (hl.Var(v) for v in ("i", "gate", "k", "panel"))
    whole = [(0, b.dim(d).extent()) for d in range(3)]
    inside = hl.BoundaryConditions.repeat_edge(b, whole)
    packed = hl.Func("packed")
    packed[i, gate, k, panel] = inside[panel * tile.width + i, gate, k]
    packed.output_buffer().dim(0).set_extent(tile.width)
    packed.parallel(panel)
    packed.specialize(b.dim(0).stride() == 1).vectorize(i, tile.vector).unroll(i)
    _read_along(hl, packed.specialize(b.dim(2).stride() == 1), k, [i, gate])
    return packed


def rows(hl, a):
    """Func (k, m) of a (k, m), whose columns are contiguous."""
    k = hl.Var("k")
    m = hl.Var("m")
    copied = hl.Func("rows")
    mo = hl.Var("mo")
    mi = hl.Var("mi")
    copied[k, m] = a[k, m]
    copied.split(m, mo, mi, LANES, hl.TailStrategy.GuardWithIf).parallel(mo)
    _read_along(hl, copied.specialize(a.dim(1).stride() == 1), mi, [k])
    return copied


def _read_along(hl, stage, contiguous, others) -> None:
    """Vectors along the dimension that the input has contiguous: reading is dense, writing scattered."""
    outer = hl.Var("outer")
    inner = hl.Var("inner")
    stage.split(contiguous, outer, inner, LANES, hl.TailStrategy.GuardWithIf)
    stage.reorder(inner, *others, outer).vectorize(inner)
