# %% [markdown]
# ## Exercise: tiled_product
#
# <!-- exercise: tiled_product -->
#
# A compiled kernel does the arithmetic; you choose the order. `multiply(row, rows, panel, term, terms)` adds `terms` terms, from `term` on, to the sums of one panel's columns in `rows` rows, from `row` on. It takes at most `multiply.rows` rows; a panel has `multiply.columns` columns. Call it so that each of B rows meets each of K terms of each panel once.
#
# The check counts three kinds of loads:
#
# - **into registers**: for each call its sums, then `rows` + columns numbers for each term;
# - **into the first cache**: lines of 8 numbers that are not in it. It holds `near` numbers; the line used longest ago makes room;
# - **into the second cache**, in the same way. It holds all states, but not all weights.
#
# Each may be at most 1.3 times what the course's own order needs. There, a piece of a panel takes up half of the first cache, and stays until all rows have used it; states and sums need room, too.


# %%
def tiled_product(multiply, B, K, panels, near):
    """Calls multiply until the product is complete; returns nothing."""
    ### BEGIN SOLUTION
    rows, columns = multiply.rows, multiply.columns
    terms = max(1, near // (2 * columns))
    for panel in range(panels):
        for term in range(0, K, terms):
            for row in range(0, B, rows):
                multiply(row, min(rows, B - row), panel, term, min(terms, K - term))
    ### END SOLUTION


# %%
check(tiled_product)

# %% [properties]
# points: 3
# difficulty: 4
# minutes: 30
# lines: 6

# %% [hint]
# Three loops: over rows, panels and terms, in an order that you choose. The innermost loop says what stays in the
# first cache from one call to the next. Which of the three arrays is the largest, and should be fetched once only?

# %% [hint]
# Weights are used by all rows, so let the rows be the innermost loop: then a piece of a panel stays near. A whole panel
# may be too large for the first cache: cut the terms into pieces of near // (2·columns), and let the panels be the
# outermost loop.

# %% [hint]
# `for panel in range(panels)`, `for term in range(0, K, terms)`, `for row in range(0, B, rows)`: one call
# `multiply(row, min(rows, B - row), panel, term, min(terms, K - term))`.

# %% [mistake] takes one row at a time
# - rows, columns = multiply.rows, multiply.columns
# + rows, columns = 1, multiply.columns

# %% [mistake] fetches all weights for each tile of rows
# -     for panel in range(panels):
# -         for term in range(0, K, terms):
# -             for row in range(0, B, rows):
# +     for row in range(0, B, rows):
# +         for panel in range(panels):
# +             for term in range(0, K, terms):

# %% [mistake] finishes the terms of a tile before the next rows
# -         for term in range(0, K, terms):
# -             for row in range(0, B, rows):
# +         for row in range(0, B, rows):
# +             for term in range(0, K, terms):

# %% [mistake] takes pieces that do not fit into the first cache
# - max(1, near // (2 * columns))
# + K

# %% [mistake] takes one term at a time
# - max(1, near // (2 * columns))
# + 1

# %% [mistake] goes through the panels innermost
# -     for panel in range(panels):
# -         for term in range(0, K, terms):
# -             for row in range(0, B, rows):
# +     for term in range(0, K, terms):
# +         for row in range(0, B, rows):
# +             for panel in range(panels):

# %% [mistake] leaves out the rows that are left over
# - range(0, B, rows)
# + range(0, B - B % rows, rows)

# %% [mistake] leaves out the terms that are left over
# - range(0, K, terms)
# + range(0, K - K % terms, terms)

# %% [mistake] runs past the last row
# - min(rows, B - row)
# + rows

# %% [mistake] runs past the last term
# - min(terms, K - term)
# + terms

# %% [mistake] gives all rows to one call
# - rows, columns = multiply.rows, multiply.columns
# + rows, columns = B, multiply.columns

# %% [right]
def tiled_product(multiply, B, K, panels, near):
    rows, room = multiply.rows, near / 2
    pieces = lambda size, piece: [(first, min(piece, size - first)) for first in range(0, size, piece)]
    fits = [n for n in range(1, K + 1) if n * multiply.columns <= room]
    for panel in reversed(range(panels)):
        for term, terms in pieces(K, fits[-1]):
            for row, height in pieces(B, rows):
                multiply(row, height, panel, term, terms)

# %% [right]
def tiled_product(multiply, B, K, panels, near):
    most = near // multiply.columns // 2
    count = -(-K // most)  # pieces of equal size
    ends = [K * n // count for n in range(count + 1)]
    for panel in range(panels):
        for n in range(count):
            row = 0
            while row < B:
                height = min(B - row, multiply.rows)
                multiply(row, height, panel, ends[n], ends[n + 1] - ends[n])
                row += height
