# %% [markdown]
# ## Exercise: choose_schedule
#
# <!-- exercise: choose_schedule -->
#
# A product of [M,K] by [K,N] on a machine with `registers` vector registers of `vector` numbers each, and `threads` threads. Return the order of work as a dictionary:
#
# | key | means |
# |---|---|
# | `"order"` | the loops over tiles, outermost first, such as `"mnk"` |
# | `"tile"` | `{"m": rows, "n": columns, "k": 1}`, done at a time; n is a multiple of a vector |
# | `"vectorise"` | numbers in a vector |
# | `"parallel"` | share the outermost loop between threads, where there are several |
#
# A tile of r rows and v vectors keeps r·v registers of sums, and needs v for a row of b and one for a number of a. It loads (r + v)/(r·v) times for each multiply-add: be within a quarter of the fewest that fit. A tile must not exceed the matrix (rows at most M, columns at most N), but M and N need not be multiples of it. At the end your schedule races against the serial one on this machine, and has to be 4 times as fast.


# %%
def choose_schedule(M, N, K, vector, registers, threads):
    """A schedule as plain data, a dictionary."""
    ### BEGIN SOLUTION
    fits = lambda rows, vectors: rows * vectors + vectors + 1 <= registers
    loads = lambda rows, vectors: (rows + vectors) / (rows * vectors)
    counts = range(1, registers)
    tiles = [(r, v) for r in counts for v in counts if fits(r, v) and r <= M and v * vector <= N]
    rows, vectors = min(tiles, key=lambda tile: loads(*tile))
    tile = {"m": rows, "n": vectors * vector, "k": 1}
    return {"order": "mnk", "tile": tile, "vectorise": vector, "parallel": threads > 1}
    ### END SOLUTION


# %%
check(choose_schedule)

# %% [facts]
# points: 3
# difficulty: 4
# minutes: 30
# lines: 8

# %% [hint]
# Sums that stay in registers are neither read nor written until they are complete. A tile of m rows and n columns is
# m · n/vector registers of sums. What must be loaded for one step of k, and how many multiply-adds does that feed?

# %% [hint]
# For a tile of r rows and v vectors, a step of k loads v vectors and r single numbers and does r · v multiply-adds:
# (r + v)/(r · v) loads each. It needs r·v registers for sums, v for the vectors and one for a single number. Try all
# pairs that fit and take the best.

# %% [hint]
# `fits = lambda r, v: r * v + v + 1 <= registers`; then `min(tiles, key=...)` over all (r, v) with r ≤ M and v·vector
# ≤ N; return order 'mnk', tile {'m': r, 'n': v * vector}, vectorise vector, parallel where threads > 1.

# %% [mistake] leaves vectors out
# - "vectorise": vector
# + "vectorise": 1

# %% [mistake] leaves threads idle
# - threads > 1
# + False

# %% [mistake] starts threads where there is one
# - threads > 1
# + True

# %% [mistake] writes the sums again for every k
# - "mnk"
# + "mkn"

# %% [mistake] adds to the same sums from several threads
# - "mnk"
# + "kmn"

# %% [mistake] works on one vector at a time
# - min(tiles, key=lambda tile: loads(*tile))
# + 1, 1

# %% [mistake] takes more sums than registers
# - <= registers
# + <= 4 * registers

# %% [mistake] fills the registers with one row
# - min(tiles, key=lambda tile: loads(*tile))
# + 1, (registers - 1) // 2

# %% [mistake] forgets how wide a vector is
# - "n": vectors * vector
# + "n": vectors

# %% [mistake] takes tiles larger than the matrix
# -  and r <= M and v * vector <= N
# +

# %% [right]
def choose_schedule(M, N, K, vector, registers, threads):
    best = None
    for v in range(1, N // vector + 1):
        for r in range(1, M + 1):
            if r * v + v + 1 <= registers:
                candidate = ((r + v) / (r * v), r, v)
                best = candidate if best is None else min(best, candidate)
    _, r, v = best
    return dict(order="nmk", tile={"m": r, "n": v * vector}, vectorise=vector, parallel=threads > 1)

# %% [right]
def choose_schedule(M, N, K, vector, registers, threads):
    v = max(1, min(N // vector, int(registers**0.5) - 1))
    r = min(M, (registers - 1 - v) // v)
    return {"tile": {"m": r, "n": v * vector}, "vectorise": vector, "parallel": threads > 1}
