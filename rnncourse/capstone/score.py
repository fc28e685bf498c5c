"""Score of a schedule: legality first, then the timeline's time beside a lower bound; never a clock.

The bound holds for every schedule of the model's GPU, whatever its blocks, order and streams.  It is the
largest of three times:
    chain        the operations that wait for each other: all steps of one layer and a step of every
                 other layer, forward and then backward
    arithmetic   all products at the rate of a full chip, with those that the memory forces to be recomputed
    movement     the bytes of all pointwise operations at the memory's bandwidth

A legal schedule gets a place in memory for every array that it saves.  An array is live from the launch that
writes it to the last launch that reads it; recomputed, it lives again.  Places are reused as soon as their
array is dead, the longest free one first.  The launch that reuses one must wait for the last reader of the
old array: a hazard like any other, so the timeline has that wait too.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from math import ceil, nan
from typing import NamedTuple

from nbjudge.printable import quantity
from pocketgpu.devices import Device, find
from rnncourse.capstone.launches import (
    BACKWARD,
    FORWARD,
    WEIGHTS,
    Array,
    Illegal,
    LayerBlock,
    Places,
    Problem,
    Schedule,
    read_schedule,
    reads,
    to_plan,
    writes,
)
from rnnlab.schedule.plan import Elementary, Operation, Plan, Region
from rnnlab.schedule.timeline import BEST, Work, predict

GRADIENT_TOO_EARLY = "adds a weight gradient before its backward block"
# a kind of launch, what it needs, layers above, blocks behind, why, and the mistake if that is later
NEEDS = (
    (FORWARD, FORWARD, -1, 0, "reads y of layer {}", "runs a layer before the layer below it"),
    (FORWARD, FORWARD, 0, -1, "reads h of block {}", "runs a block before the block before it"),
    (BACKWARD, FORWARD, 0, 0, "reads h of its own block", "runs backward before forward"),
    (BACKWARD, BACKWARD, 1, 0, "reads dy that layer {} sends", "goes backward from the bottom up"),
    (BACKWARD, BACKWARD, 0, 1, "reads dh that block {} sends", "goes backward from the first step on"),
    (WEIGHTS, BACKWARD, 0, 0, "reads dg of its own block", GRADIENT_TOO_EARLY),
)


class Layout(NamedTuple):
    """places: where the arrays of each launch lie; peak: most blocks that are live at once."""

    places: list[Places]
    peak: int


def check_legal(schedule: Schedule) -> None:
    """Raises Illegal, naming the first launch that reads too early or counts twice, or what is missing."""
    last = schedule.blocks - 1
    last_is_shorter = schedule.problem.steps % schedule.block
    if last_is_shorter and all(launch.block < last for launch in schedule.launches):
        mistake = "forgets the last block, which is shorter"
        raise Illegal(f"No launch runs block {last}, the last one, which is shorter.", mistake)
    done: set[tuple[int, int, int]] = set()  # kind, layer, block
    launched = {launch[:3] for launch in schedule.launches}
    for number, launch in enumerate(schedule.launches):
        kind = launch.kind
        task = launch[:3]
        if kind != FORWARD and task in done:
            mistake = "adds a weight gradient twice" if kind == WEIGHTS else "runs a backward block twice"
            sentence = f"Launch {number} is the second {launch}: its gradients would count twice."
            raise Illegal(sentence, mistake)
        for needed, why, mistake in _needs(launch, schedule):
            if needed not in done:
                sentence = f"Launch {number}, {launch}, {why}, which no launch has computed before."
                raise Illegal(sentence, mistake if needed in launched else None)  # too late, or not at all
        done.add(task)
    for kind in (BACKWARD, WEIGHTS):
        _check_complete(schedule, kind, done)


def _needs(launch: LayerBlock, schedule: Schedule) -> Iterator[tuple[tuple[int, int, int], str, str]]:
    """What must come before a launch: its (kind, layer, block), why, and the mistake if it comes later."""
    for kind, needed, up, on, why, mistake in NEEDS:
        if kind != launch.kind:
            continue
        layer = launch.layer + up
        block = launch.block + on
        if 0 <= layer < schedule.problem.layers and 0 <= block < schedule.blocks:
            neighbour = layer if up else block
            yield (needed, layer, block), why.format(neighbour), mistake


def _check_complete(schedule: Schedule, kind: int, done: set) -> None:
    for l in range(schedule.problem.layers):
        missing = [j for j in range(schedule.blocks) if (kind, l, j) not in done]
        if missing:
            done_kinds = {done_kind for done_kind, _, _ in done}
            mistake = None
            if kind == WEIGHTS and WEIGHTS not in done_kinds:
                mistake = "leaves out the weight gradients"
            name = LayerBlock(kind, l, missing[0], 0)
            raise Illegal(f"There is no {name}: the gradients are incomplete.", mistake)


def place_arrays(schedule: Schedule) -> Layout:
    """A place for each array of a legal schedule.  Raises Illegal if they need more memory than there is."""
    versions, last_reader = array_versions(schedule)
    dying = defaultdict(list)
    for version, number in last_reader.items():
        dying[number].append(version)
    room = schedule.problem.memory // schedule.block
    free = deque(range(room))
    place = {}
    places = []
    peak = 0
    for number, (old, new) in enumerate(versions):
        blocks = len(place) + len(new)
        if len(new) > len(free):
            sentence = _too_much(schedule, number, blocks)
            raise Illegal(sentence, _memory_mistake(schedule, blocks))
        for version in new:
            place[version] = free.popleft()
        peak = max(peak, blocks)
        places.append({version[0]: place[version] for version in old + new})
        for version in dying[number]:
            free.append(place.pop(version))
    return Layout(places, peak)


def array_versions(schedule: Schedule) -> tuple[list, dict]:
    """For each launch the (array, writer) that it reads and writes; and the last launch that uses each."""
    layers = schedule.problem.layers
    current: dict[Array, tuple[Array, int]] = {}
    result = []
    last = {}
    for number, launch in enumerate(schedule.launches):
        old = [current[array] for array in reads(launch)]
        new = [(array, number) for array in writes(launch, layers)]
        for version in new:
            current[version[0]] = version
        for version in old + new:
            last[version] = number
        result.append((old, new))
    return result, last


def recomputed(schedule: Schedule) -> int:
    """FORWARD launches beyond the first of each block."""
    forward = [launch for launch in schedule.launches if launch.kind == FORWARD]
    blocks = {(launch.layer, launch.block) for launch in forward}
    return len(forward) - len(blocks)


def _too_much(schedule: Schedule, number: int, blocks: int) -> str:
    steps = quantity(schedule.block, "step")
    launch = schedule.launches[number]
    arrays = blocks * schedule.block
    return (
        f"At launch {number}, {launch}, {blocks} blocks of {steps}, {arrays} arrays, must be in memory "
        f"at once; it holds {schedule.problem.memory}."
    )


def _memory_mistake(schedule: Schedule, blocks: int) -> str | None:
    """Blocks of several steps that are no more than the arrays that fit may have been taken for arrays."""
    is_miscounted = schedule.block > 1 and blocks <= schedule.problem.memory
    if is_miscounted or recomputed(schedule):
        return None
    return "saves everything and recomputes nothing"


DEVICE = find("H200")
FULL_MARKS = 3.0  # times the lower bound, in the worst of all problems
PROBLEMS = (  # of the board: primes, one step, one layer, much arithmetic, small products; all `is_promised`
    Problem(1, 1, 64, 512, 8),
    Problem(7, 1, 64, 512, 21),
    Problem(1, 31, 64, 512, 93),
    Problem(13, 17, 96, 389, 314),
    Problem(23, 29, 31, 251, 2400),
    Problem(24, 12, 512, 1024, 300),
    Problem(17, 61, 8, 128, 3111),
    Problem(100, 16, 64, 512, 704),
    Problem(100, 16, 64, 512, 2300),
)


def roomy_memory(layers: int, steps: int) -> int:
    """Arrays of the exercise's roomy problems, at least: h, y and dg of every layer and step."""
    return 3 * layers * steps


def tight_memory(layers: int, steps: int) -> int:
    """Arrays of the exercise's tight problems, at least."""
    return ceil(4 * steps * (layers**0.5 + 1))


def is_promised(problem: Problem) -> bool:
    """Whether the exercise promises this memory; its text, its check and the board know no other problems."""
    roomy = roomy_memory(problem.layers, problem.steps)
    tight = tight_memory(problem.layers, problem.steps)
    return problem.memory >= roomy or tight <= problem.memory < roomy / 2


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
        milliseconds = self.microseconds / 1e3
        megabytes = self.saved_bytes / 1e6
        launches = quantity(self.launches, "launch")
        blocks = quantity(self.recomputed, "block")
        return (
            f"{milliseconds:.2f} ms predicted, {self.ratio:.2f} times the lower bound; "
            f"{launches}, {blocks} recomputed, {megabytes:.1f} MB saved"
        )


class Refusal(NamedTuple):
    """Why a schedule may not be scored, in place of its Score.  It has no time, and counts as False."""

    why: str
    microseconds: float = nan

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        return self.why


def score(problem: Problem, answer: object, device: Device = DEVICE) -> Score:
    """The score of (block, launches).  Raises Illegal, with the first reason, for what may not be scored."""
    schedule = read_schedule(problem, answer)
    plan, peak = planned(schedule)
    block_bytes = 4 * schedule.block * problem.minibatch * problem.hidden_size
    return Score(
        microseconds=predict(plan, device).makespan,
        bound=lower_bound(problem, device),
        saved_bytes=peak * block_bytes,
        recomputed=recomputed(schedule),
        launches=len(schedule.launches),
    )


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
            answer = function(*problem)
            scores.append(score(problem, answer))
        except Illegal as error:
            raise Illegal(f"{error} ({problem})", error.mistake) from None
    return scores


def try_schedule(function: Callable, problem: Problem) -> "Score | Refusal":
    """The score of function for one problem, or why its schedule may not be scored."""
    try:
        answer = function(*problem)
        return score(problem, answer)
    except Illegal as error:
        return Refusal(str(error))


def slow_because(problem: Problem, answer: object) -> str | None:
    """What makes a legal schedule slow, if exactly one known reason fits."""
    schedule = read_schedule(problem, answer)
    again = recomputed(schedule)
    layers = problem.layers
    streams = {launch.stream for launch in schedule.launches if launch.kind == FORWARD}
    reasons = []
    if len(streams) == 1 < layers:
        reasons.append("puts all layers into one stream")
    if schedule.blocks == 1 < problem.steps:
        reasons.append("waits for the whole sequence before the next layer begins")
    if again > layers * schedule.blocks:
        reasons.append("recomputes all layers below for each segment")
    return reasons[0] if len(reasons) == 1 else None


def lower_bound(problem: Problem, device: Device = DEVICE) -> float:
    """Microseconds below which no schedule of this problem can be on this device."""
    return max(bounds(problem, device).values())


def bounds(problem: Problem, device: Device = DEVICE) -> dict[str, float]:
    """The three lower bounds by name, microseconds."""
    L, T, _, _, memory = problem
    operations = _operations(problem)
    product, _, pointwise, pointwise_back = operations
    times = [Work.of(operation, device).solo_us + device.node for operation in operations]
    ahead, back, first, second = times  # of a product forward and backward, of pointwise work likewise
    recurrent = min(1, T - 1)  # the last step of a layer multiplies a state, unless it is the first
    forward = T * first + T * ahead + (L - 1) * (first + (1 + recurrent) * ahead)
    backward = T * second + (T - 1 + L) * back + (L - 1) * (second + recurrent * back)
    states = L * T
    again = max(0, states - memory)  # states that are not saved when the forward pass ends
    each_pass = states + L * (T - 1)
    products = 3 * each_pass + 2 * again - min(again, L)
    arithmetic = products * product.flops / (BEST * device.peak * 1e6)
    bytes_of_step = pointwise.bytes() + pointwise_back.bytes()
    moved = states * bytes_of_step / device.bandwidth * 1e-3
    return {"chain": forward + backward, "arithmetic": arithmetic, "movement": moved}


def _operations(problem: Problem) -> tuple[Operation, ...]:
    """One step's product forward and backward, and its pointwise operation forward and backward."""
    columns = (0, problem.hidden_size)
    step = (0, 1)
    rows = Region("a", (0, problem.minibatch), columns)
    matrix = Region("w", columns, columns)
    body = (Elementary("tanh", (rows,), rows),)
    ahead = Operation("gemm", (rows, matrix), (rows,), 0, step, transposed=(False, True))
    back = ahead._replace(transposed=(False, False))
    first = Operation("pointwise", (rows, rows), (rows, rows), 0, step, body=body)
    second = first._replace(writes=(rows,))
    return ahead, back, first, second
