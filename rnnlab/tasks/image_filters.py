"""Image filters: the network reads a row of a photograph pixel by pixel and answers with the filtered row.

The first problem of the CMU project (Han and Uboweja, 2016). A filter along a row weighs the newest pixel
and the two before it, so the network must remember two pixels and no more. At step t it has just seen the
right neighbour of the pixel it answers for: the answer lags by one.

On a single row Sobel's and Prewitt's filters are the same difference. With rows=3 the network sees three
rows at once, and the filters differ, as they do on the whole picture.
"""

from functools import partial

import numpy as np

from rnnlab.tasks.photographs import brightness
from rnnlab.training.losses import mse
from rnnlab.training.task import Batch, Task, chosen, constant, drawn, weight_from, whole

# kernel [rows,3]; the last axis runs backwards in time: the newest pixel first
KERNELS = {
    ("sobel", 1): ((1, 0, -1),),
    ("prewitt", 1): ((1, 0, -1),),
    ("laplacian", 1): ((1, -2, 1),),
    ("sobel", 3): ((1, 0, -1), (2, 0, -2), (1, 0, -1)),
    ("prewitt", 3): ((1, 0, -1), (1, 0, -1), (1, 0, -1)),
    ("laplacian", 3): ((0, 1, 0), (1, -4, 1), (0, 1, 0)),
}
FILTERS = ("sobel", "laplacian", "prewitt")
REACH = 3  # pixels along the row that a kernel weighs


def task(filter: str = "sobel", steps: int = 32, rows: int = 1) -> Task:
    """Rows of china.jpg to learn from, rows of flower.jpg to be judged on; I = rows, O = 1."""
    kernel = kernel_of(filter, rows)
    whole("steps", steps, at_least=REACH, at_most=brightness("train").shape[1])
    return Task(
        name="image_filters",
        question=f"The {filter} filter along the rows of a photograph never trained on.",
        steps=steps,
        input_size=rows,
        output_size=1,
        loss=mse,
        draw=partial(_draw, kernel=kernel, steps=steps),
        guess=partial(_mean_answer, kernel=kernel),
        guess_is="the mean answer of the training photograph at every pixel",
        paint=partial(drawn, "row_and_answer", skip=REACH - 1),
    )


def kernel_of(filter: str, rows: int = 1) -> np.ndarray:
    """The filter's kernel [rows,3], newest pixel first."""
    chosen("filter", filter, FILTERS)
    chosen("rows", rows, (1, 3))
    return np.array(KERNELS[filter, rows], dtype=np.float32)


def filtered(x: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """Answers [T,B,1] to pixels x [T,B,rows]: kernel[:,0] · x[t] + kernel[:,1] · x[t-1] + …

    Pixels before the row count as 0.
    """
    T, B, _ = x.shape
    answer = np.zeros((T, B, 1), dtype=x.dtype)
    for lag in range(REACH):
        earlier = x[: T - lag]
        answer[lag:, :, 0] += earlier @ kernel[:, lag]
    return answer


def whole_photograph(filter: str = "sobel", rows: int = 1, split: str = "test") -> Batch:
    """A whole photograph as one batch x [T,B,I]: T = its columns, B = its rows (less rows - 1)."""
    kernel = kernel_of(filter, rows)
    chosen("split", split, ("train", "test"))
    return _whole(split, kernel)


def _whole(split: str, kernel: np.ndarray) -> Batch:
    photograph = brightness(split)
    rows, columns = photograph.shape
    lines = np.arange(rows - len(kernel) + 1)
    return _batch(photograph, lines, np.zeros_like(lines), columns, kernel)


def _draw(rng, B: int, split: str, kernel: np.ndarray, steps: int) -> Batch:
    photograph = brightness(split)
    rows, columns = photograph.shape
    lines = rng.integers(0, rows - len(kernel) + 1, B)
    starts = rng.integers(0, columns - steps + 1, B)
    return _batch(photograph, lines, starts, steps, kernel)


def _batch(photograph, lines, starts, steps: int, kernel: np.ndarray) -> Batch:
    """One sequence per line and start [B]."""
    column = starts + np.arange(steps)[:, np.newaxis]  # [T,B]
    height = len(kernel)
    rows = [photograph[lines + row, column] for row in range(height)]
    x = np.stack(rows, axis=-1)
    # before step REACH - 1 the kernel hangs over the start of the row
    weight = weight_from(REACH - 1, steps)
    return Batch(x, filtered(x, kernel), weight)


def _mean_answer(batch: Batch, kernel: np.ndarray) -> np.ndarray:
    answers = _whole("train", kernel).target[REACH - 1 :]
    return constant(batch, answers.mean(dtype=np.float64))
