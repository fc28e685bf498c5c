"""Scaling model: an update of a data-parallel RNN on many GPUs, from rates, links and dependencies in time.

Arithmetic comes from published rates or from a timeline (schedule/timeline.py), communication from the costs
of an all-reduce (costs.py).  A layer's weight gradient is a sum over all steps, so it may be sent when the
layer's backward sweep has ended, not earlier; messages use the network one after another, in that order.
What the network does beside the arithmetic is hidden, the rest is exposed.  How far such a model is from
published runs: `python -m rnncourse.scaling.model_fit`.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from pocketgpu.devices import Device
from ranks.costs import Link, all_reduce_seconds, check_ranks, two_level_seconds
from rnncourse.scaling.published import OVER_TIME, UNITS
from rnnlab.schedule.plan import Plan
from rnnlab.schedule.timeline import predict

PRODUCTS = 3  # of a matrix in training: forward, for dh or dx, for dW
FORWARD = 1 / PRODUCTS  # share of the arithmetic
PAYS = 1.25  # what twice the ranks must gain to be called worth it
TWO_LEVEL = "two-level"
GRADIENT = re.compile(r"d(?:weight|bias)\w*_l(\d+)$")


@dataclass(frozen=True)
class Cluster:
    """Nodes of `node` GPUs; `inside` is the link of two GPUs in a node, `between` that of two nodes."""

    node: int
    inside: Link
    between: Link

    def all_reduce(self, algorithm: str, ranks: int, size: float) -> float:
        """Seconds of one all-reduce; a flat algorithm runs at the speed of its slowest link.

        Raises ValueError for an unknown algorithm or for ranks that do not fill whole nodes.
        """
        if algorithm == TWO_LEVEL:
            return two_level_seconds(ranks, size, self.node, self.inside, self.between)
        slowest = self.inside if ranks <= self.node else self.between
        return all_reduce_seconds(algorithm, ranks, size, slowest)

    def without(self, term: str) -> "Cluster":
        """The cluster with links that have no latency, or that take no time for a byte."""
        inside = replace(self.inside, **{term: 0.0})
        between = replace(self.between, **{term: 0.0})
        return Cluster(self.node, inside, between)


# 8 GPUs a node: bandwidths that the ring post states, hops of NCCL's own cost model (PCIe, network)
TITANX_NODES = Cluster(8, Link.from_bandwidth(5.7, 10), Link.from_bandwidth(14, 6))


class Message(NamedTuple):
    """One all-reduce on the network; times in seconds from the start of the update."""

    layer: int
    size: float  # bytes
    ready: float
    start: float
    end: float


@dataclass(frozen=True)
class Update:
    """Timeline of one update: forward, backward, the messages beside it; seconds."""

    forward: float
    backward: float
    messages: tuple[Message, ...]

    @property
    def arithmetic(self) -> float:
        """Seconds of the forward and the backward pass."""
        return self.forward + self.backward

    @property
    def seconds(self) -> float:
        """Time until the arithmetic and all messages have ended."""
        ends = [message.end for message in self.messages]
        return max([self.arithmetic, *ends])

    @property
    def communication(self) -> float:
        """Seconds in which the network is busy."""
        return sum(message.end - message.start for message in self.messages)

    @property
    def exposed(self) -> float:
        """Seconds that the update takes longer than its arithmetic."""
        return self.seconds - self.arithmetic

    @property
    def hidden(self) -> float:
        """Seconds of communication beside the arithmetic."""
        return self.communication - self.exposed


def schedule_update(
    times: tuple[float, float],
    ready: Sequence[float],
    sizes: Sequence[float],
    all_reduce: Callable[[float], float],
    overlap: bool = True,
) -> Update:
    """Timeline of an update; times: forward and backward, ready [L]: seconds into the backward pass.

    sizes [L]: bytes of a layer's gradients; all_reduce: seconds for so many bytes.  Without overlap all
    gradients are one message after the backward pass.  Raises ValueError for times that make no sense.
    """
    forward, backward = times
    if len(ready) != len(sizes):
        raise ValueError(f"{len(ready)} ready times for {len(sizes)} layers; give one a layer")
    for layer, time in enumerate(ready):
        if not 0 <= time <= backward * (1 + 1e-9):
            raise ValueError(f"layer {layer} is ready at {time} s, outside the backward pass of {backward} s")
    if sizes and not overlap:
        ready = [backward]
        sizes = [sum(sizes)]
    free = 0.0
    messages = []
    for layer in sorted(range(len(ready)), key=lambda l: (ready[l], -l)):
        size = sizes[layer]
        when = forward + ready[layer]
        start = max(free, when)
        free = start + all_reduce(size)
        messages.append(Message(layer, size, when, start, free))
    return Update(forward, backward, tuple(messages))


def ready_times(plan: Plan, device: Device) -> tuple[list[float], float]:
    """(seconds at which each layer's gradients are complete [L], seconds of the backward pass), predicted.

    A gradient is complete when the last operation that writes it has ended.  Raises ValueError for a plan
    that writes no gradients of weights.
    """
    timeline = predict(plan, device)
    ends: dict[int, float] = {}
    for operation, end in zip(plan.operations, timeline.end, strict=True):
        for region in operation.writes:
            if gradient := GRADIENT.match(region.buffer):
                layer = int(gradient[1])
                ends[layer] = max(end, ends.get(layer, 0.0))
    if not ends:
        raise ValueError("the plan writes no gradient of a weight; give a backward plan")
    ready = [1e-6 * ends[layer] for layer in sorted(ends)]
    return ready, 1e-6 * timeline.makespan


@dataclass(frozen=True)
class Training:
    """An RNN in training at a fixed minibatch over all GPUs: the sizes of its layers, float32."""

    batch: int  # sequences of one update, over all ranks
    layers: int = 7
    steps: int = 700
    hidden: int = UNITS

    @property
    def layer_bytes(self) -> float:
        """Bytes of one layer's gradients: two matrices and two biases."""
        matrices = 2 * self.hidden**2
        biases = 2 * self.hidden
        return 4.0 * (matrices + biases)

    @property
    def flops(self) -> float:
        """Products of one update, both matrices."""
        multiply_adds = self.steps * self.layers * 2 * self.hidden**2 * self.batch  # of a forward pass
        return PRODUCTS * 2 * multiply_adds


def product_seconds(rates: dict[int, float], sequences: int, hidden: int = UNITS) -> float:
    """Seconds of a recurrent product at published TFLOP/s {sequences: rate}.

    Between two published minibatches time is linear; below the smallest it is that of the smallest, above the
    largest it has the largest one's rate.
    """
    check_ranks(sequences, "sequences")
    minibatches = sorted(rates)
    times = [2 * hidden**2 * B / rates[B] * 1e-12 for B in minibatches]
    beyond = max(1.0, sequences / minibatches[-1])
    seconds = np.interp(sequences, minibatches, times)
    return float(seconds) * beyond


def arithmetic_seconds(training: Training, ranks: int, rates: dict[int, float]) -> float:
    """Seconds of forward and backward on the rank with most sequences.

    The products with the inputs are made over all time steps, at OVER_TIME.  Raises ValueError for more ranks
    than sequences.
    """
    check_ranks(ranks)
    batch = training.batch
    if ranks > batch:
        raise ValueError(
            f"{ranks} ranks share a minibatch of {batch}: {ranks - batch} would have no "
            f"sequence; use at most {batch} ranks"
        )
    sequences = -(-batch // ranks)
    inputs = 2 * training.hidden**2 * sequences / OVER_TIME * 1e-12
    step = product_seconds(rates, sequences, training.hidden) + inputs
    return PRODUCTS * training.layers * training.steps * step


def predict_update(
    training: Training,
    ranks: int,
    rates: dict[int, float],
    cluster: Cluster = TITANX_NODES,
    algorithm: str = TWO_LEVEL,
    overlap: bool = True,
) -> Update:
    """Timeline of one update, layer by layer: the top layer's gradients are complete first."""
    total = arithmetic_seconds(training, ranks, rates)
    L = training.layers
    backward = total * (1 - FORWARD)
    ready = [backward * (L - layer) / L for layer in range(L)]
    times = (total * FORWARD, backward)
    sizes = [training.layer_bytes] * L
    reduce = lambda size: cluster.all_reduce(algorithm, ranks, size)
    return schedule_update(times, ready, sizes, reduce, overlap)


def time_by_term(training: Training, ranks: int, rates: dict[int, float], **options) -> dict[str, float]:
    """Seconds of an update by what they are spent on; options as in predict_update.

    arithmetic: at the best published rate; small minibatch: what the arithmetic takes longer; bytes and
    messages: exposed communication, shared in the proportion of what either would take alone.
    """
    cluster = options.pop("cluster", TITANX_NODES)
    update = predict_update(training, ranks, rates, cluster, **options)
    best_rate = max(rates.values())
    best = arithmetic_seconds(training, ranks, {1: best_rate})
    alone = {}
    for word, other_term in (("bytes", "latency"), ("messages", "byte")):
        links = cluster.without(other_term)
        alone[word] = predict_update(training, ranks, rates, links, **options).communication
    whole = sum(alone.values()) or 1.0
    shares = {word: update.exposed * time / whole for word, time in alone.items()}
    return {"arithmetic": best, "small minibatch": update.arithmetic - best} | shares


class Scaling(NamedTuple):
    """One count of ranks at a fixed minibatch."""

    ranks: int
    update: Update
    terms: dict[str, float]
    tflops: float  # of all GPUs together


def strong_scaling(
    training: Training, counts: Sequence[int], rates: dict[int, float], **options
) -> list[Scaling]:
    """The same minibatch on each of these counts of ranks; options as in predict_update."""
    lines = []
    for ranks in counts:
        update = predict_update(training, ranks, rates, **options)
        terms = time_by_term(training, ranks, rates, **options)
        tflops = training.flops / update.seconds * 1e-12
        lines.append(Scaling(ranks, update, terms, tflops))
    return lines


def stops_paying(lines: Sequence[Scaling]) -> tuple[int, str] | None:
    """(ranks beyond which twice as many gain less than PAYS, the term that grows least kindly there).

    The term is the one that shrinks least from those ranks to the next count; None if every step pays.
    """
    for line, following in pairwise(lines):
        if line.update.seconds < PAYS * following.update.seconds:
            lost = {name: following.terms[name] - time / 2 for name, time in line.terms.items()}
            return line.ranks, max(lost, key=lost.get)
    return None
