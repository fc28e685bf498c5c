"""Training loop: draw a minibatch, predict, propagate back through time, update; again.

Minibatch k depends on the seed and on k alone. So a run that was killed and resumed from its last checkpoint
sees the same sequences, makes the same steps, and ends where the run that was never killed ends: bit for bit
with the same versions of NumPy and its BLAS, on a processor for which BLAS chooses the same kernels.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rnnlab.cells import State
from rnnlab.ladder import find, one_big_gemm
from rnnlab.training import resume
from rnnlab.training.blas import suitable_threads
from rnnlab.training.history import History
from rnnlab.training.model import Model
from rnnlab.training.optimisers import SGD, Adam, Arrays, clip_by_global_norm, clip_limit
from rnnlab.training.task import Batch, Task, whole


def fit(
    model: Model,
    task: Task,
    optimiser: SGD | Adam,
    steps: int,
    batch: int = 32,
    seed: int = 0,
    *,
    chunk: int | None = None,
    clip: float | None = None,
    rung: Any = one_big_gemm,
    checkpoint: str | None = None,
    every: int = 50,
    watch: Callable[[int, Model], None] | None = None,
    progress: bool = True,
) -> tuple[Model, History]:
    """(trained model, history) after `steps` steps of `batch` sequences each; `model` itself stays as it is.

    chunk: propagate back through time in pieces of so many steps. The state is carried from piece to piece,
      the gradient is not; one step of the optimiser follows the whole sequence. This saves memory, but the
      network does not learn dependences that are longer than a piece.
    clip: the largest gradient norm a step may use; None or infinity for no limit.
    rung: a rung of the ladder, or its name, such as "numba_fused". NumPy's products run on one thread of BLAS
      where they are small, because more threads would spin and not be faster.
    checkpoint: a file, written at the start, every `every` steps and at the end; if it is there, training
      continues from it. It must come from the same call: other settings are refused.
    watch: called as watch(step, model) before the first step and after each one.
    """
    for name, value, kind, expected in (
        ("model", model, Model, "a Model"),
        ("task", task, Task, "a Task, such as TASKS['adding']()"),
        ("optimiser", optimiser, SGD | Adam, "SGD(...) or Adam(...)"),
        ("checkpoint", checkpoint, str | os.PathLike | None, "the path of a file, or None"),
        ("watch", watch, Callable | None, "a function of a step and a model, or None"),
    ):
        if not isinstance(value, kind) or value == "":
            raise TypeError(f"{name} is {value!r:.80}, expected {expected}")
    whole("steps", steps, at_least=1)
    whole("every", every, at_least=1)
    if isinstance(rung, str):
        rung = find(rung).module
    if not hasattr(rung, "forward"):
        raise TypeError(f"rung is {rung!r:.80}, expected a rung of the ladder, or its name")
    recipe = Recipe(task, optimiser, batch, seed, chunk, clip, rung)
    point = recipe.start(model)
    if checkpoint is not None:
        point = resume.begin(checkpoint, point, recipe, steps)
    return _train(point, recipe, steps, checkpoint, every, watch, progress)


@dataclass(frozen=True)
class Recipe:
    """Task and settings that decide the course of a run, together with the model it starts from."""

    task: Task
    optimiser: SGD | Adam
    batch: int
    seed: int
    chunk: int | None
    clip: float | None
    rung: Any

    def __post_init__(self):
        whole("batch", self.batch, at_least=1)
        whole("seed", self.seed, at_least=0)
        if self.chunk is not None:
            whole("chunk", self.chunk, at_least=1)
        object.__setattr__(self, "clip", clip_limit(self.clip))

    def minibatch(self, step: int) -> Batch:
        """The minibatch of a step, x [T,B,I]: it depends on the seed and the step alone."""
        rng = np.random.default_rng([self.seed, step])
        return self.task.batch(rng, self.batch)

    def start(self, model: Model) -> resume.Point:
        """The run before its first step.  Raises ValueError if the model does not fit the task."""
        _check_fits(model, self.task)
        parameters = model.parameters
        history = History(*self.task.baseline)
        origin = resume.digest(parameters.values())
        return resume.Point(0, model, self.optimiser.start(parameters), history, origin)


def loss_and_gradients(
    model: Model, loss: Callable, batch: Batch, chunk: int | None = None, rung: Any = one_big_gemm
) -> tuple[float, Arrays]:
    """Loss and gradient of every parameter on a batch, x [T,B,I]; no gradient crosses a border of chunks.

    The loss is infinite where a chunk leaves a state that is not finite: no further one can begin from it.
    """
    total = 0.0
    gradients = {}
    state = None
    for piece, share in pieces(batch, chunk):
        if not is_finite(state):
            return np.inf, gradients
        prediction, state, saved = model.predict(piece.x, state, rung)
        if share > 0:
            loss_of_piece, dprediction = loss(prediction, piece.target, piece.weight)
            total += share * loss_of_piece
            add(gradients, model.gradients(saved, share * dprediction, rung))
    return total, gradients


def pieces(batch: Batch, chunk: int | None) -> Iterator[tuple[Batch, float]]:
    """Pieces of so many steps of a batch, x [T,B,I], each with its share of the whole loss.

    A piece with share 0, of which no step counts, only hands on its state.
    """
    T = len(batch.x)
    size = chunk or T
    weight = batch.weight.sum()
    for start in range(0, T, size):
        steps = slice(start, start + size)
        piece = Batch(*(array[steps] for array in batch))
        share = float(piece.weight.sum() / weight)
        yield piece, share


def is_finite(state: State | None) -> bool:
    """Whether a pass can begin from the state, [L,B,H] each, or from none."""
    return all(np.isfinite(part).all() for part in state or ())


def add(total: Arrays, gradients: Arrays) -> None:
    """Add gradients, weights [G*H,I] and others, to those of the same names."""
    for name, array in gradients.items():
        total[name] = total[name] + array if name in total else array


def _train(
    point: resume.Point, recipe: Recipe, steps: int, checkpoint: str | None, every: int, watch, progress: bool
) -> tuple[Model, History]:
    from tqdm.auto import tqdm  # in a notebook a widget, in a terminal a line

    tqdm.monitor_interval = 0  # no thread beside the bar: browsers start none

    watch = watch or (lambda step, model: None)
    watch(point.step, point.model)
    bar = tqdm(total=steps, initial=point.step, desc=recipe.task.name, disable=not progress)
    with bar, suitable_threads(point.model, recipe.batch, recipe.rung):
        while point.step < steps:
            point = take_step(point, recipe)
            watch(point.step, point.model)
            is_due = point.step % every == 0 or point.step == steps
            if is_due and checkpoint is not None:
                resume.save(checkpoint, point, recipe)
            loss = point.history.losses[-1]
            bar.set_postfix(loss=f"{loss:.3g}", refresh=False)
            bar.update()
    return point.model, point.history


def take_step(
    point: resume.Point, recipe: Recipe, compute: Callable[..., tuple[float, Arrays]] = loss_and_gradients
) -> resume.Point:
    """One step of the optimiser, from one point of the run to the next.

    compute: what takes the place of `loss_and_gradients`.  Raises FloatingPointError, with a remedy, for a
    loss, a gradient or an update that is not finite.
    """
    history = point.history
    batch = recipe.minibatch(point.step)
    # no warning of overflow: what is not finite is refused below, with the step and the remedy
    with np.errstate(over="ignore", invalid="ignore"):
        loss, gradients = compute(point.model, recipe.task.loss, batch, recipe.chunk, recipe.rung)
        if not np.isfinite(loss):
            raise FloatingPointError(_remedy(point, recipe, f"the loss is {loss}"))
        try:
            gradients, norm = clip_by_global_norm(gradients, recipe.clip)
            moved, state = recipe.optimiser.update(point.model.parameters, gradients, point.optimiser_state)
            model = point.model.with_parameters(moved)  # ValueError if one is not finite
        except (FloatingPointError, ValueError) as error:
            raise FloatingPointError(_remedy(point, recipe, str(error))) from error
    history.losses.append(loss)
    history.norms.append(norm)
    return resume.Point(point.step + 1, model, state, history, point.origin)


def _remedy(point: resume.Point, recipe: Recipe, finding: str) -> str:
    learning_rate = recipe.optimiser.learning_rate
    clip = "clip the gradient (clip=1.0)" if recipe.clip is None else f"clip it shorter than {recipe.clip}"
    return (
        f"step {point.step}: {finding}. Training cannot continue from there: "
        f"lower the learning rate (now {learning_rate}), or {clip}"
    )


def _check_fits(model: Model, task: Task) -> None:
    sizes = {"input_size": model.network.input_size, "output_size": model.output_size}
    for name, size in sizes.items():
        expected = getattr(task, name)
        if size != expected:
            raise ValueError(f"the model's {name} is {size}, but the task {task.name} has {expected}")
    dtype = model.network.dtype
    expected = str(task.held_out.x.dtype)
    if dtype != expected:
        raise ValueError(
            f"the model computes in {dtype}, but the task {task.name} has {expected} arrays: "
            f"create the model with dtype={expected!r}"
        )
