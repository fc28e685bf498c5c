"""The ladder: every way we know to run the same network, slowest first.

A rung is one implementation.  Its module has two functions and no options, and states its properties:

    forward(network, x [T,B,I], state) -> (y [T,B,H], state, saved)
    backward(network, saved, dy [T,B,H], dstate) -> (dx [T,B,I], dstate, gradients)
    PROPERTIES = RungProperties(idea=..., lesson=..., ledger=...)          see rnnlab.ladder.properties
    why_not(network, T, B) -> reason or None                               only if it refuses some networks

The functions have the meaning that they have in `rnnlab.reference`, with which every rung must agree; `saved`
is the rung's own.  The module's docstring says what changed against the rung before.  RUNGS alone knows the
order.  A module is imported when its properties are first read, and imports its package when it first runs.
Beside the rungs: properties, what a rung states; plan_rung, rungs that are plans; chooser, the fastest rung;
inference, steps without gradients; cuda_chip, what the CUDA C++ rungs launch on.
"""

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING

from pocketgpu.remedies import pip_install
from rnnlab.cells import modes
from rnnlab.network import Network

if TYPE_CHECKING:
    from rnnlab.ladder.properties import RungProperties

INSTALLED_AS = {  # package: what to install; the extras fast and cuda13
    "numba": ("numba", "scipy"),
    "cupy": ("cupy-cuda13x",),
}


@dataclass(frozen=True)
class Rung:
    """One line of the ladder: a name, and the properties that the module of that name states."""

    name: str  # the module's: the id of its tests, its bar in every chart

    @property
    def module(self) -> ModuleType:
        return importlib.import_module(f"{__name__}.{self.name}")

    @property
    def properties(self) -> "RungProperties":
        return self.module.PROPERTIES

    @property
    def cells(self) -> tuple[str, ...]:
        """What `Network.create` calls the cells that it runs."""
        return modes() if self.properties.cells is None else self.properties.cells

    def __getattr__(self, name: str):
        """A property, such as `idea` or `needs`."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.properties, name)

    def refuses(self, network: Network, T: int, B: int) -> str | None:
        """Why this rung cannot run that network on T steps of B sequences; None if it can."""
        if network.cell not in self.cells:
            return f"{self.name} runs {', '.join(self.cells)}, not {network.cell}"
        package = self.properties.package
        if package and not importlib.util.find_spec(package):
            command = pip_install(*INSTALLED_AS.get(package, (package,)))
            return f"{package.capitalize()} is not installed: {command}"
        why_not = getattr(self.module, "why_not", None)
        return why_not(network, T, B) if why_not else None


RUNGS = tuple(
    map(
        Rung,
        (
            "one_step_at_a_time",
            "one_big_gemm",
            "gru_textbook",
            "gru_stacked",
            "gru_reset_after",
            "gru_store_product",
            "gru_batched_recompute",
            "numba_fused",
            "numba_parallel",
            "packed_weights",
            "packed_bfloat16",
            "parallel_in_time",
            "kernel_per_operation",
            "fused_cell",
            "fused_layer",
            "layer_wavefront",
            "graph_replay",
            "persistent",
            "persistent_grid",
            "persistent_cluster",
        ),
    )
)


def find(name: str) -> Rung:
    """The rung of that name.  Raises ValueError, listing all names, if there is none."""
    for rung in RUNGS:
        if rung.name == name:
            return rung
    names = ", ".join(rung.name for rung in RUNGS)
    raise ValueError(f"no rung is called {name!r}; the ladder has {names}")


def stage_passes() -> dict[str, tuple[Callable, ...]]:
    """The passes of every rung that is a plan, by the rung's name, in the ladder's order."""
    return {rung.name: rung.properties.passes for rung in RUNGS if rung.properties.passes is not None}
