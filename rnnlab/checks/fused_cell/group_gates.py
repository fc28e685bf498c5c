"""All gates of a step from two products; the weights are hidden behind a product whose calls are counted."""

from contextlib import suppress

import numpy as np

from rnnlab.checks.edits import wrong_values
from rnnlab.checks.traces import insist_on_trace
from rnnlab.grading.exercise import Code, Exercise, Mutant
from rnnlab.grading.judging import expect


def group_gates(x, h, multiply, gates):
    H = h.shape[1]
    from_x = multiply(x, [f"W_{gate}" for gate in gates])
    from_h = multiply(h, [f"U_{gate}" for gate in gates])
    sums = from_x + from_h
    return {gate: sums[:, k * H : (k + 1) * H] for k, gate in enumerate(gates)}


COUNTED = """
weights, calls = {{name: np.array(w, "float32") for name, w in {weights!r}.items()}}, 0

def multiply(rows, names):
    global calls
    calls += 1
    if calls > 2:
        raise Wrong("multiply is called more than twice; one call takes the weights of several gates.",
                    "launches a product for each gate")
    if unknown := [name for name in names if name not in weights]:
        raise Wrong(f"There are no weights {{unknown[0]!r}}; there are {{', '.join(weights)}}.")
    stacked = np.concatenate([weights[name] for name in names])
    if rows.shape[1] != stacked.shape[1]:
        raise Wrong(f"{{names[0]}} has {{stacked.shape[1]}} columns, the rows {{rows.shape[1]}} numbers.",
                    "multiplies the state with the input weights")
    trace.append(("multiply", rows))
    return rows @ stacked.T
"""
MUTANTS = (
    Mutant(
        "launches a product for each gate",
        'multiply(x, [f"W_{gate}" for gate in gates])',
        'np.concatenate([multiply(x, [f"W_{gate}"]) for gate in gates], axis=1)',
    ),
    Mutant("multiplies the state with the input weights", 'f"U_{gate}"', 'f"W_{gate}"'),
    Mutant("forgets the recurrent products", "from_x + from_h", "from_x"),
    Mutant("forgets the input products", "from_x + from_h", "from_h"),
    Mutant("multiplies where it should add", "from_x + from_h", "from_x * from_h"),
    Mutant("takes every so many columns", "k * H : (k + 1) * H", "k :: len(gates)"),
    Mutant("gives every gate the same columns", "k * H : (k + 1) * H", "0:H"),
    Mutant(
        "orders the gates differently in the two products",
        'f"U_{gate}" for gate in gates',
        'f"U_{gate}" for gate in gates[::-1]',
    ),
)


def check(submission, rng):
    for B, I, H, gates in (
        (1, 2, 1, ("h",)),
        (2, 3, 2, ("r", "z")),
        (3, 5, 4, ("i", "f", "g", "o")),
        (2, 4, 3, ("r", "z", "n")),
    ):
        draw = lambda *shape: rng.normal(size=shape).astype("float32")
        x, h = draw(B, I), draw(B, H)
        weights = {
            f"{letter}_{gate}": draw(H, size).tolist()
            for letter, size in (("W", I), ("U", H))
            for gate in gates
        }
        as_arrays = {name: np.array(w, "float32") for name, w in weights.items()}
        trace = []
        arguments = x, h, Code(COUNTED.format(weights=weights), "multiply", trace), gates
        expect(
            submission(*arguments),
            {gate: x @ as_arrays[f"W_{gate}"].T + h @ as_arrays[f"U_{gate}"].T for gate in gates},
            axes=("sequence", "unit"),
            what="the sums",
            case=f"B={B}, I={I}, H={H}, gates={', '.join(gates)}",
            wrong=_wrong(*arguments),
        )
        insist_on_trace(trace, group_gates, arguments, f"B={B}, I={I}, H={H}")


def _wrong(*arguments: object) -> dict[str, dict]:
    """What known mistakes give that ask multiply for nothing it refuses."""
    found = {}
    for name, value in wrong_values(group_gates, MUTANTS, *arguments).items():
        with suppress(Exception):  # it is named by what it asks of multiply
            found[name] = value()
    return found


GROUP_GATES = Exercise(
    name="group_gates",
    points=2,
    difficulty=2,
    minutes=15,
    lines=5,
    hints=(
        "Products that share a factor can be one product. Which of a step's products share x, and which h?",
        "multiply(x, [all W names]) gives [B, G·H]: the first gate's H columns, then the second's, in the "
        "order of the names. The same for h; add the two once, and cut the sum into columns at the end.",
        "`from_x = multiply(x, [f'W_{gate}' for gate in gates])`, likewise from_h with U; gate k has columns "
        "`k * H : (k + 1) * H`.",
    ),
    check=check,
    truth=group_gates,
    mutants=MUTANTS,
    also_right=(
        """def group_gates(x, h, multiply, gates):
    products = [multiply(a, [letter + "_" + gate for gate in gates]) for a, letter in ((x, "W"), (h, "U"))]
    return dict(zip(gates, np.split(products[0] + products[1], len(gates), axis=1)))
""",
        """def group_gates(x, h, multiply, gates):
    total = multiply(h, ["U_" + g for g in gates]).reshape(len(h), len(gates), -1)
    total = total + multiply(x, ["W_" + g for g in gates]).reshape(total.shape)
    return {gate: np.ascontiguousarray(total[:, k]) for k, gate in enumerate(gates)}
""",
    ),
)
