# %% [markdown]
# ## Exercise: gru_backward
#
# <!-- exercise: gru_backward -->
#
# The lesson read the gradient of a GRU that resets **before** its product. Read this one, which resets **after** it.
# `product` is what the exercise above returned, h·U_nᵀ + c_n `[B,H]`; `r, z, n [B,H]` are the outputs of the gates, after sigmoid or tanh.
#
# Here the two biases get different gradients. Why? Look where `c_n` enters. Return new arrays, and leave those that you are given as they are.

# %%
side_by_side(step_graph("gru_after", 4, 3, 5))


# %%
def gru_backward(dh_next, x, h, r, z, n, product, weight_ih, weight_hh):
    """(dx [B,I], dh [B,H], dweight_ih [3·H,I], dweight_hh [3·H,H], dbias_ih
    [3·H], dbias_hh [3·H])."""
    ### BEGIN SOLUTION
    da_n = dh_next * (1 - z) * (1 - n**2)
    da_z = dh_next * (h - n) * z * (1 - z)
    da_r = da_n * product * r * (1 - r)
    d_input = np.concatenate([da_r, da_z, da_n], axis=1)
    d_recurrent = np.concatenate([da_r, da_z, da_n * r], axis=1)
    dh = d_recurrent @ weight_hh + dh_next * z
    dweight_ih, dweight_hh = d_input.T @ x, d_recurrent.T @ h
    return d_input @ weight_ih, dh, dweight_ih, dweight_hh, d_input.sum(axis=0), d_recurrent.sum(axis=0)
    ### END SOLUTION


# %%
check(gru_backward)

# %% [properties]
# points: 4
# difficulty: 4
# minutes: 30
# lines: 8

# %% [hint]
# Put a finger on dh_next in the reverse picture and follow every wire. First come two elementwise products, (1−z)∘n
# and z∘h, and each sends gradients to both of its factors. Write down what arrives at n, at z (twice: once through
# 1−z, which turns the sign) and at h.

# %% [hint]
# Go through each gate's function on its output, which gives the gradient in front of it: da_n, da_z, da_r. r is a
# factor of r∘product, so its other factor is the product, and what arrives there is da_n. The product is the other
# factor: it gets da_n∘r. So the input side gets [da_r, da_z, da_n] and the recurrent side [da_r, da_z, da_n∘r]: two
# arrays [B,3H].

# %% [hint]
# `da_n = dh_next * (1 - z) * (1 - n**2)`, `da_z = dh_next * (h - n) * z * (1 - z)`, `da_r = da_n * product * r * (1 -
# r)`. With d_input and d_recurrent concatenated along axis 1: dx = d_input @ weight_ih, dweight_ih = d_input.T @ x,
# and the same for h with d_recurrent. Last, h also leaves past all gates: add dh_next * z to dh. A bias gets the sum
# over the sequences.

# %% [mistake] forgets the wire from h past all gates, z∘h
# -  + dh_next * z
# -
# +
# +

# %% [mistake] swaps z and 1 − z
# - dh_next * (1 - z) * (1 - n**2)
# + dh_next * z * (1 - n**2)

# %% [mistake] forgets that z is read twice, as z and as 1 − z
# - (h - n)
# + h

# %% [mistake] takes the wrong sign for z
# - (h - n)
# + (n - h)

# %% [mistake] forgets tanh's slope
# -  * (1 - n**2)
# +

# %% [mistake] forgets the slope of the reset gate
# - product * r * (1 - r)
# + product

# %% [mistake] multiplies the reset gate's gradient by h instead of the product
# - da_n * product
# + da_n * h

# %% [mistake] lets the candidate's gradient past the reset gate
# - da_n * r]
# + da_n]

# %% [mistake] gives both biases the same gradient
# - d_recurrent.sum(axis=0)
# + d_input.sum(axis=0)

# %% [mistake] puts the gates in the order z, r, n
# - [da_r, da_z,
# + [da_z, da_r,

# %% [right]
def gru_backward(dh_next, x, h, r, z, n, product, weight_ih, weight_hh):
    dn, dz, dh = dh_next * (1 - z), dh_next * h - dh_next * n, dh_next * z
    into = {"n": dn * (1 - n * n), "z": dz * (z - z * z)}
    into["r"] = into["n"] * product * (r - r * r)
    d_input = np.hstack([into[gate] for gate in "rzn"])
    d_recurrent = np.hstack([into["r"], into["z"], r * into["n"]])
    dh = dh + d_recurrent.dot(weight_hh)
    dx, dbias_ih, dbias_hh = d_input.dot(weight_ih), np.sum(d_input, 0), np.sum(d_recurrent, 0)
    return dx, dh, d_input.T.dot(x), d_recurrent.T.dot(h), dbias_ih, dbias_hh

# %% [right]
def gru_backward(dh_next, x, h, r, z, n, product, weight_ih, weight_hh):
    W_r, W_z, W_n = np.split(weight_ih, 3)
    U_r, U_z, U_n = np.split(weight_hh, 3)
    n_in = dh_next * (1 - z) * (1 - n**2)
    z_in = dh_next * (h - n) * (1 - z) * z
    r_in = n_in * product * (1 - r) * r
    n_rec = n_in * r
    dx = r_in @ W_r + z_in @ W_z + n_in @ W_n
    dh = z * dh_next + r_in @ U_r + z_in @ U_z + n_rec @ U_n
    dweight_ih = np.concatenate([r_in.T @ x, z_in.T @ x, n_in.T @ x])
    dweight_hh = np.concatenate([r_in.T @ h, z_in.T @ h, n_rec.T @ h])
    dbias_ih = np.concatenate([a.sum(0) for a in (r_in, z_in, n_in)])
    dbias_hh = np.concatenate([a.sum(0) for a in (r_in, z_in, n_rec)])
    return dx, dh, dweight_ih, dweight_hh, dbias_ih, dbias_hh
