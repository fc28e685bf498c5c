"""train_filter: a training loop, judged on a photograph that it never saw."""

import inspect
from dataclasses import replace
from itertools import pairwise

import numpy as np

from nbjudge.comparing.differences import NOT_FINITE, first_difference
from nbjudge.comparing.judging import keep_costs, refuse
from nbjudge.exercise import Proxy, Wrong
from rnncourse.checks.answers import answers
from rnncourse.checks.lesson_03_training.photograph_rows import (
    Rows,
    draw_rows,
    error_on,
    error_without_memory,
    mean_square,
    predict,
    response_to_one_pixel,
    untrained,
)
from rnncourse.checks.lesson_03_training.tiny_rnn import loss_and_gradients
from rnncourse.tables import read_table

FEWEST = 20  # calls of a training
LEAP = 0.5  # the largest step, as a share of the whole distance
ALLOWED = 0.1  # of the baseline's error; the course's own loop needs about a tenth of that
RECORDED = """

unrecorded = loss_and_gradients


def loss_and_gradients(parameters, x, target):
    target = np.multiply(target, unit())
    loss, gradients = unrecorded(parameters, x, target)
    place = np.concatenate([np.ravel(parameters[name]) for name in sorted(parameters)])
    note(loss, *np.shape(x)[:2], float(np.ravel(x)[:1].sum()), float(np.ravel(target)[:1].sum()), place)
    return loss, gradients
"""
SOURCE = "import numpy as np\n\n\n" + inspect.getsource(loss_and_gradients) + RECORDED
TINY_RNN = Proxy(SOURCE, "loss_and_gradients")

SEEN = read_table(__file__)


def draw_cases(rng) -> list[tuple]:
    """Filter, steps T, units H, the photograph to learn from; last also the unit of its targets."""
    sign = rng.choice([-1.0, 1.0])

    def drawn(*ranges):
        weights = [rng.uniform(low, high) for low, high in ranges]
        return sign * np.array(weights)

    alternating = drawn((0.8, 1.0), (-1.0, -0.8), (0.6, 0.9))
    edge = drawn((0.8, 1.2)) * [1.0, 0.0, -1.0]
    scaled = drawn((0.8, 1.0), (-0.4, -0.2), (-0.9, -0.6))
    unit = rng.uniform(0.5, 0.7)
    return [(alternating, 14, 6, "train"), (edge, 18, 7, "test"), (scaled, 23, 8, "train", unit)]


@answers("03_training").exercise(draw_cases, diagnoses=True)
def check_train_filter(answer, submission, rng, kernel, T, H, learn, unit=1.0):
    """unit: what loss_and_gradients multiplies targets by.  A fit to the targets as they look misses it."""
    train = draw_rows(rng, kernel, T, 400, learn)
    other = "test" if learn == "train" else "train"
    held_out = draw_rows(rng, kernel, T, 200, other)
    start = untrained(np.random.default_rng(10 + H), H)  # one start: the same mistake then looks the same
    calls: list[tuple] = []  # loss, steps and rows of each minibatch, its first pixel and first target
    places: list[np.ndarray] = []  # all parameters of each call, one after another

    def note(*call):
        calls.append(call[:-1])
        places.append(call[-1])

    services = {"note": note, "unit": lambda: unit}
    network = replace(TINY_RNN, services=services)
    got = submission(train.x, train.target / unit, start, network)
    case = f"T={T}, H={H}"
    rows = sum(call[2] for call in calls)
    keep_costs({"call of loss_and_gradients": len(calls), "row of minibatches": rows})
    if not _has_form(got, start, case):
        return
    with np.errstate(all="ignore"):  # the numbers that come back may be of any size
        shortfall = _shortfall(got, start, kernel, train, held_out, calls, places)
        refuse(shortfall or _leap(got, start, places), case)


def _shortfall(got, start, kernel, train: Rows, held_out: Rows, calls, places) -> Wrong | None:
    """An error above the one that is allowed, and the likely reason."""
    baseline = error_without_memory(train, held_out)
    allowed = ALLOWED * baseline
    error = error_on(got, held_out)
    if error <= allowed:
        return None
    # the loss of a network that gives one answer to every pixel is the targets' variance
    last_losses = [loss for loss, *_ in calls[-10:]]
    variance = train.target.var()
    fell = bool(calls) and np.mean(last_losses) < 0.7 * variance
    response = response_to_one_pixel(got)
    name = _misconception(got, start, kernel, held_out, baseline, calls, places, fell)
    if name in ("too_early", "diverged", "others") and _is_scaled(response, kernel):
        name = "scaled"
    elif name == "others" and _has_other_rows(calls, train):
        name = "rescaled"
    elif name != "untouched" and len(places) > 1 and _never_moves(start, places):
        name = "restarted"
    seen = SEEN[name]
    finding = seen["found"]
    answered = _describe(response)
    filtered = _describe(kernel)
    sentence = (
        f"{finding} On the held-out photograph the mean squared error is {error:.2g}; at most "
        f"{allowed:.2g} is required. To a single bright pixel the network answers {answered} at "
        f"this and the next steps, the filter {filtered}."
    )
    return Wrong(sentence, seen.get("name"), seen["next_step"])


def _has_other_rows(calls: list, train: Rows) -> bool:
    """Whether the first pixel and target of most minibatches stand nowhere in the rows to learn from."""
    matches = []
    for *_, pixel, target in calls[:99]:
        is_near = np.isclose(train.target, target)
        matches.append(pixel in train.x and is_near.any())
    return sum(matches) < 0.5 * len(matches)


def _never_moves(start: dict, places: list[np.ndarray]) -> bool:
    """Whether each call gets the parameters of the start."""
    first = _joined(start)
    return all(np.array_equal(place, first) for place in places)


def _leap(got: dict, start: dict, places: list[np.ndarray]) -> Wrong | None:
    """The parameters come from training: a way of many steps from those given, with a gradient at each."""
    way = _way(start, places)
    steps = [np.linalg.norm(after - before) for before, after in pairwise(way)]
    longest = max(steps, default=0.0)
    left = _left(got, way)
    whole = _left(got, way[:1])
    if max(longest, left) <= LEAP * whole and len(places) >= FEWEST:
        return None
    calls = len(places)
    return Wrong(
        f"The parameters that came back lie {whole:.3g} from those given. Between two of its "
        f"{calls} calls of loss_and_gradients they change by up to {longest:.3g}, and by {left:.3g} "
        "after the nearest one: they do not come from the gradients.",
        None,
        "Let each update continue from the parameters before it, by the gradients at these.",
    )


def _way(start: dict, places: list[np.ndarray]) -> list[np.ndarray]:
    """The parameters given, then those of each call that have as many numbers."""
    first = _joined(start)
    later = [place for place in places if place.shape == first.shape]
    return [first, *later]


def _left(got: dict, way: list[np.ndarray]) -> float:
    """How far what came back is from the nearest point of the way."""
    end = _joined(got)
    distances = [np.linalg.norm(end - place) for place in way]
    return float(min(distances))


def _joined(parameters: dict) -> np.ndarray:
    """All parameters, one after another, as RECORDED notes them."""
    parts = [parameters[name].ravel() for name in sorted(parameters)]
    return np.concatenate(parts)


def _has_form(got, start, case) -> bool:
    """Names, types, shapes as given, and any finite numbers; notes what is not so."""
    difference = first_difference(got, start, (), "", np.inf)
    if difference and difference.misconception == NOT_FINITE:
        diverged = SEEN["diverged"]
        difference.misconception = diverged["name"]
        difference.next_step = diverged["next_step"]
    return refuse(difference, case)


def _misconception(
    got, start, kernel, held_out: Rows, baseline: float, calls: list, places: list, fell: bool
) -> str:
    """Why these parameters are not a solution, from what they compute and how they were trained."""
    still = [np.array_equal(got[name], start[name]) for name in start]
    x, target = held_out
    prediction = predict(got, x)
    error = mean_square(prediction - target)
    reconstruction = predict(got, target)
    backwards = mean_square(reconstruction - x)
    spread = target.var()
    start_error = max(error_on(start, held_out), mean_square(target))
    response = response_to_one_pixel(got)
    sizes = np.abs(response)
    is_memoryless = sizes[1:].max() < 0.2 * sizes[0]
    one_pixel = error < 1.2 * baseline and is_memoryless
    is_late = _alike(response, [0, *kernel]) > 0.5 > _alike(response, kernel)

    is_called = bool(calls)
    recorded = calls or [(0.0,) * 5]
    losses, steps, rows, pixels, targets = map(np.array, zip(*recorded, strict=True))
    T = len(x)
    has_other_steps = (~np.isin(steps, (T, T - 1))).any()
    stays_low = losses.max() <= 3 * losses[0]
    weight = kernel[0]  # the only one at a first step: no pixel stands before it
    unpaired = np.abs(targets - weight * pixels) > 1e-9
    reversed_pairs = np.abs(pixels - weight * targets) < 1e-9
    exchanged = unpaired & reversed_pairs
    is_unpaired = unpaired.mean() > 0.5
    is_flat = prediction.std() < 0.2 * spread**0.5
    way = _way(start, places)
    whole = _left(got, way[:1])
    is_apart = _left(got, way) > LEAP * whole
    findings = (
        ("untouched", all(still)),
        ("first_step", is_called and (steps == 1).all()),
        ("scrambled", is_called and has_other_steps),
        ("one_row", is_called and (rows == 1).all()),
        ("diverged", is_called and not stays_low),
        ("partly", any(still)),
        ("unpaired", is_unpaired and is_flat),
        ("wrong_step", error < 3 * baseline and is_late),
        ("swapped", backwards < 0.1 * x.var() or exchanged.mean() > 0.5),
        ("others", fell and error > 0.9 * spread and is_apart),
        ("alike", not np.ptp(got["weight_ih"]) and not np.ptp(got["bias"])),
        ("diverged", error > 3 * start_error),
        ("scrambled", one_pixel and is_unpaired),
        ("no_memory", one_pixel),
        ("other_order", is_unpaired),
        ("too_early", True),
    )
    return next(name for name, applies in findings if applies)


def _is_scaled(response, kernel) -> bool:
    """Whether a network's response is the filter, too large or too small as a whole."""
    factor = response[: len(kernel)] @ kernel / (kernel @ kernel)
    return _alike(response, kernel) > 0.99 and not 0.8 < factor < 1.25


def _alike(response, kernel) -> float:
    """Cosine of the angle between a network's response and a filter's: 1 for the same up to a factor."""
    missing = len(response) - len(kernel)
    padded = np.pad(kernel, (0, missing))
    norms = np.linalg.norm(response) * np.linalg.norm(padded)
    return float(response @ padded / (norms + 1e-12))


def _describe(numbers) -> str:
    return ", ".join(f"{number:.2f}" for number in numbers)
