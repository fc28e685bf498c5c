# %% [right]
def choose_tile(B, registers, latency, multiplies, loads):
    table = {}
    for r in range(1, B + 1):
        for v in range(1, registers):
            if (r + 1) * v + 1 > registers:
                continue
            heights = [min(r, B - first) for first in range(0, B, r)]
            cycles = [max(n * v / multiplies, (n + v) / loads, latency) for n in heights]
            table[r, v] = np.round(np.sum(cycles) / v, 8), np.round(np.sum(np.add(heights, v)) / v, 8)
    return sorted(table, key=table.get)[0]

# %% [right]
def choose_tile(B, registers, latency, multiplies, loads):
    tiles = [np.array((r, v)) for r in range(B, 0, -1) for v in range(1, registers) if r * v + v < registers]

    def total(tile):
        r, v = map(int, tile)
        term = lambda n: 0 if n == 0 else max(n * v / multiplies, (n + v) / loads, latency)
        moved = lambda n: 0 if n == 0 else n + v
        return tuple(round((B // r * f(r) + f(B % r)) / v, 7) for f in (term, moved))

    return tuple(min(tiles, key=total))

# %% [right]
def choose_tile(B, registers, latency, multiplies, loads):
    best = None
    for r in range(1, B + 1):
        for v in range(1, registers):
            if r * v + v + 1 > registers:
                break
            rows = [r] * (B // r) + ([B % r] if B % r else [])
            cycles = sum(max(n * v / multiplies, (n + v) / loads, latency) for n in rows) / v
            moved = sum(n + v for n in rows) / v
            if best is None or (cycles, moved) < best[0]:
                best = (cycles, moved), (r, v)
    return best[1]

# %% [wrong] ignores the rows that are left over
# -             rows = [r] * (B // r) + ([B % r] if B % r else [])
# +             rows = [r] * (B // r)

# %% [wrong] takes the lower tile for a whole one
# -             rows = [r] * (B // r) + ([B % r] if B % r else [])
# +             rows = [r] * (B // r) + ([r] if B % r else [])

# %% [wrong] forgets the registers of the weights
# -             if r * v + v + 1 > registers:
# +             if r * v + 1 > registers:

# %% [wrong] does not divide the cycles by the vectors
# -             cycles = sum(max(n * v / multiplies, (n + v) / loads, latency) for n in rows) / v
# +             cycles = sum(max(n * v / multiplies, (n + v) / loads, latency) for n in rows)

# %% [wrong] forgets the latency of a sum
# -             cycles = sum(max(n * v / multiplies, (n + v) / loads, latency) for n in rows) / v
# +             cycles = sum(max(n * v / multiplies, (n + v) / loads) for n in rows) / v

# %% [wrong] adds the three times
# -             cycles = sum(max(n * v / multiplies, (n + v) / loads, latency) for n in rows) / v
# +             cycles = sum((n * v / multiplies + (n + v) / loads + latency) for n in rows) / v

# %% [wrong] of equal tiles, the last
# -             if best is None or (cycles, moved) < best[0]:
# +             if best is None or cycles <= best[0][0]:

# %% [wrong] returns (v, r)
# -                 best = (cycles, moved), (r, v)
# +                 best = (cycles, moved), (v, r)

# %% [right]
def choose_tile(B, registers, latency, multiplies, loads):
    from fractions import Fraction

    def cost(tile):
        r, v = tile
        whole, rest = divmod(B, r)
        term = lambda n: max(Fraction(n * v) / Fraction(multiplies), Fraction(n + v) / Fraction(loads), Fraction(latency))
        cycles = whole * term(r) + (term(rest) if rest else 0)
        count = whole * (r + v) + (rest + v if rest else 0)
        return cycles / v, Fraction(count, v)

    tiles = [(r, v) for r in range(1, B + 1) for v in range(1, registers + 1) if v * (r + 1) + 1 <= registers]
    return min(tiles, key=cost)

# %% [right]
def choose_tile(B, registers, latency, multiplies, loads):
    costs = {}
    for v in range(1, registers // 2 + 1):
        r = 1
        while r <= B and r * v + v + 1 <= registers:
            parts = [min(r, B - first) for first in range(0, B, r)]
            cycles = sum(max(p * v / multiplies, (p + v) / loads, latency) for p in parts)
            costs[r, v] = cycles / v, sum(p + v for p in parts) / v
            r += 1
    return min(costs, key=costs.get)

# %% [right]
def choose_tile(B, registers, latency, multiplies, loads):
    rows = []
    for v in range(registers, 0, -1):
        for r in range(min(B, registers), 0, -1):
            if v * (r + 1) + 1 > registers:
                continue
            n, left = B // r, B % r
            c = n * max(r * v / multiplies, (r + v) / loads, latency)
            m = n * (r + v)
            if left > 0:
                c += max(left * v / multiplies, (left + v) / loads, latency)
                m += left + v
            rows.append((round(c / v, 9), round(m / v, 9), r, v))
    rows.sort()
    return rows[0][2:]

# %% [right]
def choose_tile(B, registers, latency, multiplies, loads):
    tiles = [(r, v) for r in range(1, B + 1) for v in range(1, registers) if r * v + v + 1 <= registers]

    def total(tile):
        r, v = tile
        heights = [min(r, B - first) for first in range(0, B, r)]
        cycles = sum(max(n * v / multiplies, (n + v) / loads, latency) for n in heights)
        return round(cycles / v, 9), sum(n + v for n in heights) / v

    return min(tiles, key=total)

# %% [wrong] forgets the latency of a sum
# -         cycles = sum(max(n * v / multiplies, (n + v) / loads, latency) for n in heights)
# +         cycles = sum(max(n * v / multiplies, (n + v) / loads) for n in heights)

# %% [wrong] forgets the registers of a row of weights
# -     tiles = [(r, v) for r in range(1, B + 1) for v in range(1, registers) if r * v + v + 1 <= registers]
# +     tiles = [(r, v) for r in range(1, B + 1) for v in range(1, registers + 1) if r * v <= registers]

# %% [wrong] keeps no register for the state
# -     tiles = [(r, v) for r in range(1, B + 1) for v in range(1, registers) if r * v + v + 1 <= registers]
# +     tiles = [(r, v) for r in range(1, B + 1) for v in range(1, registers) if r * v + v <= registers]

# %% [wrong] swaps rows and vectors
# -     return min(tiles, key=total)
# +     return min(tiles, key=total)[::-1]

# %% [wrong] always returns the same tile
def choose_tile(B, registers, latency, multiplies, loads):
    return 1, 1

# %% [wrong] returns columns, not vectors
def choose_tile(B, registers, latency, multiplies, loads):
    tiles = [(r, v) for r in range(1, B + 1) for v in range(1, registers) if r * v + v + 1 <= registers]
    r, v = min(tiles, key=lambda tile: (tile[0] + tile[1]) / (tile[0] * tile[1]))
    return r, 16 * v

# %% [wrong] returns the cost with the tile
def choose_tile(B, registers, latency, multiplies, loads):
    return 1, 1, latency

# %% [wrong] lets a tile be higher than the minibatch
def choose_tile(B, registers, latency, multiplies, loads):
    def cost(r, v):
        tiles = [r] * (B // r) + [B % r] * (B % r > 0)
        cycles = sum(max(n * v / multiplies, (n + v) / loads, latency) for n in tiles)
        return round(cycles / v, 9), sum(n + v for n in tiles) / v

    sizes = range(registers, 0, -1)
    return min(((r, v) for r in sizes for v in sizes if r * v + v + 1 <= registers), key=lambda tile: cost(*tile))

# %% [wrong] takes the largest time of all tiles together, not of each
def choose_tile(B, registers, latency, multiplies, loads):
    best, best_cost = None, None
    for r in range(1, B + 1):
        for v in range(1, registers):
            if r * v + v + 1 > registers:
                break
            heights = [r] * (B // r) + ([B % r] if B % r else [])
            products = sum(t * v for t in heights)
            moved = sum(t + v for t in heights)
            cycles = max(products / multiplies, moved / loads, latency)
            cost = (cycles / v, moved / v)
            if best is None or cost < best_cost:
                best, best_cost = (r, v), cost
    return best
