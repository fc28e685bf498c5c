# %% [right]
def plan_memory(sizes, extra_flops, limit):
    plans = [()]
    for wire in sizes:
        plans += [(*plan, wire) for plan in plans]
    stored = {plan: sum(sizes[wire] for wire in plan) for plan in plans}
    return min((p for p in plans if stored[p] <= limit), key=lambda p: (extra_flops(p), stored[p]))


# %% [wrong] ignores the limit
def plan_memory(sizes, extra_flops, limit):
    plans = [()]
    for wire in sizes:
        plans += [(*plan, wire) for plan in plans]
    return min(plans, key=lambda p: (extra_flops(p), sum(sizes[wire] for wire in p)))


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
