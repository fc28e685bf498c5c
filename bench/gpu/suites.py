"""What the suites measure: tasks, the most wanted first, so that a run that is cut short has what matters.

A task is one child process: exchanges (latencies), the deep residual network (depth), or one workload with
its contestants.  Options --only and --skip choose by its name: `persistent/lstm-T1024-B8-H512-L1`.
"""

from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatch
from typing import NamedTuple

from bench.gpu.measure import CUDNN, LADDER, PERSISTENT, TENSOR, TORCH, MeasuredEntry
from rnncourse.records.workload import Workload
from rnnlab.ladder import stage_passes

APPLEYARD = Workload("lstm", 100, 64, 512, 512, 4)  # the size of LSTM.cu and of the article's ladder
DIAMOS = Workload("rnn_tanh", 256, 4, 1152, 1152, 1)  # the layer of Persistent RNNs
SMALL = Workload("lstm", 6, 5, 64, 64, 2)
DIAMOS_SEQUENCES = 4, 64, 1, 16, 32, 2, 8  # flat from 4 on, claims the paper: both ends first
ALGORITHMS = ("standard", "persist_static", "persist_dynamic", "persist_static_small_h")
HALVES = ("float16", "bfloat16")
OURS = [
    MeasuredEntry("persistent", PERSISTENT),
    *(MeasuredEntry("persistent_grid", TENSOR, dtype) for dtype in ("tf32", *HALVES)),
    *(MeasuredEntry("persistent_cluster", TENSOR, dtype) for dtype in HALVES),
    MeasuredEntry("persistent_cluster_bulk", TENSOR, "bfloat16"),
    *(MeasuredEntry("graph_replay", LADDER, dtype) for dtype in ("float32", "tf32", "float16")),
]
PEERS = [MeasuredEntry("pytorch", TORCH, dtype) for dtype in ("float32", "tf32", *HALVES)]
PEERS += [MeasuredEntry(f"cudnn_{name}", CUDNN, "float16") for name in ALGORITHMS]
PEERS += [MeasuredEntry(f"cudnn_{name}", CUDNN, "bfloat16") for name in ALGORITHMS[:2]]
FLAT = [
    MeasuredEntry("persistent", PERSISTENT),
    MeasuredEntry("persistent_grid", TENSOR, "tf32"),
    MeasuredEntry("graph_replay", LADDER, "tf32"),
    MeasuredEntry("pytorch", TORCH, "tf32"),
]


class Task(NamedTuple):
    """One child process's work."""

    suite: str
    kind: str  # latencies, depth or workload
    workload: Workload | None = None
    entries: Sequence[MeasuredEntry] = ()

    @property
    def name(self) -> str:
        """See the module's docstring."""
        if self.workload is None:
            return f"{self.suite}/{self.kind}"
        cell, T, B, _, H, L = self.workload
        return f"{self.suite}/{cell}-T{T}-B{B}-H{H}-L{L}"


def stages(quick: bool) -> Iterator[Task]:
    """Every stage of the ladder, beside PyTorch."""
    entries = [MeasuredEntry(name, LADDER) for name in stage_passes()]
    entries += [MeasuredEntry("graph_replay", LADDER, dtype) for dtype in ("tf32", "float16")]
    entries += [MeasuredEntry("pytorch", TORCH, dtype) for dtype in ("float32", "tf32", "float16")]
    for cell in ("lstm",) if quick else ("lstm", "gru", "rnn_tanh"):
        yield Task("stages", "workload", APPLEYARD._replace(cell=cell), entries)


def peers(quick: bool) -> Iterator[Task]:
    """The last stage beside PyTorch and each of cuDNN's algorithms, in every dtype, at several sizes."""
    entries = [MeasuredEntry("graph_replay", LADDER, dtype) for dtype in ("float32", "tf32", "float16")]
    entries += [MeasuredEntry("pytorch", TORCH, dtype) for dtype in ("float32", "tf32", *HALVES)]
    entries += [
        MeasuredEntry(f"cudnn_{name}", CUDNN, dtype)
        for name in ALGORITHMS
        for dtype in ("float32", "float16")
    ]
    sizes = [(100, 64, 512, 1), (100, 64, 512, 4), (50, 16, 256, 1), (50, 32, 1024, 1), (25, 64, 1792, 1)]
    for T, B, H, L in sizes[:2] if quick else sizes:
        for cell in ("lstm",) if quick else ("lstm", "gru", "rnn_tanh"):
            yield Task("peers", "workload", Workload(cell, T, B, H, H, L), entries)


def persistent(quick: bool) -> Iterator[Task]:
    """Weights that stay on chip beside weights that are read at every step."""

    def layer(cell, T, B, H):
        return Task("persistent", "workload", Workload(cell, T, B, H, H, 1), OURS + PEERS)

    yield Task("persistent", "latencies")
    yield layer("lstm", 1024, 8, 512)
    if quick:
        yield layer("lstm", 1024, 8, 256)
        return
    for B in DIAMOS_SEQUENCES:
        yield Task("persistent", "workload", DIAMOS._replace(B=B), FLAT)
    yield layer("lstm", 1024, 8, 256)
    yield Task("persistent", "depth")
    yield layer("gru", 256, 8, 512)
    yield layer("lstm", 256, 64, 512)
    yield layer("lstm", 256, 8, 1024)
    yield layer("rnn_tanh", 256, 8, 1024)
    yield layer("lstm", 256, 64, 256)
    yield layer("lstm", 256, 32, 1024)
    yield layer("gru", 256, 32, 1024)
    # PyTorch takes cuDNN's small-h algorithm by H alone; in 2021 somebody saw it five times slower here
    yield Task("persistent", "workload", Workload("lstm", 256, 62, 168, 168, 1), PEERS)


def once(quick: bool) -> Iterator[Task]:
    """One task so small that every contestant can be held against the reference in a minute."""
    yield Task("once", "workload", SMALL, OURS + PEERS)


SUITES = {"persistent": persistent, "stages": stages, "peers": peers, "once": once}


def tasks_of(
    names: Iterable[str] | None, quick: bool, only: Sequence[str], skip: Sequence[str]
) -> list[Task]:
    """Tasks of these suites (None: of all but `once`) that --only and --skip leave.

    The two options hold parts of names, or patterns. Raises ValueError for a word that fits no name.
    """
    names = names or [name for name in SUITES if name != "once"]
    for name in names:
        if name not in SUITES:
            raise ValueError(f"no suite is called {name!r}; there are {', '.join(SUITES)}")
    tasks = [task for name in names for task in SUITES[name](quick)]
    for word in (*only, *skip):
        if not any(_matches(task, [word]) for task in tasks):
            raise ValueError(
                f"no task is called {word!r}; there are {', '.join(task.name for task in tasks)}"
            )
    return [
        task for task in tasks if (not only or _matches(task, only)) and not (skip and _matches(task, skip))
    ]


def _matches(task: Task, patterns: Sequence[str]) -> bool:
    return any(word in task.name or fnmatch(task.name, word) for word in patterns)
