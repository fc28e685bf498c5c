"""The course's cells as graphs: one step, and a whole sequence of steps.

Each gate has wires of its own, W_<gate> [H,I], U_<gate> [H,H], b_<gate> [H], as equations are written;
stacking them is a transformation (transform.py).  b is PyTorch's bias_ih + bias_hh, except in the candidate
of a GRU with reset after the product: there bias_hh is the wire c_n [H], inside the reset.  A further vector
[H] of a cell is a wire of its own name; `g.p_i * c` multiplies each row of c [B,H] by it.
"""

from collections.abc import Callable

import numpy as np

from rnnlab import cells
from rnnlab.graphs.graph import Graph, Sketch, Wire, relu, sigmoid, tanh
from rnnlab.network import Network, merged_bias, step_vectors

State = dict[str, Wire]


def rnn_tanh(g: Sketch, x: Wire, h: Wire, t: str) -> State:
    return {"h": tanh(x @ g.W_h.T + h @ g.U_h.T + g.b_h)}


def rnn_relu(g: Sketch, x: Wire, h: Wire, t: str) -> State:
    return {"h": relu(x @ g.W_h.T + h @ g.U_h.T + g.b_h)}


def gru_before(g: Sketch, x: Wire, h: Wire, t: str) -> State:
    """A GRU whose reset gate acts on h [B,H], before the candidate's product; x [B,I]."""
    r = g.name("r" + t, sigmoid(x @ g.W_r.T + h @ g.U_r.T + g.b_r))
    z = g.name("z" + t, sigmoid(x @ g.W_z.T + h @ g.U_z.T + g.b_z))
    n = g.name("n" + t, tanh(x @ g.W_n.T + (r * h) @ g.U_n.T + g.b_n))
    return {"h": (1 - z) * n + z * h}


def gru_after(g: Sketch, x: Wire, h: Wire, t: str) -> State:
    """A GRU whose reset gate acts on the candidate's product with h [B,H]; x [B,I]."""
    r = g.name("r" + t, sigmoid(x @ g.W_r.T + h @ g.U_r.T + g.b_r))
    z = g.name("z" + t, sigmoid(x @ g.W_z.T + h @ g.U_z.T + g.b_z))
    n = g.name("n" + t, tanh(x @ g.W_n.T + g.b_n + r * (h @ g.U_n.T + g.c_n)))
    return {"h": (1 - z) * n + z * h}


def lstm(g: Sketch, x: Wire, h: Wire, t: str, c: Wire) -> State:
    """An LSTM, from x [B,I], h and c [B,H]; the candidate, gate g, is the wire k."""
    i = g.name("i" + t, sigmoid(x @ g.W_i.T + h @ g.U_i.T + g.b_i))
    f = g.name("f" + t, sigmoid(x @ g.W_f.T + h @ g.U_f.T + g.b_f))
    k = g.name("g" + t, tanh(x @ g.W_g.T + h @ g.U_g.T + g.b_g))
    o = g.name("o" + t, sigmoid(x @ g.W_o.T + h @ g.U_o.T + g.b_o))
    c_next = f * c + i * k
    return {"h": o * tanh(c_next), "c": c_next}


def min_gru(g: Sketch, x: Wire, h: Wire, t: str) -> State:
    """A minimal GRU, from x [B,I] and h [B,H]: its gates read x alone."""
    z = g.name("z" + t, sigmoid(x @ g.W_z.T + g.b_z))
    return {"h": (1 - z) * h + z * (x @ g.W_n.T + g.b_n)}


EQUATIONS: dict[str, Callable] = {  # by the cell's name in rnnlab.cells
    "rnn_tanh": rnn_tanh,
    "rnn_relu": rnn_relu,
    "gru_before": gru_before,
    "gru_after": gru_after,
    "lstm": lstm,
    "min_gru": min_gru,
}


def step_graph(cell: str, B: int, I: int, H: int) -> Graph:
    """One step of a cell in EQUATIONS: wires x [B,I], h [B,H] (and c [B,H]) in, h_next (and c_next) out."""
    g, states = _sketch(cell, {"x": (B, I)}, B, I, H, "")
    state = {name: g[name] for name in states}
    next_state = EQUATIONS[cell](g, g.x, t="", **state)
    outputs = []
    for name, wire in next_state.items():
        g[f"{name}_next"] = wire
        outputs.append(f"{name}_next")
    return g.graph(*outputs)


def sequence_graph(cell: str, T: int, B: int, I: int, H: int) -> Graph:
    """T steps unrolled: wires x1…xT and h0 (c0) in, h1…hT (and cT) out."""
    steps = range(1, T + 1)
    x_wires = {f"x{t}": (B, I) for t in steps}
    g, states = _sketch(cell, x_wires, B, I, H, "0")
    state = {name: g[f"{name}0"] for name in states}
    for t in steps:
        x_t = g[f"x{t}"]
        next_state = EQUATIONS[cell](g, x_t, t=str(t), **state)
        state = {name: g.name(f"{name}{t}", wire) for name, wire in next_state.items()}
    outputs = [f"h{t}" for t in steps]
    outputs += [f"{name}{T}" for name in states[1:]]
    return g.graph(*outputs)


def wire_values(network: Network, x: np.ndarray, state: tuple[np.ndarray, ...]) -> dict[str, np.ndarray]:
    """Values of a sequence graph's inputs: a one-layer network's, x [T,B,I] and its state, each [1,B,H]."""
    layer = network.layer(0)
    properties = network.properties
    values = {f"x{t}": x_t for t, x_t in enumerate(x, 1)}
    for name, part in zip(properties.states, state, strict=True):
        values[f"{name}0"] = part[0]
    values |= zip(properties.vector_wires, step_vectors(network, layer), strict=True)
    H = network.hidden_size
    G = len(properties.gates)
    W = layer.weight_ih.reshape(G, H, -1)
    b = merged_bias(network, layer).reshape(G, H)
    for k, gate in enumerate(properties.gates):
        values[f"W_{gate}"] = W[k]
        values[f"b_{gate}"] = b[k]
    U = layer.weight_hh.reshape(-1, H, H)
    for k, gate in enumerate(properties.recurrent_gates):
        values[f"U_{gate}"] = U[k]
    return values


def network_gradients(network: Network, d: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Gradients in PyTorch's layout, keyed like network.parameters, from those on the weight wires."""
    properties = network.properties
    H = network.hidden_size

    weight_ih = [d[f"W_{gate}"] for gate in properties.gates]
    bias_ih = [d[f"b_{gate}"] for gate in properties.gates]
    weight_hh = [np.empty((0, H))]  # all of it if no gate reads the state
    bias_hh = [np.empty(0)]
    for gate in properties.recurrent_gates:
        letter = "c" if gate == properties.inner_bias else "b"
        weight_hh.append(d[f"U_{gate}"])
        bias_hh.append(d[f"{letter}_{gate}"])
    gradients = {
        "weight_ih_l0": np.concatenate(weight_ih),
        "weight_hh_l0": np.concatenate(weight_hh),
        "bias_ih_l0": np.concatenate(bias_ih),
        "bias_hh_l0": np.concatenate(bias_hh),
    }
    return gradients | {f"{name}_l0": d[name] for name in properties.vectors}


def _sketch(cell: str, x_wires: dict, B: int, I: int, H: int, step: str) -> tuple[Sketch, tuple[str, ...]]:
    if cell not in EQUATIONS:
        drawn = ", ".join(EQUATIONS)
        raise ValueError(f"no graph of the cell {cell!r} is drawn; there are {drawn}")
    properties = cells.CELLS[cell]
    weights = {}
    for gate in properties.gates:
        weights[f"W_{gate}"] = (H, I)
        weights[f"b_{gate}"] = (H,)
        if gate in properties.recurrent_gates:
            weights[f"U_{gate}"] = (H, H)
    weights |= dict.fromkeys(properties.vector_wires, (H,))
    states = {f"{name}{step}": (B, H) for name in properties.states}
    sketch = Sketch(**x_wires, **states, **weights)
    return sketch, properties.states
