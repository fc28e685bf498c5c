# %% [markdown]
# ## Exercise: backward_by_scan
#
# <!-- exercise: backward_by_scan -->
#
# `jacobians [T,B,n,n]` hold, for step t of each sequence, the derivatives of the state after the step (row) by the state before it (column). `dy [T,B,n]` is the gradient that each step's own loss gives to the state after it. Return `dh [T,B,n]`, the whole gradient at the state after each step, and `dh0 [B,n]`, the one at the state before step 0.
#
# `scan(a, b)` takes matrices `a [K,B,n,n]` and `b [K,B,n]` and returns g `[K,B,n]` with g[k] = a[k]·g[k−1] + b[k], in 2·log₂K levels. The g[−1] before its first map is a gradient that reaches the last state from outside: only `scan` knows it. Call `scan` once; it has to return every `dh[t]`. A loop over time does not pass: it would start without that gradient.


# %%
def backward_by_scan(scan, jacobians, dy):
    """(dh [T,B,n], dh0 [B,n]) from jacobians [T,B,n,n] and dy [T,B,n], by one
    call of scan(a, b)."""
    ### BEGIN SOLUTION
    T, B, n = dy.shape
    last = np.broadcast_to(np.eye(n), (1, B, n, n))
    transposed = jacobians.swapaxes(-1, -2)
    later = np.concatenate([transposed[1:], last])
    dh = scan(later[::-1], dy[::-1])[::-1]
    dh0 = (transposed[0] @ dh[0][..., None])[..., 0]
    return dh, dh0
    ### END SOLUTION


# %%
check(backward_by_scan)

# %% [properties]
# points: 3
# difficulty: 3
# minutes: 20
# lines: 7

# %% [hint]
# Write the recurrence of lesson 02 with Jacobians: what reaches the state after step t? Its own dy[t], and something from the step
# after it. Whose Jacobian is that, and which way does it multiply?

# %% [hint]
# dh[t] = Jᵀ[t+1]·dh[t+1] + dy[t]: the Jacobian of the next step, transposed. Time runs backward, so both arrays enter the scan in
# reverse order, and its result is reversed again. Behind the last step there is no step: its gradient from outside arrives as it is.

# %% [hint]
# `later = np.concatenate([transposed[1:], identity])`, where transposed is `jacobians.swapaxes(-1, -2)` and identity `np.eye(n)` with
# the shape [1,B,n,n]. Then `dh = scan(later[::-1], dy[::-1])[::-1]`. dh0 is transposed[0] times dh[0], without dy.

# %% [mistake] does not transpose the Jacobians
# - jacobians.swapaxes(-1, -2)
# + jacobians

# %% [mistake] transposes for dh0 alone
# - np.concatenate([transposed[1:], last])
# + np.concatenate([jacobians[1:], last])

# %% [mistake] multiplies by the Jacobian of the same step
# -     later = np.concatenate([transposed[1:], last])
# -
# +     later = transposed
# +

# %% [mistake] multiplies by the Jacobian of the step before
# - np.concatenate([transposed[1:], last])
# + np.concatenate([last, transposed[:-1]])

# %% [mistake] drops the gradient from outside
# - np.broadcast_to(np.eye(n), (1, B, n, n))
# + np.zeros((1, B, n, n))

# %% [mistake] scans forward in time
# - scan(later[::-1], dy[::-1])[::-1]
# + scan(later, dy)

# %% [mistake] returns dh in reverse order
# -     return dh, dh0
# -
# +     return dh[::-1], dh0
# +

# %% [mistake] leaves dy in the order of time
# - dy[::-1])[::-1]
# + dy)[::-1]

# %% [mistake] returns the gradient after step 0 as dh0
# - (transposed[0] @ dh[0][..., None])[..., 0]
# + dh[0]

# %% [mistake] forgets the transpose in dh0
# - (transposed[0] @ dh[0]
# + (jacobians[0] @ dh[0]

# %% [mistake] adds dy[0] to dh0
# - (transposed[0] @ dh[0][..., None])[..., 0]
# + (transposed[0] @ dh[0][..., None])[..., 0] + dy[0]

# %% [mistake] loops over time itself
# -     dh = scan(later[::-1], dy[::-1])[::-1]
# -
# +     dh = dy.copy()
# +     for t in reversed(range(T - 1)):
# +         dh[t] += (later[t] @ dh[t + 1][..., None])[..., 0]
# +

# %% [mistake] calls scan for each step
# -     dh = scan(later[::-1], dy[::-1])[::-1]
# -
# +     dh = dy.copy()
# +     for t in range(T):
# +         dh[t] = scan(later[t:][::-1], dy[t:][::-1])[-1]
# +

# %% [right]
def backward_by_scan(scan, jacobians, dy):
    T, B, n = dy.shape
    a = np.empty((T + 1, B, n, n))
    a[0] = np.eye(n)
    a[1:] = np.einsum("tbij->tbji", jacobians[::-1])
    b = np.zeros((T + 1, B, n))
    b[:T] = dy[::-1]
    g = scan(a, b)
    return g[:T][::-1], g[T]

# %% [right]
def backward_by_scan(scan, jacobians, dy):
    a = np.zeros(jacobians.shape)
    a[0] = np.identity(dy.shape[-1])
    for t in range(1, len(dy)):
        a[-t] = np.transpose(jacobians[t], (0, 2, 1))
    dh = np.flip(scan(a, np.flip(dy, 0)), 0)
    return dh, np.einsum("bij,bi->bj", jacobians[0], dh[0])

# %% [variant] weight=2..9
# - `dy [T,B,n]` is the gradient that each step's own loss gives to the state after it.
# + `dy [T,B,n]` is the gradient that each step's own loss gives to the state after it; the whole loss holds {weight} times each step's loss.
# - dy[::-1]
# + {weight} * dy[::-1]
# - np.flip(dy, 0)
# + {weight} * np.flip(dy, 0)
# - dy)[::-1]
# + {weight} * dy)[::-1]
# - scan(later, dy)
# + scan(later, {weight} * dy)
# - dy.copy()
# + {weight} * dy
# - dy[t:][::-1]
# + {weight} * dy[t:][::-1]
# - dh[t] = Jᵀ[t+1]·dh[t+1] + dy[t]:
# + dh[t] = Jᵀ[t+1]·dh[t+1] + {weight}·dy[t]:
