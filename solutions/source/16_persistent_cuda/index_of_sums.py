# %% [markdown]
# ## Exercise: index_of_sums
#
# <!-- exercise: index_of_sums -->
#
# A line of CUDA C++. A warp stores the sums [16,8] of `mma` into shared memory, into rows of `pitch` floats: row r and sequence s belong at `sums[pitch * r + s]`. Each lane runs, for its four registers,
#
# `for (int reg = 0; reg < 4; reg++) sums[INDEX] = sum[reg];`
#
# Write lane = 4g + t. Registers 0 and 1 hold row g of sequences 2t and 2t + 1; registers 2 and 3 hold row g + 8 of the same sequences. Return `INDEX` as text: an expression of the C++ variables `lane` and `reg` with the operators `+ - * / % << >> & | ^ ~`, and with `pitch` as a number. In C++ `/` between whole numbers drops the fraction, `%` is the remainder, and `//` begins a comment. The check emulates your line for all 32 lanes and 4 registers.


# %%
def index_of_sums(pitch):
    """INDEX, an expression in CUDA C++ of lane and reg."""
    ### BEGIN SOLUTION
    row = "lane / 4 + 8 * (reg / 2)"
    sequence = "2 * (lane % 4) + reg % 2"
    return f"{pitch} * ({row}) + {sequence}"
    ### END SOLUTION


# %%
check(index_of_sums)

# %% [properties]
# points: 2
# difficulty: 2
# minutes: 12
# lines: 3

# %% [hint]
# Two questions, one after the other: which row does register `reg` of lane `lane` hold, and which sequence? The drawing
# of the lesson marks the four places of lane 9.

# %% [hint]
# g is the quotient of the lane's number by 4, t its remainder. The register's number has two bits: the upper one, `reg / 2`,
# chooses between row g and row g + 8; the lower one, `reg % 2`, between the two sequences.

# %% [hint]
# `row = "lane / 4 + 8 * (…)"` and `sequence = "2 * (…) + …"`, then `return f"{pitch} * ({row}) + {sequence}"`. Without the
# brackets around the row, `pitch` would multiply its first term only.

# %% [mistake] swaps the two bits of the register's number
# -     row = "lane / 4 + 8 * (reg / 2)"
# -     sequence = "2 * (lane % 4) + reg % 2"
# +     row = "lane / 4 + 8 * (reg % 2)"
# +     sequence = "2 * (lane % 4) + reg / 2"

# %% [mistake] forgets the rows from 8 on
# - lane / 4 + 8 * (reg / 2)
# + lane / 4

# %% [mistake] gives a lane one sequence in place of two
# - 2 * (lane % 4) + reg % 2
# + lane % 4

# %% [mistake] forgets that a lane has two sequences side by side
# - 2 * (lane % 4)
# + lane % 4

# %% [mistake] multiplies only the first term of the row by the pitch
# - ({row})
# + {row}

# %% [mistake] swaps g and t in the lane's number
# -     row = "lane / 4 + 8 * (reg / 2)"
# -     sequence = "2 * (lane % 4) + reg % 2"
# +     row = "lane % 4 + 8 * (reg / 2)"
# +     sequence = "2 * (lane / 4) + reg % 2"

# %% [mistake] stores columns instead of rows
# - {pitch} * ({row}) + {sequence}
# + {pitch} * ({sequence}) + {row}

# %% [mistake] assumes rows of 8 numbers without a gap
# - f"{pitch} *
# + f"8 *

# %% [right]
def index_of_sums(pitch):
    return f"((lane >> 2) + ((reg & 2) << 2)) * {pitch} + ((lane & 3) << 1 | reg & 1)"

# %% [right]
def index_of_sums(pitch):
    return str(pitch) + "*(lane/4)+" + str(8 * pitch) + "*(reg/2)+lane%4*2+reg%2"

# %% [variant] first=16..128:16
# - into rows of `pitch` floats: row r and sequence s belong at `sums[pitch * r + s]`.
# + into rows of `pitch` floats, after {first} floats for something else: row r and sequence s belong at `sums[{first} + pitch * r + s]`.
# - f"{pitch} * ({row}) + {sequence}"
# + f"{first} + {pitch} * ({row}) + {sequence}"
# - {pitch} * ({row}) + {sequence}
# + {first} + {pitch} * ({row}) + {sequence}
# - {pitch} * ({sequence}) + {row}
# + {first} + {pitch} * ({sequence}) + {row}
# - f"{pitch} *
# + f"{first} + {pitch} *
# - f"8 *
# + f"{first} + 8 *
# - return f"((lane >> 2)
# + return f"{first} + ((lane >> 2)
# - return str(pitch) +
# + return "{first}+" + str(pitch) +
