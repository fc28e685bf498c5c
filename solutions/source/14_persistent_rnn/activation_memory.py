# %% [markdown]
# ## Exercise: activation_memory
#
# <!-- exercise: activation_memory -->
#
# A layer of a plain RNN with H inputs and H units keeps two arrays of T·B·H numbers for its gradient: its inputs and its states. Its weights W and U have H² numbers each, and each of them has a gradient and a momentum beside it.
#
# Return the bytes a layer keeps for its gradient, and how many layers, with their weights, gradients and momenta, fit into `memory` bytes.


# %%
def activation_memory(T, B, H, itemsize, memory):
    """(bytes kept by a layer, layers that fit)"""
    ### BEGIN SOLUTION
    kept = 2 * T * B * H * itemsize
    weights = 3 * 2 * H * H * itemsize
    return kept, memory // (kept + weights)
    ### END SOLUTION


# %%
check(activation_memory)

# %% [facts]
# points: 2
# difficulty: 2
# minutes: 10
# lines: 3

# %% [hint]
# Which arrays does the way back need of a plain RNN, and how large is each? Which of them grow with the minibatch,
# and which do not?

# %% [hint]
# Kept are the layer's inputs and its h: two arrays of T·B·H numbers. Weights are W and U, H² numbers each, and beside
# each its gradient and the optimiser's momentum.

# %% [hint]
# `kept = 2 * T * B * H * itemsize`; three times two times H² numbers for the weights; a layer needs both, and only
# whole layers count.

# %% [mistake] keeps one step
# - 2 * T * B * H
# + 2 * B * H

# %% [mistake] keeps one sequence
# - 2 * T * B * H
# + 2 * T * H

# %% [mistake] keeps h and forgets the inputs
# - 2 * T * B * H
# + T * B * H

# %% [mistake] counts numbers, not bytes
# - 2 * T * B * H * itemsize
# + 2 * T * B * H

# %% [mistake] forgets the weights
# - (kept + weights)
# + kept

# %% [mistake] counts the weights once
# - 3 * 2 * H * H
# + 2 * H * H

# %% [mistake] forgets the input weights
# - 3 * 2 * H * H
# + 3 * H * H

# %% [mistake] gives weights to each sequence
# - 3 * 2 * H * H
# + 3 * 2 * B * H * H

# %% [mistake] rounds up to a layer that has no room
# - memory // (kept + weights)
# + -(-memory // (kept + weights))

# %% [right]
def activation_memory(T, B, H, itemsize, memory):
    states = (T * B * H + T * B * H) * itemsize
    a_layer = states + 6 * itemsize * H**2
    return states, int(memory / a_layer)

# %% [right]
def activation_memory(T, B, H, itemsize, memory):
    layers, states = 0, 2 * itemsize * T * B * H
    while memory >= states + 6 * H * H * itemsize:
        memory, layers = memory - states - 6 * H * H * itemsize, layers + 1
    return states, layers
