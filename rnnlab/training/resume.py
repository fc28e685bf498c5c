"""Resumed runs: the state of a run after a step, and whether a checkpoint belongs to this run."""

import dataclasses
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from rnnlab.training import checkpoint
from rnnlab.training.history import History
from rnnlab.training.model import Model
from rnnlab.training.optimisers import Arrays

SIZES = ("cell", "input_size", "hidden_size", "layers", "reset", "dtype")
SETTINGS = ("optimiser", "batch", "seed", "chunk", "clip")


@dataclasses.dataclass(frozen=True)
class Point:
    """A run after `step` steps: all that the next step depends on, and the history so far."""

    step: int
    model: Model
    optimiser_state: Arrays
    history: History
    origin: str = ""  # digest of the parameters that the run began with


def begin(path: str, start: Point, recipe: Any, steps: int) -> Point:
    """The point at which the checkpoint stands; if there is none, `start`, and a first checkpoint of it.

    Writing one at once finds a full disk or a missing permission before the work, not after it.
    """
    if not Path(path).exists():
        save(path, start, recipe)
        return start
    arrays = checkpoint.load(path)
    step = int(arrays["step"])
    stored = json.loads(str(arrays["identity"]))
    wanted = identity(dataclasses.replace(start, step=step), recipe)
    _check_same_run(path, stored, wanted)
    if step > steps:
        raise ValueError(
            f"the checkpoint {path} stands at step {step}, beyond the {steps} steps requested: "
            "request more steps, or delete it to start anew"
        )
    return _restored(start, arrays)


def save(path: str, point: Point, recipe: Any, **fields: int | str) -> None:
    """Write the point as a checkpoint, with all that says which run it belongs to, and further fields."""
    arrays = {f"parameter.{name}": array for name, array in point.model.parameters.items()}
    arrays |= {f"optimiser.{name}": array for name, array in point.optimiser_state.items()}
    values = {
        "losses": point.history.losses,
        "norms": point.history.norms,
        **fields,
        "step": point.step,
        "identity": json.dumps(identity(point, recipe)),
    }
    arrays |= {name: np.array(value) for name, value in values.items()}
    checkpoint.save(path, arrays)


def digest(arrays: Iterable[np.ndarray]) -> str:
    """A short text that differs for arrays that differ in a bit."""
    content = hashlib.sha256()
    for array in arrays:
        content.update(np.ascontiguousarray(array).tobytes())
    return content.hexdigest()[:16]


def identity(point: Point, recipe: Any) -> dict[str, str]:
    """Everything that decides the course of a run, as text.

    The first batch and the next one stand for the task's data, one value for its loss.
    """
    model = point.model
    first = recipe.minibatch(0)
    T, B, _ = first.x.shape
    rng = np.random.default_rng(0)
    guess = rng.standard_normal((T, B, model.output_size), np.float32)
    loss, _ = recipe.task.loss(guess, first.target, first.weight)
    sizes = {name: str(getattr(model.network, name)) for name in SIZES}
    settings = {name: str(getattr(recipe, name)) for name in SETTINGS}
    rung = getattr(recipe.rung, "__name__", type(recipe.rung).__name__)
    rung = rung.rpartition(".")[2]  # the rung's own name: its module may move to another folder
    others = {
        "output_size": str(model.output_size),
        "task": recipe.task.name,
        "data": digest([*first, *recipe.minibatch(point.step)]),
        "loss of a random prediction": f"{loss:.3g}",  # another processor's last digits may differ
        "starting parameters": point.origin,
        "rung": rung,
    }
    return sizes | settings | others


def _check_same_run(path: str, stored: dict[str, str], wanted: dict[str, str]) -> None:
    for name, value in wanted.items():
        recorded = stored.get(name, "not recorded")
        if recorded != value:
            verb = "are" if name.endswith("s") else "is"
            difference = f"its {name} {verb} {recorded}, this one's {value}"
            remedy = "request the same run again, or choose another file"
            raise ValueError(f"the checkpoint {path} is of another run: {difference}; {remedy}")


def _restored(start: Point, arrays: Arrays) -> Point:
    def part(prefix):
        names = [name for name in arrays if name.startswith(prefix)]
        return {name.removeprefix(prefix): arrays[name] for name in names}

    losses = arrays["losses"].tolist()
    norms = arrays["norms"].tolist()
    history = dataclasses.replace(start.history, losses=losses, norms=norms)
    model = start.model.with_parameters(part("parameter."))
    return Point(int(arrays["step"]), model, part("optimiser."), history, start.origin)
