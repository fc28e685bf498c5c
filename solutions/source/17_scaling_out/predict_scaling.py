# %% [markdown]
# ## Exercise: predict_scaling
#
# <!-- exercise: predict_scaling -->
#
# An update on p GPUs was timed for some p: `gpus` [N] and `seconds` [N]. Fit the model
#
# seconds(p) = a + b · 2(p − 1)/p + c · 2(p − 1)
#
# to them: a is the arithmetic, b the time of all bytes of the array over one link, c the time of one message. Choose a, b and c so that the sum of the squared **relative** errors, (model − measured)/measured, is as small as possible. Return the model's seconds [M] for the counts in `wanted` [M].
#
# Below the check, your function is fitted to every second run of a published series, and judged by the others.


# %%
def predict_scaling(gpus, seconds, wanted):
    """Predicted seconds [M] for wanted [M] GPUs, from seconds [N] on gpus [N]
    GPUs."""
    ### BEGIN SOLUTION
    def terms(p):
        return np.stack([np.ones(len(p)), 2 * (p - 1) / p, 2 * (p - 1)], axis=1)

    rows = terms(gpus) / seconds[:, np.newaxis]
    costs = np.linalg.lstsq(rows, np.ones(len(seconds)), rcond=None)[0]
    return terms(wanted) @ costs
    ### END SOLUTION


# %%
check(predict_scaling)

# %% [properties]
# points: 3
# difficulty: 3
# minutes: 25
# lines: 6

# %% [hint]
# The model is linear in a, b and c: each run gives one equation with three unknowns. Which matrix has a row for each
# run and a column for each unknown? `np.linalg.lstsq` finds the unknowns with the least squared error.

# %% [hint]
# A relative error is (model − measured)/measured = model/measured − 1. So divide each row of the matrix by that run's
# seconds; the right-hand side is then 1 for every run.

# %% [hint]
# Columns: 1, 2(p − 1)/p, 2(p − 1). `costs = np.linalg.lstsq(rows / seconds[:, None], np.ones(N), rcond=None)[0]`, then
# the same columns for `wanted`, times `costs`.

# %% [mistake] fits absolute errors
# - np.linalg.lstsq(rows, np.ones(len(seconds)), rcond=None)[0]
# + np.linalg.lstsq(terms(gpus), seconds, rcond=None)[0]

# %% [mistake] lets the term of the bytes be the same on all numbers of GPUs
# - 2 * (p - 1) / p, 2
# + 2.0 * (p > 1), 2

# %% [mistake] forgets the time of the messages
# - 2 * (p - 1) / p, 2 * (p - 1)]
# + 2 * (p - 1) / p]

# %% [mistake] lets messages grow with the logarithm
# - 2 * (p - 1)], axis
# + 2 * np.log2(p)], axis

# %% [mistake] fits a parabola in p
# - 2 * (p - 1) / p, 2
# + 2 * (p - 1) * p, 2

# %% [mistake] forgets the arithmetic
# - np.ones(len(p)), 2
# + np.zeros(len(p)), 2

# %% [mistake] connects the runs by straight lines
# - return terms(wanted) @ costs
# + return np.interp(wanted, np.sort(gpus), seconds[np.argsort(gpus)])

# %% [mistake] predicts the runs that were fitted
# - terms(wanted)
# + terms(gpus)

# %% [mistake] fits rates instead of times
# - return terms(wanted) @ costs
# + return 1 / (terms(wanted) @ np.linalg.lstsq(terms(gpus), 1 / seconds, rcond=None)[0])

# %% [right]
def predict_scaling(gpus, seconds, wanted):
    columns = lambda p: np.array([[1.0, 2 - 2 / q, 2 * q - 2] for q in p.tolist()])
    left = columns(gpus) / seconds[:, None]
    a, b, c = np.linalg.solve(left.T @ left, left.sum(0))
    return a + b * (2 - 2 / wanted) + c * (2 * wanted - 2)

# %% [right]
def predict_scaling(gpus, seconds, wanted):
    weights = 1 / np.asarray(seconds)
    design = np.column_stack([np.ones_like(weights), (gpus - 1) / gpus, gpus - 1.0])
    orthogonal, upper = np.linalg.qr(design * weights[:, None])
    costs = np.linalg.solve(upper, orthogonal.T @ np.ones_like(weights))
    return np.column_stack([np.ones(len(wanted)), (wanted - 1) / wanted, wanted - 1.0]) @ costs

# %% [variant] updates=2..9
# - Return the model's seconds [M] for the counts in `wanted` [M].
# + Return the model's seconds [M] of {updates} updates for the counts in `wanted` [M].
# - Predicted seconds [M] for wanted [M] GPUs,
# + Predicted seconds [M] of {updates} updates for wanted [M] GPUs,
# - return terms(wanted) @ costs
# + return {updates} * terms(wanted) @ costs
# - return a + b * (2 - 2 / wanted) + c * (2 * wanted - 2)
# + return {updates} * (a + b * (2 - 2 / wanted) + c * (2 * wanted - 2))
# - return np.column_stack(
# + return {updates} * np.column_stack(
# - the same columns for `wanted`, times `costs`.
# + the same columns for `wanted`, times `costs`, times {updates}.
