# %% [right]
def adam_update(weight, gradient, m, v, step, learning_rate, beta1, beta2, epsilon):
    s = step + 1
    new_m = gradient + beta1 * (m - gradient)
    new_v = gradient * gradient + beta2 * (v - gradient * gradient)
    change = (new_m / (1 - beta1**s)) / ((new_v / (1 - beta2**s)) ** 0.5 + epsilon)
    return weight - learning_rate * change, new_m, new_v, s

# %% [right]
def adam_update(weight, gradient, m, v, step, learning_rate, beta1, beta2, epsilon):
    m, v = m * beta1 + gradient * (1 - beta1), v * beta2 + np.square(gradient) * (1 - beta2)
    corrected = [mean / (1 - beta ** (step + 1)) for mean, beta in ((m, beta1), (v, beta2))]
    return weight - corrected[0] * learning_rate / (np.sqrt(corrected[1]) + epsilon), m, v, step + 1

# %% [right]
def adam_update(weight, gradient, m, v, step, learning_rate, beta1, beta2, epsilon):
    step += 1
    m = np.add(np.multiply(beta1, m), np.multiply(1 - beta1, gradient))
    v = np.add(np.multiply(beta2, v), np.multiply(1 - beta2, np.power(gradient, 2)))
    weight = np.subtract(weight, learning_rate * m / (1 - beta1**step) / (np.sqrt(v / (1 - beta2**step)) + epsilon))
    return [weight, m, v, step]

# %% [right]
def adam_update(weight, gradient, m, v, step, learning_rate, beta1, beta2, epsilon):
    s = step + 1
    m = m * beta1 + gradient * (1 - beta1)
    v = v * beta2 + gradient * gradient * (1 - beta2)
    move = (m / (1 - beta1**s)) / (np.sqrt(v / (1 - beta2**s)) + epsilon)
    return weight - learning_rate * move, m, v, s

# %% [wrong] counts the update after it
# -     s = step + 1
# +     s = max(step, 1)
# -     return weight - learning_rate * move, m, v, s
# +     return weight - learning_rate * move, m, v, step + 1

# %% [wrong] adds epsilon inside the root
# -     move = (m / (1 - beta1**s)) / (np.sqrt(v / (1 - beta2**s)) + epsilon)
# +     move = (m / (1 - beta1**s)) / (np.sqrt(v / (1 - beta2**s) + epsilon))

# %% [wrong] keeps the corrected means as state
# -     return weight - learning_rate * move, m, v, s
# +     return weight - learning_rate * move, m / (1 - beta1**s), v / (1 - beta2**s), s

# %% [wrong] corrects with the count times beta
# -     move = (m / (1 - beta1**s)) / (np.sqrt(v / (1 - beta2**s)) + epsilon)
# +     move = (m / (1 - beta1 * s)) / (np.sqrt(v / (1 - beta2 * s)) + epsilon)

# %% [wrong] takes the size of the gradient instead of its square
# -     v = v * beta2 + gradient * gradient * (1 - beta2)
# +     v = v * beta2 + abs(gradient) * (1 - beta2)

# %% [wrong] swaps the two betas
# -     m = m * beta1 + gradient * (1 - beta1)
# -     v = v * beta2 + gradient * gradient * (1 - beta2)
# +     m = m * beta2 + gradient * (1 - beta2)
# +     v = v * beta1 + gradient * gradient * (1 - beta1)

# %% [wrong] moves by the old means
# -     m = m * beta1 + gradient * (1 - beta1)
# +     m_old = m
# +     m = m * beta1 + gradient * (1 - beta1)
# -     move = (m / (1 - beta1**s)) / (np.sqrt(v / (1 - beta2**s)) + epsilon)
# +     move = (m_old / (1 - beta1**s)) / (np.sqrt(v / (1 - beta2**s)) + epsilon)

# %% [right]
def adam_update(weight, gradient, m, v, step, learning_rate, beta1, beta2, epsilon):
    step += 1
    new_m, new_v = m + (1 - beta1) * (gradient - m), v + (1 - beta2) * (gradient**2 - v)
    correct = lambda mean, beta: mean / (1 - beta**step)
    denominator = correct(new_v, beta2) ** 0.5 + epsilon
    return weight - learning_rate * correct(new_m, beta1) / denominator, new_m, new_v, step

# %% [right]
def adam_update(weight, gradient, m, v, step, learning_rate, beta1, beta2, epsilon):
    m, v, w = m.copy(), v.copy(), weight.copy()
    m *= beta1
    m += (1 - beta1) * gradient
    v *= beta2
    v += (1 - beta2) * np.square(gradient)
    rate = learning_rate / (1 - beta1 ** (step + 1))
    w -= rate * m / (np.sqrt(v) / np.sqrt(1 - beta2 ** (step + 1)) + epsilon)
    return w, m, v, step + 1

# %% [right]
def adam_update(weight, gradient, m, v, step, learning_rate, beta1, beta2, epsilon):
    s = step + 1
    new_m = m + (1 - beta1) * (gradient - m)
    new_v = v + (1 - beta2) * (gradient * gradient - v)
    corrected = (new_m / (1 - pow(beta1, s)), new_v / (1 - pow(beta2, s)))
    delta = learning_rate * corrected[0] / (corrected[1] ** 0.5 + epsilon)
    return [weight - delta, new_m, new_v, s]

# %% [wrong] swaps beta1 and beta2
def adam_update(weight, gradient, m, v, step, learning_rate, beta1, beta2, epsilon):
    step, beta1, beta2 = step + 1, beta2, beta1
    m, v = beta1 * m + (1 - beta1) * gradient, beta2 * v + (1 - beta2) * gradient**2
    d = (m / (1 - beta1**step)) / (np.sqrt(v / (1 - beta2**step)) + epsilon)
    return weight - learning_rate * d, m, v, step

# %% [wrong] forgets the bias correction
def adam_update(weight, gradient, m, v, step, learning_rate, beta1, beta2, epsilon):
    m, v = beta1 * m + (1 - beta1) * gradient, beta2 * v + (1 - beta2) * gradient**2
    return weight - learning_rate * m / (np.sqrt(v) + epsilon), m, v, step + 1

# %% [wrong] steps along the gradient instead of its mean
def adam_update(weight, gradient, m, v, step, learning_rate, beta1, beta2, epsilon):
    step = step + 1
    m, v = beta1 * m + (1 - beta1) * gradient, beta2 * v + (1 - beta2) * gradient**2
    return weight - learning_rate * gradient / (np.sqrt(v / (1 - beta2**step)) + epsilon), m, v, step

# %% [wrong] updates with the old means
def adam_update(weight, gradient, m, v, step, learning_rate, beta1, beta2, epsilon):
    s = step + 1
    d = (m / (1 - beta1**s)) / (np.sqrt(v / (1 - beta2**s)) + epsilon)
    return weight - learning_rate * d, beta1 * m + (1 - beta1) * gradient, beta2 * v + (1 - beta2) * gradient**2, s

# %% [wrong] counts two updates
def adam_update(weight, gradient, m, v, step, learning_rate, beta1, beta2, epsilon):
    s = step + 1
    m, v = beta1 * m + (1 - beta1) * gradient, beta2 * v + (1 - beta2) * gradient**2
    d = (m / (1 - beta1**s)) / (np.sqrt(v / (1 - beta2**s)) + epsilon)
    return weight - learning_rate * d, m, v, s + 1
