# %% [right]
def tiled_product(multiply, B, K, panels, near):
    terms = near // 2 // multiply.columns
    for panel in range(panels):
        term = 0
        while term < K:
            n = min(terms, K - term)
            for row in reversed(range(0, B, multiply.rows)):
                multiply(row, min(B - row, multiply.rows), panel, term, n)
            term += n

# %% [right]
def tiled_product(multiply, B, K, panels, near):
    """Tiles of nearly equal height, pieces as long as the first cache lets them."""
    count = -(-B // multiply.rows)
    cuts = [B * n // count for n in range(count + 1)]
    room = near - near // 2
    piece = max(n for n in range(1, K + 1) if n * multiply.columns <= room)
    for panel in np.arange(panels):
        for term in np.arange(0, K, piece):
            for low, high in zip(cuts, cuts[1:]):
                multiply(low, high - low, panel, term, min(piece, K - term))

# %% [right]
def tiled_product(multiply, B, K, panels, near):
    def one_piece(panel, term, terms):
        for row in range(0, B, multiply.rows):
            multiply(row, min(multiply.rows, B - row), panel, term, terms)

    most = near // 2 // multiply.columns
    pieces = [(term, min(most, K - term)) for term in range(0, K, most)]
    for number in range(panels):
        for term, terms in pieces if number % 2 == 0 else reversed(pieces):
            one_piece(number, term, terms)
    return None

# %% [right]
def tiled_product(multiply, B, K, panels, near):
    limit = max(1, near // 2 // multiply.columns)
    count = -(-K // limit)
    borders = [K * n // count for n in range(count + 1)]
    panel = 0
    while panel < panels:
        for first, last in zip(borders, borders[1:]):
            row = 0
            while row < B:
                height = min(multiply.rows, B - row)
                multiply(row, height, panel, first, last - first)
                row += height
        panel += 1

# %% [wrong] takes one row at a time
def tiled_product(multiply, B, K, panels, near):
    terms = max(1, near // (2 * multiply.columns))
    for panel in range(panels):
        for term in range(0, K, terms):
            for row in range(B):
                multiply(row, 1, panel, term, min(terms, K - term))

# %% [wrong] takes pieces that do not fit into the first cache
def tiled_product(multiply, B, K, panels, near):
    for panel in range(panels):
        for row in range(0, B, multiply.rows):
            multiply(row, min(multiply.rows, B - row), panel, 0, K)

# %% [wrong] adds the last rows twice
# -             multiply(row, min(multiply.rows, B - row), panel, 0, K)
# +             first = max(0, min(row, B - multiply.rows))
# +             multiply(first, min(multiply.rows, B), panel, 0, K)

# %% [wrong] gives floats
# -             multiply(row, min(multiply.rows, B - row), panel, 0, K)
# +             multiply(row, min(multiply.rows, B - row), panel, 0, K / 1)

# %% [wrong] fills the first cache to the brim
def tiled_product(multiply, B, K, panels, near):
    terms = near // multiply.columns
    for panel in range(panels):
        for term in range(0, K, terms):
            for row in range(0, B, multiply.rows):
                multiply(row, min(multiply.rows, B - row), panel, term, min(terms, K - term))

# %% [wrong] does nothing
def tiled_product(multiply, B, K, panels, near):
    return None

# %% [wrong] names rows by their tile
def tiled_product(multiply, B, K, panels, near):
    for panel in range(panels):
        for tile in range(-(-B // multiply.rows)):
            multiply(tile, multiply.rows, panel, 0, K)

# %% [wrong] remainders forgotten
def tiled_product(multiply, B, K, panels, near):
    piece = max(1, near // 2 // multiply.columns)
    for panel in range(panels):
        for term in range(0, K // piece * piece, piece):
            for row in range(0, B // multiply.rows * multiply.rows, multiply.rows):
                multiply(row, multiply.rows, panel, term, piece)

# %% [wrong] written for a cache of 512 numbers
def tiled_product(multiply, B, K, panels, near):
    for panel in range(panels):
        for term in range(0, K, 32):
            for row in range(0, B, multiply.rows):
                multiply(row, min(multiply.rows, B - row), panel, term, min(32, K - term))

# %% [wrong] takes pieces of eight terms, whatever the cache holds
def tiled_product(multiply, B, K, panels, near):
    for panel in range(panels):
        for term in range(0, K, 8):
            for row in range(0, B, multiply.rows):
                multiply(row, min(multiply.rows, B - row), panel, term, min(8, K - term))

# %% [wrong] takes pieces that do not fit into the first cache
def tiled_product(multiply, B, K, panels, near):
    terms = max(1, near // multiply.rows)
    for panel in range(panels):
        for term in range(0, K, terms):
            for row in range(0, B, multiply.rows):
                multiply(row, min(multiply.rows, B - row), panel, term,
                         min(terms, K - term))
