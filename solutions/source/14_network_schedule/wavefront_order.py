# %% [markdown]
# ## Exercise: wavefront_order
#
# <!-- exercise: wavefront_order -->
#
# Cell (layer, step) reads the results of cell (layer, step − 1) and cell (layer − 1, step), if they exist. Assume that any number of cells can run at the same time. Return all cells in the order in which they can start: first the cells that can run in the first round, then those of the second round, and so on. Cells of the same round may be in any order.


# %%
def wavefront_order(layers, steps):
    """A list of pairs (layer, step), each cell once."""
    ### BEGIN SOLUTION
    diagonals = range(layers + steps - 1)
    return [(l, d - l) for d in diagonals for l in range(layers) if 0 <= d - l < steps]
    ### END SOLUTION


# %%
check(wavefront_order)

# %% [properties]
# points: 2
# difficulty: 2
# minutes: 15
# lines: 3

# %% [hint]
# A cell reads the state of its own layer one step before, and the output of the layer below at its own step. Draw a
# grid and write into each cell the round in which it can run first.

# %% [hint]
# Cell (layer, step) can run as number layer + step: all cells of a diagonal at once. There are layers + steps − 1
# diagonals.

# %% [hint]
# For each diagonal d and each layer l, the step is d − l, if there is one: 0 ≤ d − l < steps.

# %% [mistake] goes layer by layer
# - [(l, d - l) for d in diagonals for l in range(layers) if 0 <= d - l < steps]
# + [(l, t) for l in range(layers) for t in range(steps)]

# %% [mistake] goes step by step
# - [(l, d - l) for d in diagonals for l in range(layers) if 0 <= d - l < steps]
# + [(l, t) for t in range(steps) for l in range(layers)]

# %% [mistake] leaves out the last diagonals
# - range(layers + steps - 1)
# + range(max(layers, steps))

# %% [mistake] starts at the end
# - range(layers + steps - 1)
# + range(layers + steps - 1)[::-1]

# %% [mistake] has steps below 0
# - if 0 <= d - l < steps
# + if d - l < steps

# %% [mistake] runs along the other diagonal
# - (l, d - l) for d
# + (layers - 1 - l, d - l) for d

# %% [mistake] swaps layers and steps
# - (l, d - l) for d
# + (d - l, l) for d

# %% [mistake] misses the first step
# - 0 <= d - l
# + 0 < d - l

# %% [right]
def wavefront_order(layers, steps):
    cells = [(l, t) for t in range(steps) for l in range(layers)]
    return sorted(cells, key=sum)

# %% [right]
def wavefront_order(layers, steps):
    rounds = {}
    for l in range(layers):
        for t in range(steps):
            rounds[l, t] = 1 + max(rounds.get((l, t - 1), -1), rounds.get((l - 1, t), -1))
    return sorted(rounds, key=rounds.get)

# %% [variant] lag=2..9
# - Assume that any number
# + Each layer has a device of its own, so a result of the layer below can be read {lag} rounds after its cell began, one of the own layer after 1 round. Assume that any number
# - range(layers + steps - 1)
# + range({lag} * (layers - 1) + steps)
# - d - l
# + d - {lag} * l
# - key=sum
# + key=lambda cell: {lag} * cell[0] + cell[1]
# - rounds.get((l - 1, t), -1)
# + rounds.get((l - 1, t), -{lag}) + {lag-1}
# - can run as number layer + step: all cells of a diagonal at once. There are layers + steps
# + can run as number {lag}·layer + step: all cells with the same number at once. There are {lag}·(layers − 1) + steps
# - − 1 diagonals.
# + numbers.
# - For each diagonal d and each layer l, the step is d − l, if there is one: 0 ≤ d − l < steps.
# + For each number d and each layer l, the step is d − {lag}·l, if there is one: 0 ≤ d − {lag}·l < steps.
