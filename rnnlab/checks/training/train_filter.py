"""train_filter: a training loop, judged on a photograph that it never saw."""

import inspect

import numpy as np

from rnnlab.checks.training.photograph_rows import (
    Rows,
    draw_rows,
    error_on,
    error_without_memory,
    mean_square,
    predict,
    response_to_one_pixel,
    untrained,
)
from rnnlab.checks.training.tiny_rnn import loss_and_gradients
from rnnlab.grading.exercise import Exercise, Mutant, Shell, Wrong
from rnnlab.grading.judging import expect

ALLOWED = 0.1  # of the baseline's error; the course's own loop needs about a tenth of that
TINY_RNN = Shell("import numpy as np\n\n\n" + inspect.getsource(loss_and_gradients), "loss_and_gradients")

DIVERGED = "walks uphill, or in steps that are too large"
UNTOUCHED = "returns the parameters untrained"
PARTLY = "trains only some of the parameters"
UNPAIRED = "pairs rows with the targets of other rows"
WRONG_STEP = "trains on the targets of another step"
SWAPPED = "swaps input and target"
SCRAMBLED = "takes the minibatch out of the steps, not out of the rows"
TOO_EARLY = "stops too early"


SEEN = {  # misconception: what was found, and the next step
    UNTOUCHED: ("The parameters are those you were given.", "Return the dict that your loop made last."),
    PARTLY: ("Some parameters are still as given.", "Update every name in parameters."),
    DIVERGED: (
        "The error is larger than before training.",
        "Print the loss every 50 updates. If it grows, look at the sign, then at the learning rate.",
    ),
    UNPAIRED: (
        "The network gives nearly the same answer to every pixel.",
        "Take x[:, chosen] and target[:, chosen] with the same chosen.",
    ),
    WRONG_STEP: (
        "The network gives the target of a neighbouring pixel.",
        "x[t] and target[t] belong together, for every t.",
    ),
    SWAPPED: ("The network turns filtered rows back into pixels.", "x goes in, target should come out."),
    SCRAMBLED: (
        "The network uses no pixel but the present one.",
        "Axis 0 is time and stays whole; the rows to choose from are axis 1: x[:, chosen].",
    ),
    TOO_EARLY: (
        "The network is on its way, but not there.",
        "Print the loss every 50 updates. Does it still fall? Make more of them, or take momentum.",
    ),
}


def train_filter(x, target, parameters, loss_and_gradients):
    rng = np.random.default_rng(0)
    velocity = {name: np.zeros_like(parameter) for name, parameter in parameters.items()}
    for _ in range(600):
        chosen = rng.integers(x.shape[1], size=32)
        _, gradients = loss_and_gradients(parameters, x[:, chosen], target[:, chosen])
        velocity = {name: 0.9 * velocity[name] + gradients[name] for name in parameters}
        parameters = {name: parameters[name] - 0.2 * velocity[name] for name in parameters}
    return parameters


def check(submission, rng):
    sign = rng.choice([-1.0, 1.0])
    drawn = lambda *ranges: sign * np.array([rng.uniform(*bounds) for bounds in ranges])
    _check_case(submission, rng, drawn((0.8, 1.0), (-1.0, -0.8), (0.6, 0.9)), T=14, H=6, learn="train")
    _check_case(submission, rng, drawn((0.8, 1.2)) * [1.0, 0.0, -1.0], T=18, H=7, learn="test")
    _check_case(submission, rng, drawn((0.8, 1.0), (-0.4, -0.2), (-0.9, -0.6)), T=23, H=8, learn="train")


def _check_case(submission, rng, kernel, T, H, learn):
    train = draw_rows(rng, kernel, T, 400, learn)
    held_out = draw_rows(rng, kernel, T, 200, "test" if learn == "train" else "train")
    given = untrained(np.random.default_rng(10 + H), H)  # one start: the same mistake then looks the same
    got = submission(train.x, train.target, given, TINY_RNN)
    case = f"T={T}, H={H}"
    _check_form(got, given, case)
    with np.errstate(all="ignore"):  # the numbers that come back may be of any size
        _check_result(got, given, kernel, train, held_out, case)


def _check_result(got, given, kernel, train: Rows, held_out: Rows, case: str) -> None:
    baseline = error_without_memory(train, held_out)
    error = error_on(got, held_out)
    if error <= ALLOWED * baseline:
        return
    name = _misconception(got, given, kernel, held_out, baseline)
    finding, next_step = SEEN[name]
    raise Wrong(
        f"{finding} On the photograph that was kept back the mean squared error is {error:.2g}; at most "
        f"{ALLOWED * baseline:.2g} is asked for. To a single bright pixel the network answers "
        f"{_in_words(response_to_one_pixel(got))} at this and the next steps, the filter "
        f"{_in_words(kernel)} ({case}).",
        name,
        next_step,
    )


def _check_form(got, given, case) -> None:
    """Names, types, shapes as given, and any finite numbers."""
    try:
        expect(got, given, axes=(), case=case, tolerance=np.inf)
    except Wrong as wrong:
        if wrong.misconception == "returns NaN or infinity":
            wrong.misconception, wrong.next_step = DIVERGED, SEEN[DIVERGED][1]
        raise


def _misconception(got, given, kernel, held_out: Rows, baseline: float) -> str:
    """Why these parameters do not do what is asked."""
    still = [np.array_equal(got[name], given[name]) for name in given]
    prediction, response = predict(got, held_out.x), response_to_one_pixel(got)
    error = mean_square(prediction - held_out.target)
    backwards = mean_square(predict(got, held_out.target) - held_out.x)
    findings = {
        UNTOUCHED: all(still),
        PARTLY: any(still),
        UNPAIRED: prediction.std() < 0.2 * held_out.target.std(),
        WRONG_STEP: error < 3 * baseline and _alike(response, [0, *kernel]) > 0.5 > _alike(response, kernel),
        SWAPPED: backwards < 0.1 * held_out.x.var(),
        DIVERGED: error > 3 * max(error_on(given, held_out), mean_square(held_out.target)),
        SCRAMBLED: error < 1.2 * baseline and np.abs(response[1:]).max() < 0.2 * np.abs(response[0]),
        TOO_EARLY: True,
    }
    return next(name for name, found in findings.items() if found)


def _alike(response, kernel) -> float:
    """Cosine of the angle between a network's response and a filter's: 1 for the same up to a factor."""
    kernel = np.pad(kernel, (0, len(response) - len(kernel)))
    return float(response @ kernel / (np.linalg.norm(response) * np.linalg.norm(kernel) + 1e-12))


def _in_words(numbers) -> str:
    return ", ".join(f"{number:.2f}" for number in numbers)


TRAIN_FILTER = Exercise(
    name="train_filter",
    points=4,
    difficulty=3,
    minutes=25,
    lines=7,
    hints=(
        "Five things happen for every minibatch: choose rows, get the gradients, smooth or clip them if you "
        "like, make new parameters, go on from those. Which of them is a loop over the names in the dict?",
        "Choose 32 numbers of rows with rng.integers(x.shape[1], size=32) and take them from x and target "
        "alike, on axis 1. Plain descent with a learning rate of 0.2 is slow here; momentum 0.9 or Adam "
        "gets there in 600 updates.",
        "`velocity = {n: 0.9 * velocity[n] + gradients[n] for n in parameters}`, then `parameters = {n: "
        "parameters[n] - 0.2 * velocity[n] for n in parameters}`, both inside the loop; velocity begins "
        "with zeros.",
    ),
    check=check,
    truth=train_filter,
    mutants=(
        Mutant(UNTOUCHED, "        parameters = {name", "        trained = {name"),
        Mutant(PARTLY, "0.2 * velocity[name]", '0.2 * velocity[name] * name.endswith("out")'),
        Mutant(DIVERGED, "parameters[name] - 0.2", "parameters[name] + 0.2"),
        Mutant(TOO_EARLY, "range(600)", "range(10)"),
        Mutant(UNPAIRED, "target[:, chosen]", "target[:, rng.integers(x.shape[1], size=32)]"),
        Mutant(WRONG_STEP, "x[:, chosen], target[:, chosen]", "x[1:, chosen], target[:-1, chosen]"),
        Mutant(SWAPPED, "x[:, chosen], target[:, chosen]", "target[:, chosen], x[:, chosen]"),
        Mutant(
            SCRAMBLED,
            "x[:, chosen], target[:, chosen]",
            "x[chosen % len(x)], target[chosen % len(x)]",
        ),
        Mutant(
            "changes its input",
            "parameters[name] - 0.2 * velocity[name] for",
            "np.subtract(parameters[name], 0.2 * velocity[name], out=parameters[name]) for",
        ),
        Mutant("returns the wrong type", "return parameters", "return list(parameters.values())"),
    ),
    also_right=(
        "def train_filter(x, target, parameters, loss_and_gradients):\n"
        "    parameters = {name: p.copy() for name, p in parameters.items()}\n"
        "    m = {name: 0.0 for name in parameters}\n"
        "    v = {name: 0.0 for name in parameters}\n"
        "    step = 0\n"
        "    for epoch in range(40):\n"
        "        order = np.random.default_rng(epoch).permutation(x.shape[1])\n"
        "        for rows in np.split(order, 16):\n"
        "            step += 1\n"
        "            _, g = loss_and_gradients(parameters, x[:, rows], target[:, rows])\n"
        "            for name in parameters:\n"
        "                m[name] = 0.9 * m[name] + 0.1 * g[name]\n"
        "                v[name] = 0.999 * v[name] + 0.001 * g[name] ** 2\n"
        "                m_hat, v_hat = m[name] / (1 - 0.9**step), v[name] / (1 - 0.999**step)\n"
        "                parameters[name] -= 0.01 * m_hat / (np.sqrt(v_hat) + 1e-8)\n"
        "    return parameters",
        "def train_filter(x, target, parameters, loss_and_gradients):\n"
        "    before = now = parameters\n"
        "    for step in range(700):\n"
        "        first = 40 * step % x.shape[1]\n"
        "        rows = slice(first, first + 40)\n"
        "        slope = loss_and_gradients(now, x[:, rows], target[:, rows])[1]\n"
        "        norm = np.sqrt(sum(np.sum(d * d) for d in slope.values()))\n"
        "        after = {}\n"
        "        for name, value in now.items():\n"
        "            after[name] = value + 0.9 * (value - before[name]) - 0.2 / max(1, norm) * slope[name]\n"
        "        before, now = now, after\n"
        "    return now",
    ),
)
