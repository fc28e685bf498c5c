"""What a prediction looks like beside its target: lines along a row, frames over time, characters, sums.

One sequence is shown, the one whose target moves most: there is most to see.
"""

import numpy as np
from matplotlib.figure import Figure

from rnncourse.figures.picture import canvas
from rnnlab.training.history import WINDOW, History, running_mean
from rnnlab.training.losses import log_softmax
from rnnlab.training.task import Batch

FRAMES_SHOWN = 6
CHARACTERS_SHOWN = 40
SEQUENCES_SHOWN = 6
SIGNS = str.maketrans("\n ", "↵␣")


def row_and_answer(prediction: np.ndarray, batch: Batch, skip: int) -> Figure:
    """Pixels of a row, and below them the filter's answer and the network's prediction [T,B,O]."""
    b = _largest_target(batch)
    figure, (row, answer) = canvas(2, 1, height=3.6, sharex=True, height_ratios=(1, 3))
    pixels = batch.x[:, b].T
    channels, T = pixels.shape
    edges = (-0.5, T - 0.5, -0.5, 0.5)
    row.imshow(pixels, cmap="gray", aspect="auto", vmin=-0.5, vmax=0.5, extent=edges)
    count = "a row" if channels == 1 else "three rows"
    row.set(yticks=[], title=f"{count} of the photograph")
    steps = np.arange(skip, T)
    target = batch.target[skip:, b, 0]
    predicted = prediction[skip:, b, 0]
    answer.plot(steps, target, color="black", lw=3, alpha=0.35, label="the filter")
    answer.plot(steps, predicted, color="okabe:red", marker=".", label="the network")
    answer.set(xlabel="time step = pixel along the row", ylabel="answer")
    answer.legend(frameon=False)
    return figure


def history(run: History) -> Figure:
    """Loss and gradient norm of a training run over its steps."""
    figure, (loss, norm) = canvas(2, 1, height=4.2, sharex=True, height_ratios=(2, 1))
    loss.plot(run.losses, color="okabe:sky", lw=0.8, label="one minibatch")
    loss.plot(*running_mean(run.losses), color="okabe:blue", lw=2, label=f"mean of {WINDOW} steps")
    loss.axhline(run.baseline, color="okabe:orange", ls="--", label="to beat, on held-out data")
    loss.set(ylabel="loss", yscale="log")
    loss.legend(frameon=False)
    norm.plot(run.norms, color="okabe:green", lw=0.8)
    norm.set(xlabel="step", ylabel="gradient norm", yscale="log")
    return figure


def frames(prediction: np.ndarray, batch: Batch, input_is: str, target_is: str, signed: bool) -> Figure:
    """Rows of frames over time: the input, the right answer, the network's prediction [T,B,O]."""
    b = _largest_target(batch)
    T = len(batch.x)
    first = np.flatnonzero(batch.weight)[0]
    even_steps = np.linspace(first, T - 1, FRAMES_SHOWN)
    steps = np.unique(even_steps.round().astype(int))
    count = len(steps)
    figure, grid = canvas(3, count, width=1.15 * count + 0.8, height=4.0, squeeze=False)
    target = batch.target[steps, b]
    grey = ("gray", 0.5)
    answer = ("PuOr", float(np.abs(target).max())) if signed else grey
    input_row, target_row, network_row = grid
    _film(input_row, input_is, batch.x[steps, b], *grey)
    _film(target_row, target_is, target, *answer)
    _film(network_row, "network", prediction[steps, b], *answer)
    for axis, step in zip(input_row, steps, strict=True):
        axis.set_title(f"step {step}", fontsize=10)
    return figure


def _film(axes, label: str, values: np.ndarray, colours: str, limit: float) -> None:
    """A row of square pictures from values [frames,pixels]."""
    side = round(values.shape[-1] ** 0.5)
    pictures = values.reshape(-1, side, side)
    for axis, picture in zip(axes, pictures, strict=True):
        axis.imshow(picture, cmap=colours, vmin=-limit, vmax=limit)
        axis.set(xticks=[], yticks=[])
    axes[0].set_ylabel(label)


def photograph(prediction: np.ndarray, batch: Batch) -> Figure:
    """A whole photograph, the filter's answer and the prediction [T,B,O], T = columns, B = rows."""
    figure, axes = canvas(1, 3, width=10, height=2.6)
    limit = float(np.quantile(np.abs(batch.target), 0.99))
    views = (
        (batch.x, "the photograph", 0.5),
        (batch.target, "the filter", limit),
        (prediction, "the network", limit),
    )
    for axis, (values, title, bound) in zip(axes, views, strict=True):
        channels = values.shape[-1]
        middle = values[..., channels // 2]
        axis.imshow(middle.T, cmap="gray", vmin=-bound, vmax=bound)
        axis.set(xticks=[], yticks=[], title=title)
    return figure


def sums(prediction: np.ndarray, batch: Batch) -> Figure:
    """Predicted sums [T,B,1] against true sums, a point for each sequence."""
    figure, axis = canvas(width=4.4, height=4.0)
    axis.plot((0, 2), (0, 2), color="black", lw=1, label="right")
    axis.axhline(1, color="okabe:orange", ls="--", label="always 1")
    true_sums = batch.target[-1, :, 0]
    predicted = prediction[-1, :, 0]
    axis.plot(true_sums, predicted, ".", color="okabe:blue", label="the network")
    axis.set(xlabel="true sum", ylabel="answer", xlim=(0, 2), aspect="equal")
    axis.legend(frameon=False)
    return figure


def guessed_characters(prediction: np.ndarray, batch: Batch, alphabet: str) -> Figure:
    """A strip of text for each of a few sequences, coloured by the probability in a prediction [T,B,O]."""
    target = batch.target[-CHARACTERS_SHOWN:, :SEQUENCES_SHOWN]  # [T,B]
    B = target.shape[1]
    logits = prediction[-CHARACTERS_SHOWN:, :SEQUENCES_SHOWN]
    probability = np.exp(log_softmax(logits))
    right = np.take_along_axis(probability, target[..., np.newaxis], -1)[..., 0]  # [T,B]
    figure, axis = canvas(width=9, height=0.36 * B + 1.2)
    image = axis.imshow(right.T, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for (t, b), character in np.ndenumerate(target):
        shown = alphabet[character].translate(SIGNS)
        colour = "white" if right[t, b] > 0.55 else "black"
        axis.text(t, b, shown, ha="center", va="center", family="monospace", fontsize=9, color=colour)
    axis.set(yticks=[], xlabel="time step")
    axis.set_title("each character as it came, and how probable the network found it")
    figure.colorbar(image, ax=axis, label="probability")
    return figure


def _largest_target(batch: Batch) -> int:
    """Number of the sequence with the largest sum of squared targets, over the steps that count."""
    counted = batch.target[batch.weight > 0]
    sums_of_squares = (counted**2).sum((0, 2))
    return int(sums_of_squares.argmax())
