"""Training in 16 bits beside float32, on three tasks: python -m bench.narrow_training

The same minibatches and the same start for both rungs; the curves go into docs/narrow_training.png.  Then
each model answers with its own weights and with those of 16 and 8 bits.  The table in docs/performance.md is
what this prints; the last digits differ from one processor to another.
"""

import sys

import numpy as np

from nbjudge.authoring.course import ROOT
from rnncourse.figures.picture import canvas
from rnnlab import Inference
from rnnlab.ladder import find
from rnnlab.narrow import CONVERSIONS
from rnnlab.tasks import adding, image_filters, text
from rnnlab.training.history import running_mean
from rnnlab.training.loop import fit
from rnnlab.training.model import Model
from rnnlab.training.optimisers import Adam
from rnnlab.training.task import Task

PICTURE = ROOT / "docs" / "narrow_training.png"
RUNGS = {"float32": "packed_weights", "bfloat16": "packed_bfloat16"}
RUNS = (  # task, cell, hidden units, steps, rate
    (adding.task(20), "lstm", 32, 500, 1e-2),
    (image_filters.task(), "gru", 32, 300, 3e-3),
    (text.task(32), "gru", 64, 250, 5e-3),
)


def train(task: Task, cell: str, hidden_size: int, steps: int, rate: float, rung: str) -> tuple[Model, list]:
    """The trained model, and its loss after each step."""
    model = Model.create(cell, task.input_size, hidden_size, task.output_size, seed=1)
    trained, history = fit(model, task, Adam(rate), steps, clip=1.0, rung=find(rung).module, progress=False)
    return trained, history.losses


def held_out_loss(model: Model, task: Task, weights: str) -> float:
    """The loss on the held-out sequences, of a model whose steps have such weights."""
    batch = task.held_out
    y, _ = Inference(model.network.astype("float32"), weights).run(batch.x)
    return float(task.loss(y @ model.weight_out.T + model.bias_out, batch.target, batch.weight)[0])


def main() -> int:
    """Train, print a line for each model, and draw."""
    figure, axes = canvas(1, len(RUNS), width=10, height=3)
    print("| task | trained in | last 20 steps | held out | bfloat16 weights | int8 weights |")
    print("|---|---|---:|---:|---:|---:|")
    for (task, *sizes), axis in zip(RUNS, axes, strict=True):
        for (precision, rung), style in zip(RUNGS.items(), ("-", "--"), strict=True):
            model, losses = train(task, *sizes, rung)
            axis.plot(*running_mean(losses), style, label=precision)
            losses_held_out = [held_out_loss(model, task, weights) for weights in ("", *CONVERSIONS)]
            numbers = " | ".join(f"{number:.4g}" for number in (np.mean(losses[-20:]), *losses_held_out))
            print(f"| {task.name} | {precision} | {numbers} |")
        axis.set(title=task.name.replace("_", " "), xlabel="step", yscale="log")
    axes[0].set_ylabel("loss, mean of 20 steps")
    axes[0].legend()
    figure.savefig(PICTURE, dpi=110)
    return 0


if __name__ == "__main__":
    sys.exit(main())
