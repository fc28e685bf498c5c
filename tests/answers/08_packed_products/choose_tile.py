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


# %% [wrong] forgets the latency of a sum
def choose_tile(B, registers, latency, multiplies, loads):
    tiles = [(r, v) for r in range(1, B + 1) for v in range(1, registers) if r * v + v + 1 <= registers]

    def total(tile):
        r, v = tile
        heights = [min(r, B - first) for first in range(0, B, r)]
        cycles = sum(max(n * v / multiplies, (n + v) / loads) for n in heights)
        return round(cycles / v, 9), sum(n + v for n in heights) / v

    return min(tiles, key=total)


# %% [wrong] forgets the registers of a row of weights
def choose_tile(B, registers, latency, multiplies, loads):
    tiles = [(r, v) for r in range(1, B + 1) for v in range(1, registers + 1) if r * v <= registers]

    def total(tile):
        r, v = tile
        heights = [min(r, B - first) for first in range(0, B, r)]
        cycles = sum(max(n * v / multiplies, (n + v) / loads, latency) for n in heights)
        return round(cycles / v, 9), sum(n + v for n in heights) / v

    return min(tiles, key=total)


# %% [wrong] always returns the same tile
def choose_tile(B, registers, latency, multiplies, loads):
    return 1, 1


# %% [wrong] returns columns, not vectors
def choose_tile(B, registers, latency, multiplies, loads):
    tiles = [(r, v) for r in range(1, B + 1) for v in range(1, registers) if r * v + v + 1 <= registers]
    r, v = min(tiles, key=lambda tile: (tile[0] + tile[1]) / (tile[0] * tile[1]))
    return r, 16 * v


# %% [wrong] swaps rows and vectors
def choose_tile(B, registers, latency, multiplies, loads):
    tiles = [(r, v) for r in range(1, B + 1) for v in range(1, registers) if r * v + v + 1 <= registers]

    def total(tile):
        r, v = tile
        heights = [min(r, B - first) for first in range(0, B, r)]
        cycles = sum(max(n * v / multiplies, (n + v) / loads, latency) for n in heights)
        return round(cycles / v, 9), sum(n + v for n in heights) / v

    return min(tiles, key=total)[::-1]


# %% [wrong] returns the cost with the tile
def choose_tile(B, registers, latency, multiplies, loads):
    return 1, 1, latency
