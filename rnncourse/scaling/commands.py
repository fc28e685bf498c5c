"""The command train.  What it needs is imported when it runs: --help must answer at once."""

import argparse
import math
import os
import sys
import time
from typing import TYPE_CHECKING

from rnncourse.remedies import Refusal

if TYPE_CHECKING:
    import numpy as np

SECONDS_BETWEEN_LINES = 5.0
FAILED = 1  # exit status


def add_commands(subparsers: argparse._SubParsersAction) -> None:
    """Add train to the command line."""
    train = subparsers.add_parser("train", help="train a network on a task of the course, on several ranks")
    train.add_argument("--task", default="adding", help="adding, frame_differences, image_filters, …")
    train.add_argument("--task-option", action="append", default=[], metavar="NAME=VALUE", dest="options")
    train.add_argument(
        "--ranks", type=int, default=1, metavar="N", help="processes that share each minibatch"
    )
    train.add_argument("--cell", default="gru", help="rnn_tanh, rnn_relu, gru or lstm (default: gru)")
    for name, default, what in (
        ("hidden-size", 32, "units of a layer"),
        ("layers", 1, "layers"),
        ("steps", 200, "steps of the optimiser"),
        ("batch", 32, "sequences of a minibatch, all ranks together"),
        ("seed", 0, "of the parameters and the sequences"),
        ("every", 50, "steps between two checkpoints"),
    ):
        train.add_argument(f"--{name}", type=int, default=default, metavar="N", help=f"{what} ({default})")
    train.add_argument("--chunk", type=int, metavar="T", help="time steps of truncated back-propagation")
    train.add_argument("--optimiser", default="adam", help="adam or sgd")
    train.add_argument("--learning-rate", type=float, default=1e-2, metavar="X")
    train.add_argument("--momentum", type=float, default=0.0, metavar="X", help="of sgd")
    train.add_argument("--clip", type=float, metavar="X", help="largest gradient norm")
    train.add_argument("--rung", default="one_big_gemm", help="implementation of the network's passes")
    _add_rank_options(train)
    train.set_defaults(handler=_train)


def _add_rank_options(train: argparse.ArgumentParser) -> None:
    train.add_argument("--split", metavar="N,N,…", help="sequences of each rank (default: equal shares)")
    train.add_argument("--checkpoint", metavar="FILE", help="a file from which the run can continue")
    train.add_argument("--resume", action="store_true", help="continue from FILE, on any number of ranks")
    train.add_argument("--no-overlap", action="store_true", help="sum gradients after the backward pass")
    train.add_argument("--survive", action="store_true", help="if a rank is lost, continue with the others")
    train.add_argument("--hostfile", metavar="FILE", help="hosts with their slots, as mpiexec reads them")
    train.add_argument("--patience", type=float, default=300.0, metavar="S", help="seconds without a step")


def _train(chosen: argparse.Namespace) -> int:
    from nbjudge.printable import printable
    from ranks.faults import RankFailure
    from rnnlab.scaling.run import train_on_ranks

    try:
        settings = _settings(chosen)
        lines = Lines(settings.steps)
        limits = {"patience": chosen.patience, "hostfile": chosen.hostfile}
        note = lambda sentence: print(f"rnnlab train: {sentence}", flush=True)
        outcome = train_on_ranks(settings, note=note, look=lines.show, **limits)
    except (RankFailure, FloatingPointError) as error:
        if os.environ.get("RNNLAB_DEBUG"):
            print(getattr(error, "details", ""), file=sys.stderr)
        print(f"rnnlab train: {printable(str(error))}", file=sys.stderr)
        return FAILED
    except (ValueError, RuntimeError) as error:  # options, or ranks that cannot be started here
        raise Refusal(str(error)) from error
    print(_report(outcome))
    return 0


def _settings(chosen: argparse.Namespace):
    from rnnlab.scaling.settings import RunSettings

    same = "task ranks cell hidden_size layers steps batch seed optimiser learning_rate momentum chunk"
    same += " clip rung checkpoint resume every survive"
    options = {name: getattr(chosen, name) for name in same.split()}
    options["task_options"] = dict(map(_option, chosen.options))
    options["split"] = None if chosen.split is None else _numbers(chosen.split)
    return RunSettings(overlap=not chosen.no_overlap, **options)


def _option(text: str) -> tuple[str, int | str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"--task-option is {text!r}, expected NAME=VALUE")
    return name, int(value) if value.isdecimal() else value


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(map(int, text.split(",")))
    except ValueError as error:
        raise ValueError(f"--split is {text!r}, expected whole numbers with commas, as 20,12") from error


class Lines:
    """A line about the run every few seconds."""

    def __init__(self, steps: int):
        self.steps = steps
        self.shown = 0
        self.next = time.monotonic() + SECONDS_BETWEEN_LINES

    def show(self, lines: "np.ndarray") -> None:
        """Print where the ranks stand, if it is time and they have continued to another loss."""
        front = lines[lines["step"].argmax()]
        step = front["step"]
        loss = front["loss"]
        if time.monotonic() < self.next or step == self.shown or math.isnan(loss):
            return
        self.next = time.monotonic() + SECONDS_BETWEEN_LINES
        self.shown = step
        print(f"step {step} of {self.steps}, loss {loss:.4g}", flush=True)


def _report(outcome: dict) -> str:
    losses = outcome["losses"]
    held_out = outcome["held_out"]
    baseline = outcome["baseline"]
    verdict = "better" if held_out < baseline else "no better"
    lines = (
        outcome["overlap"],
        f"{outcome['ranks']} ranks, {outcome['steps']} steps: a minibatch's loss went from {losses[0]:.4g} "
        f"to {losses[-1]:.4g}.",
        f"On held-out sequences the loss is {held_out:.4g}, {verdict} than "
        f"{baseline:.4g}, the loss without training ({outcome['baseline_is']}).",
    )
    return "\n".join(filter(None, lines))
