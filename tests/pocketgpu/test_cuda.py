"""`from rnnlab import cuda`: which world it takes, and what both have in common."""

import json
import os
import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pytest
from values_in import holds

from pocketgpu import cuda

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
    assert in_a_fresh_process(code, RNNLAB_CUDA="simulator") == [True, "pocketgpu.simulator.launch"]


def test_the_words_of_the_simulator_are_the_same_beside_numbas_simulator():
    code = (
        "import numpy as np; from pocketgpu import simulator\n"
        "def count(a):\n    for k in range(len(a)): a[k] += k\n"
        "a = np.zeros(3); simulator.jit(count)[1, 1](a)\n"
        "print(json.dumps([a.tolist(), sorted(vars(simulator))]))"
    )
    beside, alone = (in_a_fresh_process(code, NUMBA_ENABLE_CUDASIM=choice) for choice in "10")
    assert beside == alone
    assert alone[0] == [0, 1, 2]


PRETEND = "import numba.cuda; numba.cuda.is_available = lambda: True\n"  # a driver and a device
NO_GPU = "import numba.cuda as c; c.is_available = lambda: False; c.cuda_error = lambda: {}\n"


def test_the_gpu_can_be_asked_for_and_nothing_of_the_simulator_is_loaded_then():
    code = (
        f"{PRETEND}from rnnlab import cuda\n"
        "print(json.dumps([cuda.is_simulated, cuda.jit.__module__, "
        "sorted(m for m in sys.modules if m == 'greenlet' or m.startswith('pocketgpu.simulator'))]))"
    )
    simulated, module, loaded = in_a_fresh_process(code, RNNLAB_CUDA="gpu")
    assert not simulated
    assert module.startswith("numba.cuda")
    assert not loaded


def test_on_a_gpu_the_module_is_numbas_own_however_it_is_imported():
    code = (
        f"{PRETEND}from rnnlab import cuda\nimport pocketgpu.cuda as again\n"
        "print(json.dumps([cuda is again is numba.cuda, callable(cuda.observe)]))"
    )
    assert in_a_fresh_process(code, RNNLAB_CUDA="gpu") == [True, True]


@pytest.mark.parametrize("choice", ["gpu", ""])
def test_on_a_gpu_a_kernel_that_says_cuda_has_types(choice):
    """Numba registers its words for its own module: those of any other have no types."""
    code = f"""{PRETEND}
from rnnlab import cuda
from pocketgpu.compiling.without_gpu import without_gpu
@cuda.jit
def kernel(x):
    i = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    part = cuda.shared.array(32, numba.float32)
    part[cuda.laneid] = x[i]
    cuda.syncwarp()
    cuda.atomic.add(x, 0, part[0])
numba.cuda.dispatcher._Kernel.bind = lambda self: None  # it would load the code into a driver
with without_gpu((9, 0)):
    kernel.compile((numba.float32[::1],))
print(json.dumps(len(kernel.overloads)))
"""
    assert in_a_fresh_process(code, RNNLAB_CUDA=choice) == 1


def test_a_gpu_that_is_wished_for_and_absent_is_an_error_that_says_why():
    no_compiler, no_driver = (
        f"{NO_GPU.format(error)}from rnnlab import cuda" for error in (None, "'no\\nlibcuda'")
    )
    output = in_a_fresh_process(no_compiler, RNNLAB_CUDA="gpu", CUDA_HOME="/x")
    assert holds(output, "RNNLAB_CUDA", "NVVM")
    assert holds(output, "CUDA_HOME", "CUDA")
    output = in_a_fresh_process(no_driver, RNNLAB_CUDA="gpu")
    assert holds(output, "RNNLAB_CUDA", "libcuda")


def test_a_driver_without_a_compiler_is_no_silent_reason_to_simulate():
    code = f"""{NO_GPU.format(None)}import warnings
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    from rnnlab import cuda
print(json.dumps([cuda.is_simulated, [str(each.message) for each in seen]]))
"""
    simulated, (warning,) = in_a_fresh_process(code, RNNLAB_CUDA="")
    assert simulated
    assert holds(warning, "NVVM")


INSTALL = ".venv/bin/pip install -e '.[lab]'"
ABSENT = {  # what is done before the import -> what the first use says
    "sys.modules['numba'] = None": f"kernels need Numba, not installed here: {INSTALL}",
    "sys.modules['greenlet'] = None": f"the simulator needs greenlet, not installed here: {INSTALL}",
    "import importlib; real = importlib.import_module\n"
    "def row_stack(name): return real(name) if name != 'numba.cuda' else numpy.row_stack\n"
    "import numpy; numpy.row_stack = None; del numpy.row_stack\n"
    "importlib.import_module = row_stack": "numba.cuda cannot be imported beside NumPy",
}


@pytest.mark.parametrize(("before", "sentence"), ABSENT.items(), ids=["numba", "greenlet", "numba-cuda"])
def test_a_package_that_is_missing_or_broken_is_told_at_the_first_use(before, sentence):
    """Modules that only mention a kernel are imported all the same, and lessons without one go on."""
    code = f"""{before}
from rnnlab import cuda
try:
    cuda.jit
except ImportError as error:
    print(json.dumps([type(error).__name__, str(error)]))
"""
    name, text = in_a_fresh_process(code, RNNLAB_CUDA="")
    assert name == "CudaMissing"
    assert sentence in text
    assert "pip install" in text


def test_a_word_that_means_neither_is_refused():
    output = in_a_fresh_process("from rnnlab import cuda", RNNLAB_CUDA="emulator")
    assert holds(output, "RNNLAB_CUDA", "emulator")


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
