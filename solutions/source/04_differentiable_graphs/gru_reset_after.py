# %% [markdown]
# ## Exercise: gru_reset_after
#
# <!-- exercise: gru_reset_after -->
#
# A GRU forward over a whole sequence in **1 + T** calls of `product`, with the reset gate after its product:
#
# - r, z = σ of (input part + recurrent part); n = tanh(input part + **r∘(h·U_nᵀ + c_n)**); h ← (1−z)∘n + z∘h.
# - `product(a [rows,k], weight [m,k])` gives a·weightᵀ `[rows,m]`. Use it for every matrix product: it counts its calls and allows `1 + T` of them.
# - Besides the states, return what variant 4 saves: h·U_nᵀ + c_n of every step.
#
# Weights are stacked in the order r, z, n; `c_n` is the last third of `bias_hh`.


# %%
def gru_reset_after(product, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    """(all states h after the steps [T,B,H], the kept products h·U_nᵀ + c_n
    [T,B,H]).

    x [T,B,I], h0 [B,H], weight_ih [3·H,I], weight_hh [3·H,H], bias_ih and
    bias_hh [3·H]
    """
    ### BEGIN SOLUTION
    (T, B, I), H = x.shape, h0.shape[1]
    sigmoid = lambda a: 1 / (1 + np.exp(-a))
    gates_x = (product(x.reshape(T * B, I), weight_ih) + bias_ih).reshape(T, B, 3 * H)
    h, states, products = h0, [], []
    for x_r, x_z, x_n in (np.split(gates, 3, axis=1) for gates in gates_x):
        h_r, h_z, h_n = np.split(product(h, weight_hh) + bias_hh, 3, axis=1)
        r, z = sigmoid(x_r + h_r), sigmoid(x_z + h_z)
        n = np.tanh(x_n + r * h_n)
        h = (1 - z) * n + z * h
        states.append(h)
        products.append(h_n)
    return np.stack(states), np.stack(products)
    ### END SOLUTION


# %%
check(gru_reset_after)

# %% [properties]
# points: 4
# difficulty: 3
# minutes: 25
# lines: 12

# %% [hint]
# Which of the products do not wait for h? All those with x, of all steps: one call before the loop. Which products of
# a step read the same left factor? With the reset gate after the product all three read h: one call a step.

# %% [hint]
# Before the loop: reshape x to [T*B,I], multiply by weight_ih, add bias_ih, reshape to [T,B,3H]. In the loop: h times
# weight_hh plus bias_hh, [B,3H]; both are then split along axis 1 into r, z, n. The candidate is tanh(x_n + r∘h_n),
# where h_n already contains its bias; h_n is what you keep.

# %% [hint]
# `gates_x = (product(x.reshape(T * B, I), weight_ih) + bias_ih).reshape(T, B, 3 * H)`; for each step `h_r, h_z, h_n =
# np.split(product(h, weight_hh) + bias_hh, 3, axis=1)`, the same split for gates_x[t], then r and z are sigmoids of
# sums, n = np.tanh(x_n + r * h_n) and h = (1 - z) * n + z * h. Collect h and h_n in two lists, and np.stack them.

# %% [mistake] resets before the product
# - n = np.tanh(x_n + r * h_n)
# + n = np.tanh(x_n + product(r * h, weight_hh[2 * H :]) + bias_hh[2 * H :])

# %% [mistake] makes a product of x at every step
# -     gates_x = (product(x.reshape(T * B, I), weight_ih) + bias_ih).reshape(T, B, 3 * H)
# -     h, states, products = h0, [], []
# -     for x_r, x_z, x_n in (np.split(gates, 3, axis=1) for gates in gates_x):
# +     h, states, products = h0, [], []
# +     for x_r, x_z, x_n in (np.split(product(x_t, weight_ih) + bias_ih, 3, axis=1) for x_t in x):

# %% [mistake] makes a product for every gate
# - np.split(product(h, weight_hh) + bias_hh, 3, axis=1)
# + [product(h, U) + b for U, b in zip(np.split(weight_hh, 3), np.split(bias_hh, 3))]

# %% [mistake] adds the recurrent bias after the reset gate
# - r * h_n)
# + r * (h_n - bias_hh[2 * H :]) + bias_hh[2 * H :])

# %% [mistake] forgets the recurrent bias
# - product(h, weight_hh) + bias_hh
# + product(h, weight_hh)

# %% [mistake] swaps z and 1 − z
# - (1 - z) * n + z * h
# + z * n + (1 - z) * h

# %% [mistake] takes the gates in the order z, r, n
# - r, z = sigmoid
# + z, r = sigmoid

# %% [mistake] keeps r∘(U·h) instead of U·h
# - products.append(h_n)
# + products.append(r * h_n)

# %% [mistake] keeps n instead of U·h
# - products.append(h_n)
# + products.append(n)

# %% [mistake] starts from zeros instead of h0
# - h, states, products = h0
# + h, states, products = 0 * h0

# %% [right]
def gru_reset_after(product, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    (T, B, I), H = x.shape, len(weight_hh[0])
    before = product(x.reshape(-1, I), weight_ih).reshape(T, B, -1)
    y, kept = np.empty((T, B, H)), np.empty((T, B, H))
    h = h0
    for t in range(T):
        recurrent = product(h, weight_hh) + bias_hh
        a = before[t] + bias_ih
        gates = 0.5 * np.tanh(0.5 * (a + recurrent)[:, : 2 * H]) + 0.5
        kept[t] = recurrent[:, 2 * H :]
        n = np.tanh(a[:, 2 * H :] + gates[:, :H] * kept[t])
        h = y[t] = n + gates[:, H:] * (h - n)
    return y, kept

# %% [right]
def gru_reset_after(product, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):
    T, B, I = x.shape
    H = h0.shape[-1]
    rows = product(np.concatenate(list(x)), weight_ih) + bias_ih
    states, kept = [h0], []
    for t in range(T):
        x_r, x_z, x_n = (rows[t * B : (t + 1) * B, k * H : (k + 1) * H] for k in range(3))
        h_r, h_z, h_n = np.hsplit(product(states[-1], weight_hh) + bias_hh, 3)
        r, z = 1 / (1 + np.exp(-x_r - h_r)), 1 / (1 + np.exp(-x_z - h_z))
        kept.append(h_n)
        states.append(z * states[-1] + (1 - z) * np.tanh(x_n + h_n * r))
    return np.array(states[1:]), np.array(kept)
