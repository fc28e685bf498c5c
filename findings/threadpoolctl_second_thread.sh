#!/usr/bin/env bash
# Versions:  threadpoolctl 3.8.0, NumPy 2.4.6 (its wheel's OpenBLAS), on two cores or more
# Expected:  with threadpool_limits(1) in a worker thread limits OpenBLAS, whatever other threads have done: the number belongs
#            to the process.
# Guess:     the block of a second thread limits, also while a block of the first one is open.
# Seen:      while a block of the first thread is open, the second thread's does nothing, without a word. After set_num_threads
#            of a library's controller that is so as long as the calling thread lives. Version 3.7.0 limits in both cases.
# Why here:  the ladder's limit used set_num_threads: a second thread ran with all of BLAS's threads, and a learner's own block
#            had no effect.
set -euo pipefail
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check numpy==2.4.6 threadpoolctl==3.8.0
cd "$work"
"$work/venv/bin/python" - <<'PROGRAM'
import subprocess
import sys
import threading

import numpy  # its BLAS
from threadpoolctl import ThreadpoolController, threadpool_limits


def threads_of_blas():
    return max(lib.num_threads for lib in ThreadpoolController().lib_controllers if lib.user_api == "blas")


def in_a_block():
    with threadpool_limits(1):
        seen.append(threads_of_blas())


def in_another_thread():
    worker = threading.Thread(target=in_a_block)
    worker.start()
    worker.join()


seen = []
whole = threads_of_blas()
in_another_thread()
with threadpool_limits(whole):
    in_another_thread()
for lib in ThreadpoolController().lib_controllers:
    lib.set_num_threads(whole)
in_another_thread()
print(f"OpenBLAS has {whole} threads; in the block of a second thread: {seen[0]}, with a block of the first open {seen[1]}, "
      f"after set_num_threads {seen[2]}")
sys.exit(0 if whole > 1 and seen == [1, whole, whole] else 1)
PROGRAM
