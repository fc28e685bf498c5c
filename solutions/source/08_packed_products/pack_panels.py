# %% [markdown]
# ## Exercise: pack_panels
#
# <!-- exercise: pack_panels -->
#
# The lesson packs weights [K,N]. An LSTM wants more: the gates of a unit in the same tile, so that its state can be computed while the sums are still in registers. PyTorch stores the weights as `weight [gates·H, K]`: H rows of the first gate, then H rows of the second one, and so on.
#
# Return panels [P, K, gates, columns] of the same dtype, where `panels[p, k, g, j]` is the weight of gate g, unit p·columns + j and term k. P is the smallest number of panels with room for all units. Where there is no such unit, the panel holds 0.


# %%
def pack_panels(weight, gates, columns):
    """Panels [P,K,gates,columns] from weight [gates·H,K]."""
    ### BEGIN SOLUTION
    rows, K = weight.shape
    H = rows // gates
    panels = np.zeros((-(-H // columns), K, gates, columns), weight.dtype)
    for g in range(gates):
        for j in range(H):
            panels[j // columns, :, g, j % columns] = weight[g * H + j]
    return panels
    ### END SOLUTION


# %%
check(pack_panels)

# %% [facts]
# points: 2
# difficulty: 3
# minutes: 20
# lines: 6

# %% [hint]
# Follow one row of `weight`: which gate and which unit is it? That unit then has a panel, and a place in the panel.
# Nothing is added or multiplied here.

# %% [hint]
# Row r of `weight` belongs to gate r // H and unit r % H, with H = rows // gates. Unit j goes to panel j // columns and
# place j % columns. Begin with zeros, and the incomplete panel needs no case of its own.

# %% [hint]
# `panels = np.zeros((-(-H // columns), K, gates, columns), weight.dtype)`; then, for each gate g and unit j,
# `panels[j // columns, :, g, j % columns] = weight[g * H + j]`.

# %% [mistake] leaves out the units of the incomplete panel
# - np.zeros((-(-H // columns), K, gates, columns), weight.dtype)
# -     for g in range(gates):
# -         for j in range(H):
# + np.zeros((H // columns, K, gates, columns), weight.dtype)
# +     for g in range(gates):
# +         for j in range(H - H % columns):

# %% [mistake] adds a panel where none is needed
# - -(-H // columns), K
# + H // columns + 1, K

# %% [mistake] reads the gates as if they alternated
# - weight[g * H + j]
# + weight[j * gates + g]

# %% [mistake] fills the last panel with the next gate
# -         for j in range(H):
# -             panels[j // columns, :, g, j % columns] = weight[g * H + j]
# +         for j in range(min(len(panels) * columns, rows - g * H)):
# +             panels[j // columns, :, g, j % columns] = weight[g * H + j]

# %% [mistake] distributes units over panels in turn
# - panels[j // columns, :, g, j % columns]
# + panels[j % len(panels), :, g, j // len(panels)]

# %% [mistake] puts the padding in front
# - panels[j // columns, :, g, j % columns]
# + panels[(j + -H % columns) // columns, :, g, (j + -H % columns) % columns]

# %% [mistake] moves the gates behind the units
# - return panels
# + return panels.swapaxes(2, 3)

# %% [mistake] leaves the terms innermost, as they are stored
# - return panels
# + return panels.transpose(0, 2, 3, 1)

# %% [mistake] returns the wrong dtype
# - , weight.dtype)
# + )

# %% [right]
def pack_panels(weight, gates, columns):
    by_gate = weight.reshape(gates, -1, weight.shape[1])
    more = -by_gate.shape[1] % columns
    padded = np.pad(by_gate, ((0, 0), (0, more), (0, 0)))
    return padded.reshape(gates, -1, columns, weight.shape[1]).transpose(1, 3, 0, 2)

# %% [right]
def pack_panels(weight, gates, columns):
    H = len(weight) // gates
    panels = []
    for first in range(0, H, columns):
        panel = np.zeros((weight.shape[1], gates, columns), weight.dtype)
        for g, own in enumerate(np.split(weight, gates)):
            part = own[first : first + columns].T
            panel[:, g, : part.shape[1]] = part
        panels.append(panel)
    return np.stack(panels)
