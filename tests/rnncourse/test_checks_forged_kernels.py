"""Answers of kernel exercises that compute what nobody counts get nothing."""

# ruff: noqa: E501 -- lines of answers

import numpy as np
import pytest
from numba import cuda as numba_cuda

from nbjudge.exercise import Wrong
from nbjudge.grading import learner
from nbjudge.grading.grade import judge_apart
from nbjudge.running.sandbox import choose
from nbjudge.running.worker import of_source
from nbjudge.verdict import Status, Stopped
from pocketgpu import cuda
from rnncourse import checks
from rnncourse.checks.kernels import Case, launch
from rnncourse.kernel_answers.kernel_selection import select

SAXPY = checks.find("saxpy_kernel")[1]
HEAD = "import math\nimport numpy as np\nfrom rnnlab import cuda\n"
RIGHT = "    i = cuda.grid(1)\n    if i < x.size:\n        y[i] = a * x[i] + y[i]\n"
KERNEL = f"@cuda.jit\ndef saxpy_kernel(a, x, y):\n{RIGHT}"
ALONE = "    i = cuda.grid(1)\n    if i == 0:\n"

PLAIN = "def saxpy_kernel(grid, block, a, x, y):\n"
FORGED = {  # the deed: its source behind HEAD
    "a plain function returns what a launch would": f"{PLAIN}    return (x, a * x + y)\n",
    "a plain function makes the report of a launch": (
        f'{PLAIN}    return {{"arrays": [x, a * x + y], "counts": None, "findings": []}}\n'
    ),
    "a class with the launch protocol": (
        "class saxpy_kernel:\n    max_cooperative_grid_blocks = 1\n    def __getitem__(self, c):\n        return self\n"
    ),
    "a decorator swaps the kernel": (
        "def swap(function):\n    return 3\n@swap\n@cuda.jit\n" + KERNEL.partition("\n")[2]
    ),
    "a subclass of the kernel": "class Mine(type(cuda.jit(len))):\n    pass\n" + KERNEL,
    "the simulator patched": "cuda.syncthreads = min\n" + KERNEL,
    "the simulator patched inside": KERNEL + "    cuda.threadIdx.x = 0\n",
    "another name for the module": "m = np\n@cuda.jit\ndef saxpy_kernel(a, x, y):\n    z = m.array(x)\n"
    + RIGHT,
    "np.array of an argument": "@cuda.jit\ndef saxpy_kernel(a, x, y):\n    z = np.array(x)\n" + RIGHT,
    "np.float32 of an argument": (
        f"@cuda.jit\ndef saxpy_kernel(a, x, y):\n{ALONE}        z = np.float32(x)\n"
        "        for k in range(x.size):\n            y[k] = a * z[k] + y[k]\n"
    ),
    "matmul by one thread": f"from numpy import matmul\n{KERNEL}",
    "dot of a row and a column": f"from numpy import dot\n{KERNEL}",
    "np.dot of a row and a column": f"@cuda.jit\ndef saxpy_kernel(a, x, y):\n{ALONE}        y[0] = np.dot(x, y)\n",
    "a constant copy of an argument": (
        "@cuda.jit\ndef saxpy_kernel(a, x, y):\n    z = cuda.const.array_like(x)\n"
        + RIGHT.replace("* x", "* z")
    ),
    "a constant copy of an argument by another name": (
        "@cuda.jit\ndef saxpy_kernel(a, x, y):\n    w = x\n    z = cuda.const.array_like(w)\n" + RIGHT
    ),
    "a list as shared memory": "kept = [0.0] * 64\n" + KERNEL + "        kept[0] = x[i]\n",
    "a table as shared memory": "kept = np.zeros(64)\n" + KERNEL + "        kept[0] = x[i]\n",
    "a list as local memory": KERNEL + "        z = [x[i], y[i]]\n",
    "a comprehension": KERNEL + "        z = [v for v in x]\n",
    "a dict": KERNEL + "        z = {0: x[i]}\n",
    "max of an array as a method": KERNEL + "        y[i] = x.max()\n",
    "a list as default": f"@cuda.jit\ndef saxpy_kernel(a, x, y, z=[0]):\n{RIGHT}",
    "a call as default": f"@cuda.jit\ndef saxpy_kernel(a, x, y, z=open('/etc/passwd')):\n{RIGHT}",
    "a linked file": f"@cuda.jit(link=['evil.cu'])\n{KERNEL.partition(chr(10))[2]}",
    "extensions that prepare arguments": f"@cuda.jit(extensions=(1,))\n{KERNEL.partition(chr(10))[2]}",
    "fsum": f"from math import fsum\n@cuda.jit\ndef saxpy_kernel(a, x, y):\n{ALONE}        y[0] = fsum(x)\n",
    "another compiler": f"from numba import njit\n@njit\n{KERNEL.partition(chr(10))[2]}",
    "a ufunc with a place for its result": (
        f"from numpy import square\n@cuda.jit\ndef saxpy_kernel(a, x, y):\n{ALONE}        square(x, y)\n"
    ),
    "a ufunc of a whole array": (
        f"@cuda.jit\ndef saxpy_kernel(a, x, y):\n{ALONE}        z = np.multiply(x, a)\n"
        "        for k in range(x.size):\n            y[k] += z[k]\n"
    ),
    "a name that changes its meaning": (
        "T = cuda.shared\n@cuda.jit\ndef saxpy_kernel(a, x, y):\n    z = T.array(x)\n" + RIGHT + "T = np\n"
    ),
    "the frame": f"import sys\n{KERNEL}        sys._getframe()\n",
}


def verdict_on(source, needed=("*",)):
    return judge_apart(SAXPY, of_source("saxpy_kernel", HEAD + source)._replace(names=[*needed]), 1, choose())


@pytest.mark.corpus
@pytest.mark.parametrize("deed", FORGED)
def test_an_answer_that_is_no_kernel_gets_nothing_and_a_sentence(deed):
    verdict = verdict_on(FORGED[deed])
    assert verdict.status in (Status.failed, Status.forbidden, Status.crashed), verdict
    assert verdict.points == 0
    assert len(verdict.message) > 20


def test_imports_of_other_things_on_a_needed_line_cost_nothing():
    source = "import numpy as np, os, matplotlib.pyplot as plt\n" + KERNEL
    verdict = verdict_on(source, ("np", "math", "cuda", "saxpy_kernel"))
    assert verdict.passed, verdict


@pytest.mark.parametrize("deed", ["dot of a row and a column", "a list as local memory"])
def test_what_a_gpu_could_not_run_has_failed_with_the_reason(deed):
    verdict = verdict_on(FORGED[deed])
    assert verdict.status is Status.failed
    assert "not a kernel for a GPU" in verdict.message


def test_a_plain_function_is_told_what_is_missing():
    with pytest.raises(Stopped, match="a kernel is expected"):
        select(of_source("saxpy_kernel", "def saxpy_kernel(a, x, y):\n    pass\n"), 1, choose(plain=True), [])


def test_what_no_launch_made_is_refused_by_the_check():
    case = Case((1,), (1,), (np.ones(1),))
    for lie in (None, (1, 2), {"arrays": []}, {"arrays": [], "counts": None}):
        with pytest.raises(Wrong, match="a kernel is expected"):
            launch(lambda *arguments, lie=lie: lie, case)


def kernel_of(words):
    namespace = {"cuda": words, "np": np}
    exec(KERNEL, namespace)
    return namespace["saxpy_kernel"]


@pytest.mark.parametrize("words", [cuda, numba_cuda], ids=["ours", "numba's"])
def test_a_notebook_gives_the_same_verdict_on_a_kernel(words, monkeypatch, tmp_path):
    monkeypatch.setenv("RNNLAB_HOME", str(tmp_path))
    assert learner.check(kernel_of(words)).passed


def test_a_notebook_gives_the_same_verdict_on_a_plain_function(monkeypatch, tmp_path):
    monkeypatch.setenv("RNNLAB_HOME", str(tmp_path))

    def saxpy_kernel(a, x, y):
        y += a * x

    verdict = learner.check(saxpy_kernel)
    assert verdict.status is Status.failed
    assert "plain function" in verdict.message
