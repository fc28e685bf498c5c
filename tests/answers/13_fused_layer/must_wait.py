# %% [right]
def must_wait(operations):
    def touch(a, b):
        for name, first, end in a:
            for other, start, stop in b:
                if name == other and max(first, start) < min(end, stop):
                    return True
        return False

    result = []
    for later in range(len(operations)):
        for earlier in range(later):
            _, r, w, s = operations[earlier]
            _, R, W, S = operations[later]
            if touch(w, R) or touch(w, W) or touch(w, S) or touch(r, W) or touch(r, S) or touch(s, R) or touch(s, W):
                result.append((earlier, later))
    return result

# %% [right]
from itertools import combinations

def must_wait(operations):
    cells = []
    for name, reads, writes, adds in operations:
        rows = [{(b, k) for b, first, end in part for k in range(first, end)} for part in (reads, writes, adds)]
        cells.append(rows)
    pairs = []
    for (i, a), (j, b) in combinations(enumerate(cells), 2):
        changed = a[1] & (b[0] | b[1] | b[2]) or b[1] & (a[0] | a[2])
        added = a[2] & b[0] or b[2] & a[0]
        if changed or added:
            pairs.append([i, j])
    return pairs

# %% [right]
def must_wait(operations):
    accesses = []
    for k, (_, reads, writes, adds) in enumerate(operations):
        for kind, regions in (("r", reads), ("w", writes), ("a", adds)):
            accesses += [(k, kind, *region) for region in regions]
    free = {"rr", "aa"}
    return sorted({
        (i, j)
        for i, kind, a, first, end in accesses
        for j, other, b, start, stop in accesses
        if i < j and a == b and first < stop and start < end and kind + other not in free
    })

# %% [right]
def must_wait(operations):
    pairs = []
    apart = lambda p, q: p[0] != q[0] or p[2] <= q[1] or q[2] <= p[1]
    for j in reversed(range(len(operations))):
        for i in range(j - 1, -1, -1):
            mine, its = operations[j], operations[i]
            for u in (1, 2, 3):
                for v in (1, 2, 3):
                    if u == v != 2:
                        continue
                    if any(not apart(p, q) for p in mine[u] for q in its[v]):
                        pairs.append((i, j))
    return sorted(set(pairs))

# %% [right]
def must_wait(operations):
    meet = lambda a, b: any(p[0] == q[0] and p[1] < q[2] and q[1] < p[2] for p in a for q in b)
    pairs = []
    for j, (_, reads, writes, adds) in enumerate(operations):
        for i, (_, r, w, s) in enumerate(operations[:j]):
            if meet(w, reads + writes + adds) or meet(s, reads + writes) or meet(r, writes + adds):
                pairs.append((i, j))
    return pairs

# %% [wrong] sees only results that are read later
# -             if meet(w, reads + writes + adds) or meet(s, reads + writes) or meet(r, writes + adds):
# +             if meet(w + s, reads):

# %% [wrong] forgets what a later operation overwrites
# -             if meet(w, reads + writes + adds) or meet(s, reads + writes) or meet(r, writes + adds):
# +             if meet(w, reads + writes + adds) or meet(s, reads + writes):

# %% [wrong] compares the names of the buffers only
# -     meet = lambda a, b: any(p[0] == q[0] and p[1] < q[2] and q[1] < p[2] for p in a for q in b)
# +     meet = lambda a, b: any(p[0] == q[0] for p in a for q in b)

# %% [wrong] lets additions to the same rows wait for each other
# -             if meet(w, reads + writes + adds) or meet(s, reads + writes) or meet(r, writes + adds):
# +             if meet(w + s, reads + writes + adds) or meet(r, writes + adds):

# %% [wrong] needs the very same rows
# -     meet = lambda a, b: any(p[0] == q[0] and p[1] < q[2] and q[1] < p[2] for p in a for q in b)
# +     meet = lambda a, b: any(p == q for p in a for q in b)

# %% [wrong] counts neighbouring rows wrong
# -     meet = lambda a, b: any(p[0] == q[0] and p[1] < q[2] and q[1] < p[2] for p in a for q in b)
# +     meet = lambda a, b: any(p[0] == q[0] and p[1] <= q[2] and q[1] <= p[2] for p in a for q in b)

# %% [wrong] looks at the first region of each list only
# -     meet = lambda a, b: any(p[0] == q[0] and p[1] < q[2] and q[1] < p[2] for p in a for q in b)
# +     meet = lambda a, b: bool(a and b) and a[0][0] == b[0][0] and a[0][1] < b[0][2] and b[0][1] < a[0][2]
# -             if meet(w, reads + writes + adds) or meet(s, reads + writes) or meet(r, writes + adds):
# +             if meet(w, reads) or meet(w, writes) or meet(w, adds) or meet(s, reads) or meet(s, writes) or meet(r, writes) or meet(r, adds):

# %% [wrong] returns names in place of places
# -     for j, (_, reads, writes, adds) in enumerate(operations):
# -         for i, (_, r, w, s) in enumerate(operations[:j]):
# +     for j, (name, reads, writes, adds) in enumerate(operations):
# +         for other, r, w, s in operations[:j]:
# -                 pairs.append((i, j))
# +                 pairs.append((other, name))

# %% [wrong] leaves out pairs that follow from others
def must_wait(operations):
    meet = lambda a, b: any(p[0] == q[0] and p[1] < q[2] and q[1] < p[2] for p in a for q in b)
    pairs, behind = [], {}
    for j, (_, reads, writes, adds) in enumerate(operations):
        behind[j] = set()
        for i in reversed(range(j)):
            _, r, w, s = operations[i]
            if i not in behind[j] and (meet(w, reads + writes + adds) or meet(s, reads + writes) or meet(r, writes + adds)):
                pairs.append((i, j))
                behind[j] |= {i} | behind[i]
    return pairs

# %% [right]
def must_wait(operations):
    def rows(regions):
        return {(buffer, row) for buffer, first, end in regions for row in range(first, end)}

    sets = [tuple(map(rows, regions)) for _, *regions in operations]
    pairs = []
    for later, (reads, writes, adds) in enumerate(sets):
        for earlier in range(later):
            r, w, a = sets[earlier]
            if w & (reads | writes | adds) or a & (reads | writes) or writes & (r | a) or adds & r:
                pairs.append((earlier, later))
    return pairs

# %% [right]
def must_wait(operations):
    from itertools import combinations, product

    def overlap(p, q):
        return p[0] == q[0] and p[1] < q[2] and q[1] < p[2]

    def meet(some, others):
        return any(overlap(p, q) for p, q in product(some, others))

    def changes(one, other):
        _, reads, writes, adds = one
        return meet(writes, other[1] + other[2] + other[3]) or meet(adds, other[1] + other[2])

    places = range(len(operations))
    return [(i, j) for i, j in combinations(places, 2)
            if changes(operations[i], operations[j]) or changes(operations[j], operations[i])]

# %% [right]
def must_wait(operations):
    ends = {}
    for _, *lists in operations:
        for regions in lists:
            for buffer, _, end in regions:
                ends[buffer] = max(ends.get(buffer, 0), end)
    start, total = {}, 0
    for buffer, end in ends.items():
        start[buffer], total = total, total + end
    n = len(operations)
    marks = np.zeros((3, n, max(total, 1)), bool)
    for k, (_, *lists) in enumerate(operations):
        for kind, regions in enumerate(lists):
            for buffer, first, end in regions:
                marks[kind, k, start[buffer] + first : start[buffer] + end] = True
    reads, writes, adds = marks
    result = []
    for i in range(n):
        for j in range(i + 1, n):
            one = (writes[i] | adds[i]) & (reads[j] | writes[j] | adds[j])
            two = (writes[j] | adds[j]) & reads[i]
            if ((one | two) & ~(adds[i] & adds[j])).any() or (adds[i] & adds[j] & (reads[i] | reads[j] | writes[i] | writes[j])).any():
                result.append((i, j))
    return result

# %% [right]
def must_wait(operations):
    seen, pairs = [], set()
    for place, (name, reads, writes, adds) in enumerate(operations):
        touched = [(region, kind) for kind, regions in zip("rwa", (reads, writes, adds)) for region in regions]
        for (buffer, first, end), kind in touched:
            for other_place, (b, f, e), other_kind in seen:
                if b == buffer and max(f, first) < min(e, end):
                    if kind != other_kind or kind == "w":
                        pairs.add((other_place, place))
        seen += [(place, region, kind) for region, kind in touched]
    return sorted(pairs, reverse=True)

# %% [wrong] forgets that two operations which add may also read or write something in common
def must_wait(operations):
    def rows(regions):
        return {(buffer, row) for buffer, first, end in regions for row in range(first, end)}

    pairs = []
    for j in range(len(operations)):
        for i in range(j):
            r, w, a = map(rows, operations[i][1:])
            R, W, A = map(rows, operations[j][1:])
            if a & A:
                continue
            if (w | a) & (R | W | A) or (W | A) & r:
                pairs.append((i, j))
    return pairs

# %% [wrong] keeps only the pairs that do not follow from others
def must_wait(operations):
    def rows(regions):
        return {(buffer, row) for buffer, first, end in regions for row in range(first, end)}

    n = len(operations)
    sets = [tuple(map(rows, regions)) for _, *regions in operations]
    pairs = set()
    for j in range(n):
        for i in range(j):
            (r, w, a), (R, W, A) = sets[i], sets[j]
            if w & (R | W | A) or a & (R | W) or W & r or A & r:
                pairs.add((i, j))
    return [(i, j) for i, j in pairs if not any((i, k) in pairs and (k, j) in pairs for k in range(n))]

# %% [wrong] counts neighbouring rows wrong
def must_wait(operations):
    def meet(some, others):
        return any(p[0] == q[0] and p[1] <= q[2] and q[1] <= p[2] for p in some for q in others)

    pairs = []
    for j, (_, R, W, A) in enumerate(operations):
        for i, (_, r, w, a) in enumerate(operations[:j]):
            if meet(w, R + W + A) or meet(a, R + W) or meet(r, W + A):
                pairs.append((i, j))
    return pairs

# %% [wrong] compares the rows only
# -         return any(p[0] == q[0] and p[1] <= q[2] and q[1] <= p[2] for p in some for q in others)
# +         return any(p[1] < q[2] and q[1] < p[2] for p in some for q in others)

# %% [wrong] compares the names of the buffers only
# -         return any(p[0] == q[0] and p[1] <= q[2] and q[1] <= p[2] for p in some for q in others)
# +         return bool({p[0] for p in some} & {q[0] for q in others})

# %% [wrong] forgets what a later operation overwrites
# -         return any(p[0] == q[0] and p[1] <= q[2] and q[1] <= p[2] for p in some for q in others)
# +         return any(p[0] == q[0] and p[1] < q[2] and q[1] < p[2] for p in some for q in others)
# -             if meet(w, R + W + A) or meet(a, R + W) or meet(r, W + A):
# +             if meet(w, R + W + A) or meet(a, R + W):

# %% [wrong] lets additions to the same rows wait for each other
# -         return any(p[0] == q[0] and p[1] <= q[2] and q[1] <= p[2] for p in some for q in others)
# +         return any(p[0] == q[0] and p[1] < q[2] and q[1] < p[2] for p in some for q in others)
# -             if meet(w, R + W + A) or meet(a, R + W) or meet(r, W + A):
# +             if meet(w + a, R + W + A) or meet(r, W + A):

# %% [wrong] compares the first rows alone
# -         return any(p[0] == q[0] and p[1] <= q[2] and q[1] <= p[2] for p in some for q in others)
# +         return any(p[:2] == q[:2] for p in some for q in others)

# %% [wrong] looks the place of an operation up by what it is
def overlap(a, b):
    return a[0] == b[0] and max(a[1], b[1]) < min(a[2], b[2])


def any_overlap(some, others):
    return any(overlap(a, b) for a in some for b in others)


def must_wait(operations):
    pairs = []
    seen = []
    for operation in operations:
        _, reads, writes, adds = operation
        for old in seen:
            _, old_reads, old_writes, old_adds = old
            if (any_overlap(old_writes, reads + writes + adds)
                    or any_overlap(old_adds, reads + writes)
                    or any_overlap(old_reads, writes + adds)):
                pairs.append((operations.index(old), operations.index(operation)))
        seen.append(operation)
    return pairs
