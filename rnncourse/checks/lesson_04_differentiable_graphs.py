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

    def drawn(shapes):
        return tuple(
            None if shape == "-" else rng.standard_normal([sizes[letter] for letter in shape])
            for shape in shapes.split()
        )

    for node, names, d, inputs, least in rows_of(NODES):
        d = drawn(d)
        d = d if node == "copy" else d[0]
        inputs = drawn(inputs)
        output = None if least == "-" else rng.uniform(least, 0.9, (m, n))
        case = f"node {node!r}, d [{m},{n}]"
        begin_case(f"{case}; {_unneeded(inputs, output)}")
        results = dict.fromkeys(names.split(), ("row", "column"))
        if node == "bias":
            results["db"] = ("column",)
        advice = partial(_at_output, d=d, output=output)
        compare(answer, submission, (node, d, inputs, output), results, advice, case)


def _at_output(got: tuple, want: tuple, d: object, output: np.ndarray | None) -> str | None:
    """What a rule that reads the output has to work with, where its result first differs."""
    if output is None or (place := first_place(got[0], want[0])) is None:
        return None
    return f"d is {d[place]:.4g} there, and output {output[place]:.4g}: use both."


def _unneeded(inputs: tuple, output: object) -> str:
    """Which arguments of a rule are None, because it does not need them."""
    values = {f"inputs[{place}]": part for place, part in enumerate(inputs)} | {"output": output}
    missing = [name for name, part in values.items() if part is None]
    return f"None, because this rule does not need it: {', '.join(missing)}"


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
    step = dh_next, dc_next, rng.standard_normal((B, I)), h, c, i, f, g, o, c_next, weight_ih, weight_hh

    def advice(got: tuple, want: tuple) -> str:
        if same(got[1:3], want[2:0:-1], None):
            return "dh and dc are the right ones in the other order: return dx, dh, dc, and then the rest."
        gates = wrong_gates(got, want, ("dbias",), "ifgo")
        if gates is None or same(got[-1][: 3 * H], want[-1][: 3 * H], None):
            return gates  # i, f and g are right, so what arrives at c_next is, too
        return f"{gates}{_at_cell_state(got[2], want[2], dh_next, dc_next, f, o, c_next)}"

    results = f"{STATES}; dc: sequence, unit; {PARAMETERS}; dbias: gate row"
    compare(answer, submission, step, results, advice)


def _at_cell_state(got, want, dh_next, dc_next, f, o, c_next) -> str:
    """What arrives at c_next where dc first differs, and what it consists of; nothing where dc is right."""
    if np.shape(got) != want.shape or (place := first_place(got, want)) is None:
        return ""
    number = lambda array: f"{array[place]:.4g}"
    return (
        f" By dc, {number(got / f)} arrives at c_next instead of {number(want / f)}, at sequence {place[0]}, "
        f"unit {place[1]}: there dc_next is {number(dc_next)}, dh_next {number(dh_next)}, o {number(o)}, "
        f"tanh(c_next) {number(np.tanh(c_next))}."
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
    step = dh_next, rng.standard_normal((B, I)), h, r, z, n, product, weight_ih, weight_hh
    advice = partial(wrong_gates, biases=("dbias_ih", "dbias_hh"), gates="rzn")
    results = f"{STATES}; {PARAMETERS}; dbias_ih: gate row; dbias_hh: gate row"
    compare(answer, submission, step, results, advice)


def wrong_gates(got: object, want: tuple, biases: tuple[str, ...], gates: str) -> str | None:
    """In front of which gates the mistake stands: a bias gradient is what arrived there, added up.

    The bias gradients are the last results, the weights' stand before them: where its rows are right, what
    arrives in front of a gate is, too.  None where they cannot be read.
    """
    last = len(biases)
    if not isinstance(got, tuple | list) or len(got) != len(want):
        return None
    pairs = list(zip(got[-last:], want[-last:], strict=True))
    if not all(is_array(a, b.shape) for a, b in pairs):
        return None
    if same(got[:-last], want[:-last], None):
        return "All but the bias gradients are right: look at how they are added up."
    for name, (a, b) in zip(biases, pairs, strict=True):
        if same(np.sort(a), np.sort(b), None) and not same(a, b, None):
            rows = len(b) // len(gates)
            return (
                f"{name} has the right numbers in another order: "
                f"{rows} of {gates[0]} stand first, then {rows} of {gates[1]}."
            )
    first = last + len(WEIGHTS)
    weights = zip(WEIGHTS, got[-first:-last], want[-first:-last], strict=True)
    sentences = map(_sentence, biases, pairs, [gates] * last, weights)
    between = (
        "The bias gradients are right for every gate: look at what happens between the gates and the rest."
    )
    return " ".join(filter(None, sentences)) or between


def _sentence(bias: str, pair: tuple, gates: str, weight: tuple) -> str | None:
    """What a bias gradient says of the gates, and the rows of the weights that belong to it."""
    added_up = _right_gates(*pair, gates)
    name, *rows = weight
    arriving = added_up | _right_gates(*rows, gates)
    wrong = [gate for gate in gates if gate not in arriving]
    others = [gate for gate in gates if gate in arriving]
    if added_up == {*gates}:
        return None
    if not wrong:
        return f"{name} shows that the gradient before every gate is right: look at the sum in {bias}."
    right = f", before {', '.join(others)} right" if others else ""
    source = f"{bias} shows" if arriving == added_up else f"{bias} and {name} show"
    return (
        f"{source} that the gradient before {', '.join(wrong)} is wrong{right}. "
        "Follow the wires from the output to there."
    )


def _right_gates(got: object, want: np.ndarray, gates: str) -> set[str]:
    """The gates whose rows are right; none if they cannot be read."""
    if not is_array(got, want.shape):
        return set()
    parts = zip(gates, np.split(got, len(gates)), np.split(want, len(gates)), strict=True)
    return {gate for gate, a, b in parts if np.allclose(a, b)}


CELLS = {  # products of a step: weights of a factor
    "a vanilla RNN": "W_h·x U_h·h",
    "a GRU that resets after": "W_r·x W_z·x W_n·x U_r·h U_z·h U_n·h",
    "a GRU that resets before": "W_r·x W_z·x W_n·x U_r·h U_z·h U_n·r∘h",
    "an LSTM": "W_i·x W_f·x W_g·x W_o·x U_i·h U_f·h U_g·h U_o·h",
    "a cell without inputs": "U_h·h V_h·c U_g·h",
}


def draw_cells(rng) -> list[tuple]:
    """Known cells, and one in mixed order, of factors that no table of known cells holds."""
    step = []
    for factor, most in {"x": 2, "h": 3, "r∘h": 2, "c": 4, "x∘c": 2}.items():
        step += [(factor, f"A_{factor}{k}") for k in range(rng.integers(1, most + 1))]
    invented = tuple(step[k] for k in rng.permutation(len(step)))
    known = {cell: _products(text) for cell, text in CELLS.items()}
    return list((known | {"an invented cell": invented}).items())


def _products(text: str) -> tuple[tuple[str, str], ...]:
    """(factor, weights) of each product."""
    pairs = (product.split("·") for product in text.split())
    return tuple((factor, weights) for weights, factor in pairs)


@ANSWERS.exercise(draw_cells)
def check_count_gemms(answer, submission, rng, cell, step):
    T = int(rng.integers(100, 2000))  # more than products: a number of calls is one multiple of T and a rest
    read = ", ".join(factor for factor, _ in step)
    for stack_gates, stack_time in product((False, True), repeat=2):
        arguments = step, T, stack_gates, stack_time
        want = answer.call(*arguments)
        got = submission(*arguments)
        own = f"; yours is {got // T}·T + {got % T}" if type(got) is int else ""
        case = f"{cell}, whose products read {read}; T={T}, {stack_gates=}, {stack_time=}{own}"
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
    biases = rng.standard_normal((2, 3 * H)) / 2
    used, hidden = with_hidden_weights(rng, (weight_ih, weight_hh), has_own)
    product = Code(hidden + COUNTED_PRODUCT.format(allowed=1 + T, T=T), "product", trace)
    try:
        got = submission(product, x, h0, weight_ih, weight_hh, *biases)
    except Wrong as surplus:  # which products came before tells mistakes apart
        refuse(surplus, result=[a for a, _ in trace])
        return
    multiply = lambda a, weight: a @ weight.T
    want = answer.call(multiply, x, h0, *used, *biases)
    if has_own:
        add_to_case("product uses weights of its own")

    def advice() -> str | None:
        if has_own:
            return None
        reason = _kept(got, want, biases[1]) or one_array_in_all(got[0], want[0])
        return reason or _gates(got[0], want[0], x, h0, weight_ih, weight_hh, *biases)

    if expect(got, want, "y: step, sequence, unit; the saved product: step, sequence, unit", advice=advice):
        states = np.concatenate([h0[np.newaxis], want[0][:-1]])
        refuse(missing_vector("product", trace, {"x": x, "h": states}))


def _kept(got: tuple, want: tuple, bias_hh: np.ndarray) -> str | None:
    """That the saved product lacks exactly its bias."""
    candidates = bias_hh[-want[1].shape[-1] :]
    lacks_bias = same(got[0], want[0], None) and same(got[1] + candidates, want[1], 1e-9)
    lack = "the saved product lacks exactly c_n, the last third of bias_hh: keep the sum of both."
    return lack if lacks_bias else None


def _gates(got: np.ndarray, want: np.ndarray, x, h0, weight_ih, weight_hh, bias_ih, bias_hh) -> str | None:
    """The right gates at the first state that differs."""
    far = np.abs(got - want) > 1e-9
    if not far.any():
        return None
    t, b, unit = map(int, np.argwhere(far)[0])
    h = want[t - 1, b] if t else h0[b]
    carried = (weight_hh @ h + bias_hh).reshape(3, -1)[:, unit]
    own = (weight_ih @ x[t, b] + bias_ih).reshape(3, -1)[:, unit]
    r, z = 1 / (1 + np.exp(-carried[:2] - own[:2]))
    n = np.tanh(own[2] + r * carried[2])
    return f"print the gates there: r is {r:.4g}, z {z:.4g}, n {n:.4g}, and h was {h[unit]:.4g} before."
