"""Rotated images: the network sees a picture that rotates by 10° a step, and draws the next one.

The final workload of the CMU project (Han and Uboweja, 2016), with handwritten digits (data/README.md) in
place of CIFAR-10: input t is the picture rotated by 10·t°, the target is the same picture by
10·(t+1)°.
"""

from functools import cache, partial
from operator import attrgetter

import numpy as np

from rnnlab.tasks.photographs import DATA
from rnnlab.training.losses import mse
from rnnlab.training.task import Batch, Task, drawn, weight_from, whole

SIDE = 8  # pixels
TRAINED_ON = 1500  # of the 1797 digits; the rest is held out


def task(steps: int = 10, degrees: int = 10) -> Task:
    """Digits of 8 × 8 pixels, -0.5 paper to 0.5 ink; I = O = 64."""
    whole("steps", steps, at_least=1)
    whole("degrees", degrees, at_least=1, at_most=180)
    return Task(
        name="rotated_images",
        question=f"The next picture of a digit, never trained on, that turns by {degrees}° a step.",
        steps=steps,
        input_size=SIDE**2,
        output_size=SIDE**2,
        loss=mse,
        draw=partial(_draw, steps=steps, degrees=degrees),
        guess=attrgetter("x"),
        guess_is="that the picture stands still",
        paint=partial(drawn, "frames", input_is="picture now", target_is="picture next", signed=False),
    )


def _draw(rng, B: int, split: str, steps: int, degrees: int) -> Batch:
    digits = rotated(degrees, steps)
    first, last = {"train": (0, TRAINED_ON), "test": (TRAINED_ON, digits.shape[1])}[split]
    views = digits[:, rng.integers(first, last, B)]  # [T+1,B,64]
    return Batch(views[:-1], views[1:].copy(), weight_from(0, steps))


@cache
def rotated(degrees: int, steps: int) -> np.ndarray:
    """All digits rotated by 0, 1, … steps times `degrees` [T+1,1797,64].

    A view is rotated from the original, not from the view before: blur does not add up.
    """
    digits = (np.load(DATA / "digits.npz")["images"] / 16 - 0.5).astype(np.float32)  # [1797,8,8]
    views = np.stack([rotate(digits, degrees * step) for step in range(steps + 1)])
    views = views.reshape(steps + 1, len(digits), SIDE**2)
    views.setflags(write=False)  # one array for all callers: it must not change
    return views


def rotate(pictures: np.ndarray, degrees: float) -> np.ndarray:
    """Pictures [N,SIDE,SIDE] rotated about their centre: bilinear between pixels, paper beyond the edges."""
    cos = np.cos(np.deg2rad(degrees))
    sin = np.sin(np.deg2rad(degrees))
    centre = (SIDE - 1) / 2
    row, column = np.indices((SIDE, SIDE)) - centre
    source = np.stack([cos * row + sin * column, cos * column - sin * row]) + centre  # [2,SIDE,SIDE]
    inside = (abs(source - centre) < centre + 1e-9).all(0)  # at 90° an edge lies on an edge
    corner = source.clip(0, SIDE - 2).astype(int)
    (below, right) = source - corner
    (r, c) = corner
    upper = (1 - right) * pictures[:, r, c] + right * pictures[:, r, c + 1]
    lower = (1 - right) * pictures[:, r + 1, c] + right * pictures[:, r + 1, c + 1]
    return np.where(inside, (1 - below) * upper + below * lower, -0.5).astype(pictures.dtype)
