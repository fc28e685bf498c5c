# %% [markdown]
# ## Exercise: relu_step_backward
#
# <!-- exercise: relu_step_backward -->
#
# The same step as above, with ReLU instead of tanh: `h_after = relu(a)` with `relu(a) = max(a, 0)` and
# `a = x @ weight_ih.T + h_before @ weight_hh.T + bias`. You get `h_after`, not `a`. Where `h_after` is 0, the slope of ReLU is 0.
#
# Two rules: return new arrays, and give every gradient the shape of the array that it belongs to.


# %%
def relu_step_backward(dh, x, h_before, h_after, weight_ih, weight_hh):
    """(dx [B,I], dh_before [B,H], dweight_ih [H,I], dweight_hh [H,H], dbias
    [H]) from dh [B,H].

    x [B,I], h_before and h_after [B,H], weight_ih [H,I], weight_hh [H,H]
    """
    ### BEGIN SOLUTION
    da = dh * (h_after > 0)
    return da @ weight_ih, da @ weight_hh, da.T @ x, da.T @ h_before, da.sum(axis=0)
    ### END SOLUTION


# %%
check(relu_step_backward)

# %% [properties]
# points: 2
# difficulty: 2
# minutes: 12
# lines: 2

# %% [hint]
# Go backward in the order opposite to the forward step: first through ReLU, from dh to da, the gradient of a =
# x·W_ihᵀ + h_before·W_hhᵀ + b. Then from da to each of the five things that a was made of.

# %% [hint]
# ReLU passes a on where a > 0 and gives 0 elsewhere, so its slope is 1 or 0, nothing between. You do not have a, but
# h_after > 0 exactly where a > 0. After that only the shapes differ: every one of the five results has the shape of
# the thing it is the gradient of.

# %% [hint]
# `da = dh * (h_after > 0)`. Then dx [B,I] is da [B,H] times weight_ih [H,I]; dh_before is da times weight_hh;
# dweight_ih [H,I] is da.T [H,B] times x [B,I]; dweight_hh is da.T times the state that was multiplied, h_before; the
# bias was added to every sequence, so dbias adds da up over the sequences.

# %% [mistake] multiplies by h instead of 1[h>0]
# - (h_after > 0)
# + h_after

# %% [mistake] lets every gradient through
# - (h_after > 0)
# + (h_after >= 0)

# %% [mistake] uses tanh's slope
# - (h_after > 0)
# + (1 - h_after**2)

# %% [mistake] asks h_before whether the unit was on
# - (h_after > 0)
# + (h_before > 0)

# %% [mistake] forgets the slope on the way to h_before
# - da @ weight_hh,
# + dh @ weight_hh,

# %% [mistake] transposes the recurrent weights
# - da @ weight_hh,
# + da @ weight_hh.T,

# %% [mistake] uses h_after instead of h_before in the weight gradient
# - da.T @ h_before
# + da.T @ h_after

# %% [mistake] transposes the recurrent weight gradient
# - da.T @ h_before
# + h_before.T @ da

# %% [mistake] averages the parameters' gradients over the minibatch
# - da.T @ x, da.T @ h_before, da.sum(axis=0)
# + da.T @ x / len(x), da.T @ h_before / len(x), da.mean(axis=0)

# %% [mistake] averages the bias gradient over the minibatch
# - da.sum(axis=0)
# + da.mean(axis=0)

# %% [mistake] changes its input
# - da = dh * (h_after > 0)
# + dh *= h_after > 0
# +     da = dh

# %% [right]
def relu_step_backward(dh, x, h_before, h_after, weight_ih, weight_hh):
    da = np.where(h_after > 0, dh, 0.0)
    dweight_ih = np.einsum("bj,bi->ji", da, x)
    dweight_hh = np.einsum("bj,bk->jk", da, h_before)
    dx = np.einsum("bj,ji->bi", da, weight_ih)
    return dx, da.dot(weight_hh), dweight_ih, dweight_hh, np.ones(len(da)) @ da

# %% [right]
def relu_step_backward(dh, x, h_before, h_after, weight_ih, weight_hh):
    da = dh.copy()
    da[h_after == 0] = 0
    dweight_ih, dweight_hh = np.zeros_like(weight_ih), np.zeros_like(weight_hh)
    dbias = np.zeros(len(weight_hh))
    for b in range(len(x)):
        dweight_ih += np.outer(da[b], x[b])
        dweight_hh += np.outer(da[b], h_before[b])
        dbias += da[b]
    return (weight_ih.T @ da.T).T, (weight_hh.T @ da.T).T, dweight_ih, dweight_hh, dbias

# %% [variant] slope=2..9
# - `relu(a) = max(a, 0)`
# + `relu(a) = {slope} · max(a, 0)`
# - (h_after > 0)
# + ({slope} * (h_after > 0))
# - (h_after >= 0)
# + ({slope} * (h_after >= 0))
# - (h_before > 0)
# + ({slope} * (h_before > 0))
# - dh *= h_after > 0
# + dh *= {slope} * (h_after > 0)
# - np.where(h_after > 0, dh, 0.0)
# + np.where(h_after > 0, {slope} * dh, 0.0)
# - da = dh.copy()
# + da = {slope} * dh
# - ReLU passes a on where a > 0 and gives 0 elsewhere, so its slope is 1 or 0
# + This ReLU makes {slope}·a where a > 0 and 0 elsewhere, so its slope is {slope} or 0
