"""replay(kernel): the launch that failed in the last check, with the check's own arguments."""

import numpy as np
import pytest

import rnnlab
from nbjudge.grading import learner
from rnncourse.checks.answers import answers

OWN = answers("persistent_rnn")["flag_barrier"]
HEAD = "@cuda.jit\ndef flag_barrier(history, flags, steps):\n    i = cuda.grid(1)\n"


@pytest.fixture(autouse=True)
def kernel_of_a_learner(tmp_path, monkeypatch):
    monkeypatch.setenv("RNNLAB_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(learner, "_calls", {})


def written(body, head=HEAD):
    return OWN.define("import math\n" + OWN.prelude + head + body, "<a learner's>")


def kinds(shown):
    return {finding.kind for finding in shown.report.findings}


def test_the_failing_launch_is_shown_with_the_checks_own_arguments():
    own = answers("cuda_first_kernels")["fix_the_race"]
    racing = own.mutated(next(mutant for mutant in own.mutants if mutant.name == "has no barrier at all"))
    verdict = rnnlab.check(racing)
    assert verdict.next_step.endswith("from rnnlab import replay; replay(fix_the_race)")
    shown = rnnlab.replay(racing)
    first = shown.report.findings[0].message.partition("; ")[0]
    assert first in verdict.message
    assert (shown.report.watch.grid, shown.report.watch.block) == ((1, 1, 1), (5, 1, 1))  # the first case
    grid, block, (x, steps) = learner._calls["fix_the_race"]
    assert (grid, block, steps) == ((1,), (5,), 2)
    mended = rnnlab.replay(own.function)  # the same launch after an edit
    assert not mended.report.findings
    means = x.astype(float)
    for _ in range(steps):
        means = (np.roll(means, 1) + means + np.roll(means, -1)) / 3
    assert mended.report.watch.arguments[0] == pytest.approx(means, rel=1e-5)


@pytest.mark.parametrize(
    ("body", "kind", "steps"),
    [
        ("    history[1, i] = 1\n    while True:\n        i += 0\n", "endless", 1),
        ("    while True:\n        history[1, i] = 1\n", "endless", 1_000_000),
        ("    while flags[0] == 0:\n        pass\n", "deadlock", 1_000),
        ("    while cuda.atomic.add(flags, 0, 0) == 0:\n        pass\n", "deadlock", 4),
        ("    history[1, i] = 1\n    history[2, i] = int('x')\n", "raised", 1),
        ("    history[1, i] = 1\n    history[2, undefined] = 2\n", "raised", 1),
        ("    history[1, i] = history[int(1 / (i - i)), i]\n", "out_of_bounds", 0),
    ],
    ids=["computes", "writes", "polls by a load", "polls", "raises", "a name", "an index"],
)
def test_a_launch_that_never_ends_or_raises_shows_its_first_steps(body, kind, steps):
    call = (2,), (2,), (np.ones((3, 4), "float32"), np.zeros(2, "int32"), 2)
    learner._calls["flag_barrier"] = call
    shown = rnnlab.replay(written(body))
    assert kind in kinds(shown)
    assert shown.trace["total"] >= steps
    assert len(shown.html()) < 1 << 20
    assert call[2][0].tolist() == np.ones((3, 4)).tolist()


@pytest.mark.parametrize("body", ["raise NotImplementedError", "return 5", "y[0] = [1, 2][0]"])
def test_a_kernel_that_no_gpu_launches_offers_no_replay(body):
    saxpy = answers("cuda_first_kernels")["saxpy_kernel"]
    text = f"{saxpy.prelude}@cuda.jit\ndef saxpy_kernel(a, x, y):\n    {body}\n"
    kernel = saxpy.define(text, "<a learner's>")
    assert "replay(" not in str(rnnlab.check(kernel))
    with pytest.raises(ValueError, match="saxpy_kernel"):
        rnnlab.replay(kernel)


def test_an_answer_that_became_a_plain_function_is_refused():
    learner._calls["flag_barrier"] = (1,), (1,), ()
    with pytest.raises(TypeError, match=r"@cuda\.jit.*flag_barrier"):
        rnnlab.replay(OWN.function.py_func)


def test_a_kernel_of_numba_is_replayed_in_the_simulator():
    numba_cuda = pytest.importorskip("numba.cuda")
    learner._calls["flag_barrier"] = (1,), (1,), (np.ones((3, 1), "float32"), np.zeros(1, "int32"), 2)
    assert rnnlab.replay(numba_cuda.jit(OWN.function.py_func)).trace["total"] > 0


@pytest.mark.parametrize(("patience", "times"), [(-1.0, 1), (1e6, 0)])
def test_a_check_that_takes_long_prints_its_first_difference_once(patience, times, monkeypatch, capsys):
    monkeypatch.setattr(learner, "PATIENCE", patience)
    own = answers("09_cuda_first_kernels")["saxpy_kernel"]
    verdict = rnnlab.check(own.mutated(own.mutants[0]))
    assert capsys.readouterr().out.count(verdict.message) == times
