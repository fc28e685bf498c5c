#!/usr/bin/env bash
# Versions:  numba-cuda 0.30.4, numba 0.65.1, nvidia-nvvm 13.5.37
# Expected:  a field of float64 in an array of records is read by one load of 8 bytes, however the records' np.dtype was made; or,
#            where records have no gaps and the field may stand at any address, the compiler refuses.
# Guess:     one load of 8 bytes for records without gaps, which a GPU stops at for every second record.
# Seen:      of np.dtype([("x", "f8"), ("b", "i4")]) the field is read by eight loads of one byte each, without a word; with
#            align=True by one load. With the fields the other way round p[i].x is refused as not aligned, and p["x"][i], which
#            reads the same bytes, is compiled, to eight loads again.
# Why here:  the simulator accused such kernels of misaligned accesses, which no GPU makes; and an array of structures costs eight
#            times the load instructions until somebody writes align=True.
set -euo pipefail
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check 'numba-cuda[cu13]==0.30.4' numba==0.65.1 nvidia-nvvm==13.5.37 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" - <<'PROGRAM'
import re
import sys

import numpy as np
from numba import cuda, from_dtype, types
from numba.cuda.core.errors import NumbaTypeError


def by_record(p, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = p[i].x


def by_column(p, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = p["x"][i]


def loads(kernel, dtype):
    """How many bits each load from memory has; None where the compiler refuses."""
    signature = types.Array(from_dtype(dtype), 1, "C"), types.float64[::1]
    try:
        text = cuda.compile_ptx(kernel, signature, cc=(9, 0))[0]
    except NumbaTypeError as error:
        print(str(error).splitlines()[1])
        return None
    return [int(bits) for bits in re.findall(r"\tld(?:\.global)?\.[a-z](\d+)", text)]


fields = [("x", "f8"), ("b", "i4")]
packed = loads(by_record, np.dtype(fields))
aligned = loads(by_record, np.dtype(fields, align=True))
refused = loads(by_record, np.dtype(fields[::-1]))
column = loads(by_column, np.dtype(fields[::-1]))
print(f"bits of each load: packed {packed}, aligned {aligned}; the other way round p[i].x {refused}, p['x'][i] {column}")
sys.exit(0 if packed == [8] * 8 and aligned == [64] and refused is None and column == packed else 1)
PROGRAM
