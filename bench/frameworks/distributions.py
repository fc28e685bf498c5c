"""Layers of each framework with random weights: what they compute, and their gradients, as plain arrays.

Each function of DISTRIBUTIONS yields a Case for every cell of its framework and every size; it imports the
framework, so that a missing one stops that function alone.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

os.environ.setdefault("KERAS_BACKEND", "jax")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

SIZES = ((6, 3, 5, 7), (1, 4, 3, 2), (9, 1, 1, 5), (1, 1, 1, 1))  # T, B, I, H


@dataclass(frozen=True)
class Case:
    """One layer, and what its framework computes for it: the gradients are those of Σ y·dy."""

    framework: str
    kind: str  # the class in that framework
    cell: str
    reset: str
    source: Any  # what Network.from_<framework> is given
    arrays: Any  # the layer's arrays as that framework stores them, nested or a list
    x: np.ndarray  # [T,B,I]
    dy: np.ndarray  # [T,B,H]
    y: np.ndarray  # [T,B,H]
    dx: np.ndarray | None = None
    gradients: Any = None  # as arrays

    @property
    def name(self) -> str:
        return f"{self.framework} {self.kind}"


def inputs(T: int, B: int, I: int, H: int) -> tuple[np.ndarray, np.ndarray]:
    """x [T,B,I] and dy [T,B,H] in float32."""
    rng = np.random.default_rng(T * 1000 + H)
    return rng.normal(size=(T, B, I)).astype("float32"), rng.normal(size=(T, B, H)).astype("float32")


def random_like(array: Any, rng: np.random.Generator) -> np.ndarray:
    """Values of that shape, biases included, which frameworks start at zero."""
    return rng.uniform(-0.6, 0.6, np.shape(array)).astype("float32")


def _torch_cases() -> Iterator[Case]:
    import torch

    modules = {
        "rnn_tanh": lambda I, H, L: torch.nn.RNN(I, H, L),
        "rnn_relu": lambda I, H, L: torch.nn.RNN(I, H, L, nonlinearity="relu"),
        "gru": lambda I, H, L: torch.nn.GRU(I, H, L),
        "lstm": lambda I, H, L: torch.nn.LSTM(I, H, L),
    }
    torch.manual_seed(3)
    for cell, make in modules.items():
        for layers, (T, B, I, H) in enumerate(SIZES, 1):
            module = make(I, H, min(layers, 3))
            x, dy = inputs(T, B, I, H)
            x_tensor = torch.tensor(x, requires_grad=True)
            y = module(x_tensor)[0]
            (y * torch.tensor(dy)).sum().backward()
            arrays = {name: p.detach().numpy().copy() for name, p in module.named_parameters()}
            gradients = {name: p.grad.numpy() for name, p in module.named_parameters()}
            results = (y.detach().numpy(), x_tensor.grad.numpy(), gradients)
            yield Case("torch", f"nn.{type(module).__name__}", cell, "after", module, arrays, x, dy, *results)


def _keras_cases() -> Iterator[Case]:
    import jax
    import keras

    layers = keras.layers
    kinds = {
        ("SimpleRNN", "rnn_tanh", "after"): lambda H: layers.SimpleRNN(H, return_sequences=True),
        ("SimpleRNN relu", "rnn_relu", "after"): lambda H: layers.SimpleRNN(
            H, activation="relu", return_sequences=True
        ),
        ("GRU", "gru", "after"): lambda H: layers.GRU(H, return_sequences=True),
        ("GRU reset_after=False", "gru", "before"): lambda H: layers.GRU(
            H, reset_after=False, return_sequences=True
        ),
        ("LSTM", "lstm", "after"): lambda H: layers.LSTM(H, return_sequences=True),
    }
    rng = np.random.default_rng(5)
    for (kind, cell, reset), make in kinds.items():
        for T, B, I, H in SIZES:
            layer = make(H)
            layer.build((None, None, I))
            layer.set_weights([random_like(w, rng) for w in layer.get_weights()])
            x, dy = inputs(T, B, I, H)
            rest = [v.value for v in layer.non_trainable_variables]

            def loss(weights, x, layer=layer, rest=rest, dy=dy):
                y = layer.stateless_call(weights, rest, x.swapaxes(0, 1))[0].swapaxes(0, 1)
                return (y * dy).sum(), y

            (_, y), (dw, dx) = jax.value_and_grad(loss, (0, 1), has_aux=True)(layer.get_weights(), x)
            results = (np.array(y), np.array(dx), [np.array(w) for w in dw])
            yield Case("keras", kind, cell, reset, layer, layer.get_weights(), x, dy, *results)


def _of_jax(
    framework: str,
    kind: str,
    cell: str,
    reset: str,
    arrays: Any,
    run: Callable,
    size: tuple,
    wrap=lambda a: a,
) -> Case:
    """A case of a function run(arrays, x) -> y in JAX, with random values in the place of these arrays."""
    import jax

    rng = np.random.default_rng(8)
    arrays = jax.tree.map(lambda a: random_like(a, rng), arrays)
    x, dy = inputs(*size)

    def loss(arrays, x):
        y = run(arrays, x)
        return (y * dy).sum(), y

    (_, y), (dw, dx) = jax.value_and_grad(loss, (0, 1), has_aux=True)(arrays, jax.numpy.asarray(x))
    to_numpy = lambda tree: jax.tree.map(np.array, tree)
    results = (np.array(y), np.array(dx), to_numpy(dw))
    return Case(framework, kind, cell, reset, wrap(arrays), to_numpy(arrays), x, dy, *results)


def _linen_cases() -> Iterator[Case]:
    import jax
    from flax import linen

    kinds = {
        ("SimpleCell", "rnn_tanh"): linen.SimpleCell,
        ("GRUCell", "gru"): linen.GRUCell,
        ("LSTMCell", "lstm"): linen.LSTMCell,
        ("OptimizedLSTMCell", "lstm"): linen.OptimizedLSTMCell,
        ("SimpleCell relu", "rnn_relu"): lambda features: linen.SimpleCell(
            features, activation_fn=jax.nn.relu
        ),
    }
    for (kind, cell), make in kinds.items():
        for size in SIZES:
            T, B, I, H = size
            layer = linen.RNN(make(features=H), time_major=True)
            variables = layer.init(jax.random.PRNGKey(0), jax.numpy.zeros((T, B, I)))
            yield _of_jax("linen", kind, cell, "after", dict(variables), layer.apply, size)


def _nnx_cases() -> Iterator[Case]:
    import jax
    from flax import nnx

    kinds = {
        ("SimpleCell", "rnn_tanh"): nnx.SimpleCell,
        ("GRUCell", "gru"): nnx.GRUCell,
        ("LSTMCell", "lstm"): nnx.LSTMCell,
        ("OptimizedLSTMCell", "lstm"): nnx.OptimizedLSTMCell,
        ("SimpleCell relu", "rnn_relu"): lambda I, H, rngs: nnx.SimpleCell(
            I, H, activation_fn=jax.nn.relu, rngs=rngs
        ),
    }
    for (kind, cell), make in kinds.items():
        for size in SIZES:
            module = make(size[2], size[3], rngs=nnx.Rngs(0))
            definition, state = nnx.split(module)

            def run(arrays, x, definition=definition, state=state):
                nnx.replace_by_pure_dict(state, arrays)
                return nnx.RNN(nnx.merge(definition, state), time_major=True)(x)

            def module_of(arrays, definition=definition, state=state):
                nnx.replace_by_pure_dict(state, arrays)
                return nnx.merge(definition, state)

            yield _of_jax("nnx", kind, cell, "after", nnx.to_pure_dict(state), run, size, module_of)


def _equinox_cases() -> Iterator[Case]:
    import equinox
    import jax

    for kind, cell in (("GRUCell", "gru"), ("LSTMCell", "lstm")):
        for size in SIZES:
            _, B, I, H = size
            module = getattr(equinox.nn, kind)(I, H, key=jax.random.PRNGKey(0))
            names = ("weight_ih", "weight_hh", "bias", *(["bias_n"] if kind == "GRUCell" else []))
            place = lambda m, names=names: [getattr(m, name) for name in names]
            merged = lambda a, m=module, p=place, n=names: equinox.tree_at(p, m, [a[k] for k in n])

            def run(arrays, x, merged=merged, cell=cell, B=B, H=H):
                one = jax.vmap(merged(arrays))
                zero = jax.numpy.zeros((B, H))
                first = (zero, zero) if cell == "lstm" else zero

                def step(state, x_t):
                    state = one(x_t, state)
                    return state, state[0] if cell == "lstm" else state

                return jax.lax.scan(step, first, x)[1]

            arrays = {name: np.array(getattr(module, name)) for name in names}
            yield _of_jax("equinox", kind, cell, "after", arrays, run, size, merged)


def _haiku_cases() -> Iterator[Case]:
    import haiku
    import jax

    kinds = {
        ("VanillaRNN", "rnn_relu", "after"): lambda H: haiku.VanillaRNN(H),
        ("GRU", "gru", "before"): lambda H: haiku.GRU(H),
        ("LSTM", "lstm", "after"): lambda H: haiku.LSTM(H),
    }
    for (kind, cell, reset), make in kinds.items():
        for size in SIZES:

            def layer(x, make=make, B=size[1], H=size[3]):
                core = make(H)
                return haiku.dynamic_unroll(core, x, core.initial_state(B))[0]

            layer = haiku.without_apply_rng(haiku.transform(layer))
            arrays = layer.init(jax.random.PRNGKey(0), jax.numpy.zeros(size[:3]))
            yield _of_jax("haiku", kind, cell, reset, arrays, layer.apply, size)


def _mlx_cases() -> Iterator[Case]:
    import mlx.core as mx
    import mlx.nn as nn

    kinds = {
        ("RNN", "rnn_tanh"): nn.RNN,
        ("RNN relu", "rnn_relu"): lambda I, H: nn.RNN(I, H, nonlinearity=nn.relu),
        ("RNN relu in a Sequential", "rnn_relu"): lambda I, H: nn.RNN(I, H, nonlinearity=nn.relu),
        ("GRU", "gru"): nn.GRU,
        ("LSTM", "lstm"): nn.LSTM,
    }
    rng = np.random.default_rng(4)
    for (kind, cell), make in kinds.items():
        for size in SIZES:
            module = make(size[2], size[3])
            arrays = {name: random_like(a, rng) for name, a in module.parameters().items()}
            module.update({name: mx.array(a) for name, a in arrays.items()})
            x, dy = inputs(*size)
            rows = mx.array(x.swapaxes(0, 1))

            def run(parameters, rows, module=module, cell=cell):
                module.update(parameters)
                y = module(rows)
                return y[0] if cell == "lstm" else y

            weights = mx.array(dy.swapaxes(0, 1))
            loss = lambda p, rows, run=run, weights=weights: (run(p, rows) * weights).sum()
            y = np.array(run(module.parameters(), rows)).swapaxes(0, 1)
            dw, dx = mx.grad(loss, (0, 1))(module.parameters(), rows)
            module.update({name: mx.array(a) for name, a in arrays.items()})
            gradients = {name: np.array(a) for name, a in dw.items()}
            source = nn.Sequential(module) if "Sequential" in kind else module
            results = (y, np.array(dx).swapaxes(0, 1), gradients)
            yield Case("mlx", kind, cell, "after", source, arrays, x, dy, *results)


DISTRIBUTIONS = {  # distribution that is tried: its cases
    "torch": _torch_cases,
    "keras": _keras_cases,
    "flax (linen)": _linen_cases,
    "flax (nnx)": _nnx_cases,
    "equinox": _equinox_cases,
    "dm-haiku": _haiku_cases,
    "mlx": _mlx_cases,
}
