# %% [markdown]
# ## Exercise: activation_memory
#
# <!-- exercise: activation_memory -->
#
# A layer of a plain RNN with H inputs and H units saves two arrays of T·B·H numbers for its backward pass: its inputs and its states. Its weights W and U have H² numbers each, and each weight also has a gradient and a momentum. Every number has `itemsize` bytes.
#
# Return the bytes that a layer saves for its backward pass, and how many whole layers, with their saved arrays, weights, gradients and momenta, fit into `memory` bytes.


# %%
def activation_memory(T, B, H, itemsize, memory):
    """(bytes saved by a layer, layers that fit)"""
    ### BEGIN SOLUTION
    saved = 2 * T * B * H * itemsize
    weights = 3 * 2 * H * H * itemsize
    return saved, memory // (saved + weights)
    ### END SOLUTION


# %%
check(activation_memory)

# %% [facts]
# points: 2
# difficulty: 2
# minutes: 10
# lines: 3

# %% [hint]
# Which arrays does the backward pass need of a plain RNN, and how large is each? Which of them grow with the minibatch,
# and which do not?

# %% [hint]
# Saved are the layer's inputs and its h: two arrays of T·B·H numbers. Weights are W and U, H² numbers each, and beside
# each its gradient and the optimiser's momentum.

# %% [hint]
# `saved = 2 * T * B * H * itemsize`; three times two times H² numbers for the weights; a layer needs both, and only
# whole layers count.

# %% [mistake] saves one step
# - 2 * T * B * H
# + 2 * B * H

# %% [mistake] saves one sequence
# - 2 * T * B * H
# + 2 * T * H

# %% [mistake] saves h and forgets the inputs
# - 2 * T * B * H
# + T * B * H

# %% [mistake] counts numbers, not bytes
# - 2 * T * B * H * itemsize
# + 2 * T * B * H

# %% [mistake] forgets the weights
# - (saved + weights)
# + saved

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
# - memory // (saved + weights)
# + -(-memory // (saved + weights))

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

# %% [variant] running_means=2..9
# - each weight also has a gradient and a momentum.
# + each weight also has a gradient and {running_means} running means of the optimiser.
# - weights, gradients and momenta,
# + weights, gradients and running means,
# - each its gradient and the optimiser's momentum
# + each its gradient and the optimiser's {running_means} running means
# - three times two times H² numbers
# + {running_means+2} times two times H² numbers
# - 3 * 2 * H * H
# + {running_means+2} * 2 * H * H
# - 3 * H * H
# + {running_means+2} * H * H
# - 3 * 2 * B * H * H
# + {running_means+2} * 2 * B * H * H
# - 6 * itemsize * H**2
# + {2*running_means+4} * itemsize * H**2
# - 6 * H * H * itemsize
# + {2*running_means+4} * H * H * itemsize
