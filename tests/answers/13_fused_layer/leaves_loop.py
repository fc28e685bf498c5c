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

# %% [wrong] keeps whatever waits for an operation that stays
def leaves_loop(names, pairs):
    n = len(names)
    before = [{i for i, j in pairs if j == k} for k in range(n)]
    for k in range(n):
        for i in list(before[k]):
            before[k] |= before[i]
    staying = {names[j] for j in range(n) for i in before[j] if names[i] == names[j]}
    staying |= {names[j] for j in range(n) for i in before[j] if names[i] in staying}
    return [name for name in dict.fromkeys(names) if name not in staying]

# %% [wrong] follows two waits, not more
def leaves_loop(names, pairs):
    staying = {names[j] for i, j in pairs if names[i] == names[j]}
    staying |= {names[k] for i, j in pairs for a, k in pairs if a == j and names[i] == names[k]}
    return [name for name in dict.fromkeys(names) if name not in staying]

# %% [wrong] returns the operations that stay
def leaves_loop(names, pairs):
    n = len(names)
    before = [{i for i, j in pairs if j == k} for k in range(n)]
    for k in range(n):
        for i in list(before[k]):
            before[k] |= before[i]
    staying = {names[j] for j in range(n) for i in before[j] if names[i] == names[j]}
    return [name for name in dict.fromkeys(names) if name in staying]

# %% [wrong] returns each name once for each step
def leaves_loop(names, pairs):
    n = len(names)
    before = [{i for i, j in pairs if j == k} for k in range(n)]
    for k in range(n):
        for i in list(before[k]):
            before[k] |= before[i]
    staying = {names[j] for j in range(n) for i in before[j] if names[i] == names[j]}
    return [name for name in names if name not in staying]

# %% [wrong] takes the pairs in the order in which they come
def leaves_loop(names, pairs):
    before = [set() for _ in names]
    for i, j in pairs:
        before[j] |= {i} | before[i]
    staying = {names[j] for j in range(len(names)) for i in before[j] if names[i] == names[j]}
    return [name for name in dict.fromkeys(names) if name not in staying]

# %% [wrong] returns places in place of names
def leaves_loop(names, pairs):
    n = len(names)
    before = [{i for i, j in pairs if j == k} for k in range(n)]
    for k in range(n):
        for i in list(before[k]):
            before[k] |= before[i]
    staying = {names[j] for j in range(n) for i in before[j] if names[i] == names[j]}
    return [k for k in range(n) if names[k] not in staying]

# %% [wrong] lets everything leave
def leaves_loop(names, pairs):
    return sorted(set(names))
