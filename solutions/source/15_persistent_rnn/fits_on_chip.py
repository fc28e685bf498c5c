# %% [markdown]
# ## Exercise: fits_on_chip
#
# <!-- exercise: fits_on_chip -->
#
# A layer has recurrent weights [gates·H, H] of `itemsize` bytes. Each of the chip's `multiprocessors` has room for `registers` bytes of weights in registers and for `shared` bytes in shared memory. Memory is filled to the last byte; a weight may even be split.
#
# Return two numbers. First the place: 1 if the registers of the whole chip are enough, 2 if registers and shared memory together are enough, else 0. Then the largest number of units H that a layer with these gates may have to fit into registers and shared memory together.


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
# next. The largest layer is the largest H with gates·H²·itemsize ≤ the bytes of both.

# %% [hint]
# `place = 1 if needed <= in_registers else 2 if needed <= in_both else 0`; the most units are the root of in_both /
# (gates·itemsize), rounded down.

# %% [mistake] forgets the gates
# - needed = gates * H * H
# + needed = H * H

# %% [mistake] counts numbers, not bytes
# - gates * H * H * itemsize
# + gates * H * H

# %% [mistake] counts the registers of one multiprocessor only
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

# %% [mistake] returns the number of weights, not of units
# - (in_both // (gates * itemsize)) ** 0.5
# + in_both // (gates * itemsize)

# %% [mistake] takes the largest layer of registers alone
# - in_both // (gates
# + in_registers // (gates

# %% [mistake] takes the largest layer of one gate
# - in_both // (gates * itemsize)
# + in_both // itemsize

# %% [mistake] compares shared memory alone with the weights
# - 2 if needed <= in_both else 0
# + 2 if needed <= in_both - in_registers else 0

# %% [mistake] prefers both memories to registers alone
# - 1 if needed <= in_registers else 2 if needed <= in_both else 0
# + 2 if needed <= in_both else 1 if needed <= in_registers else 0

# %% [right]
def fits_on_chip(gates, H, itemsize, registers, shared, multiprocessors):
    unit = gates * itemsize
    rooms = [multiprocessors * registers, multiprocessors * (registers + shared)]
    place = next((k for k, room in enumerate(rooms, 1) if H * H * unit <= room), 0)
    most = 0
    while (most + 1) ** 2 * unit <= rooms[1]:
        most += 1
    return place, most

# %% [right]
def fits_on_chip(gates, H, itemsize, registers, shared, multiprocessors):
    needed = gates * H**2 * itemsize / multiprocessors
    place = 0 if needed > registers + shared else 2 if needed > registers else 1
    return place, int(np.floor(np.sqrt(multiprocessors * (registers + shared) / gates / itemsize + 1e-9)))
