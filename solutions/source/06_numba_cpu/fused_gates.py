# %% [markdown]
# ## Exercise: fused_gates
#
# <!-- exercise: fused_gates -->
#
# One sequence, one step of a GRU that resets after its product. `g [3·H]` is the input's part of the gates and `u [3·H]` the state's, both with their biases, in the order r, z, n; `h [H]` is the state.
#
# - r, z = σ(g + u) with σ(a) = 1/(1 + e⁻ᵃ); n = tanh(g + **r·u**); h' = (1 − z)·n + z·h. A sum g + u may be as large as 1,000 and as low as −500.
# - Make the result with `np.empty_like(h)` and fill it in **one loop over the units**. All that unit j needs is read, computed and written before the loop continues to the next unit.
#
# Read and write single elements, such as `g[j]`: the check does not accept slices, not even as views. `np.exp` and `np.tanh` of a single number are allowed.


# %%
def fused_gates(g, u, h):
    """h_next [H] from g [3·H], u [3·H] and h [H]."""
    ### BEGIN SOLUTION
    H = len(h)
    h_next = np.empty_like(h)
    for j in range(H):
        r = 1 / (1 + np.exp(-(g[j] + u[j])))
        z = 1 / (1 + np.exp(-(g[H + j] + u[H + j])))
        n = np.tanh(g[2 * H + j] + r * u[2 * H + j])
        h_next[j] = (1 - z) * n + z * h[j]
    return h_next
    ### END SOLUTION


# %%
check(fused_gates)

# %% [properties]
# points: 2
# difficulty: 2
# minutes: 15
# lines: 8

# %% [hint]
# Write the step for a single unit j, with plain numbers. Which numbers of g, u and h does unit j need? Only then put
# a loop around it.

# %% [hint]
# g and u have 3·H entries: unit j finds its own at j, at H + j and at 2·H + j. r, z and n are plain numbers that live
# for one turn of the loop; nothing but h_next is an array.

# %% [hint]
# `h_next = np.empty_like(h)`; for j in range(H): r and z are 1 / (1 + np.exp(-(g[...] + u[...]))); n is np.tanh(g[2 *
# H + j] + r * u[2 * H + j]); then h_next[j]. Return h_next.

# %% [mistake] goes over the units more than once
# -     for j in range(H):
# -         r = 1 / (1 + np.exp(-(g[j] + u[j])))
# +     reset = [1 / (1 + np.exp(-(g[j] + u[j]))) for j in range(H)]
# +     for j in range(H):
# +         r = reset[j]

# %% [mistake] works on whole arrays
# -     for j in range(H):
# +     g, u = list(g), list(u)
# +     for j in range(H):

# %% [mistake] overwrites its input
# -         n = np.tanh
# +         g[j], g[H + j] = r, z
# +         n = np.tanh

# %% [mistake] leaves units out
# - for j in range(H):
# + for j in range(H - 1):

# %% [mistake] swaps z and 1 − z
# - (1 - z) * n + z * h[j]
# + z * n + (1 - z) * h[j]

# %% [mistake] takes the gates in the order z, r, n
# - n = np.tanh(g[2 * H + j] + r * u[2 * H + j])
# -         h_next[j] = (1 - z) * n + z * h[j]
# + n = np.tanh(g[2 * H + j] + z * u[2 * H + j])
# +         h_next[j] = (1 - r) * n + r * h[j]

# %% [mistake] resets the input's part too
# - g[2 * H + j] + r * u[2 * H + j]
# + r * (g[2 * H + j] + u[2 * H + j])

# %% [mistake] forgets the reset gate
# - r * u[2 * H + j]
# + u[2 * H + j]

# %% [mistake] takes tanh for the update gate
# - z = 1 / (1 + np.exp(-(g[H + j] + u[H + j])))
# + z = np.tanh(g[H + j] + u[H + j])

# %% [right]
def fused_gates(g, u, h):
    H = h.size
    h_next = np.zeros_like(h)
    for j in range(H - 1, -1, -1):
        reset = 0.5 + 0.5 * np.tanh(0.5 * (g[j] + u[j]))
        update = 0.5 + 0.5 * np.tanh(0.5 * (g[j + H] + u[j + H]))
        new = np.tanh(g[j + 2 * H] + reset * u[j + 2 * H])
        h_next[j] = new + update * (h[j] - new)
    return h_next

# %% [right]
import math

def logistic(a):
    return 1.0 / (1.0 + math.exp(-a))

def fused_gates(g, u, h):
    h_next, j = np.empty_like(h), 0
    while j < len(h):
        z = logistic(g[len(h) + j] + u[len(h) + j])
        h_next[j] = z * h[j]
        n = math.tanh(g[2 * len(h) + j] + logistic(g[j] + u[j]) * u[2 * len(h) + j])
        h_next[j] += (1 - z) * n
        j += 1
    return h_next

# %% [variant] gain=2..9
# - n = tanh(g + **r·u**)
# + n = tanh(g + **{gain}·r·u**)
# - r * u[2 * H + j]
# + {gain} * r * u[2 * H + j]
# - z * u[2 * H + j]
# + {gain} * z * u[2 * H + j]
# - r * (g[2 * H + j] + u[2 * H + j])
# + {gain} * r * (g[2 * H + j] + u[2 * H + j])
# - u[2 * H + j]
# + {gain} * u[2 * H + j]
# - reset * u[j + 2 * H]
# + {gain} * reset * u[j + 2 * H]
# - logistic(g[j] + u[j]) * u[2 * len(h) + j]
# + {gain} * logistic(g[j] + u[j]) * u[2 * len(h) + j]
