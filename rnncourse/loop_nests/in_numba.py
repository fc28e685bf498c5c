"""The same loop nest as Python loops that Numba compiles: the twin for a machine without Halide.

The loops are written out as text, tile by tile, and that text is what `source` shows.  Two things differ from
Halide: LLVM decides by itself whether a loop over n becomes vectors, so `vectorise` only allows it to reorder
sums; and sums that stay at hand stay in the first-level cache, not in registers.
"""

import functools

from rnncourse.loop_nests import LOOPS, LoopNest, Product

INDENT = "    "


def build(nest: LoopNest, sizes: tuple[int, int, int]) -> Product:
    """out [M,N] = a [M,K] b [K,N], compiled at its first call."""
    return _compiled(source(nest), nest.parallel, nest.vectorise > 1)


@functools.cache
def _compiled(text: str, parallel: bool, reorders: bool) -> Product:
    import numba
    import numpy as np

    names = {"prange": numba.prange, "zero": np.float32(0)}
    exec(text.partition("@outer\n")[0], names)
    names["tile"] = numba.njit(fastmath=reorders)(names["tile"])
    exec(text.partition("@outer\n")[2], names)
    return numba.njit(parallel=parallel, fastmath=reorders)(names["product"])


def source(nest: LoopNest) -> str:
    """The text that Numba compiles: one tile, then the loops over all tiles."""
    return f"{_one_tile(nest)}\n\n@outer\n{_all_tiles(nest)}"


def _one_tile(nest: LoopNest) -> str:
    """A tile's work: rows of out and b at hand, then n as the loop that becomes vectors."""
    M, N, K = (nest.tile[loop] for loop in LOOPS)
    steps = [f"r{k} = b[k + {k}, n : n + {N}]" for k in range(K)]
    steps += [f"a{m}_{k} = a[m + {m}, k + {k}]" for m in range(M) for k in range(K)]
    sums = [f"s{m}[j] += {' + '.join(f'a{m}_{k} * r{k}[j]' for k in range(K))}" for m in range(M)]
    rows = [f"s{m} = out[m + {m}, n : n + {N}]" for m in range(M)]
    first = ["for j in range(N):", *(f"    s{m}[j] = zero" for m in range(M))]
    loop = ["for j in range(N):"]
    body = [*steps, *loop, *(INDENT + line for line in sums)]
    if nest.keeps_sums:
        body = [*first, f"for k in range(0, a.shape[1], {K}):", *(INDENT + line for line in body)]
        arguments = "a, b, out, m, n"
    else:
        arguments = "a, b, out, m, n, k"
    lines = [f"N = {N}", *rows, *body]
    return "\n".join([f"def tile({arguments}):", *(INDENT + line for line in lines)])


def _all_tiles(nest: LoopNest) -> str:
    """The loops over tiles; the last tile of m and n is moved back to end where the matrix ends."""
    extents = {"m": "out.shape[0]", "n": "out.shape[1]", "k": "a.shape[1]"}
    outer = nest.order[:2] if nest.keeps_sums else nest.order
    lines = ["def product(a, b, out):"]
    lines += [] if nest.keeps_sums else [INDENT + "out[:] = zero"]
    for depth, loop in enumerate(outer, 1):
        size = nest.tile[loop]
        extent = extents[loop]
        kind = "prange" if nest.parallel and depth == 1 else "range"
        lines.append(f"{INDENT * depth}for {loop}o in {kind}(-(-{extent} // {size})):")
        lines.append(f"{INDENT * (depth + 1)}{loop} = min({loop}o * {size}, {extent} - {size})")
    arguments = ", ".join(["a", "b", "out", "m", "n", *([] if nest.keeps_sums else ["k"])])
    return "\n".join([*lines, f"{INDENT * (len(outer) + 1)}tile({arguments})"])
