"""All states of a cell at once: the recurrence as equations, solved by Newton's method over all time steps.

The states are T unknowns with h[t] − f(h[t−1], x[t]) = 0.  Linearised at a guess, the correction obeys
e[t] = J[t] e[t−1] + r[t], where J[t] is the step's Jacobian and r[t] what the guess leaves over: a linear
recurrence, so one scan (rnnlab.scan).  After k iterations at least the first k states are exact; near the
solution the number of right digits doubles (DEER, Lim et al. 2024).  With the Jacobians' diagonals alone a
scan needs H times less work, and more iterations follow (quasi-DEER, Gonzalez et al. 2024).

The backward pass needs no iteration: it is linear, dh[t] = J[t+1]ᵀ dh[t+1] + dy[t], so one scan in reverse is
back-propagation through time, to rounding.  Where gradients grow so much that products of Jacobians overflow,
time is scanned in parts (rnnlab.scan.states).

Arrays hold all steps: states [T,B,S], where S = H, or 2H for an LSTM's h and c.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rnnlab import reference, scan
from rnnlab.cells import Cell, SavedStep, State
from rnnlab.layers import input_products, parameter_gradients, product
from rnnlab.network import Network, check_gradients, check_input, parameter_names
from rnnlab.scan import Maps, Scan


class Steps(NamedTuple):
    """What all steps of a layer read, but for their states."""

    cell: Cell
    gates_x: np.ndarray  # [T,B,G·H], the input products with bias_ih
    weight_hh: np.ndarray  # [G·H,H]
    bias_hh: np.ndarray  # [G·H]
    vectors: list[np.ndarray]  # of the cell, each [H]

    def run(self, before: np.ndarray) -> tuple[np.ndarray, SavedStep]:
        """States [T,B,S] after each step from the states before it, all steps at once, and what they save."""
        state = self.split(before)
        gates_h = product(state[0], self.weight_hh.T) + self.bias_hh
        after, saved = self.cell.pointwise(self.gates_x, gates_h, state, *self.vectors)
        return np.concatenate(after, -1), saved

    def gradients(self, dstates: np.ndarray, saved: SavedStep) -> tuple:
        """dgates_x, dgates_h, dstate past the gates, and dvectors, from dstates [T,B,S] after each step."""
        return self.cell.pointwise_backward(self.split(dstates), saved, *self.vectors)

    def split(self, states: np.ndarray) -> State:
        """h [T,B,H], or h and c, from states [T,B,S]."""
        return tuple(np.split(states, len(self.cell.states), -1))

    def by_gate(self, slopes: np.ndarray) -> np.ndarray:
        """Slopes [T,B,G,H] of the recurrent gates from [T,B,G·H]."""
        T, B, _ = slopes.shape
        H = self.weight_hh.shape[1]
        return slopes.reshape(T, B, -1, H)

    def weight_by_gate(self) -> np.ndarray:
        """Recurrent weights [G,H,H]."""
        H = self.weight_hh.shape[1]
        return self.weight_hh.reshape(-1, H, H)


class Solution(NamedTuple):
    """What Newton's method found."""

    states: np.ndarray  # [T,B,S]
    iterations: int


def steps_of(network: Network, x: np.ndarray) -> Steps:
    """The steps of a network over x [T,B,I].  Raises ValueError for two layers or more, or a reset before."""
    if network.layers != 1 or network.properties.pointwise is None:
        raise ValueError(
            f"the network has {network.layers} layers of {network.properties.name}, expected one layer of a "
            "cell with one product a step (a GRU with reset='after')"
        )
    layer = network.layer(0)
    _, weight_hh, _, bias_hh, *vectors = layer
    gates_x = input_products(layer, x)
    return Steps(network.properties, gates_x, weight_hh, bias_hh, vectors)


def jacobians(steps: Steps, saved: SavedStep, diagonal: bool = False) -> np.ndarray:
    """dstate after / dstate before of every step, [T,B,S,S]; of its diagonal alone, [T,B,S].

    One call of the cell's own gradient for each state, with ones: it works unit by unit, so it yields the
    slope of every gate; the recurrent weights complete it.
    """
    blocks = []
    for k in range(len(saved.state)):
        ones = [np.zeros_like(part) for part in saved.state]
        ones[k] += 1
        _, slopes, direct, *_ = steps.gradients(np.concatenate(ones, -1), saved)
        if diagonal:
            blocks.append(_diagonal(slopes, direct[k], steps, k))
        else:
            blocks.append(_rows(slopes, direct, steps))
    return np.concatenate(blocks, -1 if diagonal else -2)


def iterate(
    steps: Steps, first: np.ndarray, diagonal: bool = False, by: Scan = scan.blelloch
) -> Iterator[np.ndarray]:
    """All states [T,B,S] as guessed after each iteration, from zeros; `first` [B,S] comes before step 0."""
    T = len(steps.gates_x)
    states = np.zeros((T, *first.shape), steps.gates_x.dtype)
    no_correction = np.zeros_like(first)  # of the state before step 0
    while True:
        before = np.concatenate([first[None], states[:-1]])
        after, saved = steps.run(before)
        residual = after - states
        linear = Maps(jacobians(steps, saved, diagonal), residual)
        states = states + scan.states(linear, no_correction, by)
        yield states


def solve(
    steps: Steps, first: np.ndarray, tolerance: float, diagonal: bool = False, by: Scan = scan.blelloch
) -> Solution:
    """All states [T,B,S]: iterated until no state changes by more than `tolerance`, T times at most."""
    T = len(steps.gates_x)
    states = 0.0
    for iteration, guess in enumerate(iterate(steps, first, diagonal, by), 1):
        change = np.abs(guess - states).max()
        states = guess
        if iteration == T or change <= tolerance:  # the change may be nan
            return Solution(states, iteration)


def growth_rate(jacobian: np.ndarray) -> float:
    """The largest Lyapunov exponent of a sequence of steps, per step, from their Jacobians [T,B,S,S].

    The mean logarithm of the growth of a vector that all steps multiply: negative where differences fade,
    and gradients with them; positive where both grow.  -∞ if a step ends all differences, as a ReLU network
    does whose units are all 0.
    """
    vector = np.random.default_rng(0).standard_normal(jacobian.shape[1:3])
    total = 0.0
    for step in jacobian:
        vector = scan.apply(step, vector)
        length = np.linalg.norm(vector, axis=-1, keepdims=True)
        if not length.all():
            return -np.inf
        vector = vector / length
        growth = np.log(length).mean()
        total = total + growth
    return float(total / len(jacobian))


def backward(network: Network, x: np.ndarray, state: State | None, dy: np.ndarray, by: Scan = scan.blelloch):
    """dx [T,B,I], dstate and gradients of a network of one layer, by one scan in reverse.

    The states come from the loop over time of rnnlab.reference; only the gradient is parallel here.
    """
    state = check_input(network, x, state)
    steps = steps_of(network, x)
    layer = network.layer(0)
    T, B, _ = x.shape
    check_gradients(network, T, B, dy)
    _, _, stored = reference.forward(network, x, state)
    (saved_steps,) = stored.steps  # of the only layer
    before = np.stack([np.concatenate(step.state, -1) for step in saved_steps])
    _, saved = steps.run(before)
    jacobian = np.swapaxes(jacobians(steps, saved), -1, -2)
    dstates = _gradients_of_states(jacobian, _arriving(dy, steps.cell), by)
    first = scan.apply(jacobian[0], dstates[0])
    dstate = tuple(part[None] for part in steps.split(first))
    dgates_x, dgates_h, _, *dvectors = steps.gradients(dstates, saved)
    dx = product(dgates_x, layer.weight_ih)
    h, *_ = saved.state
    gradients = parameter_gradients(dgates_x, x, dgates_h, h, *dvectors)
    names = parameter_names(network.cell, 0)
    return dx, dstate, dict(zip(names, gradients, strict=True))


def _arriving(dy: np.ndarray, cell: Cell) -> np.ndarray:
    """Gradients [T,B,S] that the loss sends to the states: dy [T,B,H] to h, none to the others."""
    others = [np.zeros_like(dy) for _ in cell.states[1:]]
    return np.concatenate([dy, *others], -1)


def _gradients_of_states(transposed: np.ndarray, arriving: np.ndarray, by: Scan) -> np.ndarray:
    """All dstates [T,B,S] after each step, from the transposed Jacobians [T,B,S,S] and what arrives."""
    S = arriving.shape[-1]
    identity = np.eye(S, dtype=arriving.dtype)
    after_last = np.broadcast_to(identity, transposed[:1].shape)
    later = np.concatenate([transposed[1:], after_last])
    after_end = np.zeros_like(arriving[0])
    return scan.reversed_states(Maps(later, arriving), after_end, by)


def _rows(slopes: np.ndarray, direct: State, steps: Steps) -> np.ndarray:
    """Rows [T,B,H,S] of the Jacobians: through the gates to h, and directly to each part of the state."""
    weights = steps.weight_by_gate()
    through = np.einsum("tbgk,gkj->tbkj", steps.by_gate(slopes), weights)
    blocks = []
    for part in direct:
        identity = np.eye(part.shape[-1], dtype=part.dtype)
        blocks.append(part[..., None] * identity)
    blocks[0] = blocks[0] + through
    return np.concatenate(blocks, -1)


def _diagonal(slopes: np.ndarray, direct: np.ndarray, steps: Steps, part: int) -> np.ndarray:
    """Diagonal [T,B,H] of one state's block."""
    if part > 0:
        return direct
    own_weights = np.einsum("gkk->gk", steps.weight_by_gate())
    return direct + np.einsum("tbgk,gk->tbk", steps.by_gate(slopes), own_weights)
