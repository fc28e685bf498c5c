"""`from rnnlab import cuda`: which world it takes, and what both have in common."""

import json
import os
import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pytest

from rnnlab import cuda

WORDS = """jit grid gridsize threadIdx blockIdx blockDim gridDim laneid warpsize shared local const to_device
device_array device_array_like pinned pinned_array mapped_array managed_array stream event event_elapsed_time
synchronize syncthreads syncthreads_count syncthreads_and syncthreads_or syncwarp shfl_sync shfl_up_sync
shfl_down_sync shfl_xor_sync all_sync any_sync eq_sync ballot_sync match_any_sync match_all_sync activemask
lanemask_lt atomic threadfence threadfence_block threadfence_system cg nanosleep fma popc clz ffs brev selp
cbrt fp16 is_available is_simulated observe""".split()


def in_a_fresh_process(code, **environment):
    """What a statement prints as JSON, with nothing imported before it."""
    done = subprocess.run(
        [sys.executable, "-c", f"import json, sys\n{code}"],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr


def unwatched():
    """Launches without analysis, where there is one."""
    return cuda.settings(checks=False) if cuda.is_simulated else nullcontext()


def test_the_simulator_can_be_asked_for():
    code = "from rnnlab import cuda; print(json.dumps([cuda.is_simulated, cuda.jit.__module__]))"
    assert in_a_fresh_process(code, RNNLAB_CUDA="simulator") == [True, "rnnlab.simulator.launch"]


def test_the_gpu_can_be_asked_for_and_nothing_of_the_simulator_is_loaded_then():
    code = (
        "from rnnlab import cuda\n"
        "print(json.dumps([cuda.is_simulated, cuda.jit.__module__, "
        "sorted(m for m in sys.modules if m == 'greenlet' or m.startswith('rnnlab.simulator'))]))"
    )
    simulated, module, loaded = in_a_fresh_process(code, RNNLAB_CUDA="gpu")
    assert not simulated
    assert module.startswith("numba.cuda")
    assert not loaded


def test_a_word_that_means_neither_is_refused():
    said = in_a_fresh_process("from rnnlab import cuda", RNNLAB_CUDA="emulator")
    assert "RNNLAB_CUDA is 'emulator', expected gpu, simulator" in said


@pytest.mark.skipif(not cuda.is_simulated, reason="on a GPU these are Numba's own")
@pytest.mark.parametrize("word", [word for word in WORDS if word != "laneid"])
def test_every_word_of_a_kernel_is_there(word):
    assert getattr(cuda, word) is not None


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_word"):
        _ = cuda.no_such_word


def test_the_lane_is_that_of_the_thread_which_asks():
    @cuda.jit
    def lanes(out):
        out[cuda.grid(1)] = cuda.laneid

    out = np.zeros(64, np.int32)
    with unwatched():
        lanes[1, 64](out)
    np.testing.assert_array_equal(out, np.arange(64) % 32)


def test_a_measurement_runs_the_kernel_once_between_two_events():
    @cuda.jit
    def add_one(a):
        a[cuda.grid(1)] += 1

    a = np.zeros(8)
    with unwatched():
        measured = cuda._measure(add_one[2, 4], (a,))
    assert (a == 1).all()
    assert measured.seconds > 0
    assert measured.counts is None
