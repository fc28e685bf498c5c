"""A layer's forward pass on a machine that multiplies with weights as they lie; turning them has a price."""

import numpy as np

from rnnlab.checks.fused_layer.asked import values_of
from rnnlab.checks.traces import insist_on_trace
from rnnlab.grading.exercise import Code, Exercise, Mutant
from rnnlab.grading.judging import expect


def transpose_once(inputs, h, turn, multiply):
    turned = turn("U")
    states = [h]
    for a in inputs:
        states.append(np.tanh(a + multiply(states[-1], turned)))
    return np.stack(states)


MACHINE = """
weights, turns = {{"U": np.array({U!r}, "float32")}}, 0

def turn(name):
    global turns
    if name not in weights:
        raise Wrong(f"turn has no weights {{name!r}}; there are {{', '.join(weights)}}.")
    turns += 1
    if turns > 2:
        raise Wrong("turn is called again and again; weights that were turned once stay turned.",
                    "turns the weights in every step")
    weights[name + "ᵀ"] = weights[name].T
    return name + "ᵀ"

def multiply(rows, name):
    if name not in weights:
        raise Wrong(f"multiply has no weights {{name!r}}; there are {{', '.join(weights)}}.")
    if turns > 1 and name == "Uᵀ":
        raise Wrong("The weights were turned a second time, with the same result.",
                    "turns the weights in every step")
    trace.append(("multiply", rows))
    return rows @ weights[name]
"""
MUTANTS = (
    Mutant(
        "turns the weights in every step", "multiply(states[-1], turned)", 'multiply(states[-1], turn("U"))'
    ),
    Mutant(
        "multiplies with the weights as they lie", "multiply(states[-1], turned)", 'multiply(states[-1], "U")'
    ),
    Mutant("forgets the inputs", "a + multiply", "0 * a + multiply"),
    Mutant("forgets tanh", "np.tanh(a + multiply(states[-1], turned))", "a + multiply(states[-1], turned)"),
    Mutant("starts every step from the first state", "multiply(states[-1], turned)", "multiply(h, turned)"),
    Mutant("forgets the state that was given", "np.stack(states)", "np.stack(states[1:])"),
    Mutant("takes the steps in reverse", "for a in inputs:", "for a in inputs[::-1]:"),
)


def check(submission, rng):
    for T, B, H in ((2, 1, 2), (3, 2, 3), (4, 3, 5)):
        inputs, h = rng.normal(size=(T, B, H)).astype("float32"), rng.normal(size=(B, H)).astype("float32")
        U = rng.normal(size=(H, H)).astype("float32")
        source = MACHINE.format(U=U.tolist())
        trace = []
        arguments = inputs, h, Code(source, "turn", trace), Code(source, "multiply", trace)
        want = [h]
        for a in inputs:
            want.append(np.tanh(a + want[-1] @ U.T))
        expect(
            submission(*arguments),
            np.stack(want),
            axes=("step", "sequence", "unit"),
            what="h",
            case=f"T={T}, B={B}, H={H}",
            wrong=values_of(transpose_once, MUTANTS, *arguments),
        )
        insist_on_trace(trace, transpose_once, arguments, f"T={T}, B={B}, H={H}")


TRANSPOSE_ONCE = Exercise(
    name="transpose_once",
    points=1,
    difficulty=1,
    minutes=8,
    lines=5,
    hints=(
        "multiply(rows, name) gives rows times the weights as they lie. Which product does the step need, "
        "with the rows of U or with its columns?",
        'turn("U") lays the transposed weights down and returns their name. It costs a pass over all '
        "weights, so it belongs before the loop.",
        '`turned = turn("U")`, then in each step `np.tanh(a + multiply(states[-1], turned))`.',
    ),
    check=check,
    truth=transpose_once,
    mutants=MUTANTS,
    also_right=(
        """def transpose_once(inputs, h, turn, multiply):
    name = turn("U")
    history = np.empty((len(inputs) + 1, *h.shape), h.dtype)
    history[0] = h
    for t in range(len(inputs)):
        history[t + 1] = np.tanh(multiply(history[t], name) + inputs[t])
    return history
""",
        """def transpose_once(inputs, h, turn, multiply):
    states, name = [h], None
    for a in inputs:
        name = name or turn("U")
        h = np.tanh(a + multiply(h, name))
        states.append(h)
    return np.array(states)
""",
    ),
)
