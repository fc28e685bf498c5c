"""The five GRU variants side by side, forward and backward, as speed relative to the first.

Published: Engel (SVAIL) 2016, TitanX (Maxwell) with boost off, minibatch 128, read off a figure (±0.003).
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from rnncourse.lab.turns import Timing, take_turns
from rnnlab import reference
from rnnlab.compare import TOLERANCES, relative_error
from rnnlab.ladder import RUNGS, Rung
from rnnlab.network import Network

VARIANTS = tuple(rung for rung in RUNGS if rung.name.startswith("gru_"))
PUBLISHED = {  # hidden size -> speed of V1, V2, V3, V4 relative to V1
    128: (1, 1.155, 1.288, 1.292),
    256: (1, 1.179, 1.292, 1.311),
    512: (1, 1.149, 1.271, 1.334),
    1024: (1, 1.153, 1.274, 1.395),
    2048: (1, 1.035, 1.114, 1.195),
}
GATES = 3
LONGEST = 60.0  # seconds for one size: NumPy in a browser has no BLAS, and 1024 units would take half an hour


@dataclass(frozen=True)
class Case:
    """Timings at one size, of forward and backward together, for every variant in their order."""

    hidden_size: int
    minibatch: int
    T: int
    timings: dict[str, Timing]

    def relative_speed(self) -> list[float]:
        """Median time of V1 over that of each variant."""
        first, *others = self._medians()
        return [1.0, *(first / median for median in others)]

    def gflops(self) -> list[float]:
        """Rate of each variant, counting the products all five must do: recomputed ones count nothing."""
        H = self.hidden_size
        steps = self.T * self.minibatch
        work = 3 * 2 * GATES * H * (H + H) * steps
        return [1e-9 * work / median for median in self._medians()]

    def _medians(self) -> list[float]:
        return [self.timings[rung.name].median for rung in VARIANTS]


def measure(
    hidden_sizes: Iterable[int],
    minibatches: Iterable[int],
    T: int = 10,
    rounds: int = 5,
    tell: Callable[[Case], None] = lambda case: None,
) -> list[Case]:
    """Forward and backward of one layer with as many inputs as units, float32, all variants in one run.

    Before a clock starts, each variant's gradients are compared with the reference's in float64, on a short
    sequence.  `tell` is called with every case when it is done.  No size follows one that took more than
    LONGEST seconds.  Raises ValueError if a variant is wrong.
    """
    cases = []
    for H in hidden_sizes:
        begin = time.perf_counter()
        for B in minibatches:
            for rung in VARIANTS:
                _refuse_wrong_numbers(rung, min(H, 128), min(B, 8))
            runs = {rung.name: _training_step(rung, T, B, H) for rung in VARIANTS}
            timings = take_turns(runs, rounds)
            case = Case(H, B, T, timings)
            cases.append(case)
            tell(case)
        seconds = time.perf_counter() - begin
        if seconds > LONGEST:
            break
    return cases


def _problem(rung: Rung, T: int, B: int, H: int):
    smallest = Network.create("gru", 1, 1, reset="before")
    reset = "after" if rung.refuses(smallest, 1, 1) else "before"
    network = Network.create("gru", H, H, reset=reset, seed=H)
    draws = np.random.default_rng(H).normal(size=(2, T, B, H))
    x, dy = draws.astype("float32")
    return network, x, dy


def _training_step(rung: Rung, T: int, B: int, H: int) -> Callable[[], object]:
    network, x, dy = _problem(rung, T, B, H)
    state = network.zero_state(B)
    module = rung.module  # found before the clock runs

    def step():
        _, _, saved = module.forward(network, x, state)
        return module.backward(network, saved, dy, None)

    return step


def _refuse_wrong_numbers(rung: Rung, H: int, B: int) -> None:
    network, x, dy = _problem(rung, 3, B, H)
    _, _, saved = rung.module.forward(network, x, None)
    dx, _, gradients = rung.module.backward(network, saved, dy, None)
    exact = network.astype("float64")
    _, _, saved = reference.forward(exact, x.astype("float64"))
    exact_dx, _, exact_gradients = reference.backward(exact, saved, dy.astype("float64"))
    errors = [relative_error(dx, exact_dx)]
    for name, exact_gradient in exact_gradients.items():
        errors.append(relative_error(gradients[name], exact_gradient))
    largest = max(errors)
    if largest > TOLERANCES["float32"].gradient:
        raise ValueError(f"{rung.name} is wrong by {largest:.1e}: fix it before timing it")
