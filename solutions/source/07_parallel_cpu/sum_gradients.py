# %% [markdown]
# ## Exercise: sum_gradients
#
# <!-- exercise: sum_gradients -->
#
# `gradients` [n,H,I] holds one gradient for each of n threads, in the order in which they were ready; `threads` [n] says whose: `gradients[k]` is from thread `threads[k]`. Threads are numbered from 0, each is there once.
#
# Return the sum [H,I], in the gradients' dtype. It must have the same bits whichever thread was ready first.


# %%
def sum_gradients(threads, gradients):
    """The sum [H,I] of the threads' gradients [n,H,I], the same bits in every
    run."""
    ### BEGIN SOLUTION
    total = np.zeros_like(gradients[0])
    for k in np.argsort(threads):
        total += gradients[k]
    return total
    ### END SOLUTION


# %%
check(sum_gradients)

# %% [properties]
# points: 2
# difficulty: 2
# minutes: 10
# lines: 4

# %% [hint]
# Threads are ready in another order each time, and (a + b) + c has other bits than a + (b + c). Which order is the
# same in every run?

# %% [hint]
# Thread 0's gradient first, then thread 1's, and so on. In which place does thread 0's gradient stand, if threads[k]
# is the thread at place k? `np.argsort` answers that for all threads at once.

# %% [hint]
# `total = np.zeros_like(gradients[0])`, then `for k in np.argsort(threads): total += gradients[k]`.

# %% [mistake] adds in the order in which threads are ready
# - np.argsort(threads)
# + range(len(threads))

# %% [mistake] takes a thread's number for its place
# - np.argsort(threads)
# + threads

# %% [mistake] leaves the last thread out
# - np.argsort(threads)
# + np.argsort(threads)[:-1]

# %% [mistake] keeps only the last gradient
# - total += gradients[k]
# + total = gradients[k]

# %% [mistake] adds the same gradient again and again
# - += gradients[k]
# + += gradients[0]

# %% [mistake] takes the mean in place of the sum
# - return total
# + return total / len(threads)

# %% [mistake] adds all entries together
# - += gradients[k]
# + += gradients[k].sum()

# %% [mistake] changes its input
# - np.zeros_like(gradients[0])
# + gradients[0]

# %% [mistake] returns the wrong dtype
# - np.zeros_like(gradients[0])
# + np.zeros(gradients[0].shape)

# %% [right]
def sum_gradients(threads, gradients):
    return gradients[np.argsort(threads)].sum(axis=0)

# %% [right]
def sum_gradients(threads, gradients):
    of_thread = {int(thread): gradient for thread, gradient in zip(threads, gradients)}
    total = of_thread[0].copy()
    for thread in range(1, len(of_thread)):
        total = total + of_thread[thread]
    return total

# %% [variant] parts=2..9
# - Return the sum [H,I], in the gradients' dtype.
# + Each gradient is a sum over {parts} microbatches. Return the sum [H,I] of all threads' gradients divided by {parts}, in the gradients' dtype.
# - The sum [H,I] of the threads' gradients [n,H,I],
# + The sum [H,I] of the threads' gradients [n,H,I], divided by {parts},
# - return total
# + return total / {parts}
# - .sum(axis=0)
# + .sum(axis=0) / {parts}
# - total += gradients[k]`.
# + total += gradients[k]`, and the result is `total / {parts}`.
