#!/usr/bin/env bash
# Versions:  numba 0.65.1, NumPy 2.4.6
# Expected:  np.mean and np.std under njit are NumPy's up to rounding; NumPy sums in pairs, which loses little in float32.
# Guess:     the mean of 2**25 float32 ones is 1 under njit as well.
# Seen:      the mean is 0.5: Numba adds one number after the other in float32, and from 2**24 on adding 1 changes nothing. The
#            standard deviation of 10 million times 1000.1 is 22.5 (NumPy: 6e-5). On a million random numbers the mean is a
#            hundred times less exact than NumPy's.
# Why here:  a loss is a mean over steps and sequences: moved into a compiled loop as it stands, it changes. Compiled sums of
#            ours run over shares and chunks.
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

mean = njit(lambda a: np.mean(a))
deviation = njit(lambda a: np.std(a))
ones = np.ones(2**25, "float32")
constant = np.full(10**7, 1000.1, "float32")
draws = np.random.default_rng(0).random(10**6, dtype="float32")
exact = draws.mean(dtype="float64")
errors = abs(np.mean(draws) - exact), abs(mean(draws) - exact)
print(f"mean of ones: NumPy {np.mean(ones)}, Numba {mean(ones)}")
print(f"deviation of a constant: NumPy {np.std(constant):.1e}, Numba {deviation(constant):.3g}")
print(f"error of a random mean: NumPy {errors[0]:.1e}, Numba {errors[1]:.1e}")
seen = np.mean(ones) == 1 and mean(ones) == 0.5 and np.std(constant) < 1e-3 and deviation(constant) > 1
sys.exit(0 if seen else 1)
PROGRAM
