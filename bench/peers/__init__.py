"""Everything that can run one training step, each in a process of its own, all asked in the same words.

A peer is a module with one function, and one more if it can't run everything:

    build(network, x [T,B,I], dy [T,B,H], name) -> (step, arrays)
    refuses(name, network, T, B) -> why not, or None

`step()` runs forward, backward and weight gradients once, from a state of zeros, waits until all of it is
done, and returns an outcome; `arrays(outcome)` names the outcome's numbers: y, dx, and the gradient of each
parameter under the parameter's own name.  What is made ready once, weights in the peer's own layout for
instance, is made in `build` and not timed.  `name` is the contestant's: a module may stand for several.
"""

import sys
from dataclasses import dataclass

from rnnlab.ladder import RUNGS


@dataclass(frozen=True)
class Candidate:
    """One contestant: its name in every table, and the module that runs it."""

    name: str
    module: str  # imported in its own process
    needs: str | None = None  # a package beyond those of the course
    install: str = ""  # what pip installs
    is_rung: bool = False
    precision: str = ""  # the narrower numbers into which it rounds: a key of compare.TOLERANCES

    def installation(self, python: str = sys.executable) -> str:
        """The command that installs what it needs."""
        return f"{python} -m pip install --constraint constraints.txt {self.install or self.needs}"


PEERS = (
    Candidate("pytorch", f"{__name__}.torch_layers", "torch"),
    Candidate("pytorch_bfloat16", f"{__name__}.torch_layers", "torch", precision="bfloat16"),
    Candidate("pytorch_autocast", f"{__name__}.torch_layers", "torch", precision="bfloat16"),
    Candidate("pytensor", f"{__name__}.pytensor_scan", "pytensor"),
    Candidate("jax", f"{__name__}.jax_scan", "jax"),
    Candidate("halide", f"{__name__}.halide_network", "halide"),
)
LADDER = tuple(
    Candidate(
        rung.name,
        f"{__name__}.ladder_rung",
        rung.properties.package,
        is_rung=True,
        precision=rung.properties.precision,
    )
    for rung in RUNGS
    if rung.properties.needs == "cpu"
)
_STEP = f"{__name__}.one_step"
STEPS = (  # one step of one sequence, without gradients
    Candidate("inference", _STEP, "numba"),
    Candidate("inference_bfloat16", _STEP, "numba", precision="bfloat16"),
    Candidate("inference_int8", _STEP, "numba", precision="int8_weights"),
    Candidate("one_big_gemm", _STEP),
    Candidate("numba_fused", _STEP, "numba"),
    Candidate("pytorch_module", _STEP, "torch"),
    Candidate("pytorch_cell", _STEP, "torch"),
    Candidate("pytorch_int8", _STEP, "torch", precision="int8_weights"),
    Candidate("onnxruntime_int8", f"{__name__}.onnx_step", "onnxruntime", precision="int8_weights"),
    Candidate("jax", _STEP, "jax"),
)
WEIGHTS = tuple(  # the bound of a step: its weights read once
    Candidate(name, _STEP, "numba") for name in ("weights", "weights_bfloat16", "weights_int8")
)
LIMITS = (  # what the BLAS alone reaches: no contestants, but the ceiling above them
    Candidate("gemm_large", f"{__name__}.blas_products"),
    Candidate("gemm_step", f"{__name__}.blas_products"),
)
