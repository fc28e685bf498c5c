"""The adding problem: remember two marked numbers until the end, then give their sum.

Hochreiter and Schmidhuber's test of memory (1997), with numbers between 0 and 1 as in Le, Jaitly and Hinton
(2015). One mark stands in the first half of the sequence, one in the second. Only the last step counts
for. Without memory the best answer is always 1; the squared error is then the variance of the
sum, 1/6.
"""

from functools import partial

import numpy as np

from rnnlab.training.losses import mse
from rnnlab.training.task import SPLITS, Batch, Task, constant, drawn, weight_from, whole


def task(steps: int = 20) -> Task:
    """Sequences of (number, mark); I = 2, O = 1."""
    whole("steps", steps, at_least=2)
    return Task(
        name="adding",
        question=f"The sum of two marked numbers among {steps}, due at the last step.",
        steps=steps,
        input_size=2,
        output_size=1,
        loss=mse,
        draw=partial(_draw, steps=steps),
        guess=partial(constant, value=1),
        guess_is="1 for every sum",
        paint=partial(drawn, "sums"),
    )


def _draw(rng, B: int, split: str, steps: int) -> Batch:
    # the split is part of the seed: the same generator never gives one sequence to both splits
    seed = rng.integers(0, 2**32, 4)
    rng = np.random.default_rng([SPLITS.index(split), *seed])
    x = np.zeros((steps, B, 2), dtype=np.float32)
    numbers = x[..., 0]
    marks = x[..., 1]
    numbers[...] = rng.random((steps, B))
    middle = steps // 2
    first = rng.integers(0, middle, B)
    second = rng.integers(middle, steps, B)
    sequence = np.arange(B)
    marks[first, sequence] = 1
    marks[second, sequence] = 1
    target = np.zeros((steps, B, 1), dtype=np.float32)
    target[-1, :, 0] = (numbers * marks).sum(0)
    return Batch(x, target, weight_from(steps - 1, steps))
