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
    if len(got) != min(threads, B):
        return f"There are {len(got)} shares where {min(threads, B)} threads could have one."
    sizes = [last - first for first, last in got]
    if max(sizes) - min(sizes) > 1:
        return f"Shares of {min(sizes)} and of {max(sizes)} sequences differ by more than one."
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
    sums = []
    ordinary = []
    for threads in orders:
        want = answer.call(threads, by_thread[threads])
        case = f"{count} threads, ready in the order {', '.join(map(str, threads))}; {shape} each"
        got = submission(threads, by_thread[threads])
        summands = ", ".join(f"thread {k}'s is {one[0, 0]:.4g}" for k, one in enumerate(by_thread[:3]))
        advice = f"print what you add at row 0, column 0: {summands}{(', …' if count > 3 else '')}."
        expect(got, want, "the sum: row, column", case, advice=lambda a=advice: a)
        ordinary.append(got)
        sums.append(submission(threads, cancelling[threads]))
    stable = all(np.array_equal(got, drawn[0]) for drawn in (sums, ordinary) for got in drawn)
    unstable = Wrong(
        f"The same {count} gradients, ready in another order, give a sum with other bits.",
        None,
        "threads[k] says whose gradient gradients[k] is: let that decide the order of the additions.",
    )
    # sums of many such numbers have no digit in common
    if refuse(None if stable else unstable, result=sums if count < MANY else None):
        _refuse_remembered(submission, rng.permutation(count), by_thread, ordinary[0])


def _refuse_remembered(submission, threads: np.ndarray, by_thread: np.ndarray, before: np.ndarray) -> None:
    """Powers of 2 change no digit of a sum: doubled gradients give twice the bits, unless these were kept
    from an earlier call."""
    doubled = submission(threads, 2 * by_thread[threads])
    is_kept = not np.array_equal(doubled, 2 * before)
    message = "Gradients twice as large, ready in another order, do not give exactly twice the sum before."
    refuse(Wrong(message) if is_kept else None, result=doubled, tolerance=1e-5)


def _draw_gradients(rng: np.random.Generator, count: int, shape: tuple) -> tuple:
    """(ordinary gradients [n,H,I], the same where two cancel, orders in which their threads are ready).

    Of three threads and more the sums as they are ready differ, those with a thread's number for its place
    differ, and both in their own way. Some gradients have one sum in every order: they are drawn again, too.
    """
    while True:
        sizes = 10.0 ** rng.uniform(-1, 1, (count, 1, 1))
        by_thread = (sizes * rng.uniform(0.5, 1.5, (count, *shape))).astype("float32")
        if count > 3:  # the first number says nothing about whose gradient it is
            by_thread[:, 0, 0] = by_thread[0, 0, 0]
        cancelling = by_thread.copy()
        if count > 2:
            cancelling[0] = 2.0**60
            cancelling[1] = -(2.0**60)
        orders = [rng.permutation(count) for _ in range(ORDERS)]
        if count < 3 or all(_shows_order(gradients, orders) for gradients in (by_thread, cancelling)):
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
    add_to_case(f"one thread takes {serial + shared:.4g} s, two {serial + shared / 2 + barrier:.4g} s")
    case = serial, shared, barrier, threads
    advice = partial(_times_compared, case=case)
    results = "the best number of threads; the speed-up; the limit"
    compare(answer, submission, case, results, advice, tolerance=1e-9)


def _times_compared(got: tuple, want: tuple, case: tuple) -> str | None:
    """Times with one, the answer's and the best number of threads; if all is right, with infinitely many."""
    serial, shared, barrier, _ = case
    numbers = sorted({1, int(got[0]), int(want[0])})
    if numbers[0] < 1:
        return None
    if got[0] == want[0] and abs(got[1] - want[1]) <= 1e-9 * want[1]:
        return f"of {shared:.4g} s shared by infinitely many threads, 0 s are left; the serial part stays."
    time = lambda n: serial + shared / n + (n - 1) * barrier
    parts = (f"with {n} {'thread' if n == 1 else 'threads'} {time(n):.4g} s" for n in numbers)
    return f"print the times: {', '.join(parts)}."
