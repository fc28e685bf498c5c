#!/usr/bin/env bash
# Versions:  pytensor 3.0.7, NumPy 2.4.6
# Expected:  a graph computes what its expression computes in NumPy, with rounding; max of numbers of which one is NaN is NaN.
# Guess:     (x + y) - x is rounded as in NumPy.
# Seen:      (x + y) - x becomes y: with x = 1e16 and y = 1 NumPy gives 0, PyTensor 1, so the correction of a compensated sum is
#            always 0. max([1, NaN, 3]) is 3.
# Why here:  lesson 07 measures PyTensor beside the ladder: a loss that has become NaN can hide behind its max, and sums that
#            were written with care are not computed with it.
set -euo pipefail
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check pytensor==3.0.7 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PROGRAM'
import sys

import numpy as np
import pytensor
import pytensor.tensor as pt

x, y = pt.vector("x", dtype="float64"), pt.vector("y", dtype="float64")
difference = pytensor.function([x, y], (x + y) - x)
largest = pytensor.function([x], pt.max(x))
total = x + y
correction = pytensor.function([x, y], (x - total) + y)  # what the sum has lost by rounding
big, small, holey = np.array([1e16]), np.array([1.0]), np.array([1.0, np.nan, 3.0])
numpy = ((big + small) - big)[0], np.max(holey), ((big - (big + small)) + small)[0]
seen = difference(big, small)[0], float(largest(holey)), correction(big, small)[0]
print(f"(x + y) - x, max, correction: NumPy {numpy}, PyTensor {seen}")
sys.exit(0 if seen == (1, 3, 0) and numpy[0] == 0 and np.isnan(numpy[1]) and numpy[2] == 1 else 1)
PROGRAM
