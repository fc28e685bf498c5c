"""One step of an RNN, GRU, LSTM or minimal GRU, and its gradient.  It is written to be read, not to be fast.

A step reads gates_x [B,G·H] = x W_ihᵀ + b_ih, which no earlier step influences, and the state h [B,H] (LSTM:
h and c).  It returns the next state, and what its gradient will need (SavedStep).  Gate order and formulas
are PyTorch's:

    rnn   h' = f(gates_x + h W_hhᵀ + b_hh)                          f = tanh or relu
    gru   h' = (1 − z)·n + z·h        r = σ(x_r + h W_rᵀ + b_r), z likewise
                                      n = tanh(x_n + r·(h W_nᵀ + b_n))     reset after the product (cuDNN)
                                      n = tanh(x_n + (r·h) W_nᵀ + b_n)     reset before it (Cho et al. 2014)
    lstm  c' = f·c + i·g,  h' = o·tanh(c')
    min_gru  h' = (1 − z)·h + z·x_n   z = σ(x_z): no gate reads h (Feng et al. 2024, arXiv 2410.01201)

Pointwise derivatives are written on the output: tanh' = 1 − h², σ' = s(1 − s), relu' = 1 where h > 0.

CELLS, at the end, has a Cell for each equation: networks, graphs and plans read its properties there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

State = tuple[np.ndarray, ...]
Recurrent = Callable[[np.ndarray, slice], np.ndarray]  # values [B,H], rows of W_hh -> gates_h of those rows


class SavedStep(NamedTuple):
    """What one step saves for its gradient; shapes [B,H] but for gates [B,G·H]."""

    state: State  # the state the step started from
    gates: np.ndarray  # after their nonlinearities
    auxiliary: np.ndarray | None  # gru: h W_nᵀ + b_n (reset after) or r·h (reset before); lstm: tanh(c')


@dataclass(frozen=True)
class Cell:
    """One recurrent step: its gates in PyTorch's order, its states, and its arithmetic.

    A GRU is two cells, since its reset gate acts after the candidate's product or before it.  A cell that
    resets before has a second product in each step, so its arithmetic is not pointwise.
    """

    mode: str  # what `Network.create` and PyTorch call it
    gates: tuple[str, ...]
    states: tuple[str, ...]
    pointwise: Callable | None = None  # (gates_x, gates_h, state, *vectors) -> (next state, SavedStep)
    # (dstate, SavedStep, *vectors) -> (dgates_x, dgates_h, dstate before the step without what the product
    # adds to it, *dvectors), where a vector's gradient [B,H] is that of each sequence
    pointwise_backward: Callable | None = None
    reset: str | None = None  # "after" or "before" the candidate's product; None: the cell has no reset gate
    inner_bias: str | None = None  # the gate whose recurrent bias a reset gate multiplies, with its product
    reads_state: bool = True  # False: no gate reads h, so weight_hh has no rows and the step is linear in h
    vectors: tuple[str, ...] = ()  # further parameters [H] of a layer, such as the weights of peepholes

    @property
    def name(self) -> str:
        """The cell's key in CELLS, and the name of its graph and of its plans, such as "gru_after"."""
        if self.reset is None:
            return self.mode
        return f"{self.mode}_{self.reset}"

    @property
    def recurrent_gates(self) -> tuple[str, ...]:
        """The gates that have rows in weight_hh."""
        return self.gates if self.reads_state else ()

    @property
    def resets_before(self) -> bool:
        """True if the candidate waits for r before its product can start."""
        return self.reset == "before"

    @property
    def vector_wires(self) -> tuple[str, ...]:
        """Names of the vectors [H] that a step reads beside its biases: the inner bias, then its own."""
        inner = (f"c_{self.inner_bias}",) if self.inner_bias else ()
        return inner + self.vectors

    def inner_bias_rows(self, H: int) -> slice:
        """Rows of bias_hh [G·H] that belong to inner_bias; an empty slice if the cell has none."""
        if self.inner_bias is None:
            return slice(0)
        k = self.gates.index(self.inner_bias)
        return slice(k * H, (k + 1) * H)


def find_cell(mode: str, reset: str = "after") -> Cell:
    """The cell of that mode; `reset` chooses between the two GRUs.  Raises ValueError for an unknown mode."""
    for cell in CELLS.values():
        if cell.mode == mode and cell.reset in (None, reset):
            return cell
    expected = ", ".join(modes())
    raise ValueError(f"cell is {mode!r}, expected one of {expected}")


def modes() -> tuple[str, ...]:
    """What `Network.create` accepts as cell."""
    modes_in_order = dict.fromkeys(cell.mode for cell in CELLS.values())
    return tuple(modes_in_order)


def forward(
    cell: str,
    gates_x: np.ndarray,
    state: State,
    weight_hh: np.ndarray,
    bias_hh: np.ndarray,
    reset: str = "after",
    *vectors: np.ndarray,
) -> tuple[State, SavedStep]:
    """Next state [B,H] from gates_x [B,G·H] and state.   weight_hh [G·H,H], bias_hh [G·H], a vector [H]"""
    properties = find_cell(cell, reset)
    if properties.resets_before:

        def recurrent(h, rows):
            return h @ weight_hh[rows].T + bias_hh[rows]

        return gru_before(gates_x, state, recurrent)
    gates_h = state[0] @ weight_hh.T + bias_hh
    return properties.pointwise(gates_x, gates_h, state, *vectors)


def backward(
    cell: str,
    dstate: State,
    saved: SavedStep,
    weight_hh: np.ndarray,
    reset: str = "after",
    *vectors: np.ndarray,
) -> tuple:
    """dgates_x [B,G·H], dgates_h [B,G·H] and dstate [B,H] before the step, from dstate after it.

    Behind them, the gradients [B,H] of the cell's vectors.

    The weight gradients follow without another look at the step: dW_ih = dgates_xᵀ x, db_ih = Σ dgates_x,
    dW_hh = dgates_hᵀ h, db_hh = Σ dgates_h; recurrent_inputs names the weights that multiply r·h.
    """
    properties = find_cell(cell, reset)
    if properties.resets_before:
        return _gru_before_backward(dstate, saved, weight_hh)
    dgates_x, dgates_h, dstate, *dvectors = properties.pointwise_backward(dstate, saved, *vectors)
    dh, *others = dstate
    dh = dh + dgates_h @ weight_hh
    return dgates_x, dgates_h, (dh, *others), *dvectors


def recurrent_inputs(cell: str, saved: SavedStep, reset: str = "after") -> tuple[np.ndarray, ...]:
    """Factors [B,H] of the gates' recurrent weights: h, or r·h for the candidate if it resets before."""
    h = saved.state[0]
    properties = find_cell(cell, reset)
    if properties.resets_before:
        return h, h, saved.auxiliary
    return (h,) * len(properties.recurrent_gates)


def gru_candidate(x_n: np.ndarray, r: np.ndarray, h_n: np.ndarray) -> np.ndarray:
    """n [B,H] of a GRU that resets after its product h_n = h W_nᵀ + b_n."""
    return np.tanh(x_n + r * h_n)


def sigmoid(a: np.ndarray) -> np.ndarray:
    """1/(1+e⁻ᵃ) of a [B,H] or any shape, through tanh: it cannot overflow, and NumPy's tanh is vectorised."""
    return 0.5 * np.tanh(0.5 * a) + 0.5


def _split_gates(gates, count):
    """`count` views [B,H] of gates [B,count·H]; np.split takes longer than a small step's arithmetic."""
    H = gates.shape[-1] // count
    starts = range(0, count * H, H)
    return [gates[..., start : start + H] for start in starts]


def _rnn_tanh(gates_x, gates_h, state):
    h = np.tanh(gates_x + gates_h)
    return (h,), SavedStep(state, h, None)


def _rnn_tanh_backward(dstate, saved):
    da = dstate[0] * (1 - saved.gates**2)
    return da, da, (np.zeros_like(da),)


def _rnn_relu(gates_x, gates_h, state):
    h = np.maximum(gates_x + gates_h, 0)
    return (h,), SavedStep(state, h, None)


def _rnn_relu_backward(dstate, saved):
    da = dstate[0] * (saved.gates > 0)  # the derivative is 1[h>0]; SVAIL's Part II prints h in its place
    return da, da, (np.zeros_like(da),)


def _gru(gates_x, gates_h, state):
    (h,) = state
    H = h.shape[-1]
    rz = slice(2 * H)  # r and z are neighbours: one sigmoid for both
    x_n = gates_x[..., 2 * H :]
    h_n = gates_h[..., 2 * H :].copy()  # a view would keep all of gates_h
    gates = np.empty_like(gates_x)
    r, z, n = _split_gates(gates, 3)
    a_rz = gates_x[..., rz] + gates_h[..., rz]
    gates[..., rz] = sigmoid(a_rz)
    n[...] = gru_candidate(x_n, r, h_n)
    h_next = (1 - z) * n + z * h
    return (h_next,), SavedStep(state, gates, h_n)


def _gru_backward(dstate, saved):
    (h,) = saved.state
    (r, z, n) = _split_gates(saved.gates, 3)
    h_n = saved.auxiliary
    (dh,) = dstate
    dn = dh * (1 - z) * (1 - n**2)
    dz = dh * (h - n) * z * (1 - z)
    dr = dn * h_n * r * (1 - r)
    dh_n = dn * r
    dgates_x = np.concatenate([dr, dz, dn], -1)
    dgates_h = np.concatenate([dr, dz, dh_n], -1)
    return dgates_x, dgates_h, (dh * z,)


def gru_before(gates_x: np.ndarray, state: State, recurrent: Recurrent) -> tuple[State, SavedStep]:
    """Next state [B,H] of a GRU that resets before its product; `recurrent` runs twice, then with r·h."""
    (h,) = state
    H = h.shape[-1]
    x_r, x_z, x_n = _split_gates(gates_x, 3)
    h_rz = recurrent(h, slice(0, 2 * H))
    h_r, h_z = _split_gates(h_rz, 2)
    r = sigmoid(x_r + h_r)
    z = sigmoid(x_z + h_z)
    reset_h = r * h
    h_n = recurrent(reset_h, slice(2 * H, 3 * H))
    n = np.tanh(x_n + h_n)
    h_next = (1 - z) * n + z * h
    gates = np.concatenate([r, z, n], -1)
    return (h_next,), SavedStep(state, gates, reset_h)


def _gru_before_backward(dstate, saved, weight_hh):
    (h,) = saved.state
    (r, z, n) = _split_gates(saved.gates, 3)
    (dh,) = dstate
    H = h.shape[-1]
    W_rz, W_n = np.split(weight_hh, [2 * H])
    dn = dh * (1 - z) * (1 - n**2)
    drh = dn @ W_n  # gradient of r·h
    dz = dh * (h - n) * z * (1 - z)
    dr = drh * h * r * (1 - r)
    dgates = np.concatenate([dr, dz, dn], -1)
    drz = dgates[:, : 2 * H]
    dh_before = dh * z + drh * r + drz @ W_rz
    return dgates, dgates, (dh_before,)


def _lstm(gates_x, gates_h, state):
    _, c = state
    a = gates_x + gates_h
    gates = sigmoid(a)  # of all four in one call; g is a tanh and is written over
    i, f, g, o = _split_gates(gates, 4)
    g[...] = np.tanh(_split_gates(a, 4)[2])
    c = f * c + i * g
    tanh_c = np.tanh(c)
    h = o * tanh_c
    return (h, c), SavedStep(state, gates, tanh_c)


def _lstm_backward(dstate, saved):
    (_, c) = saved.state
    (i, f, g, o) = _split_gates(saved.gates, 4)
    tanh_c = saved.auxiliary
    dh, dc = dstate
    dc = dc + dh * o * (1 - tanh_c**2)
    di = dc * g * i * (1 - i)
    df = dc * c * f * (1 - f)
    dg = dc * i * (1 - g**2)
    do = dh * tanh_c * o * (1 - o)
    da = np.concatenate([di, df, dg, do], -1)
    dc_before = dc * f
    return da, da, (np.zeros_like(dh), dc_before)


def _min_gru(gates_x, gates_h, state):
    (h,) = state
    (z, n) = _split_gates(gates_x, 2)
    z = sigmoid(z)
    h_next = (1 - z) * h + z * n
    gates = np.concatenate([z, n], -1)
    return (h_next,), SavedStep(state, gates, None)


def _min_gru_backward(dstate, saved):
    (h,) = saved.state
    (z, n) = _split_gates(saved.gates, 2)
    (dh,) = dstate
    dz = dh * (n - h) * z * (1 - z)
    dn = dh * z
    dh_before = dh * (1 - z)
    dgates_x = np.concatenate([dz, dn], -1)
    dgates_h = dgates_x[..., :0]  # no gate reads h
    return dgates_x, dgates_h, (dh_before,)


GRU_GATES = ("r", "z", "n")
CELLS = {
    cell.name: cell
    for cell in (
        Cell("rnn_tanh", ("h",), ("h",), _rnn_tanh, _rnn_tanh_backward),
        Cell("rnn_relu", ("h",), ("h",), _rnn_relu, _rnn_relu_backward),
        Cell("gru", GRU_GATES, ("h",), _gru, _gru_backward, reset="after", inner_bias="n"),
        Cell("gru", GRU_GATES, ("h",), reset="before"),
        Cell("lstm", ("i", "f", "g", "o"), ("h", "c"), _lstm, _lstm_backward),
        Cell("min_gru", ("z", "n"), ("h",), _min_gru, _min_gru_backward, reads_state=False),
    )
}
