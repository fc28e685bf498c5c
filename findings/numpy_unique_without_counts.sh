#!/usr/bin/env bash
# Versions:  numpy 2.4.6
# Expected:  np.unique(x) does a part of what np.unique(x, return_counts=True) does, so it takes no longer.
# Guess:     the same time, or a little less; both sort.
# Seen:      for 300,000 random int64 it takes more than three times as long, for 3 million more than ten times: without counts
#            integers go through a table of hashes, which is then sorted; with counts, and for float64, they are only sorted.
# Why here:  the simulator looks for threads that touch one cell of memory among hundreds of thousands of addresses, nearly all of
#            them different; a sort and one comparison of neighbours took a tenth of the time of np.unique.
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

numbers = np.random.default_rng(0).integers(0, 1 << 40, 1_000_000)
ways = {
    "int64": lambda: np.unique(numbers),
    "int64, with counts": lambda: np.unique(numbers, return_counts=True)[0],
    "float64": lambda: np.unique(numbers.astype(np.float64)),
}
for result in (way() for way in ways.values()):
    np.testing.assert_array_equal(result, np.unique(numbers, return_counts=True)[0])
times = {name: [] for name in ways}
for _ in range(5):
    for name, way in ways.items():
        begin = perf_counter()
        way()
        times[name].append(perf_counter() - begin)
milliseconds = {name: 1e3 * median(part) for name, part in times.items()}
for name, time in milliseconds.items():
    print(f"{time:7.1f} ms: {name}")
alone, with_counts, floats = milliseconds.values()
sys.exit(0 if alone > 2 * with_counts and alone > 2 * floats else 1)
PROGRAM
