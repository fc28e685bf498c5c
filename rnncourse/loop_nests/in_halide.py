"""A loop nest in Halide: the algorithm is two lines, and every line after them is a choice of schedule."""

from rnncourse.loop_nests import LoopNest, Product
from rnncourse.loop_nests.halide_target import host_target


def build(nest: LoopNest, sizes: tuple[int, int, int]) -> Product:
    """out [M,N] = a [M,K] b [K,N], compiled when called here."""
    import halide as hl

    a, b = (hl.ImageParam(hl.Float(32), 2, name) for name in "ab")
    m = hl.Var("m")
    n = hl.Var("n")
    k = hl.RDom([(0, sizes[2])], "k").x
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
    M, N, K = sizes
    for buffer, shape in [(a, (K, M)), (b, (N, K)), (result.output_buffer(), (N, M))]:
        for dimension, extent in enumerate(shape):
            buffer.dim(dimension).set_bounds(0, extent)
    return result.compile_to_callable([a, b], host_target())


def _sums_in_registers(hl, nest, sums, out, loops):
    """Schedule with k inside each tile of the result, so that the tile's sums stay in registers."""
    tile = nest.tile
    (m, n, k) = loops.values()
    mi = hl.Var("mi")
    ni = hl.Var("ni")
    outer = {"m": hl.Var("mo"), "n": hl.Var("no")}
    for loop, variable, inner in [("m", m, mi), ("n", n, ni)]:
        out.split(variable, outer[loop], inner, tile[loop], hl.TailStrategy.ShiftInwards)
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
        outer[loop], inner[loop] = kind(f"{loop}o"), kind(f"{loop}i")
        update.split(variable, outer[loop], inner[loop], tile[loop])
    ordered = [outer[loop] for loop in nest.order]
    update.reorder(inner["n"], inner["m"], inner["k"], *reversed(ordered))
    update.unroll(inner["k"])
    _in_vectors(hl, nest, update, inner["n"], inner["m"])
    sums.vectorize(loops["n"], host_target().natural_vector_size(hl.Float(32)), hl.TailStrategy.GuardWithIf)
    if nest.parallel:
        update.parallel(ordered[0])


def _in_vectors(hl, nest, stage, n, m):
    """A tile without loops: n in vectors, what is left of n and all of m unrolled."""
    if nest.vectorise > 1:
        stage.vectorize(n, nest.vectorise)
    stage.unroll(n).unroll(m)
