"""Checks of lesson 17: a ring as data, a mean over ranks, ready times, a fit, a restart after losses."""

from functools import partial
from itertools import pairwise, product

import numpy as np

from nbjudge.comparing.differences import whole_numbers
from nbjudge.comparing.judging import add_to_case, keep_costs, refuse
from nbjudge.comparing.patterns import first_place
from nbjudge.exercise import Code, Proxy, Wrong
from ranks.costs import Link
from ranks.simulated_transfers import Schedule, from_transfers, replay
from rnncourse.checks.answers import answers, call
from rnncourse.checks.results import compare, expect
from rnncourse.scaling import published

ANSWERS = answers("17_scaling_out")
LINK = Link(1.0, 1.0)
ROUNDS = 6  # calls of all_reduce in a row that may depend on each other


@ANSWERS.exercise(
    """
        p
        3
        2
        1
        5
    12:24
""",
    late=lambda n: (21 + n // 12,),
)
def check_ring_allreduce(answer, submission, rng, p):
    """Many orders of the list are right; a mistake is named by the transfers that it makes."""
    ring = list(range(p))
    if p >= 4:
        ring = rng.permutation(p).tolist()
    got = submission(ring)
    transfers = whole_numbers(got, 4)
    if transfers:
        transfers.sort()
    refuse(_wrong_ring(got, transfers, ring), f"ring={ring}", result=transfers)


def _wrong_ring(got: object, transfers: list | None, ring: list[int]) -> str | None:
    """The first thing that is wrong with the transfers, as a sentence."""
    if transfers is None:
        return f"The result must be a list of (step, from, to, chunk); it returns {got!r:.60}."
    p = len(ring)
    neighbours = [*ring[1:], ring[0]]
    right = dict(zip(ring, neighbours, strict=True))
    try:
        whole = from_transfers(p, p, transfers)
    except ValueError as error:
        reason = str(error)
        return f"{reason[0].upper()}{reason[1:]}."
    for step, source, target, chunk in transfers:
        if target != right[source] or p == 1:
            own = f"its right neighbour is rank {right[source]}" if p > 1 else "it is alone"
            return f"In step {step} rank {source} sends chunk {chunk} to rank {target}; {own}."
    steps = 2 * (p - 1)
    last = transfers[-1][0] if transfers else -1
    if last >= steps:
        return f"There is a step {last}; {steps} steps, 0 to {steps - 1}, are enough."
    senders = [(step, rank) for step, rank, _, _ in transfers]
    for sender, after in pairwise(senders):
        if sender == after:
            step, rank = sender
            return f"In step {step} rank {rank} sends two chunks; each rank sends one in every step."
    sending = set(senders)
    for step, rank in product(range(steps), range(p)):
        if (step, rank) not in sending:
            return f"In step {step} rank {rank} sends nothing; every rank sends in every step."
    if p == 1:
        return None
    return _wrong_sums(whole, p)


def _wrong_sums(whole: Schedule, p: int) -> str | None:
    """What is wrong with the sums after either half of a ring's steps."""
    steps = []
    for number, step in enumerate(whole.steps()):
        is_sum = number < p - 1
        adds = np.full(len(step.source), is_sum)
        steps.append(step._replace(adds=adds))
    full = replay(Schedule("ring", p, p, lambda: steps), p, LINK)
    finding = full.findings[0] if full.findings else None
    if finding and not finding.startswith("At the end"):
        return finding
    first_half = steps[: p - 1]
    half = replay(Schedule("half", p, p, lambda: first_half), p, LINK)
    own_sums = np.eye(p, dtype=bool)
    if np.array_equal(half.whole, own_sums):
        return finding
    is_own_whole = np.diag(half.whole)
    rank = np.argmin(is_own_whole)
    chunks = np.flatnonzero(half.whole[rank])
    instead = f"it holds that of chunk {chunks[0]}" if len(chunks) else "it holds no whole sum"
    return f"After {p - 1} steps rank {rank} does not hold the whole sum of chunk {rank}; {instead}."


@ANSWERS.exercise("""
    sequences                  shapes
    (3, 1)                     ((2, 3),)
    (2,)                       ((3,),)
    (2, 2, 2)                  ((2, 2), (3,))
    (3, 0, 1)                  ((2, 3), (4,))
    (1:9, 1:9, 1:9, 1:9, 1:9)  ((4, 3), (1, 5), (6,))
    (3, 1)                     ((n, 2),)
""")
def check_average_gradients(answer, submission, rng, sequences, shapes):
    """All ranks run until what each passes to all_reduce is known, since sums may depend on sums."""
    ranks = []
    for count in sequences:
        gradients = [_mean(rng, shape, count) for shape in shapes]
        ranks.append((gradients, count))
    total = sum(sequences) * answer.number("scale", 1)
    want = _averages(ranks, total)
    listed = ", ".join(map(str, sequences))
    case = f"sequences on each rank: {listed}"
    results, sums, problem = _on_all_ranks(submission, ranks)
    problem = problem or _deaf_to_sums(submission, ranks, results, sums, rng)
    if not refuse(problem, case):
        return
    bytes_passed = sum(part.nbytes for part in sums)
    keep_costs({"call of all_reduce": len(sums), "byte passed to it": bytes_passed})
    for rank, got in enumerate(results):
        axes = {}
        for k, shape in enumerate(shapes):
            axes[f"gradient {k} on rank {rank}"] = ("row", "column")[-len(shape) :]
        if isinstance(got, tuple):
            got = list(got)
        advice = partial(_shares, got, want, ranks, total)
        if not expect(got, want, axes, case, tolerance=1e-5, advice=advice):
            return


def _averages(ranks: list, total: int) -> list[np.ndarray]:
    """Each gradient's mean over all sequences, from the ranks' means (gradients, sequences)."""
    parts = []
    for gradients, count in ranks:
        if count:
            parts.append([count * gradient.astype(float) for gradient in gradients])
    averages = []
    for arrays in zip(*parts, strict=True):
        average = sum(arrays) / total
        averages.append(average.astype("float32"))
    return averages


def _shares(got: list, want: list, ranks: list, total: int) -> str | None:
    """What the ranks have at the first number that differs."""
    for number, (part, right) in enumerate(zip(got, want, strict=True)):
        place = first_place(part, right, rtol=1e-4, atol=1e-5)
        if not place:
            continue
        shares = []
        for gradients, count in ranks:
            if count:
                own = gradients[number][place]
                shares.append(f"{count} · {own:.6g}")
        sums = " + ".join(shares)
        return f"There the right number is ({sums}) / {total}."
    return None


def _mean(rng: np.random.Generator, shape: tuple, count: int) -> np.ndarray:
    """Gradients of a mean over `count` sequences, larger on ranks with few; NaN over none."""
    sizes = rng.uniform(0.5, 1.5, shape)
    signs = rng.choice([-1, 1], shape)
    array = sizes * signs * (5.0 / max(count, 1))
    if not count:
        array = np.full(shape, np.nan)
    return array.astype("float32")


def _deaf_to_sums(submission, ranks: list, results: list, sums: list, rng) -> str | None:
    """The first gradient whose numbers do not each follow the sums that all_reduce returns, if any."""
    other = []
    for part in sums:
        factors = rng.uniform(1.5, 3, part.shape)
        other.append((part * factors).astype(part.dtype))
    for rank, (gradients, count) in enumerate(ranks):
        all_reduce = _all_reduce([], other, len(ranks))
        got = submission(all_reduce, gradients, count)
        for number, (before, after) in enumerate(zip(results[rank], got, strict=False)):
            with np.errstate(all="ignore"):  # a number of the answer's may be 0
                ratios = np.asarray(after, float) / np.asarray(before, float)
            if ratios.size < 2 or not np.isfinite(ratios).all():
                continue
            if np.ptp(ratios) <= 1e-4 * ratios.max():
                return (
                    f"With other sums from all_reduce, gradient {number} of rank {rank} changes by one "
                    "factor or not at all: each of its numbers has to come from a sum over all ranks."
                )
    return None


def _on_all_ranks(submission, ranks: list) -> tuple[list, list, str | None]:
    """(each rank's result, the sums of the last run, what is wrong with the calls of all_reduce)."""
    calls: list[list] = [[] for _ in ranks]
    for _ in range(ROUNDS):
        sums = _sums(calls)
        before = calls
        calls = []
        results = []
        for gradients, count in ranks:
            own_calls: list = []
            calls.append(own_calls)
            all_reduce = _all_reduce(own_calls, sums, len(ranks))
            results.append(submission(all_reduce, gradients, count))
        problem = _unequal_calls(calls)
        if problem or _alike(calls, before):
            return results, sums, problem
    return results, sums, f"What it passes to all_reduce still changes after {ROUNDS} runs."


def _all_reduce(own: list, sums: list, ranks: int) -> Proxy:
    """all_reduce for one rank: notes what is passed, returns the sum if that is known by now.

    Until then it returns a stand-in by which an answer may divide: `ranks` times the array, with 1 for 0.
    """

    def total(array: object) -> np.ndarray:
        if not isinstance(array, np.ndarray):
            raise Wrong("all_reduce takes an array; pass a number as np.array([number]).")
        place = len(own)
        own.append(array)
        if place < len(sums) and sums[place].shape == array.shape:
            return sums[place]
        stand_in = array * ranks + (array == 0)
        return stand_in.astype(array.dtype)

    return Proxy("def all_reduce(array):\n    return total(array)\n", "all_reduce", {"total": total})


def _sums(calls: list) -> list:
    """The sum of each call over all ranks, as far as all ranks made it."""
    return [np.sum(arrays, axis=0) for arrays in zip(*calls, strict=False)]


def _unequal_calls(calls: list) -> str | None:
    """The first call that not all ranks make alike."""
    counts = [len(own) for own in calls]
    most = max(counts)
    fewest = min(counts)
    if most != fewest:
        busiest = counts.index(most)
        idlest = counts.index(fewest)
        return (
            f"Rank {busiest} calls all_reduce {most} times, rank {idlest} {fewest} times: "
            "real ranks would wait for each other forever."
        )
    for place, arrays in enumerate(zip(*calls, strict=True)):
        expected_shape = arrays[0].shape
        for rank, array in enumerate(arrays):
            if array.shape != expected_shape:
                return (
                    f"In call {place} of all_reduce rank 0 passes an array of shape {expected_shape}, "
                    f"rank {rank} one of {array.shape}."
                )
    return None


def _alike(calls: list, before: list) -> bool:
    """Whether all ranks pass the same arrays as before."""
    for own, earlier in zip(calls, before, strict=True):
        if len(own) != len(earlier):
            return False
        for array, earlier_array in zip(own, earlier, strict=True):
            if not np.array_equal(array, earlier_array, equal_nan=True):
                return False
    return True


# products shorter and longer than a cell, each in both orders
@ANSWERS.exercise("""
    layers    steps       cell    product  order
         3        4        2.0        1.0  layers
         1        1        2.0        3.0  layers
         3        4        1.0        5.0  layers
         2        7        3.0        3.0  layers
       4:9     5:40  1.00:4.00  1.00:4.00  layers
    90:110  500:900        3.5       4:9.  layers
         3        4        2.0        1.0  wavefront
         1        1        2.0        3.0  wavefront
         3        4        1.0        5.0  wavefront
         2        7        3.0        3.0  wavefront
       4:9     5:40  1.00:4.00  1.00:4.00  wavefront
    90:110  500:900        3.5       4:9.  wavefront
""")
def check_gradient_ready_times(answer, submission, rng, layers, steps, cell, product, order):
    arguments = layers, steps, cell, product, order
    want = [float(time) for time in answer.call(*arguments)]
    got = submission(*arguments)
    if layers < 5:
        ends = _sweep_ends(want, steps * cell, cell, order)
        listed = ", ".join(f"{end:.4g}" for end in ends)
        add_to_case(f"the sweeps end at {listed}")
    names = [f"the time of layer {layer}" for layer in range(layers)]
    expect(got, want, dict.fromkeys(names, ()), tolerance=1e-9)


def _sweep_ends(ready: list[float], sweep: float, cell: float, order: str) -> list[float]:
    """When each layer's sweep ends, layer 0 first, from the times at which gradients are ready."""
    begins = [*ready[1:], 0.0]
    if order == "wavefront":
        begins = [cell * above for above in reversed(range(len(ready)))]
    return [begin + sweep for begin in begins]


@ANSWERS.exercise("""
    name
    without noise
    with noise
    with a negative term
    published
""")
def check_predict_scaling(answer, submission, rng, name):
    gpus, seconds, wanted = _runs(rng, name)
    ones = np.ones_like(gpus)
    traffic = 2 * (gpus - 1) / gpus  # that each GPU sends, in arrays
    messages = 2 * (gpus - 1)
    columns = np.stack([ones, traffic, messages], axis=1)
    relative = columns / seconds[:, np.newaxis]
    best, *_ = np.linalg.lstsq(relative, ones, rcond=None)
    fit = ", ".join(f"{letter} = {number:.4g}" for letter, number in zip("abc", best, strict=True))
    fewest = int(gpus.min())
    most = int(gpus.max())
    case = f"{name}: {len(gpus)} runs on {fewest} to {most} GPUs; the best fit has {fit}"
    weights = None
    if name == "with noise":
        weights = "Where there was no noise, the fit was right. Which errors does it square, over which runs?"
    advice = lambda got, want: weights
    runs = gpus, seconds, wanted
    compare(answer, submission, runs, "the prediction: place", advice, case, 1e-6)


def _runs(rng: np.random.Generator, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """GPUs and seconds of the runs to fit, and the GPUs of those to predict; only one law has noise."""
    if name == "published":
        points = published.find("ring all-reduce, 40 GPUs").points
        gpus = np.array([point.gpus for point in points], float)
        milliseconds = np.array([point.seconds for point in points])
        return gpus[::2], 1e-3 * milliseconds[::2], gpus[1::2]
    gpus = rng.permutation(np.arange(1.0, 65.0))
    gpus = gpus[: rng.integers(9, 20)]
    a = rng.uniform(0.2, 0.5)
    b = rng.uniform(0.1, 0.3)
    c = rng.uniform(0.01, 0.05)
    if name == "with a negative term":  # one GPU's array does not fit into its cache
        a = a + 1
        b = -b
    seconds = a + b * 2 * (gpus - 1) / gpus + c * 2 * (gpus - 1)
    if name == "with noise":
        seconds *= rng.uniform(0.8, 1.2, len(gpus))
    wanted = rng.permutation(np.arange(2.0, 200.0))
    return gpus, seconds, wanted[:25]


# The weights after an update do not depend on the ranks; an update that is repeated gives the same numbers.
TRAINING = """
alive, torn, disk = {ranks}, {torn}, []
losses = {losses}

def train(ranks, update):
    global alive
    if ranks == alive == 0:
        raise Wrong("It starts 0 ranks; when none is left, the result is None.")
    if ranks != alive:
        word = "more than are left" if ranks > alive else "but all that are left should continue"
        raise Wrong(f"It starts {{ranks}} ranks where {{alive}} are left: {{word}}.")
    if update and (update, True) not in disk:
        torn_one = (update, False) in disk
        what = "is incomplete" if torn_one else "does not exist"
        raise Wrong(f"It starts from the checkpoint of update {{update}}, which {{what}}.")
    for number in range(update + 1, {updates} + 1):
        gone = losses.pop(number, 0)
        if number % {every} == 0:
            entry = number, not (gone and number in torn)
            disk[:] = [old for old in disk if old[0] != number] + [entry]
        if gone:
            alive -= gone
            return "lost", alive
        trace.append(number)
    weights = np.array([{first}, {second}])
    for number in range(1, {updates} + 1):
        weights = 0.9 * weights + np.array([number, -0.5 * number])
    return "done", weights

def checkpoints():
    trace.append("list")
    return [disk[k] for k in np.argsort([(entry[0] * {mix}) % 101 for entry in disk])]
"""


# in the fifth case the first loss leaves nothing but an incomplete checkpoint
@ANSWERS.exercise("""
    ranks  updates  every  losses
        3       10      3  [(8, 1)]
        2        5      2  []
        4       20      3  [(14, 1), (18, 1)]
        4        9      4  [(2, 2), (7, 1)]
        2       12      3  [(3, 1), (9, 1)]
        9    60:90      4  [(20:30, 3), (44, 2), (57, 1)]
       16       40      2  [(3, 1), (5, 1), (7, 1), (9, 1), (11, 1), (13, 1), (15, 1), (17, 1),\
 (19, 1), (21, 1), (23, 1), (25, 1), (27, 1), (29, 1), (31, 1)]
""")
def check_survive(answer, submission, rng, ranks, updates, every, losses):
    """losses: (update, ranks lost in it); where that update writes a checkpoint, it is incomplete."""
    first, second = (round(float(number), 3) for number in rng.uniform(-2, 2, 2))
    numbers = {"ranks": ranks, "updates": updates, "every": every, "losses": dict(losses)}
    torn = [update for update, _ in losses]
    source = TRAINING.format(**numbers, torn=torn, first=first, second=second, mix=37)
    trace: list = []
    train = Code(source, "train", trace)
    checkpoints = Code(source, "checkpoints")
    case = f"{ranks} ranks, {updates} updates, a checkpoint every {every}; lost (update, ranks): {losses}"
    got = submission(train, checkpoints, ranks)
    own_trace: list = []
    own_train = Code(source, "train", own_trace)
    want = call(answer.function, (own_train, checkpoints, ranks))
    if got is None and want is not None:
        refuse("It returns None, although ranks are left that could continue.", case)
        return
    if not expect(got, want, "the weights: weight", case, tolerance=1e-9):
        return
    lists = trace.count("list")
    total = len(trace) - lists
    fewest = len(own_trace) - own_trace.count("list")
    repeats = None
    if total > fewest:
        repeats = f"It makes {total} updates in all, those that are repeated included; {fewest} are possible."
    refuse(repeats, case, result=total, detail=lists)
