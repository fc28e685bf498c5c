"""What more threads can gain: Amdahl's law, with a price for each thread that must be met."""

from rnnlab.checks.edits import wrong_values
from rnnlab.grading.exercise import Exercise, Mutant
from rnnlab.grading.judging import expect


def amdahl_limit(serial, shared, meeting, threads):
    time = lambda n: serial + shared / n + meeting * (n - 1)
    best = min(range(1, threads + 1), key=time)
    return best, time(1) / time(best), (serial + shared) / serial


MUTANTS = (
    Mutant("forgets what meetings cost", " + meeting * (n - 1)", ""),
    Mutant("makes one thread pay for a meeting", "meeting * (n - 1)", "meeting * n"),
    Mutant("shares the serial part too", "serial + shared / n", "(serial + shared) / n"),
    Mutant("forgets the serial part", "serial + shared / n", "shared / n"),
    Mutant("takes all threads there are", "min(range(1, threads + 1), key=time)", "threads"),
    Mutant("never tries the last thread", "range(1, threads + 1)", "range(1, max(2, threads))"),
    Mutant("compares with the shared part alone", "time(1) / time(best)", "shared / time(best)"),
    Mutant("gives the time in place of the speed-up", "time(1) / time(best)", "time(best)"),
    Mutant("gives the serial share as the limit", "(serial + shared) / serial", "serial / (serial + shared)"),
)


def check(submission, rng):
    drawn = [round(float(rng.uniform(low, high)), 2) for low, high in ((1, 3), (20, 60), (0.3, 0.9))]
    cases = ((2.0, 8.0, 0.0, 4), (1.0, 9.0, 0.0, 1), (1.0, 16.0, 1.0, 8), (4.0, 6.0, 20.0, 8), (*drawn, 16))
    for serial, shared, meeting, threads in cases:
        arguments = (serial, shared, meeting, threads)
        expect(
            submission(*arguments),
            amdahl_limit(*arguments),
            axes=(),
            what=("the best number of threads", "the speed-up", "the limit"),
            case=f"serial={serial}, shared={shared}, meeting={meeting}, threads={threads}",
            wrong=wrong_values(amdahl_limit, MUTANTS, *arguments),
            tolerance=1e-9,
        )


AMDAHL_LIMIT = Exercise(
    name="amdahl_limit",
    points=2,
    difficulty=2,
    minutes=12,
    lines=3,
    hints=(
        "Write down the time with n threads first. Which of the three parts shrinks with n, which stays, "
        "which grows?",
        "With n threads: the serial part, plus the n-th part of the shared one, plus n − 1 times the price "
        "of a meeting. Compare the times of 1, 2, … threads; Amdahl's limit leaves meetings out and n go to "
        "infinity.",
        "`time = lambda n: ...`; `best = min(range(1, threads + 1), key=time)` takes the smallest of equals; "
        "the limit is (serial + shared) / serial.",
    ),
    check=check,
    truth=amdahl_limit,
    mutants=MUTANTS,
    also_right=(
        """def amdahl_limit(serial, shared, meeting, threads):
    times = [serial + shared / n + (n - 1) * meeting for n in range(1, threads + 1)]
    best = times.index(min(times))
    return best + 1, times[0] / times[best], 1 + shared / serial
""",
        """def amdahl_limit(serial, shared, meeting, threads):
    n = np.arange(1, threads + 1)
    times = serial + shared / n + meeting * (n - 1)
    best = int(np.argmin(times))
    return int(n[best]), float(times[0] / times[best]), (serial + shared) / serial
""",
    ),
)
