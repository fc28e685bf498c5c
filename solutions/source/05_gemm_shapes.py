# %% [markdown]
# # 05 · Shapes of products: exercises
#
# Work for each byte, sizes that suit the machine, and products over several steps at once.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(arithmetic_intensity)` opens one hint, and once more the next one.

# %%
import numpy as np

from rnnlab import check, hint, progress, use

# %% [markdown]
# ## Exercise: arithmetic_intensity
#
# <!-- exercise: arithmetic_intensity -->
#
# A recurrent product: h [B,H] times weights [H,H], every array moved once, `itemsize` bytes a number. The machine does `peak` GFLOP/s and moves `bandwidth` GB/s.
#
# Return the FLOP for each byte moved, and the smallest minibatch from which arithmetic, not memory, is the limit: FLOP a byte of at least `peak / bandwidth`. Where no minibatch is enough, return 0 for it.


# %%
def arithmetic_intensity(B, H, itemsize, peak, bandwidth):
    """(FLOP a byte, the smallest minibatch that arithmetic limits, or 0)"""
    ### BEGIN SOLUTION
    flops, moved = 2 * B * H * H, itemsize * (H * H + 2 * B * H)
    balance = itemsize * peak / bandwidth
    smallest = int(np.ceil(balance * H / (2 * (H - balance)))) if H > balance else 0
    return flops / moved, smallest
    ### END SOLUTION


# %%
check(arithmetic_intensity)

# %% [markdown]
# What does your machine ask for? The roofs are measured now.

# %%
from rnnlab.machine import roofline

roof = roofline.measure()
for H in (64, 256, 1024, 4096):
    intensity, smallest = use(arithmetic_intensity)(32, H, 4, roof.peak, roof.bandwidth)
    print(f"H={H:5}: {intensity:5.1f} FLOP a byte at B = 32; arithmetic is the limit from B = {smallest or '–'}")

# %% [markdown]
# ## Exercise: pad_dimension
#
# <!-- exercise: pad_dimension -->
#
# `x [T,B,I]` is to be multiplied with `weight [M,I]`, but I and M are no multiples of `multiple`. Return both with zeros behind their numbers, so that the inputs and the units become the next multiples; a size that is a multiple already stays. Steps and sequences stay as they are, and so does the dtype.


# %%
def pad_dimension(x, weight, multiple):
    """(x [T,B,P], weight [Q,P])"""
    ### BEGIN SOLUTION
    up = lambda n: -(-n // multiple) * multiple
    (T, B, I), (M, _) = x.shape, weight.shape
    wide = np.zeros((T, B, up(I)), x.dtype)
    tall = np.zeros((up(M), up(I)), weight.dtype)
    wide[:T, :B, :I] = x
    tall[:M, :I] = weight
    return wide, tall
    ### END SOLUTION


# %%
check(pad_dimension)

# %% [markdown]
# The padding changes neither the product nor the gradient of the weights:

# %%
rng = np.random.default_rng(0)
x, weight = rng.normal(size=(3, 4, 30)), rng.normal(size=(50, 30))
wide, tall = use(pad_dimension)(x, weight, 32)
product = wide @ tall.T
print(wide.shape, tall.shape, "same product:", np.allclose(product[..., :50], x @ weight.T))
d = rng.normal(size=product.shape)
d[..., 50:] = 0  # nobody asks for the units that are padding
gradient = d.reshape(12, -1).T @ wide.reshape(12, -1)
print("same gradient:", np.allclose(gradient[:50, :30], d[..., :50].reshape(12, 50).T @ x.reshape(12, 30)))

# %% [markdown]
# ## Exercise: batch_input_gemm
#
# <!-- exercise: batch_input_gemm -->
#
# `multiply(rows)` is an input product: [n,I] goes in, [n,M] comes out, M is `multiply.outputs`. You cannot see its weights. Give it `steps` steps at a time, all sequences of each; the last time what is left. It may not be called more often than that.


# %%
def batch_input_gemm(x, multiply, steps):
    """The input products of all steps [T,B,M], from x [T,B,I]."""
    ### BEGIN SOLUTION
    T, B, I = x.shape
    parts = []
    for t in range(0, T, steps):
        rows = x[t : t + steps].reshape(-1, I)
        parts.append(multiply(rows).reshape(-1, B, multiply.outputs))
    return np.concatenate(parts)
    ### END SOLUTION


# %%
check(batch_input_gemm)

# %% [markdown]
# Time it on your machine with 1, 2, 8 and all steps at a time:

# %%
from rnnlab.bench.turns import take_turns

weights = rng.normal(size=(1024, 512)).astype("float32")
sequence = rng.normal(size=(64, 16, 512)).astype("float32")
multiply = lambda rows: rows @ weights.T
multiply.outputs = 1024
batched = use(batch_input_gemm)
times = take_turns({k: lambda k=k: batched(sequence, multiply, k) for k in (1, 2, 8, 64)}, 7)
for k, timing in times.items():
    print(f"{k:3} steps at a time: {1e3 * timing.median:6.2f} ms")

# %%
progress("gemm_shapes")
