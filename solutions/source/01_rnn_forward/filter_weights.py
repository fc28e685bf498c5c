# %% [markdown]
# ## Exercise: filter_weights
#
# <!-- exercise: filter_weights -->
#
# A filter along a row of pixels computes a weighted sum of each pixel and those before it:
# $y_t = k_0 x_t + k_1 x_{t-1} + \dots + k_{K-1} x_{t-K+1}$, where pixels before the row are 0. With the kernel
# (1, 0, −1) that is the 1-D Sobel filter: it is large where brightness changes.
#
# Here the network is **linear** and has no biases: $h' = W_{ih}\,x + W_{hh}\,h$ and $y = W_{out}\,h'$, with $h = 0$
# at the start. (The lesson's network had ReLU, which does not change numbers ≥ 0, and computed the difference of two neighbours.) Set the weights for **any** kernel of K numbers, so that $y$ is the filtered row. The arrays may be float64 or float32.

# %%
def filter_weights(kernel):
    """weight_ih [H,1], weight_hh [H,H], weight_out [1,H] that filter a row with
    kernel [K]; you choose H."""
    ### BEGIN SOLUTION
    K = len(kernel)
    weight_ih = np.zeros((K, 1))
    weight_ih[0] = 1
    weight_hh = np.eye(K, k=-1)
    weight_out = kernel[np.newaxis]
    return weight_ih, weight_hh, weight_out
    ### END SOLUTION


# %%
check(filter_weights)

# %% [properties]
# points: 3
# difficulty: 3
# minutes: 15
# lines: 5

# %% [hint]
# Draw the state as K boxes in a row. At each step the new pixel goes into box 0, and the content of each box moves to
# the next one. Which matrix moves the content of h by one place?

# %% [hint]
# weight_ih puts the pixel into unit 0 and nowhere else. Row j of weight_hh says which units unit j reads: unit j
# reads unit j - 1, and unit 0 reads none. weight_out then weighs the boxes with the kernel.

# %% [hint]
# `weight_ih = np.zeros((K, 1))` with a 1 in row 0; `weight_hh` has ones just below its diagonal, see `np.eye(K,
# k=...)`; `weight_out` is the kernel as one row, `kernel[np.newaxis]`.

# %% [mistake] hands no pixel on to the next unit
# - k=-1
# + k=1

# %% [mistake] has no unit for the oldest pixel
# - K = len(kernel)
# + K = max(1, len(kernel) - 1)
# +     kernel = kernel[:K]

# %% [mistake] keeps every pixel forever
# - np.eye(K, k=-1)
# + np.eye(K)

# %% [mistake] lets the oldest pixel come back
# - np.eye(K, k=-1)
# + np.roll(np.eye(K), 1, axis=0)

# %% [mistake] shows the pixel to every unit
# - np.zeros((K, 1))
# + np.ones((K, 1))

# %% [mistake] applies the kernel backwards
# - kernel[np.newaxis]
# + kernel[np.newaxis, ::-1]

# %% [mistake] forgets the kernel
# - kernel[np.newaxis]
# + np.ones((1, K))

# %% [mistake] returns the wrong shape
# - kernel[np.newaxis]
# + kernel

# %% [mistake] returns the wrong type
# - return weight_ih, weight_hh, weight_out
# + return weight_hh

# %% [right]
def filter_weights(kernel):
    K = len(kernel)
    return np.array(kernel).reshape(K, 1), np.eye(K, k=1), np.eye(1, K)

# %% [right]
def filter_weights(kernel):
    K = len(kernel)
    weight_ih = np.eye(K, 1, dtype=np.float32)
    weight_hh = np.diag(np.ones(K - 1, np.float32), -1)
    return weight_ih, weight_hh, np.array([kernel], dtype=np.float32)

# %% [right]
def filter_weights(kernel):
    H = len(kernel) + 2
    weight_hh = np.zeros((H, H))
    for unit in range(H - 1):
        weight_hh[unit, unit + 1] = 1
    weight_ih = np.zeros((H, 1))
    weight_ih[-1, 0] = 2.0
    weight_out = np.zeros((1, H))
    for k, number in enumerate(kernel):
        weight_out[0, H - 1 - k] = number / 2.0
    return weight_ih, weight_hh, weight_out

# %% [variant] delay=1..8
# - computes a weighted sum of each pixel and those before it:
# + computes, for each pixel, a weighted sum that begins with the pixel {delay} before it:
# - $y_t = k_0 x_t + k_1 x_{t-1} + \dots + k_{K-1} x_{t-K+1}$
# + $y_t = k_0 x_{t-{delay}} + k_1 x_{t-{delay+1}} + \dots + k_{K-1} x_{t-K-{delay}+1}$
# - K = len(kernel)
# + kernel = np.concatenate([np.zeros({delay}), kernel])
# +     K = len(kernel)
# - K = max(1, len(kernel) - 1)
# + kernel = np.concatenate([np.zeros({delay}), kernel])
# +     K = max(1, len(kernel) - 1)
# - H = len(kernel) + 2
# + H = len(kernel) + {delay+2}
# - H - 1 - k]
# + H - {delay+1} - k]
# - Draw the state as K boxes
# + Draw the state as K + {delay} boxes
# - `weight_out` is the kernel as one row, `kernel[np.newaxis]`.
# + `weight_out` is one row: first `np.zeros({delay})`, then the kernel.
# - `weight_ih = np.zeros((K, 1))` with
# + With K = len(kernel) + {delay} from here on: `weight_ih = np.zeros((K, 1))` with
