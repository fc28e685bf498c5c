#!/usr/bin/env bash
# Versions:  numpy 2.4.6
# Expected:  mask & flag, of an array and one bool, does the work of mask & other, of two arrays, and reads half as much: it takes
#            no longer.
# Guess:     the same time, or a little less.
# Seen:      twenty times as long an element, with & and logical_and alike: the loop of two arrays of bool takes many elements
#            at once, the one of an array and one bool an element at a time. With uint8 in place of bool it is as fast.
# Why here:  the simulator runs the threads of a block as one array, and a condition that is the same in all of them is one bool:
#            joined with the mask of those that run it cost more than the arithmetic of the loop.
set -euo pipefail
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PROGRAM'
import sys
from statistics import median
from time import perf_counter

import numpy as np

mask = np.random.default_rng(0).random(100_000) < 0.5
other = np.ones_like(mask)
out = np.empty_like(mask)
one = np.bool_(True)
pairs = {
    "& of two arrays of bool": lambda: np.bitwise_and(mask, other, out=out),
    "& of an array and one bool": lambda: np.bitwise_and(mask, one, out=out),
    "logical_and of an array and one bool": lambda: np.logical_and(mask, one, out=out),
    "& of an array of uint8 and one uint8": lambda: np.bitwise_and(
        mask.view(np.uint8), np.uint8(1), out=out.view(np.uint8)
    ),
}
times = {name: [] for name in pairs}
for _ in range(51):
    for name, work in pairs.items():
        begin = perf_counter()
        for _ in range(20):
            work()
        times[name].append((perf_counter() - begin) / 20 / mask.size)
nanoseconds = {name: 1e9 * median(part) for name, part in times.items()}
for name, time in nanoseconds.items():
    print(f"{time:.3f} ns an element: {name}")
arrays, single, logical, bytes_alone = nanoseconds.values()
sys.exit(0 if single > 5 * arrays and logical > 5 * arrays and bytes_alone < 3 * arrays else 1)
PROGRAM
