"""A launch on both engines of the simulator: thread by thread, and in lockstep where that is possible."""

import re
from collections import Counter
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pocketgpu.simulator import launch, lockstep
from pocketgpu.simulator.report import findings_and_sectors, report
from pocketgpu.simulator.shares import judged_counts


class Outcome(NamedTuple):
    """What a launch left behind."""

    arrays: list  # its array arguments
    findings: tuple
    sectors: int
    counts: object
    lines: dict
    shares: dict


def differences(first, second):
    """Names of the fields in which two outcomes differ; sums of floats by atomics have no order."""
    names = [name for name in Outcome._fields[1:] if getattr(first, name) != getattr(second, name)]
    close = 1e-5 if first.counts.atomics else 0
    pairs = zip(first.arrays, second.arrays, strict=True)
    return names + ([] if all(_are_equal(*pair, close) for pair in pairs) else ["arrays"])


def _are_equal(first, second, close):
    if close and first.dtype.kind == "f":
        return np.allclose(first, second, close, close, equal_nan=True)
    return first.tobytes() == second.tobytes()


def arrays_in(argument):
    """The arrays among arguments."""
    if isinstance(argument, tuple | list):
        return [array for part in argument for array in arrays_in(part)]
    argument = getattr(argument, "value", argument)
    argument = getattr(argument, "_ary", argument)
    return [argument] if isinstance(argument, np.ndarray) else []


def outcome(watch, arrays):
    """What a watched launch left behind, in these arrays among others."""
    result = report(watch)
    sectors = findings_and_sectors(watch)[1]
    shares = judged_counts(result)
    return Outcome(arrays, result.findings, sectors, result.counts, result.lines, shares)


class Comparison:
    """While it is in force every launch runs on both engines, also of few threads, and in several chunks."""

    def __init__(self, monkeypatch):
        self.reasons = Counter()  # why launches ran thread by thread; "" counts those in lockstep
        self.differing = []  # (kernel, names of the fields)
        monkeypatch.setattr(lockstep, "FEWEST_THREADS", 1)
        monkeypatch.setattr(lockstep, "FIRST_CHUNK", 64)
        run = launch.Kernel.run

        def run_twice(kernel, arguments, now, *more, **options):
            arrays = arrays_in(arguments)
            before = [array.copy() for array in arrays]
            first = run(kernel, arguments, replace(now, lockstep=False), *more, **options)
            results = [first, [array.copy() for array in arrays]]
            for array, old in zip(arrays, before, strict=True):
                if array.flags.writeable:
                    array[...] = old
            second = run(kernel, arguments, now, *more, **options)
            reason = second.why_not_in_lockstep
            self.reasons[re.sub(r"line \d+", "a line", reason)] += 1
            if not reason and first.trace is not None:
                names = differences(outcome(*results), outcome(second, arrays))
                self.differing += [(kernel.__name__, names)] if names else []
            return first

        monkeypatch.setattr(launch.Kernel, "run", run_twice)

    def __str__(self):
        others = [f"{times} {reason}" for reason, times in self.reasons.most_common() if reason]
        return f"{self.reasons['']} of {self.reasons.total()} launches ran in lockstep; {'; '.join(others)}"
