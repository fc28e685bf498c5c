"""One layer of the persistent rung, forward and backward: products over all steps, and one kernel between.

A pass copies its arrays to the GPU, launches the kernel of `kernels` once for the whole sequence, and copies
the results back. The weights stay in registers, shared out by `tiles_of`.
"""

from collections.abc import Callable, Sequence

import numpy as np

from rnnlab.cells import State
from rnnlab.kernels.cells import KERNEL_PROPERTIES
from rnnlab.kernels.persistence.tiles import Tiles, tiles_for
from rnnlab.layers import history, parameter_gradients
from rnnlab.network import Network, check_cell, merged_bias, step_vectors

Arrays = dict[str, np.ndarray]


def tiles_of(network: Network) -> Tiles:
    """How a layer's weights are shared out on the GPU at hand, or on the one that is simulated."""
    return tiles_for(network.gates, network.hidden_size, *_chip())


def kernels_of(network: Network, tiles: Tiles) -> tuple[Callable, Callable]:
    """The kernels forward and backward; their arguments are the same for every cell."""
    from rnnlab.kernels.persistence import kernels

    arguments = network.cell, tiles, network.dtype
    return kernels.forward_kernel(*arguments), kernels.backward_kernel(*arguments)


def layer_forward(network: Network, index: int, x: np.ndarray, state: State) -> tuple:
    """y [T,B,H] of a layer, its last state [B,H] and what it saves, from x [T,B,I] and its first state.

    Saved are x; gates [T,B,G·H]; h [T+1,B,H]; reserve, see pointwise.py, [T,B,H,.], one step more where there
    is a c.
    """
    check_cell(network, KERNEL_PROPERTIES)
    properties = KERNEL_PROPERTIES[network.cell]
    layer = network.layer(index)
    (T, B, _) = x.shape
    H = network.hidden_size
    gates = x @ layer.weight_ih.T + merged_bias(network, layer)
    h = history(T, state[0])
    steps = T + properties.has_c
    numbers = properties.has_c + properties.saves
    reserve = np.empty((steps, B, H, max(1, numbers)), x.dtype)
    if properties.has_c:
        reserve[0, ..., 0] = state[1]
    tiles = tiles_of(network)
    kernel, _ = kernels_of(network, tiles)
    parameters = layer.weight_hh, step_vectors(network, layer)
    launch(kernel, tiles, (T, B), parameters, (gates, h, reserve))
    last = (h[-1],)
    if properties.has_c:
        last += (reserve[-1, ..., 0],)
    saved = {"x": x, "gates": gates, "h": h, "reserve": reserve}
    return h[1:], last, saved


def layer_backward(
    network: Network, index: int, saved: Arrays, dy: np.ndarray, dstate: State
) -> tuple[np.ndarray, State, tuple[np.ndarray, ...]]:
    """dx [T,B,I], the initial state's gradient [B,H], and gradients, from dy [T,B,H] and dstate [B,H]."""
    layer = network.layer(index)
    x = saved["x"]
    (T, B, _) = x.shape
    H = network.hidden_size
    dgates = np.empty_like(saved["gates"])
    dgates_h = np.empty_like(dgates) if network.properties.inner_bias else dgates
    properties = KERNEL_PROPERTIES[network.cell]
    passing = properties.has_c + properties.passes_h
    numbers = passing + properties.own_vectors
    carry = np.zeros((B, H, max(1, numbers)), dy.dtype)
    if properties.has_c:
        carry[..., 0] = dstate[1]
    tiles = tiles_of(network)
    _, kernel = kernels_of(network, tiles)
    parameters = layer.weight_hh, step_vectors(network, layer)
    h = saved["h"]
    read = *parameters, saved["gates"], h, saved["reserve"], dy, dstate[0]
    launch(kernel, tiles, (T, B), read, (carry, dgates, dgates_h))
    columns = np.moveaxis(carry, -1, 0)  # [.,B,H]
    dh = dgates_h[0] @ layer.weight_hh
    if properties.passes_h:
        dh = dh + columns[passing - 1]
    first = (dh, columns[0]) if properties.has_c else (dh,)
    of_vectors = columns[passing:numbers]
    gradients = parameter_gradients(dgates, x, dgates_h, h[:-1], *of_vectors)
    return dgates @ layer.weight_ih, first, gradients


def launch(
    kernel: Callable,
    tiles: Tiles,
    sizes: tuple[int, int],
    read: Sequence[np.ndarray],
    written: Sequence[np.ndarray],
) -> None:
    """Launch on device copies of arrays of any shape, the first of them the weights; `written` come back.

    sizes: T, B. Raises RuntimeError if blocks are missing at a barrier.
    """
    from pocketgpu import cuda

    def copy(array):
        flat = np.ascontiguousarray(array).reshape(-1)
        return cuda.to_device(flat)

    flags = copy(np.zeros(tiles.blocks, "int32"))
    failed = copy(np.zeros(1, "int32"))
    weights, *rest = read
    copies = {id(array): copy(array) for array in written}  # dgates and dgates_h may be one array
    outputs = [copies[id(array)] for array in written]
    arguments = [*map(copy, rest), *outputs]
    weights = cuda.to_device(np.ascontiguousarray(weights))
    kernel[tiles.blocks, tiles.threads](weights, *arguments, flags, failed, *sizes)
    if barrier := int(failed.copy_to_host()[0]):
        raise RuntimeError(
            f"blocks are missing at barrier {barrier}: more were launched than can run at once"
        )
    for array, output in zip(written, outputs, strict=True):
        array.reshape(-1)[:] = output.copy_to_host()


def _chip() -> tuple[int, int]:
    """(multiprocessors, architecture) of the GPU at hand, or of the one that is simulated."""
    from pocketgpu import cuda

    if cuda.is_simulated:
        from pocketgpu.simulator.settings import current

        sheet = current().sheet
        return sheet.multiprocessors, sheet.compute_capability[0]
    device = cuda.get_current_device()
    return device.MULTIPROCESSOR_COUNT, device.compute_capability[0]
