#!/usr/bin/env bash
# Versions:  jax 0.10.2 (CPU), NumPy 2.4.6
# Expected:  tanh of a larger float32 is not smaller: a library's function of one variable that grows is monotonic but for rare
#            neighbours.
# Guess:     a few places where it goes down by one unit in the last place.
# Seen:      of the 151 million float32 from 3e-5 to 10 over 7 million have a smaller tanh than the number before, one in
#            twenty. NumPy's goes down once or not at all. Errors stay small: it is a quotient of polynomials whose parts are
#            rounded.
# Why here:  the ladder's compiled tanh is the same quotient, and goes down as often: a test or an exercise that asserts
#            monotonicity would refuse a right answer.
set -euo pipefail
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PROGRAM'
import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
import jax
import numpy as np

tanh = jax.jit(jax.numpy.tanh)
first, last = (int(np.float32(edge).view("uint32")) for edge in (3e-5, 10))
falls, falls_in_numpy, worst = 0, 0, 0.0
for low in range(first, last, 2**23):
    x = np.arange(low, min(low + 2**23, last), dtype="uint32").view("float32")
    y = np.asarray(tanh(x))
    falls += int((np.diff(y) < 0).sum())
    falls_in_numpy += int((np.diff(np.tanh(x)) < 0).sum())
    worst = max(worst, float(np.abs(y - np.tanh(x.astype("float64"))).max()))
print(f"goes down {falls} times of {last - first} in XLA, {falls_in_numpy} in NumPy; largest error {worst:.1e}")
sys.exit(0 if falls > 10**6 > 1000 * falls_in_numpy and worst < 1e-6 else 1)
PROGRAM
