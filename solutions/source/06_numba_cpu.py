# %% [markdown]
# # 06 · One pass over memory: exercises
#
# A GRU's gates in one loop, and a tanh of multiplications. Write plain Python, without `@njit`: the check calls it with arrays and numbers that watch what you do. Numba compiles the same text further down.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(fused_gates)` shows the first hint, and the next one when you call it again.

# %%
import numpy as np

from rnnlab import check, hint, progress, use

# %% [exercise] fused_gates

# %% [markdown]
# The same text, compiled: Numba needs nothing changed. The first call compiles, so it is not timed.

# %% needs a compiler
from numba import njit

from rnncourse.lab.turns import take_turns

H = 1024
rng = np.random.default_rng(0)
g, u, h = rng.normal(size=3 * H), rng.normal(size=3 * H), rng.normal(size=H)
in_python = use(fused_gates)
compiled = njit(in_python)
ways = {"in Python": lambda: in_python(g, u, h), "compiled": lambda: compiled(g, u, h)}
times = take_turns(ways, 3)
for name, timing in times.items():
    print(f"{name:10} {1e6 * timing.median:8.1f} us for {H} units")

# %% [exercise] fast_tanh

# %% [markdown]
# Compiled for 65,536 numbers, with Python's rule for a division by zero, which is an error, and with NumPy's. The results are the same, because no divisor is zero. How much do the times differ?

# %% needs a compiler
from rnncourse.lambert import lambert

ODD, EVEN = (tuple(np.float32(c) for c in part) for part in lambert(13))
numbers = rng.normal(size=65536).astype("float32")
own_tanh = use(fast_tanh)


def over_all(rule):
    """A compiled loop over an array, with that rule for divisions."""
    compiled_tanh = njit(error_model=rule)(own_tanh)

    @njit(error_model=rule)
    def run(numbers):
        results = np.empty_like(numbers)
        for j in range(numbers.size):
            results[j] = compiled_tanh(numbers[j], ODD, EVEN, np.float32(9.02))
        return results

    return lambda: run(numbers)


for rule, timing in take_turns({rule: over_all(rule) for rule in ("python", "numpy")}, 5).items():
    print(f"error_model={rule!r:9} {1e9 * timing.median / numbers.size:5.2f} ns a number")

# %%
progress("06_numba_cpu")
