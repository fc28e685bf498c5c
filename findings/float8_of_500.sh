#!/usr/bin/env bash
# Versions:  torch 2.13.0 (CPU), ml_dtypes 0.5.4
# Expected:  a conversion to float8_e4m3fn, whose largest number is 448, has one result for 500; the format has no infinity, so
#            NaN.
# Guess:     NaN from torch and from ml_dtypes (which JAX uses); NaN for infinity.
# Seen:      torch gives 448, for infinity too; ml_dtypes gives NaN. In torch's other format, float8_e5m2, 70000 becomes
#            infinity: one library limits one format and not the other.
# Why here:  an oracle for narrow weights in NumPy and a kernel compared with torch disagree as soon as one weight is beyond the
#            range: scales have to keep it inside.
set -euo pipefail
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check --extra-index-url https://download.pytorch.org/whl/cpu torch==2.13.0+cpu numpy==2.4.6 ml_dtypes==0.5.4
cd "$work"
"$work/venv/bin/python" - <<'PROGRAM'
import sys

import ml_dtypes
import numpy as np
import torch

values = np.array([448.0, 500.0, np.inf], "float32")
with np.errstate(invalid="ignore"):
    by_numpy = values.astype(ml_dtypes.float8_e4m3fn).astype("float32")
by_torch = torch.from_numpy(values).to(torch.float8_e4m3fn).float().numpy()
wide = torch.tensor([70000.0]).to(torch.float8_e5m2).float().item()
print(f"448, 500, inf as e4m3fn: ml_dtypes {by_numpy}, torch {by_torch}; 70000 as e5m2 in torch: {wide}")
seen = by_torch.tolist() == [448, 448, 448] and by_numpy[0] == 448 and np.isnan(by_numpy[1:]).all()
sys.exit(0 if seen and wide == np.inf else 1)
PROGRAM
