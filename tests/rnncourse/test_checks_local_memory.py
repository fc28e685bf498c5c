"""Work that a thread hides in local memory does not count as its share: no exchange, no points."""

import pytest
from launches import names_of

from nbjudge.exercise import Wrong
from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import run_check
from rnncourse.course import COURSE

WHOLE_RING = """
import numpy as np
from rnnlab import cuda

@cuda.jit
def fix_the_race(x, steps):
    old = cuda.local.array(32, np.float32)
    new = cuda.local.array(32, np.float32)
    i = cuda.threadIdx.x
    n = cuda.blockDim.x
    for k in range(n):
        old[k] = {own}
    cuda.syncthreads()
    for _ in range(steps):
        for k in range(n):
            new[k] = (old[(k + n - 1) % n] + old[k] + old[(k + 1) % n]) / np.float32(3)
        for k in range(n):
            old[k] = new[k]
    x[cuda.grid(1)] = old[i]
"""
FROM_SHARED = WHOLE_RING.replace(
    "    for k in range(n):\n        old[k] = {own}\n    cuda.syncthreads()\n",
    "    ring = cuda.shared.array(32, np.float32)\n    ring[i] = x[cuda.grid(1)]\n    cuda.syncthreads()\n"
    "    for k in range(n):\n        old[k] = ring[k]\n",
)


@pytest.mark.parametrize("source", [WHOLE_RING.format(own="x[cuda.blockIdx.x * n + k]"), FROM_SHARED])
def test_each_thread_that_computes_the_whole_ring_fails(source):
    _, exercise = COURSE.find("fix_the_race")
    kernel = names_of(source, "<ring>", __name__="kernel")["fix_the_race"]
    answer = InProcess(kernel, "fix_the_race")
    assert isinstance(run_check(exercise, answer, 3), Wrong)
