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
    weights_ih = {gate: draw(H, I) for gate in gates}
    weights_hh = {gate: draw(H, H) for gate in gates}
    by_name = {f"W_{gate}": weights_ih[gate].tolist() for gate in gates}
    by_name |= {f"U_{gate}": weights_hh[gate].tolist() for gate in gates}
    source = COUNTED.format(weights=by_name)
    share = answer.number("share", 1)
    want = {}
    for gate in gates:
        input_product = x @ weights_ih[gate].T
        recurrent_product = share * h @ weights_hh[gate].T
        want[gate] = input_product + recurrent_product
    trace: list = []
    multiply = Code(source, "multiply", trace)
    arguments = x, h, multiply, gates
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
    if largest:
        for gate in range(4):  # both signs into every gate
            two_sequences = rng.permutation(B)[:2]
            unit = rng.integers(H)
            column = gate * H + unit
            sums[two_sequences, column] = -largest, largest
    c = draw(B, H)
    results = f"sums: {WIDE}; c: {UNITS}; gates: {WIDE}; c_next: {UNITS}; h_next: {UNITS}"

    def explain(name, place, surplus):
        sequence = place[0]
        unit = place[1] % H
        own_sums = sums[sequence, unit::H]
        listed = ", ".join(f"{number:.4g}" for number in own_sums)
        return f"There the sums of i, f, g and o are {listed}, and c is {c[sequence, unit]:.4g}."

    gates = unset(B, 4 * H)
    c_next = unset(B, H)
    h_next = unset(B, H)
    case = Case(_grid(B, H, block), block, (sums, c, gates, c_next, h_next))
    compare_launches(answer, submission, case, results, LIMIT_FORWARD, explain)


@ANSWERS.exercise(BLOCKS)
def check_lstm_pointwise_backward_kernel(answer, submission, rng, B, H, block, largest):
    draw = partial(normal, rng)
    gates = rng.uniform(0.1, 0.9, (B, 4 * H)).astype("float32")
    c = draw(B, H)
    c_next = draw(B, H)
    dh = draw(B, H)
    dc_next = draw(B, H)
    if largest:
        places = rng.permutation(B * H)[:2]
        c_next.flat[places] = -largest, largest
    states_in = f"c: {UNITS}; c_next: {UNITS}; dh: {UNITS}; dc_next: {UNITS}"
    results = f"gates: {WIDE}; {states_in}; dsums: {WIDE}; dc: {UNITS}"
    named_states = {"c": c, "c_next": c_next, "dh": dh, "dc_next": dc_next}

    def explain(name, place, surplus):
        sequence = place[0]
        unit = place[1] % H
        own = {state: array[sequence, unit] for state, array in named_states.items()}
        own |= zip("ifgo", gates[sequence, unit::H], strict=True)
        listed = ", ".join(f"{letter} is {number:.4g}" for letter, number in own.items())
        return f"There {listed}."

    dsums = unset(B, 4 * H)
    dc = unset(B, H)
    case = Case(_grid(B, H, block), block, (gates, c, c_next, dh, dc_next, dsums, dc))
    compare_launches(answer, submission, case, results, LIMIT_BACKWARD, explain)


def _grid(B: int, H: int, block: tuple[int, int]) -> tuple[int, int]:
    columns, rows = block
    return -(-H // columns), -(-B // rows)


def limit_traffic(loads: int, stores: int, read: str, written: str):
    """A limit of so many numbers read and written for each unit; the words say which numbers they are."""

    def limit(counts, case):
        units = case.arguments[1].size
        loads_of_unit = counts["global_loads"] / units
        if loads_of_unit > loads:
            return f"It loads {loads_of_unit:.3g} numbers a unit; {read} are {loads}"
        stores_of_unit = counts["global_stores"] / units
        if stores_of_unit > stores:
            return f"It stores {stores_of_unit:.3g} numbers a unit; {written} are {stores}"
        return None

    return limit


LIMIT_FORWARD = limit_traffic(5, 6, "four sums and c", "four gates, c and h")
LIMIT_BACKWARD = limit_traffic(8, 5, "four gates, two c, dh and dc", "four gradients of sums and dc")
