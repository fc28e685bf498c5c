# %% [right]
def leaves_loop(names, pairs):
    n = len(names)
    before = [{i for i, j in pairs if j == k} for k in range(n)]
    for k in range(n):
        for i in list(before[k]):
            before[k] |= before[i]
    result = []
    for name in sorted(set(names)):
        places = [k for k in range(n) if names[k] == name]
        if not any(i in before[j] for i in places for j in places):
            result.append(name)
    return result

# %% [right]
def leaves_loop(names, pairs):
    reach = np.zeros((len(names), len(names)), bool)
    for i, j in pairs:
        reach[i, j] = True
    for k in range(len(names)):
        reach |= reach[:, k : k + 1] & reach[k]
    names = np.array(names)
    return [str(name) for name in np.unique(names) if not reach[np.ix_(names == name, names == name)].any()]

# %% [right]
def leaves_loop(names, pairs):
    follows = {}
    for i, j in pairs:
        follows.setdefault(i, []).append(j)

    def meets_itself(start):
        waiting, seen = [start], set()
        while waiting:
            for j in follows.get(waiting.pop(), ()):
                if names[j] == names[start]:
                    return True
                if j not in seen:
                    seen.add(j)
                    waiting.append(j)
        return False

    staying = {name for k, name in enumerate(names) if meets_itself(k)}
    return sorted({*names} - staying)

# %% [right]
from functools import cache

def leaves_loop(names, pairs):
    @cache
    def sources(k):
        return frozenset().union(*({i} | sources(i) for i, j in pairs if j == k))

    free = dict.fromkeys(names, True)
    for k, name in enumerate(names):
        if name in {names[i] for i in sources(k)}:
            free[name] = False
    return tuple(name for name, is_free in free.items() if is_free)

# %% [wrong] looks at direct waits only
def leaves_loop(names, pairs):
    staying = {names[j] for i, j in pairs if names[i] == names[j]}
    return [name for name in dict.fromkeys(names) if name not in staying]

# %% [wrong] keeps whatever waits for something
def leaves_loop(names, pairs):
    staying = {names[j] for i, j in pairs}
    return [name for name in dict.fromkeys(names) if name not in staying]

# %% [right]
def leaves_loop(names, pairs):
    n = len(names)
    before = [{i for i, j in pairs if j == k} for k in range(n)]
    for k in range(n):
        for i in list(before[k]):
            before[k] |= before[i]
    staying = {names[j] for j in range(n) for i in before[j] if names[i] == names[j]}
    return [name for name in dict.fromkeys(names) if name not in staying]

# %% [wrong] keeps whatever waits for an operation that stays
# -     return [name for name in dict.fromkeys(names) if name not in staying]
# +     staying |= {names[j] for j in range(n) for i in before[j] if names[i] in staying}
# +     return [name for name in dict.fromkeys(names) if name not in staying]

# %% [wrong] returns the operations that stay
# -     return [name for name in dict.fromkeys(names) if name not in staying]
# +     return [name for name in dict.fromkeys(names) if name in staying]

# %% [wrong] returns each name once for each step
# -     return [name for name in dict.fromkeys(names) if name not in staying]
# +     return [name for name in names if name not in staying]

# %% [wrong] returns places in place of names
# -     return [name for name in dict.fromkeys(names) if name not in staying]
# +     return [k for k in range(n) if names[k] not in staying]

# %% [wrong] follows two waits, not more
def leaves_loop(names, pairs):
    staying = {names[j] for i, j in pairs if names[i] == names[j]}
    staying |= {names[k] for i, j in pairs for a, k in pairs if a == j and names[i] == names[k]}
    return [name for name in dict.fromkeys(names) if name not in staying]

# %% [wrong] takes the pairs in the order in which they come
def leaves_loop(names, pairs):
    before = [set() for _ in names]
    for i, j in pairs:
        before[j] |= {i} | before[i]
    staying = {names[j] for j in range(len(names)) for i in before[j] if names[i] == names[j]}
    return [name for name in dict.fromkeys(names) if name not in staying]

# %% [wrong] lets everything leave
def leaves_loop(names, pairs):
    return sorted(set(names))

# %% [right]
def leaves_loop(names, pairs):
    after = {}
    for earlier, later in pairs:
        after.setdefault(earlier, []).append(later)

    def waiting(start):
        stack, reached = [start], set()
        while stack:
            for place in after.get(stack.pop(), ()):
                if place not in reached:
                    reached.add(place)
                    stack.append(place)
        return reached

    stays = {names[k] for k in range(len(names)) if any(names[p] == names[k] for p in waiting(k))}
    return [name for name in dict.fromkeys(names) if name not in stays]

# %% [right]
def leaves_loop(names, pairs):
    sources = [set() for _ in names]
    for earlier, later in pairs:
        sources[later].add(earlier)
    origin = []
    stays = set()
    for k, name in enumerate(names):
        behind = set()
        for earlier in sources[k]:
            behind |= origin[earlier] | {names[earlier]}
        origin.append(behind)
        if name in behind:
            stays.add(name)
    return sorted(set(names) - stays)

# %% [right]
def leaves_loop(names, pairs):
    n = len(names)
    reach = np.zeros((n, n), int)
    for earlier, later in pairs:
        reach[earlier, later] = 1
    while True:
        longer = ((reach + reach @ reach) > 0).astype(int)
        if (longer == reach).all():
            break
        reach = longer
    labels = np.array(names)
    bad = {names[i] for i, j in zip(*np.nonzero(reach)) if labels[i] == labels[j]}
    return [str(name) for name in np.unique(labels) if name not in bad]

# %% [right]
def leaves_loop(names, pairs):
    masks, order = {}, sorted(tuple(reversed(pair)) for pair in pairs)
    for later, earlier in order:
        masks[later] = masks.get(later, 0) | 1 << earlier | masks.get(earlier, 0)
    free = set(names)
    for k, name in enumerate(names):
        if any(masks.get(k, 0) >> p & 1 for p in range(k) if names[p] == name):
            free.discard(name)
    return list(free)

# %% [right]
def leaves_loop(names, pairs):
    after = {name: set() for name in names}
    for earlier, later in pairs:
        after[names[earlier]].add(names[later])
    for middle in after:
        for name in after:
            if middle in after[name]:
                after[name] |= after[middle]
    return [name for name in after if name not in after[name]]

# %% [wrong] follows two waits, not more
def leaves_loop(names, pairs):
    direct = set(map(tuple, pairs))
    two = {(a, d) for a, b in direct for c, d in direct if b == c}
    stays = {names[a] for a, b in direct | two if names[a] == names[b]}
    return [name for name in dict.fromkeys(names) if name not in stays]

# %% [wrong] takes the pairs in the order in which they come
def leaves_loop(names, pairs):
    behind = [set() for _ in names]
    for earlier, later in pairs:
        behind[later] |= behind[earlier] | {earlier}
    stays = {names[k] for k in range(len(names)) if any(names[p] == names[k] for p in behind[k])}
    return [name for name in dict.fromkeys(names) if name not in stays]

# %% [wrong] returns the operations that stay
# -     for earlier, later in pairs:
# +     for earlier, later in sorted(pairs, key=lambda pair: pair[1]):
# -     return [name for name in dict.fromkeys(names) if name not in stays]
# +     return sorted(stays)

# %% [wrong] asks only whether the second operation of a name waits for the first
def leaves_loop(names, pairs):
    behind = [set() for _ in names]
    for earlier, later in sorted(pairs, key=lambda pair: pair[1]):
        behind[later] |= behind[earlier] | {earlier}
    places = {}
    for k, name in enumerate(names):
        places.setdefault(name, []).append(k)
    return [name for name, at in places.items() if len(at) < 2 or at[0] not in behind[at[1]]]

# %% [wrong] asks whether the last operation of a name waits for the first
# -     places = {}
# +     first, last = {}, {}
# -         places.setdefault(name, []).append(k)
# -     return [name for name, at in places.items() if len(at) < 2 or at[0] not in behind[at[1]]]
# +         first.setdefault(name, k)
# +         last[name] = k
# +     return [name for name in first if first[name] not in behind[last[name]]]

# %% [wrong] keeps every operation that waits for anything in an earlier step
def leaves_loop(names, pairs):
    stays = {names[later] for earlier, later in pairs if names[: later].count(names[later]) > names[: earlier].count(names[earlier])}
    return [name for name in dict.fromkeys(names) if name not in stays]

# %% [wrong] looks at direct waits only
def leaves_loop(names, pairs):
    return sorted(set(names) - {names[a] for a, b in pairs if names[a] == names[b]})

# %% [right]
def leaves_loop(names, pairs):
    edges = {(names[i], names[j]) for i, j in pairs}
    for k in set(names):
        edges |= {(a, d) for a, b in edges for c, d in edges if b == k == c}
    return [n for n in dict.fromkeys(names) if (n, n) not in edges]

# %% [wrong] leaves out operations that are in no pair
def leaves_loop(names, pairs):
    before = {}
    for earlier, later in sorted(pairs):
        before.setdefault(earlier, set())
        before.setdefault(later, set()).update(before[earlier], {earlier})
    free = {}
    for k, awaited in before.items():
        waits_for_itself = any(names[j] == names[k] for j in awaited)
        free[names[k]] = free.get(names[k], True) and not waits_for_itself
    return [name for name, is_free in free.items() if is_free]

# %% [wrong] goes through the pairs twice
def leaves_loop(names, pairs):
    before = [set() for _ in names]
    for _ in range(2):
        for earlier, later in pairs:
            before[later].add(earlier)
            before[later].update(before[earlier])
    stay = set()
    for k, name in enumerate(names):
        if any(names[j] == name for j in before[k]):
            stay.add(name)
    return list(set(names) - stay)
