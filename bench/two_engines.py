"""Kernels of many threads on both engines of the simulator, in turn: `python -m bench.two_engines`.

Seconds are the processor's, of one launch with all checks; what is printed is the median of each engine, and
how busy the machine was.  Each launch starts from fresh arrays, and its result is compared with NumPy's.
"""

import argparse
import math
import os
import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pocketgpu import cuda

BLOCK = 256
SQUARE = 16, 16
MOST_ROUNDS = 100
CONSTANT = -0.8 + 0.156j  # of the Julia sets
EVENTS = 100_000_000  # accesses, more than any of these launches makes


@cuda.jit
def saxpy(a: float, x: np.ndarray, y: np.ndarray) -> None:
    """y = a·x + y for vectors x, y [n]."""
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@cuda.jit
def sums_of_blocks(x: np.ndarray, sums: np.ndarray) -> None:
    """Sums [n] of each BLOCK elements of x [n·BLOCK]."""
    part = cuda.shared.array(BLOCK, np.float32)
    t = cuda.threadIdx.x
    part[t] = x[cuda.grid(1)]
    stride = BLOCK // 2
    while stride > 0:
        cuda.syncthreads()
        if t < stride:
            part[t] += part[t + stride]
        stride //= 2
    if t == 0:
        sums[cuda.blockIdx.x] = part[0]


@cuda.jit
def julia(counts: np.ndarray, real: float, imag: float) -> None:
    """Rounds [height,width] after which each point leaves the circle."""
    x, y = cuda.grid(2)
    if x < counts.shape[1] and y < counts.shape[0]:
        zr = 3.0 * x / counts.shape[1] - 1.5
        zi = 3.0 * y / counts.shape[0] - 1.5
        count = 0
        while zr * zr + zi * zi <= 4.0 and count < MOST_ROUNDS:
            zr, zi = zr * zr - zi * zi + real, 2.0 * zr * zi + imag
            count += 1
        counts[y, x] = count


@cuda.jit(device=True)
def rounds_of(z: complex, c: complex) -> int:
    """Rounds after which z leaves the circle."""
    for k in range(MOST_ROUNDS):
        if z.real * z.real + z.imag * z.imag > 4.0:
            return k
        z = z * z + c
    return MOST_ROUNDS


@cuda.jit
def complex_julia(counts: np.ndarray, c: complex) -> None:
    """The same [height,width], with complex numbers."""
    x, y = cuda.grid(2)
    if x < counts.shape[1] and y < counts.shape[0]:
        z = complex(3.0 * x / counts.shape[1] - 1.5, 3.0 * y / counts.shape[0] - 1.5)
        counts[y, x] = rounds_of(z, c)


def expected_counts(side: int) -> np.ndarray:
    """Rounds [side,side] of the Julia set, by NumPy."""
    axis = 3.0 * np.arange(side) / side - 1.5
    zi, zr = np.meshgrid(axis, axis, indexing="ij")
    counts = np.zeros((side, side), np.int32)
    for _ in range(MOST_ROUNDS):
        inside = zr * zr + zi * zi <= 4.0
        zr = np.where(inside, zr, 2.0)
        counts += inside
        zr, zi = zr * zr - zi * zi + CONSTANT.real, 2.0 * zr * zi + CONSTANT.imag
        zi = np.where(inside, zi, 2.0)
    return counts


class Case(NamedTuple):
    """One launch: its result is the argument `result`, and should be `expected`."""

    kernel: object
    grid: object
    block: object
    arguments: tuple
    result: np.ndarray
    expected: np.ndarray


def of_saxpy(side: int) -> Case:
    """saxpy of side² elements."""
    x = np.random.default_rng(0).random(side * side, np.float32)
    y = np.ones_like(x)
    return Case(saxpy, -(-x.size // BLOCK), BLOCK, (2.0, x, y), y, 2 * x + 1)


def of_sums(side: int) -> Case:
    """Sums of the blocks of side² elements."""
    x = np.random.default_rng(0).random((side * side // BLOCK, BLOCK), np.float32)
    sums = np.zeros(len(x), np.float32)
    return Case(sums_of_blocks, len(x), BLOCK, (x.reshape(-1), sums), sums, x.sum(1, np.float64))


def of_julia(side: int) -> Case:
    """A Julia set of side × side points."""
    counts = np.zeros((side, side), np.int32)
    grid = (math.ceil(side / SQUARE[0]),) * 2
    arguments = counts, CONSTANT.real, CONSTANT.imag
    return Case(julia, grid, SQUARE, arguments, counts, expected_counts(side))


def of_complex_julia(side: int) -> Case:
    """The same Julia set, with complex numbers."""
    case = of_julia(side)
    return case._replace(kernel=complex_julia, arguments=(case.result, CONSTANT))


CASES = {
    "saxpy": of_saxpy,
    "sums of blocks": of_sums,
    "Julia set": of_julia,
    "Julia set, complex": of_complex_julia,
}


def seconds(make: Callable, side: int, lockstep: bool) -> float:
    """The processor's seconds of one launch, whose result must be right."""
    case = make(side)
    with cuda.settings(checks=True, lockstep=lockstep, events=EVENTS):
        start = time.process_time()
        case.kernel[case.grid, case.block](*case.arguments)
        taken = time.process_time() - start
    np.testing.assert_allclose(case.result, case.expected, rtol=1e-5)
    return taken


def main(arguments: list[str] | None = None) -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--side", type=int, default=1000, help="threads are its square")
    parser.add_argument(
        "--rounds", type=int, default=3, help="launches thread by thread; three times as many in lockstep"
    )
    parser.add_argument("only", nargs="?", default="", help="part of a kernel's name")
    chosen = parser.parse_args(arguments)
    print(f"{chosen.side**2:,} threads; load {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores")
    for name, make in CASES.items():
        if chosen.only in name:
            seconds(make, chosen.side, True)  # the first launch imports the analysis
            one_by_one = []
            lockstep = []
            for _ in range(chosen.rounds):
                one_by_one.append(seconds(make, chosen.side, False))
                lockstep += [seconds(make, chosen.side, True) for _ in range(3)]
            first, second = map(statistics.median, (one_by_one, lockstep))
            print(f"{name:20} {first:7.2f} s {second:7.3f} s {first / second:6.1f} ×", flush=True)


if __name__ == "__main__":
    main()
