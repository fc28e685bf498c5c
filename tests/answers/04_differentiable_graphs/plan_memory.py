# %% [right]
def plan_memory(sizes, extra_flops, limit):
    plans = [()]
    for wire in sizes:
        plans += [(*plan, wire) for plan in plans]
    stored = {plan: sum(sizes[wire] for wire in plan) for plan in plans}
    return min((p for p in plans if stored[p] <= limit), key=lambda p: (extra_flops(p), stored[p]))

# %% [wrong] ignores the limit
# -     stored = {plan: sum(sizes[wire] for wire in plan) for plan in plans}
# -     return min((p for p in plans if stored[p] <= limit), key=lambda p: (extra_flops(p), stored[p]))
# +     return min(plans, key=lambda p: (extra_flops(p), sum(sizes[wire] for wire in p)))

# %% [right]
def plan_memory(sizes, extra_flops, limit):
    from itertools import combinations

    best = None
    for n in range(len(sizes) + 1):
        for saved in combinations(sizes, n):
            stored = sum(sizes[name] for name in saved)
            if stored <= limit:
                key = extra_flops(saved), stored
                if best is None or key < best[0]:
                    best = key, saved
    return best[1]

# %% [wrong] leaves no plan that needs the whole limit
# -             if stored <= limit:
# +             if stored < limit:

# %% [wrong] forgets the empty plan
# -     for n in range(len(sizes) + 1):
# +     for n in range(1, len(sizes) + 1):
# -     return best[1]
# +     return best[1] if best else tuple(sizes)

# %% [wrong] of equal work, the plan that comes first
# -                 key = extra_flops(saved), stored
# +                 key = extra_flops(saved)

# %% [wrong] of equal work, the fewest wires
# -                 key = extra_flops(saved), stored
# +                 key = extra_flops(saved), n

# %% [wrong] forgets the plan of all wires
# -     for n in range(len(sizes) + 1):
# +     for n in range(len(sizes)):

# %% [wrong] stores the most bytes
# -                 key = extra_flops(saved), stored
# +                 key = -stored, extra_flops(saved)

# %% [right]
def plan_memory(sizes, extra_flops, limit):
    names = list(sizes)
    plans = []
    for bits in range(2 ** len(names)):
        plan = tuple(name for k, name in enumerate(names) if bits >> k & 1)
        if sum(map(sizes.get, plan)) <= limit:
            plans.append(plan)
    return min(plans, key=lambda plan: (extra_flops(plan), sum(sizes[n] for n in plan)))

# %% [right]
def plan_memory(sizes, extra_flops, limit):
    plans = [()]
    for name in sizes:
        plans += [plan + (name,) for plan in plans]
    plans = sorted(
        (p for p in plans if sum(sizes[n] for n in p) <= limit), key=lambda p: sum(sizes[n] for n in p)
    )
    work = [extra_flops(p) for p in plans]
    return plans[work.index(min(work))]

# %% [right]
def subsets(names):
    if not names:
        yield ()
        return
    head, *rest = names
    for part in subsets(rest):
        yield part
        yield (head, *part)


def plan_memory(sizes, extra_flops, limit):
    size = lambda p: sum(sizes[w] for w in p)
    ranked = sorted((extra_flops(p), size(p), p) for p in subsets(list(sizes)) if size(p) <= limit)
    return ranked[0][2]

# %% [wrong] takes the plan that stores least
def plan_memory(sizes, extra_flops, limit):
    return ()

# %% [wrong] takes the first wires that fit
def plan_memory(sizes, extra_flops, limit):
    saved, room = [], limit
    for wire, size in sizes.items():
        if size <= room:
            saved.append(wire)
            room -= size
    return tuple(saved)

# %% [wrong] saves the largest wires that still fit
def plan_memory(sizes, extra_flops, limit):
    saved, left = (), limit
    for name in sorted(sizes, key=sizes.get, reverse=True):
        if sizes[name] <= left:
            saved, left = (*saved, name), left - sizes[name]
    return saved

# %% [wrong] is greedy, whichever wire comes first
def plan_memory(sizes, extra_flops, limit):
    best = None
    for first in [None, *sizes]:
        plan = () if first is None else (first,)
        if sum(sizes[w] for w in plan) > limit:
            continue
        while True:
            left = limit - sum(sizes[w] for w in plan)
            options = [w for w in sizes if w not in plan and sizes[w] <= left]
            gains = {w: (extra_flops(plan) - extra_flops((*plan, w))) / sizes[w] for w in options}
            if not gains or max(gains.values()) <= 0:
                break
            plan = (*plan, max(gains, key=gains.get))
        key = extra_flops(plan), sum(sizes[w] for w in plan)
        if best is None or key < best[0]:
            best = key, plan
    return best[1]

# %% [wrong] leaves out the empty plan
from itertools import combinations


def plan_memory(sizes, extra_flops, limit):
    plans = [
        c
        for k in range(1, len(sizes) + 1)
        for c in combinations(sizes, k)
        if sum(sizes[w] for w in c) <= limit
    ]
    return min(plans, key=lambda p: (extra_flops(p), sum(sizes[w] for w in p)), default=())
