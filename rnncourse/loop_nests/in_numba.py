"""The same loop nest as Python loops that Numba compiles: the twin for a machine without Halide.

The loops are written out as text, tile by tile, and that text is what `source` shows.  Two things differ from
Halide: LLVM decides by itself whether a loop over n becomes vectors, so `vectorise` only allows it to reorder
sums; and sums that stay at hand stay in the first-level cache, not in registers.
"""

import functools

from rnncourse.loop_nests import LOOPS, LoopNest, Product

INDENT = "    "
ARGUMENTS = "a, b, out, m, n"  # of a tile, and k where the loop over k is outside it


def build(nest: LoopNest, sizes: tuple[int, int, int]) -> Product:
    """out [M,N] = a [M,K] b [K,N], compiled at its first call."""
    return _compiled(source(nest), nest.parallel, nest.vectorise > 1)


@functools.cache
def _compiled(text: str, parallel: bool, reorders: bool) -> Product:
    import numba
    import numpy as np

    one_tile, _, all_tiles = text.partition("@outer\n")
    names = {"prange": numba.prange, "zero": np.float32(0)}
    exec(one_tile, names)
    compile_tile = numba.njit(fastmath=reorders)
    names["tile"] = compile_tile(names["tile"])
    exec(all_tiles, names)
    compile_product = numba.njit(parallel=parallel, fastmath=reorders)
    return compile_product(names["product"])


def source(nest: LoopNest) -> str:
    """The text that Numba compiles: one tile, then the loops over all tiles."""
    return f"{_one_tile(nest)}\n\n@outer\n{_all_tiles(nest)}"


def _one_tile(nest: LoopNest) -> str:
    """A tile's work: rows of out and b at hand, then n as the loop that becomes vectors."""
    M, N, K = (nest.tile[loop] for loop in LOOPS)
    rows = [f"s{m} = out[m + {m}, n : n + {N}]" for m in range(M)]
    loads = [f"r{k} = b[k + {k}, n : n + {N}]" for k in range(K)]
    zeros = []
    sums = []
    for m in range(M):
        terms = []
        for k in range(K):
            loads.append(f"a{m}_{k} = a[m + {m}, k + {k}]")
            terms.append(f"a{m}_{k} * r{k}[j]")
        total = " + ".join(terms)
        zeros.append(f"s{m}[j] = zero")
        sums.append(f"s{m}[j] += {total}")
    body = [*loads, *_block("for j in range(N):", sums)]
    arguments = ARGUMENTS
    if nest.keeps_sums:
        first = _block("for j in range(N):", zeros)
        body = [*first, *_block(f"for k in range(0, a.shape[1], {K}):", body)]
    else:
        arguments += ", k"
    lines = _block(f"def tile({arguments}):", [f"N = {N}", *rows, *body])
    return "\n".join(lines)


def _block(head: str, lines: list[str]) -> list[str]:
    """A statement and, indented, the lines under it."""
    return [head, *(INDENT + line for line in lines)]


def _all_tiles(nest: LoopNest) -> str:
    """The loops over tiles; the last tile of m and n is moved back to end where the matrix ends."""
    extents = {"m": "out.shape[0]", "n": "out.shape[1]", "k": "a.shape[1]"}
    lines = ["def product(a, b, out):"]
    if nest.keeps_sums:
        loops = nest.order[:2]
        arguments = ARGUMENTS
    else:
        loops = nest.order
        arguments = f"{ARGUMENTS}, k"
        lines.append(f"{INDENT}out[:] = zero")
    indent = INDENT
    kind = "prange" if nest.parallel else "range"
    for loop in loops:
        size = nest.tile[loop]
        extent = extents[loop]
        lines.append(f"{indent}for {loop}o in {kind}(-(-{extent} // {size})):")
        indent += INDENT
        lines.append(f"{indent}{loop} = min({loop}o * {size}, {extent} - {size})")
        kind = "range"  # of the inner loops
    lines.append(f"{indent}tile({arguments})")
    return "\n".join(lines)
