"""Everything that can run one training step, each in a process of its own, all asked in the same words.

A peer is a module here with two names:

    MODULE                                 the package it needs, as it is imported
    build(network, x [T,B,I], dy [T,B,H]) -> (step, arrays)

`step()` runs forward, backward and weight gradients once, from a state of zeros, waits until all of it is
done, and returns an outcome; `arrays(outcome)` names the outcome's numbers: y, dx, and the gradient of each
parameter under the parameter's own name.  What is made ready once, weights in the peer's own layout for
instance, is made in `build` and not timed.  A peer is imported in its own process only.
"""

import sys
from dataclasses import dataclass

from rnnlab.ladder import RUNGS


@dataclass(frozen=True)
class Candidate:
    """One contestant: its name in every table, and the module that runs it."""

    name: str
    module: str  # below rnnlab.bench.peers
    needs: str | None = None  # a package beyond those of the course
    install: str = ""  # what pip is asked for
    is_rung: bool = False

    def installation(self, python: str = sys.executable) -> str:
        """The command that installs what it needs."""
        return f"{python} -m pip install --constraint constraints.txt {self.install or self.needs}"


NEEDED_BY_RUNG = {  # what a rung's module imports that the course may be without
    "numba_fused": "numba",
    "numba_parallel": "numba",
    "halide_scheduled": "halide",
}
PEERS = (
    Candidate("pytorch", "torch_layers", "torch"),
    Candidate("pytensor", "pytensor_scan", "pytensor"),
    Candidate("jax", "jax_scan", "jax"),
)
LADDER = tuple(
    Candidate(rung.name, "ladder_rung", NEEDED_BY_RUNG.get(rung.name), is_rung=True)
    for rung in RUNGS
    if rung.needs == "cpu"
)
LIMITS = (  # what the BLAS alone reaches: no contestants, but the ceiling above them
    Candidate("gemm_large", "blas_products"),
    Candidate("gemm_step", "blas_products"),
)
