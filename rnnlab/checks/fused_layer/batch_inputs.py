"""A layer's forward pass with input products of k steps at a time, each chunk just before it is needed."""

import numpy as np

from rnnlab.checks.fused_layer.asked import values_of
from rnnlab.checks.traces import insist_on_trace
from rnnlab.grading.exercise import Code, Exercise, Mutant
from rnnlab.grading.judging import expect


def batch_inputs(x, h, inputs, step, k):
    T, B, I = x.shape
    states = [h]
    for first in range(0, T, k):
        chunk = x[first : first + k]
        products = inputs(chunk.reshape(-1, I)).reshape(len(chunk), B, -1)
        for a in products:
            states.append(step(a, states[-1]))
    return np.stack(states)


MACHINE = """
W, U, calls, steps = np.array({W!r}, "float32"), np.array({U!r}, "float32"), 0, 0

def inputs(rows):
    global calls
    if len(rows) > {k} * {B}:
        raise Wrong(f"inputs gets {{len(rows)}} rows; {k} steps of {B} sequences are {{{k} * {B}}}.",
                    "multiplies all steps at once")
    if calls >= {most}:
        raise Wrong("inputs is called more than {most} times for {T} steps, {k} at a time.",
                    "calls once a step")
    if steps < calls * {k}:
        raise Wrong(f"inputs is called for steps from {{calls * {k}}} on when only {{steps}} steps have run: "
                    "their products lie in memory before they are needed.", "makes all products beforehand")
    calls += 1
    trace.append(("inputs", rows))
    return rows @ W.T

def step(a, h):
    global steps
    steps += 1
    trace.append(("step", a, h))
    return np.tanh(a + h @ U.T)
"""
MUTANTS = (
    Mutant("calls once a step", "range(0, T, k)", "range(T)"),
    Mutant("multiplies all steps at once", "x[first : first + k]", "x[first:]"),
    Mutant("leaves out the steps that are left over", "range(0, T, k)", "range(0, T - T % k, k)"),
    Mutant("takes the first steps each time", "x[first : first + k]", "x[: min(k, T - first)]"),
    Mutant("starts every step from the first state", "step(a, states[-1])", "step(a, h)"),
    Mutant("forgets the state that was given", "return np.stack(states)", "return np.stack(states[1:])"),
    Mutant("runs a chunk backwards", "for a in products:", "for a in products[::-1]:"),
    Mutant(
        "mixes steps and sequences",
        ".reshape(len(chunk), B, -1)",
        ".reshape(B, len(chunk), -1).swapaxes(0, 1)",
    ),
)


def check(submission, rng):
    for T, B, I, H, k in (
        (1, 1, 2, 1, 1),
        (4, 1, 3, 2, 2),
        (5, 2, 3, 4, 2),
        (7, 3, 2, 3, 3),
        (6, 2, 4, 3, 6),
    ):
        x, h = rng.normal(size=(T, B, I)).astype("float32"), rng.normal(size=(B, H)).astype("float32")
        W, U = (rng.normal(size=(H, size)).astype("float32") for size in (I, H))
        source = MACHINE.format(W=W.tolist(), U=U.tolist(), T=T, B=B, k=k, most=-(-T // k))
        trace = []
        arguments = x, h, Code(source, "inputs", trace), Code(source, "step", trace), k
        case = f"T={T}, B={B}, I={I}, H={H}, k={k}"
        want = [h]
        for x_t in x:
            want.append(np.tanh(x_t @ W.T + want[-1] @ U.T))
        expect(
            submission(*arguments),
            np.stack(want),
            axes=("step", "sequence", "unit"),
            what="h",
            case=case,
            wrong=values_of(batch_inputs, MUTANTS, *arguments),
        )
        insist_on_trace(trace, batch_inputs, arguments, case)


BATCH_INPUTS = Exercise(
    name="batch_inputs",
    points=2,
    difficulty=2,
    minutes=15,
    lines=8,
    hints=(
        "Two loops: over chunks of k steps, and over the steps of a chunk. Where does the product with the "
        "inputs belong, and where the step?",
        "A chunk is x[first : first + k], the last one may be shorter. As rows it is [k·B, I]; its products "
        "are [k·B, H] and become [k, B, H] again. Then run its steps, before the next chunk's products.",
        "`products = inputs(chunk.reshape(-1, I)).reshape(len(chunk), B, -1)`; "
        "`for a in products: states.append(step(a, states[-1]))`.",
    ),
    check=check,
    truth=batch_inputs,
    mutants=MUTANTS,
    also_right=(
        """def batch_inputs(x, h, inputs, step, k):
    T, B, I = x.shape
    history = np.empty((T + 1, *h.shape), h.dtype)
    history[0] = h
    for t in range(T):
        if t % k == 0:
            ready = inputs(x[t : t + k].reshape(-1, I))
        first = t % k * B
        history[t + 1] = step(ready[first : first + B], history[t])
    return history
""",
        """def batch_inputs(x, h, inputs, step, k):
    states, B = [h], x.shape[1]
    for chunk in np.split(x, range(k, len(x), k)):
        rows = inputs(np.concatenate(list(chunk)))
        for part in np.split(rows, len(chunk)):
            states += [step(part, states[-1])]
    return np.array(states)
""",
    ),
)
