# %% [markdown]
# ## Exercise: skip_step_backward
#
# <!-- exercise: skip_step_backward -->
#
# The lesson's skips run through depth. Those of the kernel that SVAIL released in 2016 run through **time**: the state before the step is added inside the nonlinearity, times a number `scale`,
#
#     h_next = tanh(a + h_before @ weight_hh.T + scale * h_before)
#
# with `a`, `h_before`, `h_next` [B,H] and `weight_hh` [H,H]. Given the gradient `dh` [B,H] of `h_next`, return the gradients of `a`, of `h_before` and of `weight_hh`, in this order. You have `h_next`, not what stood inside tanh. Return new arrays, and leave those that you are given as they are.


# %%
def skip_step_backward(dh, h_next, h_before, weight_hh, scale):
    """da [B,H], dh_before [B,H], dweight_hh [H,H] of one step with a skip
    through time."""
    ### BEGIN SOLUTION
    da = dh * (1 - h_next**2)
    dh_before = da @ weight_hh + scale * da
    dweight_hh = da.T @ h_before
    return da, dh_before, dweight_hh
    ### END SOLUTION


# %%
check(skip_step_backward)

# %% [properties]
# points: 2
# difficulty: 2
# minutes: 15
# lines: 4

# %% [hint]
# Call the sum inside tanh `z`. Three things were added to make it, so its gradient goes to three places. What is the
# gradient of `z` itself, written with `h_next`?

# %% [hint]
# tanh' is 1 − tanh². The state before the step enters `z` twice, through the weights and through the skip, so its
# gradient is a sum of two terms. Both start from the gradient of `z`.

# %% [hint]
# `da = dh * (1 - h_next**2)`; then `da @ weight_hh + scale * da` for the state, and `da.T @ h_before` for the weights.

# %% [mistake] forgets the skip
# - da @ weight_hh + scale * da
# + da @ weight_hh

# %% [mistake] lets the skip pass around tanh
# - scale * da
# + scale * dh

# %% [mistake] forgets the scale of the skip
# - scale * da
# + da

# %% [mistake] multiplies by the weights as the forward pass does
# - da @ weight_hh + scale
# + da @ weight_hh.T + scale

# %% [mistake] takes 1 − h for the slope of tanh
# - 1 - h_next**2
# + 1 - h_next

# %% [mistake] takes the slope of tanh at the state before the step
# - 1 - h_next**2
# + 1 - h_before**2

# %% [mistake] transposes the gradient of the weights
# - da.T @ h_before
# + h_before.T @ da

# %% [mistake] multiplies the state after the step for the weights
# - da.T @ h_before
# + da.T @ h_next

# %% [mistake] takes the mean over the sequences
# - da.T @ h_before
# + da.T @ h_before / len(dh)

# %% [right]
def skip_step_backward(dh, h_next, h_before, weight_hh, scale):
    da = dh - dh * h_next * h_next
    skip = scale * np.eye(len(weight_hh), dtype=weight_hh.dtype)
    return da, da @ (weight_hh + skip), np.einsum("bi,bj->ij", da, h_before)

# %% [right]
def skip_step_backward(dh, h_next, h_before, weight_hh, scale):
    da = (1 + h_next) * (1 - h_next) * dh
    dh_before = scale * da
    dweight = np.zeros_like(weight_hh)
    for b in range(len(dh)):
        dh_before[b] += weight_hh.T @ da[b]
        dweight += np.outer(da[b], h_before[b])
    return [da, dh_before, dweight]

# %% [variant] times=2..9
# -     h_next = tanh(a + h_before @ weight_hh.T + scale * h_before)
# +     h_next = tanh(a + h_before @ weight_hh.T + {times} * scale * h_before)
# - scale * da
# + {times} * scale * da
# - scale * dh
# + {times} * scale * dh
# - + scale
# + + {times} * scale
# - skip = scale * np.eye
# + skip = {times} * scale * np.eye
# - dh_before = scale * da
# + dh_before = {times} * scale * da
