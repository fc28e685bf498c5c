# %% [markdown]
# ## Exercise: bptt_linear
#
# <!-- exercise: bptt_linear -->
#
# The same numbers from **one** sweep: `T` calls of `cell_backward` instead of T(T+1)/2. States are `h [T+1,B,H]`:
# `h[0]` is given, `h[t+1]` follows `x[t]`.
#
# The check brings a `cell_backward` of its own, not tanh's, so call the one you get. It counts its calls: from call T + 1 on it adds
# 1000 to the bias gradient that it returns. So one call too many shows in your result.


# %%
def bptt_linear(cell_backward, x, h, dy, weight_ih, weight_hh):
    """(dx [T,B,I], dh0 [B,H], dweight_ih [H,I], dweight_hh [H,H], dbias [H]) in
    T calls of cell_backward.

    x [T,B,I], h [T+1,B,H], dy [T,B,H];
    cell_backward(dh, x[t], h[t], h[t + 1], weight_ih, weight_hh) returns
    (dx[t] [B,I], dh_before [B,H], dweight_ih, dweight_hh, dbias) of that step
    """
    ### BEGIN SOLUTION
    dx = np.zeros_like(x)
    dh = np.zeros_like(h[0])
    dweight_ih, dweight_hh = np.zeros_like(weight_ih), np.zeros_like(weight_hh)
    dbias = np.zeros(len(weight_hh))
    for t in reversed(range(len(x))):
        dx[t], dh, *step = cell_backward(dy[t] + dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
        dweight_ih += step[0]
        dweight_hh += step[1]
        dbias += step[2]
    return dx, dh, dweight_ih, dweight_hh, dbias
    ### END SOLUTION


# %%
check(bptt_linear)

# %% [properties]
# points: 4
# difficulty: 3
# minutes: 20
# lines: 9

# %% [hint]
# Start from bptt_quadratic above and look at what its walks do at one step t: all of them run the same cell_backward
# there, only with another dh. cell_backward is linear in dh.

# %% [hint]
# Because it is linear, the dh of all walks can be added before the step instead of after it. So walk once, from the
# last step to the first, carrying one dh. At step t, h[t+1] is touched by two things: the step after it (the dh you
# carry) and its own loss (dy[t]).

# %% [hint]
# `for t in reversed(range(len(x))):` with `dx[t], dh, *step = cell_backward(dy[t] + dh, x[t], h[t], h[t + 1],
# weight_ih, weight_hh)`, adding the three entries of step to three arrays of zeros. dh starts as zeros; what is left
# of it after step 0 is dh0.

# %% [mistake] restarts at every loss term
# -     for t in reversed(range(len(x))):
# -         dx[t], dh, *step = cell_backward(dy[t] + dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
# -         dweight_ih += step[0]
# -         dweight_hh += step[1]
# -         dbias += step[2]
# -
# +     dh0 = dh
# +     for last in range(len(x)):
# +         dh = dy[last]
# +         for t in reversed(range(last + 1)):
# +             dx_t, dh, *step = cell_backward(dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
# +             dx[t] += dx_t
# +             dweight_ih += step[0]
# +             dweight_hh += step[1]
# +             dbias += step[2]
# +         dh0 = dh0 + dh
# +     dh = dh0
# +

# %% [mistake] drops what comes from later steps, as if truncated at 1 step
# - dy[t] + dh
# + dy[t]

# %% [mistake] forgets the losses of earlier steps
# - dy[t] + dh
# + (dy[t] if t + 1 == len(x) else dh)

# %% [mistake] adds dy[t] after the step instead of before it
# - dh, *step = cell_backward(dy[t] + dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
# + dh, *step = cell_backward(dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
# +         dh = dh + dy[t]

# %% [mistake] uses h[t+1] instead of h[t] in the weight gradient
# - h[t], h[t + 1]
# + h[t + 1], h[t + 1]

# %% [mistake] takes the slope at h[t] instead of h[t+1]
# - h[t], h[t + 1]
# + h[t], h[t]

# %% [mistake] keeps the parameters' gradients of one step
# -         dweight_ih += step[0]
# -         dweight_hh += step[1]
# -         dbias += step[2]
# -
# +         dweight_ih, dweight_hh, dbias = step
# +

# %% [mistake] takes dy of the step before
# - dy[t] + dh
# + dy[t - 1] + dh

# %% [mistake] takes the states of the step before
# - h[t], h[t + 1]
# + h[t - 1], h[t]

# %% [mistake] divides the parameters' gradients by the number of sequences
# - return dx, dh, dweight_ih, dweight_hh, dbias
# + B = dy.shape[1]
# +     return dx, dh, dweight_ih / B, dweight_hh / B, dbias / B

# %% [mistake] walks forward in time
# - reversed(range(len(x)))
# + range(len(x))

# %% [mistake] adds dy[0] to dh0
# - return dx, dh,
# + return dx, dh + dy[0],

# %% [mistake] averages over the steps
# - dweight_ih, dweight_hh, dbias
# -
# + dweight_ih / len(x), dweight_hh / len(x), dbias / len(x)
# +

# %% [mistake] leaves out step 0
# - range(len(x))
# + range(1, len(x))

# %% [mistake] leaves out the last step
# - range(len(x))
# + range(len(x) - 1)

# %% [mistake] returns dx in reverse order
# - return dx,
# + return dx[::-1],

# %% [mistake] computes tanh's gradient itself instead of calling cell_backward
# - cell_backward(dy[t] + dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
# + tanh_step_backward(dy[t] + dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)

# %% [right]
def bptt_linear(cell_backward, x, h, dy, weight_ih, weight_hh):
    dx, dh, totals = [], 0.0, None
    for t in range(len(x) - 1, -1, -1):
        dx_t, dh, *step = cell_backward(dh + dy[t], x[t], h[t], h[t + 1], weight_ih, weight_hh)
        dx.append(dx_t)
        totals = step if totals is None else [total + part for total, part in zip(totals, step)]
    return np.stack(dx[::-1]), dh, *totals

# %% [right]
def bptt_linear(cell_backward, x, h, dy, weight_ih, weight_hh):
    def walk(t, dh):
        if t < 0:
            return [], dh, np.zeros(weight_ih.shape), np.zeros(weight_hh.shape), np.zeros(weight_hh.shape[0])
        dx_t, dh, a, b, c = cell_backward(dh + dy[t], x[t], h[t], h[t + 1], weight_ih, weight_hh)
        dx, dh0, da, db, dc = walk(t - 1, dh)
        return [*dx, dx_t], dh0, da + a, db + b, dc + c

    dx, *rest = walk(len(x) - 1, np.zeros(h.shape[1:]))
    return np.array(dx), *rest
