# %% [right]
def relu_step_backward(dh, x, h_before, h_after, weight_ih, weight_hh):
    on = np.sign(h_after)
    da = on * dh
    return np.matmul(da, weight_ih), np.matmul(da, weight_hh), da.T.dot(x), da.T.dot(h_before), np.sum(da, 0)

# %% [right]
def relu_step_backward(dh, x, h_before, h_after, weight_ih, weight_hh):
    da = np.where(h_after <= 0, 0.0, dh)
    both = da @ np.hstack([weight_ih, weight_hh])
    dweights = da.T @ np.hstack([x, h_before])
    I = x.shape[1]
    return both[:, :I], both[:, I:], dweights[:, :I], dweights[:, I:], np.einsum("bh->h", da)

# %% [right]
def relu_step_backward(dh, x, h_before, h_after, weight_ih, weight_hh):
    mask = (h_after != 0).astype(dh.dtype)
    da = mask * dh
    return (
        (weight_ih.T @ da.T).T,
        (weight_hh.T @ da.T).T,
        (x.T @ da).T,
        (h_before.T @ da).T,
        da.T @ np.ones(len(x)),
    )

# %% [right]
def relu_step_backward(dh, x, h_before, h_after, weight_ih, weight_hh):
    da = dh.copy()
    da[h_after == 0] = 0
    dW, dU, db = np.zeros_like(weight_ih), np.zeros_like(weight_hh), np.zeros_like(weight_hh[0])
    for b in range(len(da)):
        dW += np.outer(da[b], x[b])
        dU += np.outer(da[b], h_before[b])
        db += da[b]
    return [np.dot(da, weight_ih), np.dot(da, weight_hh), dW, dU, db]

# %% [wrong] multiplies by h instead of 1[h>0]
def relu_step_backward(dh, x, h_before, h_after, weight_ih, weight_hh):
    da = h_after * dh
    return da @ weight_ih, da @ weight_hh, da.T @ x, da.T @ h_before, da.sum(0)

# %% [wrong] averages the parameters' gradients over the minibatch
def relu_step_backward(dh, x, h_before, h_after, weight_ih, weight_hh):
    da, B = dh * (h_after > 0), len(dh)
    return da @ weight_ih, da @ weight_hh, da.T @ x / B, da.T @ h_before / B, da.sum(0) / B

# %% [wrong] passes only positive gradients
def relu_step_backward(dh, x, h_before, h_after, weight_ih, weight_hh):
    da = np.maximum(dh, 0) * (h_after > 0)
    return da @ weight_ih, da @ weight_hh, da.T @ x, da.T @ h_before, da.sum(0)

# %% [wrong] inverts the mask
def relu_step_backward(dh, x, h_before, h_after, weight_ih, weight_hh):
    da = dh * (h_after == 0)
    return da @ weight_ih, da @ weight_hh, da.T @ x, da.T @ h_before, da.sum(0)

# %% [wrong] takes the slope of a leaky ReLU
def relu_step_backward(dh, x, h_before, h_after, weight_ih, weight_hh):
    da = dh * np.where(h_after > 0, 1, 0.01)
    return da @ weight_ih, da @ weight_hh, da.T @ x, da.T @ h_before, da.sum(0)

# %% [wrong] takes a small number for zero
def relu_step_backward(dh, x, h_before, h_after, weight_ih, weight_hh):
    da = dh * (h_after > 0.1)
    return da @ weight_ih, da @ weight_hh, da.T @ x, da.T @ h_before, da.sum(axis=0)

# %% [wrong] loses the axis of dbias for one unit
def relu_step_backward(dh, x, h_before, h_after, weight_ih, weight_hh):
    """(dx [B,I], dh_before [B,H], dweight_ih [H,I], dweight_hh [H,H], dbias
    [H]) from dh [B,H].

    x [B,I], h_before and h_after [B,H], weight_ih [H,I], weight_hh [H,H]
    """
    da = dh * (h_after > 0)
    dbias = (np.ones((1, len(da))) @ da).squeeze()
    return da @ weight_ih, da @ weight_hh, da.T @ x, da.T @ h_before, dbias
