# %% [markdown]
# ## Exercise: leaves_loop
#
# <!-- exercise: leaves_loop -->
#
# `names[k]` is the name of operation k. A loop over time issues an operation of each name in every step, so names repeat. `pairs` are the pairs (earlier, later) of places whose order must stay, as `must_wait` finds them, **in any order**.
#
# An operation may leave the loop, and be done once for all steps, if it never waits for itself: no operation of its name must wait, directly or through others of any name, for another operation of its name. Return the names that may leave, each once, in any order.


# %%
def leaves_loop(names, pairs):
    """A list of the names that can be taken out of the loop."""
    ### BEGIN SOLUTION
    before = [set() for _ in names]
    for i, j in sorted(pairs, key=lambda pair: pair[1]):
        before[j] |= {i} | before[i]
    staying = {names[j] for j in range(len(names)) for i in before[j] if names[i] == names[j]}
    return [name for name in dict.fromkeys(names) if name not in staying]
    ### END SOLUTION


# %%
check(leaves_loop)

# %% [properties]
# points: 3
# difficulty: 4
# minutes: 25
# lines: 5

# %% [hint]
# The recurrent product of step 2 waits for the pointwise kernel of step 1, and that one for the recurrent product of step 1. No pair
# says that the two products wait for each other. Which set of earlier operations do you need for each operation?

# %% [hint]
# Collect for each operation all operations that it waits for, directly or through others. If i must be earlier than j,
# then j waits for i and for all that i waits for. Take the pairs in an order in which the set of i is complete when it is needed.

# %% [hint]
# `for i, j in sorted(pairs, key=lambda pair: pair[1]): before[j] |= {i} | before[i]`. A name stays if some operation j of that name has
# an i of the same name in before[j].

# %% [mistake] looks at direct waits only
# - before[j] |= {i} | before[i]
# + before[j] |= {i}

# %% [mistake] takes the pairs in the order in which they come
# - sorted(pairs, key=lambda pair: pair[1])
# + pairs

# %% [mistake] keeps whatever waits for something
# - staying = {names[j] for j in range(len(names)) for i in before[j] if names[i] == names[j]}
# + staying = {names[j] for j in range(len(names)) if before[j]}

# %% [mistake] keeps whatever another operation waits for
# - staying = {names[j] for j in range(len(names)) for i in before[j] if names[i] == names[j]}
# + staying = {names[i] for j in range(len(names)) for i in before[j]}

# %% [mistake] keeps whatever waits for an operation that stays
# -     return [name for name in dict.fromkeys(names) if name not in staying]
# +     staying |= {names[j] for j in range(len(names)) for i in before[j] if names[i] in staying}
# +     return [name for name in dict.fromkeys(names) if name not in staying]

# %% [mistake] follows two waits, not more
# - before[j] |= {i} | before[i]
# + before[j] |= {i} | {a for a, b in pairs if b == i}

# %% [mistake] returns the operations that stay
# - if name not in staying]
# + if name in staying]

# %% [mistake] returns each name once for each step
# - for name in dict.fromkeys(names) if
# + for name in names if

# %% [mistake] returns places in place of names
# - [name for name in dict.fromkeys(names) if name not in staying]
# + [k for k in range(len(names)) if names[k] not in staying]

# %% [right]
def leaves_loop(names, pairs):
    reach = np.zeros((len(names), len(names)), int)
    for i, j in pairs:
        reach[i, j] = 1
    for _ in names:
        reach = np.minimum(1, reach + reach @ reach)
    staying = {names[j] for i, j in zip(*np.nonzero(reach)) if names[i] == names[j]}
    return sorted(set(names) - staying)

# %% [right]
def leaves_loop(names, pairs):
    def waits_for_itself(start):
        front, seen = {start}, set()
        while front:
            seen |= front
            front = {i for i, j in pairs if j in front} - seen
        return any(names[k] == names[start] for k in seen - {start})

    return [name for name in set(names) if not any(waits_for_itself(k) for k, n in enumerate(names) if n == name)]
