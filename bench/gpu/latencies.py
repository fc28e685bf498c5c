"""What exchanges cost on the GPU at hand: launches, graph nodes, barriers, pushes, the second-level cache.

Measured before anything else of the suite `persistent`, kept in its record, and turned into the floor that
stands beside every result.
"""

import statistics
from collections.abc import Callable
from ctypes import c_int, c_void_p
from functools import partial
from pathlib import Path

import numpy as np

from bench.gpu.events import seconds_of_prepared
from rnnlab.kernels.persistence.floor import Latencies
from rnnlab.kernels.persistence.layers import UNWRITTEN
from rnnlab.kernels.persistence.shapes import PersistentLaunch, with_includes
from rnnlab.ladder.cuda_chip import CudaChip

SOURCE = Path(__file__).with_name("latencies.cu")
TIMES = 2000
LAUNCHES = 500
ROUNDS = 7
THREADS = 256
SHARE = 512  # bytes that a block pushes to each, as latencies.cu has it
MOST_CLUSTER = 16  # blocks
SHARED = 2 * MOST_CLUSTER * SHARE + SHARE + 64
CHAIN = 1 << 16  # places, 1 MiB: more than a multiprocessor's first-level cache
FEW_MIB = 8 << 20
CLUSTERS = 2, 4, 8, 16


def measured() -> dict[str, float]:
    """Microseconds by name; l2_bandwidth in GB/s; clusters_of_N: how many the GPU runs at once."""
    return Bench().all()


def as_latencies(measured: dict[str, float]) -> Latencies:
    """Latencies as the lower bound takes them."""
    return Latencies(
        launch=measured["launch"],
        node=measured["node"],
        grid_barrier=measured["grid_barrier_flags"],
        push=measured["push_16"],
        grid_exchange=measured["grid_exchange"],
        push_bandwidth=pushed_bandwidth(measured),
        l2=measured["l2"],
        l2_bandwidth=measured["l2_bandwidth"],
        large_clusters=int(measured["clusters_of_16"]),
        measured=True,
    )


def pushed_bandwidth(measured: dict[str, float]) -> float:
    """GB/s into each multiprocessor of a cluster of 16, while all push to all, 16 bytes a packet."""
    beyond_latency = max(measured["push_all_16_16"] - measured["push_16"], 1e-3)  # microseconds
    return MOST_CLUSTER * SHARE / beyond_latency * 1e-3


class Bench:
    """The kernels of latencies.cu, ready to launch."""

    def __init__(self):
        import cupy

        self.cupy = cupy
        self.chip = CudaChip("bfloat16")
        self.blocks = cupy.cuda.Device().attributes["MultiProcessorCount"]
        self.failed = cupy.zeros(1, "int32")
        self._kernels = {}

    def all(self) -> dict[str, float]:
        """Everything; raises RuntimeError if blocks waited in vain."""
        measured = {"launch": self._launch(), "node": self._node(), **self._barriers(), **self._l2()}
        for cluster in CLUSTERS:
            measured[f"cluster_barrier_{cluster}"] = self._in_cluster(
                "cluster_barrier", cluster, c_int(TIMES)
            )
            arguments = c_void_p(self.failed.data.ptr), c_int(TIMES)
            measured[f"push_{cluster}"] = self._in_cluster("push_across", cluster, *arguments)
            for packets in ("8", "16", "bulk"):  # all blocks to all, of 8 or 16 bytes, or all at once
                name = f"push_all_{packets}"
                measured[f"{name}_{cluster}"] = self._in_cluster(name, cluster, *arguments)
            measured[f"clusters_of_{cluster}"] = self._at_once(cluster)
        if int(self.failed[0]):
            raise RuntimeError("blocks did not synchronise while latencies were measured")
        return measured

    def _launch(self) -> float:
        run = partial(self._run, "nothing", self.blocks, THREADS)
        return self._time(lambda: [run() for _ in range(LAUNCHES)]) / LAUNCHES

    def _node(self) -> float:
        stream = self.cupy.cuda.Stream(non_blocking=True)
        with stream:
            stream.begin_capture()
            for _ in range(LAUNCHES):
                self._run("nothing", self.blocks, THREADS, stream=stream.ptr)
            graph = stream.end_capture()
            return self._time(graph.launch) / LAUNCHES

    def _barriers(self) -> dict[str, float]:
        flags = self.cupy.zeros(self.blocks, "int32")
        data = self.cupy.zeros(2 * self.blocks * THREADS * 4, "uint32")
        failed = c_void_p(self.failed.data.ptr)
        pointer = c_void_p(flags.data.ptr)

        def run(name: str, *more: object) -> None:
            flags.fill(0)
            self._run(name, self.blocks, THREADS, pointer, failed, *more, c_int(TIMES), cooperative=True)

        history = self.cupy.empty((TIMES + 1) * self.blocks * 16, "uint32")

        def exchange() -> None:
            arguments = c_void_p(history.data.ptr), failed, c_int(TIMES)
            self._run("poll_published", self.blocks, THREADS, *arguments, cooperative=True)

        return {
            "grid_exchange": self._time(exchange, lambda: history.fill(UNWRITTEN)) / TIMES,
            "grid_barrier_flags": self._time(lambda: run("flags", c_void_p(data.data.ptr))) / TIMES,
            "grid_barrier_counter": self._time(lambda: run("counter")) / TIMES,
        }

    def _l2(self) -> dict[str, float]:
        places = np.random.default_rng(0).permutation(CHAIN).astype("uint32")
        chain = np.zeros((CHAIN, 4), "uint32")
        chain[places, 0] = np.roll(places, -1)  # one cycle through all of them
        chain = self.cupy.asarray(chain)
        end = self.cupy.zeros(1, "uint32")
        ends = c_void_p(end.data.ptr)
        follow = partial(self._run, "l2_chain", 1, 1, c_void_p(chain.data.ptr), ends, c_int(TIMES))
        data = self.cupy.zeros(FEW_MIB // 16 * 4, "uint32")
        count = FEW_MIB // 16
        over = 4
        arguments = c_void_p(data.data.ptr), ends, c_int(count), c_int(over)
        took = 1e-6 * self._time(partial(self._run, "l2_read", self.blocks, 1024, *arguments))
        return {
            "l2": self._time(follow) / TIMES,
            "l2_bandwidth": self.blocks * over * FEW_MIB / took / 1e9,
        }

    def _in_cluster(self, name: str, cluster: int, *arguments: object) -> float:
        run = partial(self._run, name, cluster, THREADS, *arguments, cluster=cluster)
        return self._time(run) / TIMES

    def _at_once(self, cluster: int) -> int:
        kernel = self._kernel("cluster_barrier", cluster)
        launch = PersistentLaunch(self.blocks // cluster * cluster, THREADS, SHARED, cluster)
        return self.chip.clusters_at_once(kernel, launch)

    def _kernel(self, name: str, cluster: int = 2) -> int:
        if (name, cluster) not in self._kernels:
            source = with_includes(SOURCE.read_text(encoding="utf-8"))
            options = ("--std=c++17", "-DDTYPE=0", f"-DCLUSTER={cluster}")
            module = self.cupy.RawModule(code=source, options=options)
            kernel = module.get_function(name).kernel
            self.chip.allow(kernel.ptr, SHARED, cluster)
            self._kernels[name, cluster] = module, kernel
        return self._kernels[name, cluster][1].ptr

    def _run(self, name, blocks, threads, *arguments, cluster=2, cooperative=False, stream=0) -> None:
        kernel = self._kernel(name, cluster)
        self.chip.start(kernel, (blocks, threads, SHARED), arguments, cooperative, stream)

    def _time(self, run: Callable[[], object], prepare: Callable[[], object] = lambda: None) -> float:
        """Median microseconds of a run, between two events, after its preparation."""
        once = lambda: seconds_of_prepared([(prepare, run)], repeats=1)
        once()
        return statistics.median(1e6 * once() for _ in range(ROUNDS))
