"""Checks of lesson 07: shares of a minibatch, a sum in a fixed order, the limit of more threads."""

from functools import partial, reduce

import numpy as np

from nbjudge.comparing.judging import add_to_case, refuse
from nbjudge.exercise import Wrong
from rnncourse.checks.answers import answers
from rnncourse.checks.results import compare, expect

MANY = 20  # gradients
ANSWERS = answers("07_parallel_cpu")


@ANSWERS.exercise("""
              B  threads
              7        3
              4        2
              1        1
              2        4
             11        4
             10        4  # 2.5 sequences a thread: rounded, they leave 4 to the last
             15       11  # 15 / 11 · 11 falls short of 15, …
             21       19  # 21 / 19 · 19 goes beyond 21, …
             22       22  # and 15 / 22 · 22 of 15
          20:60      3:9
    1_000:9_000     9:99
""")
def check_split_minibatch(answer, submission, rng, B, threads):
    got = submission(B, threads)
    add_to_case(f"you return {got!r:.90}")
    refuse(_uneven(got, B, threads), result=got)


def _uneven(got: object, B: int, threads: int) -> str | None:
    """The first thing that is wrong with the shares, as a sentence."""
    if not _is_pairs(got):
        return "The result must be a list of pairs of whole numbers, (first sequence, one past the last)."
    if any(last <= first for first, last in got):
        return "A share has no sequence: its thread is started for nothing."
    begins, ends = zip(*got, strict=True)
    if (*begins, B) != (0, *ends):
        return f"The shares are not 0 … {B} in order, each sequence once."
    most = min(threads, B)
    if len(got) != most:
        return f"There are {len(got)} shares where {most} threads could have one."
    sizes = [last - first for first, last in got]
    least = min(sizes)
    largest = max(sizes)
    if largest - least > 1:
        return f"Shares of {least} and of {largest} sequences differ by more than one."
    return None


def _is_pairs(got: object) -> bool:
    def whole(n):
        return isinstance(n, int | np.integer) and not isinstance(n, bool)

    def is_pair(part):
        return isinstance(part, tuple | list) and len(part) == 2 and all(map(whole, part))

    return isinstance(got, tuple | list) and len(got) > 0 and all(map(is_pair, got))


ORDERS = 3  # in which the same threads may be ready


@ANSWERS.exercise("""
    count  shape
        3  (4,3)
        1  (2,3)
        2  (1,4)
        7  (16,9)
        n  (2,3)
""")
def check_sum_gradients(answer, submission, rng, count, shape):
    """The sum of ordinary gradients, with the same bits in any order; then one in which two cancel.

    With numbers of 2⁶⁰ whatever is added in between is lost, in float64 too: only a fixed order is stable.
    """
    by_thread, cancelling, orders = _draw_gradients(rng, count, shape)
    advice = partial(_summands, by_thread)
    sums = []
    ordinary = []
    for threads in orders:
        gradients = by_thread[threads]
        want = answer.call(threads, gradients)
        got = submission(threads, gradients)
        order = ", ".join(map(str, threads))
        case = f"{count} threads, ready in the order {order}; {shape} each"
        expect(got, want, "the sum: row, column", case, advice=advice)
        ordinary.append(got)
        sums.append(submission(threads, cancelling[threads]))
    problem = None
    if not _all_equal(ordinary) or not _all_equal(sums):
        problem = Wrong(
            f"The same {count} gradients, ready in another order, give a sum with other bits.",
            None,
            "threads[k] says whose gradient gradients[k] is: let that decide the order of the additions.",
        )
    # sums of many such numbers have no digit in common
    result = sums if count < MANY else None
    if refuse(problem, result=result):
        _refuse_remembered(submission, rng.permutation(count), by_thread, ordinary[0])


def _summands(by_thread: np.ndarray) -> str:
    """The first numbers of the sum at row 0, column 0."""
    corners = by_thread[:3, 0, 0]
    summands = ", ".join(f"thread {k}'s is {corner:.4g}" for k, corner in enumerate(corners))
    more = ", …" if len(by_thread) > 3 else ""
    return f"print what you add at row 0, column 0: {summands}{more}."


def _all_equal(sums: list) -> bool:
    """Whether all arrays hold the same numbers; NaN does not equal itself."""
    return all(np.array_equal(total, sums[0]) for total in sums)


def _refuse_remembered(submission, threads: np.ndarray, by_thread: np.ndarray, before: np.ndarray) -> None:
    """Powers of 2 change no digit of a sum: doubled gradients give twice the bits, unless these were kept
    from an earlier call."""
    doubled = submission(threads, 2 * by_thread[threads])
    problem = None
    if not np.array_equal(doubled, 2 * before):
        problem = (
            "Gradients twice as large, ready in another order, do not give exactly twice the sum before."
        )
    refuse(problem, result=doubled, tolerance=1e-5)


def _draw_gradients(rng: np.random.Generator, count: int, shape: tuple) -> tuple:
    """(ordinary gradients [n,H,I], the same where two cancel, orders in which their threads are ready).

    Of three threads and more the sums as they are ready differ, those with a thread's number for its place
    differ, and both in their own way. Some gradients have one sum in every order: they are drawn again, too.
    """
    while True:
        sizes = 10.0 ** rng.uniform(-1, 1, (count, 1, 1))
        factors = rng.uniform(0.5, 1.5, (count, *shape))
        by_thread = (sizes * factors).astype("float32")
        if count > 3:  # the first number says nothing about whose gradient it is
            by_thread[:, 0, 0] = by_thread[0, 0, 0]
        cancelling = by_thread.copy()
        if count > 2:
            cancelling[0] = 2.0**60
            cancelling[1] = -(2.0**60)
        orders = [rng.permutation(count) for _ in range(ORDERS)]
        if count < 3 or (_shows_order(by_thread, orders) and _shows_order(cancelling, orders)):
            return by_thread, cancelling, orders


def _shows_order(gradients: np.ndarray, orders: list[np.ndarray]) -> bool:
    """Whether sums as the threads are ready, and by a thread's number for its place, differ in some bits."""

    def sums(orders):
        return [reduce(np.add, gradients[order]).tobytes() for order in orders]

    ready = sums(orders)
    placed = sums(order[order] for order in orders)
    return len(set(ready)) > 1 < len(set(placed)) and ready != placed


@ANSWERS.exercise("""
           serial              shared        barrier  threads
              1.0                16.0            1.0        8
              2.0                 8.0            0.0        4
              1.0                 6.0            1.0        8  # two numbers of threads are equally fast
              1.0                 2.1            1.0        8
              1.0                 9.0            0.0        1
              4.0                 6.0           20.0        8
        1.00:3.00         20.00:60.00      0.30:0.90       16
    1.0000:9.0000  900.0000:9000.0000  0.0100:0.9000   17:400
""")
def check_amdahl_limit(answer, submission, rng, serial, shared, barrier, threads):
    one = serial + shared
    two = serial + shared / 2 + barrier
    add_to_case(f"one thread takes {one:.4g} s, two {two:.4g} s")
    case = serial, shared, barrier, threads
    advice = partial(_times_compared, case=case)
    results = "the best number of threads; the speed-up; the limit"
    compare(answer, submission, case, results, advice, tolerance=1e-9)


def _times_compared(got: tuple, want: tuple, case: tuple) -> str | None:
    """Times with one, the answer's and the best number of threads; if all is right, with infinitely many."""
    serial, shared, barrier, _ = case
    threads, speed_up, _ = got
    best, right_speed_up, _ = want
    numbers = sorted({1, int(threads), int(best)})
    if numbers[0] < 1:
        return None
    if threads == best and abs(speed_up - right_speed_up) <= 1e-9 * right_speed_up:
        return f"of {shared:.4g} s shared by infinitely many threads, 0 s are left; the serial part stays."
    times = []
    for n in numbers:
        noun = "thread" if n == 1 else "threads"
        seconds = serial + shared / n + (n - 1) * barrier
        times.append(f"with {n} {noun} {seconds:.4g} s")
    listed = ", ".join(times)
    return f"print the times: {listed}."
