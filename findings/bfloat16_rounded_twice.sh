#!/usr/bin/env bash
# Versions:  ml_dtypes 0.5.4, NumPy 2.4.6
# Expected:  astype from float64 to a 16-bit type gives the nearest number, as NumPy does for float16.
# Guess:     ml_dtypes rounds once, as NumPy.
# Seen:      float64 becomes float32 first and bfloat16 then. 1 + 2**-8 + 2**-40 lies above the middle of two bfloat16, loses
#            its last part on the way, and the tie goes down to 1: the further number. NumPy's own float16 is right in the same
#            place.
# Why here:  tolerances for 16 bits are stated against float64 fed with the same rounded operands: the oracle must round from
#            float32, where the operands come from, and not from float64.
set -euo pipefail
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check ml_dtypes==0.5.4 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PROGRAM'
import sys

import ml_dtypes
import numpy as np


def error_in_spacings(value, dtype, bits):
    """Distance of a rounded number near 1 from the number, in units of the last place: 0.5 at most if nearest."""
    return abs(float(np.float64(value).astype(dtype)) - value) * 2.0**bits


half = error_in_spacings(1 + 2**-11 + 2**-40, np.float16, 10)
brain = error_in_spacings(1 + 2**-8 + 2**-40, ml_dtypes.bfloat16, 7)
print(f"error in units of the last place: float16 {half:.10f}, bfloat16 {brain:.10f}")
sys.exit(0 if half < 0.5 < brain else 1)
PROGRAM
