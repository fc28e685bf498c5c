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

# %% [right]
def fits_on_chip(gates, H, itemsize, registers, shared, multiprocessors):
    need = gates * H * H * itemsize
    place = 1 if need <= registers * multiprocessors else 2 if need <= (registers + shared) * multiprocessors else 0
    most = 0
    while gates * (most + 1) ** 2 * itemsize <= (registers + shared) * multiprocessors:
        most += 1
    return place, most

# %% [wrong] wants room to be left
# -     place = 1 if need <= registers * multiprocessors else 2 if need <= (registers + shared) * multiprocessors else 0
# +     place = 1 if need < registers * multiprocessors else 2 if need < (registers + shared) * multiprocessors else 0

# %% [wrong] fills each multiprocessor with whole rows
# -     while gates * (most + 1) ** 2 * itemsize <= (registers + shared) * multiprocessors:
# +     while gates * (most + 1) <= (registers + shared) // ((most + 1) * itemsize) * multiprocessors:

# %% [wrong] takes the largest layer of registers alone
# -     while gates * (most + 1) ** 2 * itemsize <= (registers + shared) * multiprocessors:
# +     while gates * (most + 1) ** 2 * itemsize <= registers * multiprocessors:

# %% [wrong] takes the largest layer of one gate
# -     while gates * (most + 1) ** 2 * itemsize <= (registers + shared) * multiprocessors:
# +     while (most + 1) ** 2 * itemsize <= (registers + shared) * multiprocessors:

# %% [wrong] forgets how many multiprocessors there are
# -     place = 1 if need <= registers * multiprocessors else 2 if need <= (registers + shared) * multiprocessors else 0
# +     place = 1 if need <= registers else 2 if need <= (registers + shared) else 0
# -     while gates * (most + 1) ** 2 * itemsize <= (registers + shared) * multiprocessors:
# +     while gates * (most + 1) ** 2 * itemsize <= (registers + shared):

# %% [wrong] compares shared memory alone with the weights
# -     place = 1 if need <= registers * multiprocessors else 2 if need <= (registers + shared) * multiprocessors else 0
# +     place = 1 if need <= registers * multiprocessors else 2 if need <= shared * multiprocessors else 0

# %% [wrong] rounds the most units
# -     return place, most
# +     return place, round(((registers + shared) * multiprocessors / gates / itemsize) ** 0.5)

# %% [right]
def fits_on_chip(gates, H, itemsize, registers, shared, multiprocessors):
    import math

    all_registers, all_shared = registers * multiprocessors, shared * multiprocessors
    units = lambda bytes_: math.isqrt(int(bytes_ // (gates * itemsize)))
    most = units(all_registers + all_shared)
    return (1 if H <= units(all_registers) else 2 if H <= most else 0), most

# %% [right]
def fits_on_chip(gates, H, itemsize, registers, shared, multiprocessors):
    room = np.cumsum([registers, shared]) * multiprocessors
    fits = gates * itemsize * H**2 <= room
    place = int(np.argmax(fits)) + 1 if fits.any() else 0
    most = int(np.sqrt(room[1] / (gates * itemsize)))
    return place, most

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

# %% [wrong] stores whole weights in each multiprocessor
def fits_on_chip(gates, H, itemsize, registers, shared, multiprocessors):
    need = gates * H * H
    first = registers // itemsize * multiprocessors
    both = first + shared // itemsize * multiprocessors
    place = 1 if need <= first else 2 if need <= both else 0
    return place, int((both // gates) ** 0.5)

# %% [wrong] splits no row between multiprocessors
def fits_on_chip(gates, H, itemsize, registers, shared, multiprocessors):
    need = gates * H * H * itemsize
    first = registers * multiprocessors
    both = first + shared * multiprocessors
    place = 1 if need <= first else 2 if need <= both else 0
    rows = (registers + shared) // (H * itemsize) * multiprocessors
    place = place if rows >= gates * H else 0
    return place, int((both // (gates * itemsize)) ** 0.5)

# %% [wrong] rounds the share of a multiprocessor down
def fits_on_chip(gates, H, itemsize, registers, shared, multiprocessors):
    weights = gates * H * H * itemsize
    most = int((multiprocessors * (registers + shared) / (gates * itemsize)) ** 0.5)
    if weights // multiprocessors <= registers:
        return 1, most
    return (2 if weights // multiprocessors <= registers + shared else 0), most
