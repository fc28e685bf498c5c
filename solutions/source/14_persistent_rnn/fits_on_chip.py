# %% [markdown]
# ## Exercise: fits_on_chip
#
# <!-- exercise: fits_on_chip -->
#
# A layer has recurrent weights [gates·H, H] of `itemsize` bytes. Each of `multiprocessors` has `registers` bytes of registers and `shared` bytes of shared memory to spare for them.
#
# Return two numbers. The place: 1 if the registers of the whole chip are enough, 2 if registers and shared memory together are, else 0. And the most units a layer may have to find room in both together.


# %%
def fits_on_chip(gates, H, itemsize, registers, shared, multiprocessors):
    """(place, the most units)"""
    ### BEGIN SOLUTION
    needed = gates * H * H * itemsize
    in_registers = multiprocessors * registers
    in_both = in_registers + multiprocessors * shared
    place = 1 if needed <= in_registers else 2 if needed <= in_both else 0
    return place, int((in_both // (gates * itemsize)) ** 0.5)
    ### END SOLUTION


# %%
check(fits_on_chip)

# %% [facts]
# points: 2
# difficulty: 2
# minutes: 12
# lines: 5

# %% [hint]
# How many bytes do the recurrent weights of one layer have? And how many bytes of registers does the whole chip have
# for them?

# %% [hint]
# Needed: gates·H²·itemsize. Registers of all multiprocessors come first; registers and shared memory of all come
# next. The largest layer solves gates·H²·itemsize ≤ what there is.

# %% [hint]
# `place = 1 if needed <= in_registers else 2 if needed <= in_both else 0`; the most units are the root of in_both /
# (gates·itemsize), rounded down.

# %% [mistake] forgets the gates
# - needed = gates * H * H
# + needed = H * H

# %% [mistake] counts numbers, not bytes
# - gates * H * H * itemsize
# + gates * H * H

# %% [mistake] asks one multiprocessor only
# - in_registers = multiprocessors * registers
# + in_registers = registers

# %% [mistake] forgets the shared memory
# - in_registers + multiprocessors * shared
# + in_registers

# %% [mistake] counts shared memory once
# - in_registers + multiprocessors * shared
# + in_registers + shared

# %% [mistake] refuses what fits exactly
# - needed <= in_registers
# + needed < in_registers

# %% [mistake] gives weights, not units
# - (in_both // (gates * itemsize)) ** 0.5
# + in_both // (gates * itemsize)

# %% [mistake] takes the largest layer of registers alone
# - in_both // (gates
# + in_registers // (gates

# %% [mistake] takes the largest layer of one gate
# - in_both // (gates * itemsize)
# + in_both // itemsize

# %% [right]
def fits_on_chip(gates, H, itemsize, registers, shared, multiprocessors):
    each = gates * itemsize
    rooms = [multiprocessors * registers, multiprocessors * (registers + shared)]
    place = next((k for k, room in enumerate(rooms, 1) if H * H * each <= room), 0)
    most = 0
    while (most + 1) ** 2 * each <= rooms[1]:
        most += 1
    return place, most

# %% [right]
def fits_on_chip(gates, H, itemsize, registers, shared, multiprocessors):
    needed = gates * H**2 * itemsize / multiprocessors
    place = 0 if needed > registers + shared else 2 if needed > registers else 1
    return place, int(np.floor(np.sqrt(multiprocessors * (registers + shared) / gates / itemsize + 1e-9)))
