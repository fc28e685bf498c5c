# %% [markdown]
# ## Exercise: lstm_backward
#
# <!-- exercise: lstm_backward -->
#
# Read it off this picture: one step of an LSTM and its mirror. `i, f, g, o [B,H]` are the outputs of the gates, after sigmoid or tanh;
# `c_next = f∘c + i∘g` and `h_next = o∘tanh(c_next)`. Gradients arrive at **both** outputs.
#
# Weights are stacked in PyTorch's order i, f, g, o: `weight_ih [4·H,I]`, `weight_hh [4·H,H]`. The two biases get the same gradient, so one `dbias [4·H]` stands for both. Return new arrays, and leave those that you are given as they are.

# %%
from rnnlab.graphs.cells import step_graph
from rnncourse.views.graph_drawing import side_by_side

side_by_side(step_graph("lstm", 4, 3, 5))


# %%
def lstm_backward(dh_next, dc_next, x, h, c, i, f, g, o, c_next, weight_ih,
                  weight_hh):
    """(dx [B,I], dh [B,H], dc [B,H], dweight_ih [4·H,I], dweight_hh [4·H,H],
    dbias [4·H]) of one step."""
    ### BEGIN SOLUTION
    tanh_c = np.tanh(c_next)
    dc_total = dc_next + dh_next * o * (1 - tanh_c**2)
    da_i = dc_total * g * i * (1 - i)
    da_f = dc_total * c * f * (1 - f)
    da_g = dc_total * i * (1 - g**2)
    da_o = dh_next * tanh_c * o * (1 - o)
    da = np.concatenate([da_i, da_f, da_g, da_o], axis=1)
    return da @ weight_ih, da @ weight_hh, dc_total * f, da.T @ x, da.T @ h, da.sum(axis=0)
    ### END SOLUTION


# %%
check(lstm_backward)

# %% [properties]
# points: 4
# difficulty: 3
# minutes: 25
# lines: 8

# %% [hint]
# Two gradients arrive, at h_next and at c_next. c_next is read twice: by the next step, and by the tanh that makes
# h_next. So two gradients are added in it before they continue: a copy, mirrored, is a sum.

# %% [hint]
# With dc_total in hand, c_next = f∘c + i∘g sends dc_total to both sums, and each elementwise product sends it on
# times its other factor: to f times c, to c times f, to i times g, to g times i. o is a factor of h_next, beside
# tanh(c_next). Then go through each gate's own function, written on its output: three sigmoids and one tanh.

# %% [hint]
# `dc_total = dc_next + dh_next * o * (1 - np.tanh(c_next)**2)`; da_i = dc_total * g * i * (1 - i); da_f has c, f;
# da_g = dc_total * i * (1 - g**2); da_o = dh_next * np.tanh(c_next) * o * (1 - o). Concatenate i, f, g, o along axis
# 1 to da [B,4H]: dx = da @ weight_ih, dweight_ih = da.T @ x, the same for h; dc = dc_total * f; dbias adds da up over
# the sequences.

# %% [mistake] forgets what arrives at c_next from the next step
# - dc_next + dh_next
# + dh_next

# %% [mistake] forgets that h_next reads c_next too
# - dc_next + dh_next * o * (1 - tanh_c**2)
# + dc_next

# %% [mistake] forgets tanh's slope between c_next and h_next
# - dh_next * o * (1 - tanh_c**2)
# + dh_next * o

# %% [mistake] forgets the forget gate on the way to c
# - dc_total * f, da.T
# + dc_total, da.T

# %% [mistake] multiplies the forget gate's gradient by c_next instead of c
# - dc_total * c * f
# + dc_total * c_next * f

# %% [mistake] multiplies the output gate's gradient by c_next without its tanh
# - dh_next * tanh_c * o
# + dh_next * c_next * o

# %% [mistake] gives the candidate a sigmoid's slope
# - (1 - g**2)
# + g * (1 - g)

# %% [mistake] multiplies gate i's gradient by i instead of g
# - dc_total * g * i * (1 - i)
# + dc_total * i * i * (1 - i)

# %% [mistake] puts the gates in the order i, f, o, g
# - da_g, da_o]
# + da_o, da_g]

# %% [mistake] changes its input
# - dc_total = dc_next + dh_next * o * (1 - tanh_c**2)
# + dc_next += dh_next * o * (1 - tanh_c**2)
# +     dc_total = dc_next

# %% [right]
def lstm_backward(dh_next, dc_next, x, h, c, i, f, g, o, c_next, weight_ih, weight_hh):
    t = np.tanh(c_next)
    dc = dh_next * o
    dc = dc_next + dc - dc * t * t
    slopes = [(i - i * i) * g, (f - f * f) * c, (1 - g * g) * i]
    da = np.hstack([dc * slope for slope in slopes] + [dh_next * t * (o - o * o)])
    ones = np.ones(len(x))
    return da.dot(weight_ih), da.dot(weight_hh), f * dc, da.T.dot(x), da.T.dot(h), ones.dot(da)

# %% [right]
def lstm_backward(dh_next, dc_next, x, h, c, i, f, g, o, c_next, weight_ih, weight_hh):
    H = h.shape[1]
    dc_next = dc_next + dh_next * o / np.cosh(c_next) ** 2
    da = np.empty((len(h), 4 * H))
    da[:, :H] = dc_next * g * i * (1 - i)
    da[:, H : 2 * H] = dc_next * c * f * (1 - f)
    da[:, 2 * H : 3 * H] = dc_next * i * (1 - g) * (1 + g)
    da[:, 3 * H :] = dh_next * np.tanh(c_next) * o * (1 - o)
    dx = sum(part @ W for part, W in zip(np.split(da, 4, axis=1), np.split(weight_ih, 4)))
    dh = np.einsum("bk,kj->bj", da, weight_hh)
    return dx, dh, dc_next * f, np.einsum("bk,bi->ki", da, x), np.einsum("bk,bj->kj", da, h), np.sum(da, 0)

# %% [variant] gain=2..9
# - `c_next = f∘c + i∘g` and
# + `c_next = f∘c + {gain}·i∘g`, with a factor {gain} that the picture does not have, and
# - f∘c + i∘g sends
# + f∘c + {gain}·i∘g sends
# - to i times g, to g times i
# + to i times {gain}·g, to g times {gain}·i
# - dc_total * g * i
# + {gain} * dc_total * g * i
# - dc_total * i * i
# + {gain} * dc_total * i * i
# - dc_total * i * (1 - g**2)
# + {gain} * dc_total * i * (1 - g**2)
# - (i - i * i) * g, (f
# + {gain} * (i - i * i) * g, (f
# - (1 - g * g) * i]
# + {gain} * (1 - g * g) * i]
# - dc_next * g * i
# + {gain} * dc_next * g * i
# - dc_next * i * (1 - g)
# + {gain} * dc_next * i * (1 - g)
