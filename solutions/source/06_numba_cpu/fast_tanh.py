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

# %% [properties]
# points: 3
# difficulty: 3
# minutes: 25
# lines: 9

# %% [hint]
# Three parts: bring a into the range where the quotient is right; work out two polynomials in a²; divide. Which
# comparison lets a NaN pass, and which one replaces it by edge?

# %% [hint]
# Horner's rule for coefficients c0, c1, c2 and z = a²: ((c2·z) + c1)·z + c0, from the last one down. The numerator is
# a times its polynomial: that makes the function odd, and keeps −0.

# %% [hint]
# `a = edge if a > edge else a`, the same for -edge with `<`; `top = odd[-1]`, then for k from len(odd) - 2 down to 0:
# `top = top * z + odd[k]`; the same with even; `return a * top / bottom`.

# %% [mistake] leaves the work to a library's function
# - return a * top / bottom
# + return np.tanh(a)

# %% [mistake] divides more than once
# -     z = a * a
# -
# +     f = 25.0
# +     for c in range(23, 0, -2):
# +         f = c + a * a / f
# +     return a / f
# +     z = 0
# +

# %% [mistake] makes each power afresh
# -     for k in range(len(odd) - 2, -1, -1):
# -         top = top * z + odd[k]
# -
# +     top = 0
# +     for k in range(len(odd)):
# +         top = top + odd[k] * a ** (2 * k)
# +

# %% [mistake] turns NaN into a number
# -     a = edge if a > edge else a
# -
# +     a = a if a < edge else edge
# +

# %% [mistake] does not saturate
# -     a = edge if a > edge else a
# -     a = -edge if a < -edge else a
# -
# +

# %% [mistake] saturates on the positive side only
# -     a = -edge if a < -edge else a
# -
# +

# %% [mistake] forgets the sign where it saturates
# -     a = edge if a > edge else a
# -     a = -edge if a < -edge else a
# -
# +     if abs(a) > edge:
# +         return 1.0
# +

# %% [mistake] forgets that the numerator is odd
# - return a * top / bottom
# + return top / bottom

# %% [mistake] takes the coefficients in reverse
# -     z = a
# +     odd, even = odd[::-1], even[::-1]
# +     z = a

# %% [mistake] loses the sign of −0
# - return a * top / bottom
# + return 0 + a * top / bottom

# %% [right]
def horner(coefficients, z):
    total = 0.0
    for c in reversed(coefficients):
        total = z * total + c
    return total

def fast_tanh(a, odd, even, edge):
    if a > edge:
        return 1.0
    if a < -edge:
        return -1.0
    return (a * horner(odd, a * a)) / horner(even, a * a)

# %% [right]
def fast_tanh(a, odd, even, edge):
    a = max(-edge, min(edge, a)) if a == a else a
    z, power, top, bottom = a * a, 1.0, 0.0, 0.0
    for k in range(max(len(odd), len(even))):
        if k < len(odd):
            top = top + np.float32(odd[k]) * power
        if k < len(even):
            bottom = bottom + np.float32(even[k]) * power
        power = power * z
    return a * (top / bottom)
