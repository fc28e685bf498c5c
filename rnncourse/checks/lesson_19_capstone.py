"""Checks of lesson 19: a skip through time, segments of layers, an interval of the median, a schedule."""

import numpy as np

from nbjudge.comparing.differences import whole_numbers
from nbjudge.comparing.judging import add_to_case, keep_costs, refuse
from nbjudge.comparing.patterns import first_place
from nbjudge.exercise import Wrong
from nbjudge.printable import quantity
from rnncourse.capstone.launches import Illegal, Problem
from rnncourse.capstone.page import probability_below
from rnncourse.capstone.score import FULL_MARKS, PROBLEMS, roomy_memory, score, slow_because, tight_memory
from rnncourse.checks.answers import answers
from rnncourse.checks.results import compare, expect

ANSWERS = answers("19_capstone")
COUNTED = PROBLEMS[3]  # the first with less memory than all arrays need
COSTS = "launched block", "recomputed block", "byte of arrays saved at once", "microsecond of the model"


@ANSWERS.exercise("""
    B  H
    2  3
    1  4
    5  7
    n  3
""")
def check_skip_step_backward(answer, submission, rng, B, H):
    draw = lambda *shape: rng.uniform(-1, 1, shape)
    dh = draw(B, H)
    h_before = draw(B, H)
    weight_hh = draw(H, H)
    a = draw(B, H)
    scale = rng.uniform(0.3, 0.8)
    skip = answer.number("times", 1) * scale
    h_next = np.tanh(a + h_before @ weight_hh.T + skip * h_before)
    arguments = dh, h_next, h_before, weight_hh, scale
    add_to_case(f"scale={scale:.4g}")
    advice = lambda got, want: _skip_terms(got, want, dh, h_next, weight_hh, skip)
    results = "da: sequence, unit; dh_before: sequence, unit; dweight_hh: row, column"
    compare(answer, submission, arguments, results, advice, tolerance=1e-9)


def _skip_terms(got, want, dh, h_next, weight_hh, skip) -> str | None:
    """What the first number that differs consists of."""
    for name, part, right in zip(("da", "dh_before"), got, want, strict=False):
        if np.shape(part) != right.shape:
            continue
        place = first_place(part, right, rtol=0, atol=1e-9)
        if place is None:
            continue
        if name == "da":
            return f"There dh is {dh[place]:.4g} and h_next, a tanh already, {h_next[place]:.4g}."
        da = want[0]
        through_weights = (da @ weight_hh)[place]
        through_skip = skip * da[place]
        return (
            f"Two paths lead there: through weight_hh comes {through_weights:.4g}, "
            f"through the skip {through_skip:.4g}."
        )
    return None


def draw_segments(rng) -> list[tuple]:
    """Layers and memory; in one case everything fits, in one the fewest segments hold all exactly.

    There one segment more would leave the top one less room, so that a segment too many recomputes more.
    """
    arrays = ANSWERS["segment_lengths"].number("arrays", 2)

    def layers_at_once(low, high):
        # in 2 arrays a layer
        return int(rng.integers(low, high)) * arrays // 2

    memory = layers_at_once(24, 40)
    segments = 4
    while (memory - segments + 1) % arrays:
        segments += 1
    exact = sum((memory - below) // arrays for below in range(segments))
    deep = int(rng.integers(50, 60))
    deepest = int(rng.integers(100, 120))
    return [
        (7, 5 * arrays),
        (3, 6 * arrays),
        (1, arrays + 1),  # with one array less, an answer that counts an input twice never ends
        (exact, memory),
        (deep, memory),
        (deepest, layers_at_once(41, 50)),
    ]


@ANSWERS.exercise(draw_segments)
def check_segment_lengths(answer, submission, rng, layers, memory):
    """Several lists are right: those that fit and recompute the fewest layers."""
    got = submission(layers, memory)
    lengths = whole_numbers(got)
    refuse(_wrong_segments(got, lengths, layers, memory), result=lengths)


def _wrong_segments(got: object, lengths: list[int] | None, layers: int, memory: int) -> str | None:
    """The first thing that is wrong, as a sentence."""
    if not lengths or min(lengths) < 1:
        return f"The result must be a list of lengths of at least 1; it returns {got!r:.60}."
    total = sum(lengths)
    if total != layers:
        return f"The segments have {total} layers together, the network has {layers}."
    arrays = ANSWERS["segment_lengths"].number("arrays", 2)
    for below, length in enumerate(lengths):
        saved = arrays * length
        needed = below + saved
        if needed > memory:
            return (
                f"Segment {below} of {quantity(length, 'layer')} needs {saved} arrays beside the "
                f"inputs of {quantity(below, 'segment')} below, {needed} in all; the memory holds {memory}."
            )
    own = ANSWERS["segment_lengths"].call(layers, memory)
    top = own[-1]
    if lengths[-1] < top:
        room = (memory - len(lengths) + 1) // arrays
        return _too_many_again(lengths, layers - top, room)
    return None


def _too_many_again(lengths: list[int], fewest: int, room: int) -> str:
    """Why lengths that fit recompute more than the fewest layers; room: how many the top segment may have."""
    *lower, top = lengths
    recomputed = quantity(sum(lower), "layer")
    inputs = quantity(len(lower), "input")
    full = " It is full: fewer segments would leave it more room." if top == room else ""
    return (
        f"The last length, {top}, is the top segment's, which is not recomputed. Recomputed: "
        f"{recomputed}, and {fewest} are possible. Beside "
        f"{inputs} of segments below, the data among them, "
        f"there is room for {room} of its layers.{full}"
    )


@ANSWERS.exercise("""
        n  confidence  digits
        7        0.88       6  # P(0) decides: 2 · 7 / 128 are within 0.12, 2 · 8 / 128 are not
        4         0.9       6
        4       0.375       6  # exactly what the two in the middle reach
        1         0.6       6
        5      0.9375       6  # exactly what the smallest and the largest of 5 reach
    44:60        0.95       6
    60:90         0.9       6
    20:30         0.9       1  # equal measurements
""")
def check_median_interval(answer, submission, rng, n, confidence, digits):
    times = rng.lognormal(0.0, 0.5, n).round(digits).tolist()
    want = answer.call(times, confidence)
    got = submission(times, confidence)
    case = f"{n} measurements, confidence={confidence}"
    if want is None or got is None:
        refuse(_none_sentence(got, want, n), case, result=got)
        return
    k = sorted(times).index(want[0]) + 1
    inside = probability_below(n, range(k, n - k + 1))
    narrower = probability_below(n, range(k + 1, n - k))
    case += f"; k={k} has probability {inside:.4g}, k={k + 1} has {narrower:.4g}"
    expect(got, want, "low; high", case, tolerance=1e-9)


def _none_sentence(got: object, want: object, n: int) -> str | None:
    if got is want:
        return None
    if want is None:
        return (
            f"It returns {got!r:.60}; even the smallest and the largest of {n} do not reach the confidence."
        )
    return f"It returns None; {n} measurements are enough."


def draw_problems(rng) -> list[tuple]:
    """Sizes and memory: one step, one layer, primes; all that is saved fits, or less than half of it.

    The tight ones hold the least that the text promises; 13 layers are the fewest that can be tight. Behind
    them come the problems of the board: full marks here are full marks there.
    """

    def choose(*sizes):
        return int(rng.choice(sizes))

    B = choose(31, 64, 96)
    H = choose(251, 389, 512)

    def roomy(layers, steps):
        return (layers, steps, B, H, roomy_memory(layers, steps))

    def tight(layers, steps):
        return (layers, steps, B, H, tight_memory(layers, steps))

    return [
        roomy(2, 3),
        roomy(1, choose(9, 11, 13)),
        roomy(1, 1),
        tight(13, 1),
        tight(13, 13),
        tight(13, 16),  # blocks of two steps seem to fit if each counts as one array
        roomy(choose(11, 13), choose(11, 13)),
        tight(choose(37, 41), choose(11, 13)),  # more layers than streams
        *PROBLEMS,
    ]


@ANSWERS.exercise(draw_problems, seconds=60.0, diagnoses=True)
def check_my_schedule(answer, submission, rng, *problem):
    """Legality first, then the time; the check names mistakes itself, from what it finds in the launches."""
    problem = Problem(*problem)
    case = str(problem)
    answer = submission(*problem)
    try:
        result = score(problem, answer)
    except Illegal as error:
        refuse(Wrong(str(error), error.mistake), case)
        return
    if result.ratio <= FULL_MARKS:
        refuse(None)
        if problem == COUNTED:
            microseconds = round(result.microseconds)
            counts = result.launches, result.recomputed, result.saved_bytes, microseconds
            keep_costs(dict(zip(COSTS, counts, strict=True)))
        return
    block, launches = answer
    streams = set(np.asarray(launches)[:, 3].tolist())
    blocks = -(-problem.steps // int(block))
    sentence = (
        f"Legal, but slow: {result}; streams: {len(streams)}, blocks of steps: {blocks}. "
        f"Full marks: {FULL_MARKS:g} times or less."
    )
    mistake = slow_because(problem, answer)
    refuse(Wrong(sentence, mistake), case)
