# %% [markdown]
# ## Exercise: choose_tile
#
# <!-- exercise: choose_tile -->
#
# A tile of r rows by v vectors needs r·v registers for its sums, v for a row of weights and 1 for a number of the states. The core has `registers` of them. For each term the tile does r·v multiply-adds and r + v loads. In one clock cycle the core begins at most `multiplies` multiply-adds and `loads` loads, and a sum accepts its next multiply-add only after `latency` cycles. So a term takes
#
# max(r·v / multiplies, (r + v) / loads, latency) cycles.
#
# A minibatch of B rows is covered by ⌊B/r⌋ such tiles, and by one lower tile of as many vectors for the rows that are left over, if there are any. Return `(r, v)` of the tile, with r at most B, that needs the fewest cycles for each term and vector of weights: the cycles of all tiles together, divided by v. Of tiles with equal cycles take one with the fewest loads: those of all tiles together, also divided by v.


# %%
def choose_tile(B, registers, latency, multiplies, loads):
    """(rows, vectors) of the best tile for B rows."""
    ### BEGIN SOLUTION
    def cost(r, v):
        tiles = [r] * (B // r) + ([B % r] if B % r else [])
        cycles = sum(max(n * v / multiplies, (n + v) / loads, latency) for n in tiles)
        return round(cycles / v, 9), sum(n + v for n in tiles) / v

    fitting = [
        (r, v) for r in range(1, B + 1) for v in range(1, registers + 1) if r * v + v + 1 <= registers
    ]
    return min(fitting, key=lambda tile: cost(*tile))
    ### END SOLUTION


# %%
check(choose_tile)

# %% [properties]
# points: 3
# difficulty: 3
# minutes: 25
# lines: 9

# %% [hint]
# There are few tiles that fit, so try all of them. What you need is a function that says what one tile costs for all B
# rows, and a second number that decides between equal ones.

# %% [hint]
# Make the list of tiles that cover B rows: ⌊B/r⌋ times r rows, then B % r rows if that is not 0. Each takes
# max(n·v/multiplies, (n + v)/loads, latency) cycles with its own n. Divide by v, because a wider tile is needed less
# often.

# %% [hint]
# `cost(r, v)` returns the pair (sum of cycles / v, sum of (n + v) / v). `min` over all (r, v) with
# r·v + v + 1 <= registers and r <= B, with this cost as key: Python compares pairs by their first number, then by the
# second one. Round the first to 9 digits, so that equal costs are equal.

# %% [mistake] forgets the latency of a sum
# - (n + v) / loads, latency)
# + (n + v) / loads)

# %% [mistake] forgets the loads
# - max(n * v / multiplies, (n + v) / loads, latency)
# + max(n * v / multiplies, latency)

# %% [mistake] adds the three times
# - max(n * v / multiplies, (n + v) / loads, latency)
# + n * v / multiplies + (n + v) / loads + latency

# %% [mistake] ignores the rows that are left over
# -  + ([B % r] if B % r else [])
# +

# %% [mistake] takes the lower tile for a whole one
# - [B % r] if B % r else []
# + [r] if B % r else []

# %% [mistake] forgets the registers of a row of weights
# - r * v + v + 1 <= registers
# + r * v <= registers

# %% [mistake] keeps no register for the state
# - r * v + v + 1 <= registers
# + r * v + v <= registers

# %% [mistake] leaves one register empty
# - r * v + v + 1 <= registers
# + r * v + v + 1 < registers

# %% [mistake] needs a register for each number of the states
# - r * v + v + 1 <= registers
# + r * v + v + r <= registers

# %% [mistake] takes the fewest loads, whatever the cycles
# - return round(cycles / v, 9), sum(n + v for n in tiles) / v
# + return sum(n + v for n in tiles) / v, round(cycles / v, 9)

# %% [mistake] does not divide by the vectors
# - return round(cycles / v, 9), sum(n + v for n in tiles) / v
# + return round(cycles, 9), sum(n + v for n in tiles)

# %% [mistake] takes the most loads of equal tiles
# - , sum(n + v for n in tiles) / v
# + , -sum(n + v for n in tiles) / v

# %% [mistake] fills the registers with sums
# - key=lambda tile: cost(*tile))
# + key=lambda tile: (-tile[0] * tile[1], cost(*tile)))

# %% [right]
def choose_tile(B, registers, latency, multiplies, loads):
    best = None
    for r in range(1, B + 1):
        whole, rest = divmod(B, r)
        for v in range(1, (registers - 1) // (r + 1) + 1):
            term = lambda n: max(n * v / multiplies, (n + v) / loads, latency)
            cycles = whole * term(r) + (term(rest) if rest else 0)
            moved = whole * (r + v) + (rest + v if rest else 0)
            candidate = round(cycles / v, 6), round(moved / v, 6), r, v
            best = candidate if best is None else min(best, candidate)
    return best[2:]

# %% [right]
from fractions import Fraction
def choose_tile(B, registers, latency, multiplies, loads):
    def total(tile, of_rows):
        r, v = tile
        rows_left, value = B, 0
        while rows_left:
            n = min(r, rows_left)
            value += of_rows(n, v)
            rows_left -= n
        return value / Fraction(v)
    cycles = lambda n, v: max(Fraction(n * v, multiplies), Fraction(n + v, loads), Fraction(latency))
    tiles = [(r, v) for v in range(registers, 0, -1) for r in range(B, 0, -1) if (r + 1) * v < registers]
    fewest = min(total(tile, cycles) for tile in tiles)
    tied = [tile for tile in tiles if total(tile, cycles) == fewest]
    return list(sorted(tied, key=lambda tile: total(tile, lambda n, v: n + v))[0])

# %% [variant] state_registers=2..9
# - 1 for a number of the states.
# + {state_registers} for numbers of the states.
# - r·v + v + 1 <= registers
# + r·v + v + {state_registers} <= registers
# - + v + 1 <= registers
# + + v + {state_registers} <= registers
# - + v + 1 < registers
# + + v + {state_registers} < registers
# - (registers - 1) // (r + 1)
# + (registers - {state_registers}) // (r + 1)
# - (r + 1) * v < registers
# + (r + 1) * v + {state_registers-1} < registers
