"""Three ways through the course, each with a short test that says what of it one may skip.

    paths.show()                            the paths, with their hours
    paths.test("cpu")                       its questions; every answer is a number
    paths.test("cpu", 8, 0.5, ..., 1)       what the answers say; ... is a gap

The answers are computed when the test runs, most of them by the functions that the lessons use.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from numbers import Real
from pathlib import Path as File
from typing import NamedTuple

import numpy as np

from nbjudge.printable import quantity
from pocketgpu import simulator as cuda
from pocketgpu.simulator.report import observe
from rnncourse.tables import read_table
from rnnlab import reference
from rnnlab.network import Network

NEEDS = read_table(__file__)["needs"]  # lessons, by number, that a lesson builds on
MINUTES = File(__file__).with_name("lesson_minutes.json")  # built from the lessons by docs/tables.py
TOLERANCE = 0.01  # relative: 2.67 will do for 8/3


class Question(NamedTuple):
    """A question with a number as its answer, and the lesson that answers it."""

    lesson: str  # its number
    text: str
    answer: Callable[[], float]


class Path(NamedTuple):
    """Lessons that belong together, by their numbers, and what one can do after them."""

    aim: str
    lessons: tuple[str, ...]
    questions: tuple[Question, ...]

    def outside(self) -> set[str]:
        """Lessons that it does not hold and its own build on, or those in turn."""
        below = set().union(*map(everything_below, self.lessons))
        return below.difference(self.lessons)

    def hours(self, minutes: Mapping[str, int]) -> tuple[int, int]:
        """Hours of its own lessons, and with those outside; minutes: of each lesson, by its number."""
        own = sum(minutes[lesson] for lesson in self.lessons)
        every = own + sum(minutes[lesson] for lesson in self.outside())
        return round(own / 60), round(every / 60)


def everything_below(lesson: str) -> set[str]:
    """The lessons that a lesson builds on, and those that they build on."""
    needs = NEEDS.get(lesson, ())
    return {*needs}.union(*map(everything_below, needs))


def numbers_of(first: int, last: int) -> tuple[str, ...]:
    """Numbers of the lessons from first to last."""
    return tuple(f"{number:02}" for number in range(first, last + 1))


def cell_backwards(sweep: Callable, steps: int) -> int:
    """How many cells a sweep of rnnlab.reference runs backward for a loss at each of so many steps."""
    network = Network.create("rnn_tanh", input_size=2, hidden_size=3, dtype="float64")
    x = np.zeros((steps, 1, 2))
    dy = np.ones((steps, 1, 3))
    return sweep(network, x, None, dy).cell_backwards


def weights_of_an_lstm() -> int:
    """Numbers in both weights of one LSTM layer of 5 inputs and 7 units."""
    layer = Network.create("lstm", input_size=5, hidden_size=7).layer(0)
    return layer.weight_ih.size + layer.weight_hh.size


@cuda.jit
def _read_every_second(x, y):
    i = cuda.threadIdx.x
    y[i] = x[2 * i]


@cuda.jit
def _read_a_column(y):
    tile = cuda.shared.array((32, 32), np.float32)
    i = cuda.threadIdx.x
    for k in range(32):
        tile[k, i] = 1
    cuda.syncthreads()
    y[i] = tile[i, 0]


def sectors_of_every_second() -> int:
    """Sectors that a warp loads when it reads every second float32."""
    x, y = np.zeros((2, 64), "float32")
    report = observe(_read_every_second, 1, 32, (x, y))
    return report.counts.global_load_sectors


def turns_of_a_column() -> int:
    """Turns of the banks when a warp reads a column of a tile [32,32]."""
    y = np.zeros(32, "float32")
    report = observe(_read_a_column, 1, 32, (y,))
    return 1 + report.counts.bank_conflicts


PATHS = {
    "understand": Path(
        "understand what a recurrent network computes, and its gradients",
        numbers_of(0, 4),
        (
            Question("00", "How many FLOP do all products h·W take, for 20 steps of 8 sequences and one "
                     "layer of 32 units?",
                     lambda: 2 * 20 * 8 * 32 * 32),
            Question("04", "How many numbers do both weights of an LSTM layer of 5 inputs and 7 units hold?",
                     weights_of_an_lstm),
            Question("02", "A loss at each of 10 steps; every loss is sent back alone to the first step. "
                     "How many cells run backward?",
                     lambda: cell_backwards(reference.bptt_quadratic, 10)),
            Question("03", "A gradient of norm 20 is clipped to norm 5. By what is each number multiplied?",
                     lambda: 5 / 20),
        ),
    ),
    "cpu": Path(
        "make its loops fast on a CPU",
        numbers_of(5, 8),
        (
            Question("05", "Inputs of 100 steps of 16 sequences are multiplied in one product. How many rows "
                     "does it have?", lambda: 100 * 16),
            Question("05", "One row is multiplied by float32 weights in memory. How many FLOP for each "
                     "byte of weights?",
                     lambda: 2 / 4),
            Question("06", "z = a·b + c on n numbers, as two NumPy calls and as one loop: how many times "
                     "as many bytes do the calls read and write?", lambda: (3 + 3) / 4),
            Question("08", "Weights [100,70] are packed into panels of 32 columns. How many numbers does the "
                     "copy hold?", lambda: 100 * 32 * -(-70 // 32)),
        ),
    ),
    "kernels": Path(
        "write GPU kernels for it, without a GPU",
        ("00", "02", *numbers_of(9, 16)),
        (
            Question("09", "Blocks of 128 threads for 1,000 elements, a thread each: how many blocks?",
                     lambda: -(-1000 // 128)),
            Question("09", "A warp of 32 threads reads every second float32. How many sectors of 32 bytes?",
                     sectors_of_every_second),
            Question("10", "A warp reads one column of a float32 tile [32,32] in shared memory. How many "
                     "turns do the banks need?", turns_of_a_column),
            Question("15", "A persistent kernel keeps the recurrent weights of a GRU with 256 units on "
                     "the chip, in 16 bits. How many bytes are they?", lambda: 3 * 256 * 256 * 2),
        ),
    ),
}  # fmt: skip


def show() -> None:
    """Print the paths."""
    minutes = json.loads(MINUTES.read_text(encoding="utf-8"))
    for name, path in PATHS.items():
        own, every = path.hours(minutes)
        print(f"{name}: to {path.aim}")
        print(f"    lessons {list_lessons(path.lessons)}: {own} hours")
        if outside := path.outside():
            print(f"    with lessons {list_lessons(outside)}, on which they build: {every} hours")


def test(name: str, *answers: float) -> None:
    """Print the questions of a path, or what your answers to them say.

    Raises ValueError for a path that does not exist, or another number of answers, TypeError for an answer
    that is not a number.
    """
    if name not in PATHS:
        raise ValueError(f"There is no path {name!r}; the paths are {', '.join(PATHS)}.")
    path = PATHS[name]
    count = len(path.questions)
    if not answers:
        for number, question in enumerate(path.questions, 1):
            print(f"{number}. {question.text}")
        gaps = ", ..." * count
        print(f"Put {count} numbers in place of ...: paths.test({name!r}{gaps})")
        return
    if len(answers) != count:
        number_of_answers = quantity(len(answers), "answer")
        raise ValueError(f"{number_of_answers} to {count} questions; write ... for a gap.")
    lessons = set()
    to_read = set()
    for number, (question, answer) in enumerate(zip(path.questions, answers, strict=True), 1):
        lessons.add(question.lesson)
        if mistake := _mistake(number, question, answer):
            to_read.add(question.lesson)
            print(f"{number}. {mistake}: lesson {question.lesson}.")
    if to_read:
        noun = "lessons" if len(to_read) > 1 else "lesson"
        print(f"Take {noun} {list_lessons(to_read)} at least.")
    if to_skip := lessons - to_read:
        print(f"You may skip {list_lessons(to_skip)}, or do the exercises alone.")


def _mistake(number: int, question: Question, answer: object) -> str:
    """What is wrong with the answer to the question of that number; empty if it is right."""
    if answer is ...:
        return "No answer"
    if not isinstance(answer, Real):
        raise TypeError(f"Answer {number} is {answer!r}; answers are numbers, and ... is a gap.")
    right = question.answer()
    if abs(answer - right) <= TOLERANCE * abs(right):  # nan is not right
        return ""
    return f"{right:,.9g} is right, not {answer:,.9g}"


def list_lessons(lessons: Iterable[str]) -> str:
    """Numbers of lessons as a sentence has them: "00, 02 and 09 to 16"."""
    parts = []
    numbered = enumerate(sorted(lessons))
    start_of_run = lambda pair: int(pair[1]) - pair[0]  # number less place, the same throughout a run
    for _, group in groupby(numbered, key=start_of_run):
        run = [lesson for _, lesson in group]
        if len(run) > 2:
            run = [f"{run[0]} to {run[-1]}"]
        parts += run
    before_last = ", ".join(parts[:-1])
    return " and ".join(filter(None, [before_last, *parts[-1:]]))
