# %% [markdown]
# # 17 · Many machines: exercises
#
# A sum around a ring, the mean over unequal shares, the moment at which a gradient may be sent, a prediction that is held against published runs, and a program that survives the loss of ranks.
# Replace each `raise NotImplementedError` by your answer, run the cell, then the `check` below it.
# Stuck? `hint(ring_allreduce)` shows the first hint, and the next one when you call it again.

# %%
import numpy as np

from rnnlab import check, hint, progress, use

# %% [exercise] ring_allreduce

# %% [exercise] average_gradients

# %% [markdown]
# Your function on four ranks with 3, 1, 0 and 2 sequences, whose gradients are 10, 20, none and 30. The ranks are real where MPI is installed: then the function travels as text, so it may use no names but its own and `np`.

# %%
import inspect

from ranks import simulated_ranks
from ranks.call import call_on_ranks
from ranks.launch import why_not

own = use(average_gradients)


def on_a_rank(comm, gradient, sequences):
    return own(comm.allreduce, [gradient], int(sequences))[0]


numbers = [(3, 10.0), (1, 20.0), (0, np.nan), (2, 30.0)]
shares = [{"gradient": np.full(2, value), "sequences": np.array(count)} for count, value in numbers]
if why_not() is None:
    program = f"{inspect.getsource(own)}\nown = {own.__name__}\n{inspect.getsource(on_a_rank)}"
    means = call_on_ranks(program, shares, name="on_a_rank")
else:
    means = simulated_ranks.call(on_a_rank, shares)
print("real ranks:" if why_not() is None else "simulated ranks:", *means, f"right: {110 / 6:.8f}")

# %% [exercise] gradient_ready_times

# %% [exercise] predict_scaling

# %%
from rnncourse.scaling import published

points = published.find("ring all-reduce, 40 GPUs").points
gpus, ms = np.array([[point.gpus, point.seconds] for point in points]).T
errors = use(predict_scaling)(gpus[::2], ms[::2], gpus[1::2]) / ms[1::2] - 1
print(f"fitted to {len(gpus[::2])} runs, judged by {len(errors)} others: "
      f"{(np.abs(errors) < 0.1).sum()} within 10 %, the worst {np.abs(errors).max():.0%}")

# %% [exercise] survive

# %%
progress("17_scaling_out")
