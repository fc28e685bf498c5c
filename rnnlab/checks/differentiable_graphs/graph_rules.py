"""What each kind of node sends back.  The values that a rule does not need arrive as None: the green wires.

The rules are those of Engel (SVAIL), "Optimizing RNNs with Differentiable Graphs", 2016.
"""

import numpy as np

from rnnlab.checks.edits import wrong_values
from rnnlab.grading.exercise import Exercise, Mutant
from rnnlab.grading.judging import expect


def graph_rules(node, d, inputs, output):
    if node == "sum":
        return d, d
    if node == "copy":
        return (d[0] + d[1],)
    if node == "times":
        a, b = inputs
        return d * b, d * a
    if node == "product":
        a, b = inputs
        return d @ b.T, a.T @ d
    if node == "bias":
        return d, d.sum(axis=0)
    if node == "tanh":
        return (d * (1 - output**2),)
    return (d * output * (1 - output),)


MUTANTS = (
    Mutant("shares the gradient out at a sum", "return d, d\n", "return d / 2, d / 2\n"),
    Mutant("keeps one branch of a copy", "d[0] + d[1]", "d[0]"),
    Mutant("averages the branches of a copy", "d[0] + d[1]", "(d[0] + d[1]) / 2"),
    Mutant("multiplies each factor's gradient by that factor", "d * b, d * a", "d * a, d * b"),
    Mutant("swaps the two gradients of a matrix product", "d @ b.T, a.T @ d", "a.T @ d, d @ b.T"),
    Mutant("transposes the gradient of the right factor", "a.T @ d", "d.T @ a"),
    Mutant("averages the bias gradient over the minibatch", "d.sum(axis=0)", "d.mean(axis=0)"),
    Mutant("forgets to square in the slope of tanh", "1 - output**2", "1 - output"),
    Mutant("uses tanh's slope for the sigmoid", "(d * output * (1 - output),)", "(d * (1 - output**2),)"),
    Mutant("forgets what arrives at a pointwise function", "d * (1 - output**2)", "1 - output**2"),
)


def check(submission, rng):
    for m, k, n in ((2, 2, 2), (1, 3, 2), (3, 4, 5)):
        for node, (names, d, inputs, output) in _draw(rng, m, k, n).items():
            expect(
                submission(node, d, inputs, output),
                graph_rules(node, d, inputs, output),
                axes=("row", "column") if node != "bias" else {"da": ("row", "column"), "db": ("column",)},
                what=names,
                case=f"node {node!r}, d [{m},{n}]",
                wrong=wrong_values(graph_rules, MUTANTS, node, d, inputs, output),
            )


def _draw(rng: np.random.Generator, m: int, k: int, n: int) -> dict[str, tuple]:
    """{node: (names of the results, d, inputs, output)}; what the rule must not need is None."""
    draw = lambda *shape: rng.standard_normal(shape)
    both, nothing = ("da", "db"), (None, None)
    return {
        "sum": (both, draw(m, n), nothing, None),
        "copy": (("da",), (draw(m, n), draw(m, n)), (None,), None),
        "times": (both, draw(m, n), (draw(m, n), draw(m, n)), None),
        "product": (both, draw(m, n), (draw(m, k), draw(k, n)), None),
        "bias": (both, draw(m, n), nothing, None),
        "tanh": (("da",), draw(m, n), (None,), rng.uniform(-0.9, 0.9, (m, n))),
        "sigmoid": (("da",), draw(m, n), (None,), rng.uniform(0.1, 0.9, (m, n))),
    }


GRAPH_RULES = Exercise(
    name="graph_rules",
    points=3,
    difficulty=2,
    minutes=20,
    lines=15,
    hints=(
        "Take one node at a time and ask: if one number on this input moves by a little, how much does the "
        "loss move? d already says how much the loss moves for a little of the output. The values you get "
        "are a hint too: what arrives as None is not needed.",
        "Sum and copy are each other's mirror image: a sum sends d to both inputs as it is, a copy adds up "
        "what comes from its two readers. A factor's gradient is d times the other factor; in a matrix "
        "product, keep the order and transpose the factor you go round, so that the shapes fit. A bias was "
        "used by every row, so all rows' gradients meet in it.",
        "times: `d * b, d * a`. product: `d @ b.T, a.T @ d`. bias: `d, d.sum(axis=0)`. tanh: d times "
        "1 − output². sigmoid: d times output·(1 − output). One result is a tuple too: `return (da,)`.",
    ),
    check=check,
    truth=graph_rules,
    mutants=MUTANTS,
    also_right=(
        """def graph_rules(node, d, inputs, output):
    rules = {
        "sum": lambda: (d.copy(), d.copy()),
        "copy": lambda: (np.add(*d),),
        "times": lambda: (inputs[1] * d, inputs[0] * d),
        "product": lambda: ((inputs[1] @ d.T).T, inputs[0].T.dot(d)),
        "bias": lambda: (d, np.ones(len(d)) @ d),
        "tanh": lambda: (d - d * output * output,),
        "sigmoid": lambda: (d * (output - output**2),),
    }
    return rules[node]()
""",
        """def graph_rules(node, d, inputs, output):
    match node:
        case "sum":
            return [d, d]
        case "copy":
            return [sum(d)]
        case "times":
            return [d * other for other in inputs[::-1]]
        case "product":
            a, b = inputs
            return [np.einsum("mn,kn->mk", d, b), np.einsum("mk,mn->kn", a, d)]
        case "bias":
            return [d, np.einsum("mn->n", d)]
        case "tanh":
            return [d * (1 - output) * (1 + output)]
        case "sigmoid":
            return [d * output * (1 - output)]
""",
    ),
)
