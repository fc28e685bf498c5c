"""JAX: the input product over all steps at once, lax.scan over the recurrence, vjp, all under one jit."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from rnnlab.network import Network

sigmoid = jax.nn.sigmoid


def build(network: Network, x: np.ndarray, dy: np.ndarray, name: str) -> tuple[Callable, Callable]:
    """step and arrays, see bench.peers."""
    parameters = {key.removesuffix("_l0"): jnp.asarray(p) for key, p in network.parameters.items()}
    x = jnp.asarray(x)
    dy = jnp.asarray(dy)

    @jax.jit
    def train(parameters, x, dy):
        y, pull = jax.vjp(lambda p, x: _outputs(network.cell, p, x), parameters, x)
        return y, pull(dy)

    def arrays(outcome):
        y, (gradients, dx) = outcome
        return {"y": y, "dx": dx, **{f"{key}_l0": gradient for key, gradient in gradients.items()}}

    return lambda: jax.block_until_ready(train(parameters, x, dy)), arrays


def _outputs(cell: str, p: dict, x: jax.Array) -> jax.Array:
    """y [T,B,H] from x [T,B,I]."""
    gates_x = x @ p["weight_ih"].T + p["bias_ih"]
    zeros = jnp.zeros((x.shape[1], p["weight_hh"].shape[1]), x.dtype)
    start = (zeros, zeros) if cell == "lstm" else (zeros,)

    def step(state, gates_x):
        state = STEPS[cell](gates_x, state[0] @ p["weight_hh"].T + p["bias_hh"], state)
        return state, state[0]

    return jax.lax.scan(step, start, gates_x)[1]


def _gru(gates_x, gates_h, state):
    (xr, xz, xn) = jnp.split(gates_x, 3, axis=1)
    (hr, hz, hn) = jnp.split(gates_h, 3, axis=1)
    z = sigmoid(xz + hz)
    n = jnp.tanh(xn + sigmoid(xr + hr) * hn)
    return ((1 - z) * n + z * state[0],)


def _lstm(gates_x, gates_h, state):
    i, f, g, o = jnp.split(gates_x + gates_h, 4, axis=1)
    c = sigmoid(f) * state[1] + sigmoid(i) * jnp.tanh(g)
    return sigmoid(o) * jnp.tanh(c), c


STEPS = {
    "rnn_tanh": lambda gates_x, gates_h, state: (jnp.tanh(gates_x + gates_h),),
    "rnn_relu": lambda gates_x, gates_h, state: (jax.nn.relu(gates_x + gates_h),),
    "gru": _gru,
    "lstm": _lstm,
}
