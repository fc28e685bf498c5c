"""Published runs of data-parallel training, as numbers: what a scaling model is fitted to and judged by.

The numbers stand in published.toml.
Sources, as far as they were read in the original:
  ring     A. Gibiansky, "Bringing HPC Techniques to Deep Learning" (2017): samples/s over 1 … 40 GPUs, read
           from the figure, ± 10; the last one from the axis' end.  5 nodes × 8 GPUs, 300 M parameters.
  MLPerf   GNMT in MLPerf Training v0.6 and v0.7: median seconds of an epoch in the submitted logs.
  README   NVIDIA DeepLearningExamples, GNMT for PyTorch 20.06: tokens/s, 128 sequences per GPU and
           micro-step, an update for every 1,024 sequences (2,048 with 16 GPUs).
  mLSTM    NVIDIA sentiment-discovery, analysis/scale.md: speed-up over one V100, read from the figure, ± 1.
"""

from dataclasses import dataclass
from typing import NamedTuple

from rnncourse.tables import read_table

TABLES = read_table(__file__)
GNMT_SEQUENCES = 3.966e6  # of an epoch of GNMT: epoch seconds × sequences/s in the MLPerf logs
GNMT_GIGABYTES = 160.6e6 * 1e-9  # of GNMT's gradients, for each byte of a number
RING_GIGABYTES = 4 * 300e6 * 1e-9
RING_MINIBATCH = 32  # sequences per GPU


class Point(NamedTuple):
    """One published run: seconds of one update, or the same in the unit of its series."""

    gpus: int
    seconds: float
    sequences: int = 0  # per GPU and micro-step
    micro_steps: float = 1.0  # before one all-reduce
    scale: float = 1.0  # bytes of the gradients, and arithmetic, in those of the series' first network
    network: str = ""


@dataclass(frozen=True)
class Series:
    """Runs on one machine, for which a model has one set of constants.

    gigabytes: gradients that are summed.  known: GB/s between nodes and µs a message, where a data sheet
    states them; None: fitted.
    """

    name: str
    node: int  # GPUs of a node
    gigabytes: float
    points: tuple[Point, ...]
    known: tuple[float, float] | None = None
    by_sequences: bool = False  # does the arithmetic of a step depend on sequences per GPU?


def _ring(name: str, node: int, samples: list[int]) -> Series:
    """Updates from samples a second on 1, 2, … GPUs."""
    points = []
    for gpus, rate in enumerate(samples, 1):
        milliseconds = 1e3 * RING_MINIBATCH * gpus / rate
        points.append(Point(gpus, milliseconds, RING_MINIBATCH))
    return Series(name, node, RING_GIGABYTES, tuple(points))


def _mlperf(name: str, node: int, gigabit: float, epochs: list) -> Series:
    """Updates of GNMT from epochs: [GPUs, minibatch, seconds]; a node has 8 links of `gigabit` Gbit/s."""
    points = []
    for gpus, batch, seconds in epochs:
        milliseconds = 1e3 * seconds * batch / GNMT_SEQUENCES
        points.append(Point(gpus, milliseconds, batch // gpus))
    known = (8 * gigabit / 8, 14.0)
    return Series(name, node, 2 * GNMT_GIGABYTES, tuple(points), known, by_sequences=True)


def _accumulated(name: str, node: int, bytes: int, tokens: list) -> Series:
    """Updates with accumulation, in the time of one GPU's update: [GPUs, tokens/s, sequences / 1,024]."""
    _, rate_of_one, _ = tokens[0]
    points = []
    for gpus, rate, size in tokens:
        time = rate_of_one / rate * size
        points.append(Point(gpus, time, 128, 8 * size / gpus))
    return Series(name, node, bytes * GNMT_GIGABYTES, tuple(points))


def _mlstm_bytes(hidden: int) -> int:
    """Bytes of the 16-bit gradients of a multiplicative LSTM of 64 inputs."""
    return 2 * (64 + hidden) * 5 * hidden


MLSTM_SCALE = _mlstm_bytes(8192) / _mlstm_bytes(4096)  # of the 8k in the 4k network's


def _speedups(name: str, node: int, networks: dict[str, list]) -> Series:
    """Updates in those of the 4k network on one GPU, from speed-ups at a fixed minibatch per GPU."""
    points = []
    for network, pairs in networks.items():
        scale = MLSTM_SCALE if network == "8k" else 1.0
        for gpus, speedup in pairs:
            time = scale * gpus / speedup
            points.append(Point(gpus, time, 256, 1.0, scale, network))
    gigabytes = _mlstm_bytes(4096) * 1e-9
    return Series(name, node, gigabytes, tuple(points))


KINDS = {"ring": _ring, "mlperf": _mlperf, "accumulated": _accumulated, "speedups": _speedups}
SERIES = tuple(make(**line) for kind, make in KINDS.items() for line in TABLES[kind])
# GNMT in MLPerf: global batch -> (machine, GPUs, epochs to the target over 10 runs, minutes to it)
EPOCHS_TO_TARGET = {int(batch): line for batch, line in TABLES["epochs_to_target"].items()}


def find(name: str) -> Series:
    """The series of that name.  Raises ValueError, listing all, if there is none."""
    for series in SERIES:
        if series.name == name:
            return series
    names = ", ".join(series.name for series in SERIES)
    raise ValueError(f"no series is called {name!r}; there are {names}")


# TFLOP/s of the recurrent product of 1152 units by sequences, TitanX, float32: SVAIL, Persistent RNNs, 2016;
# from the figure, but for the text's 90 GFLOP/s at 4 sequences, which is less than the figure shows
RATES = {name: dict(pairs) for name, pairs in TABLES["rates"].items()}
UNITS = 1152  # of the layer in RATES
OVER_TIME = 5.3  # TFLOP/s of a product over all time steps: SVAIL's first post, 1024 units, 4096 columns
