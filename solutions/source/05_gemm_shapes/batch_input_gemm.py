# %% [markdown]
# ## Exercise: batch_input_gemm
#
# <!-- exercise: batch_input_gemm -->
#
# `multiply(rows)` is an input product: [n,I] goes in, [n,M] comes out, M is `multiply.outputs`. The result has the dtype of what comes out, which need not be that of `x`. You cannot see its weights. Give it `steps` steps at a time, all sequences of each; the last time what is left. It may not be called more often than that.


# %%
def batch_input_gemm(x, multiply, steps):
    """The input products of all steps [T,B,M], from x [T,B,I]."""
    ### BEGIN SOLUTION
    T, B, I = x.shape
    parts = []
    for t in range(0, T, steps):
        rows = x[t : t + steps].reshape(-1, I)
        parts.append(multiply(rows).reshape(-1, B, multiply.outputs))
    return np.concatenate(parts)
    ### END SOLUTION


# %%
check(batch_input_gemm)

# %% [properties]
# points: 2
# difficulty: 2
# minutes: 15
# lines: 6

# %% [hint]
# All inputs are known before the first step, so their products need not wait for anything. What does the row number
# of a step's product have to do with the step and the sequence?

# %% [hint]
# A chunk of k steps is [k,B,I]; as rows it is [k·B,I], step after step. The products come back as [k·B,M] and become
# [k,B,M] again. The last chunk may be shorter.

# %% [hint]
# `for t in range(0, T, steps)`: `rows = x[t : t + steps].reshape(-1, I)`; append `multiply(rows).reshape(-1, B,
# multiply.outputs)`; concatenate at the end.

# %% [mistake] calls once a step
# - range(0, T, steps)
# + range(0, T, 1)

# %% [mistake] multiplies the whole sequence at once
# - x[t : t + steps]
# + x[t:]

# %% [mistake] leaves out the steps that are left over
# - range(0, T, steps)
# + range(0, T - T % steps, steps)

# %% [mistake] mixes steps and sequences
# - .reshape(-1, B, multiply.outputs)
# + .reshape(B, -1, multiply.outputs).swapaxes(0, 1)

# %% [mistake] takes the first steps each time
# - x[t : t + steps]
# + x[: min(steps, T - t)]

# %% [mistake] puts the chunks in reverse order
# - np.concatenate(parts)
# + np.concatenate(parts[::-1])

# %% [mistake] forgets the steps' axis
# - return np.concatenate(parts)
# + return np.concatenate(parts).reshape(T * B, -1)

# %% [right]
def batch_input_gemm(x, multiply, steps):
    T, B, I = x.shape
    flat, out = x.reshape(T * B, I), None
    for first in range(0, T * B, steps * B):
        product = multiply(flat[first : first + steps * B])
        out = np.empty((T * B, multiply.outputs), product.dtype) if out is None else out
        out[first : first + len(product)] = product
    return out.reshape(T, B, -1)

# %% [right]
def batch_input_gemm(x, multiply, steps):
    chunks = np.split(x, range(steps, len(x), steps))
    made = [multiply(np.concatenate(list(chunk))) for chunk in chunks]
    return np.vstack(made).reshape(*x.shape[:2], multiply.outputs)
