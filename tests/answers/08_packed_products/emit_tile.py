# %% [right]
def emit_tile(core, rows, vectors, terms):
    where = lambda r, v: v * rows + r
    first = rows * vectors
    for v in range(vectors):
        for r in range(rows):
            core.zero(where(r, v))
    k = 0
    while k < terms:
        for v in range(vectors):
            core.load(first + 1 + v, k, v)
        for r in range(rows - 1, -1, -1):
            core.spread(first, r, k)
            for v in range(vectors):
                core.multiply_add(where(r, v), first + 1 + v, first)
        k += 1
    for r in range(rows):
        for v in range(vectors):
            core.store(where(r, v), r, v)

# %% [right]
from itertools import product
def emit_tile(core, rows, vectors, terms):
    tile = list(product(range(rows), range(vectors)))
    sums = dict(zip(tile, range(len(tile))))
    columns = [len(tile) + v for v in range(vectors)]
    state = core.registers - 1
    for r, v in tile:
        core.zero(sums[r, v])
    for k in range(terms):
        for v, column in enumerate(columns):
            core.load(column, k, v)
        for r in range(rows):
            core.spread(state, r, k)
            for v, column in enumerate(columns):
                core.multiply_add(sums[r, v], state, column)
    for r, v in tile:
        core.store(sums[r, v], r, v)

# %% [right] begins a sum where its first term comes
def emit_tile(core, rows, vectors, terms):
    n = rows * vectors
    for k in range(terms):
        for v in range(vectors):
            core.load(n + v, k, v)
        for r in range(rows):
            core.spread(n + vectors, r, k)
            for v in range(vectors):
                total = r * vectors + v
                if k == 0:
                    core.zero(total)
                core.multiply_add(total, n + v, n + vectors)
                if k == terms - 1:
                    core.store(total, r, v)

# %% [wrong] begins the sums again in every term
# -                 total = r * vectors + v
# -                 if k == 0:
# -                     core.zero(total)
# -                 core.multiply_add(total, n + v, n + vectors)
# -                 if k == terms - 1:
# -                     core.store(total, r, v)
# +                 core.zero(r * vectors + v)
# +                 core.multiply_add(r * vectors + v, n + v, n + vectors)
# +     for total in range(n):
# +         core.store(total, *divmod(total, vectors))

# %% [right] loads the vectors of the next term beside the last row
def emit_tile(core, rows, vectors, terms):
    n = rows * vectors
    for total in range(n):
        core.zero(total)
    for v in range(vectors):
        core.load(n + 1 + v, 0, v)
    for k in range(terms):
        for r in range(rows):
            core.spread(n, r, k)
            for v in range(vectors):
                core.multiply_add(r * vectors + v, n, n + 1 + v)
                if r == rows - 1 and k + 1 < terms:
                    core.load(n + 1 + v, k + 1, v)
    for total in range(n):
        core.store(total, *divmod(total, vectors))

# %% [wrong] does the first terms of both in place of the same one
# -         core.load(n + 1 + v, 0, v)
# +         core.load(n + v, 0, v)
# -             core.spread(n, r, k)
# +             core.spread(n + vectors, r, k)
# -                 core.multiply_add(r * vectors + v, n, n + 1 + v)
# -                 if r == rows - 1 and k + 1 < terms:
# -                     core.load(n + 1 + v, k + 1, v)
# +                 core.multiply_add(r * vectors + v, n + v, n + vectors)

# %% [wrong] loads both factors for each multiply-add
def emit_tile(core, rows, vectors, terms):
    for r in range(rows):
        for v in range(vectors):
            core.zero(0)
            for k in range(terms):
                core.load(1, k, v)
                core.spread(2, r, k)
                core.multiply_add(0, 1, 2)
            core.store(0, r, v)

# %% [wrong] loads the vectors again for each row
def emit_tile(core, rows, vectors, terms):
    for r in range(rows):
        for v in range(vectors):
            core.zero(v)
        for k in range(terms):
            core.spread(vectors, r, k)
            for v in range(vectors):
                core.load(vectors + 1, k, v)
                core.multiply_add(v, vectors, vectors + 1)
        for v in range(vectors):
            core.store(v, r, v)

# %% [wrong] all states of a term in registers
def emit_tile(core, rows, vectors, terms):
    n = rows * vectors
    for total in range(n):
        core.zero(total)
    for k in range(terms):
        for r in range(rows):
            core.spread(n + r, r, k)
        for v in range(vectors):
            core.load(n + rows, k, v)
            for r in range(rows):
                core.multiply_add(r * vectors + v, n + r, n + rows)
    for total in range(n):
        core.store(total, *divmod(total, vectors))

# %% [wrong] registers from 1 on
def emit_tile(core, rows, vectors, terms):
    n = rows * vectors
    for total in range(1, n + 1):
        core.zero(total)
    for k in range(terms):
        for v in range(vectors):
            core.load(n + 1 + v, k, v)
        for r in range(rows):
            core.spread(n + 1 + vectors, r, k)
            for v in range(vectors):
                core.multiply_add(1 + r * vectors + v, n + 1 + v, n + 1 + vectors)
    for total in range(1, n + 1):
        core.store(total, *divmod(total - 1, vectors))

# %% [wrong] starts with the second term
def emit_tile(core, rows, vectors, terms):
    n = rows * vectors
    for total in range(n):
        core.zero(total)
    for k in range(1, terms):
        for v in range(vectors):
            core.load(n + v, k, v)
        for r in range(rows):
            core.spread(n + vectors, r, k)
            for v in range(vectors):
                core.multiply_add(r * vectors + v, n + v, n + vectors)
    for total in range(n):
        core.store(total, *divmod(total, vectors))

# %% [wrong] nothing is emitted
def emit_tile(core, rows, vectors, terms):
    return rows * vectors * terms

# %% [right]
def emit_tile(core, rows, vectors, terms):
    state, sums = vectors, vectors + 1
    for n in range(rows * vectors):
        core.zero(sums + n)
    for k in range(terms):
        for v in range(vectors):
            core.load(v, k, v)
        for r in range(rows):
            core.spread(state, r, k)
            for v in range(vectors):
                core.multiply_add(sums + v * rows + r, state, v)
    for v in range(vectors):
        for r in range(rows):
            core.store(sums + v * rows + r, r, v)

# %% [right]
def emit_tile(core, rows, vectors, terms):
    from itertools import count, product
    numbers = count()
    sums = {place: next(numbers) for place in product(range(rows), range(vectors))}
    held = [next(numbers) for _ in range(min(rows, vectors))]
    single = next(numbers)
    for register in sums.values():
        core.zero(register)
    for k in range(terms):
        if rows < vectors:
            for r in range(rows):
                core.spread(held[r], r, k)
            for v in range(vectors):
                core.load(single, k, v)
                for r in range(rows):
                    core.multiply_add(sums[r, v], single, held[r])
        else:
            for v in range(vectors):
                core.load(held[v], k, v)
            for r in range(rows):
                core.spread(single, r, k)
                for v in range(vectors):
                    core.multiply_add(sums[r, v], single, held[v])
    for (r, v), register in sums.items():
        core.store(register, r, v)

# %% [right]
def emit_tile(core, rows, vectors, terms):
    last = rows * vectors + vectors
    k = 0
    while k < terms:
        first = last - vectors
        for v in range(vectors):
            core.load(first + v, k, v)
        for r in reversed(range(rows)):
            core.spread(last, r, k)
            for v in range(vectors):
                if k == 0:
                    core.zero(r * vectors + v)
                core.multiply_add(r * vectors + v, first + v, last)
                if k == terms - 1:
                    core.store(r * vectors + v, r, v)
        k += 1

# %% [right]
def emit_tile(core, rows, vectors, terms):
    def total(r, v):
        return 1 + vectors + r * vectors + v

    def everywhere(act):
        for r in range(rows):
            for v in range(vectors):
                act(r, v)

    def one_term(k):
        [core.load(1 + v, k, v) for v in range(vectors)]
        for r in range(rows):
            core.spread(0, r, k)
            [core.multiply_add(total(r, v), 0, 1 + v) for v in range(vectors)]

    everywhere(lambda r, v: core.zero(total(r, v)))
    for k in reversed(range(terms)):
        one_term(k)
    everywhere(lambda r, v: core.store(total(r, v), r, v))

# %% [wrong] loads the state again for each vector
def emit_tile(core, rows, vectors, terms):
    n = rows * vectors
    for s in range(n):
        core.zero(s)
    for k in range(terms):
        for v in range(vectors):
            core.load(n, k, v)
            for r in range(rows):
                core.spread(n + 1, r, k)
                core.multiply_add(r * vectors + v, n, n + 1)
    for s in range(n):
        core.store(s, s // vectors, s % vectors)

# %% [wrong] takes a register for each state
# -             core.load(n, k, v)
# -             for r in range(rows):
# -                 core.spread(n + 1, r, k)
# -                 core.multiply_add(r * vectors + v, n, n + 1)
# +             core.load(n + v, k, v)
# +         for r in range(rows):
# +             core.spread(n + vectors + r, r, k)
# +         for r in range(rows):
# +             for v in range(vectors):
# +                 core.multiply_add(r * vectors + v, n + vectors + r, n + v)

# %% [wrong] loads both factors for each multiply-add
def emit_tile(core, rows, vectors, terms):
    for r in range(rows):
        for v in range(vectors):
            core.zero(0)
            for k in range(terms):
                core.load(1, k, v)
                core.spread(2, r, k)
                core.multiply_add(0, 1, 2)
            core.store(0, r, v)

# %% [wrong] numbers the sums by rows instead of vectors
def emit_tile(core, rows, vectors, terms):
    n = rows * vectors
    for s in range(n):
        core.zero(s)
    for k in range(terms):
        for v in range(vectors):
            core.load(n + v, k, v)
        for r in range(rows):
            core.spread(n + vectors, r, k)
            for v in range(vectors):
                core.multiply_add(rows * r + v, n + vectors, n + v)
    for r in range(rows):
        for v in range(vectors):
            core.store(rows * r + v, r, v)

# %% [wrong] stores row and vector the wrong way round
# -                 core.multiply_add(rows * r + v, n + vectors, n + v)
# -     for r in range(rows):
# -         for v in range(vectors):
# -             core.store(rows * r + v, r, v)
# +                 core.multiply_add(r * vectors + v, n + vectors, n + v)
# +     for s in range(n):
# +         core.store(s, s % rows, s // rows)

# %% [wrong] begins the sums again in every term
def emit_tile(core, rows, vectors, terms):
    n = rows * vectors
    for k in range(terms):
        for s in range(n):
            core.zero(s)
        for v in range(vectors):
            core.load(n + v, k, v)
        for r in range(rows):
            core.spread(n + vectors, r, k)
            for v in range(vectors):
                core.multiply_add(r * vectors + v, n + vectors, n + v)
    for s in range(n):
        core.store(s, s // vectors, s % vectors)

# %% [wrong] leaves out the last term
# -     for k in range(terms):
# -         for s in range(n):
# -             core.zero(s)
# +     for s in range(n):
# +         core.zero(s)
# +     for k in range(terms - 1):
