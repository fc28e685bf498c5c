# %% [markdown]
# ## Exercise: round_bits
#
# <!-- exercise: round_bits -->
#
# `bits` [n] of uint32 holds the bits of float32 numbers: a sign, 8 bits of exponent, 23 of mantissa. Return the bits, [n] of uint32, of the nearest numbers whose lower 16 bits are 0. Of two numbers equally near, take the one whose last remaining bit is 0.
#
# Infinity stays infinity, and what lies beyond the largest such number becomes infinity. Every NaN (exponent all ones, mantissa not 0) becomes 0x7FC00000. Compute with whole numbers alone.


# %%
def round_bits(bits):
    """[n] uint32 of bits [n] uint32, rounded to nearest, ties to even."""
    ### BEGIN SOLUTION
    step = np.uint32(1 << 16)
    half = step // 2 - 1 + bits // step % 2
    rounded = (bits + half) // step * step
    is_nan = (bits & 0x7FFFFFFF) > 0x7F800000
    return np.where(is_nan, np.uint32(0x7FC00000), rounded)
    ### END SOLUTION


# %%
check(round_bits)

# %% [properties]
# points: 2
# difficulty: 2
# minutes: 15
# lines: 5

# %% [hint]
# Neighbouring floating-point numbers of one sign have neighbouring bits: the next larger number has the next larger
# bits, across exponents too, up to infinity. So rounding a number is rounding a whole number to a multiple of 2¹⁶.

# %% [hint]
# To round a whole number to a multiple of s, add half of s, then cut the rest off. Ties go up then. They go to the even
# multiple if you add one less wherever the last remaining bit is 0. A NaN needs a case of its own: the addition may
# carry it beyond its exponent.

# %% [hint]
# `half = step // 2 - 1 + bits // step % 2`, `rounded = (bits + half) // step * step`; a NaN has
# `bits & 0x7FFFFFFF` above 0x7F800000.

# %% [mistake] cuts the lower bits off
# - (bits + half) // step * step
# + bits // step * step

# %% [mistake] rounds ties away from zero
# - step // 2 - 1 + bits // step % 2
# + step // 2

# %% [mistake] rounds ties towards zero
# - step // 2 - 1 + bits // step % 2
# + step // 2 - 1

# %% [mistake] rounds ties to odd
# - step // 2 - 1 + bits // step % 2
# + step // 2 - bits // step % 2

# %% [mistake] rounds a NaN like a number
# - np.where(is_nan, np.uint32(0x7FC00000), rounded)
# + rounded

# %% [mistake] takes infinity for a NaN
# - > 0x7F800000
# + >= 0x7F800000

# %% [mistake] takes negative numbers for NaN
# - (bits & 0x7FFFFFFF) > 0x7F800000
# + bits > 0x7F800000

# %% [mistake] keeps numbers beyond the largest finite
# - np.uint32(0x7FC00000), rounded)
# + np.uint32(0x7FC00000), np.where((rounded & 0x7FFFFFFF) == 0x7F800000, bits // step * step, rounded))

# %% [mistake] rounds numbers without a leading one to zero
# - np.uint32(0x7FC00000), rounded)
# + np.uint32(0x7FC00000), np.where(bits & 0x7F800000, rounded, bits & 0x80000000))

# %% [mistake] returns the upper bits alone
# - // step * step
# + // step

# %% [mistake] returns wider numbers
# - np.where(is_nan, np.uint32(0x7FC00000), rounded)
# + np.where(is_nan, 0x7FC00000, rounded.astype("int64"))

# %% [right]
def round_bits(bits):
    keep = np.uint32(0xFFFFFFFF) << np.uint32(16)
    rest = bits & ~keep
    below = bits & keep
    middle = np.uint32(1 << 15)
    odd = (bits >> np.uint32(16)) & np.uint32(1)
    up = (rest > middle) | ((rest == middle) & (odd == 1))
    result = below + up * (middle + middle)
    result[(bits << np.uint32(1)) > 0xFF000000] = 0x7FC00000
    return result.astype("uint32")

# %% [right]
def round_bits(bits):
    result = []
    for value in bits.tolist():
        low = value % (1 << 16)
        value -= low
        if 2 * low > 1 << 16 or (2 * low == 1 << 16 and value >> 16 & 1):
            value += 1 << 16
        result.append(value)
    nan = (bits & 0x7F800000 == 0x7F800000) & (bits & 0x007FFFFF != 0)
    return np.where(nan, 0x7FC00000, np.array(result, "uint64")).astype("uint32")

# %% [variant] dropped=8..15
# - lower 16 bits
# + lower {dropped} bits
# - 2¹⁶
# + 2^{dropped}
# - 1 << 16
# + 1 << {dropped}
# - np.uint32(16)
# + np.uint32({dropped})
# - 1 << 15
# + 1 << {dropped} - 1
# - value >> 16
# + value >> {dropped}
