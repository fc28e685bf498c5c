# %% [markdown]
# ## Exercise: bptt_truncated
#
# <!-- exercise: bptt_truncated -->
#
# The other method, which training loops use: cut the **sequence** into chunks of `chunk` steps, counted from step 0 (the last may be
# shorter). A gradient goes back to the first step of its chunk and no further: in PyTorch one would detach the state there.
# There is no cut before step 0, so `dh0` is the gradient that arrives there from the first chunk. It takes `T` calls of `cell_backward`, which are counted as before.


# %%
def bptt_truncated(cell_backward, x, h, dy, weight_ih, weight_hh, chunk):
    """As bptt_linear, but no gradient crosses from one chunk of `chunk` steps
    to the chunk before it."""
    ### BEGIN SOLUTION
    dx = np.zeros_like(x)
    dh = np.zeros_like(h[0])
    dweight_ih, dweight_hh = np.zeros_like(weight_ih), np.zeros_like(weight_hh)
    dbias = np.zeros(len(weight_hh))
    for t in reversed(range(len(x))):
        if (t + 1) % chunk == 0:
            dh = np.zeros_like(dh)
        dx[t], dh, *step = cell_backward(dy[t] + dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
        dweight_ih += step[0]
        dweight_hh += step[1]
        dbias += step[2]
    return dx, dh, dweight_ih, dweight_hh, dbias
    ### END SOLUTION


# %%
check(bptt_truncated)

# %% [properties]
# points: 3
# difficulty: 3
# minutes: 15
# lines: 11

# %% [hint]
# Your bptt_linear is nearly the answer: one walk, T calls. What is new is only what crosses from one chunk to the
# chunk before it: nothing.

# %% [hint]
# Chunks are counted from the first step: steps 0 … chunk−1, then chunk … 2·chunk−1, and the last one may be shorter.
# Before you go back through the last step of a chunk, the dh you carry belongs to the next chunk: forget it. The
# chunk's own loss dy[t] stays.

# %% [hint]
# Step t is the last of its chunk where `(t + 1) % chunk == 0`: there, set `dh = np.zeros_like(dh)` before
# `cell_backward(dy[t] + dh, ...)`. Nothing is cut in front of step 0: dh0 is the gradient that the first chunk gives.

# %% [mistake] looks back a window from every loss instead of cutting into chunks
# -     for t in reversed(range(len(x))):
# -         if (t + 1) % chunk == 0:
# -             dh = np.zeros_like(dh)
# -         dx[t], dh, *step = cell_backward(dy[t] + dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
# -         dweight_ih += step[0]
# -         dweight_hh += step[1]
# -         dbias += step[2]
# -
# +     dh0 = dh
# +     for last in range(len(x)):
# +         dh = dy[last]
# +         for t in reversed(range(max(0, last + 1 - chunk), last + 1)):
# +             dx_t, dh, *step = cell_backward(dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
# +             dx[t] += dx_t
# +             dweight_ih += step[0]
# +             dweight_hh += step[1]
# +             dbias += step[2]
# +         dh0 = dh0 + dh * (last < chunk)
# +     dh = dh0
# +

# %% [mistake] never cuts
# - (t + 1) % chunk == 0
# + False

# %% [mistake] cuts at every step, as if chunk were 1
# - (t + 1) % chunk == 0
# + True

# %% [mistake] cuts one step away from the boundary
# - (t + 1) % chunk == 0
# + t % chunk == 0

# %% [mistake] counts the chunks from the end of the sequence
# - (t + 1) % chunk == 0
# + (len(x) - 1 - t) % chunk == 0

# %% [mistake] drops the loss at the last step of each chunk
# - dh = np.zeros_like(dh)
# + dh = -dy[t]

# %% [mistake] adds dy[t] after the step instead of before it
# - dh, *step = cell_backward(dy[t] + dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
# + dh, *step = cell_backward(dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
# +         dh = dh + dy[t]

# %% [mistake] drops dh0
# - return dx, dh,
# + return dx, np.zeros_like(dh),

# %% [mistake] makes chunks of one step more
# - (t + 1) % chunk == 0
# + (t + 1) % (chunk + 1) == 0

# %% [mistake] takes chunk for the number of chunks
# - (t + 1) % chunk == 0
# + (t + 1) % -(-len(x) // chunk) == 0

# %% [mistake] leaves out the last, shorter chunk
# - range(len(x))
# + range(len(x) // chunk * chunk)

# %% [mistake] uses h[t+1] instead of h[t] in the weight gradient
# - h[t], h[t + 1]
# + h[t + 1], h[t + 1]

# %% [mistake] goes back through the last chunk only
# - range(len(x))
# + range((len(x) - 1) // chunk * chunk, len(x))

# %% [mistake] restarts the chunks at step 1
# - (t + 1) % chunk == 0
# + t % chunk == 0 and t > 0

# %% [mistake] returns dx in reverse order
# - return dx,
# + return dx[::-1],

# %% [right]
def bptt_truncated(cell_backward, x, h, dy, weight_ih, weight_hh, chunk):
    T = len(x)
    dx = np.zeros(x.shape)
    total = [np.zeros(weight_ih.shape), np.zeros(weight_hh.shape), np.zeros(weight_hh.shape[0])]
    for start in range(0, T, chunk):
        dh = np.zeros(h[0].shape)
        for t in range(min(start + chunk, T) - 1, start - 1, -1):
            dx[t], dh, *step = cell_backward(dh + dy[t], x[t], h[t], h[t + 1], weight_ih, weight_hh)
            total = [old + new for old, new in zip(total, step)]
        if start == 0:
            dh0 = dh
    return dx, dh0, *total

# %% [right]
def bptt_truncated(cell_backward, x, h, dy, weight_ih, weight_hh, chunk):
    steps, dh = [], None
    for t in range(len(x))[::-1]:
        same_chunk = dh is not None and t // chunk == (t + 1) // chunk
        arriving = dy[t] + dh if same_chunk else dy[t]
        steps.append(cell_backward(arriving, x[t], h[t], h[t + 1], weight_ih, weight_hh))
        dh = steps[-1][1]
    columns = list(zip(*steps))
    return np.array(columns[0][::-1]), dh, *(sum(column) for column in columns[2:])
