# %% [right]
def count_rnn_flops(T, B, I, H, L):
    widths = [I] + [H] * (L - 1)
    return sum(2 * T * B * H * (width + H) for width in widths)

# %% [right]
def count_rnn_flops(T, B, I, H, L):
    gemm = lambda m, n, k: 2 * m * n * k
    total = gemm(T * B, H, I) + gemm(T * B, H, H)
    for layer in range(1, L):
        total += 2 * gemm(T * B, H, H)
    return total

# %% [right]
def count_rnn_flops(T, B, I, H, L):
    return 2 * B * T * (H * I + (2 * L - 1) * H**2)

# %% [right]
def count_rnn_flops(T, B, I, H, L):
    below = [I, *[H] * (L - 1)]
    return sum(2 * T * B * H * (width + H) for width in below)

# %% [right]
def count_rnn_flops(T, B, I, H, L):
    multiply_adds, inputs = 0, I
    for layer in range(L):
        multiply_adds += H * inputs + H * H
        inputs = H
    return multiply_adds * B * T * 2

# %% [right]
def count_rnn_flops(T, B, I, H, L):
    return 2 * B * T * H * (I + H + 2 * H * (L - 1))

# %% [right]
def count_rnn_flops(T, B, I, H, L):
    if L == 0:
        return 0
    return 2 * T * B * H * (I + H) + count_rnn_flops(T, B, H, H, L - 1)

# %% [wrong] feeds every layer with x
def count_rnn_flops(T, B, I, H, L):
    return 2 * T * B * L * H * (I + H)

# %% [wrong] feeds every layer with H inputs
def count_rnn_flops(T, B, I, H, L):
    return 4 * T * B * L * H * H

# %% [wrong] counts the biases too
def count_rnn_flops(T, B, I, H, L):
    return 2 * T * B * (H * (I + H + 1) + (L - 1) * H * 2 * H)

# %% [wrong] adds tanh and biases as FLOP
def count_rnn_flops(T, B, I, H, L):
    return 2 * T * B * (H * (I + H) + (L - 1) * 2 * H * H) + 3 * T * B * H * L

# %% [wrong] counts a multiply-add as one operation
def count_rnn_flops(T, B, I, H, L):
    return T * B * (H * I + H * H) + (L - 1) * T * B * 2 * H * H

# %% [wrong] leaves out the recurrent product of step 0
def count_rnn_flops(T, B, I, H, L):
    inputs = 2 * T * B * (H * I + (L - 1) * H * H)
    return inputs + 2 * (T - 1) * B * L * H * H

# %% [wrong] feeds every layer with x
def count_rnn_flops(T, B, I, H, L):
    below = [I] * L
    return sum(2 * T * B * H * (width + H) for width in below)

# %% [wrong] counts a multiply-add as one operation
def count_rnn_flops(T, B, I, H, L):
    below = [I, *[H] * (L - 1)]
    return sum(T * B * H * (width + H) for width in below)

# %% [wrong] counts one layer too many
def count_rnn_flops(T, B, I, H, L):
    below = [I, *[H] * L]
    return sum(2 * T * B * H * (width + H) for width in below)

# %% [wrong] counts one sequence only
def count_rnn_flops(T, B, I, H, L):
    below = [I, *[H] * (L - 1)]
    return sum(2 * T * H * (width + H) for width in below)

# %% [wrong] gives the state of all layers one product in all
def count_rnn_flops(T, B, I, H, L):
    below = [I, *[H] * (L - 1)]
    return sum(2 * T * B * H * width for width in below) + 2 * T * B * H * H

# %% [wrong] counts the bias as one more input
def count_rnn_flops(T, B, I, H, L):
    below = [I, *[H] * (L - 1)]
    return sum(2 * T * B * H * (width + H + 1) for width in below)

# %% [wrong] counts one addition fewer than multiplications
def count_rnn_flops(T, B, I, H, L):
    first = H * (2 * I - 1) + H * (2 * H - 1)
    other = 2 * H * (2 * H - 1)
    return T * B * (first + (L - 1) * other)

# %% [wrong] counts one addition fewer than multiplications, of both products together
def count_rnn_flops(T, B, I, H, L):
    def dot(k):  # k products, k - 1 sums
        return k + (k - 1)

    total, width = 0, I
    for _ in range(L):
        total += T * B * H * dot(width + H)
        width = H
    return total

# %% [wrong] counts one addition more, of the two products
def count_rnn_flops(T, B, I, H, L):
    layers = [I] + [H] * (L - 1)
    return sum(T * B * H * (2 * width + 2 * H + 1) for width in layers)
