# %% [markdown]
# ## Exercise: emit_tile
#
# <!-- exercise: emit_tile -->
#
# Write the heart of the product: the instructions of one tile, r `rows` by v `vectors` with K `terms`, for a core with five instructions. Registers have numbers from 0 on; the check gives you **r·v + v + 1** of them.
#
# | | |
# |---|---|
# | `core.zero(register)` | begins a sum |
# | `core.load(register, k, v)` | loads vector v of term k of the panel |
# | `core.spread(register, r, k)` | loads the state of row r, term k, into all lanes |
# | `core.multiply_add(total, x, y)` | adds the product of registers x and y to the sum in `total` |
# | `core.store(register, r, v)` | stores a complete sum as the result of row r, vector v |
#
# No instruction loads a result, so a sum stays in its register until it is complete. `load` and `spread` count as one load each. A tile may use **K·(r + v)** of them: each vector and each state is loaded once, although every vector is needed r times and every state v times.


# %%
def emit_tile(core, rows, vectors, terms):
    """Emits the instructions of a tile; returns nothing."""
    ### BEGIN SOLUTION
    weights = rows * vectors
    state = weights + vectors
    for n in range(rows * vectors):
        core.zero(n)
    for k in range(terms):
        for v in range(vectors):
            core.load(weights + v, k, v)
        for r in range(rows):
            core.spread(state, r, k)
            for v in range(vectors):
                core.multiply_add(r * vectors + v, state, weights + v)
    for r in range(rows):
        for v in range(vectors):
            core.store(r * vectors + v, r, v)
    ### END SOLUTION


# %%
check(emit_tile)

# %% [properties]
# points: 4
# difficulty: 3
# minutes: 25
# lines: 14

# %% [hint]
# Give out the registers first: which of them hold sums until the end, and which hold something only for one term? Then ask
# of each loop, over terms, rows and vectors, what it needs that stays the same while it runs.

# %% [hint]
# Registers 0 to r·v − 1 are sums; the sum of row r, vector v is number r·vectors + v. The next v registers hold the vectors
# of one term, the last one a state. The loop over terms is the outermost: for each term load v vectors, then take row after
# row.

# %% [hint]
# For each k: `core.load(weights + v, k, v)` for all v; then for each r `core.spread(state, r, k)`, and for each v
# `core.multiply_add(r * vectors + v, state, weights + v)`. Zeros come before this loop, stores after it.

# %% [mistake] loads the vectors again for each row
# -         for v in range(vectors):
# -             core.load(weights + v, k, v)
# -         for r in range(rows):
# +         for r in range(rows):
# +             for v in range(vectors):
# +                 core.load(weights + v, k, v)

# %% [mistake] loads the state again for each vector
# -             core.spread(state, r, k)
# -             for v in range(vectors):
# +             for v in range(vectors):
# +                 core.spread(state, r, k)

# %% [mistake] loads both factors for each multiply-add
# -         for v in range(vectors):
# -             core.load(weights + v, k, v)
# -         for r in range(rows):
# -             core.spread(state, r, k)
# -             for v in range(vectors):
# +         for r in range(rows):
# +             for v in range(vectors):
# +                 core.load(weights + v, k, v)
# +                 core.spread(state, r, k)

# %% [mistake] stores the sums in every term
# -     for r in range(rows):
# -         for v in range(vectors):
# -             core.store(r * vectors + v, r, v)
# +         for r in range(rows):
# +             for v in range(vectors):
# +                 core.store(r * vectors + v, r, v)

# %% [mistake] begins the sums again in every term
# -     for n in range(rows * vectors):
# -         core.zero(n)
# -     for k in range(terms):
# +     for k in range(terms):
# +         for n in range(rows * vectors):
# +             core.zero(n)

# %% [mistake] forgets to begin the sums
# -     for n in range(rows * vectors):
# -         core.zero(n)
# +

# %% [mistake] takes a register for each state
# -             core.spread(state, r, k)
# -             for v in range(vectors):
# -                 core.multiply_add(r * vectors + v, state, weights + v)
# +             core.spread(state + r, r, k)
# +             for v in range(vectors):
# +                 core.multiply_add(r * vectors + v, state + r, weights + v)

# %% [mistake] loads all vectors into one register
# -             core.load(weights + v, k, v)
# +             core.load(weights, k, v)

# %% [mistake] numbers the sums by rows instead of vectors
# - core.multiply_add(r * vectors + v, state, weights + v)
# + core.multiply_add(r * rows + v, state, weights + v)

# %% [mistake] leaves out the last term
# - for k in range(terms):
# + for k in range(terms - 1):

# %% [mistake] exchanges row and term of a state
# - core.spread(state, r, k)
# + core.spread(state, k, r)

# %% [mistake] exchanges row and vector of a result
# - core.store(r * vectors + v, r, v)
# + core.store(r * vectors + v, v, r)

# %% [mistake] forgets to store the results
# -     for r in range(rows):
# -         for v in range(vectors):
# -             core.store(r * vectors + v, r, v)
# +

# %% [right]
def emit_tile(core, rows, vectors, terms):
    places = [(r, v) for v in range(vectors) for r in range(rows)]
    sums = {place: vectors + 1 + n for n, place in enumerate(places)}
    for register in sums.values():
        core.zero(register)
    for k in reversed(range(terms)):
        for v in range(vectors):
            core.load(1 + v, k, v)
        for r in range(rows):
            core.spread(0, r, k)
            for v in range(vectors):
                core.multiply_add(sums[r, v], 1 + v, 0)
    for place, register in sums.items():
        core.store(register, *place)

# %% [right]
def emit_tile(core, rows, vectors, terms):
    last = core.registers - 1
    total = np.arange(rows * vectors).reshape(rows, vectors)

    def one_term(k):
        for v in range(vectors):
            core.load(last - 1 - v, k, v)
        for r in range(rows):
            core.spread(last, r, k)
            for v in range(vectors):
                core.multiply_add(total[r, v], last, last - 1 - v)

    for n in total.flat:
        core.zero(n)
    for k in range(terms):
        one_term(k)
    for (r, v), n in np.ndenumerate(total):
        core.store(n, r, v)

# %% [variant] first=2..9
# - Registers have numbers from 0 on; the check gives you **r·v + v + 1** of them.
# + Registers have numbers from **{first}** on, because the caller keeps those below; the check gives you **r·v + v + 1** of them.
# - weights = rows * vectors
# + weights = {first} + rows * vectors
# - core.zero(n)
# + core.zero({first} + n)
# - core.multiply_add(r * vectors + v,
# + core.multiply_add({first} + r * vectors + v,
# - core.multiply_add(r * rows + v,
# + core.multiply_add({first} + r * rows + v,
# - core.store(r * vectors + v,
# + core.store({first} + r * vectors + v,
# - Registers 0 to r·v − 1 are sums; the sum of row r, vector v is number r·vectors + v.
# + Registers {first} to {first-1} + r·v are sums; the sum of row r, vector v is number {first} + r·vectors + v.
# - sums = {place: vectors + 1 + n
# + sums = {place: {first+1} + vectors + n
# - core.load(1 + v, k, v)
# + core.load({first+1} + v, k, v)
# - core.spread(0, r, k)
# + core.spread({first}, r, k)
# - core.multiply_add(sums[r, v], 1 + v, 0)
# + core.multiply_add(sums[r, v], {first+1} + v, {first})
# - last = core.registers - 1
# + last = {first-1} + core.registers
# - total = np.arange(rows * vectors)
# + total = {first} + np.arange(rows * vectors)
# - for n in total.flat:
# -         core.zero(n)
# + for n in total.flat:
# +         core.zero(n)
