"""Answers of kernel exercises that compute what nobody counts get nothing."""

import numpy as np
import pytest
from numba import cuda as numba_cuda

from nbjudge.exercise import Wrong
from nbjudge.grading import learner
from nbjudge.grading.grade import judge_apart
from nbjudge.running.learner_answer import of_source
from nbjudge.running.sandbox import choose
from nbjudge.verdict import Status, Stopped
from pocketgpu import cuda
from rnncourse import checks
from rnncourse.checks.kernels import Case, launch
from rnncourse.kernel_answers.kernel_selection import select

SAXPY = checks.find("saxpy_kernel")[1]
HEAD = "import math\nimport numpy as np\nfrom rnnlab import cuda\n"
RIGHT = "    i = cuda.grid(1)\n    if i < x.size:\n        y[i] = a * x[i] + y[i]\n"
KERNEL = f"@cuda.jit\ndef saxpy_kernel(a, x, y):\n{RIGHT}"


def verdict_on(source, needed=("*",)):
    return judge_apart(SAXPY, of_source("saxpy_kernel", HEAD + source)._replace(names=[*needed]), 1, choose())


def test_imports_of_other_things_on_a_needed_line_cost_nothing():
    source = "import numpy as np, os, matplotlib.pyplot as plt\n" + KERNEL
    verdict = verdict_on(source, ("np", "math", "cuda", "saxpy_kernel"))
    assert verdict.passed, verdict


@pytest.mark.parametrize("more", ["        y[0] = np.dot(x, y)\n", "        z = [x[i], y[i]]\n"])
def test_what_a_gpu_could_not_run_has_failed_with_the_reason(more):
    verdict = verdict_on(KERNEL + more)
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


def kernel_of(module):
    namespace = {"cuda": module, "np": np}
    exec(KERNEL, namespace)
    return namespace["saxpy_kernel"]


@pytest.mark.parametrize("module", [cuda, numba_cuda], ids=["ours", "numba's"])
def test_a_notebook_gives_the_same_verdict_on_a_kernel(module, monkeypatch, tmp_path):
    monkeypatch.setenv("RNNLAB_HOME", str(tmp_path))
    assert learner.check(kernel_of(module)).passed


def test_a_notebook_gives_the_same_verdict_on_a_plain_function(monkeypatch, tmp_path):
    monkeypatch.setenv("RNNLAB_HOME", str(tmp_path))

    def saxpy_kernel(a, x, y):
        y += a * x

    verdict = learner.check(saxpy_kernel)
    assert verdict.status is Status.failed
    assert "plain function" in verdict.message
