"""Published runs of data-parallel training, as numbers: what a scaling model is fitted to and judged by.

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

GNMT_SEQUENCES = 3.966e6  # of an epoch of GNMT: epoch seconds × sequences/s in the MLPerf logs
GNMT_BYTES = 2 * 160.6e6  # 16-bit gradients
RING_BYTES = 4 * 300e6
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
    source: str
    node: int  # GPUs of a node
    gigabytes: float
    unit: str
    points: tuple[Point, ...]
    known: tuple[float, float] | None = None
    by_sequences: bool = False  # does the arithmetic of a step depend on sequences per GPU?


_SAMPLES = (
    88, 150, 189, 251, 282, 356, 399, 465, 493, 540, 590, 638, 685, 733, 750, 821, 862, 906, 943, 996,
    1029, 1089, 1086, 1155, 1200, 1228, 1272, 1316, 1360, 1401, 1394, 1457, 1495, 1558, 1597, 1633, 1660,
    1706, 1696, 1770,
)  # fmt: skip


def _mlperf(system: str, node: int, gbit: float, *epochs: tuple[int, int, float]) -> Series:
    """Updates of GNMT from epochs: (GPUs, minibatch, seconds); a node has 8 links of `gbit` Gbit/s."""
    points = tuple(
        Point(gpus, 1e3 * epoch * batch / GNMT_SEQUENCES, batch // gpus) for gpus, batch, epoch in epochs
    )
    known = (8 * gbit / 8, 14.0)
    return Series(
        f"GNMT, {system}", "MLPerf", node, GNMT_BYTES * 1e-9, "ms", points, known, by_sequences=True
    )


def _accumulated(name: str, node: int, gigabytes: float, *tokens: tuple[int, float]) -> Series:
    """Updates with accumulation, in the time of one GPU's update: (GPUs, tokens/s)."""
    one = tokens[0][1]
    points = tuple(
        Point(gpus, one / rate * _updates(gpus), 128, 8 * _updates(gpus) / gpus) for gpus, rate in tokens
    )
    return Series(name, "README", node, gigabytes, "updates of one GPU", points)


def _updates(gpus: int) -> int:
    """An update with 16 GPUs has twice as many sequences."""
    return 2 if gpus == 16 else 1


def _speedups(network: str, scale: float, *pairs: tuple[int, float]) -> tuple[Point, ...]:
    """Seconds of an update in those of one GPU, from speed-ups at a fixed minibatch per GPU."""
    return tuple(Point(gpus, scale * gpus / speedup, 256, 1.0, scale, network) for gpus, speedup in pairs)


MLSTM_SCALE = (64 + 8192) * 5 * 8192 / ((64 + 4096) * 5 * 4096)  # bytes, of the 8k in the 4k one's
SERIES = (
    Series(
        "ring all-reduce, 40 GPUs",
        "ring",
        8,
        RING_BYTES * 1e-9,
        "ms",
        tuple(
            Point(gpus, 1e3 * RING_MINIBATCH * gpus / rate, RING_MINIBATCH)
            for gpus, rate in enumerate(_SAMPLES, 1)
        ),
    ),
    _mlperf("DGX A100, MLPerf v0.7", 8, 200, (8, 3072, 115.14), (16, 3072, 68.39), (256, 8192, 9.01)),
    _mlperf("DGX-2H, MLPerf v0.7", 16, 100, (16, 3072, 122.16), (256, 8192, 16.08), (1024, 16384, 6.90)),
    _mlperf("DGX-2H, MLPerf v0.6", 16, 100, (16, 2048, 146.9), (256, 8192, 20.1), (384, 12288, 13.6)),
    _accumulated("GNMT, A100 TF32", 8, 2 * GNMT_BYTES * 1e-9, (1, 83214), (4, 278576), (8, 519952)),
    _accumulated("GNMT, A100 16 bits", 8, GNMT_BYTES * 1e-9, (1, 140909), (4, 463144), (8, 822024)),
    _accumulated("GNMT, V100 float32", 8, 2 * GNMT_BYTES * 1e-9, (1, 21860), (4, 80224), (8, 154168)),
    _accumulated("GNMT, V100 16 bits", 8, GNMT_BYTES * 1e-9, (1, 76438), (4, 249168), (8, 447832)),
    _accumulated(
        "GNMT, DGX-2H float32", 16, 2 * GNMT_BYTES * 1e-9, (1, 25583), (4, 91400), (8, 176616), (16, 351792)
    ),
    _accumulated(
        "GNMT, DGX-2H 16 bits", 16, GNMT_BYTES * 1e-9, (1, 87829), (4, 290640), (8, 522008), (16, 1010880)
    ),
    Series(
        "mLSTM, InfiniBand",
        "mLSTM",
        8,
        2 * (64 + 4096) * 5 * 4096 * 1e-9,
        "updates of one GPU, 4k",
        _speedups("4k", 1.0, (8, 7.8), (16, 13.0), (32, 27.4), (64, 55.7), (128, 109.1))
        + _speedups("8k", MLSTM_SCALE, (8, 7.8), (16, 15.7), (32, 31.3), (64, 61.3), (128, 120.9)),
    ),
    Series(
        "mLSTM, Ethernet",
        "mLSTM",
        8,
        2 * (64 + 4096) * 5 * 4096 * 1e-9,
        "updates of one GPU, 4k",
        _speedups("4k", 1.0, (8, 7.8), (16, 11.1), (32, 23.5), (64, 45.7), (128, 92.6)),
    ),
)

# GNMT in MLPerf: global batch -> (machine, GPUs, epochs to the target over 10 runs, minutes to it)
EPOCHS_TO_TARGET = {
    2048: ("DGX-1 V100, v0.7", 8, (4, 5), 18.50),
    3072: ("DGX-2H, v0.7", 16, (4, 5), 8.56),
    8192: ("DGX-2H, v0.7", 256, (6, 7), 1.74),
    12288: ("DGX-1 V100, v0.6", 384, (7, 9), 1.99),
    16384: ("DGX-2H, v0.7", 1024, (8, 12), 1.11),
}


def find(name: str) -> Series:
    """The series of that name.  Raises ValueError, listing all, if there is none."""
    for series in SERIES:
        if series.name == name:
            return series
    raise ValueError(f"no series is called {name!r}; there are {', '.join(s.name for s in SERIES)}")


# TFLOP/s of the recurrent product of 1152 units by sequences, TitanX, float32: SVAIL, Persistent RNNs, 2016;
# from the figure, but for the text's 90 GFLOP/s at 4 sequences, which is less than the figure shows
RATES = {
    "persistent": {1: 0.68, 4: 2.78, 62: 2.80},
    "GEMM, figure": {4: 0.12, 62: 1.43},
    "GEMM, text": {4: 0.09, 62: 1.43},
}
UNITS = 1152  # of the layer in RATES
OVER_TIME = 5.3  # TFLOP/s of a product over all time steps: SVAIL's first post, 1024 units, 4096 columns
