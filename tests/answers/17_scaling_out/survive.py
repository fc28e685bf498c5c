# %% [right]
def survive(train, checkpoints, ranks):
    start = 0
    for _ in range(1000):
        if ranks == 0:
            return None
        status, value = train(ranks, start)
        if status == "done":
            return value
        ranks = value
        start = 0
        for number, whole in checkpoints():
            if whole:
                start = max(start, number)

# %% [right]
def survive(train, checkpoints, ranks):
    newest_first = lambda: sorted((u for u, whole in checkpoints() if whole), reverse=True)
    result = train(ranks, 0)
    while result[0] == "lost" and result[1] > 0:
        result = train(result[1], (newest_first() or [0])[0])
    return result[1] if result[0] == "done" else None

# %% [right]
def survive(train, checkpoints, ranks):
    update = 0
    while True:
        if not ranks:
            return
        word, value = train(ranks, update)
        if word != "lost":
            return value
        ranks, usable = value, [0]
        usable.extend(number for number, whole in checkpoints() if whole)
        update = max(usable)

# %% [right]
def survive(train, checkpoints, ranks):
    update = 0
    while ranks:
        word, value = train(ranks, update)
        if word == "done":
            return value
        ranks, update = value, max([0] + [number for number, whole in checkpoints() if whole])
    return None

# %% [wrong] starts from the newest checkpoint, whole or not
# -         ranks, update = value, max([0] + [number for number, whole in checkpoints() if whole])
# +         ranks, update = value, max([0] + [number for number, _ in checkpoints()])

# %% [wrong] starts as many ranks as before
# -     while ranks:
# +     while True:
# -         ranks, update = value, max([0] + [number for number, whole in checkpoints() if whole])
# -     return None
# +         if value == 0:
# +             return None
# +         update = max([0] + [number for number, whole in checkpoints() if whole])

# %% [wrong] raises when no rank is left
# -     return None
# +     raise RuntimeError("no rank is left")

# %% [wrong] goes back one checkpoint more than it must
# -         ranks, update = value, max([0] + [number for number, whole in checkpoints() if whole])
# +         whole = sorted([0, 0] + [number for number, whole in checkpoints() if whole])
# +         ranks, update = value, whole[-2]

# %% [wrong] starts from the beginning after every loss
def survive(train, checkpoints, ranks):
    while ranks:
        word, value = train(ranks, 0)
        if word == "done":
            return value
        ranks = value
    return None

# %% [wrong] gives up after the first loss
def survive(train, checkpoints, ranks):
    word, value = train(ranks, 0)
    return value if word == "done" else None

# %% [wrong] starts no ranks
def survive(train, checkpoints, ranks):
    while True:
        start = max((update for update, ok in checkpoints() if ok), default=0)
        status, value = train(ranks, start)
        if status == "done":
            return value
        ranks = value

# %% [wrong] takes an incomplete checkpoint where no other is there
def survive(train, checkpoints, ranks):
    while ranks > 0:
        update = max(checkpoints(), default=(0, True), key=lambda c: (c[1], c[0]))[0]
        status, value = train(ranks, update)
        if status == "done":
            return value
        ranks = value
    return None

# %% [wrong] lists the checkpoints once, before the first start
def survive(train, checkpoints, ranks):
    usable = [number for number, whole in checkpoints() if whole]
    start = max(usable) if usable else 0
    while ranks:
        outcome, value = train(ranks, start)
        if outcome == "done":
            return value
        ranks = value
    return None

# %% [wrong] starts from the beginning after every loss
def survive(train, checkpoints, ranks):
    outcome, value = "lost", ranks
    while outcome == "lost" and value:
        outcome, value = train(value, 0)
    return value if outcome == "done" else None

# %% [wrong] gives up after ten starts
def survive(train, checkpoints, ranks):
    for attempt in range(10):
        if ranks == 0:
            break
        whole_ones = [update for update, whole in checkpoints() if whole]
        state, value = train(ranks, max(whole_ones + [0]))
        if state == "done":
            return value
        ranks = value
    return None
