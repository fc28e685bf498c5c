#!/usr/bin/env bash
# Versions:  numba 0.65.1, NumPy 2.4.6
# Expected:  a loop over two arrays of uint8 that sums |a - b| gives in Numba what it gives in Python: NumPy's differences wrap
#            around at 256.
# Guess:     254 for 3 - 5 under njit, as NumPy has it, or -2; nothing else.
# Seen:      the difference of two uint8 is a uint64: 3 - 5 is 18446744073709551614, and the sum is 1.8e19. The same expression
#            on whole arrays stays uint8. Two int8 give an int64, so only unsigned bytes are hit.
# Why here:  lessons 01 and 03 read photographs, which are bytes, and lesson 06 moves such loops into Numba; 8-bit weights are
#            bytes too.
set -euo pipefail
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check numba==0.65.1 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PROGRAM'
import sys

import numpy as np
from numba import njit


def distance(a, b):
    total = 0.0
    for k in range(a.size):
        total += abs(a[k] - b[k])
    return total


a = np.array([3, 7], "uint8")
b = np.array([5, 1], "uint8")
with np.errstate(over="ignore"):
    in_python = distance(a, b)
compiled = njit(distance)(a, b)
whole = njit(lambda a, b: a - b)(a, b)
print(f"sum of |a - b|: Python {in_python}, Numba {compiled}; whole arrays in Numba: {whole} {whole.dtype}")
sys.exit(0 if in_python == 260 and compiled > 1e19 and whole.tolist() == [254, 6] else 1)
PROGRAM
