"""A layer's whole sequence in one kernel: the recurrent weights are read once and stay in registers.

Launches per layer: graph_replay's nodes, two a step, become one kernel.  Reads of recurrent weights: H²
numbers a gate for every step → for every sequence.  Exchanges between blocks: one a step, of B·H numbers;
two for a GRU that resets before its product, which waits for r.  What does not wait for a step, the products
with the inputs and those of the weight gradients, are products over all steps, as in one_big_gemm.
"""

from collections.abc import Callable

import numpy as np

from rnnlab.cells import STATES, resets_before
from rnnlab.kernels.persistence.chooser import persistent_layer
from rnnlab.kernels.persistence.tiles import Tiles, tiles_for
from rnnlab.ladder.facts import Facts, Ledger
from rnnlab.network import check_gradients, check_input

FACTS = Facts(
    idea="one kernel for a sequence: weights stay in registers",
    lesson="persistent_rnn",
    needs="cuda",
    package="numba",
    ledger=Ledger("weights", lambda n: n.G * n.H**2),
    step_us=persistent_layer,
)


def forward(network, x, state=None):
    """y [T,B,H], final state, saved; see rnnlab.ladder."""
    state = check_input(network, x, state)
    saved, final = [], []
    for index in range(network.layers):
        layer_saved = _layer_forward(network, index, x, state)
        saved.append(layer_saved)
        x = layer_saved["h"][1:]
        ends = (
            (layer_saved["h"][-1], layer_saved["reserve"][-1])
            if network.cell == "lstm"
            else (layer_saved["h"][-1],)
        )
        final.append(ends)
    return x.copy(), tuple(np.stack(parts) for parts in zip(*final, strict=True)), saved


def backward(network, saved, dy, dstate=None):
    """dx [T,B,I], dstate, gradients; see rnnlab.ladder."""
    dstate = check_gradients(network, *saved[0]["x"].shape[:2], dy, dstate)
    gradients, first = {}, []
    for index in reversed(range(network.layers)):
        parts = tuple(part[index] for part in dstate)
        dy, dfirst, layer_gradients = _layer_backward(network, index, saved[index], dy, parts)
        gradients |= layer_gradients
        first.insert(0, dfirst)
    ordered = {name: gradients[name] for name in network.parameters}
    return dy, tuple(np.stack(parts) for parts in zip(*first, strict=True)), ordered


def tiles_of(network) -> Tiles:
    """How a layer's weights are shared out on the GPU at hand, or on the one that is simulated."""
    return tiles_for(network.gates, network.hidden_size, *_chip())


def kernels_of(network, tiles) -> tuple[Callable, Callable]:
    """The kernels forward and backward; their arguments are the same for every cell."""
    from rnnlab.kernels.persistence import kernels, reset_before

    if resets_before(network.cell, network.reset):
        makers, arguments = reset_before, (tiles, network.dtype)
    else:
        makers, arguments = kernels, (network.cell, tiles, network.dtype)
    return makers.forward_kernel(*arguments), makers.backward_kernel(*arguments)


def why_not(network, T, B) -> str | None:
    """Why this network does not stay in the registers of the GPU at hand; None if it does."""
    try:
        tiles_of(network)
    except ValueError as error:
        return str(error)
    return None


def _chip() -> tuple[int, int]:
    """(multiprocessors, architecture) of the GPU at hand, or of the one that is simulated."""
    from rnnlab import cuda

    if cuda.is_simulated:
        from rnnlab.simulator.settings import current

        return current().sheet.multiprocessors, current().sheet.compute_capability[0]
    device = cuda.get_current_device()
    return device.MULTIPROCESSOR_COUNT, device.compute_capability[0]


def _layer_forward(network, index, x, state):
    layer, (T, B, _), H = network.layer(index), x.shape, network.hidden_size
    bias = layer.bias_ih + layer.bias_hh
    if _resets_after(network):
        bias[2 * H :] = layer.bias_ih[2 * H :]
    gates = x @ layer.weight_ih.T + bias
    h, reserve = _history(T, state[0][index]), np.empty((T, B, H), x.dtype)
    if network.cell == "lstm":
        reserve = _history(T, state[1][index])
    tiles = tiles_of(network)
    kernel, _ = kernels_of(network, tiles)
    _launch(kernel, tiles, (T, B), (layer.weight_hh, layer.bias_hh[-H:]), (gates, h, reserve))
    return {"x": x, "gates": gates, "h": h, "reserve": reserve}


def _layer_backward(network, index, saved, dy, dstate):
    layer, (T, B, _), H = network.layer(index), saved["x"].shape, network.hidden_size
    dgates = np.empty_like(saved["gates"])
    dgates_u = np.empty_like(dgates) if _resets_after(network) else dgates
    carry = np.array(dstate[1]) if network.cell == "lstm" else np.zeros((B, H), dy.dtype)
    tiles = tiles_of(network)
    _, kernel = kernels_of(network, tiles)
    read = layer.weight_hh, saved["gates"], saved["h"], saved["reserve"], dy, dstate[0]
    _launch(kernel, tiles, (T, B), read, (carry, dgates, dgates_u))
    of_h = _rows_of_h(network)
    dh = dgates_u[0, :, :of_h] @ layer.weight_hh[:of_h] + (carry if network.cell == "gru" else 0)
    flat, flat_h = dgates.reshape(T * B, -1), dgates_u.reshape(T * B, -1)
    gradients = (
        flat.T @ saved["x"].reshape(T * B, -1),
        _recurrent_gradient(flat_h, saved, of_h),
        flat.sum(0),
        flat_h.sum(0),
    )
    names = (f"{name}_l{index}" for name in layer._fields)
    return (
        dgates @ layer.weight_ih,
        (dh, carry)[: len(STATES[network.cell])],
        dict(zip(names, gradients, strict=True)),
    )


def _recurrent_gradient(dgates_u, saved, of_h):
    """dW_hh [G·H,H], against what the weights multiplied: h, and r∘h in the rows from of_h on."""
    steps, H = len(dgates_u), saved["h"].shape[-1]
    gradient = dgates_u[:, :of_h].T @ saved["h"][:-1].reshape(steps, H)
    if of_h == dgates_u.shape[1]:
        return gradient
    return np.concatenate([gradient, dgates_u[:, of_h:].T @ saved["reserve"].reshape(steps, H)])


def _resets_after(network):
    return network.cell == "gru" and network.reset == "after"


def _rows_of_h(network):
    """How many rows of the recurrent weights multiply h; those after them multiply r∘h."""
    gates = 2 if resets_before(network.cell, network.reset) else network.gates
    return gates * network.hidden_size


def _launch(kernel, tiles, sizes, read, written):
    """Launch on device copies, the first of them the weights; those of `written` are brought back.

    Raises RuntimeError if blocks are missing at a barrier.
    """
    from rnnlab import cuda

    copy = lambda array: cuda.to_device(np.ascontiguousarray(array).reshape(-1))
    flags, failed = copy(np.zeros(tiles.blocks, "int32")), copy(np.zeros(1, "int32"))
    weights, *rest = read
    outputs = {id(array): copy(array) for array in written}  # dgates and dgates_u may be one array
    arguments = [*map(copy, rest), *(outputs[id(array)] for array in written)]
    weights = cuda.to_device(np.ascontiguousarray(weights))
    kernel[tiles.blocks, tiles.threads](weights, *arguments, flags, failed, *sizes)
    if barrier := int(failed.copy_to_host()[0]):
        raise RuntimeError(
            f"blocks are missing at barrier {barrier}: more were launched than can run at once"
        )
    for array in written:
        array.reshape(-1)[:] = outputs[id(array)].copy_to_host()


def _history(T, first):
    history = np.empty((T + 1, *first.shape), first.dtype)
    history[0] = first
    return history
