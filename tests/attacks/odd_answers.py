"""Answers that are data or text, and that whoever judges them reads otherwise than the exercise means them."""

import numpy as np

# %% [attack] index_that_divides_like_python
# Rounds a quotient below zero as Python does, and not as C++ does.
def index_of_sums(pitch):
    return f"{pitch} * ((lane - 32) / 4 + 8 + 8 * (reg / 2)) + 2 * (lane % 4) + reg % 2"

# %% [attack] index_with_a_huge_shift
# Shifts by more bits than there is memory.
def index_of_sums(pitch):
    return f"(({pitch} << (1 << 45)) >> (1 << 45)) * (lane / 4 + 8 * (reg / 2)) + 2 * (lane % 4) + reg % 2"

# %% [attack] index_nested_without_end
# Is right within a hundred thousand parentheses.
def index_of_sums(pitch):
    deep = "(" * 100_000 + "lane" + ")" * 100_000
    return f"{pitch} * ({deep} / 4 + 8 * (reg / 2)) + 2 * (lane % 4) + reg % 2"

# %% [attack] index_with_python_code
# Returns a text that is code of Python.
def index_of_sums(pitch):
    return f"[lane for lane in [lane]][0] and __import__('os')._exit(0) or {pitch}"

# %% [attack] index_beyond_thirty_two_bits
# Is right only where numbers have as many bits as they need: in C++ a product runs over.
def index_of_sums(pitch):
    row = "(lane / 4 + 8 * (reg / 2))"
    return f"{pitch} * ({row} * 1000000007 / 1000000007) + 2 * (lane % 4) + reg % 2"

# %% [attack] segment_of_a_negative_length
# Takes layers back by a segment of negative length, so that less than nothing is recomputed.
def segment_lengths(layers, memory):
    top = max(1, memory // 2 - 1)
    return [layers - top, top]

# %% [attack] schedule_that_counts_layers_from_behind
# Names the layers of its launches by numbers below zero, as Python counts from behind.
def my_schedule(layers, steps, minibatch, hidden_size, memory):
    rows = [(0, layer - layers, 0, 0) for layer in range(layers)]
    for layer in reversed(range(layers)):
        rows += [(1, layer - layers, 0, 0), (2, layer - layers, 0, 1)]
    return steps, np.array(rows)

# %% [attack] schedule_of_blocks_without_steps
# Cuts the steps into blocks of zero steps.
def my_schedule(layers, steps, minibatch, hidden_size, memory):
    return 0, np.zeros((0, 4), int)

# %% [attack] schedule_of_half_a_step
# Cuts the steps into blocks of a small part of a step, which take no memory.
def my_schedule(layers, steps, minibatch, hidden_size, memory):
    rows = [(0, layer, 0, layer % 16) for layer in range(layers)]
    for layer in reversed(range(layers)):
        rows += [(1, layer, 0, layer % 16), (2, layer, 0, 16 + layer % 16)]
    return 1e-9, np.array(rows)

# %% [attack] schedule_of_a_million_launches
# Repeats one launch a million times, so that its judge has much to do.
def my_schedule(layers, steps, minibatch, hidden_size, memory):
    return steps, np.zeros((1_000_000, 4), int)

# %% [attack] schedule_of_huge_numbers
# Names blocks and streams by the largest whole numbers.
def my_schedule(layers, steps, minibatch, hidden_size, memory):
    return (1 << 62), np.full((layers, 4), (1 << 63) - 1, dtype=np.int64)

# %% [attack] streams_that_equal_nothing
# Calls each stream by a number that equals no number, so that nobody can say how many there are.
def assign_streams(operations, waits):
    return [float("nan")] * len(operations), [(a, b) for b, many in enumerate(waits) for a in many]

# %% [attack] transfers_in_one_step
# Numbers the steps of its transfers by fractions, all of which lie in the first step.
def ring_allreduce(ring):
    p = len(ring)
    transfers = []
    for step in range(2 * (p - 1)):
        for place, rank in enumerate(ring):
            chunk = ring[(place - step - 1) % p]
            transfers.append((step / (4 * p), rank, ring[(place + 1) % p], chunk))
    return transfers

# %% [attack] index_in_wide_letters
# Spells its variables in wide letters, which Python reads as the usual ones.
def index_of_sums(pitch):
    return f"{pitch} * (ｌａｎｅ / 4 + 8 * (reg / 2)) + 2 * (lane % 4) + reg % 2"
