"""Input products of several steps in one call; the product is handed over, so that calls can be counted."""

from contextlib import suppress

import numpy as np

from rnnlab.checks.edits import wrong_values
from rnnlab.checks.traces import insist_on_trace
from rnnlab.grading.exercise import Code, Exercise, Mutant
from rnnlab.grading.judging import expect


def batch_input_gemm(x, multiply, steps):
    T, B, I = x.shape
    parts = []
    for t in range(0, T, steps):
        rows = x[t : t + steps].reshape(-1, I)
        parts.append(multiply(rows).reshape(-1, B, multiply.outputs))
    return np.concatenate(parts)


COUNTED = """
weights, calls = np.array({weights!r}, "float32"), 0

def multiply(rows):
    global calls
    calls += 1
    if getattr(rows, "ndim", 0) != 2 or rows.shape[1] != weights.shape[1]:
        got = getattr(rows, "shape", type(rows))
        raise Wrong(f"multiply takes [rows, {{weights.shape[1]}}], not {{got}}.")
    if len(rows) > {most_rows}:
        raise Wrong(f"A call has {{len(rows)}} rows; {steps} steps of {B} sequences are {most_rows}.",
                    "multiplies the whole sequence at once")
    if calls > {most_calls}:
        raise Wrong(f"multiply is called more than {most_calls} times for {T} steps, {steps} at a time.",
                    "calls once a step")
    trace.append(("multiply", rows))
    return rows @ weights.T

multiply.outputs = len(weights)
"""
MUTANTS = (
    Mutant("calls once a step", "range(0, T, steps)", "range(0, T, 1)"),
    Mutant("multiplies the whole sequence at once", "x[t : t + steps]", "x[t:]"),
    Mutant("leaves out the steps that are left over", "range(0, T, steps)", "range(0, T - T % steps, steps)"),
    Mutant(
        "mixes steps and sequences",
        ".reshape(-1, B, multiply.outputs)",
        ".reshape(B, -1, multiply.outputs).swapaxes(0, 1)",
    ),
    Mutant("takes the first steps each time", "x[t : t + steps]", "x[: min(steps, T - t)]"),
    Mutant("puts the chunks in reverse order", "np.concatenate(parts)", "np.concatenate(parts[::-1])"),
    Mutant(
        "forgets the steps' axis",
        "return np.concatenate(parts)",
        "return np.concatenate(parts).reshape(T * B, -1)",
    ),
)


def check(submission, rng):
    for T, B, I, M, steps in (
        (1, 1, 2, 1, 1),
        (4, 1, 3, 2, 2),
        (5, 3, 2, 4, 2),
        (7, 2, 3, 5, 3),
        (6, 4, 2, 3, 6),
    ):
        x = rng.normal(size=(T, B, I)).astype("float32")
        weights = rng.normal(size=(M, I)).astype("float32")
        calls = -(-T // steps)
        source = COUNTED.format(
            weights=weights.tolist(), most_rows=steps * B, most_calls=calls, steps=steps, B=B, T=T
        )
        trace = []
        multiply = Code(source, "multiply", trace)
        case = f"T={T}, B={B}, I={I}, {M} outputs, steps={steps}"
        expect(
            submission(x, multiply, steps),
            x @ weights.T,
            axes=("step", "sequence", "unit"),
            what="the products",
            case=case,
            wrong=_wrong(x, multiply, steps),
        )
        insist_on_trace(trace, batch_input_gemm, (x, multiply, steps), case)


def _wrong(*arguments: object) -> dict[str, np.ndarray]:
    """What known mistakes give that ask for no more than their calls."""
    found = {}
    for name, value in wrong_values(batch_input_gemm, MUTANTS, *arguments).items():
        with suppress(Exception):  # it is named by what it asks of multiply, or fails on this case
            found[name] = value()
    return found


BATCH_INPUT_GEMM = Exercise(
    name="batch_input_gemm",
    points=2,
    difficulty=2,
    minutes=15,
    lines=6,
    hints=(
        "All inputs are known before the first step, so their products need not wait for anything. What does "
        "the row number of a step's product have to do with the step and the sequence?",
        "A chunk of k steps is [k,B,I]; as rows it is [k·B,I], step after step. The products come back as "
        "[k·B,M] and become [k,B,M] again. The last chunk may be shorter.",
        "`for t in range(0, T, steps)`: `rows = x[t : t + steps].reshape(-1, I)`; append "
        "`multiply(rows).reshape(-1, B, multiply.outputs)`; concatenate at the end.",
    ),
    check=check,
    truth=batch_input_gemm,
    mutants=MUTANTS,
    also_right=(
        """def batch_input_gemm(x, multiply, steps):
    T, B, I = x.shape
    out = np.empty((T * B, multiply.outputs), x.dtype)
    flat = x.reshape(T * B, I)
    for first in range(0, T * B, steps * B):
        out[first : first + steps * B] = multiply(flat[first : first + steps * B])
    return out.reshape(T, B, -1)
""",
        """def batch_input_gemm(x, multiply, steps):
    chunks = np.split(x, range(steps, len(x), steps))
    made = [multiply(np.concatenate(list(chunk))) for chunk in chunks]
    return np.vstack(made).reshape(*x.shape[:2], multiply.outputs)
""",
    ),
)
