"""Contestants of the CMU epoch, by name; and this module as a peer's process knows it (see bench.peers)."""

from collections.abc import Callable
from importlib import import_module

import numpy as np

from bench.cmu.problem import EpochAnswer, Problem
from bench.halide.published import NAMES
from bench.peers import Candidate
from rnnlab.ladder import find

# name -> module beside this one, its function, further arguments of the function, the package it needs
EPOCHS = {
    **{f"halide {name}": ("halide_contestants", "theirs", (name,), "halide") for name in NAMES},
    "halide ours": ("halide_contestants", "ours", (), "halide"),
    "numpy theirs": ("numpy_contestants", "step_by_step", (), None),
    "numpy batched": ("numpy_contestants", "batched", (), None),
    "pytensor": ("pytensor_contestant", "epoch", (), "pytensor"),
    **{
        rung.name: ("rung_contestants", "of_rung", (rung.name,), rung.properties.package)
        for rung in (find("one_big_gemm"), find("numba_parallel"))
    },
}
CANDIDATES = tuple(
    Candidate(name, __name__, needs, is_rung=module == "rung_contestants")
    for name, (module, _, _, needs) in EPOCHS.items()
)
Arrays = dict[str, np.ndarray]


def read(fields: dict, arrays: dict) -> tuple[Problem]:
    """The problem from a message."""
    return (Problem(*(arrays[name] for name in Problem._fields)),)


def build(problem: Problem, name: str) -> tuple[Callable[[], EpochAnswer], Callable[[EpochAnswer], Arrays]]:
    """The epoch of that name, and its answer's arrays."""
    module, function, arguments, _ = EPOCHS[name]
    make = getattr(import_module(f"bench.cmu.{module}"), function)
    return make(problem, *arguments), lambda answer: answer.arrays
