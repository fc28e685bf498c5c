"""The cells of new_cells.py on wires, as they would stand in rnnlab/graphs/cells.py."""

from rnnlab.graphs.graph import sigmoid, tanh


def minimal_gated(g, x, h, t):
    f = g.name("f" + t, sigmoid(x @ g.W_f.T + h @ g.U_f.T + g.b_f))
    n = g.name("n" + t, tanh(x @ g.W_n.T + g.b_n + f * (h @ g.U_n.T + g.c_n)))
    return {"h": (1 - f) * h + f * n}


def peephole_lstm(g, x, h, t, c):
    i = g.name("i" + t, sigmoid(x @ g.W_i.T + h @ g.U_i.T + g.b_i + c))
    f = g.name("f" + t, sigmoid(x @ g.W_f.T + h @ g.U_f.T + g.b_f + c))
    k = g.name("g" + t, tanh(x @ g.W_g.T + h @ g.U_g.T + g.b_g))
    c_next = f * c + i * k
    o = g.name("o" + t, sigmoid(x @ g.W_o.T + h @ g.U_o.T + g.b_o + c_next))
    return {"h": o * tanh(c_next), "c": c_next}


def coupled_lstm(g, x, h, t, c):
    i = g.name("i" + t, sigmoid(x @ g.W_i.T + h @ g.U_i.T + g.b_i))
    k = g.name("g" + t, tanh(x @ g.W_g.T + h @ g.U_g.T + g.b_g))
    o = g.name("o" + t, sigmoid(x @ g.W_o.T + h @ g.U_o.T + g.b_o))
    c_next = (1 - i) * c + i * k
    return {"h": o * tanh(c_next) + h, "c": c_next}


def inner_first(g, x, h, t):
    z = g.name("z" + t, sigmoid(x @ g.W_z.T + h @ g.U_z.T + g.b_z))
    n = g.name("n" + t, tanh(x @ g.W_n.T + g.b_n + z * (h @ g.U_n.T + g.c_n)))
    return {"h": h + z * n}


def residual(g, x, h, t):
    n = g.name("n" + t, tanh(x @ g.W_n.T + h @ g.U_n.T + g.b_n))
    return {"h": h + n}


def output_gru(g, x, h, t):
    z = g.name("z" + t, sigmoid(x @ g.W_z.T + h @ g.U_z.T + g.b_z))
    n = g.name("n" + t, tanh(x @ g.W_n.T + g.b_n + z * (h @ g.U_n.T + g.c_n)))
    o = g.name("o" + t, sigmoid(x @ g.W_o.T + h @ g.U_o.T + g.b_o))
    return {"h": o * ((1 - z) * n + z * h)}


NEW_EQUATIONS = {
    "minimal_gated": minimal_gated,
    "peephole_lstm": peephole_lstm,
    "coupled_lstm": coupled_lstm,
    "inner_first": inner_first,
    "residual": residual,
    "output_gru": output_gru,
}
