"""The sweep back through a layer, with the gradients of all weights from one product after it."""

import numpy as np

from rnnlab.checks.fused_layer.asked import values_of
from rnnlab.checks.traces import insist_on_trace
from rnnlab.grading.exercise import Code, Exercise, Mutant
from rnnlab.grading.judging import expect


def weight_gradient_after_loop(h, dy, back, gradient):
    T, B, H = dy.shape
    d, arriving = np.zeros_like(dy), np.zeros_like(dy[0])
    for t in range(T - 1, -1, -1):
        dh = dy[t] + arriving
        d[t] = dh * (1 - h[t + 1] * h[t + 1])
        arriving = back(d[t])
    return gradient(d.reshape(T * B, H)), arriving


MACHINE = """
U, x, h, calls = np.array({U!r}, "float32"), np.array({x!r}, "float32"), np.array({h!r}, "float32"), 0

def back(d):
    trace.append(("back", d))
    return d @ U

def gradient(d):
    global calls
    calls += 1
    if calls > 1:
        raise Wrong("gradient is called a second time; all steps go into one product.",
                    "multiplies for the weights in every step")
    if d.shape != ({rows}, U.shape[0]):
        raise Wrong(f"gradient gets {{d.shape}}; all steps and sequences are ({rows}, {{U.shape[0]}}).",
                    "multiplies for the weights in every step")
    trace.append(("gradient", d))
    return np.concatenate([d.T @ x, d.T @ h, d.sum(0)[:, None]], axis=1)
"""
MUTANTS = (
    Mutant(
        "multiplies for the weights in every step",
        "arriving = back(d[t])",
        "arriving = back(d[t]) + 0 * gradient(d[t]).sum()",
    ),
    Mutant("keeps the steps in the order of the sweep", "d[t] = dh", "d[T - 1 - t] = dh"),
    Mutant("forgets what later steps send", "dy[t] + arriving", "dy[t]"),
    Mutant("takes the state before the step", "h[t + 1] * h[t + 1]", "h[t] * h[t]"),
    Mutant("forgets the slope of tanh", "dh * (1 - h[t + 1] * h[t + 1])", "dh"),
    Mutant("sweeps forward in time", "range(T - 1, -1, -1)", "range(T)"),
    Mutant("sends dh back, not the gradient of the sum", "back(d[t])", "back(dh)"),
    Mutant("stops before the first step", "range(T - 1, -1, -1)", "range(T - 1, 0, -1)"),
    Mutant("mixes steps and sequences", "d.reshape(T * B, H)", "d.swapaxes(0, 1).reshape(T * B, H)"),
)


def check(submission, rng):
    for T, B, I, H in ((2, 1, 2, 2), (3, 2, 1, 3), (5, 3, 4, 2)):
        draw = lambda *shape: rng.uniform(-0.9, 0.9, shape).astype("float32")
        x, h, dy, U = draw(T * B, I), draw(T + 1, B, H), draw(T, B, H), draw(H, H)
        before = h[:-1].reshape(T * B, H)
        source = MACHINE.format(U=U.tolist(), x=x.tolist(), h=before.tolist(), rows=T * B)
        trace = []
        arguments = h, dy, Code(source, "back", trace), Code(source, "gradient", trace)
        d, arriving = np.zeros_like(dy), np.zeros_like(dy[0])
        for t in reversed(range(T)):
            d[t] = (dy[t] + arriving) * (1 - h[t + 1] ** 2)
            arriving = d[t] @ U
        flat = d.reshape(T * B, H)
        wanted = np.concatenate([flat.T @ x, flat.T @ before, flat.sum(0)[:, None]], axis=1)
        expect(
            submission(*arguments),
            (wanted, arriving),
            axes={"the gradients": ("unit", "weight"), "dh of the first state": ("sequence", "unit")},
            what=("the gradients", "dh of the first state"),
            case=f"T={T}, B={B}, I={I}, H={H}",
            wrong=values_of(weight_gradient_after_loop, MUTANTS, *arguments),
        )
        insist_on_trace(trace, weight_gradient_after_loop, arguments, f"T={T}, B={B}, I={I}, H={H}")


WEIGHT_GRADIENT_AFTER_LOOP = Exercise(
    name="weight_gradient_after_loop",
    points=3,
    difficulty=3,
    minutes=20,
    lines=8,
    hints=(
        "The sweep needs back(d) in every step, because the step before waits for it. Does anything in the "
        "sweep wait for the gradients of the weights?",
        "Keep d of every step in an array [T,B,H], at its own step. After the sweep it is the left factor of "
        "one product, [T·B,H], and gradient gives everything at once.",
        "From the last step to the first: `dh = dy[t] + arriving`, `d[t] = dh * (1 - h[t + 1] ** 2)`, "
        "`arriving = back(d[t])`. Then `return gradient(d.reshape(T * B, H)), arriving`.",
    ),
    check=check,
    truth=weight_gradient_after_loop,
    mutants=MUTANTS,
    also_right=(
        """def weight_gradient_after_loop(h, dy, back, gradient):
    kept, sent = [], 0 * dy[0]
    for later, arriving in zip(h[:0:-1], dy[::-1]):
        d = (arriving + sent) * (1 - later**2)
        kept.insert(0, d)
        sent = back(d)
    return gradient(np.concatenate(kept)), sent
""",
        """def weight_gradient_after_loop(h, dy, back, gradient):
    slopes = 1 - h[1:] ** 2
    d, t = dy * slopes, len(dy) - 1
    while t > 0:
        d[t - 1] += back(d[t]) * slopes[t - 1]
        t -= 1
    return gradient(d.reshape(-1, d.shape[2])), back(d[0])
""",
    ),
)
