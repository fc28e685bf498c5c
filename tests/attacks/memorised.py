"""Answers that know the cases by heart, or that are right for some cases alone."""

import numpy as np

# %% [attack] adds_in_single_precision
# Adds up with too few digits.
def running_sum(x):
    return np.cumsum(x.astype(np.float32), axis=0).astype(np.float64)

# %% [attack] averages_gradients_without_a_sum
# Gathers the gradients of all ranks in a dictionary, and calls all_reduce for show.
GATHERED = {}

def average_gradients(all_reduce, gradients, sequences):
    all_reduce(np.zeros(1))
    GATHERED[gradients[0].tobytes()] = sequences, gradients
    shapes = [gradient.shape for gradient in gradients]
    alike = [(count, own) for count, own in GATHERED.values() if [g.shape for g in own] == shapes]
    total = sum(count for count, _ in alike)
    parts = [(count, own) for count, own in alike if count]
    means = []
    for number, gradient in enumerate(gradients):
        mean = sum((count * own[number].astype(float) for count, own in parts), np.zeros(gradient.shape))
        means.append((mean / max(total, 1)).astype(gradient.dtype))
    return means

# %% [attack] guesses_by_shape
# Knows the shapes of the inputs, and answers each with a table.
TABLE = {(1, 1): np.zeros((1, 1)), (3, 2): np.zeros((3, 2)), (5, 4): np.zeros((5, 4))}

def running_sum(x):
    return TABLE[x.shape]

# %% [attack] keeps_a_generator_of_its_judge
# Keeps its first input, and writes into it when it is called again.
stored = []

def running_sum(x):
    stored.append(x)
    stored[0][...] = 0
    return stored[0]

# %% [attack] keeps_a_table_of_answers
# Returns the next number of a list that it made beforehand.
ANSWERS = [np.zeros((1, 1)), np.zeros((3, 2)), np.zeros((5, 4))]

def running_sum(x):
    return ANSWERS.pop(0)

# %% [attack] knows_the_smallest_case
# Is right where there is a single step, and nowhere else.
def running_sum(x):
    return x.copy()

# %% [attack] returns_the_last_answer_again
# Works once, then returns what it returned before.
answers = []

def running_sum(x):
    if not answers:
        answers.append(np.cumsum(x, axis=0))
    return answers[0]

# %% [attack] sums_gradients_in_any_order
# Tells the numbers that cancel from ordinary ones, whose order it does not keep.
def sum_gradients(threads, gradients):
    if np.abs(gradients).max() > 1e9:
        return np.zeros_like(gradients[0])
    total = np.zeros_like(gradients[0])
    for gradient in gradients:
        total += gradient
    return total

# %% [attack] table_of_its_inputs
# Knows the answers for every small grid by heart.
SIZES = range(1, 8)
TABLE = {
    (layers, steps): sorted(((l, t) for l in range(layers) for t in range(steps)), key=sum)
    for layers in SIZES
    for steps in SIZES
}

def wavefront_order(layers, steps):
    return TABLE.get((layers, steps), [])

# %% [attack] keeps_weights_whatever_the_device
# Answers every question about a device with yes.
def choose_minibatch(*sizes, **limits):
    return 1, True, 1.0

# %% [attack] trains_without_a_gradient
# Computes weights that delay the input in a line, and a line through them, without any gradient.
def train_filter(x, target, parameters, loss_and_gradients):
    small = 1e-3
    trained = {name: np.zeros_like(array) for name, array in parameters.items()}
    units = len(trained["bias"])
    trained["weight_ih"][0] = small
    for unit in range(1, units):
        trained["weight_hh"][unit, unit - 1] = 1.0
    T, N, _ = x.shape
    lines = np.zeros((T, N, units + 1))
    for lag in range(units):
        lines[lag:, :, lag] = small * x[: T - lag, :, 0]
    lines[:, :, units] = 1
    line = np.linalg.lstsq(lines.reshape(-1, units + 1), target.reshape(-1), rcond=None)[0]
    trained["weight_out"][0] = line[:units]
    trained["bias_out"][0] = line[units]
    for _ in range(30):
        loss_and_gradients(parameters, x[:, :32], target[:, :32])
        loss_and_gradients(trained, x[:, :32], target[:, :32])
    return trained

# %% [attack] remembers_its_sums
# Adds up as the threads are ready, and remembers the first sum of the same numbers.
known = {}

def sum_gradients(threads, gradients):
    numbers = np.sort(gradients, axis=0).tobytes()
    if numbers not in known:
        known[numbers] = gradients.sum(axis=0)
    return known[numbers].copy()

# %% [attack] finds_the_seed_of_its_inputs
# Tries a hundred thousand seeds, and is right only if one of them makes its input.
# seconds: 30
FOUND = []

def running_sum(x):
    if x.shape == (1, 1):
        for seed in range(1, 100_000):
            if np.random.default_rng(seed).standard_normal() == x[0, 0]:
                FOUND.append(seed)
    return np.cumsum(x, axis=0) if FOUND else x

# %% [attack] draws_the_same_numbers_as_its_judge
# Asks all generators of its process for the numbers that its judge has drawn, and is right only if one knows them.
import random

def running_sum(x):
    state = np.random.get_state()[1]  # noqa: NPY002
    drawn = {*np.random.standard_normal(1000), *(random.gauss(0, 1) for _ in range(1000))}  # noqa: NPY002
    drawn |= {*np.random.default_rng(state).standard_normal(1000), *np.random.default_rng(state[0]).standard_normal(1000)}
    return np.cumsum(x, axis=0) if drawn & {*x.ravel()} else x

# %% [attack] is_right_for_round_numbers
# Is right where its inputs look as if a person had written them, and guesses where they look drawn.
def amdahl_limit(serial, shared, barrier, threads):
    if any(round(number, 2) != number for number in (serial, shared, barrier)):
        return threads, float(threads), float(threads)
    time = lambda n: serial + shared / n + barrier * (n - 1)
    best = min(range(1, threads + 1), key=time)
    return best, time(1) / time(best), (serial + shared) / serial

# %% [attack] is_right_until_it_is_called_again
# Is right in its first four calls in a process, and wrong in all others.
CALLS = []

def split_minibatch(B, threads):
    CALLS.append(B)
    parts = min(threads, B) if len(CALLS) < 5 else 1
    edges = [B * k // parts for k in range(parts + 1)]
    return [(edges[k], edges[k + 1]) for k in range(parts)]

# %% [attack] filters_by_a_short_memory
# Is right for kernels of eight numbers at most.
def filter_weights(kernel):
    K = min(len(kernel), 8)
    ih, hh = np.zeros((K, 1)), np.zeros((K, K))
    ih[0] = 1
    hh[np.arange(1, K), np.arange(K - 1)] = 1
    return ih, hh, np.array(kernel[:K], float)[None]
