"""Programs that import numba.cuda, unchanged: `python -m pocketgpu` and the plugin of pytest."""

import json
import os
import re
import subprocess
import sys
from functools import partial

import pytest
from values_in import holds

from nbjudge.files import ROOT

KERNELS = """
import sys
import numpy as np
from numba import cuda, float32

@cuda.jit
def mirror(x, out):
    tile = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    tile[i] = x[i]
    {barrier}
    out[i] = tile[63 - i]

@cuda.jit
def beyond(x):
    x[cuda.grid(1) + 1] = 1
"""
RACE, SOUND = KERNELS.format(barrier="pass"), KERNELS.format(barrier="cuda.syncthreads()")
LAUNCHES = """
x = np.arange(64, dtype=np.float32)
for _ in range(3):
    mirror[1, 64](x, np.zeros_like(x))
"""
PATH = {"PYTHONPATH": str(ROOT)}
LINE = 10  # of the first access to the tile


def run(folder, program, *options, numba=True, more=()):
    """The command, finished, with its program in that folder."""
    (folder / "program.py").write_text(program)
    if not numba:
        (folder / "numba.py").write_text("raise ModuleNotFoundError(name='numba')")
    line = [sys.executable, "-m", "pocketgpu", *options, "program.py", *more]
    env = os.environ | PATH
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, env=env)


@pytest.mark.parametrize("numba", [True, False])
def test_a_race_is_told_once_with_its_line_and_the_status_is_one(tmp_path, numba):
    done = run(tmp_path, RACE + LAUNCHES, numba=numba)
    assert done.returncode == 1
    first, summary = done.stderr.splitlines()
    assert first.startswith(f"program.py:{LINE}: mirror: race: ")
    assert "syncthreads" in first
    assert first.endswith("(3 launches)")
    assert holds(summary, "3 launches of 1 kernel", "1 finding")


def test_a_finding_in_a_device_function_names_the_file_in_which_it_stands(tmp_path):
    helper = "from numba import cuda\n\n@cuda.jit(device=True)\ndef put(x, i):\n    x[0] = i\n"
    (tmp_path / "helper.py").write_text(helper)
    program = (
        "import numpy as np\nfrom numba import cuda\nfrom helper import put\n\n"
        "@cuda.jit\ndef kernel(x):\n    put(x, cuda.threadIdx.x)\n\nkernel[1, 4](np.zeros(1))\n"
    )
    done = run(tmp_path, program)
    assert done.stderr.startswith("helper.py:5: kernel: race: ")


def test_a_sound_program_gets_its_arguments_and_keeps_its_own_status(tmp_path):
    done = run(tmp_path, SOUND + LAUNCHES + "print(sys.argv)\nsys.exit(5)", more=["--json", "-x"])
    assert (done.returncode, done.stdout) == (5, "['program.py', '--json', '-x']\n")
    assert holds(done.stderr, "3 launches of 1 kernel", "0 findings")


def test_the_traceback_of_a_package_run_as_a_module_is_whole(tmp_path):
    (tmp_path / "tool").mkdir()
    (tmp_path / "tool/__main__.py").write_text("from numba import cuda\n1 / 0\n")
    line = [sys.executable, "-m", "pocketgpu", "-m", "tool"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, env=os.environ | PATH)
    assert done.returncode == 1
    assert re.search(r'tool/__main__.py", line 2.*\n +1 / 0', done.stderr)


def test_a_programs_own_error_is_printed_as_python_does_and_the_findings_behind_it(tmp_path):
    done = run(tmp_path, RACE + LAUNCHES + "1 / 0")
    assert done.returncode == 1
    trace, _, rest = done.stderr.partition("ZeroDivisionError: division by zero\n")
    assert trace.startswith('Traceback (most recent call last):\n  File "program.py", line')
    assert "runpy" not in trace
    assert rest.startswith("program.py:")


@pytest.mark.parametrize("option", ["--json", "--html"])
def test_a_file_of_another_kind_is_not_replaced(tmp_path, option):
    done = run(tmp_path, SOUND, option, "program.py")
    assert done.returncode == 2
    assert holds(done.stderr, option, "program.py")
    assert (tmp_path / "program.py").read_text() == SOUND
    assert run(tmp_path, SOUND, option, "missing/page").returncode == 2


def test_tools_that_were_not_asked_for_are_silent_and_the_status_can_be_chosen(tmp_path):
    program = RACE + LAUNCHES + "beyond[1, 64](x)"
    done = run(tmp_path, program, "--tool", "mem", "--error-exitcode", "7", "--json", "found.json")
    assert done.returncode == 7
    report = json.loads((tmp_path / "found.json").read_text())
    (finding,) = report["findings"]
    assert report["launches"] == 4
    assert (finding["tool"], finding["kind"], finding["kernel"]) == ("mem", "out_of_bounds", "beyond")
    assert finding["thread"] == [63, 0, 0]
    assert run(tmp_path, RACE + LAUNCHES, "--tool", "init,sync").returncode == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tool", "races"], ["races", "race,", "mem"]),
        (["--device", "H2000"], ["H2000", "H200"]),
        (["--events", "few"], ["few"]),
    ],
)
def test_a_wrong_option_is_told_with_what_there_is(tmp_path, options, message):
    done = run(tmp_path, SOUND, *options)
    assert done.returncode == 2
    assert holds(done.stderr, *message)


def test_a_program_that_is_not_there_is_named():
    done = subprocess.run([sys.executable, "-m", "pocketgpu", "nowhere.py"], capture_output=True, text=True)
    assert done.returncode == 2
    assert holds(done.stderr, "nowhere.py")


def test_a_finding_fails_the_test_that_launched_and_no_other(tmp_path):
    (tmp_path / "test_kernels.py").write_text(
        RACE
        + "\ndef test_race():\n    x = np.zeros(64, np.float32)\n    mirror[1, 64](x, x.copy())\n"
        + "\ndef test_stray():\n    beyond[1, 64](np.zeros(64))\n    assert False\n"
        + "\ndef test_sound():\n    beyond[1, 64](np.zeros(65))\n"
        + "\nimport pytest\n@pytest.fixture\ndef later():\n    yield\n    beyond[1, 64](np.zeros(64))\n"
        + "\ndef test_fixture(later):\n    pass\n"
    )
    line = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", "--pocketgpu", "."]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")} | PATH
    run = partial(subprocess.run, cwd=tmp_path, capture_output=True, text=True, env=env)
    done = run(line)
    assert outcomes(done) == {
        "test_race": "FAILED", "test_stray": "FAILED", "test_sound": "PASSED", "test_fixture": "ERROR",
    }  # fmt: skip
    assert f"test_kernels.py:{LINE}: mirror: race" in done.stdout
    assert "beyond: out of bounds" in done.stdout
    assert "4 launches of 2 kernels simulated" in done.stdout
    few = run([*line, "--pocketgpu-tool", "init"])
    assert outcomes(few) == {
        "test_race": "PASSED", "test_stray": "FAILED", "test_sound": "PASSED", "test_fixture": "PASSED",
    }  # fmt: skip


def outcomes(done):
    """{test: outcome} in pytest's summary."""
    return {name: word for word, name in re.findall(r"^(PASSED|FAILED|ERROR) \S+::(\w+)", done.stdout, re.M)}


WORDS = """
import numpy as np
from numba import cuda
from numba.cuda import libdevice
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

@cuda.jit
def draw(states, out):
    i = cuda.grid(1)
    out[i] = xoroshiro128p_uniform_float32(states, i)
    out[i + 4] = libdevice.rsqrt(4.0) + libdevice.fast_expf(np.float32(0))

with cuda.gpus[0]:
    cuda.current_context().deallocations.clear()
out = cuda.to_device(np.zeros(8))
draw[1, 4](create_xoroshiro128p_states(4, seed=1), cuda.as_cuda_array(out))
print(*out.copy_to_host(), cuda.is_cuda_array(out))
"""


def test_random_numbers_and_libdevice_are_there(tmp_path):
    done = run(tmp_path, WORDS)
    assert done.returncode == 0, done.stderr
    *drawn, interface = done.stdout.split()
    numbers = [float(number) for number in drawn]
    assert [interface, *numbers[4:]] == ["True", *[1.5] * 4]
    assert len({*numbers[:4]}) == 4
    assert all(0 <= number < 1 for number in numbers[:4])


TRANSPOSED = """
import numpy as np
from numba import cuda, float32

@cuda.jit
def transpose(x, y):
    tile = cuda.shared.array((32, 32), float32)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    tile[j, i] = x[j, i]
    y[i, j] = tile[j, i]

transpose[1, (32, 32)](np.ones((32, 32), "f"), np.ones((32, 32), "f"))
"""


@pytest.mark.parametrize("numba", [True, False])
def test_counts_of_each_line_and_a_replay_come_from_the_command(tmp_path, numba):
    page = tmp_path / "replay.html"
    done = run(tmp_path, TRANSPOSED, "--tool", "counts", "--html", str(page), numba=numba)
    assert done.returncode == 0, done.stderr
    (line,) = (line for line in done.stderr.splitlines() if "y[i, j]" in line)
    counts = [int(word) for word in line.split() if word.isdigit()]
    assert counts == [
        10,
        32 * 32,
        32 * 32,
        32 * 32,
    ]  # its number; stores, each in a sector of its own; shared
    assert "transpose" in page.read_text(encoding="utf-8")


SHARED_STATES = """
import numpy as np
from numba import cuda
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_normal_float64

@cuda.jit(device=True)
def noise(states, i):
    return 0.5 * xoroshiro128p_normal_float64(states, i)

@cuda.jit
def walk(states, out):
    i = cuda.grid(1)
    for step in range(3):
        out[i] += noise(states, STATE)

walk[2, 3](create_xoroshiro128p_states(6, seed=5), np.zeros(6))
"""


@pytest.mark.parametrize(("state", "lines"), [("cuda.blockIdx.x", [8]), ("i % 5", [8]), ("i", [])])
def test_a_race_for_a_random_state_is_told_once_at_the_line_that_draws(tmp_path, state, lines):
    done = run(tmp_path, SHARED_STATES.replace("STATE", state), "--json", "-")
    findings = json.loads(done.stdout)["findings"]
    assert [(finding["kind"], finding["line"], finding["file"]) for finding in findings] == [
        ("race", line, "program.py") for line in lines
    ]


IN_CONFTEST = """
import numpy as np
import pytest
from numba import cuda

@cuda.jit
def shift(x):
    i = cuda.grid(1)
    x[i] = x[{index}]

DATA = cuda.to_device(np.arange(9.0))

@pytest.fixture
def shifted():
    shift[1, 8](DATA)
    return DATA.copy_to_host()
"""


def suite(folder, *options, **files):
    """`pytest --pocketgpu` in that folder with these files, finished."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    line = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", "--pocketgpu", *options, "."]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")} | PATH
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, env=env)


def test_kernels_and_device_arrays_of_conftest_are_simulated_and_checked(tmp_path):
    uses = "def test_shift(shifted):\n    assert len(shifted) == 9\n"
    sound = suite(tmp_path, conftest=IN_CONFTEST.format(index="i"), test_it=uses)
    assert outcomes(sound) == {"test_shift": "PASSED"}
    assert "1 launch of 1 kernel simulated" in sound.stdout
    racing = suite(tmp_path, conftest=IN_CONFTEST.format(index="i + 1"), test_it=uses)
    assert outcomes(racing) == {"test_shift": "FAILED"}
    assert "conftest.py:9: shift: race" in racing.stdout


def test_a_plugin_that_took_the_numba_of_a_gpu_before_is_named(tmp_path):
    early = suite(
        tmp_path, "-p", "early", early="from numba.cuda import jit\n", test_it="def test_it(): pass\n"
    )
    assert early.returncode == 4
    assert holds(early.stderr, "early", "python -m pocketgpu -m pytest")


def test_a_suite_without_a_launch_says_so_with_the_number_of_skipped_tests(tmp_path):
    text = (
        "import pytest\nfrom numba import cuda\n\ndef test_cpu(): pass\n\n"
        "@pytest.mark.skipif(cuda.is_available(), reason='for the CPU')\ndef test_skipped(): pass\n"
    )
    done = suite(tmp_path, test_it=text)
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("pocketgpu: "))
    assert holds(line, "no kernel", "1 skipped test,")


def test_a_replay_shows_the_threads_of_a_large_launch_one_after_another(tmp_path):
    program = (
        "import numpy as np\nfrom numba import cuda\n\n@cuda.jit\ndef double(x):\n"
        "    x[cuda.grid(1)] *= 2\n\ndouble[2, 256](np.ones(512))\n"
    )
    assert run(tmp_path, program, "--html", "page.html").returncode == 0
    kinds = re.search(r'"events":\{"kind":\[([0-9,]*)\]', (tmp_path / "page.html").read_text())[1].split(",")
    assert kinds[0] != kinds[1]  # a load, then the same thread's store
