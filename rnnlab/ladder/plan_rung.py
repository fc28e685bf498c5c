"""A rung that is a plan and a list of passes over it: a stage of Appleyard, Kočiský and Blunsom (2016).

`forward, backward = stage(PASSES)` makes a rung: both build the plan, send it through the passes, and give
it to an executor: NumPy's, or the GPU's if the machine has one.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rnnlab.cells import State
from rnnlab.gpu import card, run_cuda
from rnnlab.graphs.cells import EQUATIONS
from rnnlab.network import Network, check_gradients, check_input
from rnnlab.schedule import network_arrays as arrays_of
from rnnlab.schedule.plan import Plan, Sizes
from rnnlab.schedule.run_numpy import allocate, execute
from rnnlab.schedule.stages import Pass, plan_for


class SavedBuffers(NamedTuple):
    """What forward saves for backward: the buffers that outlive it."""

    arrays: dict[str, np.ndarray]
    T: int
    B: int


def stage(passes: tuple[Pass, ...]) -> tuple[Callable, Callable]:
    """The forward and backward of a rung that is these passes over the plan; see rnnlab.ladder."""

    def plan_of(direction: str, network: Network, T: int, B: int) -> Plan:
        sizes = Sizes(T, B, network.input_size, network.hidden_size, network.layers)
        return plan_for(direction, network.properties.name, sizes, passes)

    def forward(network: Network, x: np.ndarray, state: State | None = None):
        """y [T,B,H], final state, saved; see rnnlab.ladder."""
        state = check_input(network, x, state)
        T, B, _ = x.shape
        plan = plan_of("forward", network, T, B)
        arrays = arrays_of.forward_arrays(network, x, state)
        arrays = executed(plan, network.dtype, arrays)
        y, final = arrays_of.forward_results(network, arrays, T, B)
        outputs = {name: array for name, array in arrays.items() if name in plan.outputs}
        return y.copy(), final, SavedBuffers(outputs, T, B)

    def backward(network: Network, saved: SavedBuffers, dy: np.ndarray, dstate: State | None = None):
        """dx [T,B,I], dstate, gradients; see rnnlab.ladder."""
        outputs, T, B = saved
        dstate = check_gradients(network, T, B, dy, dstate)
        plan = plan_of("backward", network, T, B)
        arrays = outputs | arrays_of.backward_arrays(network, dy, dstate)
        arrays = executed(plan, network.dtype, arrays)
        dx, dfirst, gradients = arrays_of.backward_results(network, arrays, T, B)
        return dx, dfirst, {name: gradients[name] for name in network.parameters}

    return forward, backward


def only_drawn(network: Network, T: int, B: int) -> str | None:
    """A `why_not`: the reason if no graph of the network's cell is drawn, from which its plan follows."""
    if network.properties.name not in EQUATIONS:
        return f"no graph of the cell {network.properties.name!r} is drawn in rnnlab.graphs.cells"
    if not network.properties.reads_state:
        return (
            f"plans order recurrent products, and a step of {network.cell!r} has none: take parallel_in_time"
        )
    return None


def executed(plan: Plan, dtype: str, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The plan's buffers, of any shape, after it has run: on a GPU if the machine has one, else by NumPy."""
    if card.why_not() is None:
        return run_cuda.executed(plan, dtype, arrays, card.Gpu())
    arrays = allocate(plan, dtype, arrays)
    execute(plan, arrays)
    return arrays
