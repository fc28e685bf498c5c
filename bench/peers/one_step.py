"""One step of one sequence, without gradients, by each way there is: a token, a sample, a frame.

Every contestant keeps its own layout of the weights, made in `build`, which is not timed.  dy [1,1,H], which
no step needs, is the state that the step starts from (an LSTM's c, too).
"""

import os
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np

from rnnlab import reference
from rnnlab.cells import State
from rnnlab.ladder import find
from rnnlab.ladder.inference import Inference
from rnnlab.ladder.properties import WITH_KERNELS
from rnnlab.narrow import CONVERSIONS
from rnnlab.network import Network

RUNG_NAMES = "one_big_gemm", "numba_fused"  # in which a step is a forward pass with T = 1


def start(network: Network, dy: np.ndarray) -> State:
    """The state before the step, each [1,1,H]."""
    return (dy,) * len(network.properties.states)


def named(y: np.ndarray, state: State) -> dict[str, np.ndarray]:
    """Results by name: y [1,1,H] and the state after the step."""
    return {"y": np.reshape(y, (1, 1, -1)), **{f"state_{k}": part for k, part in enumerate(state)}}


def by_numpy(network: Network, x: np.ndarray, dy: np.ndarray) -> tuple[dict, str]:
    """The results in float64, and what computed them; see bench.workload.problem."""
    exact = network.astype("float64")
    in_float64 = lambda array: array.astype("float64")
    y, state, _ = reference.forward(exact, in_float64(x), start(exact, in_float64(dy)))
    return named(y, state), "NumPy in float64"


def refuses(name: str, network: Network, T: int, B: int) -> str | None:
    """Why this contestant cannot run that; None if it can."""
    if name in RUNG_NAMES:
        return find(name).refuses(network, T, B)
    if name == "pytorch_int8" and network.cell not in ("gru", "lstm"):
        return f"PyTorch quantizes no {network.cell}"
    known = name in ("inference", "weights") or network.cell in WITH_KERNELS
    return None if known else f"it has no {network.cell}"


def build(network: Network, x: np.ndarray, dy: np.ndarray, name: str) -> tuple[Callable, Callable]:
    """step and arrays (see bench.peers) of the contestant of that name."""
    ways = {rung: partial(_rung, rung) for rung in RUNG_NAMES}
    ways |= {f"inference_{weights}": partial(_inference, weights=weights) for weights in CONVERSIONS}
    ways |= {f"weights_{weights}": partial(_narrow_weights_once, weights) for weights in CONVERSIONS}
    ways |= {"inference": _inference, "weights": _weights_once, "jax": _jax}
    ways |= {"pytorch_module": _torch_module, "pytorch_cell": _torch_cell, "pytorch_int8": _torch_int8}
    return ways[name](network, x, start(network, dy))


def _inference(network, x, state, weights=""):
    answer = Inference(network, weights)
    x = x[0]
    return lambda: answer.step(x, state), lambda outcome: named(*outcome)


def _rung(name, network, x, state):
    rung = find(name).module
    return lambda: rung.forward(network, x, state), lambda outcome: named(*outcome[:2])


def _weights_once(network, x, state):
    """The bound: each number of the weights is read once, and multiplied by a number in the first cache."""
    from rnnlab.kernels.compiled.propagation import LARGE_PRODUCT
    from rnnlab.kernels.compiled.recurrence import product_by_rows

    layer = network.layer(0)
    pairs = [(x[0], layer.weight_ih), (state[0][0], layer.weight_hh)]
    rooms = [np.empty((1, len(weights)), x.dtype) for _, weights in pairs]
    large = 2 * layer.weight_hh.size >= LARGE_PRODUCT  # where BLAS's threads share the reading

    def step():
        for (vector, weights), room in zip(pairs, rooms, strict=True):
            if large:
                np.dot(weights, vector[0], out=room[0])
            else:
                product_by_rows(vector, weights, room)

    return step, lambda outcome: {}


def _narrow_weights_once(weights, network, x, state):
    """The bound of narrow weights: a step's products alone, in compiled code, by as many threads."""
    from numba import njit

    from rnnlab.kernels.compiled import narrow, shared_blocks
    from rnnlab.ladder.narrow_weights import NarrowWeights, workplace

    own = NarrowWeights(network, weights)
    own.step(x[0], state)
    place = workplace()
    rooms = np.empty((2, place.job[narrow.BLOCKS] * narrow.ROWS), np.float32)
    for number, room in enumerate(rooms):
        place.job[narrow.FIRST + number * narrow.FIELDS + narrow.OUT] = room.ctypes.data

    @njit(nogil=True)
    def products(job):
        shared_blocks.begin(job)
        job[narrow.IS_BACKWARD] = 1 - job[narrow.IS_BACKWARD]
        shared_blocks.compute(job)

    def step():
        place.wake(place.job[narrow.MEMBERS])
        products(place.job)
        return own, rooms  # whose memory the job has the addresses of

    return step, lambda outcome: {}


def _torch():
    import torch

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    torch.set_grad_enabled(False)
    return torch


def _alone(parts):
    """PyTorch's state: a tuple for an LSTM, else one tensor."""
    return parts if len(parts) > 1 else parts[0]


def _of_torch(y, state):
    parts = state if isinstance(state, tuple) else (state,)
    return named(y.numpy(), tuple(part.numpy().reshape(1, 1, -1) for part in parts))


def _torch_module(network, x, state):
    from bench.peers.torch_layers import module_of

    torch = _torch()
    return _step_of(module_of(network), torch, x, state)


def _torch_int8(network, x, state):
    """PyTorch's dynamic quantization: weights of 8 bits, laid out once, and inputs rounded in each step.

    It replaces modules within a module: a layer that stands alone would come back in float32.
    """
    from bench.peers.torch_layers import module_of

    torch = _torch()
    layer = module_of(network)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # torchao, its successor, has no recurrent layers
        quantized = torch.ao.quantization.quantize_dynamic(torch.nn.Sequential(layer), {type(layer)})
    return _step_of(quantized[0], torch, x, state)


def _step_of(module, torch, x, state):
    x = torch.from_numpy(x)
    state = _alone(tuple(map(torch.from_numpy, state)))
    return lambda: module(x, state), lambda outcome: _of_torch(*outcome)


def _torch_cell(network, x, state):
    torch = _torch()
    kind, *nonlinearity = network.cell.split("_")
    options = {"nonlinearity": nonlinearity[0]} if nonlinearity else {}
    cell = getattr(torch.nn, f"{kind.upper()}Cell")(network.input_size, network.hidden_size, **options)
    cell.load_state_dict({k.removesuffix("_l0"): torch.from_numpy(p) for k, p in network.parameters.items()})
    x = torch.from_numpy(x[0])
    state = _alone(tuple(torch.from_numpy(part[0]) for part in state))

    def first(outcome):
        return outcome[0] if isinstance(outcome, tuple) else outcome

    return lambda: cell(x, state), lambda outcome: _of_torch(first(outcome), outcome)


def _jax(network, x, state):
    import jax

    from bench.peers.jax_scan import STEPS

    p = {key.removesuffix("_l0"): jax.numpy.asarray(array) for key, array in network.parameters.items()}
    x = jax.numpy.asarray(x[0])
    state = tuple(jax.numpy.asarray(part[0]) for part in state)

    @jax.jit
    def step(p, x, state):
        gates = x @ p["weight_ih"].T + p["bias_ih"], state[0] @ p["weight_hh"].T + p["bias_hh"]
        return STEPS[network.cell](*gates, state)

    def results(outcome):
        return named(outcome[0], tuple(part[None] for part in outcome))

    return lambda: jax.block_until_ready(step(p, x, state)), results
