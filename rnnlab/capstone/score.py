"""Score of a schedule: legality first, then the timeline's time beside a lower bound; never a clock.

The bound holds for every schedule of the model's GPU, whatever its blocks, order and streams.  It is the
largest of three times:
    chain        the operations that wait for each other: all steps of one layer and a step of every
                 other layer, forward and then backward
    arithmetic   all products at the rate of a full chip, with those that the memory forces to be recomputed
    movement     the bytes of all pointwise operations at the memory's bandwidth
"""

from collections.abc import Callable
from typing import NamedTuple

from rnnlab.capstone.launches import FORWARD, Illegal, Problem, Schedule, read_schedule, to_plan
from rnnlab.capstone.memory import check_legal, place_arrays, recomputed
from rnnlab.devices import Device, find
from rnnlab.schedule.plan import Elementary, Operation, Plan, Region
from rnnlab.schedule.timeline import BEST, Work, predict

VERSION = 1  # of the problems, the model and the bound: scores of different versions are not comparable
DEVICE = find("H200")
FULL_MARKS = 3.0  # times the lower bound, in the worst of all problems
PROBLEMS = (  # of the board; primes, one step and one layer among them
    Problem(1, 1, 64, 512, 8),
    Problem(7, 1, 64, 512, 16),
    Problem(1, 31, 64, 512, 80),
    Problem(13, 17, 96, 389, 300),
    Problem(23, 29, 31, 251, 2400),
    Problem(100, 16, 64, 512, 640),
    Problem(100, 16, 64, 512, 3600),
)


class Score(NamedTuple):
    """What one schedule needs for one problem."""

    microseconds: float  # predicted
    bound: float  # microseconds
    saved_bytes: int  # most that are live at once
    recomputed: int  # blocks
    launches: int

    @property
    def ratio(self) -> float:
        """Times the lower bound."""
        return self.microseconds / self.bound

    def __str__(self) -> str:
        return (
            f"{self.microseconds / 1e3:.2f} ms predicted, {self.ratio:.2f} times the lower bound; "
            f"{self.launches} launches, {self.recomputed} blocks recomputed, "
            f"{self.saved_bytes / 1e6:.1f} MB saved"
        )


def score(problem: Problem, answer: object, device: Device = DEVICE) -> Score:
    """The score of (block, launches).  Raises Illegal, with the first reason, for what may not be scored."""
    schedule = read_schedule(problem, answer)
    plan, peak = planned(schedule)
    block_bytes = 4 * schedule.block * problem.minibatch * problem.hidden_size
    makespan = predict(plan, device).makespan
    extra = recomputed(schedule)
    return Score(makespan, lower_bound(problem, device), peak * block_bytes, extra, len(schedule.launches))


def planned(schedule: Schedule) -> tuple[Plan, int]:
    """The plan of a legal schedule, and the most blocks that are live at once.  Raises Illegal."""
    check_legal(schedule)
    layout = place_arrays(schedule)
    return to_plan(schedule, layout.places), layout.peak


def score_all(function: Callable, problems: tuple[Problem, ...] = PROBLEMS) -> list[Score]:
    """Scores of function(layers, steps, minibatch, hidden_size, memory).  Raises Illegal."""
    scores = []
    for problem in problems:
        try:
            scores.append(score(problem, function(*problem)))
        except Illegal as error:
            raise Illegal(f"{error} ({problem})", error.mistake) from None
    return scores


def try_schedule(function: Callable, problem: Problem, device: Device = DEVICE) -> Score | str:
    """The score of function for one problem, or a sentence that says why its schedule may not be scored."""
    try:
        return score(problem, function(*problem), device)
    except Illegal as error:
        return str(error)


def slow_because(problem: Problem, answer: object) -> str | None:
    """What makes a legal schedule slow, if exactly one known reason fits."""
    schedule = read_schedule(problem, answer)
    again, layers = recomputed(schedule), problem.layers
    streams = {launch.stream for launch in schedule.launches if launch.kind == FORWARD}
    reasons = {
        "puts all layers into one stream": len(streams) == 1 < layers,
        "waits for the whole sequence before the next layer begins": schedule.blocks == 1 < problem.steps,
        "recomputes all layers below for each segment": again > layers * schedule.blocks,
    }
    fitting = [reason for reason, fits in reasons.items() if fits]
    return fitting[0] if len(fitting) == 1 else None


def lower_bound(problem: Problem, device: Device = DEVICE) -> float:
    """Microseconds below which no schedule of this problem can be on this device."""
    return max(bounds(problem, device).values())


def bounds(problem: Problem, device: Device = DEVICE) -> dict[str, float]:
    """The three lower bounds by name, microseconds."""
    L, T, _, _, memory = problem
    operations = _operations(problem)
    ahead, back, first, second = (Work.of(one, device).solo_us + device.node for one in operations)
    recurrent = min(1, T - 1)  # the last step of a layer multiplies a state, unless it is the first
    chain = T * first + T * ahead + (L - 1) * (first + (1 + recurrent) * ahead)
    chain += T * second + (T - 1) * back + L * back + (L - 1) * (second + recurrent * back)
    again = max(0, L * T - memory)  # states that are not saved when the forward pass ends
    products = 3 * (L * T + L * (T - 1)) + 2 * again - min(again, L)
    arithmetic = products * operations[0].flops / (BEST * device.peak * 1e6)
    moved = L * T * (operations[2].bytes() + operations[3].bytes()) / device.bandwidth * 1e-3
    return {"chain": chain, "arithmetic": arithmetic, "movement": moved}


def _operations(problem: Problem) -> tuple[Operation, ...]:
    """One step's product forward and backward, and its pointwise operation forward and backward."""
    rows = Region("a", (0, problem.minibatch), (0, problem.hidden_size))
    matrix = rows._replace(buffer="w", rows=(0, problem.hidden_size))
    body = (Elementary("tanh", (rows,), rows),)
    return (
        Operation("gemm", (rows, matrix), (rows,), 0, (0, 1), transposed=(False, True)),
        Operation("gemm", (rows, matrix), (rows,), 0, (0, 1)),
        Operation("pointwise", (rows, rows), (rows, rows), 0, (0, 1), body=body),
        Operation("pointwise", (rows, rows), (rows,), 0, (0, 1), body=body),
    )
