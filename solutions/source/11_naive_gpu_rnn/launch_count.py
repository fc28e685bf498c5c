# %% [markdown]
# ## Exercise: launch_count
#
# <!-- exercise: launch_count -->
#
# A naive forward pass of `cell` (`"rnn_tanh"`, `"gru"` or `"lstm"`): `L` layers, `T` steps, `B` sequences of `I` inputs, `H` units. The
# GRU resets after the product and has, as in PyTorch, a second bias for the candidate's recurrent part only: r∘(h·U_nᵀ + c_n).
# Every product, bias, sum, function, and elementwise product is a kernel; 1 − z is one as well. Return three numbers: how many
# kernels are launched, the FLOPs of all matrix products (a multiplication and an addition are two FLOPs), and the microseconds
# that the host needs for all launches if each takes `launch` microseconds.


# %%
def launch_count(cell, T, B, I, H, L, launch):
    """(launches, FLOPs of the products, microseconds) of a naive forward pass."""
    ### BEGIN SOLUTION
    gates, pointwise = {"rnn_tanh": (1, 3), "gru": (3, 15), "lstm": (4, 17)}[cell]
    launches = T * L * (2 * gates + pointwise)
    flops = 0
    for layer in range(L):
        inputs = I if layer == 0 else H
        flops += T * gates * 2 * B * H * (inputs + H)
    return launches, flops, launches * launch
    ### END SOLUTION


# %%
check(launch_count)

# %% [facts]
# points: 4
# difficulty: 2
# minutes: 20
# lines: 8

# %% [hint]
# Begin with one step of one layer. Write the cell's equations down, one operation under the other: every product,
# every bias, every sum, every function and every ∘ is a kernel. The lesson lists the 25 of an LSTM.

# %% [hint]
# A gate has two products, x·Wᵀ and h·Uᵀ. FLOPs: a product of [B,K] and [K,H] takes 2·B·K·H, where K is I in the first
# layer and H in all others for W, and H for U. The host launches one kernel after the other, so the times of all
# launches add up.

# %% [hint]
# Products and pointwise kernels of a step: rnn_tanh 2 + 3, gru 6 + 15 (its candidate has a second bias), lstm 8 + 17.
# launches = T·L·(both); flops adds T·gates·2·B·H·(inputs + H) for each layer; the time is launches · launch.

# %% [mistake] launches each kernel once for all layers
# - T * L *
# + T *

# %% [mistake] counts one step only
# - launches = T * L
# + launches = L

# %% [mistake] launches one product a gate instead of two
# - (2 * gates + pointwise)
# + (gates + pointwise)

# %% [mistake] counts products only
# - (2 * gates + pointwise)
# + (2 * gates)

# %% [mistake] misses one of the pointwise kernels of a GRU
# - (3, 15)
# + (3, 14)

# %% [mistake] misses one of the pointwise kernels of an LSTM
# - (4, 17)
# + (4, 16)

# %% [mistake] gives every layer inputs as wide as x
# - I if layer == 0 else H
# + I

# %% [mistake] gives the first layer inputs as wide as h
# - I if layer == 0 else H
# + H

# %% [mistake] counts a multiply-add as one FLOP
# - gates * 2 * B
# + gates * B

# %% [mistake] pays for one launch a step
# - launches * launch
# + T * L * launch

# %% [mistake] forgets the minibatch in the FLOPs
# - gates * 2 * B * H
# + gates * 2 * H

# %% [mistake] forgets the recurrent products in the FLOPs
# - (inputs + H)
# + inputs

# %% [mistake] counts the biases as no kernels
# - {"rnn_tanh": (1, 3), "gru": (3, 15), "lstm": (4, 17)}
# + {"rnn_tanh": (1, 2), "gru": (3, 11), "lstm": (4, 13)}

# %% [right]
def launch_count(cell, T, B, I, H, L, launch):
    a_step = {"rnn_tanh": 5, "gru": 21, "lstm": 25}
    gates = {"rnn_tanh": 1, "gru": 3, "lstm": 4}
    first = 2 * gates[cell] * H * B * (I + H)
    others = (L - 1) * 4 * gates[cell] * B * H * H
    n = sum(a_step[cell] for _ in range(T * L))
    return n, T * (first + others), n * launch

# %% [right]
def launch_count(cell, T, B, I, H, L, launch):
    widths = [I] + [H] * (L - 1)
    products, others = dict(rnn_tanh=(2, 3), gru=(6, 15), lstm=(8, 17))[cell]
    launches = flops = 0
    for t in range(T):
        for width in widths:
            launches += products + others
            flops += products // 2 * (2 * B * H * width + 2 * B * H * H)
    return launches, flops, launch * launches
