"""When each operation of a plan would run on a GPU, from its data sheet: a model, not a measurement.

The host issues operations one after another.  An operation starts when it is issued, when its stream is free,
and when the events it waits for have happened.  A product is cut into tiles, a block each; blocks share the
multiprocessors, and a multiprocessor with few blocks cannot hide its latencies:

    throughput = peak · min(blocks, SMs)/SMs · BEST · c/(c + HALF)
    c = blocks per multiprocessor, at least 1
Everything else moves bytes at the memory's bandwidth.  The constants are the same for all devices; how far
the model is from published figures is printed by `python -m rnnlab.bench.published_timelines`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rnnlab.machine.devices import Device
from rnnlab.schedule.order import event_arrays
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


class Work(NamedTuple):
    """What operations ask of a device; arrays by operation."""

    blocks: np.ndarray  # 0: it only moves bytes
    flops: np.ndarray
    alone: np.ndarray  # microseconds with nobody beside it

    @classmethod
    def of(cls, each: Operation, device: Device, itemsize: int = 4) -> "Work":
        """What one operation asks: numbers in the place of arrays."""
        moving = each.bytes(itemsize) / device.bandwidth * 1e-3
        if each.kind != "gemm":
            return cls(0, 0.0, moving)
        m, n, _ = each.gemm_shape
        blocks = -(-n // TILE[0]) * -(-m // TILE[1])  # a plan's n runs over weights, m over sequences
        flops = each.flops * (TURNED if each.transposed == (False, True) else 1.0)
        return cls(blocks, flops, max(moving, float(flops / throughput(device, blocks))))


class Queues(NamedTuple):
    """What decides who waits for whom; arrays by operation."""

    stream: np.ndarray
    first_wait: np.ndarray  # [operations + 1]; operation i waits for waits[first_wait[i] : first_wait[i + 1]]
    waits: np.ndarray


def predict(plan: Plan, device: Device, itemsize: int = 4) -> Timeline:
    """The plan's timeline on that device; itemsize is the bytes of a number."""
    kinds, kind = shapes_of(plan)
    work = work_of([plan.operations[k] for k in kinds], device, itemsize)
    times = run(queues_of(plan), Work(*(each[kind] for each in work)), device, plan.captured)
    return Timeline(plan, device, *(tuple(each.tolist()) for each in times))


def shapes_of(plan: Plan) -> tuple[list[int], np.ndarray]:
    """One operation of each shape, and for every operation the place of its like among them."""
    known, like, places = {}, [], []
    for index, each in enumerate(plan.operations):
        kind, reads, writes, _, _, transposed, accumulates, body, _ = each
        shapes = [(bottom - top, right - left) for _, (top, bottom), (left, right) in reads + writes]
        asked = kind, transposed, accumulates, len(body), *shapes
        if asked not in known:
            known[asked] = len(places)
            places.append(index)
        like.append(known[asked])
    return places, np.array(like, int)


def work_of(operations: Sequence[Operation], device: Device, itemsize: int = 4) -> Work:
    """The work of each, from its shape."""
    found = [Work.of(each, device, itemsize) for each in operations]
    blocks, flops, alone = zip(*found, strict=True) if found else ((), (), ())
    return Work(np.array(blocks, int), np.array(flops, float), np.array(alone, float))


def queues_of(plan: Plan) -> Queues:
    """The plan's streams and events."""
    stream = np.array([each.stream for each in plan.operations], int)
    if not stream.any():
        return Queues(stream, np.zeros(len(stream) + 1, int), np.zeros(0, int))
    earlier, waiting = event_arrays(plan)
    return Queues(stream, np.searchsorted(waiting, np.arange(len(stream) + 1)), earlier)


def run(queues: Queues, work: Work, device: Device, captured: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Start and end of each operation, microseconds from the first issue."""
    issued = issue_times(len(work.alone), device, captured)
    if not queues.stream.any():
        took = device.node + work.alone
        spent = np.cumsum(took)
        end = spent + np.maximum.accumulate(issued - (spent - took))
        return end - took, end
    from rnnlab.schedule.side_by_side import simulate  # brings Numba, which a single stream does without

    most = np.zeros(queues.stream.max() + 1, int)
    np.maximum.at(most, queues.stream, work.blocks)
    rates = throughput(device, np.arange(most.sum() + 1))
    return simulate(issued, queues, work, device.node, rates)


def throughput(device: Device, blocks: np.ndarray | int) -> np.ndarray:
    """FLOP per microsecond of products with that many blocks in all."""
    pieces = device.multiprocessors
    each = np.maximum(1.0, np.divide(blocks, pieces))
    return device.peak * 1e6 * np.minimum(blocks, pieces) / pieces * BEST * each / (each + HALF)


def issue_times(count: int, device: Device, captured: bool = False) -> np.ndarray:
    """When the host has issued each of so many operations; a captured plan is issued at once."""
    return device.launch * (np.ones(count) if captured else 1.0 + np.arange(count))
