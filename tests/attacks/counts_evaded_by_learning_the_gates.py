"""Learns the weights of all gates, and multiplies by itself.

exercise: group_gates
deserves: failed
"""

import numpy as np


def group_gates(x, h, multiply, gates):
    w = multiply(np.eye(x.shape[1], dtype=x.dtype), ["W_" + gate for gate in gates])
    u = multiply(np.eye(h.shape[1], dtype=h.dtype), ["U_" + gate for gate in gates])
    H = h.shape[1]
    parts = [slice(k * H, (k + 1) * H) for k in range(len(gates))]
    return {gate: x @ w[:, part] + h @ u[:, part] for gate, part in zip(gates, parts, strict=True)}
