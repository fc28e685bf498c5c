"""Where a layer's recurrent weights can stay, and the largest layer that finds room."""

import numpy as np

from rnnlab.checks.edits import wrong_values
from rnnlab.grading.exercise import Exercise, Mutant
from rnnlab.grading.judging import expect


def fits_on_chip(gates, H, itemsize, registers, shared, multiprocessors):
    needed = gates * H * H * itemsize
    in_registers = multiprocessors * registers
    in_both = in_registers + multiprocessors * shared
    place = 1 if needed <= in_registers else 2 if needed <= in_both else 0
    return place, int((in_both // (gates * itemsize)) ** 0.5)


MUTANTS = (
    Mutant("forgets the gates", "needed = gates * H * H", "needed = H * H"),
    Mutant("counts numbers, not bytes", "gates * H * H * itemsize", "gates * H * H"),
    Mutant(
        "asks one multiprocessor only",
        "in_registers = multiprocessors * registers",
        "in_registers = registers",
    ),
    Mutant("forgets the shared memory", "in_registers + multiprocessors * shared", "in_registers"),
    Mutant("counts shared memory once", "in_registers + multiprocessors * shared", "in_registers + shared"),
    Mutant("refuses what fits exactly", "needed <= in_registers", "needed < in_registers"),
    Mutant(
        "gives weights, not units", "(in_both // (gates * itemsize)) ** 0.5", "in_both // (gates * itemsize)"
    ),
    Mutant("takes the largest layer of registers alone", "in_both // (gates", "in_registers // (gates"),
    Mutant("takes the largest layer of one gate", "in_both // (gates * itemsize)", "in_both // itemsize"),
)


def check(submission, rng):
    drawn = int(rng.integers(3, 5)), int(rng.integers(40, 90)), 2, 5000, 9000, 3
    cases = (
        (1, 8, 4, 256, 0, 1), (1, 8, 4, 100, 200, 2), (4, 8, 4, 100, 160, 3), (3, 10, 2, 64, 64, 2), drawn,
        (1, 1152, 4, 216 * 256 * 4, 0, 24), _large(rng),
    )  # fmt: skip
    for case in cases:
        expect(
            submission(*case),
            fits_on_chip(*case),
            axes=(),
            what=("the place", "the most units"),
            case="gates={}, H={}, itemsize={}, registers={}, shared={}, multiprocessors={}".format(*case),
            wrong=wrong_values(fits_on_chip, MUTANTS, *case),
        )


def _large(rng: np.random.Generator) -> tuple[int, ...]:
    """A chip and a layer of any size, so that no table of cases helps."""
    gates, H, registers, shared, multiprocessors = (
        int(rng.integers(*bounds))
        for bounds in ((1, 5), (100, 2000), (10_000, 300_000), (0, 200_000), (2, 150))
    )
    return gates, H, int(rng.choice((2, 4, 8))), registers, shared, multiprocessors


FITS_ON_CHIP = Exercise(
    name="fits_on_chip",
    points=2,
    difficulty=2,
    minutes=12,
    lines=5,
    hints=(
        "How many bytes do the recurrent weights of one layer have? And how many bytes of registers does the "
        "whole chip have for them?",
        "Needed: gates·H²·itemsize. Registers of all multiprocessors come first; registers and shared memory "
        "of all come next. The largest layer solves gates·H²·itemsize ≤ what there is.",
        "`place = 1 if needed <= in_registers else 2 if needed <= in_both else 0`; the most units are the "
        "root of in_both / (gates·itemsize), rounded down.",
    ),
    check=check,
    truth=fits_on_chip,
    mutants=MUTANTS,
    also_right=(
        """def fits_on_chip(gates, H, itemsize, registers, shared, multiprocessors):
    each = gates * itemsize
    rooms = [multiprocessors * registers, multiprocessors * (registers + shared)]
    place = next((k for k, room in enumerate(rooms, 1) if H * H * each <= room), 0)
    most = 0
    while (most + 1) ** 2 * each <= rooms[1]:
        most += 1
    return place, most
""",
        """def fits_on_chip(gates, H, itemsize, registers, shared, multiprocessors):
    needed = gates * H**2 * itemsize / multiprocessors
    place = 0 if needed > registers + shared else 2 if needed > registers else 1
    return place, int(np.floor(np.sqrt(multiprocessors * (registers + shared) / gates / itemsize + 1e-9)))
""",
    ),
)
