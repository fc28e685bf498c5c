"""Kernels as answers: only what a GPU could run is judged, in a process of its own."""

import numpy as np
import pytest
from numba import cuda as numba_cuda

from nbjudge.comparing.judging import Transcript, recording
from nbjudge.exercise import Wrong
from nbjudge.grading import learner
from nbjudge.grading.grade import judge_apart
from nbjudge.grading.in_process import InProcess
from nbjudge.running.learner_answer import of_source
from nbjudge.running.sandbox import choose
from nbjudge.verdict import Status
from pocketgpu import cuda
from rnncourse import checks
from rnncourse.checks.kernels import Case, LaunchResult, compare_launches, launch, unset
from rnncourse.checks.lesson_09_cuda_first_kernels import ANSWERS, limit_tanh

LESSON, SAXPY = checks.find("saxpy_kernel")
HEAD = "import numpy as np\nfrom rnnlab import cuda\n"
RIGHT = "    i = cuda.grid(1)\n    if i < x.size:\n        y[i] = a * x[i] + y[i]\n"
KERNEL = f"@cuda.jit\ndef saxpy_kernel(a, x, y):\n{RIGHT}"

REFUSED = {  # answers that would not let a counter be believed, and the word that is refused
    "import os\n": "import os",
    "from sys import modules\n": "import from sys",
    "secret = ().__class__\n": ".__class__",
    "found = open\n": "open",
    "made = dict(a=1)\n": "dict",
    "made = (lambda: 1)()\n": "lambda",
}
REFUSED_INSIDE = {
    "    x.recorder.events.clear()\n": ".clear",
    "    cuda.os.system('true')\n": ".system",
    "    cuda.machine.trace = None\n": ".trace",
    "    globals()['x'] = 1\n": "globals",
    "    y[0] = eval('1')\n": "eval",
    "    import os\n": ": import",
    "    def inner():\n        pass\n": "a function inside a function",
    "    try:\n        y[0] = 1\n    except Exception:\n        pass\n": ": try",
}


def verdict_on(source):
    return judge_apart(SAXPY, of_source("saxpy_kernel", source), 1, choose())


@pytest.mark.parametrize("line", REFUSED)
def test_a_cell_that_does_more_than_a_kernel_needs_is_refused(line):
    verdict = verdict_on(HEAD + line + KERNEL)
    assert verdict.status is Status.forbidden
    assert REFUSED[line] in verdict.message


@pytest.mark.parametrize("line", REFUSED_INSIDE)
def test_a_kernel_that_reaches_for_the_simulator_is_refused(line):
    verdict = verdict_on(f"{HEAD}@cuda.jit\ndef saxpy_kernel(a, x, y):\n{line}{RIGHT}")
    assert verdict.status is Status.forbidden
    assert REFUSED_INSIDE[line] in verdict.message


def test_imports_of_other_things_on_a_needed_line_cost_nothing():
    answer = of_source("saxpy_kernel", f"{HEAD}import numpy as np, os, matplotlib.pyplot as plt\n{KERNEL}")
    needed = ["np", "math", "cuda", "saxpy_kernel"]
    verdict = judge_apart(SAXPY, answer._replace(names=needed), 1, choose())
    assert verdict.passed, verdict


@pytest.mark.parametrize("more", ["        y[0] = np.dot(x, y)\n", "        z = [x[i], y[i]]\n"])
def test_what_a_gpu_could_not_run_has_failed_with_the_reason(more):
    verdict = verdict_on(HEAD + KERNEL + more)
    assert verdict.status is Status.failed
    assert "not a kernel for a GPU" in verdict.message


def test_what_no_launch_made_is_refused_by_the_check():
    case = Case((1,), (1,), (np.ones(1),))
    for lie in (None, (1, 2), {"arrays": []}, {"arrays": [], "counts": None}):
        with pytest.raises(Wrong, match="a kernel is expected"):
            launch(lambda *arguments, lie=lie: lie, case)


@pytest.mark.parametrize("module", [cuda, numba_cuda, None], ids=["ours", "numba's", "plain"])
def test_a_notebook_gives_the_same_verdict_on_a_kernel(module, monkeypatch, tmp_path):
    monkeypatch.setenv("RNNLAB_HOME", str(tmp_path))
    namespace = {"cuda": module, "np": np}
    exec(KERNEL if module else "def saxpy_kernel(a, x, y):\n    y += a * x\n", namespace)
    verdict = learner.check(namespace["saxpy_kernel"])
    assert verdict.status is (Status.passed if module else Status.failed)
    assert ("plain function" in verdict.message) is (module is None)


def test_an_honest_kernel_passes_with_helpers_and_constants_of_its_own():
    source = (
        f"{HEAD}STRIDE = 1\n@cuda.jit(device=True)\ndef own(a, b, c):\n    return a * b + c\n"
        "@cuda.jit\ndef saxpy_kernel(a, x, y):\n    i = cuda.grid(1) * STRIDE\n"
        "    if i < x.size:\n        y[i] = own(a, x[i], y[i])\n"
    )
    assert verdict_on(source).status is Status.passed


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("    raise NotImplementedError\n", Status.not_attempted),
        ("    while cuda.atomic.add(y, 0, 0) < 1e30:\n        pass\n", Status.failed),  # a deadlock is named
        ("    y[cuda.grid(1)] = z[0]\n", Status.crashed),
    ],
)
def test_a_kernel_that_stops_hangs_or_breaks_gets_a_verdict(body, status):
    assert verdict_on(f"{HEAD}@cuda.jit\ndef saxpy_kernel(a, x, y):\n{body}").status is status


def test_a_launch_changes_nothing_of_the_callers():
    x, y = np.ones(3, "float32"), np.ones(3, "float32")
    saxpy_kernel = InProcess(ANSWERS["saxpy_kernel"].function)
    result = launch(saxpy_kernel, Case((1,), (4,), (np.float32(2), x, y)))
    assert list(result.arrays[1]) == [3, 3, 3]
    assert list(y) == [1, 1, 1]
    assert result.counts["global_stores"] == 3


class OnAGPU(InProcess):
    """A kernel of the notebook whose launches are not counted."""

    def __call__(self, *arguments):
        return super().__call__(*arguments) | {"counts": None}


def test_without_counts_as_on_a_gpu_arrays_alone_decide():
    case = Case((2,), (32,), (np.zeros(40, "float32"), np.zeros(40, "float32")))
    answer = ANSWERS["tanh_kernel"]
    without = OnAGPU(answer.function)
    transcript = Transcript()
    with recording(transcript):
        compare_launches(answer, without, case, "x: element; y: element", limit_tanh)
    assert transcript.first is None
    assert len(transcript.observations) == 1
    assert LaunchResult(**without(*case[:2], *case.arguments)).counts is None


def test_a_kernel_that_loads_an_element_twice_hears_of_loads_and_of_no_distribution():
    case = Case((2,), (32,), tuple(np.zeros(155, "float32") for _ in range(2)))
    counts = {"global_loads": 310, "global_stores": 155, "global_load_sectors": 40}
    sentence = limit_tanh(counts, case)
    assert {"310", "155"} <= {*sentence.split()}
    assert "sector" not in sentence


OLD = np.arange(4, dtype="float32")


def _nothing(x, y, old):
    y[2] = old[2]


def _on_top(x, y, old):
    y += old


def _input(x, y, old):
    x[1] = 7


def _overflow(x, y, old):
    with np.errstate(invalid="ignore"):
        y[2] = np.float32(np.inf) - np.float32(np.inf)


@pytest.mark.parametrize(
    ("change", "old", "sentence"),
    [
        (_nothing, OLD, "It holds the same number before the launch."),
        (_nothing, unset(4), "y still holds at element 2 the NaN"),
        (_on_top, OLD, "That is the right number plus what the element holds before the launch."),
        (_input, OLD, "This launch has to leave x as it is."),
        (_overflow, unset(4), "leaves the range of float32?"),
    ],
)
def test_a_difference_says_what_the_array_before_the_launch_shows(change, old, sentence):
    """The course's launch, with its arrays changed afterwards."""
    x = np.full(4, np.arctanh(0.5), "float32")
    case, answer = Case((1,), (4,), (x, old)), ANSWERS["tanh_kernel"]

    def changed(*arguments):
        result = InProcess(answer.function)(*arguments)
        change(*result["arrays"], old)
        return result

    with recording(transcript := Transcript()):
        compare_launches(answer, changed, case, "x: element; y: element")
    assert sentence in f"{transcript.first.message} {transcript.first.next_step}"
