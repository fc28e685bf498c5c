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

# %% [properties]
# points: 2
# difficulty: 2
# minutes: 15
# lines: 4

# %% [hint]
# Count the operations of h [B,H] times weights [H,H] first, then the numbers that move if each array moves once: two
# are read, one is written. Which of them grow with B?

# %% [hint]
# Intensity = 2·B·H² / (itemsize·(H² + 2·B·H)). Arithmetic is the limit once it reaches peak / bandwidth; solve that
# for B. Let B go to infinity: is there always such a B?

# %% [hint]
# With balance = itemsize·peak/bandwidth the condition becomes 2·B·(H − balance) ≥ balance·H. For H ≤ balance no B is
# enough: return 0. Else round balance·H / (2·(H − balance)) up.

# %% [mistake] counts a multiply-add as one operation
# - flops, moved = 2 * B * H * H, itemsize * (H * H + 2 * B * H)
# -     balance = itemsize
# + flops, moved = B * H * H, itemsize * (H * H + 2 * B * H)
# +     balance = 2 * itemsize

# %% [mistake] forgets to move the weights
# - (H * H + 2 * B * H)
# + (2 * B * H)

# %% [mistake] forgets to move the result
# - 2 * B * H)
# -     balance = itemsize * peak / bandwidth
# -     smallest = int(np.ceil(balance * H / (2 * (H - balance))))
# + B * H)
# +     balance = itemsize * peak / bandwidth / 2
# +     smallest = int(np.ceil(balance * H / (H - balance)))

# %% [mistake] moves the weights for each sequence
# - (H * H + 2 * B * H)
# + (B * H * H + 2 * B * H)

# %% [mistake] counts numbers, not bytes
# - itemsize * (H * H
# + (H * H

# %% [mistake] turns the balance round
# - itemsize * peak / bandwidth
# + itemsize * bandwidth / peak

# %% [mistake] takes FLOP a byte for FLOP a number
# - itemsize * peak / bandwidth
# + peak / bandwidth

# %% [mistake] rounds down to a minibatch that is still too small
# - np.ceil(
# + np.floor(

# %% [mistake] gives a minibatch where none is enough
# -  if H > balance else 0
# +

# %% [right]
def arithmetic_intensity(B, H, itemsize, peak, bandwidth):
    intensity = lambda B: 2 * B * H**2 / (itemsize * (H**2 + 2 * B * H))
    if H / itemsize <= peak / bandwidth:
        return intensity(B), 0
    smallest = 1
    while intensity(smallest) < peak / bandwidth:
        smallest += 1
    return intensity(B), smallest

# %% [right]
def arithmetic_intensity(B, H, itemsize, peak, bandwidth):
    x = bandwidth / (itemsize * peak)
    smallest = int(np.ceil(1 / (2 * (x - 1 / H)))) if x > 1 / H else 0
    return 1 / (itemsize * (1 / (2 * B) + 1 / H)), smallest

# %% [variant] weight_reads=2..9
# - every array moved once,
# + the weights moved {weight_reads} times, the other arrays once,
# - if each array moves once: two are read, one is written
# + if the weights move {weight_reads} times and the other arrays once: two are read, one is written
# - (itemsize·(H² + 2·B·H))
# + (itemsize·({weight_reads}·H² + 2·B·H))
# - 2·B·(H − balance) ≥ balance·H
# + 2·B·(H − balance) ≥ {weight_reads}·balance·H
# - balance·H / (2·(H − balance))
# + {weight_reads}·balance·H / (2·(H − balance))
# - (H * H
# + ({weight_reads} * H * H
# - balance * H / (2 * (H - balance))
# + {weight_reads} * balance * H / (2 * (H - balance))
# - (H**2 + 2 * B * H)
# + ({weight_reads} * H**2 + 2 * B * H)
# - 1 / (2 * (x - 1 / H))
# + {weight_reads} / (2 * (x - 1 / H))
# - (1 / (2 * B) + 1 / H)
# + ({weight_reads} / (2 * B) + 1 / H)
