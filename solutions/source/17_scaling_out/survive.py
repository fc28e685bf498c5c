# %% [markdown]
# ## Exercise: survive
#
# <!-- exercise: survive -->
#
# A rank can be lost at any moment, and then the others stop. Write the program that starts them again.
#
# - `train(ranks, update)` starts that number of ranks from the checkpoint of that update; update 0 is the beginning, for which no checkpoint is needed. It returns `("done", weights)` after the last update, or `("lost", survivors)`: how many ranks are left.
# - `checkpoints()` returns what is on the disk, a list of (update, whole) in any order. `whole` is False where ranks were lost while the checkpoint was written; nothing can start from it.
#
# Start with `ranks` ranks, continue with **all** survivors each time, and repeat as few updates as possible. Return the weights, or None when no rank is left.


# %%
def survive(train, checkpoints, ranks):
    """The weights after the last update, however often ranks are lost; None if
    none is left."""
    ### BEGIN SOLUTION
    update = 0
    while ranks > 0:
        outcome, value = train(ranks, update)
        if outcome == "done":
            return value
        ranks = value
        update = max((number for number, whole in checkpoints() if whole), default=0)
    return None
    ### END SOLUTION


# %%
check(survive)

# %% [properties]
# points: 3
# difficulty: 2
# minutes: 20
# lines: 8

# %% [hint]
# Write the loop first, for checkpoints that are always whole: start, look at the outcome, start again with the
# survivors. When does it end?

# %% [hint]
# The list of checkpoints has no order, some are incomplete, and it may be empty if ranks are lost early. Which update
# may the next start come from?

# %% [hint]
# `update = max((number for number, whole in checkpoints() if whole), default=0)` after every loss, inside
# `while ranks > 0`.

# %% [mistake] starts from the newest checkpoint, whole or not
# - checkpoints() if whole)
# + checkpoints())

# %% [mistake] starts from the beginning after every loss
# - update = max((number for number, whole in checkpoints() if whole), default=0)
# + update = 0

# %% [mistake] lists the checkpoints once, before the first start
# -     update = 0
# -     while ranks > 0:
# -         outcome, value = train(ranks, update)
# -         if outcome == "done":
# -             return value
# -         ranks = value
# -         update = max((number for number, whole in checkpoints() if whole), default=0)
# +     update = max((number for number, whole in checkpoints() if whole), default=0)
# +     while ranks > 0:
# +         outcome, value = train(ranks, update)
# +         if outcome == "done":
# +             return value
# +         ranks = value

# %% [mistake] starts from the oldest whole checkpoint
# - max((number
# + min((number

# %% [mistake] starts from the checkpoint that is listed last
# - max((number for number, whole in checkpoints() if whole), default=0)
# + ([0] + [number for number, whole in checkpoints() if whole])[-1]

# %% [mistake] starts as many ranks as before
# - ranks = value
# + ranks = ranks if value else 0

# %% [mistake] continues with one rank fewer, however many are lost
# - ranks = value
# + ranks = ranks - 1 if value else 0

# %% [mistake] continues alone
# - ranks = value
# + ranks = min(value, 1)

# %% [mistake] survives only one loss
# - while ranks > 0:
# + for _ in range(2):

# %% [mistake] returns the outcome with the weights
# - return value
# + return outcome, value

# %% [mistake] skips the update after the checkpoint
# - if whole), default=0)
# + if whole), default=-1) + 1

# %% [right]
def survive(train, checkpoints, ranks):
    outcome, value = train(ranks, 0)
    while outcome != "done":
        if not value:
            return None
        whole = sorted(entry[0] for entry in checkpoints() if entry[1])
        outcome, value = train(value, whole[-1] if whole else 0)
    return value

# %% [right]
def survive(train, checkpoints, ranks):
    def start(ranks, update):
        if ranks == 0:
            return None
        outcome, value = train(ranks, update)
        if outcome == "done":
            return value
        newest = 0
        for number, whole in checkpoints():
            if whole and number > newest:
                newest = number
        return start(value, newest)

    return start(ranks, 0)
