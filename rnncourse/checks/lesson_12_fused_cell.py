"""Checks of lesson 12: all gates from two products, and an LSTM's pointwise work in one kernel each way."""

from functools import partial

from nbjudge.exercise import Code
from rnncourse.checks.answers import answers
from rnncourse.checks.kernels import Case, compare_launches, normal, unset
from rnncourse.checks.results import expect
from rnncourse.checks.traces import require_calls

ANSWERS = answers("12_fused_cell")
COUNTED = """
weights, calls = {{name: np.array(w, "float32") for name, w in {weights!r}.items()}}, 0

def multiply(rows, names):
    global calls
    calls += 1
    trace.append(("multiply", rows))
    if calls > 2:
        raise Wrong("multiply is called more than twice; one call takes the weights of several gates.")
    if unknown := [name for name in names if name not in weights]:
        raise Wrong(f"There are no weights {{unknown[0]!r}}; there are {{', '.join(weights)}}.")
    stacked = np.concatenate([weights[name] for name in names])
    if rows.shape[1] != stacked.shape[1]:
        raise Wrong(f"{{names[0]}} has {{stacked.shape[1]}} columns, the rows {{rows.shape[1]}} numbers.")
    return rows @ stacked.T
"""


@ANSWERS.exercise("""
    B  I  H  gates
    2  3  2  ('r', 'z')
    1  2  1  ('h',)
    3  5  4  ('i', 'f', 'g', 'o')
    2  4  3  ('r', 'z', 'n')
    n  3  2  ('r', 'z')
""")
def check_group_gates(answer, submission, rng, B, I, H, gates):
    draw = partial(normal, rng)
    x = draw(B, I)
    h = draw(B, H)
    weights = {f"W_{gate}": draw(H, I) for gate in gates}
    weights |= {f"U_{gate}": draw(H, H) for gate in gates}
    source = COUNTED.format(weights={name: array.tolist() for name, array in weights.items()})
    share = answer.number("share", 1)
    want = {}
    for gate in gates:
        want[gate] = x @ weights[f"W_{gate}"].T + share * h @ weights[f"U_{gate}"].T
    arguments = x, h, Code(source, "multiply", trace := []), gates
    got = submission(*arguments)
    if expect(got, want, "the sums: sequence, unit"):
        require_calls(answer, trace, arguments)


WIDE = "sequence, gate of 4, unit"
UNITS = "sequence, unit"


BLOCKS = """
      B   H   block  largest
      2   3  (4, 2)        0
      1   1  (1, 1)        0
      3   8  (8, 4)      100
    3:6  11  (8, 2)        0
      n   3  (4, 2)        0
"""


@ANSWERS.exercise(BLOCKS)
def check_lstm_pointwise_kernel(answer, submission, rng, B, H, block, largest):
    """largest: how far numbers go into a nonlinearity."""
    draw = partial(normal, rng)
    sums = 2 * draw(B, 4 * H)
    for gate in range(4 * bool(largest)):  # both signs into every gate
        two = rng.permutation(B)[:2]
        sums[two, gate * H + rng.integers(H)] = -largest, largest
    c = draw(B, H)
    results = f"sums: {WIDE}; c: {UNITS}; gates: {WIDE}; c_next: {UNITS}; h_next: {UNITS}"

    def explain(name, place, surplus):
        sequence = place[0]
        unit = place[1] % H
        own = ", ".join(f"{number:.4g}" for number in sums[sequence, unit::H])
        return f"There the sums of i, f, g and o are {own}, and c is {c[sequence, unit]:.4g}."

    arrays = sums, c, unset(B, 4 * H), unset(B, H), unset(B, H)
    case = Case(_grid(B, H, block), block, arrays)
    compare_launches(answer, submission, case, results, LIMIT_FORWARD, explain)


@ANSWERS.exercise(BLOCKS)
def check_lstm_pointwise_backward_kernel(answer, submission, rng, B, H, block, largest):
    draw = partial(normal, rng)
    gates = rng.uniform(0.1, 0.9, (B, 4 * H)).astype("float32")
    states = [draw(B, H) for _ in range(4)]
    if largest:
        states[1].flat[rng.permutation(B * H)[:2]] = -largest, largest
    states_in = f"c: {UNITS}; c_next: {UNITS}; dh: {UNITS}; dc_next: {UNITS}"
    results = f"gates: {WIDE}; {states_in}; dsums: {WIDE}; dc: {UNITS}"

    def explain(name, place, surplus):
        sequence = place[0]
        unit = place[1] % H
        own = [*(state[sequence, unit] for state in states), *gates[sequence, unit::H]]
        letters = "c", "c_next", "dh", "dc_next", *"ifgo"
        numbers = (f"{letter} is {number:.4g}" for letter, number in zip(letters, own, strict=True))
        return f"There {', '.join(numbers)}."

    case = Case(_grid(B, H, block), block, (gates, *states, unset(B, 4 * H), unset(B, H)))
    compare_launches(answer, submission, case, results, LIMIT_BACKWARD, explain)


def _grid(B: int, H: int, block: tuple[int, int]) -> tuple[int, int]:
    return -(-H // block[0]), -(-B // block[1])


def limit_traffic(loads: int, stores: int, read: str, written: str):
    """A limit of so many numbers read and written for each unit; the words say which numbers they are."""

    def limit(counts, case):
        units = case.arguments[1].size
        if counts["global_loads"] > loads * units:
            return f"It loads {counts['global_loads'] / units:.3g} numbers a unit; {read} are {loads}"
        if counts["global_stores"] > stores * units:
            return f"It stores {counts['global_stores'] / units:.3g} numbers a unit; {written} are {stores}"
        return None

    return limit


LIMIT_FORWARD = limit_traffic(5, 6, "four sums and c", "four gates, c and h")
LIMIT_BACKWARD = limit_traffic(8, 5, "four gates, two c, dh and dc", "four gradients of sums and dc")
