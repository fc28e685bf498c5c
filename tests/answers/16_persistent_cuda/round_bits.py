# %% [right]
def round_bits(bits):
    low = bits & 0xFFFF
    high = bits >> 16
    high = high + ((low > 0x8000) | ((low == 0x8000) & (high % 2 == 1)))
    out = high.astype("uint32") << 16
    out[((bits >> 23) & 0xFF == 0xFF) & (bits & 0x7FFFFF > 0)] = 0x7FC00000
    return out

# %% [right]
def round_bits(bits):
    wide = bits.astype("uint64")
    up = wide + 0x7FFF + (wide >> 16) % 2
    up -= up % 65536
    magnitude = wide % 2**31
    return np.where(magnitude > 255 * 2**23, 0x7FC00000, up).astype(np.uint32)

# %% [right]
def round_bits(bits):
    answer = bits.copy()
    for i, b in enumerate(bits):
        b = int(b)
        if b % 2147483648 > 2139095040:
            answer[i] = 0x7FC00000
            continue
        quotient, remainder = divmod(b, 65536)
        if remainder > 32768 or remainder == 32768 and quotient % 2:
            quotient += 1
        answer[i] = quotient * 65536
    return answer

# %% [wrong] rounds ties away from zero
# -         if remainder > 32768 or remainder == 32768 and quotient % 2:
# +         if remainder >= 32768:

# %% [wrong] rounds ties towards zero
# -         if remainder > 32768 or remainder == 32768 and quotient % 2:
# +         if remainder > 32768:

# %% [wrong] rounds ties to odd
# - remainder == 32768 and quotient % 2:
# + remainder == 32768 and quotient % 2 == 0:

# %% [wrong] cuts the lower bits off
# -             quotient += 1
# +             pass

# %% [wrong] takes infinity for a NaN
# -         if b % 2147483648 > 2139095040:
# +         if b % 2147483648 >= 2139095040:

# %% [wrong] takes negative numbers for NaN
# -         if b % 2147483648 > 2139095040:
# +         if b > 2139095040:

# %% [wrong] returns the upper bits alone
# -         answer[i] = quotient * 65536
# +         answer[i] = quotient

# %% [wrong] keeps the payload of a NaN
# -             answer[i] = 0x7FC00000
# +             answer[i] = b

# %% [wrong] keeps the sign of a NaN
# -             answer[i] = 0x7FC00000
# +             answer[i] = 0x7FC00000 + b // 2147483648 * 2147483648

# %% [wrong] makes the largest numbers infinite too early
# -         answer[i] = quotient * 65536
# +         answer[i] = quotient * 65536 if quotient % 32768 != 0x7F7F else (quotient + 1) * 65536

# %% [wrong] clears the low bits of the number, then rounds the decimal value with NumPy
def round_bits(bits):
    numbers = bits.view("float32")
    return np.round(numbers).view("uint32")
