"""The speed of the simulated GPU beside Numba's own simulator: `python -m bench.simulator_speed`.

The kernel is the tiled product of lesson 10, 8×8 threads a block.  Numba's simulator runs in a process of its
own, because it takes the place of numba.cuda; all run in turn, and what is said is the median of each.  The
simulator runs threads in lockstep, and one after another.
"""

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from types import ModuleType

import numpy as np

TILE = 8
SIZE = 32


cuda: ModuleType = None  # the kernel's module, global and of this name, as Numba's simulator requires


def tiled_matmul(A: np.ndarray, B: np.ndarray, C: np.ndarray) -> None:
    """C = A·B for square float32 matrices whose size is a multiple of TILE."""
    tile_a = cuda.shared.array((TILE, TILE), np.float32)
    tile_b = cuda.shared.array((TILE, TILE), np.float32)
    column, row = cuda.grid(2)
    x = cuda.threadIdx.x
    y = cuda.threadIdx.y
    total = np.float32(0)
    for first in range(0, A.shape[1], TILE):
        tile_a[y, x] = A[row, first + x]
        tile_b[y, x] = B[first + y, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[y, k] * tile_b[k, x]
        cuda.syncthreads()
    C[row, column] = total


def seconds(module: str, size: int, **settings: object) -> float:
    """One launch with fresh matrices, whose result must be right."""
    global cuda
    cuda = importlib.import_module(module)
    kernel = cuda.jit(tiled_matmul)
    a, b = np.random.default_rng(0).uniform(-1, 1, (2, size, size)).astype(np.float32)
    c = np.zeros_like(a)
    start = time.perf_counter()
    if settings:
        with cuda.settings(**settings):
            kernel[(size // TILE, size // TILE), (TILE, TILE)](a, b, c)
    else:
        kernel[(size // TILE, size // TILE), (TILE, TILE)](a, b, c)
    taken = time.perf_counter() - start
    np.testing.assert_allclose(c, a @ b, atol=1e-5 * size)
    return taken


def numbas_seconds() -> float:
    """One launch in Numba's simulator, in a process of its own."""
    program = (
        "import json; from bench.simulator_speed import seconds, SIZE; "
        "print(json.dumps(seconds('numba.cuda', SIZE)))"
    )
    environment = {**os.environ, "NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def main(arguments: list[str] | None = None) -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--large", action="store_true", help="also 128×128×128 without checks")
    chosen = parser.parse_args(arguments)
    ours = "pocketgpu.simulator"
    engines = {
        "checks on": {"checks": True},
        "one by one": {"checks": True, "lockstep": False},
        "checks off": {"checks": False},
        "off, one by one": {"checks": False, "lockstep": False},
    }
    times = {"Numba": [], **{name: [] for name in engines}}
    for settings in engines.values():
        seconds(ours, SIZE, **settings)  # the first launch imports the analysis
    for _ in range(chosen.rounds):
        times["Numba"].append(numbas_seconds())
        for _ in range(3):
            for name, settings in engines.items():
                times[name].append(seconds(ours, SIZE, **settings))
    medians = {name: statistics.median(seconds) for name, seconds in times.items()}
    for name, median in medians.items():
        print(f"{name:15} {1e3 * median:8.1f} ms  {medians['Numba'] / median:6.1f} × Numba's speed")
    if chosen.large:
        print(f"{'128×128×128':12} {seconds(ours, 128, checks=False):8.2f} s  without checks")


if __name__ == "__main__":
    main()
