"""The honest answer, in a file of its own: some attacks read it."""

# %% [attack] honest
# No attack: the right answer, which every attack must leave as right as it was.
# deserves: passed
import numpy as np

def running_sum(x):
    return np.cumsum(x, axis=0)
