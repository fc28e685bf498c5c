# %% [markdown]
# ## Exercise: product_time
#
# <!-- exercise: product_time -->
#
# A product of `sequences` rows [sequences, inner] with weights [rows, inner] gives `rows` numbers for each sequence. How many microseconds does it take, by the model of section 4, on a GPU with `multiprocessors` multiprocessors and a peak of `peak` TFLOP/s?
#
# - Its work is two FLOPs, a multiplication and an addition, for each term of each result.
# - It is cut into tiles of 64 sequences by 64 rows, a block each; a tile at the edge may be partly empty and is a block all the same.
# - Blocks spread over the multiprocessors: fewer blocks than multiprocessors leave the others empty. c is the number of blocks for each multiprocessor, a fraction if they do not divide evenly, and at least 1.
# - A multiprocessor with c blocks works at 0.85 · c / (c + 1.5) of its peak.
# - The weights are read transposed, which takes 1.12 times as long.


# %%
def product_time(sequences, rows, inner, multiprocessors, peak):
    """Microseconds of [sequences, inner] times the transposed weights [rows,
    inner]."""
    ### BEGIN SOLUTION
    blocks = -(-sequences // 64) * -(-rows // 64)
    filled = min(1, blocks / multiprocessors)
    c = max(1, blocks / multiprocessors)
    rate = peak * 1e6 * filled * 0.85 * c / (c + 1.5)
    return 2 * sequences * rows * inner * 1.12 / rate
    ### END SOLUTION


# %%
check(product_time)

# %% [properties]
# points: 4
# difficulty: 2
# minutes: 20
# lines: 5

# %% [hint]
# Begin with the time at the peak: FLOPs divided by FLOPs in a microsecond. A peak of 1 TFLOP/s is 10⁶ FLOPs in a
# microsecond. The other points are factors.

# %% [hint]
# The number of blocks decides two factors. The filled part of the chip is blocks / multiprocessors, at most 1. The blocks for each
# multiprocessor, c, are the same quotient, but at least 1. So one of the two is always 1.

# %% [hint]
# `blocks = -(-sequences // 64) * -(-rows // 64)` rounds both up. `rate = peak * 1e6 * filled * 0.85 * c / (c + 1.5)`; the time is
# FLOPs · 1.12 / rate.

# %% [mistake] counts a partly filled tile as a part of a block
# - -(-sequences // 64) * -(-rows // 64)
# + sequences / 64 * rows / 64

# %% [mistake] rounds the number of tiles down
# - -(-sequences // 64) * -(-rows // 64)
# + max(1, sequences // 64) * max(1, rows // 64)

# %% [mistake] cuts the inner size into tiles, too
# - -(-sequences // 64) * -(-rows // 64)
# + -(-sequences // 64) * -(-rows // 64) * -(-inner // 64)

# %% [mistake] forgets that few blocks leave multiprocessors empty
# - min(1, blocks / multiprocessors)
# + 1

# %% [mistake] lets more blocks than multiprocessors fill the chip more than once
# - min(1, blocks / multiprocessors)
# + blocks / multiprocessors

# %% [mistake] forgets that a lone block hides no latency
# - peak * 1e6 * filled * 0.85 * c / (c + 1.5)
# + peak * 1e6 * filled * 0.85

# %% [mistake] takes a c below 1 for few blocks
# - max(1, blocks / multiprocessors)
# + blocks / multiprocessors

# %% [mistake] rounds c up to whole blocks
# - max(1, blocks / multiprocessors)
# + -(-blocks // multiprocessors)

# %% [mistake] counts a multiply-add as one FLOP
# - 2 * sequences
# + sequences

# %% [mistake] forgets that libraries do not reach the peak
# - filled * 0.85 * c
# + filled * c

# %% [mistake] forgets that the weights are read transposed
# - inner * 1.12 / rate
# + inner / rate

# %% [mistake] divides by 1.12
# - inner * 1.12 / rate
# + inner / 1.12 / rate

# %% [mistake] returns seconds
# - peak * 1e6 *
# + peak * 1e12 *

# %% [mistake] returns the time at the peak
# - 2 * sequences * rows * inner * 1.12 / rate
# + 2 * sequences * rows * inner / (peak * 1e6)

# %% [right]
def product_time(sequences, rows, inner, multiprocessors, peak):
    blocks = ((sequences + 63) // 64) * ((rows + 63) // 64)
    at_peak = 2e-6 * sequences * rows * inner / peak
    empty = max(1, multiprocessors / blocks)
    latency = 1 + 1.5 / max(1, blocks / multiprocessors)
    return at_peak * empty * latency * 1.12 / 0.85

# %% [right]
def product_time(sequences, rows, inner, multiprocessors, peak):
    blocks = int(np.ceil(sequences / 64) * np.ceil(rows / 64))
    c, filled = blocks / multiprocessors, 1
    if c < 1:
        filled, c = c, 1
    return float(sequences * rows * inner * 2 / (peak * 1e6 * filled * 0.85 * c) * (c + 1.5) * 1.12)

# %% [variant] half=2..9
# - works at 0.85 · c / (c + 1.5) of its peak.
# + works at 0.85 · c / (c + {half}) of its peak.
# - filled * 0.85 * c / (c + 1.5)
# + filled * 0.85 * c / (c + {half})
# - * (c + 1.5) * 1.12)
# + * (c + {half}) * 1.12)
# - 1 + 1.5 / max(1
# + 1 + {half} / max(1
