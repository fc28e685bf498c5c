"""The eight schedules of the CMU project, by name, for a Func over (n, m) whose sums stand inside it.

Han and Uboweja, "Parallel Training of Recurrent Neural Networks" (2016): tiles of 16 units by 64 sequences,
vectors of 16 float32, one parallel task for each tile or row.  Every sum runs where its element is computed,
over all of k: no value of b is read for two rows of the result before it may have left the cache.
"""

UNITS = 16  # a tile
SEQUENCES = 64  # 16 float32 were a vector of their Xeon Phi, and are one of AVX-512
WHOLE = "all"  # a schedule with all three ideas
NAMES = (
    "serial",
    "tiled",
    "parallel",
    "parallel_tiled",
    "vectorised",
    "vectorised_tiled",
    "parallel_vectorised",
    WHOLE,
)


def schedule(hl: object, func: object, n: object, m: object, name: str) -> None:
    """Give `func`, defined over Vars n and m, the schedule of that name."""
    if name not in NAMES:
        raise ValueError(f"no schedule is called {name!r}; the project's are {', '.join(NAMES)}")
    guard = hl.TailStrategy.GuardWithIf
    inner = n
    rows = m
    if "tiled" in name or name == WHOLE:
        n_outer, m_outer, inner, m_inner, rows = (hl.Var(v) for v in ("no", "mo", "ni", "mi", "tile"))
        func.tile(n, m, n_outer, m_outer, inner, m_inner, UNITS, SEQUENCES, guard)
        func.fuse(n_outer, m_outer, rows)
    if "vectorised" in name or name == WHOLE:
        func.vectorize(inner, UNITS, guard)
    if "parallel" in name or name == WHOLE:
        func.parallel(rows)


def define(hl, kernel, functions, a, b, extras, n, m) -> object:
    """A Func over (n, m) with every sum inside it, from ImageParams a (k, m), b (n, gate, k) and extras."""
    k = hl.RDom([(0, a.dim(0).extent())], "k").x
    sums = [hl.sum(a[k, m] * b[n, gate, k]) for gate in range(kernel.gates)]
    out = hl.Func("out")
    values = kernel.finish(functions, sums, extras)
    out[n, m] = values[0] if len(values) == 1 else hl.Tuple(tuple(values))
    return out
