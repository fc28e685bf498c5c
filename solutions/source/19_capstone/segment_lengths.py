# %% [markdown]
# ## Exercise: segment_lengths
#
# <!-- exercise: segment_lengths -->
#
# A residual RNN has `layers` layers, and its memory holds `memory` arrays [T,B,H] of activations. You cut the layers into segments. The forward pass saves the input of each segment, one array; that of the lowest segment is the data, which lies in memory as well.
#
# The backward pass begins with the top segment. While it computes the gradient of a segment, each layer of this segment needs 2 arrays in memory, its input and its states h. Beside them lie the inputs of all segments below, one array each. Arrays of the segments above are free again. So segment number i, counted from 0 at the bottom, needs its layers' arrays and i inputs. In the drawing of the lesson, segment 2 of 3 layers needs 2 · 3 + 2 = 8.
#
# The activations of the top segment are there when the forward pass ends. All other layers are **recomputed**: they run forward twice. Return the lengths of the segments, the lowest first, such that everything fits and the fewest layers are recomputed. Some lengths always fit.


# %%
def segment_lengths(layers, memory):
    """Layers in each segment, the lowest first, with the fewest layers
    recomputed."""
    ### BEGIN SOLUTION
    lengths = []
    while sum(lengths) < layers:
        room = memory - len(lengths)
        lengths.append(room // 2)
    lengths[0] -= sum(lengths) - layers
    return lengths
    ### END SOLUTION


# %%
check(segment_lengths)

# %% [properties]
# points: 3
# difficulty: 3
# minutes: 20
# lines: 6

# %% [hint]
# Only the top segment is not recomputed, so it should be as long as possible. How many arrays are left for it if there
# are k segments below it? And what does a further segment cost it?

# %% [hint]
# Segment number i, from 0 at the bottom, may have (memory − i) / 2 layers, rounded down, because the inputs of i
# segments lie beside it. Take the fewest segments that hold all layers. If they hold too many, which one should be shorter?

# %% [hint]
# Append `(memory - len(lengths)) // 2` until the sum is at least `layers`; then take what is too much away from
# `lengths[0]`, so that the top segment stays full.

# %% [mistake] leaves the top segment what remains
# - lengths[0] -= sum(lengths) - layers
# + lengths[-1] -= sum(lengths) - layers

# %% [mistake] forgets the saved inputs of the segments
# - memory - len(lengths)
# + memory

# %% [mistake] counts the input of a segment twice
# - memory - len(lengths)
# + memory - len(lengths) - 1

# %% [mistake] gives each layer one array
# - room // 2
# + room

# %% [mistake] lists the top segment first
# - return lengths
# + return lengths[::-1]

# %% [mistake] saves everything in one segment
# - return lengths
# + return [layers]

# %% [mistake] recomputes every layer from its own input
# - return lengths
# + return [1] * layers

# %% [mistake] returns segments for more layers than there are
# - lengths[0] -= sum(lengths) - layers
# + lengths[0] -= 0

# %% [right]
def segment_lengths(layers, memory):
    for count in range(1, layers + 1):
        most = [(memory - below) // 2 for below in range(count)]
        if sum(most) >= layers:
            top = min(layers, most[-1])
            rest, lower = layers - top, []
            for room in most[:-1]:
                take = min(room, rest - (count - 2 - len(lower)))
                lower.append(take)
                rest -= take
            return lower + [top]

# %% [right]
def segment_lengths(layers, memory):
    def lowest_first(left, below):
        room = (memory - below) // 2
        if left <= room:
            return [left]
        return [room, *lowest_first(left - room, below + 1)]

    lengths = lowest_first(layers, 0)
    spare = (memory - len(lengths) + 1) // 2 - lengths[-1]
    for k in range(len(lengths) - 1):
        moved = min(spare, lengths[k] - 1)
        lengths[k], lengths[-1], spare = lengths[k] - moved, lengths[-1] + moved, spare - moved
    return tuple(lengths)

# %% [variant] arrays=3..10
# - needs 2 arrays in memory, its input and its states h.
# + needs {arrays} arrays in memory.
# - segment 2 of 3 layers needs 2 · 3 + 2 = 8.
# + segment 2 of 3 layers needs 2 · 3 + 2 = 8, with 2 arrays a layer.
# - (memory − i) / 2
# + (memory − i) / {arrays}
# - (memory - len(lengths)) // 2
# + (memory - len(lengths)) // {arrays}
# - room // 2
# + room // {arrays}
# - (memory - below) // 2
# + (memory - below) // {arrays}
# - (memory - len(lengths) + 1) // 2
# + (memory - len(lengths) + 1) // {arrays}
