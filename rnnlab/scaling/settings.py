"""Settings of a data-parallel run: plain data that the launcher writes and that every rank reads.

Everything that a user can get wrong is checked here, before a rank is started.
"""

import inspect
import json
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from rnnlab import ladder
from rnnlab.cells import modes
from rnnlab.tasks import TASKS, Task
from rnnlab.training import SGD, Adam, Model
from rnnlab.training.loop import Recipe
from rnnlab.training.task import chosen, whole

OPTIMISERS = ("adam", "sgd")


@dataclass(frozen=True)
class RunSettings:
    """Model, task, optimiser and length of a training run; the same for every rank.

    split: sequences of each rank; None: as equal as possible.  chunk, clip, checkpoint, every: see
    rnnlab.training.fit.  overlap: sum gradients during the backward pass; False: after it.  survive: when a
    rank is lost, the others continue without it.
    """

    task: str = "adding"
    ranks: int = 1
    task_options: dict[str, int | str] = field(default_factory=dict)
    cell: str = "gru"
    hidden_size: int = 32
    layers: int = 1
    steps: int = 200
    batch: int = 32
    seed: int = 0
    optimiser: str = "adam"
    learning_rate: float = 1e-2
    momentum: float = 0.0
    chunk: int | None = None
    clip: float | None = None
    rung: str = "one_big_gemm"
    split: tuple[int, ...] | None = None
    checkpoint: str | None = None
    resume: bool = False
    every: int = 50
    overlap: bool = True
    survive: bool = False

    def __post_init__(self):
        whole("ranks", self.ranks, at_least=1)
        for name in ("steps", "every", "layers", "hidden_size"):
            whole(name, getattr(self, name), at_least=1)
        for name, options in (("task", TASKS), ("cell", modes()), ("optimiser", OPTIMISERS)):
            chosen(name, getattr(self, name), options)
        if self.momentum and self.optimiser != "sgd":
            raise ValueError(f"momentum is {self.momentum}, but {self.optimiser} has none: choose sgd")
        if self.resume and self.checkpoint is None:
            raise ValueError("resume needs a checkpoint: name its file")
        self.recipe()  # it checks its own numbers, and the optimiser those of its own
        self._check_shares()
        self._check_rung()

    @property
    def shares(self) -> tuple[int, ...]:
        """Sequences of each rank."""
        return self.split if self.split is not None else equal_shares(self.batch, self.ranks)

    def of_task(self) -> Task:
        """The task, with its options.  Raises ValueError for an option that it does not have."""
        known = inspect.signature(TASKS[self.task]).parameters
        if unknown := self.task_options.keys() - known:
            names = ", ".join(sorted(unknown))
            raise ValueError(f"the task {self.task} has no option {names}; it has {', '.join(known)}")
        return TASKS[self.task](**self.task_options)

    def model(self) -> Model:
        """The untrained model, equal on every rank."""
        task = self.of_task()
        sizes = {"layers": self.layers, "seed": self.seed}
        return Model.create(self.cell, task.input_size, self.hidden_size, task.output_size, **sizes)

    def recipe(self) -> Recipe:
        """The run's recipe (rnnlab.training.loop), the same for any number of ranks."""
        optimiser = Adam(self.learning_rate)
        if self.optimiser == "sgd":
            optimiser = SGD(self.learning_rate, self.momentum)
        rung = ladder.find(self.rung).module
        return Recipe(self.of_task(), optimiser, self.batch, self.seed, self.chunk, self.clip, rung)

    def json(self) -> str:
        """Text from which `read` makes the same settings."""
        return json.dumps(asdict(self))

    def _check_shares(self) -> None:
        if self.split is not None:
            self._check_split(self.split)
        elif self.batch < self.ranks:
            raise ValueError(
                f"batch is {self.batch}, but there are {self.ranks} ranks: some would have no sequence; "
                f"choose a batch of at least {self.ranks}, or at most {self.batch} ranks"
            )

    def _check_split(self, split: tuple[int, ...]) -> None:
        if self.survive:
            raise ValueError("split fixes each rank's share, but survivors must share anew: leave one out")
        if len(split) != self.ranks or sum(split) != self.batch or min(split) < 0:
            parts = " + ".join(map(str, split))
            raise ValueError(
                f"split is {parts}, expected {self.ranks} whole numbers, one per rank, "
                f"that add up to the batch of {self.batch}"
            )

    def _check_rung(self) -> None:
        rung = ladder.find(self.rung)
        model = self.model()
        steps = self.of_task().steps
        steps = min(self.chunk or steps, steps)
        if reason := rung.refuses(model.network, steps, max(self.shares)):
            raise ValueError(f"the rung {self.rung} cannot run this network: {reason}")


def read(text: str) -> RunSettings:
    """Settings that `Settings.json` wrote.  Raises ValueError for a name that this version does not know."""
    values: dict[str, Any] = json.loads(text)
    if unknown := values.keys() - {f.name for f in fields(RunSettings)}:
        raise ValueError(f"the settings hold {', '.join(sorted(unknown))}, which this version does not know")
    split = values.get("split")
    return RunSettings(**values | {"split": None if split is None else tuple(split)})


def equal_shares(sequences: int, ranks: int) -> tuple[int, ...]:
    """Number of sequences of each rank: they differ by one at most, the larger ones first."""
    share, remaining = divmod(sequences, ranks)
    return (share + 1,) * remaining + (share,) * (ranks - remaining)
