# %% [markdown]
# ## Exercise: choose_minibatch
#
# <!-- exercise: choose_minibatch -->
#
# A network has `layers` layers of a plain RNN, each with H inputs and H units, and is trained on sequences of T steps. For its backward pass a layer saves two arrays of T·B·H numbers. Its weights W and U have H² numbers each, and each weight also has a gradient and a momentum. Every number has 4 bytes. `device` is a dict:
#
# - `memory` for all of this, and `registers` of the chip that may hold weights, in bytes
# - `bandwidth` in GB/s (1 GB/s is 10³ bytes a microsecond), `peak` in TFLOP/s (1 TFLOP/s is 10⁶ operations a microsecond)
# - `launch` and `barrier`, in microseconds
#
# Take the largest minibatch B for which all layers fit into `memory`; at least one sequence fits. Then choose how a layer multiplies by U. With a launch for each step, a step takes `launch`, and then the longer of two times: U is read once, and 2·B·H² operations are done at the peak. In a persistent kernel U stays in the registers, if all of it fits. A step then takes `barrier` and, after it, the operations. Choose the faster of the ways that are possible.
#
# Return B, True if the weights stay, else False, and the microseconds of a step.


# %%
def choose_minibatch(T, H, layers, device):
    """(minibatch, do the weights stay?, µs a step)"""
    ### BEGIN SOLUTION
    weights, saved = 3 * 2 * H * H * 4, 2 * T * H * 4  # bytes of a layer, of a sequence in it
    B = (device["memory"] // layers - weights) // saved
    work = 2 * B * H * H / (device["peak"] * 1e6)
    read = 4 * H * H / (device["bandwidth"] * 1e3)
    launched, persistent = device["launch"] + max(read, work), device["barrier"] + work
    stays = 4 * H * H <= device["registers"] and persistent < launched
    return B, stays, persistent if stays else launched
    ### END SOLUTION


# %%
check(choose_minibatch)

# %% [properties]
# points: 3
# difficulty: 3
# minutes: 20
# lines: 7

# %% [hint]
# Memory decides about B, before any time is computed. Which bytes of a layer grow with B, and which does it need for any B?
# Then write down the time of a step for both ways, and ask which of them is possible.

# %% [hint]
# A layer needs 24·H² bytes for weights, gradients and momenta, and 8·T·H for each sequence. A launched step: launch
# + max(read, work). A persistent one: barrier + work, possible if 4·H² bytes fit into `registers`.

# %% [hint]
# `B = (memory // layers - 24 * H * H) // (8 * T * H)`; `work = 2 * B * H * H / (peak * 1e6)`; `read = 4 * H * H /
# (bandwidth * 1e3)`; the weights stay if they fit and `barrier + work` is below `launch + max(read, work)`.

# %% [mistake] gives all of the memory to each layer
# - device["memory"] // layers
# + device["memory"]

# %% [mistake] saves one step
# - 2 * T * H * 4  #
# + 2 * H * 4  #

# %% [mistake] saves h and forgets the inputs
# - 2 * T * H * 4  #
# + T * H * 4  #

# %% [mistake] forgets the weights in memory
# - device["memory"] // layers - weights
# + device["memory"] // layers

# %% [mistake] forgets gradients and momenta
# - 3 * 2 * H * H * 4
# + 2 * H * H * 4

# %% [mistake] forgets the input weights
# - 3 * 2 * H * H * 4
# + 3 * H * H * 4

# %% [mistake] adds reading and operations
# - max(read, work)
# + read + work

# %% [mistake] forgets that a launched step reads U
# - max(read, work)
# + work

# %% [mistake] keeps weights that do not fit
# - 4 * H * H <= device["registers"] and persistent < launched
# + persistent < launched

# %% [mistake] keeps weights wherever they fit
# -  and persistent < launched
# +

# %% [mistake] counts weights in the registers as numbers, not bytes
# - stays = 4 * H * H
# + stays = H * H

# %% [mistake] refuses what fills the registers exactly
# - <= device["registers"]
# + < device["registers"]

# %% [mistake] forgets the launch
# - device["launch"] + max(read, work)
# + max(read, work)

# %% [mistake] forgets the barrier
# - device["barrier"] + work
# + work

# %% [mistake] counts a multiply-add as one operation
# - work = 2 * B * H * H
# + work = B * H * H

# %% [mistake] does the operations of one sequence
# - work = 2 * B * H * H
# + work = 2 * H * H

# %% [right]
def choose_minibatch(T, H, layers, device):
    def needed(sequences):
        return layers * 4 * (2 * T * sequences * H + 6 * H**2)

    B = 1
    while needed(2 * B) <= device["memory"]:
        B *= 2
    step = B
    while step:
        if needed(B + step) <= device["memory"]:
            B += step
        step //= 2
    microseconds = H**2 * 2e-6 * B / device["peak"]
    ways = [(device["launch"] + max(microseconds, 4e-3 * H**2 / device["bandwidth"]), False)]
    if 4 * H**2 <= device["registers"]:
        ways.append((device["barrier"] + microseconds, True))
    fastest, stays = min(ways)
    return B, stays, fastest

# %% [right]
def choose_minibatch(T, H, layers, device):
    free = device["memory"] - layers * 6 * H * H * 4
    sequences = free // (layers * 2 * T * H * 4)
    seconds = 2 * sequences * H * H / (device["peak"] * 1e12)
    launch = device["launch"] * 1e-6 + np.maximum(seconds, 4 * H * H / (device["bandwidth"] * 1e9))
    stay = np.where(4 * H * H > device["registers"], np.inf, device["barrier"] * 1e-6 + seconds)
    return sequences, bool(stay < launch), 1e6 * float(min(launch, stay))

# %% [variant] running_means=2..9
# - each weight also has a gradient and a momentum.
# + each weight also has a gradient and {running_means} running means of the optimiser.
# - 24·H² bytes for weights, gradients and momenta
# + {8*running_means+16}·H² bytes for weights, gradients and running means
# - memory // layers - 24 * H * H
# + memory // layers - {8*running_means+16} * H * H
# - 3 * 2 * H * H * 4
# + {running_means+2} * 2 * H * H * 4
# - 3 * H * H * 4
# + {running_means+2} * H * H * 4
# - 6 * H**2
# + {2*running_means+4} * H**2
# - layers * 6 * H * H * 4
# + layers * {2*running_means+4} * H * H * 4
