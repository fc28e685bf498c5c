# %% [right]
def fits_on_chip(gates, H, itemsize, registers, shared, multiprocessors):
    weights = gates * H * H * itemsize
    first, both = multiprocessors * registers, multiprocessors * (registers + shared)
    units = 0
    while gates * itemsize * (units + 1) ** 2 <= both:
        units += 1
    if weights > both:
        return 0, units
    return (1, units) if weights <= first else (2, units)


# %% [right]
def fits_on_chip(gates, H, itemsize, registers, shared, multiprocessors):
    import math
    both = multiprocessors * (registers + shared)
    weights = itemsize * gates * H**2
    place = 0 if weights > both else 1 + (weights > multiprocessors * registers)
    return place, math.isqrt(both // (itemsize * gates))


# %% [right]
def fits_on_chip(gates, H, itemsize, registers, shared, multiprocessors):
    rooms = multiprocessors * registers, multiprocessors * shared
    fits = [itemsize * gates * H * H <= sum(rooms[: n + 1]) for n in (0, 1)]
    place = fits.index(True) + 1 if any(fits) else 0
    return place, int(np.sqrt(sum(rooms) // (gates * itemsize)))


# %% [wrong] refuses what fits exactly
def fits_on_chip(gates, H, itemsize, registers, shared, multiprocessors):
    weights = gates * H * H * itemsize
    a, b = multiprocessors * registers, multiprocessors * (registers + shared)
    return 1 if weights < a else 2 if weights <= b else 0, int((b // (gates * itemsize)) ** 0.5)


# %% [wrong] compares shared memory alone with the weights
def fits_on_chip(gates, H, itemsize, registers, shared, multiprocessors):
    weights = gates * H * H * itemsize
    a, s = multiprocessors * registers, multiprocessors * shared
    return 1 if weights <= a else 2 if weights <= s else 0, int(((a + s) // (gates * itemsize)) ** 0.5)


# %% [wrong] forgets the gates in both numbers
def fits_on_chip(gates, H, itemsize, registers, shared, multiprocessors):
    weights = H * H * itemsize
    a, b = multiprocessors * registers, multiprocessors * (registers + shared)
    return 1 if weights <= a else 2 if weights <= b else 0, int((b // itemsize) ** 0.5)


# %% [wrong] rounds the units up
def fits_on_chip(gates, H, itemsize, registers, shared, multiprocessors):
    import math
    weights = gates * H * H * itemsize
    a, b = multiprocessors * registers, multiprocessors * (registers + shared)
    return 1 if weights <= a else 2 if weights <= b else 0, math.ceil((b / (gates * itemsize)) ** 0.5)


# %% [wrong] says whether, not where
def fits_on_chip(gates, H, itemsize, registers, shared, multiprocessors):
    weights = gates * H * H * itemsize
    b = multiprocessors * (registers + shared)
    return int(weights <= b), int((b // (gates * itemsize)) ** 0.5)


# %% [wrong] counts one multiprocessor in both
def fits_on_chip(gates, H, itemsize, registers, shared, multiprocessors):
    weights = gates * H * H * itemsize
    a, b = registers, registers + shared
    return 1 if weights <= a else 2 if weights <= b else 0, int((b // (gates * itemsize)) ** 0.5)
