"""The sum of all threads' gradients: right, and the same bits whichever thread was ready first."""

import numpy as np

from rnnlab.checks.edits import wrong_values
from rnnlab.grading.exercise import Exercise, Mutant, Wrong
from rnnlab.grading.judging import expect

ORDERS = 3  # in which the same threads may be ready
LATE = "adds in the order in which threads are ready"


def sum_gradients(threads, gradients):
    total = np.zeros_like(gradients[0])
    for k in np.argsort(threads):
        total += gradients[k]
    return total


MUTANTS = (
    Mutant(LATE, "np.argsort(threads)", "range(len(threads))"),
    Mutant("takes a thread's number for its place", "np.argsort(threads)", "threads"),
    Mutant("leaves the last thread out", "np.argsort(threads)", "np.argsort(threads)[:-1]"),
    Mutant("keeps only the last gradient", "total += gradients[k]", "total = gradients[k]"),
    Mutant("adds the same gradient again and again", "+= gradients[k]", "+= gradients[0]"),
    Mutant("takes the mean in place of the sum", "return total", "return total / len(threads)"),
    Mutant("adds all entries together", "+= gradients[k]", "+= gradients[k].sum()"),
    Mutant("changes its input", "np.zeros_like(gradients[0])", "gradients[0]"),
    Mutant("returns the wrong dtype", "np.zeros_like(gradients[0])", "np.zeros(gradients[0].shape)"),
)


def check(submission, rng):
    for count, shape in ((1, (2, 3)), (2, (1, 4)), (3, (4, 3)), (7, (16, 9))):
        by_thread = _drawn(rng, count, shape)
        found = []
        for threads in [np.roll(rng.permutation(count), turn) for turn in range(ORDERS)]:
            arguments = threads, by_thread[threads]
            case = f"{count} threads, ready in the order {', '.join(map(str, threads))}; {shape} each"
            got = submission(*arguments)
            wrong = wrong_values(sum_gradients, MUTANTS, *arguments)
            want = sum_gradients(*arguments)
            expect(got, want, axes=("row", "column"), what="the sum", case=case, wrong=wrong)
            found.append((got, wrong))
        _expect_same_bits(found, count)


def _drawn(rng: np.random.Generator, count: int, shape: tuple) -> np.ndarray:
    """[count, *shape] gradients of unequal sizes, so that another order gives other bits."""
    sizes = 10.0 ** rng.uniform(-1, 1, (count, 1, 1))
    return (sizes * rng.uniform(0.5, 1.5, (count, *shape))).astype("float32")


def _expect_same_bits(found: list, count: int) -> None:
    """Raises Wrong where the sum depends on which thread was ready first."""
    first = found[0][0]
    if all(np.array_equal(got, first) for got, _ in found):
        return
    gives = lambda name: all(np.array_equal(wrong[name](), got) for got, wrong in found)
    names = (LATE, "takes a thread's number for its place")
    raise Wrong(
        f"The same {count} gradients, ready in another order, give a sum with other bits.",
        next((name for name in names if gives(name)), None),
        "threads[k] says whose gradient gradients[k] is: let that decide the order of the additions.",
    )


SUM_GRADIENTS = Exercise(
    name="sum_gradients",
    points=2,
    difficulty=2,
    minutes=10,
    lines=4,
    hints=(
        "Threads are ready in another order each time, and (a + b) + c has other bits than a + (b + c). "
        "Which order is the same in every run?",
        "Thread 0's gradient first, then thread 1's, and so on. In which place does thread 0's gradient "
        "stand, if threads[k] is the thread at place k? `np.argsort` answers that for all threads at once.",
        "`total = np.zeros_like(gradients[0])`, then `for k in np.argsort(threads): total += gradients[k]`.",
    ),
    check=check,
    truth=sum_gradients,
    mutants=MUTANTS,
    also_right=(
        """def sum_gradients(threads, gradients):
    return gradients[np.argsort(threads)].sum(axis=0)
""",
        """def sum_gradients(threads, gradients):
    of_thread = {int(thread): gradient for thread, gradient in zip(threads, gradients)}
    total = of_thread[0].copy()
    for thread in range(1, len(of_thread)):
        total = total + of_thread[thread]
    return total
""",
    ),
)
