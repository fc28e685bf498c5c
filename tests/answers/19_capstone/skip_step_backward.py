# %% [right]
def skip_step_backward(dh, h_next, h_before, weight_hh, scale):
    slope = 1.0 - np.square(h_next)
    dz = np.multiply(slope, dh)
    return dz, np.dot(dz, weight_hh) + dz * scale, np.dot(dz.T, h_before)

# %% [right]
def skip_step_backward(dh, h_next, h_before, weight_hh, scale):
    B, H = dh.shape
    da, dh_before, dw = np.zeros((B, H)), np.zeros((B, H)), np.zeros((H, H))
    for b in range(B):
        for j in range(H):
            da[b, j] = dh[b, j] * (1 - h_next[b, j] * h_next[b, j])
            dh_before[b, j] += scale * da[b, j]
            for k in range(H):
                dh_before[b, k] += weight_hh[j, k] * da[b, j]
                dw[j, k] += da[b, j] * h_before[b, k]
    return da, dh_before, dw

# %% [wrong] lets the skip pass around tanh
def skip_step_backward(dh, h_next, h_before, weight_hh, scale):
    da = dh * (1 - h_next * h_next)
    return da, da.dot(weight_hh) + dh * scale, da.T.dot(h_before)

# %% [wrong] forgets the skip
def skip_step_backward(dh, h_next, h_before, weight_hh, scale):
    da = dh - h_next**2 * dh
    return da, da @ weight_hh, (h_before.T @ da).T

# %% [wrong] forgets the slope of tanh
def skip_step_backward(dh, h_next, h_before, weight_hh, scale):
    return dh, dh @ weight_hh + scale * dh, dh.T @ h_before

# %% [wrong] subtracts the skip
def skip_step_backward(dh, h_next, h_before, weight_hh, scale):
    da = dh * (1 - h_next**2)
    return da, da @ weight_hh - scale * da, da.T @ h_before
