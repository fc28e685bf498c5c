"""Checks of lesson 12: all gates from two products, and an LSTM's pointwise work in one kernel each way."""

from nbjudge.comparing.judging import expect
from nbjudge.exercise import Code
from rnncourse.checks.answers import answers
from rnncourse.checks.kernels import Case, compare_launches, unset
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


def check_group_gates(submission, rng, B, I, H, gates):
    draw = lambda *shape: rng.normal(size=shape).astype("float32")
    x = draw(B, I)
    h = draw(B, H)
    weights = {f"W_{gate}": draw(H, I) for gate in gates}
    weights |= {f"U_{gate}": draw(H, H) for gate in gates}
    source = COUNTED.format(weights={name: array.tolist() for name, array in weights.items()})
    share = ANSWERS["group_gates"].number("share", 1)
    want = {}
    for gate in gates:
        want[gate] = x @ weights[f"W_{gate}"].T + share * h @ weights[f"U_{gate}"].T
    arguments = x, h, Code(source, "multiply", trace := []), gates
    got = submission(*arguments)
    if expect(got, want, axes=("sequence", "unit"), what="the sums"):
        require_calls(ANSWERS["group_gates"], trace, arguments)


WIDE = ("sequence", ("gate", 4), "unit")
UNITS = ("sequence", "unit")


def draw_blocks(rng) -> list[tuple]:
    """B, H, block, and how far numbers go into a nonlinearity."""
    return [
        (2, 3, (4, 2), 0),
        (1, 1, (1, 1), 0),
        (3, 8, (8, 4), 100),
        (int(rng.integers(3, 6)), 11, (8, 2), 0),
    ]


def check_lstm_pointwise_kernel(submission, rng, B, H, block, largest):
    draw = lambda *shape: rng.normal(size=shape).astype("float32")
    sums = 2 * draw(B, 4 * H)
    for gate in range(4 * bool(largest)):  # both signs into every gate
        two = rng.permutation(B)[:2]
        sums[two, gate * H + rng.integers(H)] = -largest, largest
    results = unset(B, 4 * H), unset(B, H), unset(B, H)
    case = Case(_grid(B, H, block), block, (sums, draw(B, H), *results))
    names = ("sums", "c", "gates", "c_next", "h_next")
    axes = (WIDE, UNITS, WIDE, UNITS, UNITS)

    def explain(name: str, place: tuple, surplus: float) -> str:
        sequence = place[0]
        unit = place[1] % H
        own = ", ".join(f"{number:.4g}" for number in sums[sequence].reshape(4, H)[:, unit])
        return f"There the sums of i, f, g and o are {own}, and c is {case.arguments[1][sequence, unit]:.4g}."

    compare_launches(submission, ANSWERS["lstm_pointwise_kernel"], case, names, axes, LIMIT_FORWARD, explain)


def check_lstm_pointwise_backward_kernel(submission, rng, B, H, block, largest):
    draw = lambda *shape: rng.normal(size=shape).astype("float32")
    gates = rng.uniform(0.1, 0.9, (B, 4 * H)).astype("float32")
    states = [draw(B, H) for _ in range(4)]
    if largest:
        states[1].flat[rng.permutation(B * H)[:2]] = -largest, largest
    results = unset(B, 4 * H), unset(B, H)
    case = Case(_grid(B, H, block), block, (gates, *states, *results))
    names = ("gates", "c", "c_next", "dh", "dc_next", "dsums", "dc")
    axes = (WIDE, *[UNITS] * 4, WIDE, UNITS)

    def explain(name: str, place: tuple, surplus: float) -> str:
        sequence = place[0]
        unit = place[1] % H
        i, f, g, o = gates[sequence].reshape(4, H)[:, unit]
        numbers = dict(
            zip(("c", "c_next", "dh", "dc_next"), (part[sequence, unit] for part in states), strict=True)
        )
        numbers |= {"i": i, "f": f, "g": g, "o": o}
        return f"There {', '.join(f'{letter} is {number:.4g}' for letter, number in numbers.items())}."

    answer = ANSWERS["lstm_pointwise_backward_kernel"]
    compare_launches(submission, answer, case, names, axes, LIMIT_BACKWARD, explain)


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


EXERCISES = (
    ANSWERS["group_gates"].exercise(
        check_group_gates,
        (
            (2, 3, 2, ("r", "z")),
            (1, 2, 1, ("h",)),
            (3, 5, 4, ("i", "f", "g", "o")),
            (2, 4, 3, ("r", "z", "n")),
        ),
        late=lambda n: (n, 3, 2, ("r", "z")),
    ),
    ANSWERS["lstm_pointwise_kernel"].exercise(
        check_lstm_pointwise_kernel,
        draw_blocks,
        is_kernel=True,
        late=lambda n: (n, 3, (4, 2), 0),
    ),
    ANSWERS["lstm_pointwise_backward_kernel"].exercise(
        check_lstm_pointwise_backward_kernel,
        draw_blocks,
        is_kernel=True,
        late=lambda n: (n, 3, (4, 2), 0),
    ),
)
