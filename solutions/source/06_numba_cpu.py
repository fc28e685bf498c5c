# %% [markdown]
# # 06 · One walk over memory: exercises
#
# A GRU's gates in one loop, a tanh of multiplications, a product in tiles. Write plain Python, without `@njit`: the check calls it with arrays and numbers that watch what you do. Numba compiles the same text further down.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(fused_gates)` opens one hint, and once more the next one.

# %%
import numpy as np
from numba import njit

from rnnlab import check, hint, progress, use

# %% [markdown]
# ## Exercise: fused_gates
#
# <!-- exercise: fused_gates -->
#
# One sequence, one step of a GRU that resets after its product. `g [3·H]` is the input's part of the gates and `u [3·H]` the state's, both with their biases, in the order r, z, n; `h [H]` is the state.
#
# - r, z = σ(g + u) with σ(a) = 1/(1 + e⁻ᵃ); n = tanh(g + **r·u**); h' = (1 − z)·n + z·h.
# - Make the result with `np.empty_like(h)` and fill it in **one loop over the units**. All that unit j needs is read, computed and written before the loop goes on to the next unit.
#
# `np.exp` and `np.tanh` of a single number are welcome.


# %%
def fused_gates(g, u, h):
    """h_next [H] from g [3·H], u [3·H] and h [H]."""
    ### BEGIN SOLUTION
    H = len(h)
    h_next = np.empty_like(h)
    for j in range(H):
        r = 1 / (1 + np.exp(-(g[j] + u[j])))
        z = 1 / (1 + np.exp(-(g[H + j] + u[H + j])))
        n = np.tanh(g[2 * H + j] + r * u[2 * H + j])
        h_next[j] = (1 - z) * n + z * h[j]
    return h_next
    ### END SOLUTION


# %%
check(fused_gates)

# %% [markdown]
# The same text, compiled: Numba needs nothing changed. The first call compiles, so it is not timed.

# %%
from rnnlab.bench.turns import take_turns

H = 1024
rng = np.random.default_rng(0)
g, u, h = rng.normal(size=3 * H), rng.normal(size=3 * H), rng.normal(size=H)
in_python = use(fused_gates)
compiled = njit(in_python)
ways = {"in Python": lambda: in_python(g, u, h), "compiled": lambda: compiled(g, u, h)}
times = take_turns(ways, 3)
for name, timing in times.items():
    print(f"{name:10} {1e6 * timing.median:8.1f} us for {H} units")

# %% [markdown]
# ## Exercise: fast_tanh
#
# <!-- exercise: fast_tanh -->
#
# tanh of one float32 number, as a·P(a²)/Q(a²). `odd` holds the coefficients of P, `even` those of Q, for rising powers of a². The quotient is right for |a| ≤ `edge`; beyond, the answer is the one at ±`edge`.
#
# - Off by no more than 8 ulps, everywhere; ±∞ give ±1, NaN stays NaN, −0 stays −0.
# - Only `+`, `-`, `*`, `/`, `abs` and comparisons: at most **one** division, and three operations for each coefficient. Both are counted.


# %%
def fast_tanh(a, odd, even, edge):
    """tanh(a), for a number a and tuples of numbers odd and even."""
    ### BEGIN SOLUTION
    a = edge if a > edge else a
    a = -edge if a < -edge else a
    z = a * a
    top, bottom = odd[-1], even[-1]
    for k in range(len(odd) - 2, -1, -1):
        top = top * z + odd[k]
    for k in range(len(even) - 2, -1, -1):
        bottom = bottom * z + even[k]
    return a * top / bottom
    ### END SOLUTION


# %%
check(fast_tanh)

# %% [markdown]
# Compiled for 65 536 numbers, with Python's rule for a division by zero, which is an error, and with NumPy's. Do the results differ? Do the times?

# %%
from rnnlab.checks.numba_cpu.lambert import lambert

ODD, EVEN = (tuple(np.float32(c) for c in part) for part in lambert(13))
a, own = rng.normal(size=65536).astype("float32"), use(fast_tanh)


def over_all(rule):
    """A compiled loop over an array, with that rule for divisions."""
    of_one = njit(error_model=rule)(own)

    @njit(error_model=rule)
    def run(a):
        y = np.empty_like(a)
        for j in range(a.size):
            y[j] = of_one(a[j], ODD, EVEN, np.float32(9.02))
        return y

    return lambda: run(a)


for rule, timing in take_turns({rule: over_all(rule) for rule in ("python", "numpy")}, 5).items():
    print(f"error_model={rule!r:9} {1e9 * timing.median / a.size:5.2f} ns a number")

# %% [markdown]
# ## Exercise: blocked_matmul
#
# <!-- exercise: blocked_matmul -->
#
# `c [M,N] + a [M,K] b [K,N]` in tiles. Begin with `out = c.copy()`, add one product `a[i, k] * b[k, j]` at a time to `out[i, j]`, and return `out`. In a recurrent network c is what the input sends to the gates, and a the states of a minibatch.
#
# - Cut **all three** loops into pieces of `tile`. Sizes need not be multiples of it.
# - Every access goes through a small cache: 64 lines of 8 numbers, of which the one used longest ago makes room. The check counts what misses.


# %%
def blocked_matmul(a, b, c, tile):
    """c + a b [M,N], from a [M,K], b [K,N], c [M,N], in tiles of `tile` by `tile`."""
    ### BEGIN SOLUTION
    (M, K), N = a.shape, b.shape[1]
    out = c.copy()
    for i0 in range(0, M, tile):
        for j0 in range(0, N, tile):
            for k0 in range(0, K, tile):
                for i in range(i0, min(i0 + tile, M)):
                    for k in range(k0, min(k0 + tile, K)):
                        for j in range(j0, min(j0 + tile, N)):
                            out[i, j] += a[i, k] * b[k, j]
    return out
    ### END SOLUTION


# %%
check(blocked_matmul)

# %% [markdown]
# Compiled, on float32 matrices of 500 by 500, 1 MB each. A tile of 500 is no tile at all. How large is your second cache? Where all of b fits into it, expect the widths to differ little; the lesson's section 8 takes weights four times as large, and vectors.

# %%
a, b, c = rng.normal(size=(3, 500, 500)).astype("float32")
compiled = njit(use(blocked_matmul))
ways = {tile: lambda tile=tile: compiled(a, b, c, tile) for tile in (8, 32, 64, 128, 500)}
times = take_turns(ways, 3)
for tile, timing in times.items():
    print(f"tile {tile:3}: {1e3 * timing.median:6.1f} ms")

# %%
progress("numba_cpu")
