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


LAUNCH = """
from rnnlab import cuda
import numpy as np
@cuda.jit
def reverse(x, y):
    part = cuda.shared.array(4, np.float32)
    i = cuda.threadIdx.x
    part[i] = x[i]
    cuda.syncthreads()
    y[i] = part[3 - i]
y = np.zeros(4, "float32")
seen = cuda.observe(reverse, 1, 4, np.arange(4, dtype="float32"), y)
print(json.dumps([y.tolist(), seen.counts.barriers, [*seen.findings]]))
"""
NOTHING_BUT_NUMPY = "\n".join(
    f"sys.modules[{name!r}] = None" for name in ("numba", "llvmlite", "greenlet", "cupy", "psutil", "scipy")
)


@pytest.mark.parametrize("choice", ["simulator", ""])
def test_the_simulator_needs_numpy_alone(tmp_path, choice):
    (tmp_path / "launch.py").write_text(f"import json\n{LAUNCH}")
    code = f"{NOTHING_BUT_NUMPY}\nsys.path.insert(0, {str(tmp_path)!r})\nimport launch"
    assert in_a_fresh_process(code, RNNLAB_CUDA=choice) == [[3, 2, 1, 0], 1, []]


def test_a_kernel_that_waits_and_has_no_text_says_so():
    code = f"exec(compile({LAUNCH!r}, '<nowhere>', 'exec'))"
    assert holds(in_a_fresh_process(code, RNNLAB_CUDA="simulator"), "reverse", "syncthreads", "linecache")


def test_the_simulator_loads_nothing_but_numpy_and_the_standard_library():
    code = (
        "before = {*sys.modules}; import numpy; known = {*sys.modules}\n"
        "from pocketgpu import simulator\n"
        "new = {name.partition('.')[0] for name in {*sys.modules} - known} - {'pocketgpu'}\n"
        "print(json.dumps([sorted(new - sys.stdlib_module_names), sorted(new & {'ctypes', 'threading'})]))"
    )
    assert in_a_fresh_process(code) == [[], []]


BROKEN = """import importlib, numpy, warnings
real = importlib.import_module
def import_module(name, *package):
    if name == "numba.cuda":
        raise AttributeError("module 'numpy' has no attribute 'row_stack'")
    return real(name, *package)
importlib.import_module = import_module
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    from rnnlab import cuda
print(json.dumps([cuda.is_simulated, str(seen[0].message), numpy.__version__]))
"""


def test_a_numba_cuda_that_cannot_be_imported_is_no_silent_reason_to_simulate():
    simulated, warning, version = in_a_fresh_process(BROKEN, RNNLAB_CUDA="")
    assert simulated
    assert "row_stack" in warning
    assert version in warning


def test_a_gpu_without_numba_is_an_error_that_says_what_to_install():
    code = "sys.modules['numba'] = None\nfrom rnnlab import cuda"
    assert holds(in_a_fresh_process(code, RNNLAB_CUDA="gpu"), "RNNLAB_CUDA", "pip", "numba-cuda")


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
