"""What watches and counts an answer lies with the judge: to look at it or change it earns nothing."""

# ruff: noqa: E501 -- lines of answers

from dataclasses import replace

import pytest

from nbjudge.comparing.judging import Transcript, expect, recording
from nbjudge.exercise import Code, Exercise
from nbjudge.grading.grade import judge_apart
from nbjudge.grading.in_process import InProcess
from nbjudge.grading.judge import judge
from nbjudge.running.sandbox import choose
from nbjudge.running.worker import of_source
from nbjudge.verdict import Status
from rnncourse import checks
from rnncourse.checks.answers import ModelAnswer
from rnncourse.checks.traces import require_calls

HEAD = "import gc, inspect, sys, types\nimport numpy as np\n"
TANH, GATES, SWEEP = "fast_tanh", "fused_gates", "bptt_linear"
QUADRATIC = """
    dx, total = np.zeros_like(x), None
    for last in range(len(x)):
        dh = dy[last]
        for t in reversed(range(last + 1)):
            dx_t, dh, *step = CALL(dh, x[t], h[t], h[t + 1], weight_ih, weight_hh)
            dx[t] += dx_t
            parts = [dh if t == 0 else 0 * dh, *step]
            total = parts if total is None else [a + b for a, b in zip(total, parts)]
    return dx, *total
"""
BPTT = "def bptt_linear(cell_backward, x, h, dy, weight_ih, weight_hh):\n"
OWN = """
    slope = {}
    for t in range(len(x)):
        da = cell_backward(np.ones_like(dy[t]), x[t], h[t], h[t + 1], weight_ih, weight_hh)[1]
        slope[t] = np.linalg.solve(weight_hh.T, da.T).T
    def mine(dh, x_t, h_t, h_after, w, u):
        t = next(k for k in range(len(x)) if x[k] is x_t or (x[k] == x_t).all())
        da = dh * slope[t]
        return da @ w, da @ u, da.T @ x_t, da.T @ h_t, da.sum(0)
"""
FORGED = [  # exercise, deed, source
    (TANH, "reads the value", "def fast_tanh(a, odd, even, edge):\n    return float(np.tanh(np.float64(a.value)))\n"),
    (TANH, "unpacks the tuple", "def fast_tanh(a, odd, even, edge):\n    v, *_ = a\n    return float(np.tanh(v))\n"),
    (
        TANH,
        "bisects the value by comparing",
        "def fast_tanh(a, odd, even, edge):\n    low, high = -10.0, 10.0\n    for _ in range(40):\n"
        "        m = (low + high) / 2\n        low, high = (m, high) if a > m else (low, m)\n    return float(np.tanh(low))\n",
    ),
    (
        TANH,
        "searches memory",
        "def fast_tanh(a, odd, even, edge):\n    for thing in gc.get_objects():\n"
        "        if isinstance(thing, np.float32):\n            return float(np.tanh(thing))\n    return 0.0\n",
    ),
    (GATES, "reads past the watch", "def fused_gates(g, u, h):\n    return np.array([h.read(k) for k in range(len(h))])\n"),
    (
        GATES,
        "keeps all numbers, then computes",
        "def fused_gates(g, u, h):\n    H, out = len(h), np.empty_like(h)\n"
        "    v = [[g[j + k * H] for k in range(3)] + [u[j + k * H] for k in range(3)] + [h[j]] for j in range(H)]\n"
        "    for j, (a, b, c, d, e, f, s) in enumerate(v):\n        r, z = 1 / (1 + np.exp(-a - d)), 1 / (1 + np.exp(-b - e))\n"
        "        n = np.tanh(c + r * f)\n        out[j] = (1 - z) * n + z * s\n    return out\n",
    ),
    (
        SWEEP,
        "resets the counter",
        BPTT + "    def free(*parts):\n        for cell in cell_backward.__closure__ or ():\n"
        "            if cell.cell_contents in (1, 2, 3, 4):\n                cell.cell_contents = 0\n"
        "        return cell_backward(*parts)\n" + QUADRATIC.replace("CALL", "free"),
    ),
    (
        SWEEP,
        "swallows the refusal",
        BPTT + "    def free(*parts):\n        try:\n            return cell_backward(*parts)\n"
        "        except BaseException:\n            return cell_backward(*parts)\n" + QUADRATIC.replace("CALL", "free"),
    ),
    (SWEEP, "learns the cell, then sweeps with its own", BPTT + OWN + QUADRATIC.replace("CALL", "mine")),
    (
        "batch_input_gemm",
        "takes the weights from the product's globals",
        "def batch_input_gemm(x, multiply, steps):\n"
        "    w = multiply.__globals__['weights']\n    return x @ w.T\n",
    ),
    (
        "batch_input_gemm",
        "learns the weights in one call",
        "def batch_input_gemm(x, multiply, steps):\n    T, B, I = x.shape\n"
        "    if steps * B < I:\n        return multiply(x.reshape(-1, I)).reshape(T, B, -1)\n"
        "    w = multiply(np.eye(I, dtype=x.dtype))\n    return x @ w\n",
    ),
    (
        "group_gates",
        "learns the weights",
        "def group_gates(x, h, multiply, gates):\n"
        "    w = multiply(np.eye(x.shape[1], dtype=x.dtype), ['W_' + g for g in gates])\n"
        "    u = multiply(np.eye(h.shape[1], dtype=h.dtype), ['U_' + g for g in gates])\n"
        "    H = h.shape[1]\n    return {g: x @ w[:, k*H:(k+1)*H] + h @ u[:, k*H:(k+1)*H] for k, g in enumerate(gates)}\n",
    ),
    (
        "rnn_forward_batched",
        "finds the scale and multiplies by itself",
        "def rnn_forward_batched(multiply, x, h0, weight_ih, weight_hh, bias_ih, bias_hh):\n"
        "    one = np.ones((1, 1), x.dtype)\n    s = multiply(one, one)[0, 0]\n    states = [h0]\n"
        "    for x_t in x:\n        rows = [np.tanh((weight_ih @ a + weight_hh @ b) * s + bias_ih + bias_hh)"
        " for a, b in zip(x_t, states[-1])]\n        states.append(np.stack(rows).astype(x.dtype))\n    return np.stack(states)\n",
    ),
]  # fmt: skip


@pytest.mark.corpus
@pytest.mark.parametrize(("name", "deed", "source"), FORGED, ids=[f"{n}-{d}" for n, d, _ in FORGED])
def test_an_answer_that_goes_around_what_watches_it_gets_nothing(name, deed, source):
    unnamed = replace(checks.find(name)[1], mutants=())  # which mistake it looks like is nobody's question
    verdict = judge_apart(unnamed, of_source(name, HEAD + source), 1, choose())
    assert verdict.status in (Status.failed, Status.crashed), verdict
    assert verdict.points == 0


def once(double):
    return double(2)


def answer_of(source):
    """The course's own answer, for what reads the calls that it makes."""
    return ModelAnswer("f", 1, 1, 1, 1, ("", "", ""), (), (), "import numpy as np", source)


def exercise_with(source, look):
    def check(submission, rng):
        trace = []
        expect(submission(Code(source, "double", trace)), 4, what="y")
        look(trace)

    fields = {"name": "f", "points": 1, "difficulty": 1, "minutes": 1, "lines": 1, "hints": ("", "", "")}
    return Exercise(**fields, check=check, cases=((),), make=lambda mutant: once, mutants=(), right=())


DOUBLE = """
calls = 0
def double(x):
    global calls
    calls += 1
    trace.append(("double", x))
    if calls > 1:
        raise Wrong("called twice", "calls twice")
    return 2 * x
double.most = 1
"""
ANSWERS = {  # source of f: status in both worlds
    "def f(double):\n    return double(2)\n": Status.passed,
    "def f(double):\n    return 2 * (double.most + 1)\n": Status.failed,  # the trace is empty
    "def f(double):\n    return double(2) + 0 * double(2)\n": Status.failed,
    "def f(double):\n    try:\n        double(2), double(2)\n    except BaseException:\n        pass\n    return 4\n": Status.failed,
    "def f(double):\n    return double(lambda: 1)\n": Status.crashed,
    "def f(double):\n    return double(None)\n": Status.crashed,
    "def f(double):\n    return double(list(range(9000)))\n": Status.crashed,
    "def f(double):\n    return double.__globals__['calls']\n": Status.crashed,
}


@pytest.mark.parametrize("apart", [False, True], ids=["in a notebook", "apart"])
@pytest.mark.parametrize("source", ANSWERS)
def test_a_function_of_the_judge_counts_and_refuses_in_both_worlds(source, apart):
    def look(trace):
        require_calls(answer_of("def f(double):\n    return double(2)"), trace, (Code(DOUBLE, "double"),))

    exercise = exercise_with(DOUBLE, look)
    if apart:
        verdict = judge_apart(exercise, of_source("f", source), 1, choose())
    else:
        namespace = {}
        exec(source, namespace)
        verdict = judge(exercise, InProcess(namespace["f"]), 1)
    assert verdict.status is ANSWERS[source], verdict


def test_a_needed_call_that_is_missing_is_named():
    transcript, answer = Transcript(), answer_of("def f(double):\n    return double(np.ones(2))")
    with recording(transcript):
        require_calls(answer, [], (Code(DOUBLE, "double"),))
    assert {"double", "1"} < {*transcript.first.message.split()}


def test_the_teacher_is_shown_the_line_that_looked():
    source = "def f(double):\n    count = double.__globals__\n    return double(2)\n"
    exercise = exercise_with(DOUBLE, lambda trace: None)
    verdict = judge_apart(exercise, of_source("f", source), 1, choose())
    assert verdict.looks == ("cell 1, line 2: count = double.__globals__",)
    honest = judge_apart(exercise, of_source("f", "def f(double):\n    return double(2)\n"), 1, choose())
    assert honest.looks == ()
