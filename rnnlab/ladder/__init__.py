"""The ladder: every way we know to run the same network, slowest first.

A rung is a module with two functions and no options:

    forward(network, x [T,B,I], state) -> (y [T,B,H], state, saved)
    backward(network, saved, dy [T,B,H], dstate) -> (dx [T,B,I], dstate, gradients)

with the meaning they have in `rnnlab.reference`, which every rung must agree with; `saved` is the rung's own.
Its module docstring says what changed against the rung before.  This table alone knows the order.
"""

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import ModuleType

from rnnlab.cells import GATES
from rnnlab.network import Network

CELLS = tuple(GATES)
GRAPHS = "differentiable_graphs"


def runs_anything(network: Network, T: int, B: int) -> str | None:
    """The `why_not` of a rung without limits."""
    return None


def only_reset_before(network: Network, T: int, B: int) -> str | None:
    return None if network.reset == "before" else "it resets before the product: Network(reset='before')"


def only_reset_after(network: Network, T: int, B: int) -> str | None:
    return None if network.reset == "after" else "it resets after the product: Network(reset='after')"


def needs_numba(network: Network, T: int, B: int) -> str | None:
    """The `why_not` of compiled rungs; their GRU resets after its product."""
    if not importlib.util.find_spec("numba"):
        return "Numba is not installed: pip install --constraint constraints.txt numba"
    return only_reset_after(network, T, B) if network.cell == "gru" else None


def asked(rung: str, network: Network, T: int, B: int) -> str | None:
    """The `why_not` of a rung whose own module says it."""
    return importlib.import_module(f"{__name__}.{rung}").why_not(network, T, B)


def fits_in_registers(network: Network, T: int, B: int) -> str | None:
    """The `why_not` of the persistent rung; its GRU resets before or after its product."""
    if not importlib.util.find_spec("numba"):
        return "Numba is not installed: pip install --constraint constraints.txt numba"
    return asked("persistent", network, T, B)


def needs_halide(network: Network, T: int, B: int) -> str | None:
    """The `why_not` of the rung in Halide; its GRU resets after its product."""
    if not importlib.util.find_spec("halide"):
        return "Halide is not installed: pip install --constraint constraints.txt halide"
    return only_reset_after(network, T, B) if network.cell == "gru" else None


@dataclass(frozen=True)
class Rung:
    """One line of the ladder."""

    name: str  # the module in this folder, the id of its tests, its bar in every chart
    idea: str  # the one thing that changes against the rung before
    lesson: str  # the notebook that teaches it, without its number
    cells: tuple[str, ...] = CELLS
    needs: str = "cpu"  # cpu, cuda, sm80 or sm90: the least GPU that runs it
    why_not: Callable[[Network, int, int], str | None] = runs_anything  # (network, T, B) -> reason, or None

    def refuses(self, network: Network, T: int, B: int) -> str | None:
        """Why this rung cannot run that network on T steps of B sequences; None if it can."""
        if network.cell not in self.cells:
            return f"{self.name} runs {', '.join(self.cells)}, not {network.cell}"
        return self.why_not(network, T, B)

    @property
    def module(self) -> ModuleType:
        return importlib.import_module(f"rnnlab.ladder.{self.name}")


RUNGS = (
    Rung(
        "one_step_at_a_time",
        "the equations as they are first written: a product per step and gate",
        "rnn_forward",
    ),
    Rung("one_big_gemm", "what does not wait for h leaves the time loop; the gates share a product", "bptt"),
    Rung("gru_textbook", "variant 1: a product per gate", GRAPHS, ("gru",), why_not=only_reset_before),
    Rung("gru_stacked", "variant 2: products stacked", GRAPHS, ("gru",), why_not=only_reset_before),
    Rung("gru_reset_after", "variant 3: no product waits for r", GRAPHS, ("gru",), why_not=only_reset_after),
    Rung("gru_store_product", "variant 4: keep U h, not n", GRAPHS, ("gru",), why_not=only_reset_after),
    Rung("gru_batched_recompute", "variant 5: all U h at once", GRAPHS, ("gru",), why_not=only_reset_after),
    Rung("numba_fused", "a step's pointwise work in one compiled loop", "numba_cpu", why_not=needs_numba),
    Rung("numba_parallel", "the minibatch split over threads", "parallel_cpu", why_not=needs_numba),
    Rung("halide_scheduled", "the order of work apart from the work", "parallel_cpu", why_not=needs_halide),
    Rung("kernel_per_operation", "a kernel for every operation", "naive_gpu_rnn", needs="cuda"),
    Rung("fused_cell", "stage 1: a step is two products and one kernel", "fused_cell", needs="cuda"),
    Rung("fused_layer", "stage 2: out of the loop what may leave it", "fused_layer", needs="cuda"),
    Rung("layer_wavefront", "stage 3: layers and steps on the diagonal", "network_schedule", needs="cuda"),
    Rung("graph_replay", "all launches in one", "network_schedule", needs="cuda"),
    Rung(
        "persistent",
        "one kernel for a sequence: weights stay in registers",
        "persistent_rnn",
        needs="cuda",
        why_not=fits_in_registers,
    ),
    Rung(
        "persistent_grid",
        "tensor cores keep the weights, in TF32",
        "persistent_cuda",
        needs="sm80",
        why_not=partial(asked, "persistent_grid"),
    ),
    Rung(
        "persistent_cluster",
        "clusters push h to each other, in bfloat16",
        "persistent_cuda",
        needs="sm90",
        why_not=partial(asked, "persistent_cluster"),
    ),
)


def find(name: str) -> Rung:
    """The rung of that name.  Raises ValueError, listing all names, if there is none."""
    for rung in RUNGS:
        if rung.name == name:
            return rung
    raise ValueError(f"no rung is called {name!r}; the ladder has {', '.join(rung.name for rung in RUNGS)}")
