# %% [right]
def arithmetic_intensity(B, H, itemsize, peak, bandwidth):
    balance = peak / bandwidth
    intensity = 2 * B * H * H / (itemsize * (2 * B * H + H * H))
    if H <= balance * itemsize:
        return intensity, 0
    n = 1
    while 2 * n * H < balance * itemsize * (2 * n + H):
        n += 1
    return intensity, n

# %% [wrong] counts a multiply-add as one operation
# -     intensity = 2 * B * H * H / (itemsize * (2 * B * H + H * H))
# -     if H <= balance * itemsize:
# +     intensity = B * H / (itemsize * (2 * B + H))
# +     if H <= 2 * balance * itemsize:
# -     while 2 * n * H < balance * itemsize * (2 * n + H):
# +     while n * H < balance * itemsize * (2 * n + H):

# %% [right]
def arithmetic_intensity(B, H, itemsize, peak, bandwidth):
    from fractions import Fraction

    flop = 2 * B * H**2
    moved = (B * H + H * H + B * H) * itemsize
    needed = Fraction(peak) / Fraction(bandwidth) * itemsize
    if H <= needed:
        return flop / moved, 0
    exact = needed * H / (2 * (H - needed))
    return flop / moved, -(-exact.numerator // exact.denominator)

# %% [right]
def arithmetic_intensity(B, H, itemsize, peak, bandwidth):
    def per_byte(rows):
        return 2 * rows * H / (2 * rows + H) / itemsize

    if H / itemsize <= peak / bandwidth:
        return per_byte(B), 0
    low, high = 0, 1
    while per_byte(high) < peak / bandwidth:
        high *= 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if per_byte(middle) >= peak / bandwidth else (middle, high)
    return per_byte(B), high

# %% [right]
def arithmetic_intensity(B, H, itemsize, peak, bandwidth):
    def value(b):
        return 2 * b * H**2 / ((2 * b * H + H**2) * itemsize)

    need = peak / bandwidth
    if H / itemsize <= need:
        return value(B), 0
    hi = 1
    while value(hi) < need:
        hi *= 2
        if hi > 2**60:
            return value(B), 0
    lo = hi // 2
    while hi - lo > 1:
        mid = (lo + hi) // 2
        lo, hi = (lo, mid) if value(mid) >= need else (mid, hi)
    return value(B), hi

# %% [wrong] forgets to move the result
def arithmetic_intensity(B, H, itemsize, peak, bandwidth):
    needed = peak / bandwidth * itemsize
    intensity = 2 * B * H / (itemsize * (B + H))
    if 2 * H <= needed:
        return intensity, 0
    return intensity, int(np.ceil(needed * H / (2 * H - needed)))

# %% [wrong] rounds the minibatch instead of rounding it up
def arithmetic_intensity(B, H, itemsize, peak, bandwidth):
    needed = peak / bandwidth * itemsize
    intensity = 2 * B * H / (itemsize * (2 * B + H))
    return intensity, round(needed * H / (2 * (H - needed))) if H > needed else 0

# %% [wrong] gives a negative minibatch where none is enough
# -     return intensity, round(needed * H / (2 * (H - needed))) if H > needed else 0
# +     return intensity, int(np.ceil(needed * H / (2 * (H - needed)))) if H != needed else 0

# %% [wrong] gives B where the given minibatch is enough already
# -     return intensity, round(needed * H / (2 * (H - needed))) if H > needed else 0
# +     if H <= needed:
# +         return intensity, 0
# +     smallest = int(np.ceil(needed * H / (2 * (H - needed))))
# +     return intensity, max(B, smallest)

# %% [wrong] turns the balance round
def arithmetic_intensity(B, H, itemsize, peak, bandwidth):
    needed = bandwidth / peak * itemsize
    intensity = 2 * B * H / (itemsize * (2 * B + H))
    return intensity, int(np.ceil(needed * H / (2 * (H - needed)))) if H > needed else 0

# %% [wrong] takes half of the balance in numbers, as if the weights were all that moves
def arithmetic_intensity(B, H, itemsize, peak, bandwidth):
    intensity = 2 * B * H / (itemsize * (2 * B + H))
    return intensity, int(np.ceil(peak / bandwidth * itemsize / 2))

# %% [wrong] searches to 1000 only
def arithmetic_intensity(B, H, itemsize, peak, bandwidth):
    f = lambda b: 2 * b * H * H / (itemsize * (2 * b * H + H * H))
    for b in range(1, 1001):
        if f(b) >= peak / bandwidth:
            return f(B), b
    return f(B), 0

# %% [wrong] begins the search at two
def arithmetic_intensity(B, H, itemsize, peak, bandwidth):
    f = lambda b: 2 * b * H * H / (itemsize * (2 * b * H + H * H))
    if peak / bandwidth >= H / itemsize:
        return f(B), 0
    b = 2
    while f(b) < peak / bandwidth:
        b += 1
    return f(B), b
