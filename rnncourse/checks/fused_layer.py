"""Checks of lesson 13: weights transposed once, inputs of several steps, weight gradients after the loop."""

import numpy as np

from nbjudge.comparing.differences import same
from nbjudge.comparing.judging import expect
from nbjudge.comparing.patterns import first_place
from nbjudge.exercise import Code
from rnncourse.checks.answers import answers
from rnncourse.checks.traces import describe_first_call, require_calls

ANSWERS = answers("fused_layer")
AXES = ("step", "sequence", "unit")
CLOSE = 1e-3, 1e-4  # relative and absolute tolerance of float32 that explanations allow
TRANSPOSING = """
weights, turns = {{"U": np.array({U!r}, "float32")}}, 0

def turn(name):
    global turns
    if name not in weights:
        raise Wrong(f"turn has no weights {{name!r}}; there are {{', '.join(weights)}}.")
    turns += 1
    if turns > 2:
        raise Wrong("turn is called more than twice; transposed weights stay stored, so one call is enough.")
    weights[name + "ᵀ"] = weights[name].T
    return name + "ᵀ"

def multiply(rows, name):
    trace.append(("multiply", rows))
    if len(trace) > {steps}:
        raise Wrong("multiply is called more than {steps} times for {steps} steps.")
    if name not in weights:
        raise Wrong(f"multiply has no weights {{name!r}}; there are {{', '.join(weights)}}.")
    if turns > 1 and name == "Uᵀ":
        raise Wrong("turn is called a second time; the transposed weights were already stored.")
    return rows @ weights[name]
"""


def check_transpose_once(submission, rng, T, B, H):
    inputs, h = rng.normal(size=(T, B, H)).astype("float32"), rng.normal(size=(B, H)).astype("float32")
    U = rng.normal(size=(H, H)).astype("float32")
    source = TRANSPOSING.format(U=U.tolist(), steps=T)
    states = [h]
    for a in inputs:
        states.append(np.tanh(a + states[-1] @ U.T))
    want = np.stack(states)
    trace: list = []
    arguments = inputs, h, Code(source, "turn", trace), Code(source, "multiply", trace)
    case = f"T={T}, B={B}, H={H}"
    got = submission(*arguments)
    advice = lambda: _step_terms(first_place(got, want, *CLOSE), states, inputs, U)
    if expect(got, want, axes=AXES, what="h", case=case, advice=advice):
        require_calls(ANSWERS["transpose_once"], trace, arguments, case)


def _step_terms(place: tuple | None, states: list, inputs: np.ndarray, U: np.ndarray):
    """What tanh is taken of at a place of the states."""
    if place is None:
        return None
    step, *place = place[0] - 1, *place[1:]
    if step < 0:
        return "The first state is the initial one itself."
    carried = (states[step] @ U.T)[tuple(place)]
    return f"There inputs is {inputs[(step, *place)]:.4g}, h·Uᵀ of the state before gives {carried:.4g}."


BATCHING = """
W, U, calls, steps = np.array({W!r}, "float32"), np.array({U!r}, "float32"), 0, 0

def inputs(rows):
    global calls
    trace.append(("inputs", rows))
    if np.ndim(rows) != 2:
        raise Wrong(f"inputs gets an array of shape {{np.shape(rows)}}; it takes rows, an array of two axes: "
                    "steps and sequences together, and inputs.")
    if len(rows) > {k} * {B}:
        raise Wrong(f"inputs gets {{len(rows)}} rows; {k} steps of {B} sequences are {{{k} * {B}}}.")
    if calls >= {most}:
        raise Wrong("inputs is called more than {most} times for {T} steps, {k} at a time.")
    if steps < calls * {k}:
        raise Wrong(f"inputs is called for steps from {{calls * {k}}} on when only {{steps}} steps have run: "
                    "their products lie in memory before they are needed.")
    rest = min({k}, {T} - calls * {k}) * {B}
    if len(rows) != rest:
        padded = len(rows) > rest and not rows[rest:].any()
        what = f"{{len(rows)}} rows, the last ones zeros," if padded else f"{{len(rows)}} rows"
        raise Wrong(f"inputs gets {{what}} in call {{calls + 1}}; the next {{rest // {B}}} of {T} steps, "
                    f"of {B} sequences, are {{rest}} rows.")
    calls += 1
    return rows @ W.T

def step(a, h):
    global steps
    if np.shape(a) != ({B}, U.shape[0]):
        raise Wrong(f"step gets sums of shape {{np.shape(a)}}; it takes ({B}, {{U.shape[0]}}).")
    trace.append(("step", a, h))
    steps += 1
    if steps > {T}:
        raise Wrong("step is called more than {T} times for {T} steps.")
    return np.tanh(a + h @ U.T)
"""


def check_batch_inputs(submission, rng, T, B, I, H, k):
    x, h = rng.normal(size=(T, B, I)).astype("float32"), rng.normal(size=(B, H)).astype("float32")
    W, U = (rng.normal(size=(H, size)).astype("float32") for size in (I, H))
    source = BATCHING.format(W=W.tolist(), U=U.tolist(), T=T, B=B, k=k, most=-(-T // k))
    want = [h]
    for x_t in x:
        want.append(np.tanh(x_t @ W.T + want[-1] @ U.T))
    trace: list = []
    arguments = x, h, Code(source, "inputs", trace), Code(source, "step", trace), k
    case = f"T={T}, B={B}, I={I}, H={H}, k={k}"
    if expect(submission(*arguments), np.stack(want), axes=AXES, what="h", case=case):
        require_calls(ANSWERS["batch_inputs"], trace, arguments, case)


GRADIENTS = """
U, x, h, calls = np.array({U!r}, "float32"), np.array({x!r}, "float32"), np.array({h!r}, "float32"), 0

def back(d):
    trace.append(("back", d))
    if len(trace) > {steps} + calls:
        raise Wrong("back is called more than {steps} times for {steps} steps.")
    return d @ U

def gradient(d):
    global calls
    trace.append(("gradient", d))
    calls += 1
    if calls > 1:
        raise Wrong("gradient is called a second time; all steps go into one product.")
    if d.shape != ({rows}, U.shape[0]):
        raise Wrong(f"gradient gets {{d.shape}}; all steps and sequences are ({rows}, {{U.shape[0]}}).")
    return np.concatenate([d.T @ x, d.T @ h, d.sum(0)[:, None]], axis=1)
"""


def check_weight_gradient_after_loop(submission, rng, T, B, I, H):
    draw = lambda *shape: rng.uniform(-0.9, 0.9, shape).astype("float32")
    x, h, dy, U = draw(T * B, I), draw(T + 1, B, H), draw(T, B, H), draw(H, H)
    before = h[:-1].reshape(T * B, H)
    source = GRADIENTS.format(U=U.tolist(), x=x.tolist(), h=before.tolist(), rows=T * B, steps=T)
    d, dh = np.zeros_like(dy), np.zeros_like(dy[0])
    for t in reversed(range(T)):
        d[t] = (dy[t] + dh) * (1 - h[t + 1] ** 2)
        dh = d[t] @ U
    flat = d.reshape(T * B, H)
    want = np.concatenate([flat.T @ x, flat.T @ before, flat.sum(0)[:, None]], axis=1)
    trace: list = []
    arguments = h, dy, Code(source, "back", trace), Code(source, "gradient", trace)
    what, case = ("the gradient of the weights", "dh of the first state"), f"T={T}, B={B}, I={I}, H={H}"
    axes = dict(zip(what, (("unit", "weight"), ("sequence", "unit")), strict=True))
    answer = ANSWERS["weight_gradient_after_loop"]
    got = submission(*arguments)

    def advice() -> str | None:
        rows = [array for name, array in trace if name == "back"]
        call = describe_first_call(answer, trace, arguments, ("sequence", "unit"))
        return f"{call} {_sum_at_call(rows, d, h, dy, U)}".strip() if call else _passed_on(got, rows)

    if expect(got, (want, dh), axes=axes, what=what, case=case, advice=advice):
        require_calls(answer, trace, arguments, case)


def _sum_at_call(rows: list, d: np.ndarray, h: np.ndarray, dy: np.ndarray, U: np.ndarray) -> str:
    """What the first wrong number that back gets consists of; rows go from the last step to the first."""
    for t, got in zip(reversed(range(len(d))), rows, strict=False):
        if place := first_place(got, d[t], *CLOSE):
            later = (d[t + 1] @ U)[place] if t + 1 < len(d) else 0
            return (
                f"There dy is {dy[t][place]:.4g}, from the step after comes {later:.4g}, and the state "
                f"after it is {h[t + 1][place]:.4g}."
            )
    return ""


def _passed_on(got: object, rows: list) -> str | None:
    """The call of back that gets what the answer returns as dh."""
    returned = got[1] if isinstance(got, tuple | list) and len(got) == 2 else None
    number = next((n for n, array in enumerate(rows, 1) if same(returned, array, None)), None)
    return number and f"dh is what call {number} of back gets; what goes on to a state is what back returns."


EXERCISES = (
    ANSWERS["transpose_once"].exercise(check_transpose_once, ((3, 2, 3), (2, 1, 2), (4, 3, 5))),
    ANSWERS["batch_inputs"].exercise(
        check_batch_inputs,
        ((5, 2, 3, 4, 2), (1, 1, 2, 1, 1), (4, 1, 3, 2, 2), (10, 3, 2, 3, 4), (6, 2, 4, 3, 6)),
    ),
    ANSWERS["weight_gradient_after_loop"].exercise(
        check_weight_gradient_after_loop, ((3, 2, 1, 3), (2, 1, 2, 2), (5, 3, 4, 2))
    ),
)
