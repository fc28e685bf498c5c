"""Timeline of a plan on a GPU, predicted from the GPU's data sheet: a model, not a measurement.

The host issues operations one after another.  An operation starts when it is issued, when its stream is free,
and when the events it waits for have happened.  A product is cut into tiles, a block each; blocks share the
multiprocessors, and a multiprocessor with few blocks cannot hide its latencies:

    throughput = peak · min(blocks, SMs)/SMs · BEST · c/(c + HALF)
    c = blocks per multiprocessor, at least 1
Everything else moves bytes at the memory's bandwidth.  The constants are the same for all devices; how far
the model is from published figures is printed by `python -m bench.timeline_figures`.
"""

from collections import defaultdict, deque
from dataclasses import dataclass
from typing import NamedTuple

from pocketgpu.devices import Device
from rnnlab.schedule.order import events
from rnnlab.schedule.plan import Operation, Plan

# Fitted together, with Maxwell's launch and node, to the M40 ladder published for Appleyard et al. (2016).
TILE = (64, 64)  # rows of weights and sequences that one block multiplies
BEST = 0.85  # of the peak, with many blocks on every multiprocessor
HALF = 1.5  # blocks on a multiprocessor for half of that
TRANSPOSED = 1.12  # a product that reads its weights transposed takes this much longer
ROUNDING = 1e-9  # microseconds of an operation that are rounding, not work


@dataclass(frozen=True)
class Timeline:
    """Issue, start and end of each operation, microseconds from the first issue."""

    plan: Plan
    device: Device
    issued: tuple[float, ...]
    start: tuple[float, ...]
    end: tuple[float, ...]

    @property
    def makespan(self) -> float:
        """Microseconds until all is done."""
        return max(self.end, default=0.0)

    @property
    def tflops(self) -> float:
        """TFLOP/s of the products over the whole time."""
        gemms = [operation for operation in self.plan.operations if operation.kind == "gemm"]
        flops = sum(gemm.flops for gemm in gemms)
        return flops / self.makespan / 1e6 if self.makespan else 0.0

    @property
    def idle(self) -> float:
        """Share of the time in which no kernel is on the device."""
        covered = until = 0.0
        for start, end in sorted(zip(self.start, self.end, strict=True)):
            covered += max(0.0, end - max(start, until))
            until = max(until, end)
        return 1 - covered / self.makespan if self.makespan else 0.0


class Work(NamedTuple):
    """Demand of an operation on a device."""

    blocks: int  # 0: it only moves bytes
    flops: float
    solo_us: float  # duration, in microseconds, if no other kernel runs

    @classmethod
    def of(cls, operation: Operation, device: Device, itemsize: int = 4) -> "Work":
        """The demand of one operation; itemsize: bytes of a number."""
        moving = operation.bytes(itemsize) / device.bandwidth * 1e-3
        if operation.kind != "gemm":
            return cls(0, 0.0, moving)
        m, n, _ = operation.gemm_shape
        rows, sequences = TILE
        blocks = -(-n // rows) * -(-m // sequences)  # a plan's n runs over weights, m over sequences
        flops = float(operation.flops)
        if operation.transposed == (False, True):
            flops *= TRANSPOSED
        multiplying = flops / throughput(device, blocks)
        return cls(blocks, flops, max(moving, multiplying))


def predict(plan: Plan, device: Device, itemsize: int = 4) -> Timeline:
    """The plan's timeline on that device; itemsize: bytes of a number."""
    known: dict[tuple, Work] = {}  # operations of equal shapes have equal work
    work = []
    for operation in plan.operations:
        shape = _shape(operation)
        if shape not in known:
            known[shape] = Work.of(operation, device, itemsize)
        work.append(known[shape])
    if plan.captured:
        issued = [device.launch] * len(work)
    else:
        issued = [device.launch * (1 + place) for place in range(len(work))]
    start, end = _Streams(plan, work, device, issued).run()
    return Timeline(plan, device, tuple(issued), tuple(start), tuple(end))


def throughput(device: Device, blocks: int) -> float:
    """FLOP per microsecond of products with that many blocks in all."""
    pieces = device.multiprocessors
    busy_peak = device.peak * 1e6 * min(blocks, pieces) / pieces
    waves = max(1.0, blocks / pieces)  # blocks on each multiprocessor
    return busy_peak * BEST * waves / (waves + HALF)


def _shape(operation: Operation) -> tuple:
    regions = operation.reads + operation.writes
    shapes = [region.shape for region in regions]
    functions = len(operation.body)
    return operation.kind, operation.transposed, operation.accumulates, functions, *shapes


class _RunningOperation:
    """An operation on the device: its latency before the work begins, and how much of the work is left."""

    def __init__(self, index: int, work: Work, node: float):
        self.index = index
        self.work = work
        self.latency = node
        self.left = work.solo_us
        self.speed = 1.0

    def remaining(self) -> float:
        """Microseconds to its next change, at its present speed."""
        return self.latency if self.latency > ROUNDING else self.left / self.speed

    def advance(self, step: float) -> bool:
        """Let it run for `step` microseconds; has it ended?"""
        if self.latency > ROUNDING:
            self.latency -= step
        else:
            self.left -= step * self.speed
        return self.latency <= ROUNDING and self.left <= ROUNDING


class _Streams:
    """Simulation of streams, event by event: the first operation of a stream starts as soon as it can."""

    def __init__(self, plan: Plan, work: list[Work], device: Device, issued: list[float]):
        self.work = work
        self.device = device
        self.issued = issued
        self.queues = defaultdict(deque)
        self.waits = defaultdict(list)
        for index, operation in enumerate(plan.operations):
            self.queues[operation.stream].append(index)
        if len(self.queues) > 1:
            for recorded, waiting in events(plan):
                self.waits[waiting].append(recorded)
        self.start = [0.0] * len(work)
        self.end = [None] * len(work)

    def run(self) -> tuple[list[float], list[float]]:
        """Start and end of each operation, microseconds."""
        now = 0.0
        running = {}  # stream -> its operation on the device
        while any(self.queues.values()):
            until = self._start_ready(now, running)
            self._share_multiprocessors(running)
            changes = [operation.remaining() for operation in running.values()]
            step = min([until - now, *changes])
            now += step
            for stream, operation in list(running.items()):
                if operation.advance(step):
                    self.end[operation.index] = now
                    self.queues[stream].popleft()
                    del running[stream]
        return self.start, self.end

    def _start_ready(self, now: float, running: dict[int, _RunningOperation]) -> float:
        """Start what can start; the time of the next issue that a free stream waits for."""
        until = float("inf")
        for stream, queue in self.queues.items():
            if not queue or stream in running:
                continue
            index = queue[0]
            ends = [self.end[earlier] for earlier in self.waits[index]]
            if None in ends:
                continue
            if self.issued[index] > now:
                until = min(until, self.issued[index])
            else:
                self.start[index] = now
                running[stream] = _RunningOperation(index, self.work[index], self.device.node)
        return until

    def _share_multiprocessors(self, running: dict[int, _RunningOperation]) -> None:
        """The speed of each operation at work: 1 is its speed if no other kernel runs."""
        active = [operation for operation in running.values() if operation.latency <= ROUNDING]
        total = sum(operation.work.blocks for operation in active)
        movers = sum(operation.work.blocks == 0 for operation in active)
        rate = throughput(self.device, total) / total if total else 0.0  # of a block
        for operation in active:
            blocks, flops, solo_us = operation.work
            if blocks:
                operation.speed = min(1.0, rate * blocks * solo_us / flops)
            else:
                operation.speed = 1.0 / movers
