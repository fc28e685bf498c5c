"""Frame differences: a camera pans over a photograph, and the network says what changed since the last frame.

Every frame is an array of real pixels. The camera keeps its direction and speed for the whole sequence, but
each sequence has its own. The network sees one frame at a time: to say what changed it must carry the last
frame along.
"""

from functools import partial

import numpy as np

from rnnlab.tasks.photographs import brightness
from rnnlab.training.losses import mse
from rnnlab.training.task import Batch, Task, constant, drawn, weight_from, whole

SHRINK = 4  # photograph pixels per frame pixel and direction: at full size two neighbours hardly differ


def task(size: int = 8, steps: int = 10, speed: int = 2) -> Task:
    """Frames of size × size pixels, I = O = size²; the camera moves up to `speed` pixels a step each way."""
    whole("speed", speed, at_least=1)
    whole("steps", steps, at_least=2)
    room = min(brightness("train", SHRINK).shape)
    whole("size", size, at_least=2, at_most=room)
    swept = size + speed * (steps - 1)
    if swept > room:
        raise ValueError(
            f"the camera leaves the photograph: size + speed · (steps - 1) is {swept} pixels, "
            f"expected at most {room}: choose fewer steps, less speed, or a smaller frame"
        )
    return Task(
        name="frame_differences",
        question="What changed between two frames of a camera panning over a photograph never trained on.",
        steps=steps,
        input_size=size**2,
        output_size=size**2,
        loss=mse,
        draw=partial(_draw, size=size, steps=steps, speed=speed),
        guess=partial(constant, value=0),
        guess_is="that nothing changed",
        paint=partial(drawn, "frames", input_is="frame", target_is="what changed", signed=True),
    )


def _draw(rng, B: int, split: str, size: int, steps: int, speed: int) -> Batch:
    photograph = brightness(split, SHRINK)
    path = _paths(rng, B, steps, speed, np.array(photograph.shape) - size)
    row, column = (path[..., axis, np.newaxis, np.newaxis] for axis in (0, 1))  # [T,B,1,1]
    pixel = np.arange(size)
    x = photograph[row + pixel[:, np.newaxis], column + pixel].reshape(steps, B, size**2)
    target = np.zeros_like(x)
    target[1:] = x[1:] - x[:-1]
    return Batch(x, target, weight_from(1, steps))  # the first frame has no frame before it


def _paths(rng, B: int, steps: int, speed: int, last: np.ndarray) -> np.ndarray:
    """Corners [T,B,2] of the frames, in 0..last; every sequence has a velocity of its own, never (0, 0)."""
    directions = np.array(
        [(a, b) for a in range(-speed, speed + 1) for b in range(-speed, speed + 1) if a or b]
    )
    velocity = directions[rng.integers(len(directions), size=B)]  # [B,2]
    travel = velocity * (steps - 1)
    # the lowest and the highest corner at which both ends of the path still lie within the photograph
    start = rng.integers(np.maximum(0, -travel), last - np.maximum(0, travel) + 1)
    return start + velocity * np.arange(steps)[:, np.newaxis, np.newaxis]
