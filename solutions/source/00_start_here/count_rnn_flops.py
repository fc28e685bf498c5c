# %% [markdown]
# ## Exercise: count_rnn_flops
#
# <!-- exercise: count_rnn_flops -->
#
# One layer computes, for each step and each sequence, two products: its weights `weight_ih [H,I]` times the input and
# `weight_hh [H,H]` times the state. A multiplication and an addition are **2 FLOP** (floating-point operations).
# Count the FLOP of all products in a forward pass through `L` layers. The first layer reads `I` inputs; every
# other layer reads the `H` outputs of the layer below. Biases and tanh are not counted: they need no product.

# %%
def count_rnn_flops(T, B, I, H, L):
    """FLOP (an int) of the products in a forward pass: T steps, B sequences, I
    inputs, H units, L layers."""
    ### BEGIN SOLUTION
    first = H * (I + H)
    deeper = H * (H + H)
    return 2 * T * B * (first + (L - 1) * deeper)
    ### END SOLUTION


# %%
check(count_rnn_flops)

# %% [properties]
# points: 2
# difficulty: 2
# minutes: 10
# lines: 3

# %% [hint]
# Count for one step, one sequence, one layer first. A product of an [H,I] matrix with I numbers gives H results: how
# many multiplications does each of them need?

# %% [hint]
# Each of the H results of the first layer needs I + H multiplications, and as many additions. Everything then happens
# T times and B times. From the second layer on, the layer reads H inputs instead of I.

# %% [hint]
# `first = H * (I + H)` for one layer's multiplications, `deeper = H * (H + H)` for each of the L - 1 others. Add them
# up, times 2 for the additions, times steps, times sequences.

# %% [mistake] counts a multiply-add as one operation
# - 2 * T * B
# + T * B

# %% [mistake] forgets the recurrent product
# - H * (I + H)
# + H * I

# %% [mistake] forgets the input product
# - H * (I + H)
# + H * H

# %% [mistake] counts one step only
# - 2 * T * B
# + 2 * B

# %% [mistake] counts one sequence only
# - 2 * T * B
# + 2 * T

# %% [mistake] forgets the layers above the first
# - first + (L - 1) * deeper
# + first

# %% [mistake] feeds every layer with x
# - first + (L - 1) * deeper
# + L * first

# %% [mistake] feeds every layer with H inputs
# - first + (L - 1) * deeper
# + L * deeper

# %% [mistake] leaves out the recurrent product of step 0
# - 2 * T * B * (first + (L - 1) * deeper)
# + 2 * B * (T * (first + (L - 1) * deeper) - L * H * H)

# %% [mistake] counts the biases too
# - H * (I + H)
# + H * (I + H + 1)

# %% [mistake] counts one addition fewer than multiplications
# -     first = H * (I + H)
# -     deeper = H * (H + H)
# -     return 2 * T * B
# +     first = H * (2 * I - 1 + 2 * H - 1)
# +     deeper = H * (2 * H - 1 + 2 * H - 1)
# +     return T * B

# %% [mistake] counts one addition fewer than multiplications, of both products together
# -     first = H * (I + H)
# -     deeper = H * (H + H)
# -     return 2 * T * B
# +     first = H * (2 * (I + H) - 1)
# +     deeper = H * (2 * (H + H) - 1)
# +     return T * B

# %% [mistake] counts one layer too many
# - (L - 1) * deeper
# + L * deeper

# %% [right]
def count_rnn_flops(T, B, I, H, L):
    flops = 0
    inputs = I
    for _ in range(L):
        flops += T * B * H * (inputs + H) * 2
        inputs = H
    return flops

# %% [right]
def count_rnn_flops(T, B, I, H, L):
    weights = H * I + H * H + (L - 1) * 2 * H**2
    return weights * T * B * 2

# %% [variant] gates=2..9
# - two products: its weights `weight_ih [H,I]` times the input and
# + two products: its weights `weight_ih [{gates}H,I]` times the input, for {gates} gates of H units each, and
# - `weight_hh [H,H]` times the state.
# + `weight_hh [{gates}H,H]` times the state.
# - 2 * T * B
# + 2 * {gates} * T * B
# - T * B
# + {gates} * T * B
# - 2 * B
# + 2 * {gates} * B
# - 2 * T
# + 2 * {gates} * T
# - A product of an [H,I] matrix with I numbers gives H results
# + A product of a [{gates}H,I] matrix with I numbers gives {gates}·H results
# - Each of the H results
# + Each of the {gates}·H results
# - times 2 for the additions, times steps
# + times 2 for the additions, times {gates} gates, times steps
