# %% [markdown]
# # 08 · A product in Python: exercises
#
# Weights in the order in which they are read, a tile that fits into registers, calls in an order that suits the caches, and a step shared between cores.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(pack_panels)` opens one hint, and once more the next one.

# %%
import numpy as np

from rnnlab import check, hint, progress, use

# %% [exercise] pack_panels

# %% [markdown]
# Your panels at work: one product for each panel gives all gates of its units, side by side.

# %%
rng = np.random.default_rng(0)
weight, h = rng.normal(size=(4 * 10, 10)), rng.normal(size=(3, 10))
panels = use(pack_panels)(weight, 4, 4)
panel_gates = [(h @ panel.reshape(10, -1)).reshape(3, 4, 4) for panel in panels]
gates = np.concatenate(panel_gates, axis=2)[:, :, :10]
print(panels.shape, "same gates:", np.allclose(gates, (h @ weight.T).reshape(3, 4, 10)))

# %% [exercise] choose_tile

# %% [markdown]
# Your tiles for the vector registers of three kinds of processors, if each begins two multiply-adds and two loads in a cycle, with a latency of 4 cycles:

# %%
own_tile = use(choose_tile)
for name, registers in (("SSE, AVX2", 16), ("AVX-512, NEON", 32), ("twice as many", 64)):
    tiles = {B: own_tile(B, registers, 4, 2, 2) for B in (1, 4, 16, 64)}
    print(f"{name:14}", ", ".join(f"B = {B}: {r} × {v}" for B, (r, v) in tiles.items()))

# %% [exercise] tiled_product

# %% [markdown]
# Your order with real numbers. NumPy stands in for the compiled kernel, so this says that the product is right, not how fast it is.

# %%
a, weights = rng.normal(size=(10, 70)), rng.normal(size=(70, 24))
columns = np.stack(np.split(weights, 3, axis=1))  # panels [3,70,8]
sums = np.zeros((10, 24))


def multiply_piece(row, rows, panel, term, terms):
    """Adds to sums [rows, a panel's columns] what the terms give."""
    part = a[row : row + rows, term : term + terms] @ columns[panel, term : term + terms]
    sums[row : row + rows, 8 * panel : 8 * panel + 8] += part


multiply_piece.rows, multiply_piece.columns = 4, 8
use(tiled_product)(multiply_piece, 10, 70, 3, 512)
print("same product:", np.allclose(sums, a @ weights))

# %% [exercise] split_work

# %% [markdown]
# An LSTM of 512 units on two cores with 2 MB of cache each. The rates are invented round numbers: 100 000 multiply-adds and 20 000 bytes in a µs.

# %%
own_split = use(split_work)
for barrier in (1, 20):
    ways = {B: own_split(B, 512, 4, 2, 2 * 2**20, 1e5, 2e4, barrier) for B in (1, 8, 64)}
    print(f"barrier {barrier:2} µs:", ", ".join(f"B = {B}: {way}, {us:.0f} µs" for B, (way, us) in ways.items()))

# %%
progress("packed_products")
