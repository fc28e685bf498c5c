"""The value that each known wrong answer gives, from the same edit that makes it wrong.

An exercise's `truth` has the solution's text, so a mutant's edit applies to both. Running the edited truth
gives the numbers that a learner with that misconception gets, however the learner wrote it.
"""

import inspect
from collections.abc import Callable, Iterable

import numpy as np

from rnnlab.grading.exercise import Code, Mutant, Wrong


def wrong_values(truth: Callable, mutants: Iterable[Mutant], *arguments: object) -> dict[str, Callable]:
    """{misconception: a call that gives its value}, for arguments that the edited truths get copies of."""
    source = inspect.getsource(truth)
    return {
        mutant.name: lambda edit=mutant: run(edited(source, edit), truth.__name__, arguments)
        for mutant in mutants
    }


def edited(source: str, mutant: Mutant) -> str:
    """The source with the mutant's edit made."""
    if mutant.old not in source:
        raise ValueError(f"mutant {mutant.name!r} is stale: the truth has no {mutant.old!r}")
    return source.replace(mutant.old, mutant.new)


def run(source: str, name: str, arguments: tuple) -> object:
    """What the function `name` of this source returns for copies of the arguments."""
    return call(loaded(Code(source, name)), arguments)


def call(function: Callable, arguments: tuple, sources: dict[str, dict] | None = None) -> object:
    """function(*arguments) on copies, with a fresh instance of each Code; those of one source share it."""
    sources = {} if sources is None else sources
    return function(
        *(
            loaded(a, sources) if isinstance(a, Code) else np.copy(a) if isinstance(a, np.ndarray) else a
            for a in arguments
        )
    )


def trace_of(function: Callable, arguments: tuple) -> list:
    """What the Codes among the arguments write into their `trace` while function(*arguments) runs."""
    sources: dict[str, dict] = {}
    call(function, arguments, sources)
    return [entry for namespace in sources.values() for entry in namespace["trace"]]


def loaded(code: Code, sources: dict[str, dict] | None = None) -> Callable:
    """The function that a Code stands for; `sources` keeps the globals of each source that was executed."""
    sources = {} if sources is None else sources
    if code.source not in sources:
        sources[code.source] = {"np": np, "Wrong": Wrong, "trace": []}
        exec(code.source, sources[code.source])
    return sources[code.source][code.name]
