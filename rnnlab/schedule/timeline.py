"""When each operation of a plan would run on a GPU, from its data sheet: a model, not a measurement.

The host issues operations one after another.  An operation starts when it is issued, when its stream is free,
and when the events it waits for have happened.  A product is cut into tiles, a block each; blocks share the
multiprocessors, and a multiprocessor with few blocks cannot hide its latencies:

    throughput = peak · min(blocks, SMs)/SMs · BEST · c/(c + HALF)
    c = blocks per multiprocessor, at least 1
Everything else moves bytes at the memory's bandwidth.  The constants are the same for all devices; how far
the model is from published figures is printed by `python -m rnnlab.bench.published_timelines`.
"""

from collections import defaultdict
from dataclasses import dataclass

from rnnlab.machine.devices import Device
from rnnlab.schedule.order import events
from rnnlab.schedule.plan import Operation, Plan

# Fitted together, with Maxwell's launch and node, to the M40 ladder published for Appleyard et al. (2016).
TILE = (64, 64)  # rows of weights and sequences that one block multiplies
BEST = 0.85  # of the peak, with many blocks on every multiprocessor
HALF = 1.5  # blocks on a multiprocessor for half of that
TURNED = 1.12  # a product that reads its weights transposed takes this much longer


@dataclass(frozen=True)
class Timeline:
    """Start and end of each operation, microseconds from the first issue."""

    plan: Plan
    device: Device
    start: tuple[float, ...]
    end: tuple[float, ...]

    @property
    def makespan(self) -> float:
        """Microseconds until all is done."""
        return max(self.end, default=0.0)

    @property
    def tflops(self) -> float:
        """Useful work over time, products only."""
        products = sum(each.flops for each in self.plan.operations if each.kind == "gemm")
        return products / self.makespan / 1e6 if self.makespan else 0.0


def predict(plan: Plan, device: Device, itemsize: int = 4) -> Timeline:
    """The plan's timeline on that device; itemsize is the bytes of a number."""
    work = [Work.of(each, device, itemsize) for each in plan.operations]
    streams = {each.stream for each in plan.operations}
    run = _one_after_another if len(streams) < 2 else _side_by_side
    return Timeline(plan, device, *map(tuple, run(plan, device, work)))


@dataclass(frozen=True)
class Work:
    """What an operation asks of the device; alone is its time in microseconds with nobody beside it."""

    blocks: int
    flops: float
    alone: float

    @classmethod
    def of(cls, operation: Operation, device: Device, itemsize: int) -> "Work":
        moving = operation.bytes(itemsize) / device.bandwidth * 1e-3
        if operation.kind != "gemm":
            return cls(0, 0.0, moving)
        m, n, _ = operation.gemm_shape
        blocks = -(-n // TILE[0]) * -(-m // TILE[1])  # a plan's n runs over weights, m over sequences
        flops = operation.flops * (TURNED if operation.transposed == (False, True) else 1.0)
        return cls(blocks, flops, max(moving, flops / throughput(device, blocks)))


def throughput(device: Device, blocks: int) -> float:
    """FLOP per microsecond of products with that many blocks in all."""
    pieces = device.multiprocessors
    each = max(1.0, blocks / pieces)
    return device.peak * 1e6 * min(blocks, pieces) / pieces * BEST * each / (each + HALF)


def issue_times(plan: Plan, device: Device) -> list[float]:
    """When the host has issued each operation; a captured plan is issued at once."""
    if plan.captured:
        return [device.launch] * len(plan.operations)
    return [device.launch * (index + 1) for index in range(len(plan.operations))]


def _one_after_another(plan: Plan, device: Device, work: list[Work]):
    starts, ends, free = [], [], 0.0
    for issued, each in zip(issue_times(plan, device), work, strict=True):
        starts.append(max(issued, free))
        free = starts[-1] + device.node + each.alone
        ends.append(free)
    return starts, ends


def _side_by_side(plan: Plan, device: Device, work: list[Work]):
    """Event by event: who can start, starts; the products that run share the multiprocessors."""
    issued, waits, queues = issue_times(plan, device), defaultdict(list), defaultdict(list)
    for recorded, waiting in events(plan):
        waits[waiting].append(recorded)
    for index, each in enumerate(plan.operations):
        queues[each.stream].append(index)
    heads = {stream: 0 for stream in queues}
    starts, ends, running, now = [0.0] * len(work), [None] * len(work), {}, 0.0
    while any(heads[s] < len(q) for s, q in queues.items()):
        later = []
        for stream, queue in queues.items():
            if heads[stream] == len(queue) or (index := queue[heads[stream]]) in running:
                continue
            if any(ends[earlier] is None for earlier in waits[index]):
                continue
            if issued[index] > now:
                later.append(issued[index])
            else:
                starts[index] = now
                running[index] = [device.node, work[index].alone]
        now = _advance(running, work, device, now, min(later, default=float("inf")))
        for index in [k for k, (lead, left) in running.items() if lead <= 1e-9 and left <= 1e-9]:
            del running[index]
            ends[index] = now
            heads[plan.operations[index].stream] += 1
    return starts, ends


def _advance(running: dict, work: list[Work], device: Device, now: float, until: float) -> float:
    """Let time pass to the next end, or to `until`; what is left of each falls accordingly."""
    busy = [k for k, (lead, _) in running.items() if lead <= 1e-9]
    blocks = sum(work[k].blocks for k in busy)
    movers = sum(not work[k].blocks for k in busy)
    speed, together = {}, throughput(device, blocks) if blocks else 0.0
    for k in busy:
        if work[k].blocks:
            share = together * work[k].blocks / blocks
            speed[k] = min(1.0, share * work[k].alone / work[k].flops)
        else:
            speed[k] = 1.0 / movers
    steps = [lead for lead, _ in running.values() if lead > 1e-9]
    steps += [running[k][1] / speed[k] for k in busy]
    step = min([*steps, until - now])
    for k, state in running.items():
        if k in speed:
            state[1] -= step * speed[k]
        else:
            state[0] -= step
    return now + step
