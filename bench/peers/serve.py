"""The inside of a peer's process: python -m bench.peers.serve MODULE NAME THREADS

Answers messages (see wire.py) from standard input until it is closed.  The clock stands here, beside the
work: what a message costs is not timed.
"""

import os
import sys

if __name__ == "__main__" and hasattr(os, "sched_setaffinity"):
    # before NumPy counts the cores: some libraries take no other word for how many threads they may start
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(sys.argv[3])])

import ctypes
import gc
import signal
import time
import traceback
from collections.abc import Callable
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import BinaryIO

import numpy as np

from bench.peers import memory, wire
from rnnlab.network import Network

PR_SET_PDEATHSIG = 1  # from linux/prctl.h
PACKAGES = (
    *("numpy", "scipy", "torch", "pytensor", "jax", "jaxlib", "onnxruntime"),
    *("numba", "llvmlite", "halide"),
)


class Peer:
    """One contestant, and the problem it was last given."""

    def __init__(self, module: str, name: str, clock: Callable[[], float] = time.perf_counter):
        self.peer = import_module(module)
        self.name = name
        self.clock = clock
        self.step = self.arrays = self.outcome = None

    def hello(self, fields: dict, arrays: dict) -> tuple[dict, dict]:
        """Description of this process: versions of the packages here, and the BLAS that NumPy brought."""
        packages = {name: metadata.version(name) for name in PACKAGES if find_spec(name)}
        python = ".".join(map(str, sys.version_info[:3]))
        return {"python": python, "packages": packages, "blas": numpys_blas()}, {}

    def prepare(self, fields: dict, arrays: dict) -> tuple[dict, dict]:
        """Build the problem and run it once; how long that took, and its step alone."""
        self.outcome = None  # the problem before this one, and its memory
        inputs = getattr(self.peer, "read", _one_layer)(fields, arrays)
        refuses = getattr(self.peer, "refuses", None)
        if refuses and (why_not := refuses(self.name, inputs[0], *inputs[1].shape[:2])):
            return {"refused": why_not}, {}
        start = self.clock()
        self.step, self.arrays = self.peer.build(*inputs, name=self.name)
        built = self.clock()
        self.outcome = self.step()
        return {"seconds": (end := self.clock()) - start, "step": end - built}, {}

    def turn(self, fields: dict, arrays: dict) -> tuple[dict, dict]:
        """Run the step `warm` times for nothing, then `repeats` times for the clock; the seconds of each."""
        for _ in range(fields["warm"]):
            self.outcome = self.step()
        seconds = []
        for _ in range(fields["repeats"]):
            self.outcome = None  # what the last step made is given back before the next one starts
            start = self.clock()
            self.outcome = self.step()
            seconds.append(self.clock() - start)
        return {"seconds": seconds}, {}

    def results(self, fields: dict, arrays: dict) -> tuple[dict, dict]:
        """The numbers that the last step left, whether it was timed or not."""
        return {}, {name: np.asarray(array) for name, array in self.arrays(self.outcome).items()}

    def memory(self, fields: dict, arrays: dict) -> tuple[dict, dict]:
        """Bytes that one step adds at its highest to what this process holds before it."""
        self.outcome = None
        gc.collect()
        return {"bytes": memory.highest_of(self.step)}, {}


def _one_layer(fields: dict, arrays: dict) -> tuple[Network, np.ndarray, np.ndarray]:
    """What a peer receives, unless its module reads something else: network, x, dy."""
    x = arrays.pop("x")
    dy = arrays.pop("dy")
    sizes = x.shape[2], dy.shape[2]
    return Network(fields["cell"], *sizes, arrays, dtype=str(x.dtype)), x, dy


def numpys_blas() -> dict:
    """Library, version, kernels and threads of the BLAS that NumPy brought; empty where it is unknown."""
    from threadpoolctl import threadpool_info

    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    names = ("internal_api", "version", "architecture", "num_threads")
    return {key: pools[0].get(key) for key in names} if pools else {}


def end_with_parent() -> None:
    """Let Linux end this process with the benchmark, however that ends: a stopped process can't see it go."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def serve(peer: Peer, questions: BinaryIO, answers: BinaryIO) -> None:
    """Answer each question; a failure is an answer too, and the peer continues."""
    while True:
        try:
            fields, arrays = wire.receive(questions)
        except EOFError:
            return
        try:
            reply = getattr(peer, fields.pop("request"))(fields, arrays)
        except Exception as error:  # whatever a contestant raises is its own result, and not the end
            traceback.print_exc()
            reply = {"failed": f"{type(error).__name__}: {error}"}, {}
        wire.send(answers, *reply)


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "wb")
    end_with_parent()
    os.dup2(2, 1)  # what a package prints must not end up between two messages
    serve(Peer(*sys.argv[1:3]), sys.stdin.buffer, answers)
