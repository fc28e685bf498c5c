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
from rnnlab.network import Layer, Network, layer_network
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
    """prediction [T,B,O], the last state and what is saved, from x [T,B,I]; like Model.predict."""
    network = model.network
    layers = []
    final = []
    state = network.zero_state(x.shape[1]) if state is None else state
    for index in range(network.layers):
        alone = layer_network(network, index)
        x, last, saved = rung.forward(alone, x, tuple(part[index : index + 1] for part in state))
        layers.append((alone, saved))
        final.append(last)
    state = tuple(np.concatenate(parts) for parts in zip(*final, strict=True))
    return x @ model.weight_out.T + model.bias_out, state, SavedSteps(x, layers)


def backward_by_layer(
    model: Model, saved: SavedSteps, dprediction: np.ndarray, rung: Any
) -> Iterator[tuple[str, Arrays]]:
    """(bucket, gradients) when complete, from dprediction [T,B,O]: the readout, then layers from the top."""
    rows = dprediction.reshape(-1, model.output_size)  # [T·B,O]
    yield "readout", {"weight_out": rows.T @ saved.y.reshape(len(rows), -1), "bias_out": rows.sum(0)}
    dy = dprediction @ model.weight_out  # [T,B,H]
    for index in reversed(range(len(saved.layers))):
        alone, saved_layer = saved.layers[index]
        dy, _, gradients = rung.backward(alone, saved_layer, dy, alone.zero_state(dy.shape[1]))
        yield bucket_name(index), {_of_layer(name, index): array for name, array in gradients.items()}


def loss_and_send(
    model: Model, loss: Callable, batch: Batch, share: float, chunk: int | None, rung: Any, send: Send
) -> RankResult:
    """Propagate this rank's sequences, x [T,B,I], and send each bucket of gradients when it is complete.

    share: this rank's sequences over all sequences of the minibatch; loss and gradients are scaled by it.
    Where the sequence is cut in chunks, the gradients of all chunks are added up; a bucket is complete
    only in the backward pass of the last chunk that counts.
    """
    T = len(batch.x)
    chunk = chunk or T
    weight = batch.weight.sum()
    starts = [t for t in range(0, T, chunk) if batch.weight[t : t + chunk].any()]
    total = 0.0
    sums = {}
    state = None
    begin = 0.0
    for start in range(0, starts[-1] + 1, chunk):
        x, target, steps = (array[start : start + chunk] for array in batch)
        prediction, state, saved = predict(model, x, state, rung)
        if start not in starts:
            continue  # no step of this chunk counts: it only hands on its state
        part = share * float(steps.sum() / weight)
        of_chunk, dprediction = loss(prediction, target, steps)
        total = total + part * of_chunk
        begin = time.perf_counter()
        for bucket, gradients in backward_by_layer(model, saved, part * dprediction, rung):
            for name, array in gradients.items():
                sums[name] = sums[name] + array if name in sums else array
            if start == starts[-1]:
                send(bucket, {name: sums[name] for name in gradients})
    return RankResult(total, begin, time.perf_counter())


def buckets(model: Model) -> dict[str, tuple[str, ...]]:
    """Names of the parameters in each bucket, in the order in which the buckets are complete."""
    names = {"readout": READOUT}
    for index in reversed(range(model.network.layers)):
        names[bucket_name(index)] = tuple(_of_layer(f"{name}_l0", index) for name in Layer._fields)
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
        return max(0.0, max(interval.end for interval in self.sums) - self.backward.end)


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
    return sorted((_row(name, pairs) for name, pairs in by_name.items()), key=lambda row: row.complete)


def table(steps: Sequence[Step]) -> str:
    """Rows as text, with the backward pass below them."""
    lines = ["sum of        bytes    complete      summed      hidden     exposed"]
    for row in rows(steps):
        lines.append(f"{row.name:9}{row.bytes:10}" + "".join(f"{value:9.2f} ms" for value in row[2:]))
    duration = MILLISECONDS * statistics.median(step.backward.end - step.backward.start for step in steps)
    exposed = MILLISECONDS * statistics.median(step.exposed for step in steps)
    lines.append(
        f"The backward pass takes {duration:.2f} ms; after it, the rank waits {exposed:.2f} ms for sums "
        f"(medians of {len(steps)} steps of rank 0)."
    )
    return "\n".join(lines)


def _row(name: str, pairs: list[tuple[Step, Interval]]) -> BucketRow:
    times = []
    for step, one in pairs:
        start = step.backward.start
        end = step.backward.end
        hidden = max(0.0, min(one.end, end) - one.start)
        exposed = max(0.0, one.end - max(one.start, end))
        times.append((one.ready - start, one.end - start, hidden, exposed))
    medians = [MILLISECONDS * statistics.median(column) for column in zip(*times, strict=True)]
    return BucketRow(name, pairs[0][1].bytes, *medians)
