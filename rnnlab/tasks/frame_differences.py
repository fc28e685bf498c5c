"""Frame differences: a camera pans over a photograph, and the network says what changed since the last frame.

Every frame is an array of real pixels. The camera keeps its direction and speed for the whole sequence, but
each sequence has its own. The network sees one frame at a time: to say what changed it must carry the last
frame along.
"""

from functools import partial
from itertools import product

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
    last_corner = np.array(photograph.shape) - size
    path = _paths(rng, B, steps, speed, last_corner)
    top = path[..., 0, np.newaxis, np.newaxis]  # [T,B,1,1]
    left = path[..., 1, np.newaxis, np.newaxis]
    pixel = np.arange(size)
    rows = top + pixel[:, np.newaxis]  # [T,B,size,1]
    columns = left + pixel  # [T,B,1,size]
    frames = photograph[rows, columns]  # [T,B,size,size]
    x = frames.reshape(steps, B, size**2)
    target = np.zeros_like(x)
    target[1:] = x[1:] - x[:-1]
    return Batch(x, target, weight_from(1, steps))  # the first frame has no frame before it


def _paths(rng, B: int, steps: int, speed: int, last: np.ndarray) -> np.ndarray:
    """Corners [T,B,2] of the frames, in 0..last; every sequence has a velocity of its own, never (0, 0)."""
    speeds = range(-speed, speed + 1)
    directions = np.array([way for way in product(speeds, speeds) if any(way)])
    chosen = rng.integers(len(directions), size=B)
    velocity = directions[chosen]  # [B,2]
    travel = velocity * (steps - 1)
    # the lowest and the highest corner at which both ends of the path still lie within the photograph
    lowest = np.maximum(0, -travel)
    highest = last - np.maximum(0, travel)
    start = rng.integers(lowest, highest + 1)
    step = np.arange(steps)[:, np.newaxis, np.newaxis]
    return start + velocity * step
