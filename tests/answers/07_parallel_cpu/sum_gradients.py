# %% [right]
def sum_gradients(threads, gradients):
    total = np.zeros_like(gradients[0])
    for thread in range(len(threads)):
        total += gradients[list(threads).index(thread)]
    return total

# %% [right]
def sum_gradients(threads, gradients):
    ordered = gradients[np.argsort(threads)]
    total = ordered[0].copy()
    for gradient in ordered[1:]:
        total = total + gradient
    return total

# %% [right]
def sum_gradients(threads, gradients):
    place = np.empty(len(threads), int)
    place[np.asarray(threads)] = np.arange(len(threads))
    return gradients[place].sum(axis=0)

# %% [right]
def sum_gradients(threads, gradients):
    parts = [gradients[int(np.where(threads == t)[0][0])] for t in range(len(threads))]
    while len(parts) > 1:
        parts = [sum(parts[i : i + 2][1:], parts[i]) for i in range(0, len(parts), 2)]
    return parts[0].copy()

# %% [wrong] adds in the order in which threads are ready
def sum_gradients(threads, gradients):
    total = gradients[0].copy()
    for gradient in gradients[1:]:
        total += gradient
    return total

# %% [wrong] takes a thread's number for its place
def sum_gradients(threads, gradients):
    return gradients[np.asarray(threads)].sum(axis=0)

# %% [wrong] takes the mean in place of the sum
def sum_gradients(threads, gradients):
    return gradients[np.argsort(threads)].mean(axis=0)

# %% [wrong] leaves out thread 0
def sum_gradients(threads, gradients):
    ordered = gradients[np.argsort(threads)]
    total = np.zeros_like(ordered[0])
    for k in range(1, len(ordered)):
        total += ordered[k]
    return total

# %% [wrong] adds in the order in which threads are ready
def sum_gradients(threads, gradients):
    return gradients.astype(np.float64).sum(axis=0).astype(gradients.dtype)

# %% [wrong] sorts the numbers by size, not the threads
def sum_gradients(threads, gradients):
    ordered = np.sort(gradients, axis=0)
    total = np.zeros_like(ordered[0])
    for gradient in ordered[:-1]:
        total += gradient
    return total

# %% [wrong] sums over units instead of threads
def sum_gradients(threads, gradients):
    return gradients[np.argsort(threads)].sum(axis=1)

# %% [right]
def sum_gradients(threads, gradients):
    """Sorted by what they hold, they are in the same order whoever was ready first."""
    return sum(sorted(gradients, key=lambda gradient: gradient.tolist()))

# %% [wrong] orders the gradients by their first number
def sum_gradients(threads, gradients):
    order = np.argsort(gradients[:, 0, 0], kind="stable")
    total = np.zeros_like(gradients[0])
    for k in order:
        total += gradients[k]
    return total
