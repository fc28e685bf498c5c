"""Checks of lesson 04: rules of nodes, gradients read off graphs, products counted."""

from functools import partial
from itertools import product

import numpy as np

from nbjudge.comparing.differences import same
from nbjudge.comparing.judging import add_to_case, begin_case, refuse
from nbjudge.comparing.patterns import first_place
from nbjudge.exercise import Code, Wrong
from rnncourse.checks.answers import answers
from rnncourse.checks.results import compare, expect, is_array, one_array_in_all
from rnncourse.checks.tables import rows_of
from rnncourse.checks.traces import missing_vector, with_hidden_weights

ANSWERS = answers("04_differentiable_graphs")


NODES = """
    node     results  d      inputs  output
    sum      da db    mn     - -     -
    copy     da       mn mn  -       -
    times    da db    mn     mn mn   -
    product  da db    mn     mk kn   -
    bias     da db    mn     - -     -
    tanh     da       mn     -       -0.9
    sigmoid  da       mn     -       0.1
"""


@ANSWERS.exercise("""
    m  k  n
    3  4  5
    1  3  2
    2  2  2
    3  n  2
""")
def check_graph_rules(answer, submission, rng, m, k, n):
    """Each node once. Values that its rule does not need arrive as None: the green wires.

    NODES has the shapes of what arrives, and the least number of an output whose largest is 0.9.
    """
    sizes = {"m": m, "k": k, "n": n}

    def draw(letters):
        if letters == "-":
            return None
        shape = [sizes[letter] for letter in letters]
        return rng.standard_normal(shape)

    for node, names, d_shapes, input_shapes, least in rows_of(NODES):
        gradients = tuple(map(draw, d_shapes.split()))
        d = gradients if node == "copy" else gradients[0]
        inputs = tuple(map(draw, input_shapes.split()))
        output = None
        if least != "-":
            output = rng.uniform(least, 0.9, (m, n))
        case = f"node {node!r}, d [{m},{n}]"
        unneeded = _unneeded(inputs, output)
        begin_case(f"{case}; {unneeded}")
        results = dict.fromkeys(names.split(), ("row", "column"))
        if node == "bias":
            results["db"] = ("column",)
        arguments = node, d, inputs, output
        advice = partial(_at_output, d=d, output=output)
        compare(answer, submission, arguments, results, advice, case)


def _at_output(got: tuple, want: tuple, d: object, output: np.ndarray | None) -> str | None:
    """What a rule that reads the output has to work with, where its result first differs."""
    if output is None:
        return None
    place = first_place(got[0], want[0])
    if place is None:
        return None
    return f"d is {d[place]:.4g} there, and output {output[place]:.4g}: use both."


def _unneeded(inputs: tuple, output: object) -> str:
    """Which arguments of a rule are None, because it does not need them."""
    missing = [f"inputs[{place}]" for place, part in enumerate(inputs) if part is None]
    if output is None:
        missing.append("output")
    listed = ", ".join(missing)
    return f"None, because this rule does not need it: {listed}"


STATES = "dx: sequence, input; dh: sequence, unit"
PARAMETERS = "dweight_ih: gate row, input; dweight_hh: gate row, unit read"
WEIGHTS = "dweight_ih", "dweight_hh"  # the results in front of the bias gradients


@ANSWERS.exercise("""
    B  I  H
    3  1  2
    1  2  3
    2  5  4
    4  3  6
    n  2  3
""")
def check_lstm_backward(answer, submission, rng, B, I, H):
    """One step's wires, of no network in particular: a gradient is right for any."""
    i, f, o = rng.uniform(0.1, 0.9, (3, B, H))
    g, h = rng.uniform(-0.9, 0.9, (2, B, H))
    dh_next, dc_next, c, c_next = rng.standard_normal((4, B, H))
    weight_ih = rng.standard_normal((4 * H, I))
    weight_hh = rng.standard_normal((4 * H, H))
    x = rng.standard_normal((B, I))
    step = dh_next, dc_next, x, h, c, i, f, g, o, c_next, weight_ih, weight_hh
    through_cell_state = slice(3 * H)  # gate rows of i, f and g

    def advice(got: tuple, want: tuple) -> str | None:
        _, dh, dc, *_, dbias = want
        if same(got[1:3], (dc, dh), None):
            return "dh and dc are the right ones in the other order: return dx, dh, dc, and then the rest."
        gates = wrong_gates(got, want, ("dbias",), "ifgo")
        if gates is None:
            return None
        if same(got[-1][through_cell_state], dbias[through_cell_state], None):
            return gates  # what arrives at c_next is right, too
        cell_state = _at_cell_state(got[2], dc, dh_next, dc_next, f, o, c_next)
        return f"{gates}{cell_state}"

    results = f"{STATES}; dc: sequence, unit; {PARAMETERS}; dbias: gate row"
    compare(answer, submission, step, results, advice)


def _at_cell_state(got, want, dh_next, dc_next, f, o, c_next) -> str:
    """What arrives at c_next where dc first differs, and what it consists of; nothing where dc is right."""
    if np.shape(got) != want.shape:
        return ""
    place = first_place(got, want)
    if place is None:
        return ""
    sequence, unit = place
    forget_gate = f[place]
    arriving = np.asarray(got)[place] / forget_gate
    right = want[place] / forget_gate
    squashed = np.tanh(c_next[place])
    return (
        f" By dc, {arriving:.4g} arrives at c_next instead of {right:.4g}, at sequence {sequence}, unit "
        f"{unit}: there dc_next is {dc_next[place]:.4g}, dh_next {dh_next[place]:.4g}, o {o[place]:.4g}, "
        f"tanh(c_next) {squashed:.4g}."
    )


@ANSWERS.exercise("""
    B  I  H
    3  1  2
    1  2  3
    2  5  4
    4  3  6
    n  2  3
""")
def check_gru_backward(answer, submission, rng, B, I, H):
    """One step's wires, of no network in particular: a gradient is right for any."""
    r, z = rng.uniform(0.1, 0.9, (2, B, H))
    n, h = rng.uniform(-0.9, 0.9, (2, B, H))
    dh_next, product = rng.standard_normal((2, B, H))
    weight_ih = rng.standard_normal((3 * H, I))
    weight_hh = rng.standard_normal((3 * H, H))
    x = rng.standard_normal((B, I))
    step = dh_next, x, h, r, z, n, product, weight_ih, weight_hh
    advice = partial(wrong_gates, biases=("dbias_ih", "dbias_hh"), gates="rzn")
    results = f"{STATES}; {PARAMETERS}; dbias_ih: gate row; dbias_hh: gate row"
    compare(answer, submission, step, results, advice)


def wrong_gates(got: object, want: tuple, biases: tuple[str, ...], gates: str) -> str | None:
    """In front of which gates the mistake stands: a bias gradient is what arrived there, added up.

    The bias gradients are the last results, the weights' stand before them: where its rows are right, what
    arrives in front of a gate is, too.  None where they cannot be read.
    """
    if not isinstance(got, tuple | list) or len(got) != len(want):
        return None
    first_bias = len(want) - len(biases)
    dbiases = got[first_bias:]
    right_dbiases = want[first_bias:]
    pairs = list(zip(dbiases, right_dbiases, strict=True))
    if not all(is_array(dbias, right.shape) for dbias, right in pairs):
        return None
    if same(got[:first_bias], want[:first_bias], None):
        return "All but the bias gradients are right: look at how they are added up."
    for name, (dbias, right) in zip(biases, pairs, strict=True):
        has_right_numbers = same(np.sort(dbias), np.sort(right), None)
        if has_right_numbers and not same(dbias, right, None):
            rows = len(right) // len(gates)
            first, second, *_ = gates
            return (
                f"{name} has the right numbers in another order: "
                f"{rows} of {first} stand first, then {rows} of {second}."
            )
    first_weight = first_bias - len(WEIGHTS)
    dweights = got[first_weight:first_bias]
    right_dweights = want[first_weight:first_bias]
    weights = zip(WEIGHTS, dweights, right_dweights, strict=True)
    parts = zip(biases, pairs, weights, strict=False)  # an LSTM has two weights and one bias
    sentences = [_sentence(bias, pair, gates, weight) for bias, pair, weight in parts]
    between = (
        "The bias gradients are right for every gate: look at what happens between the gates and the rest."
    )
    return " ".join(filter(None, sentences)) or between


def _sentence(bias: str, pair: tuple, gates: str, weight: tuple) -> str | None:
    """What a bias gradient says of the gates, and the rows of the weights that belong to it."""
    added_up = _right_gates(*pair, gates)
    if added_up == {*gates}:
        return None
    name, dweight, right_dweight = weight
    arriving = added_up | _right_gates(dweight, right_dweight, gates)
    wrong = ", ".join(gate for gate in gates if gate not in arriving)
    if not wrong:
        return f"{name} shows that the gradient before every gate is right: look at the sum in {bias}."
    right = ", ".join(gate for gate in gates if gate in arriving)
    others = f", before {right} right" if right else ""
    source = f"{bias} shows"
    if arriving != added_up:
        source = f"{bias} and {name} show"
    return (
        f"{source} that the gradient before {wrong} is wrong{others}. "
        "Follow the wires from the output to there."
    )


def _right_gates(got: object, want: np.ndarray, gates: str) -> set[str]:
    """The gates whose rows are right; none if they cannot be read."""
    if not is_array(got, want.shape):
        return set()
    rows = np.split(got, len(gates))
    right_rows = np.split(want, len(gates))
    parts = zip(gates, rows, right_rows, strict=True)
    return {gate for gate, own, right in parts if np.allclose(own, right)}


CELLS = {  # products of a step: weights of a factor
    "a vanilla RNN": "W_h·x U_h·h",
    "a GRU that resets after": "W_r·x W_z·x W_n·x U_r·h U_z·h U_n·h",
    "a GRU that resets before": "W_r·x W_z·x W_n·x U_r·h U_z·h U_n·r∘h",
    "an LSTM": "W_i·x W_f·x W_g·x W_o·x U_i·h U_f·h U_g·h U_o·h",
    "a cell without inputs": "U_h·h V_h·c U_g·h",
}


def draw_cells(rng) -> list[tuple]:
    """Known cells, and one in mixed order, of factors that no table of known cells holds."""
    products = []
    for factor, most in {"x": 2, "h": 3, "r∘h": 2, "c": 4, "x∘c": 2}.items():
        count = rng.integers(1, most + 1)
        products += [(factor, f"A_{factor}{k}") for k in range(count)]
    order = rng.permutation(len(products))
    cells = {cell: _products(text) for cell, text in CELLS.items()}
    cells["an invented cell"] = tuple(products[k] for k in order)
    return list(cells.items())


def _products(text: str) -> tuple[tuple[str, str], ...]:
    """(factor, weights) of each product."""
    pairs = []
    for term in text.split():
        weights, factor = term.split("·")
        pairs.append((factor, weights))
    return tuple(pairs)


@ANSWERS.exercise(draw_cells)
def check_count_gemms(answer, submission, rng, cell, step):
    T = int(rng.integers(100, 2000))  # more than products: a number of calls is one multiple of T and a rest
    factors = ", ".join(factor for factor, _ in step)
    for stack_gates, stack_time in product((False, True), repeat=2):
        arguments = step, T, stack_gates, stack_time
        want = answer.call(*arguments)
        got = submission(*arguments)
        case = f"{cell}, whose products read {factors}; T={T}, {stack_gates=}, {stack_time=}"
        if type(got) is int:
            calls_each_step, calls_once = divmod(got, T)
            case += f"; yours is {calls_each_step}·T + {calls_once}"
        expect(got, want, "the number of GEMM calls", case)


COUNTED_PRODUCT = """
calls = 0

def product(a, weight):
    global calls
    calls += 1
    trace.append((a, weight))
    if calls > {allowed}:
        raise Wrong(
            "product was called more than 1 + T = {allowed} times for T={T}.",
            None,
            "One call serves all steps of x, as [T*B,I]; one call a step serves all three gates.",
        )
    return hidden(a) @ hidden(weight).T
"""


@ANSWERS.exercise("""
      T  B  I  H  has_own
      3  2  4  3
      1  1  2  3
      4  3  1  2
      3  2  4  3     True
    5:9  2  5  4
      n  2  3  4
""")
def check_gru_reset_after(answer, submission, rng, T, B, I, H, has_own=False):
    """I and H differ, so that products can be told apart; one with weights of its own shows if it is used."""
    trace: list = []
    x = rng.standard_normal((T, B, I))
    h0 = rng.uniform(-0.9, 0.9, (B, H))
    weight_ih = rng.standard_normal((3 * H, I)) / np.sqrt(I)
    weight_hh = rng.standard_normal((3 * H, H)) / np.sqrt(H)
    bias_ih, bias_hh = rng.standard_normal((2, 3 * H)) / 2
    weights = weight_ih, weight_hh, bias_ih, bias_hh
    used, hidden = with_hidden_weights(rng, (weight_ih, weight_hh), has_own)
    source = hidden + COUNTED_PRODUCT.format(allowed=1 + T, T=T)
    product = Code(source, "product", trace)
    try:
        got = submission(product, x, h0, *weights)
    except Wrong as surplus:  # which products came before tells mistakes apart
        factors = [a for a, _ in trace]
        refuse(surplus, result=factors)
        return
    want = answer.call(_multiply_transposed, x, h0, *used, bias_ih, bias_hh)
    y, _ = want
    if has_own:
        add_to_case("product uses weights of its own")

    def advice() -> str | None:
        if has_own:
            return None
        if reason := _kept(got, want, bias_hh):
            return reason
        own = got[0]
        return one_array_in_all(own, y) or _gates(own, y, x, h0, *weights)

    results = "y: step, sequence, unit; the saved product: step, sequence, unit"
    if expect(got, want, results, advice=advice):
        states = np.concatenate([h0[np.newaxis], y[:-1]])  # before each step
        vectors = {"x": x, "h": states}
        missing = missing_vector("product", trace, vectors)
        refuse(missing)


def _multiply_transposed(a: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The product of check_gru_reset_after, without counting."""
    return a @ weight.T


def _kept(got: tuple, want: tuple, bias_hh: np.ndarray) -> str | None:
    """That the saved product lacks exactly its bias."""
    y, saved_product = got
    right_y, right_product = want
    if not same(y, right_y, None):
        return None
    H = right_y.shape[-1]
    candidate_bias = bias_hh[-H:]
    if same(saved_product + candidate_bias, right_product, 1e-9):
        return "the saved product lacks exactly c_n, the last third of bias_hh: keep the sum of both."
    return None


def _gates(got: np.ndarray, want: np.ndarray, x, h0, weight_ih, weight_hh, bias_ih, bias_hh) -> str | None:
    """The right gates at the first state that differs."""
    far = np.abs(got - want) > 1e-9
    if not far.any():
        return None
    t, b, unit = map(int, np.argwhere(far)[0])
    states = np.concatenate([h0[np.newaxis], want])  # [T+1,B,H]
    h = states[t, b]
    input_sums = weight_ih @ x[t, b] + bias_ih
    hidden_sums = weight_hh @ h + bias_hh
    own = input_sums.reshape(3, -1)[:, unit]  # of r, z and n
    carried = hidden_sums.reshape(3, -1)[:, unit]
    own_r, own_z, own_n = own
    carried_r, carried_z, carried_n = carried
    r = 1 / (1 + np.exp(-carried_r - own_r))
    z = 1 / (1 + np.exp(-carried_z - own_z))
    n = np.tanh(own_n + r * carried_n)
    before = h[unit]
    return f"print the gates there: r is {r:.4g}, z {z:.4g}, n {n:.4g}, and h was {before:.4g} before."
