# %% [markdown]
# ## Exercise: plan_memory
#
# <!-- exercise: plan_memory -->
#
# `sizes` says how many bytes each wire takes, `{name: bytes}`. `extra_flops(saved)` says how many floating-point operations the
# backward pass needs to recompute the other wires, if those of `saved`, a tuple of names, are saved.
#
# Find the plan with the least extra work among those that store no more than `limit` bytes. If several plans have the same extra work, take the one that stores the fewest bytes. Every subset of the wires is a plan, the empty one, too.


# %%
def plan_memory(sizes, extra_flops, limit):
    """The names of the wires to save, a tuple."""
    ### BEGIN SOLUTION
    from itertools import combinations

    stored = lambda saved: sum(sizes[wire] for wire in saved)
    cost = lambda saved: (extra_flops(saved), stored(saved))
    plans = [saved for count in range(len(sizes) + 1) for saved in combinations(sizes, count)]
    return min((saved for saved in plans if stored(saved) <= limit), key=cost)
    ### END SOLUTION


# %%
check(plan_memory)

# %% [facts]
# points: 3
# difficulty: 3
# minutes: 20
# lines: 5

# %% [hint]
# With n wires there are 2ⁿ plans: each wire is saved or not. One step of a cell has few wires, so look at every plan.
# No cleverness is needed, and a clever choice that takes one wire after the other misses plans where two wires are
# worth something only together.

# %% [hint]
# Three parts: list all subsets of the wires; keep those whose bytes add up to no more than the limit, equality
# included; of these take the one with the least extra_flops(saved), and among equals the one that stores fewer bytes.

# %% [hint]
# `combinations(sizes, count)` from itertools gives all subsets of `count` names; run count from 0 to len(sizes).
# `min(fitting, key=lambda saved: (extra_flops(saved), stored(saved)))` compares the pairs from left to right.

# %% [mistake] ignores the limit
# -  if stored(saved) <= limit
# +

# %% [mistake] leaves no plan that needs the whole limit
# - <= limit
# + < limit

# %% [mistake] takes the plan that stores most
# - key=cost
# + key=lambda saved: -stored(saved)

# %% [mistake] saves the largest wires that still fit
# - return min((saved for saved in plans if stored(saved) <= limit), key=cost)
# -
# + chosen = ()
# +     for wire in sorted(sizes, key=sizes.get, reverse=True):
# +         chosen = (*chosen, wire) if stored((*chosen, wire)) <= limit else chosen
# +     return chosen
# +

# %% [mistake] takes the plan that stores least
# - key=cost
# + key=stored

# %% [mistake] takes one wire after the other and never gives one back
# - return min((saved for saved in plans if stored(saved) <= limit), key=cost)
# -
# + best, chosen = None, ()
# +     while best != chosen:
# +         longer = [(*chosen, wire) for wire in sizes if wire not in chosen]
# +         fitting = [saved for saved in longer if stored(saved) <= limit]
# +         best, chosen = chosen, min([chosen, *fitting], key=cost)
# +     return chosen
# +

# %% [mistake] adds up what each wire spares on its own
# - extra_flops(saved), stored(saved)
# + sum(extra_flops((wire,)) - extra_flops(()) for wire in saved), stored(saved)

# %% [mistake] tries plans of one wire only
# - range(len(sizes) + 1)
# + range(2)

# %% [right]
def plan_memory(sizes, extra_flops, limit):
    names, best = list(sizes), None
    for bits in range(2 ** len(names)):
        saved = tuple(name for k, name in enumerate(names) if bits >> k & 1)
        stored = sum(sizes[name] for name in saved)
        if stored <= limit:
            candidate = (extra_flops(saved), stored, saved)
            best = candidate if best is None else min(best, candidate)
    return best[2]

# %% [right]
def plan_memory(sizes, extra_flops, limit):
    def fitting(names, room):
        if not names:
            return [()]
        first, rest = names[0], names[1:]
        plans = fitting(rest, room)
        if sizes[first] <= room:
            plans = plans + [(first, *plan) for plan in fitting(rest, room - sizes[first])]
        return plans

    plans = fitting(tuple(sizes), limit)
    return sorted(plans, key=lambda plan: (extra_flops(plan), sum(map(sizes.get, plan))))[0]
