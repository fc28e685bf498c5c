# %% [markdown]
# ## Exercise: must_wait
#
# <!-- exercise: must_wait -->
#
# `operations` are the operations of a pass in the order in which they are issued. Each is a tuple (name, reads, writes, adds) of a name and three lists of regions. A region (buffer, first, end) stands for the rows from `first` up to, but without, `end` of the buffer of that name. An operation that `adds` to a region reads it and writes the sum back.
#
# Return all pairs (earlier, later) of places in the list whose order must stay, because exchanging the two could change a number: one of them changes rows that the other one reads or changes. Two operations that both only read the same rows may change places. So may two that both only add to them: a sum has no order.


# %%
def must_wait(operations):
    """A list of pairs (earlier, later), earlier < later: places of operations
    whose order must stay."""
    ### BEGIN SOLUTION
    def meet(some, others):
        return any(a[0] == b[0] and a[1] < b[2] and b[1] < a[2] for a in some for b in others)

    pairs = []
    for j, (_, reads, writes, adds) in enumerate(operations):
        for i, (_, old_reads, old_writes, old_adds) in enumerate(operations[:j]):
            is_late = meet(old_writes, reads + writes + adds) or meet(old_adds, reads + writes)
            if is_late or meet(old_reads, writes + adds):
                pairs.append((i, j))
    return pairs
    ### END SOLUTION


# %%
check(must_wait)

# %% [properties]
# points: 3
# difficulty: 3
# minutes: 20
# lines: 9

# %% [hint]
# Write first when two lists of regions share a row: the same buffer, and rows that overlap. Then go through all pairs of
# operations: which of the nine meetings of reads, writes and adds are harmless?

# %% [hint]
# Two regions of a buffer overlap if each begins before the other ends. Harmless are two meetings only: reads with reads,
# and adds with adds. The other seven keep their order.

# %% [hint]
# For each pair i < j: `meet(old_writes, reads + writes + adds) or meet(old_adds, reads + writes) or meet(old_reads,
# writes + adds)`.

# %% [mistake] forgets what a later operation overwrites
# - if is_late or meet(old_reads, writes + adds):
# + if is_late:

# %% [mistake] sees only results that are read later
# -             is_late = meet(old_writes, reads + writes + adds) or meet(old_adds, reads + writes)
# -             if is_late or meet(old_reads, writes + adds):
# +             is_late = meet(old_writes + old_adds, reads)
# +             if is_late:

# %% [mistake] forgets that the last of two writes wins
# - meet(old_writes, reads + writes + adds)
# + meet(old_writes, reads + adds)

# %% [mistake] compares the names of the buffers only
# - a[0] == b[0] and a[1] < b[2] and b[1] < a[2] for
# + a[0] == b[0] for

# %% [mistake] compares the rows only
# - a[0] == b[0] and a[1] < b[2] and b[1] < a[2] for
# + a[1] < b[2] and b[1] < a[2] for

# %% [mistake] needs the very same rows
# - a[0] == b[0] and a[1] < b[2] and b[1] < a[2] for
# + a == b for

# %% [mistake] counts neighbouring rows wrong
# - a[1] < b[2] and b[1] < a[2]
# + a[1] <= b[2] and b[1] <= a[2]

# %% [mistake] lets additions to the same rows wait for each other
# - meet(old_adds, reads + writes)
# + meet(old_adds, reads + writes + adds)

# %% [mistake] lets two operations wait that only read
# - meet(old_reads, writes + adds)
# + meet(old_reads, reads + writes + adds)

# %% [mistake] takes additions for harmless
# -             is_late = meet(old_writes, reads + writes + adds) or meet(old_adds, reads + writes)
# -             if is_late or meet(old_reads, writes + adds):
# +             is_late = meet(old_writes, reads + writes)
# +             if is_late or meet(old_reads, writes):

# %% [mistake] forgets that an addition changes what is read later
# - or meet(old_adds, reads + writes)
# + or meet(old_adds, writes)

# %% [mistake] returns (later, earlier)
# - pairs.append((i, j))
# + pairs.append((j, i))

# %% [mistake] compares neighbours in the list only
# - for i, (_, old_reads, old_writes, old_adds) in enumerate(operations[:j]):
# + for i, (_, old_reads, old_writes, old_adds) in list(enumerate(operations[:j]))[-1:]:

# %% [right]
def must_wait(operations):
    rows = lambda regions: {(buffer, row) for buffer, first, end in regions for row in range(first, end)}
    parts = [(rows(reads), rows(writes), rows(adds)) for _, reads, writes, adds in operations]
    pairs = []
    for i, (reads, writes, adds) in enumerate(parts):
        for j in range(i + 1, len(parts)):
            later_reads, later_writes, later_adds = parts[j]
            harmless = not (writes & (later_reads | later_writes | later_adds))
            harmless = harmless and not (later_writes & (reads | adds))
            if not harmless or adds & later_reads or reads & later_adds:
                pairs.append((i, j))
    return pairs

# %% [right]
def must_wait(operations):
    accesses = [
        (place, kind, *region)
        for place, operation in enumerate(operations)
        for kind in (1, 2, 3)
        for region in operation[kind]
    ]
    pairs = []
    for i, kind, buffer, first, end in accesses:
        for j, other, name, start, stop in accesses:
            if i < j and buffer == name and max(first, start) <= min(end, stop) - 1 and (kind != other or kind == 2):
                pairs.append((i, j))
    return sorted(set(pairs))

# %% [variant] apart=2..9
# - Return all pairs (earlier, later) of places in the list whose order must stay,
# + Return all pairs (earlier, later) of places in the list, at most {apart} places apart, whose order must stay,
# - A list of pairs (earlier, later), earlier < later:
# + A list of pairs (earlier, later), earlier < later <= earlier + {apart}:
# - pairs.append((i, j))
# + pairs += [(i, j)] * (j - i <= {apart})
# - pairs.append((j, i))
# + pairs += [(j, i)] * (j - i <= {apart})
# - For each pair i < j:
# + For each pair i < j <= i + {apart}:
