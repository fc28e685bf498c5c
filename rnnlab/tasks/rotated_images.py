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
    _, count, _ = digits.shape
    first, last = (0, TRAINED_ON) if split == "train" else (TRAINED_ON, count)
    chosen = rng.integers(first, last, B)
    views = digits[:, chosen]  # [T+1,B,64]
    target = views[1:].copy()
    return Batch(views[:-1], target, weight_from(0, steps))


@cache
def rotated(degrees: int, steps: int) -> np.ndarray:
    """All digits rotated by 0, 1, … steps times `degrees` [T+1,1797,64].

    A view is rotated from the original, not from the view before: blur does not add up.
    """
    ink = np.load(DATA / "digits.npz")["images"]  # [1797,8,8], 0 to 16
    digits = (ink / 16 - 0.5).astype(np.float32)
    angles = [degrees * step for step in range(steps + 1)]
    views = np.stack([rotate(digits, angle) for angle in angles])
    views = views.reshape(len(angles), len(digits), SIDE**2)
    views.setflags(write=False)  # one array for all callers: it must not change
    return views


def rotate(pictures: np.ndarray, degrees: float) -> np.ndarray:
    """Pictures [N,SIDE,SIDE] rotated about their centre: bilinear between pixels, paper beyond the edges."""
    angle = np.deg2rad(degrees)
    cos = np.cos(angle)
    sin = np.sin(angle)
    centre = (SIDE - 1) / 2
    row, column = np.indices((SIDE, SIDE)) - centre
    source_row = cos * row + sin * column
    source_column = cos * column - sin * row
    source = np.stack([source_row, source_column]) + centre  # [2,SIDE,SIDE]
    distance = abs(source - centre)
    is_inside = (distance < centre + 1e-9).all(0)  # at 90° an edge lies on an edge
    corner = source.clip(0, SIDE - 2).astype(int)
    (below, right) = source - corner
    (r, c) = corner
    upper_left = pictures[:, r, c]
    upper_right = pictures[:, r, c + 1]
    lower_left = pictures[:, r + 1, c]
    lower_right = pictures[:, r + 1, c + 1]
    upper = (1 - right) * upper_left + right * upper_right
    lower = (1 - right) * lower_left + right * lower_right
    rotated_pictures = (1 - below) * upper + below * lower
    return np.where(is_inside, rotated_pictures, -0.5).astype(pictures.dtype)
