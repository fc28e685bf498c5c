"""A loop nest in Halide: the algorithm is two lines, and every line after them is a choice of schedule."""

from rnncourse.loop_nests import LoopNest, Product
from rnncourse.loop_nests.halide_target import host_target


def build(nest: LoopNest, sizes: tuple[int, int, int]) -> Product:
    """out [M,N] = a [M,K] b [K,N], compiled when called here."""
    import halide as hl

    M, N, K = sizes
    a, b = (hl.ImageParam(hl.Float(32), 2, name) for name in "ab")
    m = hl.Var("m")
    n = hl.Var("n")
    k = hl.RDom([(0, K)], "k").x
    sums = hl.Func("sums")
    out = hl.Func("out")
    sums[n, m] = hl.f32(0)
    sums[n, m] += a[k, m] * b[n, k]
    out[n, m] = sums[n, m]
    loops = {"m": m, "n": n, "k": k}
    result = sums
    if nest.keeps_sums:
        _sums_in_registers(hl, nest, sums, out, loops)
        result = out
    else:
        _sums_in_memory(hl, nest, sums, loops)
    _set_bounds(a, (K, M))
    _set_bounds(b, (N, K))
    _set_bounds(result.output_buffer(), (N, M))
    return result.compile_to_callable([a, b], host_target())


def _set_bounds(buffer, shape):
    for dimension, extent in enumerate(shape):
        buffer.dim(dimension).set_bounds(0, extent)


def _sums_in_registers(hl, nest, sums, out, loops):
    """Schedule with k inside each tile of the result, so that the tile's sums stay in registers."""
    tile = nest.tile
    (m, n, k) = loops.values()
    mi = hl.Var("mi")
    ni = hl.Var("ni")
    outer = {"m": hl.Var("mo"), "n": hl.Var("no")}
    end_where_out_ends = hl.TailStrategy.ShiftInwards
    out.split(m, outer["m"], mi, tile["m"], end_where_out_ends)
    out.split(n, outer["n"], ni, tile["n"], end_where_out_ends)
    first, second = (outer[loop] for loop in nest.order[:2])
    out.reorder(ni, mi, second, first)
    _in_vectors(hl, nest, out, ni, mi)
    sums.compute_at(out, second)
    _in_vectors(hl, nest, sums, n, m)
    update = sums.update()
    update.reorder(n, m, k)
    if tile["k"] > 1:
        update.unroll(k, tile["k"])
    _in_vectors(hl, nest, update, n, m)
    if nest.parallel:
        out.parallel(first)


def _sums_in_memory(hl, nest, sums, loops):
    """Schedule in which every tile reads its sums from memory and writes them back."""
    tile = nest.tile
    inner = {}
    outer = {}
    update = sums.update()
    for loop, variable in loops.items():
        kind = hl.RVar if loop == "k" else hl.Var
        outer[loop] = kind(f"{loop}o")
        inner[loop] = kind(f"{loop}i")
        update.split(variable, outer[loop], inner[loop], tile[loop])
    mi, ni, ki = inner.values()
    ordered = [outer[loop] for loop in nest.order]
    update.reorder(ni, mi, ki, *reversed(ordered))
    update.unroll(ki)
    _in_vectors(hl, nest, update, ni, mi)
    lanes = host_target().natural_vector_size(hl.Float(32))
    sums.vectorize(loops["n"], lanes, hl.TailStrategy.GuardWithIf)
    if nest.parallel:
        update.parallel(ordered[0])


def _in_vectors(hl, nest, stage, n, m):
    """A tile without loops: n in vectors, what is left of n and all of m unrolled."""
    if nest.vectorise > 1:
        stage.vectorize(n, nest.vectorise)
    stage.unroll(n).unroll(m)
