"""Back-propagation layer by layer, so that a layer's gradient can be summed while the layers below still run.

A weight's gradient is a sum over all time steps: it is complete only when the backward pass has gone through
the whole layer, back to the first step.  So the layers run one after another, from the top down, and the
gradient of each leaves for the other ranks as soon as its layer is done.  The lowest layer's gradient has
nothing left to hide behind.

A rung runs all layers in one call.  Here each layer is a network of its own, with the same parameters, so
every rung can be cut at the layers, and computes the same numbers.  What is lost is the wavefront over layers
and time, on which all layers finish together: the fastest schedule on one GPU leaves nothing to overlap with.

A sum is hidden as far as it ran before the backward pass ended.  The rest is exposed: the rank computes
nothing then.  Times in a table are medians over steps, in milliseconds after the backward pass began.
"""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ranks.all_reduce import Interval
from rnnlab.cells import State
from rnnlab.layers import forward_through_layers
from rnnlab.network import Network, layer_network, parameter_names
from rnnlab.training.loop import add, is_finite, pieces
from rnnlab.training.model import READOUT, Model
from rnnlab.training.optimisers import Arrays
from rnnlab.training.task import Batch

Send = Callable[[str, Arrays], None]  # (bucket name, its complete gradients)


class SavedSteps(NamedTuple):
    """What the backward pass needs of a forward pass."""

    y: np.ndarray  # top layer's states [T,B,H]
    layers: list[tuple[Network, Any]]  # of each layer: the network of this layer alone, what its rung saved


class RankResult(NamedTuple):
    """A rank's part of a step: its part of the loss, and when its backward pass began and ended."""

    loss: float
    start: float
    end: float


def predict(
    model: Model, x: np.ndarray, state: State | None, rung: Any
) -> tuple[np.ndarray, State, SavedSteps]:
    """prediction [T,B,O], the last state and what is saved, from x [T,B,I]; like Model.predict.

    Raises FloatingPointError where the state, or a layer's output that another one reads, is not finite.
    """
    _require_finite(state)

    def run(index, x, state):
        if index > 0:
            _require_finite((x,))
        alone = layer_network(model.network, index)
        state = tuple(part[np.newaxis] for part in state)  # each [1,B,H]
        y, last, saved = rung.forward(alone, x, state)
        last = tuple(part[0] for part in last)
        return y, last, (alone, saved)

    y, last, layers = forward_through_layers(model.network, x, state, run)
    return model.readout(y), last, SavedSteps(y, layers)


def _require_finite(arrays: State | None) -> None:
    if not is_finite(arrays):
        raise FloatingPointError("a state is not finite")


def backward_by_layer(
    model: Model, saved: SavedSteps, dprediction: np.ndarray, rung: Any
) -> Iterator[tuple[str, Arrays]]:
    """(bucket, gradients) when complete, from dprediction [T,B,O]: the readout, then layers from the top."""
    yield "readout", model.readout_gradients(saved.y, dprediction)
    _, B, _ = dprediction.shape
    dy = dprediction @ model.weight_out  # [T,B,H]
    for index in reversed(range(len(saved.layers))):
        alone, saved_layer = saved.layers[index]
        dlast = alone.zero_state(B)
        dy, _, gradients = rung.backward(alone, saved_layer, dy, dlast)
        yield bucket_name(index), {_of_layer(name, index): array for name, array in gradients.items()}


def loss_and_send(
    model: Model, loss: Callable, batch: Batch, share: float, chunk: int | None, rung: Any, send: Send
) -> RankResult:
    """Propagate this rank's sequences, x [T,B,I], and send each bucket of gradients when it is complete.

    share: this rank's sequences over all sequences of the minibatch; loss and gradients are scaled by it.
    Where the sequence is cut in chunks, the gradients of all chunks are added up; a bucket is complete
    only in the backward pass of the last chunk that counts.
    """
    parts = [(piece, share * part) for piece, part in pieces(batch, chunk)]
    last = max(number for number, (_, part) in enumerate(parts) if part > 0)
    total = 0.0
    sums = {}
    state = None
    begin = 0.0
    for number, (piece, part) in enumerate(parts[: last + 1]):
        try:
            prediction, state, saved = predict(model, piece.x, state, rung)
        except FloatingPointError:  # the other ranks wait for this one's gradients
            return send_zeros(model, np.inf, send)
        if part == 0:
            continue  # no step of this piece counts: it only hands on its state
        loss_of_piece, dprediction = loss(prediction, piece.target, piece.weight)
        total = total + part * loss_of_piece
        begin = time.perf_counter()
        for bucket, gradients in backward_by_layer(model, saved, part * dprediction, rung):
            add(sums, gradients)
            if number == last:
                send(bucket, {name: sums[name] for name in gradients})
    return RankResult(total, begin, time.perf_counter())


def send_zeros(model: Model, loss: float, send: Send) -> RankResult:
    """What a rank sends that has no gradients: zeros in every bucket, weights [G·H,I] and others."""
    for bucket, names in buckets(model).items():
        send(bucket, {name: np.zeros_like(model.parameters[name]) for name in names})
    return RankResult(loss, time.perf_counter(), time.perf_counter())


def buckets(model: Model) -> dict[str, tuple[str, ...]]:
    """Names of the parameters in each bucket, in the order in which the buckets are complete."""
    names = {"readout": READOUT}
    for index in reversed(range(model.network.layers)):
        names[bucket_name(index)] = parameter_names(model.network.cell, index)
    return names


def bucket_name(index: int) -> str:
    """Name of the bucket with the gradients of one layer."""
    return f"layer {index}"


def _of_layer(name: str, index: int) -> str:
    """weight_hh_l0 of the layer alone is weight_hh_l<index> of the whole network."""
    return f"{name.removesuffix('_l0')}_l{index}"


MILLISECONDS = 1e3


class Step(NamedTuple):
    """Sums of one step on one rank, and its backward pass."""

    backward: RankResult
    sums: list[Interval]

    @property
    def exposed(self) -> float:
        """Seconds from the end of the backward pass until the last sum was complete."""
        last_end = max(interval.end for interval in self.sums)
        return max(0.0, last_end - self.backward.end)


class BucketRow(NamedTuple):
    """One bucket: milliseconds after the backward pass began, and how many of the sum's were hidden."""

    name: str
    bytes: int
    complete: float  # its gradient, on this rank
    summed: float
    hidden: float  # milliseconds that the sum took during the backward pass
    exposed: float  # and after it


def rows(steps: Sequence[Step]) -> list[BucketRow]:
    """One row for each bucket, in the order in which they were complete; medians over the steps."""
    by_name: dict[str, list[tuple[Step, Interval]]] = {}
    for step in steps:
        for interval in step.sums:
            by_name.setdefault(interval.name, []).append((step, interval))
    unordered = [_row(name, pairs) for name, pairs in by_name.items()]
    return sorted(unordered, key=lambda row: row.complete)


def table(steps: Sequence[Step]) -> str:
    """Rows as text, with the backward pass below them."""
    lines = ["sum of        bytes    complete      summed      hidden     exposed"]
    for row in rows(steps):
        times = [f"{value:9.2f} ms" for value in row[2:]]
        lines.append(f"{row.name:9}{row.bytes:10}{''.join(times)}")
    durations = [step.backward.end - step.backward.start for step in steps]
    duration = MILLISECONDS * statistics.median(durations)
    exposed = MILLISECONDS * statistics.median(step.exposed for step in steps)
    lines.append(
        f"The backward pass takes {duration:.2f} ms; after it, the rank waits {exposed:.2f} ms for sums "
        f"(medians of {len(steps)} steps of rank 0)."
    )
    return "\n".join(lines)


def _row(name: str, pairs: list[tuple[Step, Interval]]) -> BucketRow:
    times = []
    for step, interval in pairs:
        start = step.backward.start
        end = step.backward.end
        hidden = max(0.0, min(interval.end, end) - interval.start)
        exposed = max(0.0, interval.end - max(interval.start, end))
        complete = interval.ready - start
        summed = interval.end - start
        times.append((complete, summed, hidden, exposed))
    columns = zip(*times, strict=True)
    medians = [MILLISECONDS * statistics.median(column) for column in columns]
    (_, first_interval) = pairs[0]
    return BucketRow(name, first_interval.bytes, *medians)
