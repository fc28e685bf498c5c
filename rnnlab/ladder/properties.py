"""Properties of a rung: what its module says about itself, so that no table elsewhere has to.

`PROPERTIES = RungProperties(...)` in a rung's module is read by the ladder, the tests, the charts, the
schedule view, the chooser of kernels, and the benchmark.  A ledger is a count that a test repeats on the
running code.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from rnnlab.kernels.cells import KERNEL_PROPERTIES
from rnnlab.network import Network
from rnnlab.schedule.plan import Plan

WITH_KERNELS = tuple(KERNEL_PROPERTIES)  # cells for which compiled loops and kernels are derived
GPUS = ("cpu", "cuda", "sm80", "sm90")


class LedgerSizes(NamedTuple):
    """Sizes that a ledger counts for: one layer, T steps, B sequences, H units, G gates."""

    T: int
    B: int
    H: int
    G: int


@dataclass(frozen=True)
class Ledger:
    """Count of what a rung saves: so many units in one layer's pass forward and backward, from the sizes.

    unit: products (matrix products), launches (kernels of an LSTM, T even), weights (recurrent weights that
    are read from memory, in numbers), or packings (copies of the recurrent weights in a kernel's order).
    """

    unit: str
    forward: Callable[[LedgerSizes], int]
    backward: Callable[[LedgerSizes], int] | None = None  # None: not counted

    def __post_init__(self):
        if self.unit not in ("products", "launches", "weights", "packings"):
            raise ValueError(f"a ledger counts products, launches, weights or packings, not {self.unit!r}")


@dataclass(frozen=True)
class RungProperties:
    """What a rung's module states about itself.

    cells: what `Network.create` calls the cells that this rung's own loops or kernels compute; None if it
    computes whatever equations rnnlab.cells holds.
    precision: the narrower numbers into which it rounds a float32 network's, a key of compare.TOLERANCES.
    passes: the passes over plans that make it, if it is a plan (rnnlab.schedule.passes, order).
    step_us: predicted microseconds of a step of one layer, a function of rnnlab.ladder.chooser.GpuLayer that
    raises ValueError where the rung does not run.
    """

    idea: str  # the one thing that changes against the rung before
    lesson: str  # the notebook that teaches it, as 05_gemm_shapes
    cells: tuple[str, ...] | None
    needs: str = "cpu"  # the least GPU that runs it: one of GPUS
    package: str | None = None  # a package that it imports and the course may be without
    passes: tuple[Callable[[Plan], Plan], ...] | None = None
    ledger: Ledger | None = None
    precision: str = ""
    step_us: Callable[..., float] | None = None

    def __post_init__(self):
        if self.needs not in GPUS:
            raise ValueError(f"needs is {self.needs!r}; a rung needs one of {', '.join(GPUS)}")


def only_reset_before(network: Network, T: int, B: int) -> str | None:
    """A `why_not`: the reason if the GRU resets after its product."""
    wrong = network.properties.reset == "after"
    return "it needs a GRU that resets before its product: reset='before'" if wrong else None


def only_reset_after(network: Network, T: int, B: int) -> str | None:
    """A `why_not`: the reason if the GRU resets before its product."""
    wrong = network.properties.resets_before
    return "it needs a GRU that resets after its product: reset='after'" if wrong else None
