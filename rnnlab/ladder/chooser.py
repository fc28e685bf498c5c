"""Choice of the quickest way to run a network, and why not another: on a CPU measured, on a GPU predicted.

Every way either refuses, with the reason, or has a time for each step.  `fastest` is for everybody: it runs
each rung on this CPU, or asks `choose`, which launches nothing, about a GPU.

The data sheet of the GPU at hand comes from what the device says of itself.  A device does not state how
many multiply-adds a multiprocessor starts: that is by compute capability, from NVIDIA's tables and data
sheets (A10, L40S, B200 and RTX PRO 6000 for the tensor cores that the course's own sheets lack; none of
these was measured here).
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from pocketgpu.devices import DEVICES, Device, nearest_older
from rnnlab.cells import State, find_cell
from rnnlab.compare import relative_error
from rnnlab.gpu.cuda_driver import LARGE_CLUSTERS, call, clusters_at_once
from rnnlab.kernels.persistence.floor import TF32, floor, latencies_of, tensor_peak
from rnnlab.kernels.persistence.fragments import ITEMSIZE
from rnnlab.kernels.persistence.shapes import (
    MOST_CLUSTER,
    PORTABLE,
    cluster_shape,
    grid_shape,
    supported_cells,
)
from rnnlab.kernels.persistence.tiles import tiles_for
from rnnlab.ladder import RUNGS, Rung
from rnnlab.ladder.inference import Inference
from rnnlab.network import Network, check_input
from rnnlab.schedule.build import forward_plan
from rnnlab.schedule.plan import Sizes
from rnnlab.schedule.timeline import BEST, TILE, throughput
from rnnlab.timings import Timing, disturbance, load_of_a_core

LANES = {(5, 0): 128, (6, 0): 64, (6, 1): 128, (7, 0): 64, (8, 6): 128}  # fp32 multiply-adds a cycle
TENSOR_RATE = {  # dense 16-bit FLOP a multiprocessor starts in a cycle, sums in float32
    (7, 0): 1024,
    (8, 0): 2048,
    (8, 6): 1024,
    (9, 0): 4096,
    (10, 0): 8192,
    (12, 0): 1024,  # GeForce cards from 8.6 on reach half
}
ATTRIBUTES = {  # of a Device: the driver's name for it
    "l2": "L2CacheSize",
    "shared_per_multiprocessor": "MaxSharedMemoryPerMultiprocessor",
    "shared_per_block": "MaxSharedMemoryPerBlock",
    "shared_per_block_most": "MaxSharedMemoryPerBlockOptin",
    "threads_per_multiprocessor": "MaxThreadsPerMultiProcessor",
    "blocks_per_multiprocessor": "MaxBlocksPerMultiprocessor",
    "threads_per_block": "MaxThreadsPerBlock",
}
CLUSTERS_FROM = (9, 0)
BLOCK = 256  # threads: eight warps, as the cluster kernel has at most
NOTHING = 'extern "C" __global__ void nothing(int) {}'
ONE_STEP = Sizes(T=1, B=1, I=1, H=1, L=1)
EXACT = "one_big_gemm"  # with whose results those of narrower numbers are compared: it runs every network
ROUNDS = 7  # in which each way is timed once, in turns
GPU_DTYPES = ("float32", "tf32", "bfloat16", "float16")
NARROW = ("bfloat16", "int8")  # precisions below a network's own, the widest first
HOPELESS = 4.0  # times the quickest first run: a way this slow is not timed again

Runs = dict[str, Callable[[], object]]  # ways to run a network, by name


@dataclass(frozen=True)
class Abilities:
    """Features of a GPU; the sheet has the multiprocessors that can be used, fewer in a MIG slice."""

    sheet: Device
    cooperative: bool = True  # does the driver promise that all blocks run at once?
    clusters: bool = True  # of 16 blocks
    graphs: bool = True


class GpuLayer(NamedTuple):
    """A layer on a GPU: T steps of B sequences."""

    cell: str
    hidden: int
    dtype: str
    T: int
    B: int
    gpu: Abilities

    @property
    def rows(self) -> int:
        """Rows of the recurrent weights [G·H,H]."""
        return len(find_cell(self.cell).gates) * self.hidden

    @property
    def flops(self) -> int:
        """Floating-point operations of a step's recurrent product."""
        return 2 * self.rows * self.hidden * self.B


class Way(NamedTuple):
    """One way to run a layer."""

    name: str
    step: float | None  # microseconds; None where it does not run
    why_not: str = ""
    error: float = 0.0  # largest relative error of its results, against the network's own precision

    def __str__(self) -> str:
        if self.step is None:
            return f"{self.name}: {self.why_not}"
        time = f"{self.name}: {self.step:.2f} µs a step"
        if not self.error:
            return time
        percent = 100 * self.error
        return f"{time}, results off by {percent:.2g} % of their norm"


class Choice(NamedTuple):
    """Name of the quickest way, and all ways with the time of their step or the reason against them."""

    name: str
    ways: tuple[Way, ...]
    source: str = "predicted"
    disturbed: str = ""  # a sentence, empty if no other program was noticed

    def __str__(self) -> str:
        lines = [*map(str, self.ways)]
        if self.disturbed:
            lines.append(f"the order may be another: {self.disturbed}")
        heading = f"{self.name}, {self.source}"
        return "\n".join([heading, *(f"  {line}" for line in lines)])


def fastest(
    network: Network,
    x: np.ndarray,
    *,
    gradients: bool = True,
    gpu: Abilities | None = None,
    dtype: str = "float32",
    precision: str = "",
) -> Choice:
    """The quickest way to run a network on x [T,B,I], forward and backward, or forward alone.

    On this CPU every rung runs, and the median of ROUNDS counts, in turns; without gradients rnnlab.Inference
    competes, too.  For a GPU, such as `abilities()` finds, a model predicts the forward step, in `dtype`.
    The choice prints as a table.

    precision: "bfloat16" allows ways that round weights and states to 16 bits, "int8" also weights of 8 bits,
    which only answer.  The table says how far the results for this x are from the network's own precision.
    Raises ValueError for another precision.
    """
    if gpu is not None:
        return choose(network.cell, network.hidden_size, dtype, x.shape[:2], gpu)
    if precision not in ("", *NARROW):
        names = ", ".join(map(repr, NARROW))
        raise ValueError(f"precision is {precision!r}: choose from {names}, or leave it out")
    allowed = NARROW[: NARROW.index(precision) + 1] if precision else ()
    state = check_input(network, x)
    run = _training_step if gradients else _forward
    runs = {}
    refused = {}
    narrow = []
    for rung in RUNGS:
        properties = rung.properties
        if properties.needs != "cpu":
            continue
        if why_not := _refusal(rung, network, x.shape[:2], allowed):
            refused[rung.name] = why_not
            continue
        runs[rung.name] = partial(run, rung, network, x)
        if properties.precision:
            narrow.append(rung.name)
    if not gradients:
        runs["inference"] = partial(_answer, Inference(network), x, state)
        answers = _narrow_answers(network, x, state, allowed, refused)
        runs |= answers
        narrow += answers
    return _measure(runs, narrow, refused, len(x))


def _measure(runs: Runs, narrow: list[str], refused: dict[str, str], T: int) -> Choice:
    """The quickest of the runs, of T steps each; those in `narrow` are compared with exact results."""
    timings = _in_turns(runs)
    exact = runs[EXACT]() if narrow else []
    errors = {name: max(map(relative_error, runs[name](), exact)) for name in narrow}
    ways = []
    for name, timing in timings.items():
        microseconds = 1e6 * timing.median / T
        ways.append(Way(name, microseconds, error=errors.get(name, 0.0)))
    ways.sort(key=lambda way: way.step)
    ways += [Way(name, None, why) for name, why in refused.items()]
    return Choice(ways[0].name, tuple(ways), "measured", disturbance(timings))


def _narrow_answers(
    network: Network, x: np.ndarray, state: State, allowed: tuple[str, ...], refused: dict[str, str]
) -> Runs:
    """Inference with each of the allowed weights, by name; why not is added to `refused`."""
    answers = {}
    for weights in allowed:
        name = f"inference, {weights} weights"
        try:
            # a copy: narrow weights make the network's read-only
            answer = Inference(network.astype(network.dtype), weights)
        except ValueError as error:
            refused[name] = str(error)
        else:
            answers[name] = partial(_answer, answer, x, state)
    return answers


def _refusal(rung: Rung, network: Network, sizes: tuple[int, int], allowed: tuple[str, ...]) -> str | None:
    """Why a rung does not take part; None if it does."""
    why_not = rung.refuses(network, *sizes)
    precision = rung.properties.precision
    if why_not or not precision or precision in allowed:
        return why_not
    return f"it rounds to {precision}: allow that with precision={precision!r}"


def _forward(rung: Rung, network: Network, x: np.ndarray) -> list[np.ndarray]:
    y, _, _ = rung.module.forward(network, x, None)
    return [y]


def _training_step(rung: Rung, network: Network, x: np.ndarray) -> list[np.ndarray]:
    y, _, saved = rung.module.forward(network, x, None)
    dx, _, gradients = rung.module.backward(network, saved, np.ones_like(y), None)
    return [y, dx, *gradients.values()]


def _answer(answer: Inference, x: np.ndarray, state: State) -> list[np.ndarray]:
    if len(x) > 1:
        y, _ = answer.run(x, state)
        return [y]
    y, _ = answer.step(x[0], state)
    return [y[None]]


def _in_turns(runs: Runs) -> dict[str, Timing]:
    """ROUNDS timings of each, or one where that was HOPELESS; nothing is timed cold.

    A bar appears where it takes longer than a second: compiled rungs are compiled first.
    """
    from tqdm.auto import tqdm

    tqdm.monitor_interval = 0  # no thread beside the bar
    load = load_of_a_core()
    with tqdm(total=len(runs), desc="running each way", delay=1.0, leave=False) as bar:
        seconds = {}
        for name, run in runs.items():
            bar.set_postfix_str(name)
            run()
            seconds[name] = [_seconds(run)]
            bar.update()
    limit = HOPELESS * min(first for (first,) in seconds.values())
    hopeful = [name for name, (first,) in seconds.items() if first <= limit]
    for name in tqdm(hopeful * ROUNDS, desc="timing the quickest", delay=1.0, leave=False):
        seconds[name].append(_seconds(runs[name]))
    load = max(load, load_of_a_core())
    timings = {}
    for name, times in seconds.items():
        if len(times) == 1:
            times = 2 * times  # quartiles want two
        timings[name] = Timing(tuple(times), load)
    return timings


def _seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def choose(cell: str, hidden: int, dtype: str, sizes: tuple[int, int], gpu: Abilities) -> Choice:
    """For T steps of B sequences (sizes); dtype float32, tf32, bfloat16 or float16.

    Raises ValueError for a cell, dtype or size that nothing here knows.
    """
    T, B = sizes
    cells = supported_cells()
    if cell not in cells or dtype not in GPU_DTYPES:
        raise ValueError(f"{cell} in {dtype}: cells are {', '.join(cells)}, dtypes {', '.join(GPU_DTYPES)}")
    if min(hidden, T, B) < 1:
        raise ValueError(f"{hidden} units, {T} steps and {B} sequences: each must be at least 1")
    layer = GpuLayer(cell, hidden, dtype, T, B, gpu)
    predicted = [rung for rung in RUNGS if rung.properties.step_us is not None]
    ways = tuple(_way(rung, layer) for rung in predicted)
    possible = [way for way in ways if way.step is not None]
    best = min(possible, key=lambda way: way.step)
    return Choice(best.name, ways)


def abilities() -> Abilities:
    """Features of the current GPU.  Raises RuntimeError where CuPy finds none."""
    import cupy

    try:
        number = cupy.cuda.runtime.getDevice()
        properties = cupy.cuda.runtime.getDeviceProperties(number)
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise RuntimeError(f"CuPy finds no GPU: {error}") from error
    attributes = cupy.cuda.Device(number).attributes
    sheet = own_sheet(properties, attributes)
    clusters = has_large_clusters(sheet.compute_capability)
    return Abilities(sheet, bool(attributes["CooperativeLaunch"]), clusters)


def _way(rung: Rung, layer: GpuLayer) -> Way:
    try:
        return Way(rung.name, rung.properties.step_us(layer))
    except ValueError as error:
        return Way(rung.name, None, str(error))


def launch_by_launch(layer: GpuLayer) -> float:
    """Predicted microseconds of a step whose kernels the host launches one by one."""
    kernels = forward_plan(find_cell(layer.cell).name, ONE_STEP).count()
    return kernels * layer.gpu.sheet.launch + _product(layer)


def replayed_graph(layer: GpuLayer) -> float:
    """Predicted microseconds of a step in a CUDA graph: a product and a pointwise kernel."""
    sheet = layer.gpu.sheet
    _require(layer.gpu.graphs, f"{sheet.name} records no graphs here")
    return 2 * sheet.node + _product(layer)


def persistent_layer(layer: GpuLayer) -> float:
    """Predicted microseconds of a step of the persistent kernel on FP32 lanes."""
    sheet = layer.gpu.sheet
    _require_steps(layer)
    _require(layer.dtype == "float32", "its kernels compute in float32")
    _require_cooperation(layer)
    G = layer.rows // layer.hidden
    (major, _) = sheet.compute_capability
    tiles_for(G, layer.hidden, sheet.multiprocessors, major)
    flops_per_microsecond = BEST * sheet.peak * 1e6
    return latencies_of(sheet).grid_barrier + layer.flops / flops_per_microsecond


def persistent_over_the_grid(layer: GpuLayer) -> float:
    """Predicted microseconds of a step of the persistent kernel on tensor cores."""
    _require_steps(layer)
    _require_cooperation(layer)
    _require(layer.dtype != "float32", "tensor cores round float32 to TF32: choose tf32 if that suffices")
    cell, hidden, dtype, _, B, gpu = layer
    shape = grid_shape(cell, hidden, dtype, B, gpu.sheet)
    return floor(shape, B, gpu.sheet).step


def persistent_in_clusters(layer: GpuLayer) -> float:
    """Predicted microseconds of a step of the persistent kernel in clusters of blocks."""
    _require_steps(layer)
    _require(layer.dtype != "float32", "its kernels multiply 16-bit numbers")
    cell, hidden, dtype, _, B, gpu = layer
    shape = cluster_shape(cell, hidden, dtype, gpu.sheet)
    has_room = gpu.clusters or shape.cluster <= PORTABLE
    _require(has_room, f"{gpu.sheet.name} has no room for clusters of 16 blocks here")
    return floor(shape, B, gpu.sheet).step


def _product(layer: GpuLayer) -> float:
    """Microseconds of a step's recurrent product through cuBLAS, by the timeline's model, weights read.

    Tensor cores are as much faster than the lanes of float32 as their peak is.
    """
    device = layer.gpu.sheet
    (tile_rows, tile_columns) = TILE
    tiles = -(-layer.rows // tile_rows) * -(-layer.B // tile_columns)
    work = throughput(device, tiles)
    if layer.dtype != "float32":
        peak = tensor_peak(device) or device.peak
        share = TF32 if layer.dtype == "tf32" else 1
        work *= peak * share / device.peak
    size = layer.rows * layer.hidden * ITEMSIZE.get(layer.dtype, 4)
    stays_in_l2 = size <= device.l2
    bandwidth = latencies_of(device).l2_bandwidth if stays_in_l2 else device.bandwidth
    return max(layer.flops / work, size / bandwidth * 1e-3)


def _require_steps(layer: GpuLayer) -> None:
    _require(layer.T > 1, "one step has nothing to keep weights for")


def _require_cooperation(layer: GpuLayer) -> None:
    name = layer.gpu.sheet.name
    _require(layer.gpu.cooperative, f"{name} does not promise here that all blocks run at once")


def _require(holds: bool, why_not: str) -> None:
    if not holds:
        raise ValueError(why_not)


def own_sheet(properties: Mapping[str, Any], attributes: Mapping[str, int]) -> Device:
    """A Device from cudaDeviceProp and the device's attributes, as CuPy names them.

    launch and node are those of the newest sheet that is not newer than the device: no device states them.
    """
    capability = properties["major"], properties["minor"]
    sheets = {sheet.compute_capability: sheet for sheet in reversed(DEVICES.values())}
    near = nearest_older(sheets, capability)
    kilohertz = attributes.get("ClockRate")
    clock = 1e-6 * kilohertz if kilohertz else near.clock
    memory_kilohertz = attributes.get("MemoryClockRate", 0)
    bus_width = attributes.get("GlobalMemoryBusWidth", 0)  # bits
    bandwidth = 2 * (memory_kilohertz * bus_width) / 8 * 1e-6  # two transfers a cycle
    multiprocessors = properties["multiProcessorCount"]
    has_tensor_cores = capability >= min(TENSOR_RATE)
    rate = nearest_older(TENSOR_RATE, capability) if has_tensor_cores else 0
    peak = 1e-3 * rate * multiprocessors * clock
    registers = attributes.get("MaxRegistersPerMultiprocessor") or 1 << 16
    limits = {field: attributes.get(name) or getattr(near, field) for field, name in ATTRIBUTES.items()}
    return replace(
        near,
        name=properties["name"].decode(),
        compute_capability=capability,
        multiprocessors=multiprocessors,
        lanes=nearest_older(LANES, capability),
        clock=clock,
        bandwidth=bandwidth or near.bandwidth,
        assumed=True,
        registers_per_multiprocessor=4 * registers,
        tensor_peak=peak or None,
        **limits,
    )


@cache
def has_large_clusters(capability: tuple[int, int]) -> bool:
    """Does the device at hand run clusters of 16 blocks?  The driver is asked (cuOccupancyMaxActiveClusters).

    A driver that cannot answer promises nothing.
    """
    if capability < CLUSTERS_FROM:
        return False
    try:
        import cupy

        module = cupy.RawModule(code=NOTHING, options=("--std=c++17",))
        kernel = module.get_function("nothing").kernel.ptr
        call("cuFuncSetAttribute", kernel, LARGE_CLUSTERS, 1)
        return clusters_at_once(kernel, MOST_CLUSTER, BLOCK, 0, MOST_CLUSTER) > 0
    except Exception:  # no library, a status of the driver's, a compiler that knows no such device
        return False
