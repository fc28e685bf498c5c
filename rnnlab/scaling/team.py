"""A team of ranks: the share of each in a training step, and what all must agree on.

Every rank holds the whole model and draws the whole minibatch, of which it takes its own sequences.  So the
sequences of step k are the same for any number of ranks, and a run can continue with fewer or more of them.
Each rank's gradient is scaled by its share of the sequences before the sum, not after it: the sum of the
ranks is then the gradient of the minibatch, however unequal the shares are.
"""

import zlib
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from ranks.all_reduce import pack, unpack
from ranks.faults import SUMMING, Pen
from rnnlab.scaling.overlap import RankResult, Step, buckets, loss_and_send, send_zeros
from rnnlab.training.model import Model
from rnnlab.training.optimisers import Arrays
from rnnlab.training.task import Batch

STEPS_SHOWN = 50  # steps whose times are remembered


class Team:
    """This rank among the others of a communicator.

    shares: sequences of each rank in a minibatch.  sums: background sums over the same ranks (ranks.sums).
    members: the number that each rank had at the start, where some have been lost since.
    """

    def __init__(
        self, comm: Any, sums: Any, shares: tuple[int, ...], pen: Pen, members: tuple[int, ...] = ()
    ):
        self.comm = comm
        self.sums = sums
        self.shares = shares
        self.pen = pen
        self.members = members or tuple(range(len(shares)))
        self.not_finite: list[str] = []  # what this rank computed in the last step and was not finite
        self.timed_steps: deque[Step] = deque(maxlen=STEPS_SHOWN)

    @property
    def rank(self) -> int:
        return self.comm.Get_rank()

    def own(self, batch: Batch) -> Batch:
        """This rank's sequences of a minibatch, x [T,B,I]."""
        start = sum(self.shares[: self.rank])
        mine = slice(start, start + self.shares[self.rank])
        return Batch(batch.x[:, mine], batch.target[:, mine], batch.weight)

    def loss_and_gradients(
        self, model: Model, loss: Callable, batch: Batch, chunk: int | None, rung: Any
    ) -> tuple[float, Arrays]:
        """Loss and gradients of the whole minibatch, x [T,B,I], the same on every rank.

        This is `rnnlab.training.loss_and_gradients` with the work shared; all ranks must call it.
        """
        self.not_finite = []
        flat = {}

        def send(bucket: str, gradients: Arrays) -> None:
            vector = pack(list(gradients.values()))
            flat[bucket] = vector
            if not np.isfinite(vector).all():
                for name, gradient in gradients.items():
                    if not np.isfinite(gradient).all():
                        self.not_finite.append(name)
            self.sums.start(bucket, vector)

        result = self._propagate(model, loss, batch, chunk, rung, send)
        total_loss = np.array([result.loss])
        self.sums.start("loss", total_loss)
        self.pen.write(SUMMING)
        self.timed_steps.append(Step(result, self.sums.finish()))
        return float(total_loss[0]), _gradients(model, flat)

    def explain_not_finite(self) -> str:
        """What was not finite on which rank in the last step; all ranks must call it."""
        findings = enumerate(self.comm.allgather(self.not_finite))
        parts = [f"on rank {rank}: {', '.join(names)}" for rank, names in findings if names]
        return f"not finite was, {'; '.join(parts)}" if parts else "only the sum of all ranks is not finite"

    def check_agreement(self, properties: dict[str, str]) -> None:
        """Raises ValueError on every rank, with the first difference, if ranks have different ones."""
        of_ranks = self.comm.allgather(properties)
        for name in sorted({name for others in of_ranks for name in others}):
            values = [others.get(name, "nothing") for others in of_ranks]
            other = next((rank for rank, value in enumerate(values) if value != values[0]), None)
            if other is not None:
                raise ValueError(
                    f"ranks disagree: {name} is {values[0]} on rank 0 and {values[other]} on rank {other}; "
                    "start all ranks with the same settings and the same packages"
                )

    def check_replicas(self, model: Model) -> None:
        """Raises RuntimeError if the ranks' parameters, weights [G*H,I] and others, are not the same bits."""
        digest = 0
        for array in model.parameters.values():
            digest = zlib.crc32(np.ascontiguousarray(array), digest)
        digests = self.comm.allgather(digest)
        if other := [rank for rank, value in enumerate(digests) if value != digests[0]]:
            raise RuntimeError(
                f"the parameters of rank {other[0]} are not those of rank 0: a sum gave ranks different "
                "bits; nothing was written, and the last checkpoint is the place to continue from"
            )

    def on_rank_0(self, function: Callable[[], Any]) -> Any:
        """Result of function() on rank 0, on every rank; if it raises there, every rank raises the same."""
        outcome = None
        if self.rank == 0:
            try:
                outcome = function(), None
            except (OSError, ValueError) as error:
                outcome = None, error
        value, error = self.comm.bcast(outcome)
        if error is not None:
            raise error
        return value

    def _propagate(self, model, loss, batch, chunk, rung, send) -> RankResult:
        mine = self.own(batch)
        sequences = self.shares[self.rank]
        if not sequences:
            return send_zeros(model, 0.0, send)
        result = loss_and_send(model, loss, mine, sequences / sum(self.shares), chunk, rung, send)
        if not np.isfinite(result.loss):
            self.not_finite.append("the loss")
        return result


def _gradients(model: Model, flat: dict[str, np.ndarray]) -> Arrays:
    """Gradients in the parameters' order, from one vector for each bucket."""
    parameters = model.parameters
    gradients = {}
    for bucket, names in buckets(model).items():
        arrays = unpack(flat[bucket], [parameters[name].shape for name in names])
        gradients |= zip(names, arrays, strict=True)
    return {name: gradients[name] for name in parameters}
