"""Contestants of a pretended GPU: right ones, and one for each way in which a contestant can fail late."""

import os
import signal
import time

import cupy
import numpy as np

os.environ["RNNLAB_CUDA"] = "simulator"  # what the pretended card's kernels run on, whatever the day sets

from pretended_card import PretendedCard

from bench.gpu import ladder


class Right:
    """Hands back what is wanted."""

    bytes, launches = 1000, {"forward": 3, "backward": 4, "step": 7}

    def __init__(self, problem, name):
        self.problem, self.turns = problem, 0

    def seconds(self, part, repeats):
        self.turns += part == "step"
        if self.turns > 3:  # two steps to be checked, one to be timed once: the clock runs
            self.fail()
        return {"forward": 0.001, "backward": 0.002, "step": 0.003}[part]

    def results(self):
        return {name: array.astype("float32") for name, array in self.problem.expected.items()}

    def fail(self):
        """What happens once the clock runs."""


class RaisesLate(Right):
    """Raises in its first timed turn, as a launch that is refused."""

    def fail(self):
        raise RuntimeError("cuLaunchKernel answers 701")


class WrongLate(Right):
    """Leaves wrong numbers once the clock runs."""

    def results(self):
        return {name: array + np.float32(self.turns > 3) for name, array in super().results().items()}


class BreaksTheContext(Right):
    """An illegal address: every later call in this process fails too."""

    def fail(self):
        cupy.broken.append("CUDA_ERROR_ILLEGAL_ADDRESS")
        raise RuntimeError("CUDA_ERROR_ILLEGAL_ADDRESS")


class Hangs(Right):
    """Never comes back."""

    def fail(self):
        time.sleep(1000)


class IsKilled(Right):
    """Its process is ended by the system, as where memory runs out."""

    def fail(self):
        os.kill(os.getpid(), signal.SIGKILL)


class Exits(Right):
    """Its process ends in the middle of a library."""

    def fail(self):
        os._exit(7)


class RightToo(Right):
    """Another right one."""


class RaisesAtOnce(Right):
    """Cannot be built."""

    def __init__(self, problem, name):
        super().__init__(problem, name)
        self.die()

    def die(self):
        raise RuntimeError("no such kernel")


class ExitsAtOnce(RaisesAtOnce):
    """Its process ends while it is built."""

    def die(self):
        os._exit(7)


class IsKilledAtOnce(RaisesAtOnce):
    """The system ends its process while it is built."""

    def die(self):
        os.kill(os.getpid(), signal.SIGKILL)


class BreaksAtOnce(RaisesAtOnce):
    """An illegal address while it is built."""

    def die(self):
        cupy.broken.append("CUDA_ERROR_ILLEGAL_ADDRESS")
        raise RuntimeError("CUDA_ERROR_ILLEGAL_ADDRESS")


class WrongAtOnce(Right):
    """Numbers off by one."""

    def results(self):
        return {name: array + np.float32(1) for name, array in super().results().items()}


EARLY = RightToo, RaisesAtOnce, ExitsAtOnce, IsKilledAtOnce, BreaksAtOnce, WrongAtOnce
LATE = Right, RaisesLate, WrongLate, BreaksTheContext, Hangs, IsKilled, Exits
KINDS = {kind.__name__: kind for kind in (*EARLY, *LATE)}


def contestant(problem, name):
    """One of KINDS, or a stage of the ladder on a pretended card."""
    if name in KINDS:
        return KINDS[name](problem, name)
    ladder.Gpu = lambda tf32: PretendedCard()
    return ladder.contestant(problem, name)
