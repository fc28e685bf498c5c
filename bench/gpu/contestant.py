"""What a contestant on a GPU offers to the measurement (measure.py)."""

from typing import Protocol

import numpy as np


class Contestant(Protocol):
    """An implementation that runs a problem on the GPU; its module's `contestant(problem, name)` returns it.

    Two attributes are optional.  own_parts: further parts that it can time alone, as the recurrent kernel
    without the input product ("kernel").  host_seconds(): how long the host issues one step, in seconds.
    """

    bytes: int  # of the GPU's memory, at its highest in a training step
    launches: dict[str, int | None]  # of each part, where they are known

    def seconds(self, part: str, repeats: int) -> float:
        """The mean time of a part that runs `repeats` times, one after another, between two CUDA events."""

    def results(self) -> dict[str, np.ndarray]:
        """y [T,B,H], dx [T,B,I] and the gradients that the last training step left, in float32."""
