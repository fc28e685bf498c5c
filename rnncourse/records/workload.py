"""What the records of networks hold: the sizes that were measured, and the result of one contestant.

A training step is the forward pass, the gradient of the inputs and the gradients of all parameters.  Its
arithmetic is counted by `rnnlab.network.forward_flops`: products only, a multiply and an add are two.
"""

import statistics
from dataclasses import dataclass, field
from typing import NamedTuple

from rnnlab.network import Network, forward_flops

PARTS = ("forward", "backward", "step")  # the backward pass gives the gradient of x and of all parameters
CELLS = ("rnn_tanh", "gru", "lstm")
SHAPES = (  # T, B, I, H of the CPU's benchmark
    (100, 1, 64, 64),
    (100, 16, 64, 128),
    (100, 32, 128, 256),
    (100, 64, 256, 256),
    (50, 64, 512, 512),
    (20, 64, 1024, 1024),
    (1024, 1, 1, 64),
)


class Workload(NamedTuple):
    """T steps, B sequences, I inputs, H hidden units, L layers of one cell."""

    cell: str
    T: int
    B: int
    I: int
    H: int
    L: int = 1

    def __str__(self) -> str:
        layers = f", {self.L} layers" if self.L > 1 else ""
        return f"{self.cell} {self.T}×{self.B}×{self.I}×{self.H}{layers}"

    def flops(self, part: str = "step") -> int:
        """FLOP of the products: a step has three times those of its forward pass."""
        network = Network.create(self.cell, self.I, self.H, layers=self.L)
        forward = forward_flops(network, self.T, self.B)
        return forward * {"forward": 1, "backward": 2, "step": 3}[part]


@dataclass
class Measurement:
    """The measurement of one contestant on one workload."""

    name: str
    dtype: str
    seconds: dict[str, list[float]] = field(default_factory=dict)  # of each part, each round's mean
    error: float = 0.0  # in units of what is tolerated
    same_bits: bool | None = None  # did two training steps give the same bits
    launches: dict[str, int | None] = field(default_factory=dict)
    bytes: int = 0
    host: float | None = None  # seconds in which the host issues a step, where that is known
    floor: float | None = None  # of a forward step, microseconds, where latencies were measured
    left_out: str = ""  # the reason, if it has no times
    checked: bool = False  # were its numbers compared with the reference

    def median(self, part: str) -> float | None:
        """Seconds of a part."""
        rounds = self.seconds.get(part)
        return statistics.median(rounds) if rounds else None

    def exclude(self, reason: str) -> None:
        """Drop all times and keep the reason: times of a contestant that failed are not measurements."""
        self.left_out = reason
        self.seconds = {}
        self.host = None
