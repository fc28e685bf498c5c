# %% [right]
def fast_tanh(a, odd, even, edge):
    if a > edge:
        a = edge
    elif a < -edge:
        a = -edge
    s = a * a
    p = odd[-1]
    for c in odd[-2::-1]:
        p = p * s + c
    q = even[-1]
    for c in even[-2::-1]:
        q = q * s + c
    return a * p / q

# %% [right]
def fast_tanh(a, odd, even, edge):
    if not abs(a) <= edge and a == a:
        a = edge if a > 0 else -edge
    square = a * a

    def horner(coefficients):
        total = coefficients[len(coefficients) - 1]
        for k in range(len(coefficients) - 2, -1, -1):
            total = total * square + coefficients[k]
        return total

    return a * (horner(odd) / horner(even))

# %% [right]
def fast_tanh(a, odd, even, edge):
    beyond = a > edge
    below = a < -edge
    number = edge if beyond else a
    number = -edge if below else number
    square, power = number * number, number * 0 + 1
    above, under = odd[0], even[0]
    for k in range(1, max(len(odd), len(even))):
        power = power * square
        if k < len(odd):
            above = above + odd[k] * power
        if k < len(even):
            under = under + even[k] * power
    return number * above / under

# %% [right]
def fast_tanh(a, odd, even, edge):
    if a > edge:
        a = edge
    if a < -edge:
        a = -edge
    s, p, q = a * a, odd[-1], even[-1]
    for c in odd[-2::-1]:
        p = p * s + c
    for c in even[-2::-1]:
        q = q * s + c
    return a * p / q

# %% [wrong] turns NaN into a number
# -     if a > edge:
# -         a = edge
# -     if a < -edge:
# -         a = -edge
# +     a = a if a < edge else edge
# +     a = a if a > -edge else -edge

# %% [wrong] saturates on the positive side only
# -     if a < -edge:
# -         a = -edge
# -     s, p, q = a * a, odd[-1], even[-1]
# +     s, p, q = a * a, odd[-1], even[-1]

# %% [wrong] takes powers of a instead of a²
# -     s, p, q = a * a, odd[-1], even[-1]
# +     p, q = odd[-1], even[-1]
# -         p = p * s + c
# +         p = p * a + c
# -         q = q * s + c
# +         q = q * a + c

# %% [wrong] takes the coefficients in reverse
# -     s, p, q = a * a, odd[-1], even[-1]
# -     for c in odd[-2::-1]:
# +     s, p, q = a * a, odd[0], even[0]
# +     for c in odd[1:]:
# -     for c in even[-2::-1]:
# +     for c in even[1:]:

# %% [wrong] forgets that the numerator is odd
# -     return a * p / q
# +     return p / q

# %% [wrong] divides at every coefficient
# -     s, p, q = a * a, odd[-1], even[-1]
# -     for c in odd[-2::-1]:
# -         p = p * s + c
# +     s, q = a * a, even[-1]
# -     return a * p / q
# +     total, power = 0, a
# +     for c in odd:
# +         total = total + c * power / q
# +         power = power * s
# +     return total

# %% [wrong] loses the sign of −0
def fast_tanh(a, odd, even, edge):
    b = abs(a)
    if b > edge:
        b = edge
    s, p, q = b * b, odd[-1], even[-1]
    for c in odd[-2::-1]:
        p = p * s + c
    for c in even[-2::-1]:
        q = q * s + c
    result = b * p / q
    return result if a >= 0 else -result

# %% [wrong] computes each power anew
def fast_tanh(a, odd, even, edge):
    if a > edge:
        a = edge
    if a < -edge:
        a = -edge
    p, q = odd[0], even[0]
    for k in range(1, len(odd)):
        power = a * a
        for _ in range(k - 1):
            power = power * a * a
        p = p + odd[k] * power
    for k in range(1, len(even)):
        power = a * a
        for _ in range(k - 1):
            power = power * a * a
        q = q + even[k] * power
    return a * p / q

# %% [wrong] returns a itself below 0.01
def fast_tanh(a, odd, even, edge):
    if abs(a) < 0.01:
        return a
    if a > edge:
        a = edge
    elif a < -edge:
        a = -edge
    z = a * a
    p = odd[-1]
    for k in range(len(odd) - 2, -1, -1):
        p = p * z + odd[k]
    q = even[-1]
    for k in range(len(even) - 2, -1, -1):
        q = q * z + even[k]
    return a * p / q

# %% [wrong] divides the number by Q first
# -     if abs(a) < 0.01:
# -         return a
# -     if a > edge:
# +     if a > edge:
# - return a * p / q
# + return a / q * p
